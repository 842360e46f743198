"""`psycheck score`: scores or silver labels of a whole corpus."""

from pathlib import Path
from typing import TYPE_CHECKING

import typer

from psycheck.cli import options as opt
from psycheck.cli.output import ProgressLine, print_notes

if TYPE_CHECKING:
    from psycheck.corpora.columns import Columns


@opt.verb("score", ("text", "id_", "split_column"))
def score_cli(
    ctx: typer.Context,
    columns: "Columns",
    model: str,
    corpus: str,
    out: Path = Path("scores.csv"),
    threshold: float | None = None,
    split: str | None = None,
    format_: str | None = None,
    store: Path | None = None,
) -> None:
    """Score every text of a corpus; the file holds ids and scores, but no texts."""
    from psycheck.corpora.open import corpus_path, corpus_plan, open_corpus
    from psycheck.errors import BadInput, counted
    from psycheck.models.open import open_model
    from psycheck.scoring.limits import Limits
    from psycheck.settings.reader import read_settings
    from psycheck.verbs.plan import model_paths
    from psycheck.verbs.score import check_output, score_corpus, write_scores

    if threshold is not None and not 0 < threshold < 1:
        raise BadInput(
            f"'threshold' is out of range: {threshold:g}", where="--threshold", allowed="above 0, below 1"
        )
    limits = read_settings(Limits, opt.values_for(ctx, Limits))
    plan = corpus_plan(corpus, columns, split, format_)
    check_output(out, [path for path in [corpus_path(plan), *model_paths(model)] if path is not None])
    opened = open_corpus(plan)
    left_out = (f"{counted(rows, 'row')} left out ({why})" for why, rows in opened.left_out.items())
    print_notes((*opened.notes, *left_out), opened.name)
    scorer = open_model(model)
    with ProgressLine() as line:
        table, failed = score_corpus(
            scorer,
            opened,
            threshold=threshold,
            store=store,
            progress=line,
            limits=limits,
            say=lambda note: print_notes([note]),
        )
    write_scores(table, out)
    typer.echo(f"{counted(len(table), 'text')} scored: {out}")
    if failed:
        print_notes([f"{counted(failed, 'text')} could not be scored: empty in the file"])
        raise typer.Exit(3)
