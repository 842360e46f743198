"""`psycheck score`: scores or silver labels of a whole corpus."""

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer
from typer import Argument, Option

from psycheck.cli import options as opt
from psycheck.cli.progress import ProgressLine, print_notes

if TYPE_CHECKING:
    from psycheck.corpora.columns import Columns


@opt.with_columns("text", "id_", "split_column")
def score_cli(
    columns: "Columns",
    model: Annotated[str, Argument(help="Model, as for `audit`.")],
    corpus: opt.CorpusArgument,
    out: Annotated[Path, Option("--out", "-o", help="CSV or Parquet file to write.")] = Path("scores.csv"),
    threshold: Annotated[float | None, Option(help="Decision threshold; also writes 0/1 labels.")] = None,
    split: opt.Split = None,
    format_: opt.Format = None,
    store: opt.Store = None,
) -> None:
    """Score every text of a corpus; the file holds ids and scores, but no texts."""
    from psycheck.corpora.open import corpus_path, corpus_plan, open_corpus
    from psycheck.errors import BadInput, counted
    from psycheck.models.open import open_model
    from psycheck.verbs.plan import model_paths
    from psycheck.verbs.score import check_output, score_corpus, write_scores

    if threshold is not None and not 0 < threshold < 1:
        raise BadInput(
            f"'threshold' is out of range: {threshold:g}", where="--threshold", allowed="above 0, below 1"
        )
    plan = corpus_plan(corpus, columns, split, format_)
    check_output(out, [path for path in [corpus_path(plan), *model_paths(model)] if path is not None])
    opened = open_corpus(plan)
    left_out = (f"{counted(rows, 'row')} left out ({why})" for why, rows in opened.left_out.items())
    print_notes((*opened.notes, *left_out), opened.name)
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
        print_notes([f"{counted(failed, 'text')} could not be scored: empty in the file"])
        raise typer.Exit(3)
