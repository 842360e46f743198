"""`psycheck study`: a paper's whole design on your corpora, its tables next to the published ones.

A study is imported when it is run, so that the help of the others stays quick.
"""

from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

import typer

from psycheck.commands import options as opt
from psycheck.commands.console import ProgressLine

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from psycheck.corpora.columns import Columns
    from psycheck.training.recipe import Recipe

app = typer.Typer(
    help="Run a paper's design on your corpora, and print its tables next to the published ones.",
    no_args_is_help=True,
    rich_markup_mode=None,
)
TO_STDERR = partial(typer.echo, err=True)
OUT = Path("runs/study")


@app.command("deck")
@opt.verb("study deck", opt.TRAINING)
def deck_cli(
    columns: "Columns",
    corpora: list[str],
    out: Path = OUT,
    starts: list[str] | None = None,
    preset: str | None = None,
    seeds: int | None = None,
    trials: int | None = None,
    epochs: float | None = None,
    max_length: int | None = None,
    texts: int | None = None,
    small: bool = False,
    retrain: bool = True,
    store: str | None = None,
) -> None:
    """DECK: train on each corpus, test on all of them, try the checks, retrain on those that fail."""
    from psycheck.corpora.opening import corpus_plans
    from psycheck.report.studies.deck_tables import deck_tables
    from psycheck.studies.deck_design import SMALL, Size
    from psycheck.studies.deck_study import study_deck

    chosen = {"seeds": seeds, "trials": trials, "texts": texts}
    size = replace(SMALL if small else Size(), **_set(chosen))
    changes = {"epochs": epochs, "max_length": max_length}
    with ProgressLine() as line:
        run = study_deck(
            corpus_plans(corpora, columns),
            _study_recipes("deck", starts or ["minilm"], preset, changes),
            out=out,
            size=size,
            retrain=retrain,
            store=store,
            progress=line,
            say=TO_STDERR,
        )
    _print(deck_tables(run), out)


@app.command("gender")
@opt.verb("study gender", opt.TRAINING)
def gender_cli(
    ctx: typer.Context,
    columns: "Columns",
    corpus: str,
    out: Path = OUT,
    group: str | None = None,
    encoders: list[str] | None = None,
    learners: list[str] | None = None,
    starts: list[str] | None = None,
    preset: str = "fast",
    seeds: int = 1,
    epochs: float | None = None,
    max_length: int | None = None,
    balance: Literal["both", "class", "none"] = "both",
    each: int | None = None,
    pairs: int | None = None,
    neutral: Literal["they", "remove"] = "they",
    swap: list[str] | None = None,
    swap_person: Literal["all", "main"] | None = None,
    first_person: bool = False,
    direct_bias: bool = True,
) -> None:
    """Gender bias: train on original, swapped, neutralised and augmented texts, and compare decisions."""
    from psycheck.corpora.opening import corpus_plan
    from psycheck.report.studies.gender_tables import gender_tables
    from psycheck.studies.gender_study import study_gender
    from psycheck.text.gender.edits import scope_of

    if not starts:
        opt.refuse(ctx, ("preset", "epochs", "max_length"), "study gender without --start", "with --start")
    encoders = encoders or ["minilm"]
    if first_person:
        _study_writers(ctx, columns, corpus, out, group, encoders, learners)
        return
    if encoders == ["tfidf"] and direct_bias:
        opt.refuse(
            ctx,
            ("direct_bias",),
            "study gender --encoder tfidf",
            "with an encoder that has word vectors",
        )
    recipe = _recipe(preset, epochs, max_length)
    with ProgressLine() as line:
        run = study_gender(
            corpus_plan(corpus, replace(columns, groups=(group,) if group else ())),
            out=out,
            record=group,
            encoder=encoders,
            names=learners,
            recipes=[recipe.with_(start=start) for start in starts or []],
            scope=scope_of(swap or (), swap_person or "all"),
            how=neutral,
            balance=balance,
            each=each,
            pairs=pairs,
            seeds=seeds,
            direct_bias=direct_bias,
            progress=line,
            say=TO_STDERR,
        )
    _print(gender_tables(run), out)


def _study_writers(
    ctx: typer.Context,
    columns: "Columns",
    corpus: str,
    out: Path,
    group: str | None,
    encoders: list[str],
    learners: list[str] | None,
) -> None:
    """First-person texts: the probe of the writer's gender, and fairness by it and by the record."""
    from psycheck.core.errors import BadInput
    from psycheck.corpora.opening import corpus_plan
    from psycheck.report.studies.gender_writers_tables import writer_tables
    from psycheck.studies.gender_writers import study_writers

    of_pairs = (
        "starts",
        "seeds",
        "balance",
        "each",
        "pairs",
        "neutral",
        "swap",
        "swap_person",
        "direct_bias",
    )
    opt.refuse(ctx, of_pairs, "study gender --first-person", "without --first-person")
    if group is None:
        raise BadInput(
            "the gender of the writers is not named",
            code="gender-study.no-record",
            allowed="a group column with it",
            do="name its column: `group=COLUMN`",
        )
    with ProgressLine() as line:
        run = study_writers(
            corpus_plan(corpus, replace(columns, groups=(group,))),
            out=out,
            record=group,
            encoder=encoders,
            names=learners or ("lr",),
            progress=line,
            say=TO_STDERR,
        )
    _print(writer_tables(run), out)


