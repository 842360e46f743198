"""Retrain a model on failed checks, on both genders or on symptoms, and test it on corpora it never saw.

What trains and measures is imported in the functions that use it: `psycheck improve --help` needs none of it.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, fields
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

import typer

from psycheck.commands import options as opt
from psycheck.commands.console import ProgressLine, print_run
from psycheck.core.errors import BadInput, counted, nearest
from psycheck.core.finding import Findings
from psycheck.core.progress import Progress, Say, quiet, silent
from psycheck.core.registry import MODEL_KINDS
from psycheck.core.run import Run
from psycheck.corpora.opening import CorpusLike, corpus_plans, open_corpus
from psycheck.runs.folder import writes_run

if TYPE_CHECKING:
    from psycheck.audits.suite import Suite
    from psycheck.corpora.columns import Columns
    from psycheck.text.gender.edits import Scope
    from psycheck.training.arm_figures import ArmResult
    from psycheck.training.arms import Experiment, Retraining
    from psycheck.training.recipe import Recipe

Kind = Literal["ground", "deck", "gender"]
AUDIT = "improve"
AUGMENT = "augment"
GROUND = "ground"
DECK = "deck"
GENDER = "gender"
# Settings that a grounded model has no use for.
_OF_AUGMENTING = ("which", "share", "agreeing", "control")
# Options of --augment deck, and those that --how ground refuses.
_OF_SENTENCES = ("suite", "unseen", "which", "share", "agreeing", "balance", "texts")
_NOT_GROUNDED = (*_OF_AUGMENTING, "augment", "swap", "swap_person")


@dataclass(frozen=True, slots=True)
class Way:
    """How a model is improved: on symptoms ("ground"), sentences ("deck") or swapped texts ("gender")."""

    kind: Kind
    retraining: "Retraining"
    scope: "Scope"

    def suites(self) -> "list[Suite]":
        """The suites whose sentences are tried: the first one is learned from."""
        from psycheck.audits.suite import read_suite

        if self.kind == GENDER:
            return []
        names = (self.retraining.suite, self.retraining.unseen)
        return [read_suite(name) for name in names if name]

    def arms(self, recipe: "Recipe") -> list[str]:
        """The names of the arms, in order."""
        if self.kind == GROUND:
            return self.retraining.grounded_arms(recipe)
        if self.kind == GENDER:
            return self.retraining.gender_arms()
        return self.retraining.sentence_arms(recipe)


@writes_run("start", "corpus", "others", "changes")
def improve(
    start: "str | Path | Recipe",
    corpus: CorpusLike,
    others: Sequence[CorpusLike] = (),
    *,
    out: str | Path,
    how: str = AUGMENT,
    augment: str = DECK,
    swap: Sequence[str] | None = None,
    swap_person: str | None = None,
    seeds: int = 1,
    texts: int | None = None,
    store: str | Path | None = None,
    progress: Progress = silent,
    say: Say = quiet,
    **changes: Any,
) -> Run:
    """Retrain with sentences, with swapped texts or on symptoms; measure all models at home and elsewhere.

    `start` is a folder that `train` wrote from this corpus, or a recipe. Every further seed trains anew. All
    arms are measured on the test split and on the others (their test split where they have one), at 0.5, at a
    threshold chosen on dev, and by AUC; sentences are tried on `texts` texts of dev (40). `changes` are
    fields of `Retraining`: suite, unseen, which, share, agreeing, balance, control. Finished trainings and
    scores are reused. With `augment` "gender" every text of train and dev that names a gender gets a swapped
    counterpart, and flips and false negative rates are measured too; `swap` (pronouns) and `swap_person`
    (all) choose the words to swap, in training and in these pairs. Settings of the other kind of augmenting
    are an error. With `how` "ground" no text is changed: the arm "grounded" is a logistic regression on the
    evidence for the symptoms of PHQ-9.
    """
    from psycheck.commands.improve_record import notes_of, plan_record
    from psycheck.corpora.fixed_order import in_fixed_order
    from psycheck.runs.environment import environment_of
    from psycheck.runs.pages import save
    from psycheck.text.gender.edits import scope_of
    from psycheck.training.arm_figures import checks_by_seed, improvement_findings
    from psycheck.training.arms import SAMPLE, plan_experiment

    retraining = _read_retraining(changes)
    set_options = list(changes)
    if texts is not None:
        set_options.append("texts")
    swaps = swap is not None or swap_person is not None
    _refuse_settings_without_effect(how, augment, set_options, swaps=swaps)
    way = Way(
        kind=_kind(how, augment),
        retraining=retraining,
        scope=scope_of(swap or (), swap_person or "all"),
    )

    folder, recipe = _read_start(start)
    recipes = recipe.with_seeds(seeds)
    experiment = plan_experiment(
        in_fixed_order(open_corpus(corpus)),
        [in_fixed_order(open_corpus(other)) for other in others],
        recipe,
        way.suites(),
        Path(out),
        audit=AUDIT,
        texts=SAMPLE if texts is None else texts,
        store=Path(store) if store else None,
        progress=progress,
        say=say,
    )

    # Trainings take hours: what makes the comparison unfair is refused before the first one.
    if folder is not None:
        _refuse_other_training(folder, experiment)
    say(_announcement(experiment, way.arms(recipe), seeds, finished=int(folder is not None)))

    arms = _train_all_arms(experiment, way, recipes, folder)
    # Which checks are below the mean is known only after the plain model was trained and tested.
    if way.kind == DECK and not any(checks_by_seed(arms).values()):
        raise BadInput(
            f"no DIR check of '{experiment.suites[0].name}' is below the mean: all have the same pass rate",
            code="improve.no-check-below-mean",
            do="learn from all of them: `which=all`",
        )

    run = Run(
        plan=plan_record(experiment, way, arms, how=how, recipe=recipe, seeds=seeds),
        environment=environment_of(
            [arm.model for arm in arms],
            [experiment.corpus, *experiment.tests[1:]],
            experiment.suites,
        ),
        findings=Findings(improvement_findings(arms, experiment.probe)),
        notes=notes_of(experiment, way.kind, arms),
        folder=experiment.out,
    )
    return save(run, experiment.out)


def _read_retraining(changes: Mapping[str, Any]) -> "Retraining":
    """The settings of a retraining, checked; unknown names are refused."""
    from psycheck.io.settings import read_settings
    from psycheck.training.arms import Retraining

    setting_names = [field.name for field in fields(Retraining)]
    for name in changes:
        if name not in setting_names:
            raise BadInput(
                f"improve() has no setting '{name}'",
                code="improve.unknown-setting",
                allowed=nearest(name, setting_names),
            )
    return read_settings(Retraining, changes)


def _refuse_settings_without_effect(how: str, augment: str, settings: Sequence[str], *, swaps: bool) -> None:
    """Refuse unknown kinds, and settings that the chosen kind would ignore."""
    if how not in (AUGMENT, GROUND):
        raise BadInput(
            f"cannot improve by '{how}'",
            code="improve.unknown-how",
            allowed=nearest(how, (AUGMENT, GROUND)),
        )
    if how == GROUND:
        ignored = [name for name in _OF_AUGMENTING if name in settings]
        if augment != DECK:
            ignored.append("augment")
        if ignored:
            raise BadInput(
                f"how = 'ground' changes no text; settings without effect: {', '.join(ignored)}",
                code="improve.setting-without-effect",
                allowed="suite, unseen, texts, balance and seeds",
                do="remove them, or use `how=augment`",
            )

    if augment not in (DECK, GENDER):
        raise BadInput(
            f"cannot augment with '{augment}'",
            code="improve.unknown-augment",
            allowed=nearest(augment, (DECK, GENDER)),
        )
    if augment == DECK and swaps:
        raise BadInput(
            "augment = 'deck' swaps nothing",
            code="improve.setting-without-effect",
            do="swap words with `augment=gender`",
        )

    # Both kinds of augmenting have a control arm: random sentences there, repeated texts here.
    ignored = [name for name in settings if name != "control"]
    if augment == GENDER and ignored:
        raise BadInput(
            f"augment = 'gender' appends no sentences; settings without effect: {', '.join(ignored)}",
            code="improve.setting-without-effect",
            allowed="control, swap, swap_person and seeds",
            do="remove them, or use `augment=deck`",
        )


def _kind(how: str, augment: str) -> Kind:
    if how == GROUND:
        return "ground"
    return "gender" if augment == GENDER else "deck"


def _read_start(start: "str | Path | Recipe") -> "tuple[Path | None, Recipe]":
    """A finished training and its recipe, or a recipe alone."""
    from psycheck.training.card import RECORD
    from psycheck.training.fit import opened
    from psycheck.training.recipe import Recipe

    if isinstance(start, Recipe):
        return None, start

    folder = _folder_of(str(start))
    if not (folder / RECORD).is_file():
        raise BadInput(
            f"'{folder}' was not written by psycheck train: it has no recipe",
            code="improve.not-a-training",
            allowed=f"a folder with {RECORD}, or a named recipe",
            do="run psycheck train CORPUS --out FOLDER first, or choose a recipe (psycheck ls recipes)",
        )
    return folder, opened(folder).recipe


def _folder_of(model: str) -> Path:
    """The folder of a model, also as `train` prints it: KIND:FOLDER or KIND:FOLDER/FILE."""
    kind, colon, target = model.partition(":")
    path = Path(target if colon and kind in MODEL_KINDS else model)
    return path.parent if path.is_file() else path


def _refuse_other_training(folder: Path, experiment: "Experiment") -> None:
    """Refuse a plain model of other texts: plain and augmented can be compared only on the same ones."""
    from psycheck.training.card import read_record

    trained_on = read_record(folder)["trained_on"]["train"]["fingerprint"]
    if trained_on != experiment.parts.train.fingerprint():
        raise BadInput(
            f"the model was not trained on the train split of corpus '{experiment.corpus.name}' as it is now",
            code="improve.trained-on-other-texts",
            where=str(folder),
            allowed="the corpus the model was trained on, with the same columns and splits",
            do="name that corpus first, or a recipe instead of the folder",
        )


def _announcement(
    experiment: "Experiment",
    arm_names: Sequence[str],
    seeds: int,
    *,
    finished: int,
) -> str:
    """What lies ahead: how many trainings, on how many texts."""
    trainings = len(arm_names) * seeds - finished
    tests = ", ".join(f"{test.name} ({len(test):,})" for test in experiment.tests)
    train_texts = counted(len(experiment.parts.train), "text")
    return (
        f"{counted(trainings, 'training')} ahead: {', '.join(arm_names)}; {counted(seeds, 'seed')}; "
        f"{train_texts} of train and {len(experiment.parts.dev):,} of dev; "
        f"test texts per model: {tests}"
    )


def _train_all_arms(
    experiment: "Experiment",
    way: Way,
    recipes: "Sequence[Recipe]",
    folder: Path | None,
) -> "list[ArmResult]":
    """The arms of every seed; the finished training in `folder` is the plain model of the first one."""
    from psycheck.training.gender_arms import train_gender_arms
    from psycheck.training.sentence_arms import train_arms, train_grounded_arms

    arms: list[ArmResult] = []
    for recipe in recipes:
        first = recipe is recipes[0]
        finished = folder if first else None
        if way.kind == GROUND:
            arms += train_grounded_arms(experiment, recipe, way.retraining, finished)
        elif way.kind == GENDER:
            arms += train_gender_arms(
                experiment,
                recipe,
                control=way.retraining.control,
                folder=finished,
                scope=way.scope,
                first=first,
            )
        else:
            arms += train_arms(experiment, recipe, way.retraining, finished)
    return arms


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
    json_: bool = False,
) -> None:
    """Retrain on the checks that failed or on symptoms; test all models on corpora they never saw."""
    from psycheck.audits.suite import read_suite
    from psycheck.report.studies.improve_tables import improve_table
    from psycheck.training.recipe import Recipe, preset, presets

    if how == GROUND:
        opt.refuse(ctx, _NOT_GROUNDED, "improve --how ground", "with --how augment")
    elif augment == GENDER:
        opt.refuse(ctx, _OF_SENTENCES, "improve --augment gender", "with --augment deck")
    elif augment == DECK:
        opt.refuse(ctx, ("swap", "swap_person"), "improve --augment deck", "with --augment gender")

    first_corpus, *other_corpora = corpus_plans(corpora, columns)
    start: str | Recipe = model
    if model in presets() and not Path(model).exists():
        # The suite's label is learned alone: what it tests is what is to be improved.
        labels = () if augment == GENDER else (read_suite(suite).checks[0].label,)
        start = preset(model, labels=labels)

    settings = (*_OF_SENTENCES, "control")
    changes = {name: ctx.params[name] for name in settings if opt.given(ctx, name)}
    with ProgressLine() as line:
        run = improve(
            start,
            first_corpus,
            other_corpora,
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
    if json_:
        print_run(run, out, (), as_json=True, verdict=run.verdict)
        return
    typer.echo(improve_table(run.findings))
    for claim in run.headlines:
        typer.echo(claim.sentence)
        if claim.remedy.startswith("psycheck "):
            typer.echo(f"  do: {claim.remedy}")
    typer.echo(f"report: {out / 'report.html'}")
