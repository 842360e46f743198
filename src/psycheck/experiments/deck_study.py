"""The whole design of DECK on the user's corpora: train × model × test, checks, retraining, tables."""

from collections.abc import Sequence
from dataclasses import replace
from itertools import combinations
from pathlib import Path

from psycheck.audits.behaviour import Behaviour
from psycheck.audits.holm import holm_families
from psycheck.audits.suite import Suite, read_suite
from psycheck.audits.summary import across_corpora
from psycheck.corpora.open import CorpusLike, open_corpus
from psycheck.corpora.shorten import fit_texts
from psycheck.corpus import Corpus
from psycheck.errors import BadInput
from psycheck.experiments.arms import (
    SAMPLE,
    ArmResult,
    Say,
    Setting,
    Ways,
    checks_by_seed,
    findings_of,
    named,
    quiet,
    sentence_arms,
    setting_of,
)
from psycheck.experiments.asking import dir_checks, sample
from psycheck.experiments.changes import PLAIN
from psycheck.experiments.rows import DECISIONS, FAMILY, Scored, against
from psycheck.finding import Finding, Findings
from psycheck.measures.bootstrap import RESAMPLES
from psycheck.model import Model, Windowed
from psycheck.run import Run
from psycheck.runs.environment import environment_of
from psycheck.runs.pages import save
from psycheck.scoring.answers import answers
from psycheck.scoring.engine import Progress, silent
from psycheck.train.recipe import Recipe

AUDIT = "study"


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
    resamples: int = RESAMPLES,
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
    _check(opened, recipes, seeds)
    all_checks = read_suite(suite)
    folder = Path(out)
    remembered = Path(store) if store else folder / "scores.sqlite"
    ways = Ways(suite=suite, unseen="", which="below_mean", share=1.0, balance=False, control=False)
    findings: list[Finding] = []
    rates: list[Finding] = []
    done: dict[str, list[ArmResult]] = {}
    for recipe in recipes:
        for corpus in opened:
            setting = setting_of(
                corpus,
                [one for one in opened if one.name != corpus.name],
                recipe,
                [dir_checks(all_checks)],
                folder,
                audit=AUDIT,
                texts=texts,
                store=remembered,
                progress=progress,
                say=say,
            )
            arms: list[ArmResult] = []
            for number in range(seeds):
                seeded = replace(recipe, seed=recipe.seed + number)
                arms += sentence_arms(setting, seeded, ways if retrain else None)
            rates += _check_rates(setting, arms[0].model, all_checks, named(recipe), texts)
            findings += findings_of(setting, arms, resamples)
            done[f"{corpus.name}, {named(recipe)}"] = arms
    every_arm = [arm for arms in done.values() for arm in arms]
    findings += between_models([row for arm in every_arm for row in arm.rows])
    findings += [*rates, *across_corpora(rates)]
    plan = {
        "verb": "study deck",
        "models": [{"name": named(recipe), "labels": [setting.label]} for recipe in recipes],
        "corpora": [
            {"name": c.name, "texts": len(c), "labels": list(c.labels), "left_out": dict(c.left_out)}
            for c in opened
        ],
        "suites": [{"name": all_checks.name, "title": all_checks.title, "checks": len(all_checks.checks)}],
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
            *(note for arm in every_arm for note in arm.notes),
        ),
        folder=folder,
    )
    save(run, folder)
    return run


def between_models(rows: Sequence[Scored]) -> list[Finding]:
    """McNemar's p between plain models of different kinds on the same test, adjusted by Holm."""
    groups: dict[tuple[str, str, int], list[Scored]] = {}
    for row in rows:
        if row.arm == PLAIN:
            groups.setdefault((row.trained_on, row.corpus, row.seed), []).append(row)
    out = [
        against(one, other, decision)
        for group in groups.values()
        for one, other in combinations(group, 2)
        for decision in DECISIONS
    ]
    return [*out, *holm_families(out, "mcnemar_p", FAMILY)]


def _check(corpora: Sequence[Corpus], recipes: Sequence[Recipe], seeds: int) -> None:
    if len(corpora) < 2:
        raise BadInput(
            f"the study has {len(corpora)} corpus",
            allowed="two or more",
            do="name another corpus to test out of distribution",
        )
    if not recipes:
        raise BadInput("the study has no model to train", do="name a start: --start minilm")
    names = [named(recipe) for recipe in recipes]
    if len(set(names)) < len(names):
        raise BadInput("two of the models have the same name", allowed="one start each")
    if seeds < 1:
        raise BadInput(f"seeds = {seeds}", allowed="1 or more")


def _check_rates(setting: Setting, plain: Model, suite: Suite, model_name: str, texts: int) -> list[Finding]:
    """All checks of the suite on texts of the own test split, with the first plain model (Table 2)."""
    probe = sample(setting.tests[0], texts, seed=0)
    audit = Behaviour(suite, variants="one")
    sentences = [s for check in suite.checks for s in check.sentences]
    fitted, _ = fit_texts(probe, [plain.read] if isinstance(plain, Windowed) else [], sentences)
    with answers(
        [plain], [(1.0, audit.ask(fitted))], store=setting.store, progress=setting.progress
    ) as scored:
        found = audit.judge(fitted, scored.views[0]).findings
    return [
        replace(f, where={**f.where, "model": model_name}, examples=())
        for f in found
        if f.measure in ("pass_rate", "pass_rate_mean")
    ]
