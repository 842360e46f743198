"""The whole design of DECK on corpora of the user: train × model × test, checks, retraining, tables."""

from collections.abc import Sequence
from itertools import combinations
from pathlib import Path
from typing import Any

from psycheck.audits.behaviour import Behaviour
from psycheck.audits.suite import Suite, read_suite
from psycheck.audits.summary import across_corpora
from psycheck.corpora.open import CorpusLike, open_corpus
from psycheck.corpora.shorten import fit_texts
from psycheck.corpus import Corpus
from psycheck.errors import BadInput
from psycheck.experiments.arm_findings import findings_of
from psycheck.experiments.arms import SAMPLE, Arms, Say, Ways, arms_of, named, one_seed
from psycheck.experiments.asking import dir_checks, sample
from psycheck.experiments.changes import PLAIN
from psycheck.experiments.rows import DECISIONS, Scored, against, holm_adjusted
from psycheck.finding import Finding
from psycheck.measures.bootstrap import RESAMPLES
from psycheck.model import Windowed
from psycheck.run import Run
from psycheck.runs.environment import environment_of
from psycheck.runs.pages import save
from psycheck.scoring.answers import answers
from psycheck.scoring.engine import Progress, silent
from psycheck.train.recipe import Recipe, with_seed

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
    say: Say = lambda _: None,
) -> Run:
    """Train every recipe on every corpus with every seed, and measure each on the test split of all corpora.

    As in the paper, checks below the DIR mean are appended to all agreeing texts (section 6.3) and the models
    are trained again; `retrain` off leaves that out. Checks are tried on `texts` texts: those of dev to
    choose by, those of test for the tables, one sentence a text as the paper's counts suggest. The folder
    gets `study.md`, each table beside the published one. What was trained or scored once is not done again.
    """
    opened = [open_corpus(one) for one in corpora]
    _check(opened, recipes, seeds)
    whole = read_suite(suite)
    folder = Path(out)
    remembered = Path(store) if store else folder / "scores.sqlite"
    ways = Ways(suite=suite, unseen="", which="below_mean", share=1.0, balance=False, control=False)
    done: list[Arms] = []
    rates: list[Finding] = []
    for recipe in recipes:
        for corpus in opened:
            others = [one for one in opened if one.name != corpus.name]
            arms = arms_of(
                corpus,
                others,
                recipe,
                [dir_checks(whole)],
                folder,
                audit=AUDIT,
                texts=texts,
                store=remembered,
                progress=progress,
                say=say,
            )
            for number in range(seeds):
                one_seed(arms, with_seed(recipe, recipe.seed + number), ways if retrain else None)
            rates += _check_rates(arms, whole, named(recipe), texts)
            done.append(arms)
    findings = [f for arms in done for f in findings_of(arms, resamples)]
    findings += between_models([row for arms in done for row in arms.rows])
    findings += [*rates, *across_corpora(rates)]
    run = Run(
        plan=_plan(opened, recipes, whole, seeds, done),
        environment=environment_of([m for arms in done for m in arms.models], opened, [whole]),
        findings=tuple(findings),
        notes=(
            "ours stand beside the published figures; corpora and models are not the paper's",
            *(n for a in done for n in a.notes),
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
    return [*out, *holm_adjusted(out, "mcnemar_p")]


def _check(corpora: Sequence[Corpus], recipes: Sequence[Recipe], seeds: int) -> None:
    if len(corpora) < 2:
        raise BadInput(
            f"the study has {len(corpora)} corpus",
            allowed="two or more",
            do="name another corpus: without one nothing is out of distribution",
        )
    if not recipes:
        raise BadInput("the study has no model to train", do="name a start: --start minilm")
    names = [named(recipe) for recipe in recipes]
    if len(set(names)) < len(names):
        raise BadInput("two of the models have the same name", allowed="one start each")
    if seeds < 1:
        raise BadInput(f"seeds = {seeds}", allowed="1 or more")


def _check_rates(arms: Arms, suite: Suite, model_name: str, texts: int) -> list[Finding]:
    """All checks of the suite on texts of the own test split, with the first plain model (Table 2)."""
    plain = next(model for model in arms.models if model.name.startswith(f"{PLAIN}-"))
    asked = sample(arms.tests[0], texts, seed=0)
    audit = Behaviour(suite, variants="one")
    sentences = [s for check in suite.checks for s in check.sentences]
    fitted, _ = fit_texts(asked, [plain.read] if isinstance(plain, Windowed) else [], sentences)
    with answers([plain], [(1.0, audit.ask(fitted))], store=arms.store, progress=arms.progress) as scored:
        found = audit.judge(fitted, scored.views[0]).findings
    wanted = ("pass_rate", "pass_rate_mean")
    return [
        Finding(
            f.measure,
            f.value,
            f.n,
            f.interval,
            {**f.where, "model": model_name},
            f.counts,
            (),
            f.flags,
        )
        for f in found
        if f.measure in wanted
    ]


def _plan(
    corpora: Sequence[Corpus], recipes: Sequence[Recipe], suite: Suite, seeds: int, done: Sequence[Arms]
) -> dict[str, Any]:
    return {
        "verb": "study deck",
        "models": [{"name": named(recipe), "labels": [done[0].label]} for recipe in recipes],
        "corpora": [
            {"name": c.name, "texts": len(c), "labels": list(c.labels), "left_out": dict(c.left_out)}
            for c in corpora
        ],
        "suites": [{"name": suite.name, "title": suite.title, "checks": len(suite.checks)}],
        "threshold": 0.5,
        "recipes": [recipe.as_dict() for recipe in recipes],
        "seeds": seeds,
        "chosen": {f"{a.corpus.name}, {a.rows[0].model}": a.chosen for a in done},
    }
