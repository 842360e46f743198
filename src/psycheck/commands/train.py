"""`psycheck train`: fine-tune a model, or fit a cheap baseline, into a folder that `audit` opens.

What trains is imported in the functions that use it: `psycheck train --help` needs none of it.
"""

from collections.abc import Mapping, Sequence
from math import isnan
from pathlib import Path
from typing import TYPE_CHECKING

import typer

from psycheck.commands import options as opt
from psycheck.commands.console import ProgressLine, caution_lines, print_json, print_notes
from psycheck.core.errors import counted

if TYPE_CHECKING:
    from psycheck.core.corpus import Corpus
    from psycheck.corpora.columns import Columns
    from psycheck.corpora.opening import CorpusPlan
    from psycheck.training.fit import Trained
    from psycheck.training.parts import Data
    from psycheck.training.recipe import Recipe

FINE_TUNED = "a start that is fine-tuned: minilm, a model folder or a hub name"


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
    dry_run: bool = False,
    json_: bool = False,
) -> None:
    """Train a model; run the same command again to resume, finished work is not repeated."""
    from psycheck.corpora.opening import corpus_plan, open_corpus
    from psycheck.training.fit import train, with_dev
    from psycheck.training.recipe import Recipe, preset_of, space_of
    from psycheck.training.recipe import preset as recipe_named

    values = opt.values_for(ctx, Recipe)
    values["labels"] = [_label_name(label) for label in columns.labels]

    # A start brings the recipe that suits it, unless the user names another.
    preset = preset or preset_of(values.get("start", ""))
    recipe = recipe_named(preset, **values) if preset else Recipe(**values)
    _refuse_unused(ctx, recipe)

    # Before the corpus is opened and hours of training replace what lies in the folder.
    plan = corpus_plan(corpus, columns, None, format_)
    _refuse_overwriting_inputs(out, plan, dev, recipe)

    opened = open_corpus(plan)
    data: Data = opened
    test: Corpus | None = None
    if dev is not None:
        data, test = with_dev(opened, open_corpus(corpus_plan(str(dev), columns)))

    if dry_run:
        _print_plan(data, recipe, out, runs=search + seeds or 1, as_json=json_)
        return

    trained: Trained | None = None
    trained_seeds: list[Trained] = []
    with ProgressLine() as line:
        if search:
            from psycheck.training.search import search as search_parameters

            trained = search_parameters(
                data,
                recipe,
                out,
                trials=search,
                space=space_of(preset),
                test=test,
                progress=line.training,
            )
            recipe = trained.recipe
        elif not seeds:
            # With --seeds alone, the models of the seeds are all that is asked for.
            trained = train(data, recipe, out, test=test, progress=line.training)

        if seeds:
            # After a search, with the best recipe that it found.
            from psycheck.training.search import train_seeds

            trained_seeds = train_seeds(
                data,
                recipe,
                out / "seeds",
                seeds=seeds,
                test=test,
                progress=line.training,
            )

    if json_:
        models = ([trained] if trained else []) + trained_seeds
        print_json(models=[_record_of(model) for model in models], cautions=_caution_lines(opened))
        return
    # Before the figures: a high score on a corpus that gives labels away shows nothing.
    _print_cautions(opened)
    if trained:
        _print_training(trained)
    if trained_seeds:
        _print_seeds(trained_seeds)


def _label_name(option: str) -> str:
    """The name that a label gets: that after the "=" of COLUMN=NAME, or that of the column."""
    from psycheck.corpora.labels import name_and_level

    column, _, name = option.partition("=")
    if not name:
        return column
    label, _ = name_and_level(name)
    return label


def _refuse_unused(ctx: typer.Context, recipe: "Recipe") -> None:
    """Refuse options that have no effect for this start."""
    from psycheck.training.recipe import LEARNERS, unused

    for name in sorted(unused(recipe)):
        allowed = f"with {FINE_TUNED}"
        if name == "max_length":
            allowed += ", or with encoder+lr"
        elif name == "features":
            allowed = f"with {', '.join(LEARNERS)}"
        opt.refuse(ctx, [name], f"train --start {recipe.start}", allowed)


def _refuse_overwriting_inputs(
    out: Path,
    plan: "CorpusPlan",
    dev: Path | None,
    recipe: "Recipe",
) -> None:
    """Refuse to train over the corpus, or over the model that training starts from."""
    from psycheck.corpora.opening import corpus_path
    from psycheck.io.writing import refuse_overwriting

    # Folders that a training replaces or removes as a whole.
    replaced_folders = [out / "best", out / "trials", out / "seeds", Path(f"{out}.training")]
    # The start may be a model folder; as a name such as "minilm" it is a path that does not exist.
    candidates = (corpus_path(plan), dev, Path(recipe.start))
    inputs = [path for path in candidates if path is not None]
    refuse_overwriting(replaced_folders, inputs)


