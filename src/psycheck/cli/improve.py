"""`psycheck improve`: retrain on what failed, and test it out of distribution."""

from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

import typer

from psycheck.cli import options as opt
from psycheck.cli.output import ProgressLine

if TYPE_CHECKING:
    from psycheck.corpora.columns import Columns

UNGROUNDED = ("which", "share", "agreeing", "control", "augment", "swap", "swap_person")
SENTENCES = ("suite", "unseen", "which", "share", "agreeing", "balance", "texts")  # of --augment deck


@opt.verb("improve", opt.TRAINING)
def improve_cli(
    ctx: typer.Context,
    columns: "Columns",
    model: str,
    corpora: list[str],
    out: Path = Path("runs/improve"),
    suite: str = "deck",
    how: Literal["augment", "ground"] = "augment",
    augment: str = "deck",
    swap: list[str] | None = None,
    swap_person: Literal["all", "main"] | None = None,
    seeds: int = 1,
    store: str | None = None,
) -> None:
    """Retrain on the checks that failed or on symptoms; test all models on corpora they never saw."""
    from psycheck.corpora.open import corpus_plans
    from psycheck.experiments.improve import improve
    from psycheck.report.studies.improve import improve_table
    from psycheck.train.recipe import preset, presets

    if how == "ground":
        opt.refuse(ctx, UNGROUNDED, "improve --how ground", "with --how augment")
    elif augment == "gender":
        opt.refuse(ctx, SENTENCES, "improve --augment gender", "with --augment deck")
    elif augment == "deck":
        opt.refuse(ctx, ("swap", "swap_person"), "improve --augment deck", "with --augment gender")
    opened = corpus_plans(corpora, columns)
    # The suite's label is learned alone: what it tests is what is to be improved.
    start: Any = model
    if model in presets() and not Path(model).exists():
        from psycheck.audits.suite import read_suite

        learned = () if augment == "gender" else (read_suite(suite).checks[0].label,)
        start = preset(model, labels=learned)
    changes = {name: ctx.params[name] for name in (*SENTENCES, "control") if opt.given(ctx, name)}
    with ProgressLine() as line:
        run = improve(
            start,
            opened[0],
            opened[1:],
            out=out,
            how=how,
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