@app.command("angst")
@opt.verb("study angst", opt.TRAINING)
def angst_cli(
    ctx: typer.Context,
    columns: "Columns",
    corpora: list[str],
    out: Path = OUT,
    models: list[str] | None = None,
    starts: list[str] | None = None,
    train_on: str | None = None,
    preset: str | None = None,
    seeds: int = 3,
    trials: int = 0,
    epochs: float | None = None,
    max_length: int | None = None,
    dev_share: float | None = None,
    tasks: list[str] | None = None,
    store: str | None = None,
) -> None:
    """ANGST: fine-tuned models and LLMs on depression, anxiety and both; Tables 3–6, 8, 10, 11 and 16."""
    from psycheck.corpora.opening import corpus_plan, corpus_plans
    from psycheck.report.studies.angst_tables import angst_tables
    from psycheck.scoring.limits import Limits
    from psycheck.studies.angst_study import TASKS, study_angst

    if not starts:
        options_of_training = (
            "preset",
            "epochs",
            "max_length",
            "dev_share",
            "seeds",
            "trials",
            "tasks",
            "train_on",
        )
        opt.refuse(ctx, options_of_training, "study angst without --start", "with --start")
    # Table 8 compares words alone: the other corpora need no labels.
    tested, *compared = corpora
    changes = {"epochs": epochs, "max_length": max_length, "dev_share": dev_share}
    with ProgressLine() as line:
        run = study_angst(
            [corpus_plan(tested, columns), *corpus_plans(compared, replace(columns, labels=()))],
            models or (),
            _study_recipes("angst", starts or (), preset, changes),
            out=out,
            trials=trials,
            train_on=corpus_plan(train_on, columns) if train_on else None,
            tasks=tasks or TASKS,
            seeds=seeds,
            store=store,
            limits=Limits(**opt.values_for(ctx, Limits)),
            progress=line,
            say=TO_STDERR,
        )
    _print(angst_tables(run), out)


@app.command("psysym")
@opt.verb("study psysym")
def psysym_cli(
    sentences: str = "demo:sentences",
    controls: str | None = None,
    people: str = "demo:people",
    out: Path = OUT,
    start: str | None = None,
    preset: str = "symptoms",
    seeds: int = 1,
    epochs: float | None = None,
    encoder: str = "minilm",
    graph: Path | None = None,
    dictionaries: list[str] | None = None,
    store: str | None = None,
) -> None:
    """PsySym: symptoms in sentences, conditions in histories; Tables 2, 5, 9 and 10, sections 5.2–5.3."""
    from psycheck.corpora.columns import Columns
    from psycheck.corpora.opening import corpus_plan
    from psycheck.report.studies.psysym_tables import psysym_tables
    from psycheck.studies.psysym_study import study_psysym

    recipe = _recipe("tfidf" if start == "tfidf+lr" else preset, epochs, None)
    if start is not None:
        recipe = recipe.with_(start=start)
    with ProgressLine() as line:
        run = study_psysym(
            corpus_plan(sentences, Columns()),
            None if people == "none" else corpus_plan(people, Columns()),
            out=out,
            controls=corpus_plan(controls, Columns()) if controls else None,
            recipe=recipe,
            seeds=seeds,
            encoder=encoder,
            graph=graph,
            dictionaries=dictionaries or (),
            store=store,
            progress=line,
            say=TO_STDERR,
        )
    _print(psysym_tables(run), out)


@app.command("corpora")
@opt.verb("study corpora", opt.TRAINING)
def corpora_cli(
    columns: "Columns",
    corpora: list[str],
    out: Path = OUT,
    encoder: str = "minilm",
    parts: list[str] | None = None,
    sample: int = 500,
    seed: int = 0,
) -> None:
    """DECK Table 3, ANGST Tables 2 and 8: how far corpora and their classes are apart."""
    from psycheck.corpora.distances import PARTS, Comparing
    from psycheck.corpora.opening import corpus_plans
    from psycheck.report.studies.corpora_tables import corpora_tables
    from psycheck.studies.corpora_study import study_corpora

    how = Comparing(parts=tuple(parts or PARTS), sample=sample, seed=seed)
    with ProgressLine() as line:
        run = study_corpora(corpus_plans(corpora, columns), out=out, encoder=encoder, how=how, progress=line)
    _print(f"{corpora_tables(run)}\ntables: {out / 'study.md'}", out)


def _print(tables: str, out: Path) -> None:
    typer.echo(f"{tables}\nreport: {out / 'report.html'}")


def _recipe(preset: str, epochs: float | None, max_length: int | None) -> "Recipe":
    """A shipped recipe for depression, with the options that were set."""
    from psycheck.training.recipe import preset as recipe_named

    changes = {"epochs": epochs, "max_length": max_length}
    return recipe_named(preset, labels=("depression",), **_set(changes))


def _study_recipes(
    study: str, starts: "Sequence[str]", preset: str | None, changes: "Mapping[str, object]"
) -> "list[Recipe]":
    """A recipe per start, with the options that were set: that of its architecture, or the preset."""
    from psycheck.training.recipe import preset as recipe_named
    from psycheck.training.recipe import study_recipe, unused

    recipes = []
    for start in starts:
        if preset is None:
            recipe = study_recipe(study, start, labels=("depression",))
        else:
            recipe = recipe_named(preset, labels=("depression",), start=start)
        # Of several starts, a baseline has no use for the epochs of the others.
        without_effect = unused(recipe)
        kept = {name: value for name, value in _set(changes).items() if name not in without_effect}
        recipes.append(recipe.with_(**kept))
    return recipes


def _set(options: "Mapping[str, object]") -> "dict[str, Any]":
    """The options that the user gave."""
    return {name: value for name, value in options.items() if value is not None}
