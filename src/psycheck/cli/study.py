"""`psycheck study`: a paper's tables, ours beside the published ones."""

from pathlib import Path
from typing import Annotated, Any

import typer

from psycheck.cli import options as opt

STUDIES = ("deck",)


def study_cli(
    name: Annotated[str, typer.Argument(help="Which study: deck.")],
    corpora: Annotated[
        list[str], typer.Argument(metavar="CORPUS…", help="Two or more corpora with train, dev and test.")
    ],
    out: Annotated[Path, typer.Option("--out", "-o", help="Folder of the study and its models.")] = Path(
        "runs/study"
    ),
    starts: Annotated[
        list[str] | None,
        typer.Option("--start", help="What to train: minilm, a folder, tfidf+lr …; repeatable."),
    ] = None,
    preset: Annotated[str, typer.Option(help="The recipe for all of them (psycheck ls recipes).")] = "fast",
    seeds: Annotated[int, typer.Option(metavar="N", help="Train each with N seeds.")] = 1,
    epochs: Annotated[float | None, typer.Option(help="Instead of the recipe's.")] = None,
    max_length: Annotated[int | None, typer.Option(help="Window in tokens, instead of the recipe's.")] = None,
    texts: Annotated[int, typer.Option(help="Texts that checks are tried on.")] = 40,
    retrain: Annotated[
        bool, typer.Option("--retrain/--no-retrain", help="Also retrain on failed checks (Table 6).")
    ] = True,
    text: opt.Text = None,
    id_: opt.Id = None,
    labels: opt.Labels = None,
    positive: opt.Positive = None,
    author: opt.Author = None,
    split_column: opt.SplitColumn = None,
    store: opt.Store = None,
) -> None:
    """Run a study's whole design on your corpora, and print each table beside the published one."""
    from psycheck.cli.progress import ProgressLine
    from psycheck.errors import BadInput, nearest
    from psycheck.line import corpus_plan
    from psycheck.study.deck import study_deck
    from psycheck.study.tables import deck_tables
    from psycheck.train.recipe import preset as recipe_named

    if name not in STUDIES:
        raise BadInput(f"there is no study '{name}'", allowed=nearest(name, STUDIES))
    columns = opt.columns_of(text, id_, labels, positive, author, None, split_column, None)
    given: dict[str, Any] = {"epochs": epochs, "max_length": max_length}
    changed = {key: value for key, value in given.items() if value is not None}
    recipe = recipe_named(preset, labels=("depression",), **changed)
    line = ProgressLine()
    try:
        run = study_deck(
            [corpus_plan(said, columns) for said in corpora],
            [recipe.with_(start=start) for start in starts or [recipe.start]],
            out=out,
            seeds=seeds,
            texts=texts,
            retrain=retrain,
            store=store,
            progress=line,
            say=lambda words: typer.echo(words, err=True),
        )
    finally:
        line.end()
    typer.echo(deck_tables(run.findings))
    typer.echo(f"report: {out / 'report.html'}")
