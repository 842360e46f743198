"""The whole design of DECK on the user's corpora: train × model × test, checks, retraining, tables."""

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

from psycheck.audits.behaviour import Behaviour
from psycheck.audits.suite import read_suite
from psycheck.audits.summary import across_corpora
from psycheck.corpora.open import CorpusLike, open_corpus
from psycheck.errors import BadInput
from psycheck.experiments import arms as design
from psycheck.experiments.arms import SAMPLE, Say, Ways, named, quiet
from psycheck.experiments.rows import ArmResult, between_models, checks_by_seed, findings_of
from psycheck.finding import Finding, Findings
from psycheck.run import Run
from psycheck.runs.environment import described, environment_of
from psycheck.runs.folder import writes_run
from psycheck.runs.pages import save
from psycheck.scoring.engine import Progress, silent
from psycheck.train.recipe import Recipe

AUDIT = "study"


@writes_run("corpora", "suite")
def study_deck(
    corpora: Sequence[CorpusLike],
    recipes: Sequence[Recipe],
    *,
    out: str | Path,
    seeds: int = 1,
    texts: int = SAMPLE,
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
    opened = [open_corpus(one) for one in corpora]
    if len(opened) < 2:
        raise BadInput(
            f"the study has {len(opened)} corpus",
            allowed="two or more",
            do="name another corpus to test out of distribution",
        )
    if not recipes:
        raise BadInput("the study has no model to train", do="name one to start from, such as minilm")
    if len({named(recipe) for recipe in recipes}) < len(recipes):
        raise BadInput("two of the models have the same name", allowed="one start each")
    with_seeds = {named(recipe): design.seeded(recipe, seeds) for recipe in recipes}
    all_checks = read_suite(suite)
    folder = Path(out)
    ways = Ways(suite=suite, unseen="", which="below_mean", share=1.0, balance=False, control=False)
    findings: list[Finding] = []
    rates: list[Finding] = []
    done: dict[str, list[ArmResult]] = {}
    for name, several in with_seeds.items():
        for corpus in opened:
            setting = design.setting_of(
                corpus,
                [one for one in opened if one.name != corpus.name],
                several[0],
                [all_checks],
                folder,
                audit=AUDIT,
                texts=texts,
                store=Path(store) if store else None,
                progress=progress,
                say=say,
            )
            learned = ways if retrain else None
            arms = [arm for one in several for arm in design.sentence_arms(setting, one, learned)]
            # All checks of the suite on texts of the own test split, with the first plain model (Table 2).
            probe = setting.tests[0].sample(texts)
            every_check = [Behaviour(all_checks, variants="one")]
            (found,) = design.judged(arms[0].model, probe, every_check, setting.store, progress)
            rates += [
                replace(f, where={**f.where, "model": name}, examples=())
                for f in found.findings
                if f.measure in ("pass_rate", "pass_rate_mean")
            ]
            findings += findings_of(arms, setting.probe)
            done[f"{corpus.name}, {name}"] = arms
    every_arm = [arm for arms in done.values() for arm in arms]
    findings += between_models(every_arm)
    findings += [*rates, *across_corpora(rates)]
    plan = {
        "verb": "study deck",
        "models": [{"name": name, "labels": [setting.label]} for name in with_seeds],
        **described(opened, [all_checks]),
        "threshold": 0.5,
        "recipes": [recipe.as_dict() for recipe in recipes],
        "seeds": seeds,
        "chosen": {name: checks_by_seed(arms) for name, arms in done.items()},
    }
    run = Run(
        plan=plan,
        environment=environment_of([arm.model for arm in every_arm], opened, [all_checks]),
        findings=Findings(findings),
        notes=(
            "the published figures are of other corpora and models than ours",
            *(note for test in setting.tests for note in test.clustering()),
            *(note for arm in every_arm for note in arm.notes),
        ),
        folder=folder,
    )
    return save(run, folder)
