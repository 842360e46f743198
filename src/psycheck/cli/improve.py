"""`psycheck improve`: retrain on what failed, and prove it out of distribution."""

from pathlib import Path
from typing import Annotated, Any

import typer

from psycheck.cli import options as opt
from psycheck.cli.options import given, refuse

SENTENCES = ("suite", "unseen", "which", "share", "agreeing", "balance", "texts")


def improve_cli(
    ctx: typer.Context,
    model: Annotated[
        str, typer.Argument(help="A folder that train wrote from CORPUS, or a named recipe (ls recipes).")
    ],
    corpora: Annotated[
        list[str],
        typer.Argument(
            metavar="CORPUS…", help="The corpus to learn from (train, dev, test), then others to prove it on."
        ),
    ],
    out: Annotated[Path, typer.Option("--out", "-o", help="Folder of the run and its models.")] = Path(
        "runs/improve"
    ),
    suite: Annotated[str, typer.Option(help="Suite whose DIR checks are learned from.")] = "deck",
    unseen: Annotated[
        str, typer.Option(help="Suite of other sentences for the same symptoms; '' for none.")
    ] = "deck-unseen",
    which: Annotated[
        str, typer.Option(help="all DIR checks, or below_mean: those that fail more than the mean.")
    ] = "all",
    share: Annotated[float, typer.Option(help="Share of the agreeing texts that get a sentence.")] = 0.5,
    agreeing: Annotated[
        bool, typer.Option("--agreeing/--all-texts", help="Presence to 1 and absence to 0, or any to any.")
    ] = True,
    balance: Annotated[
        bool,
        typer.Option("--balance/--no-balance", help="Retrain with both classes weighed alike."),
    ] = True,
    control: Annotated[
        bool,
        typer.Option("--control/--no-control", help="Also train on random sentences as long."),
    ] = True,
    augment: Annotated[
        str, typer.Option(help="deck: sentences of checks; gender: texts with their gender swapped.")
    ] = "deck",
    swap: opt.Swap = None,
    swap_person: opt.SwapPerson = None,
    seeds: Annotated[int, typer.Option(metavar="N", help="Train every arm with N seeds.")] = 1,
    texts: Annotated[int, typer.Option(help="Texts of dev that sentences are tried on.")] = 40,
    text: opt.Text = None,
    id_: opt.Id = None,
    labels: opt.Labels = None,
    positive: opt.Positive = None,
    author: opt.Author = None,
    split_column: opt.SplitColumn = None,
    store: opt.Store = None,
) -> None:
    """Retrain on the checks that failed, and measure both models on corpora that they never saw."""
    from psycheck.cli.progress import ProgressLine
    from psycheck.corpora.open import corpus_plans
    from psycheck.experiments.improve import improve
    from psycheck.report.studies.improve import improve_table
    from psycheck.train.recipe import preset, presets

    if augment == "gender":
        refuse(ctx, SENTENCES, "improve --augment gender", "with --augment deck")
    elif augment == "deck":
        refuse(ctx, ("swap", "swap_person"), "improve --augment deck", "with --augment gender")
    columns = opt.columns_of(
        text=text, id_=id_, labels=labels, positive=positive, author=author, split_column=split_column
    )
    opened = corpus_plans(corpora, columns)
    # The suite's label is learned alone: what it tests is what is to be improved.
    start: Any = model
    if model in presets() and not Path(model).exists():
        from psycheck.audits.suite import read_suite

        learned = () if augment == "gender" else (read_suite(suite).checks[0].label,)
        start = preset(model, labels=learned)
    ways: dict[str, Any] = {
        "suite": suite,
        "unseen": unseen,
        "which": which,
        "share": share,
        "agreeing": agreeing,
        "balance": balance,
        "control": control,
    }
    with ProgressLine() as line:
        run = improve(
            start,
            opened[0],
            opened[1:],
            out=out,
            augment=augment,
            swap=swap,
            swap_person=swap_person,
            seeds=seeds,
            texts=texts if given(ctx, "texts") else None,
            store=store,
            progress=line,
            say=lambda words: typer.echo(words, err=True),
            **{way: value for way, value in ways.items() if given(ctx, way)},
        )
    typer.echo(improve_table(run.findings))
    typer.echo(f"report: {out / 'report.html'}")