def _print_plan(data: "Data", recipe: "Recipe", out: Path, *, runs: int, as_json: bool) -> None:
    """Print what a training would learn from, without training."""
    from psycheck.training.parts import parts_of

    parts = parts_of(data, recipe)
    texts = {"train": len(parts.train), "dev": len(parts.dev)}
    if as_json:
        print_json(start=recipe.start, labels=list(parts.labels), texts=texts, trainings=runs, out=str(out))
        return
    labels = ", ".join(parts.labels)
    typer.echo(f"start {recipe.start}, labels {labels}: {texts['train']:,} texts to learn from,")
    typer.echo(f"{texts['dev']:,} to choose by; {counted(runs, 'training')} into {out}; nothing was trained")


def _record_of(trained: "Trained") -> dict[str, object]:
    """A training for programs."""
    return {
        "model": trained.spec,
        "labels": list(trained.labels),
        "reused": trained.reused,
        "seconds": round(trained.seconds, 3),
        "dev": _without_nan(trained.dev),
        "test": _without_nan(trained.test),
    }


def _without_nan(figures: Mapping[str, float]) -> dict[str, float | None]:
    # JSON has no NaN.
    return {name: None if isnan(value) else value for name, value in figures.items()}


def _print_cautions(corpus: "Corpus") -> None:
    """Print why scores on a corpus may mean little, with what helps, and what was not looked for."""
    from psycheck.corpora.cautions import not_searched

    print_notes(not_searched(corpus))
    for line in _caution_lines(corpus):
        typer.echo(line)


def _caution_lines(corpus: "Corpus") -> list[str]:
    from psycheck.corpora.cautions import cheap_cautions

    return caution_lines(caution.finding() for caution in cheap_cautions(corpus))


def _print_training(trained: "Trained") -> None:
    """Print what became of a training: its figures, and how its model is named."""
    outcome = f"trained in {trained.seconds:.0f} s"
    if trained.reused:
        outcome = "already trained; nothing to do"
    typer.echo(outcome)
    _print_figures("dev", trained.dev)
    _print_figures("test", trained.test)
    typer.echo(f"model: {trained.spec}")


def _print_figures(split: str, figures: Mapping[str, float]) -> None:
    """Print the figures of a split on one line, and those of each label below it."""
    from psycheck.training.dev_figures import format_figure

    # Figures are named MEASURE, or MEASURE:LABEL for one label.
    figures_of_label: dict[str, list[str]] = {"": []}
    for name in figures:
        measure, _, label = name.partition(":")
        figures_of_label.setdefault(label, []).append(f"{measure} {format_figure(figures, name)}")

    all_labels = figures_of_label.pop("")
    typer.echo(f"{split}: {', '.join(all_labels) or 'no such split'}")
    for label, formatted in figures_of_label.items():
        typer.echo(f"  {label}: {', '.join(formatted)}")


def _print_seeds(trainings: "Sequence[Trained]") -> None:
    """Print the mean of each figure over the seeds, and the models."""
    from psycheck.training.search import spread

    for split in ("dev", "test"):
        figures = [training.dev if split == "dev" else training.test for training in trainings]
        for name, (mean, deviation) in spread(trainings, on=split).items():
            typer.echo(f"{split} {name}: {_format_spread(name, mean, deviation, figures)}")

    for training in trainings:
        typer.echo(f"model: {training.spec}")


def _format_spread(name: str, mean: float, deviation: float, figures: Sequence[Mapping[str, float]]) -> str:
    """A mean with its standard deviation; a dash with the reason where a seed has no such figure."""
    from psycheck.training.dev_figures import why_undefined

    seeds = counted(len(figures), "seed")
    if name == "n":
        return f"{mean:,.0f}"

    # A mean over the seeds that happen to be defined would be too good.
    undefined = [seed_figures for seed_figures in figures if isnan(seed_figures[name])]
    if undefined:
        concerned = seeds if len(undefined) == len(figures) else f"{len(undefined)} of {seeds}"
        return f"– ({why_undefined(undefined[0], name)}, {concerned})"

    formatted_deviation = "sd –" if isnan(deviation) else f"sd {deviation:.3f}"
    return f"{mean:.3f} ({formatted_deviation}, {seeds})"
