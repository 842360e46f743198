"""The whole design of DECK on the user's corpora: train × model × test, checks, retraining, tables."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from psycheck import (
    ArmResult,
    Corpus,
    CorpusLike,
    Experiment,
    Finding,
    Findings,
    Recipe,
    Retraining,
    Run,
    Suite,
    best_arm,
    compare_arms,
    compare_plain_models,
    describe_inputs,
    open_corpus,
    pass_rates_across_corpora,
    plan_experiment,
    read_suite,
    run_environment,
    save_run,
    search_recipe,
    search_space,
    study_recipe,
    train_arms,
    writes_run,
)
from psycheck.core.errors import BadInput
from psycheck.core.progress import Progress, Say, quiet, silent
from psycheck.studies.deck_checks import TriedChecks, correlations, try_checks
from psycheck.studies.deck_design import Size, left_out, wide_intervals
from psycheck.studies.deck_figures import table_figures

AUDIT = "study"
PUBLISHED = Size()
# On how many texts of dev the checks to learn from are chosen.
CHOOSING_TEXTS = 40


@dataclass(frozen=True, slots=True)
class _OneCorpus:
    """One start trained on one corpus: its recipe after the search, its arms, and what was found.

    `best` is the plain model that is best on dev; the checks were tried on it.
    """

    experiment: Experiment
    recipe: Recipe
    arms: list[ArmResult]
    best: ArmResult
    findings: list[Finding]
    tried: TriedChecks


@writes_run("corpora", "suite")
def study_deck(
    corpora: Sequence[CorpusLike],
    recipes: Sequence[Recipe],
    *,
    out: str | Path,
    size: Size = PUBLISHED,
    suite: str = "deck",
    retrain: bool = True,
    store: str | Path | None = None,
    progress: Progress = silent,
    say: Say = quiet,
) -> Run:
    """Search and train every recipe on every corpus with every seed, and measure each on all test splits.

    As in the paper, the hyperparameters of what is fine-tuned are searched on every corpus (section 4.1),
    checks are tried on the seed that is best on dev, and the sentences of checks below the DIR mean are
    appended to all agreeing texts before the models are trained again (section 6.3), unless `retrain` is off.
    Each recipe should be that of its start (`study_recipe`). `size` is the published one: six seeds, ten
    trials, and as many texts that a pass rate is known to 10 points; what a smaller run leaves out is among
    its notes. The folder gets `study.md`, each table next to the published one. Finished trainings and scores
    are reused.
    """
    opened = [open_corpus(corpus) for corpus in corpora]
    _refuse_too_few(opened, recipes)
    all_checks = read_suite(suite)
    folder = Path(out)

    done: dict[str, _OneCorpus] = {}
    for recipe in recipes:
        for corpus in opened:
            # Every model is also tested on the corpora that it was not trained on.
            foreign_corpora = [foreign for foreign in opened if foreign.name != corpus.name]
            experiment = plan_experiment(
                corpus,
                foreign_corpora,
                recipe,
                [all_checks],
                folder,
                audit=AUDIT,
                texts=min(size.texts, CHOOSING_TEXTS),
                store=Path(store) if store else None,
                progress=progress,
                say=say,
            )
            done[f"{corpus.name}, {recipe.short_name}"] = _study_one_corpus(
                experiment,
                recipe,
                all_checks,
                size,
                retrain=retrain,
            )

    arms = _all_arms(done)
    # The label and the tests are the same in all experiments.
    last_experiment = list(done.values())[-1].experiment
    plan = {
        "verb": "study deck",
        "models": [{"name": recipe.short_name, "labels": [last_experiment.label]} for recipe in recipes],
        **describe_inputs(opened, [all_checks]),
        "threshold": 0.5,
        "recipes": [recipe.as_dict() for recipe in recipes],
        "searched": {name: result.recipe.as_dict() for name, result in done.items()},
        "seeds": size.seeds,
        "trials": size.trials,
        "texts": size.texts,
        "best_seeds": {name: result.best.seed for name, result in done.items()},
        "chosen": {name: _checks_by_seed(result.arms) for name, result in done.items()},
    }
    run = Run(
        plan=plan,
        environment=run_environment([arm.model for arm in arms], opened, [all_checks]),
        findings=Findings(_all_findings(done)),
        notes=(
            *left_out(size, recipes, last_experiment.tests, retrain=retrain),
            *_wide_intervals(done),
            *_notes(last_experiment.tests, arms),
        ),
        folder=folder,
    )
    return save_run(run, folder)


def _refuse_too_few(corpora: Sequence[Corpus], recipes: Sequence[Recipe]) -> None:
    if len(corpora) < 2:
        raise BadInput(
            f"the study has {len(corpora)} corpus",
            code="study.too-few-corpora",
            allowed="two or more",
            do="name another corpus to test out of distribution",
        )
    if not recipes:
        raise BadInput(
            "the study has no model to train",
            code="study.no-model",
            do="name one to start from, such as minilm",
        )
    names = {recipe.short_name for recipe in recipes}
    if len(names) < len(recipes):
        raise BadInput(
            "two of the models have the same name",
            code="study.same-model-name",
            allowed="one start each",
        )


def _study_one_corpus(
    experiment: Experiment,
    recipe: Recipe,
    all_checks: Suite,
    size: Size,
    *,
    retrain: bool,
) -> _OneCorpus:
    """Search, train all arms of all seeds, and try every check on the best plain model (Table 2)."""
    searched, finished = _searched(experiment, recipe, size.trials)
    # The paper's way to learn from failed checks.
    retraining = Retraining(
        suite=all_checks.name,
        unseen="",
        which="below_mean",
        share=1.0,
        balance=False,
        control=False,
    )
    arms: list[ArmResult] = []
    for seeded_recipe in searched.with_seeds(size.seeds):
        # The search has trained the first seed already.
        folder = finished if seeded_recipe.seed == searched.seed else None
        arms += train_arms(experiment, seeded_recipe, retraining if retrain else None, folder)

    best = best_arm(arms, searched.criterion)
    return _OneCorpus(
        experiment=experiment,
        recipe=searched,
        arms=arms,
        best=best,
        findings=[*compare_arms(arms, experiment.probe), *table_figures(arms)],
        tried=try_checks(experiment, best, all_checks, model=recipe.short_name, texts=size.texts),
    )


def _searched(experiment: Experiment, recipe: Recipe, trials: int) -> tuple[Recipe, Path | None]:
    """The recipe with the hyperparameters that are best on dev, and the model that the search trained."""
    if not trials or recipe.kind != "hf":
        return recipe, None
    name = f"{experiment.corpus.name}, {recipe.short_name}"

    def trial_done(done: int, total: int) -> None:
        experiment.say(f"{name}: {done} of {total} trials of the search")

    # Optuna's default bounds (App-table 1); epochs that somebody set are not searched.
    space = search_space("deck")
    if recipe.epochs != study_recipe("deck", recipe.start).epochs:
        space = replace(space, epochs=())

    folder = experiment.out / "search" / f"{experiment.corpus.name}-{recipe.short_name}"
    trained = search_recipe(
        experiment.corpus,
        recipe,
        folder,
        trials=trials,
        space=space,
        progress=trial_done,
    )
    return trained.recipe, trained.folder


def _all_arms(done: Mapping[str, _OneCorpus]) -> list[ArmResult]:
    arms: list[ArmResult] = []
    for result in done.values():
        arms += result.arms
    return arms


def _checks_by_seed(arms: Sequence[ArmResult]) -> dict[str, list[str]]:
    """The ids of the checks that were learned from, by seed."""
    return {str(arm.seed): list(arm.checks) for arm in arms if arm.checks is not None}


def _all_findings(done: Mapping[str, _OneCorpus]) -> list[Finding]:
    findings: list[Finding] = []
    pass_rates: list[Finding] = []
    of_checks: list[Finding] = []
    for result in done.values():
        findings += result.findings
        pass_rates += result.tried.rates
        of_checks += [*result.tried.every_text, *result.tried.lengths]

    best = [(result.recipe.short_name, result.best) for result in done.values()]
    return [
        *findings,
        *compare_plain_models(_all_arms(done)),
        *pass_rates,
        *of_checks,
        *pass_rates_across_corpora(pass_rates),
        *correlations(best, [result.tried for result in done.values()]),
    ]


def _wide_intervals(done: Mapping[str, _OneCorpus]) -> list[str]:
    notes: list[str] = []
    for result in done.values():
        notes += wide_intervals(result.tried.rates)
    return notes


def _notes(tests: Sequence[Corpus], arms: Sequence[ArmResult]) -> tuple[str, ...]:
    notes = ["the published figures are of other corpora and models than ours"]
    for test in tests:
        notes += test.clustering()
    for arm in arms:
        notes += arm.notes
    return tuple(notes)
