"""Arms that learn from both genders: the plain model, one with swapped counterparts, and a control.

Each is measured on the same tests as it is, and on their gender-swapped pairs (gender bias, section 2.2).
"""

from dataclasses import replace
from pathlib import Path

import numpy as np
import polars as pl

from psycheck.audits.fairness import Fairness
from psycheck.corpus import Corpus
from psycheck.experiments.arms import BETTER, CONTROL, Arms, measured_arm, trained_arm
from psycheck.experiments.changes import PLAIN
from psycheck.experiments.rows import Scored
from psycheck.finding import Finding
from psycheck.measures.fairness import Rate, paired_difference
from psycheck.model import Judgement, Model
from psycheck.report.studies.deck import DEV, HALF
from psycheck.scoring.answers import answers
from psycheck.text.gender.edits import Scope
from psycheck.train.augment import PRONOUNS, Augmented, with_swapped
from psycheck.train.parts import DEV_NAMES, dev_rows
from psycheck.train.recipe import Recipe

SPLIT = "split"
HEADLINES = ("flip_rate", "score_shift", "fnr", "fnr_ratio")


def one_gender_seed(
    arms: Arms, recipe: Recipe, control: bool, folder: Path | None = None, scope: Scope = PRONOUNS
) -> None:
    """Train and measure the plain model (that of `folder`, if given), the augmented one and the control."""
    split = _with_dev(arms.corpus, recipe)  # what cannot be swapped is said before anything is trained
    data = {
        arm: with_swapped(split, scope, control=arm == CONTROL) for arm in (BETTER, *([CONTROL] * control))
    }
    if not arms.counts:  # further seeds learn from the same texts
        arms.rates.append(_undecided(arms, data[BETTER]))
    flips: dict[tuple[str, str], dict[str, bool]] = {}
    for arm in (PLAIN, *data):
        corpus = arms.corpus
        if arm != PLAIN:
            corpus, counts = data[arm].corpus, data[arm].counts
            arms.counts[f"{arm}-{recipe.seed}"] = dict(counts)
            what = "repeated" if arm == CONTROL else "swapped"
            beside = f"beside the {counts['texts']} of train and dev"
            arms.say(f"seed {recipe.seed}, {arm}: {counts['added']} {what} texts {beside}")
        measured_arm(arms, trained_arm(arms, corpus, recipe, arm, folder if arm == PLAIN else None), arm)
        rows = {row.corpus: row for row in arms.rows if (row.arm, row.seed) == (arm, recipe.seed)}
        for test in arms.tests:
            row = rows[test.name]
            half, dev = _judged(arms, test, arms.models[-1], (0.5, row.threshold), scope)
            arms.rates.extend(_placed(f, row, HALF) for f in half.findings)
            arms.rates.extend(
                _placed(f, row, DEV, audit=arms.audit) for f in dev.findings if f.measure in HEADLINES
            )
            flips[arm, test.name] = _flipped(half.tables["pairs"], arms.label)
            if arm != PLAIN:
                arms.rates.append(_change(flips[PLAIN, test.name], flips[arm, test.name], arms, row))


def _undecided(arms: Arms, made: Augmented) -> Finding:
    """Texts of train and dev without a counterpart, as a word's swap cannot be decided: all of them by id."""
    share = Rate(made.counts["undecided"], made.counts["texts"])
    where = {"audit": arms.audit, "corpus": arms.corpus.name, "unit": "train and dev"}
    counts = {"undecided": share.count}
    return Finding("undecided_rate", share.value, share.n, share.interval, where, counts, made.undecided)


def _with_dev(corpus: Corpus, recipe: Recipe) -> Corpus:
    """The corpus with the dev split written down that training would cut, so that no pair is cut in two."""
    splits = corpus.table[SPLIT]
    if any((splits == name).any() for name in DEV_NAMES):
        return corpus
    train = corpus.part("train")
    labels = recipe.labels or train.labels
    picked = train.table.filter(pl.Series(dev_rows(train, labels, recipe.dev_share, recipe.seed)))["id"]
    moved = pl.when(pl.col("id").is_in(picked.implode())).then(pl.lit("dev")).otherwise(pl.col(SPLIT))
    return replace(corpus, table=corpus.table.with_columns(moved.alias(SPLIT)))


def _judged(
    arms: Arms, test: Corpus, model: Model, thresholds: tuple[float, float], scope: Scope
) -> list[Judgement]:
    """Score a test and its counterparts once, and judge them at each threshold."""
    audits = [Fairness(threshold, scope) for threshold in thresholds]
    asked = [(1.0, audits[0].ask(test))]
    with answers([model], asked, store=arms.store, progress=arms.progress) as found:
        return [audit.judge(test, found.views[0]) for audit in audits]


def _placed(finding: Finding, row: Scored, decision: str, **more: str) -> Finding:
    """A finding of the audit with the arm, seed and decision that it belongs to."""
    told = {"arm": row.arm, "seed": str(row.seed), "trained_on": row.trained_on, "decision": decision}
    flag = "in_distribution" if row.own else "out_of_distribution"
    return replace(finding, where={**finding.where, **told, **more}, flags=(*finding.flags, flag))


def _flipped(pairs: pl.DataFrame, label: str) -> dict[str, bool]:
    """Which pairs were judged, and whether their decision changed."""
    mine = pairs.with_columns(pl.col("outcome", "label").cast(pl.String)).filter(
        (pl.col("label") == label) & pl.col("outcome").is_in(["passed", "failed"])
    )
    return {id_: outcome == "failed" for id_, outcome in mine.select("id", "outcome").iter_rows()}


def _change(before: dict[str, bool], after: dict[str, bool], arms: Arms, row: Scored) -> Finding:
    """How far the share of flipped pairs moved against plain, on the pairs that both judged."""
    shared = [id_ for id_ in before if id_ in after]
    found = paired_difference([after[i] for i in shared], [before[i] for i in shared])
    counts = {
        "flipped_before": sum(before[i] for i in shared),
        "flipped": sum(after[i] for i in shared),
    }
    known = not np.isnan(found.value)
    return Finding(
        "flip_rate_change",
        found.value,
        len(shared),
        found.interval if known else None,
        {**row.where(HALF), "versus": PLAIN},
        counts,
        flags=("in_distribution" if row.own else "out_of_distribution", *(() if known else ("not_tested",))),
    )
