"""`psycheck train`: fine-tune a model, or fit a cheap baseline, into a folder that `audit` opens."""

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from psycheck.cli import options as opt
from psycheck.cli.belonging import refuse

if TYPE_CHECKING:
    from psycheck.train.fit import Trained

TUNED = "a start that is fine-tuned: minilm, a model folder or a hub name"


def train_cli(
    ctx: typer.Context,
    corpus: Annotated[str, typer.Argument(help="A corpus with a train and a dev split, or demo:NAME.")],
    out: Annotated[Path, typer.Option("--out", "-o", help="Folder of the model.")],
    start: Annotated[
        str | None,
        typer.Option(help="minilm, a model folder or hub name, tfidf+lr, encoder+lr (default: minilm)."),
    ] = None,
    preset: Annotated[str | None, typer.Option(help="A named recipe: psycheck ls recipes.")] = None,
    dev: Annotated[
        Path | None, typer.Option(help="Another file that holds dev: its dev split, or all of it.")
    ] = None,
    dev_share: Annotated[float | None, typer.Option(help="Cut this share of train as dev.")] = None,
    epochs: Annotated[float | None, typer.Option()] = None,
    batch: Annotated[int | None, typer.Option(help="Texts a step.")] = None,
    accumulate: Annotated[int | None, typer.Option(help="Steps an update.")] = None,
    learning_rate: Annotated[float | None, typer.Option()] = None,
    weight_decay: Annotated[float | None, typer.Option()] = None,
    warmup: Annotated[float | None, typer.Option(help="Share of steps over which the rate rises.")] = None,
    max_length: Annotated[int | None, typer.Option(help="Window in tokens.")] = None,
    class_weights: Annotated[bool | None, typer.Option("--class-weights/--no-class-weights")] = None,
    patience: Annotated[int | None, typer.Option(help="Epochs without a better dev figure; 0 = all.")] = None,
    criterion: Annotated[str | None, typer.Option(help="dev_loss or dev_f1.")] = None,
    seed: Annotated[int | None, typer.Option()] = None,
    search: Annotated[int, typer.Option(metavar="N", help="Search with N trials first.")] = 0,
    seeds: Annotated[int, typer.Option(metavar="N", help="Train N seeds; mean and deviation.")] = 0,
    text: opt.Text = None,
    id_: opt.Id = None,
    labels: opt.Labels = None,
    positive: opt.Positive = None,
    author: opt.Author = None,
    split_column: opt.SplitColumn = None,
    format_: opt.Format = None,
) -> None:
    """Train a model; the same command goes on after a kill, and trains nothing twice."""
    from psycheck.cli.progress import ProgressLine
    from psycheck.corpora.open import corpus_plan, open_corpus
    from psycheck.train.fit import train, with_dev
    from psycheck.train.recipe import Recipe, unused
    from psycheck.train.recipe import preset as named
    from psycheck.train.search import search as look_for
    from psycheck.train.search import train_seeds

    given = {
        "start": start,
        "epochs": epochs,
        "batch": batch,
        "accumulate": accumulate,
        "learning_rate": learning_rate,
        "weight_decay": weight_decay,
        "warmup": warmup,
        "max_length": max_length,
        "class_weights": class_weights,
        "patience": patience,
        "criterion": criterion,
        "dev_share": dev_share,
        "seed": seed,
        "labels": tuple(label.partition("=")[2] or label for label in labels) if labels else None,
    }
    said = {key: value for key, value in given.items() if value is not None}
    recipe = named(preset, **said) if preset else Recipe().with_(**said)
    for name in (name for name in given if name in unused(recipe)):
        more = ", or with encoder+lr" if name == "max_length" else ""
        refuse(ctx, [name], f"train --start {recipe.start}", f"with {TUNED}{more}")
    columns = opt.columns_of(
        text=text, id_=id_, labels=labels, positive=positive, author=author, split_column=split_column
    )
    opened: Any = open_corpus(corpus_plan(corpus, columns, None, format_))
    test = None
    if dev is not None:
        opened, test = with_dev(opened, open_corpus(corpus_plan(str(dev), columns)))
    with ProgressLine() as line:
        clock = _Clock(line)
        if search:
            trained = look_for(opened, recipe, out, trials=search, test=test, progress=clock)
            recipe = trained.recipe
        elif not seeds:
            trained = train(opened, recipe, out, test=test, progress=clock)
        several = (
            train_seeds(opened, recipe, out / "seeds", seeds=seeds, test=test, progress=clock)
            if seeds
            else []
        )
    if search or not seeds:
        _print(trained)
    _print_seeds(several)


class _Clock:
    """Turns the trainer's steps into progress lines."""

    def __init__(self, line: Any) -> None:
        from time import monotonic

        self._line, self._now, self._start = line, monotonic, monotonic()

    def __call__(self, done: int, total: int) -> None:
        """One more step."""
        self._line("training", done, total, self._now() - self._start)


def _print(trained: "Trained") -> None:
    from psycheck.train.figures import format_figure

    typer.echo("trained before; nothing to do" if trained.reused else f"trained in {trained.seconds:.0f} s")
    for part, figures in (("dev", trained.dev), ("test", trained.test)):
        line = ", ".join(f"{name} {format_figure(figures, name)}" for name in figures)
        typer.echo(f"{part}: {line or 'no such split'}")
    typer.echo(f"model: {trained.spec}")


def _print_seeds(several: "list[Trained]") -> None:
    from math import isnan

    from psycheck.errors import counted
    from psycheck.train.figures import why_undefined
    from psycheck.train.search import spread

    seeds = counted(len(several), "seed")
    for part in ("dev", "test") if several else ():
        for name, (mean, deviation) in spread(several, on=part).items():
            if name == "n":
                typer.echo(f"{part} n: {mean:,.0f}")
                continue
            figures = [one.dev if part == "dev" else one.test for one in several]
            without = [one for one in figures if isnan(one[name])]
            if without:
                whose = seeds if len(without) == len(several) else f"{len(without)} of {seeds}"
                typer.echo(f"{part} {name}: – ({why_undefined(without[0], name)}, {whose})")
                continue
            sd = "sd –" if isnan(deviation) else f"sd {deviation:.3f}"
            typer.echo(f"{part} {name}: {mean:.3f} ({sd}, {seeds})")
    for one in several:
        typer.echo(f"model: {one.spec}")
