"""`psycheck train`: fine-tune a model, or fit a cheap baseline, into a folder that `audit` opens."""

from math import isnan
from pathlib import Path
from typing import TYPE_CHECKING, Any

import typer

from psycheck.cli import options as opt
from psycheck.cli.output import ProgressLine
from psycheck.errors import counted

if TYPE_CHECKING:
    from psycheck.corpora.columns import Columns
    from psycheck.train.fit import Trained

TUNED = "a start that is fine-tuned: minilm, a model folder or a hub name"


@opt.verb("train", (*opt.TRAINING, "time"))
def train_cli(
    ctx: typer.Context,
    columns: "Columns",
    corpus: str,
    out: Path,
    preset: str | None = None,
    dev: Path | None = None,
    search: int = 0,
    seeds: int = 0,
    format_: str | None = None,
) -> None:
    """Train a model; run the same command again to resume, finished work is not repeated."""
    from psycheck.corpora.labels import name_and_level
    from psycheck.corpora.open import corpus_path, corpus_plan, open_corpus
    from psycheck.files.write import refuse_overwriting
    from psycheck.train import search as searching
    from psycheck.train.fit import train, with_dev
    from psycheck.train.recipe import Recipe, preset_of, space_of, unused
    from psycheck.train.recipe import preset as named

    values = opt.values_for(ctx, Recipe)
    named_labels = (label.partition("=") for label in columns.labels)
    values["labels"] = [name_and_level(name)[0] if name else column for column, _, name in named_labels]
    preset = preset or preset_of(values.get("start", ""))
    recipe = named(preset, **values) if preset else Recipe(**values)
    for name in sorted(unused(recipe)):
        more = ", or with encoder+lr" if name == "max_length" else ""
        opt.refuse(ctx, [name], f"train --start {recipe.start}", f"with {TUNED}{more}")
    plan = corpus_plan(corpus, columns, None, format_)
    inputs = [path for path in (corpus_path(plan), dev, Path(recipe.start)) if path is not None]
    # Folders that a training replaces or removes as a whole.
    refuse_overwriting([out / "best", out / "trials", out / "seeds", Path(f"{out}.training")], inputs)
    opened: Any = open_corpus(plan)
    test = None
    if dev is not None:
        opened, test = with_dev(opened, open_corpus(corpus_plan(str(dev), columns)))
    trained, several = None, []
    with ProgressLine() as line:
        if search:
            space = space_of(preset)
            trained = searching.search(
                opened, recipe, out, trials=search, space=space, test=test, progress=line.training
            )
            recipe = trained.recipe
        elif not seeds:
            trained = train(opened, recipe, out, test=test, progress=line.training)
        if seeds:
            several = searching.train_seeds(
                opened, recipe, out / "seeds", seeds=seeds, test=test, progress=line.training
            )
    if trained:
        _print(trained)
    _print_seeds(several)


def _print(trained: "Trained") -> None:
    from psycheck.train.figures import format_figure

    typer.echo("already trained; nothing to do" if trained.reused else f"trained in {trained.seconds:.0f} s")
    for part, figures in (("dev", trained.dev), ("test", trained.test)):
        lines: dict[str, list[str]] = {"": []}
        for name in figures:
            measure, _, label = name.partition(":")
            lines.setdefault(label, []).append(f"{measure} {format_figure(figures, name)}")
        typer.echo(f"{part}: {', '.join(lines.pop('')) or 'no such split'}")
        for label, own in lines.items():
            typer.echo(f"  {label}: {', '.join(own)}")
    typer.echo(f"model: {trained.spec}")


def _print_seeds(several: "list[Trained]") -> None:
    from psycheck.train.figures import why_undefined
    from psycheck.train.search import spread

    seeds = counted(len(several), "seed")
    for part in ("dev", "test") if several else ():
        for name, (mean, deviation) in spread(several, on=part).items():
            if name == "n":
                typer.echo(f"{part} n: {mean:,.0f}")
                continue
            figures = [one.dev if part == "dev" else one.test for one in several]
            undefined = [one for one in figures if isnan(one[name])]
            if undefined:
                whose = seeds if len(undefined) == len(several) else f"{len(undefined)} of {seeds}"
                typer.echo(f"{part} {name}: – ({why_undefined(undefined[0], name)}, {whose})")
                continue
            sd = "sd –" if isnan(deviation) else f"sd {deviation:.3f}"
            typer.echo(f"{part} {name}: {mean:.3f} ({sd}, {seeds})")
    for one in several:
        typer.echo(f"model: {one.spec}")
