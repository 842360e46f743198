"""The whole design of DECK on the user's corpora: train × model × test, checks, retraining, tables."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from psycheck import (
    ArmResult,
    Behaviour,
    Corpus,
    CorpusLike,
    Experiment,
    Finding,
    Findings,
    Recipe,
    Retraining,
    Run,
    Suite,
    compare_arms,
    compare_plain_models,
    describe_inputs,
    judge_checks,
    open_corpus,
    pass_rates_across_corpora,
    plan_experiment,
    read_suite,
    run_environment,
    save_run,
    train_arms,
    writes_run,
)
from psycheck.core.errors import BadInput
from psycheck.core.progress import Progress, Say, quiet, silent

AUDIT = "study"
PASS_RATES = ("pass_rate", "pass_rate_mean")
# How many texts each check is tried on: a pass rate near one half is then known to about ± 16 points.
TRIED_TEXTS = 40


@dataclass(frozen=True, slots=True)
class _OneCorpus:
    """One recipe trained on one corpus: its arms, and what was found."""

    experiment: Experiment
    arms: list[ArmResult]
    findings: list[Finding]
    pass_rates: list[Finding]


@writes_run("corpora", "suite")
def study_deck(
    corpora: Sequence[CorpusLike],
    recipes: Sequence[Recipe],
    *,
    out: str | Path,
    seeds: int = 1,
    texts: int = TRIED_TEXTS,
    suite: str = "deck",
    retrain: bool = True,
    store: str | Path | None = None,
    progress: Progress = silent,
    say: Say = quiet,
) -> Run:
    """Train every recipe on every corpus with every seed, and measure each on the test split of all corpora.

    As in the paper, the sentences of checks below the DIR mean are appended to all agreeing texts (section
    6.3) and the models are trained again, unless `retrain` is off. Checks are tried on `texts` texts: those
    of dev to choose by, those of test for the tables, with one sentence per text as the paper's counts
    suggest. The folder gets `study.md`, each table next to the published one. Finished trainings and scores
    are reused.
    """
    opened = [open_corpus(corpus) for corpus in corpora]
    _refuse_too_few(opened, recipes)
    recipes_by_name = {recipe.short_name: recipe.with_seeds(seeds) for recipe in recipes}
    all_checks = read_suite(suite)
    folder = Path(out)

    done: dict[str, _OneCorpus] = {}
    for name, seeded_recipes in recipes_by_name.items():
        for corpus in opened:
            # Every model is also tested on the corpora that it was not trained on.
            foreign_corpora = [foreign for foreign in opened if foreign.name != corpus.name]
            experiment = plan_experiment(
                corpus,
                foreign_corpora,
                seeded_recipes[0],
                [all_checks],
                folder,
                audit=AUDIT,
                texts=texts,
                store=Path(store) if store else None,
                progress=progress,
                say=say,
            )
            done[f"{corpus.name}, {name}"] = _study_one_corpus(
                experiment,
                seeded_recipes,
                all_checks,
                texts=texts,
                retrain=retrain,
            )

    arms = _all_arms(done)
    # The label and the tests are the same in all experiments.
    last_experiment = list(done.values())[-1].experiment
    plan = {
        "verb": "study deck",
        "models": [{"name": name, "labels": [last_experiment.label]} for name in recipes_by_name],
        **describe_inputs(opened, [all_checks]),
        "threshold": 0.5,
        "recipes": [recipe.as_dict() for recipe in recipes],
        "seeds": seeds,
        "chosen": {name: _checks_by_seed(result.arms) for name, result in done.items()},
    }
    run = Run(
        plan=plan,
        environment=run_environment([arm.model for arm in arms], opened, [all_checks]),
        findings=Findings(_all_findings(done)),
        notes=_notes(last_experiment.tests, arms),
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
    recipes: Sequence[Recipe],
    all_checks: Suite,
    *,
    texts: int,
    retrain: bool,
) -> _OneCorpus:
    """Train all arms of all seeds, and try every check with the first plain model (Table 2)."""
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
    for recipe in recipes:
        arms += train_arms(experiment, recipe, retraining if retrain else None)

    own_test = experiment.tests[0].sample(texts)
    (judgement,) = judge_checks(
        arms[0].model,
        own_test,
        [Behaviour(all_checks, variants="one")],
        experiment.store,
        experiment.progress,
    )
    pass_rates = []
    for finding in judgement.findings:
        if finding.measure in PASS_RATES:
            where = {**finding.where, "model": recipes[0].short_name}
            pass_rates.append(replace(finding, where=where, examples=()))

    return _OneCorpus(
        experiment=experiment,
        arms=arms,
        findings=compare_arms(arms, experiment.probe),
        pass_rates=pass_rates,
    )


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
    for result in done.values():
        findings += result.findings
        pass_rates += result.pass_rates
    return [
        *findings,
        *compare_plain_models(_all_arms(done)),
        *pass_rates,
        *pass_rates_across_corpora(pass_rates),
    ]


def _notes(tests: Sequence[Corpus], arms: Sequence[ArmResult]) -> tuple[str, ...]:
    notes = ["the published figures are of other corpora and models than ours"]
    for test in tests:
        notes += test.clustering()
    for arm in arms:
        notes += arm.notes
    return tuple(notes)
