"""`psycheck improve`: retrain on what failed, and test it out of distribution."""

from functools import partial
from pathlib import Path
from typing import Annotated, Any

import typer

from psycheck.cli import options as opt
from psycheck.cli.options import given, refuse

SENTENCES = ("suite", "unseen", "which", "share", "agreeing", "balance", "texts")  # of --augment deck


def improve_cli(
    ctx: typer.Context,
    model: Annotated[
        str,
        typer.Argument(help="Model folder that train wrote from CORPUS, or a recipe (psycheck ls recipes)."),
    ],
    corpora: Annotated[
        list[str],
        typer.Argument(
            metavar="CORPUS…", help="Corpus to learn from (train, dev, test), then corpora to test on."
        ),
    ],
    out: Annotated[
        Path, typer.Option("--out", "-o", help="Output folder: report, tables, findings, models.")
    ] = Path("runs/improve"),
    suite: Annotated[str, typer.Option(help="Suite whose DIR checks to learn from.")] = "deck",
    unseen: Annotated[
        str, typer.Option(help="Suite with other sentences for the same symptoms; '' for none.")
    ] = "deck-unseen",
    which: Annotated[
        str,
        typer.Option(help="Learn from all DIR checks, or below_mean: those that pass less than the mean."),
    ] = "all",
    share: Annotated[float, typer.Option(help="Share of the agreeing texts that get a sentence.")] = 0.5,
    agreeing: Annotated[
        bool,
        typer.Option("--agreeing/--all-texts", help="Append presence to 1 and absence to 0, or any to any."),
    ] = True,
    balance: Annotated[
        bool,
        typer.Option("--balance/--no-balance", help="Retrain with equal weight for both classes."),
    ] = True,
    control: Annotated[
        bool,
        typer.Option("--control/--no-control", help="Also train on random sentences of equal length."),
    ] = True,
    augment: Annotated[
        str, typer.Option(help="deck: append sentences of checks; gender: add gender-swapped texts.")
    ] = "deck",
    swap: opt.Swap = None,
    swap_person: opt.SwapPerson = None,
    seeds: Annotated[int, typer.Option(metavar="N", help="Train every arm with N seeds.")] = 1,
    texts: Annotated[int, typer.Option(help="Number of dev texts to try sentences on.")] = 40,
    text: opt.Text = None,
    id_: opt.Id = None,
    labels: opt.Labels = None,
    positive: opt.Positive = None,
    author: opt.Author = None,
    split_column: opt.SplitColumn = None,
    store: opt.Store = None,
) -> None:
    """Retrain on the checks that failed, and test all models on corpora they never saw."""
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
    changes = {name: ctx.params[name] for name in (*SENTENCES, "control") if given(ctx, name)}
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
            store=store,
            progress=line,
            say=partial(typer.echo, err=True),
            **changes,
        )
    typer.echo(improve_table(run.findings))
    typer.echo(f"report: {out / 'report.html'}")
