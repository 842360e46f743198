"""Scores of several models on the same texts: figures, comparisons with chance and with each other.

A decision is a threshold: "0.5", or "dev", the one with the highest macro-F1 on dev. The AUC ("ranking")
needs no threshold, so effects of the decision and of the ranking are kept apart.
"""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from scipy import stats

from psycheck.finding import Finding
from psycheck.measures.bootstrap import (
    RESAMPLES,
    confusion_intervals,
    f1_of_counts,
    percentiles,
    score_intervals,
)
from psycheck.measures.classification import (
    BoolArray,
    FloatArray,
    accuracy,
    auc,
    confusion,
    f1,
    gold,
    macro_f1,
    ranked,
    usable,
)
from psycheck.measures.significance import mcnemar
from psycheck.report.studies.deck import DEV, HALF

RANKING = "ranking"
DECISIONS = (HALF, DEV)
CHANGES = (("f1", HALF), ("macro_f1", HALF), ("f1", DEV), ("macro_f1", DEV), ("auc", RANKING))
FAMILY = ("decision", "versus", "against")  # p-values equal in these are adjusted together
MEASURES = {"f1": f1, "macro_f1": macro_f1, "accuracy": accuracy}
_BLOCK = 2**20  # weights drawn at once


@dataclass(frozen=True, slots=True)
class Scored:
    """One model on one test: targets and scores (n,), NaN where unknown; `threshold` was chosen on dev.

    `arm` names how it was trained ("plain", "augmented" …), `model` what was trained.
    """

    audit: str
    arm: str
    model: str
    trained_on: str
    corpus: str
    label: str
    seed: int
    threshold: float
    targets: FloatArray
    scores: FloatArray

    def at(self, decision: str) -> float:
        """The threshold of a decision."""
        return self.threshold if decision == DEV else 0.5

    def right(self, decision: str) -> BoolArray:
        """Which annotated texts are classified correctly, (m,); a missing answer is not correct."""
        known = ~np.isnan(self.targets)
        with np.errstate(invalid="ignore"):
            decided = self.scores[known] >= self.at(decision)
        out: BoolArray = (decided == gold(self.targets[known])) & ~np.isnan(self.scores[known])
        return out

    @property
    def own(self) -> bool:
        """True if the test belongs to the corpus that the model was trained on."""
        return self.trained_on == self.corpus

    @property
    def flag(self) -> str:
        """The flag of findings about it."""
        return "in_distribution" if self.own else "out_of_distribution"

    def where(self, decision: str) -> dict[str, str]:
        """The `where` of a finding about it."""
        return {
            "audit": self.audit,
            "model": self.model,
            "arm": self.arm,
            "trained_on": self.trained_on,
            "corpus": self.corpus,
            "label": self.label,
            "seed": str(self.seed),
            "decision": decision,
        }


def figures(one: Scored, *, resamples: int = RESAMPLES, seed: int = 0) -> list[Finding]:
    """F1, macro-F1 and accuracy at both decisions, AUC, and the threshold itself, each with its interval."""
    n = int(usable(one.targets, one.scores).sum())
    out = []
    for decision in DECISIONS:
        table = confusion(one.targets, one.scores, one.at(decision))
        intervals = confusion_intervals(table, resamples=resamples, seed=seed)
        counts = {"tp": table.tp, "fp": table.fp, "fn": table.fn, "tn": table.tn}
        for name, measure in MEASURES.items():
            found = measure(table)
            interval = None if np.isnan(found.value) else intervals[name]
            flags = (one.flag, *found.flags)
            out.append(Finding(name, found.value, n, interval, one.where(decision), counts, flags=flags))
    found = auc(one.targets, one.scores)
    interval = None
    if not np.isnan(found.value):
        interval = score_intervals(one.targets, one.scores, resamples=resamples, seed=seed)["auc"]
    flags = (one.flag, *found.flags)
    out.append(Finding("auc", found.value, n, interval, one.where(RANKING), flags=flags))
    out.append(Finding("threshold", one.threshold, n, None, one.where(DEV), flags=(one.flag,)))
    return out


