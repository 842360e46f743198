"""`psycheck score`: scores or silver labels of a whole corpus."""

from pathlib import Path
from typing import Annotated

import typer

from psycheck.cli import options as opt


def score_cli(
    model: Annotated[str, typer.Argument(help="The model, as for `audit`.")],
    corpus: Annotated[str, typer.Argument(help="A file, demo:NAME or KNOWN:PATH.")],
    out: Annotated[Path, typer.Option("--out", "-o", help="CSV or Parquet file to write.")] = Path(
        "scores.csv"
    ),
    threshold: Annotated[
        float | None, typer.Option(help="Also write 0/1 labels: 1 from this score on.")
    ] = None,
    text: opt.Text = None,
    id_: opt.Id = None,
    split_column: opt.SplitColumn = None,
    split: opt.Split = None,
    format_: opt.Format = None,
    store: opt.Store = None,
) -> None:
    """Score every text of a corpus; the file holds ids and scores, no texts."""
    from psycheck.cli.progress import ProgressLine
    from psycheck.corpora.open import corpus_path, corpus_plan, open_corpus
    from psycheck.errors import BadInput, counted
    from psycheck.models.open import open_model
    from psycheck.verbs.plan import model_paths
    from psycheck.verbs.score import check_output, score_corpus, write_scores

    if threshold is not None and not 0 < threshold < 1:
        raise BadInput(f"threshold {threshold:g} is out of range", where="--threshold", allowed="0 < t < 1")
    columns = opt.columns_of(text=text, id_=id_, split_column=split_column)
    said = corpus_plan(corpus, columns, split, format_)
    read = [path for path in [corpus_path(said), *model_paths(model)] if path is not None]
    check_output(out, read)
    opened = open_corpus(said)
    for note in opened.notes:
        typer.echo(f"note: {opened.name}: {note}", err=True)
    for why, rows in opened.left_out.items():
        typer.echo(f"note: {opened.name}: {counted(rows, 'row')} left out ({why})", err=True)
    with ProgressLine() as progress:
        table, failed = score_corpus(
            open_model(model),
            opened,
            threshold=threshold,
            store=Path(store) if store else None,
            progress=progress,
        )
    write_scores(table, out)
    typer.echo(f"{counted(len(table), 'text')} scored: {out}")
    if failed:
        typer.echo(f"note: {counted(failed, 'text')} could not be scored: empty in the file", err=True)
        raise typer.Exit(3)