def against_chance(one: Scored, decision: str) -> list[Finding]:
    """Compare its correct answers with a coin (exact binomial) and with always choosing the larger class.

    Always choosing the larger class decides the same texts, so that comparison is McNemar's.
    """
    right = one.right(decision)
    n = len(right)
    yes = gold(one.targets[~np.isnan(one.targets)])
    constant: BoolArray = yes if 2 * int(yes.sum()) >= n else ~yes
    coin = float(stats.binomtest(int(right.sum()), n, 0.5).pvalue) if n else np.nan
    paired = mcnemar(right, constant)
    counts = {"right": int(right.sum()), "majority_right": int(constant.sum())}
    where = one.where(decision)
    return [
        Finding("chance_p", coin, n, None, {**where, "against": "coin"}, counts),
        Finding("chance_p", paired.p, n, None, {**where, "against": "larger class"}, counts),
    ]


def against(one: Scored, other: Scored, decision: str) -> Finding:
    """McNemar's p of two models on the same texts; `versus` names the other."""
    found = mcnemar(one.right(decision), other.right(decision))
    counts = {
        "both_right": found.both,
        "only_this_right": found.only_first,
        "only_other_right": found.only_second,
        "neither_right": found.neither,
    }
    where = {**one.where(decision), "versus": other.arm if other.arm != one.arm else other.model}
    return Finding("mcnemar_p", found.p, sum(counts.values()), None, where, counts)


def differences(
    pairs: Sequence[tuple[Scored, Scored]], *, resamples: int = RESAMPLES, seed: int = 0
) -> list[Finding]:
    """How far the second of each pair is above the first, averaged over pairs (seeds) on one test.

    The interval draws texts within each class, the same for all models, and takes the mean over pairs in
    each draw: it covers other texts, not other seeds. `seeds` counts the pairs, of which `up` went up.
    """
    first, second = pairs[0]
    draws = _draws(first.targets, resamples, seed)
    once = np.ones((1, len(first.targets)))
    n = int(usable(first.targets, first.scores).sum())
    out = []
    for name, decision in CHANGES:
        values = _gains(pairs, name, decision, once)
        drawn = [_gains(pairs, name, decision, weights).mean(axis=0) for weights in draws]
        where = {**second.where(decision), "versus": first.arm}
        if len(pairs) > 1:
            where["seed"] = "mean"
        counts = {"seeds": len(pairs), "up": int((values > 0).sum())}
        interval = percentiles(np.concatenate(drawn))
        change = float(values.mean())
        out.append(Finding(f"{name}_change", change, n, interval, where, counts, flags=(second.flag,)))
    return out


def _draws(targets: FloatArray, resamples: int, seed: int) -> list[FloatArray]:
    """How often each text is drawn, classes kept, in blocks of (rows, n)."""
    random = np.random.default_rng(seed)
    classes = [np.flatnonzero(targets >= 0.5), np.flatnonzero(targets < 0.5)]
    step = max(1, _BLOCK // max(1, len(targets)))
    out = []
    for start in range(0, resamples, step):
        rows = min(step, resamples - start)
        weights = np.zeros((rows, len(targets)))
        for at in classes:
            if len(at):
                weights[:, at] = random.multinomial(len(at), np.full(len(at), 1 / len(at)), size=rows)
        out.append(weights)
    return out


def _gains(
    pairs: Sequence[tuple[Scored, Scored]], name: str, decision: str, weights: FloatArray
) -> FloatArray:
    """The second less the first of each pair, (pairs, rows)."""
    return np.array(
        [_drawn(b, name, decision, weights) - _drawn(a, name, decision, weights) for a, b in pairs]
    )


def _drawn(one: Scored, name: str, decision: str, weights: FloatArray) -> FloatArray:
    """A measure for each row of weights, (rows,)."""
    if name == "auc":
        order = ranked(one.targets, one.scores)
        return order.areas(weights[:, order.positive], weights[:, order.negative])[0]
    known = usable(one.targets, one.scores)
    with np.errstate(invalid="ignore"):
        yes, positive = gold(one.targets), one.scores >= one.at(decision)
    tp, fp, fn, tn = (
        weights @ (known & cell).astype(np.float64)
        for cell in (yes & positive, ~yes & positive, yes & ~positive, ~yes & ~positive)
    )
    of_one, of_zero = f1_of_counts(tp, fp, fn, tn)
    return of_one if name == "f1" else (of_one + of_zero) / 2
