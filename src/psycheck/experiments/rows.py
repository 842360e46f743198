"""What models of one study say of the same texts: figures, against chance, against each other.

A decision is a threshold: "0.5", or "dev" where the macro-F1 on dev is highest. What comes from the decision
and what from the ranking is thereby kept apart: the AUC ("ranking") knows no threshold.
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np
from scipy import stats

from psycheck.finding import Finding
from psycheck.measures.bootstrap import RESAMPLES, confusion_intervals, percentiles, score_intervals
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
from psycheck.measures.significance import holm, mcnemar
from psycheck.report.studies.deck import DEV, HALF

RANKING = "ranking"
DECISIONS = (HALF, DEV)
CHANGES = (("f1", HALF), ("macro_f1", HALF), ("f1", DEV), ("macro_f1", DEV), ("auc", RANKING))
MEASURES = {"f1": f1, "macro_f1": macro_f1, "accuracy": accuracy}
_BLOCK = 2**20  # weights drawn at once


@dataclass(frozen=True, slots=True)
class Scored:
    """One model on one test: targets and scores (n,), NaN where unknown; `threshold` was chosen on dev.

    `arm` says how it was trained ("plain", "augmented" …), `model` what it is.
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
        """Which of the annotated texts are decided as annotated, (m,); no answer is not right."""
        known = ~np.isnan(self.targets)
        with np.errstate(invalid="ignore"):
            decided = self.scores[known] >= self.at(decision)
        out: BoolArray = (decided == gold(self.targets[known])) & ~np.isnan(self.scores[known])
        return out

    @property
    def own(self) -> bool:
        """Whether the test is of the corpus that it was trained on."""
        return self.trained_on == self.corpus

    def where(self, decision: str) -> dict[str, str]:
        """What a finding about it says of itself."""
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
    flags = ("in_distribution",) if one.own else ("out_of_distribution",)
    n = int(usable(one.targets, one.scores).sum())
    out = []
    for decision in DECISIONS:
        table = confusion(one.targets, one.scores, one.at(decision))
        intervals = confusion_intervals(table, resamples=resamples, seed=seed)
        counts = {"tp": table.tp, "fp": table.fp, "fn": table.fn, "tn": table.tn}
        for name, measure in MEASURES.items():
            found = measure(table)
            interval = intervals[name] if not np.isnan(found.value) else None
            out.append(
                Finding(
                    name, found.value, n, interval, one.where(decision), counts, (), (*flags, *found.flags)
                )
            )
    found = auc(one.targets, one.scores)
    interval = (
        None
        if np.isnan(found.value)
        else score_intervals(one.targets, one.scores, resamples=resamples, seed=seed)["auc"]
    )
    out.append(Finding("auc", found.value, n, interval, one.where(RANKING), flags=(*flags, *found.flags)))
    out.append(Finding("threshold", one.threshold, n, None, one.where(DEV), flags=flags))
    return out


def against_chance(one: Scored, decision: str) -> list[Finding]:
    """Whether it is right more or less often than a coin (exact binomial) and than always the larger class.

    The larger class is a decision on the same texts, so that comparison is McNemar's.
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


def holm_adjusted(findings: Sequence[Finding], measure: str) -> list[Finding]:
    """The p-values of a measure, adjusted by Holm within each decision and opponent."""
    families: dict[tuple[str, ...], list[Finding]] = {}
    for finding in findings:
        if finding.measure == measure:
            key = tuple(finding.where.get(name, "") for name in ("decision", "versus", "against"))
            families.setdefault(key, []).append(finding)
    out = []
    for family in families.values():
        for finding, value in zip(family, holm([f.value for f in family]), strict=True):
            counts = {**finding.counts, "tests": len(family)}
            out.append(replace(finding, measure=f"{measure}_holm", value=float(value), counts=counts))
    return out


def differences(
    pairs: Sequence[tuple[Scored, Scored]], *, resamples: int = RESAMPLES, seed: int = 0
) -> list[Finding]:
    """How far the second of each pair is above the first, meaned over pairs (seeds) on one test.

    The interval draws texts within each class, the same for all models, and takes the mean over pairs in
    each draw: it speaks of other texts, not of other seeds. `seeds` counts the pairs, of which `up` went up.
    """
    first, second = pairs[0]
    draws = _draws(first.targets, resamples, seed)
    once = np.ones((1, len(first.targets)))
    out = []
    for name, decision in CHANGES:
        values = _gains(pairs, name, decision, once)
        drawn = [_gains(pairs, name, decision, weights).mean(axis=0) for weights in draws]
        where = {**second.where(decision), "versus": first.arm}
        if len(pairs) > 1:
            where["seed"] = "mean"
        up = int((values > 0).sum())
        out.append(
            Finding(
                f"{name}_change",
                float(values.mean()),
                int(usable(first.targets, first.scores).sum()),
                percentiles(np.concatenate(drawn)),
                where,
                {"seeds": len(pairs), "up": up},
                flags=("in_distribution",) if second.own else ("out_of_distribution",),
            )
        )
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
        yes, said = gold(one.targets), one.scores >= one.at(decision)
    tp, fp, fn, tn = (
        weights @ (known & cell).astype(np.float64)
        for cell in (yes & said, ~yes & said, yes & ~said, ~yes & ~said)
    )
    with np.errstate(invalid="ignore", divide="ignore"):
        of_one: FloatArray = 2 * tp / (2 * tp + fp + fn)
        of_zero: FloatArray = 2 * tn / (2 * tn + fp + fn)
    return of_one if name == "f1" else (of_one + of_zero) / 2


def by_place(rows: Iterable[Scored]) -> Mapping[tuple[str, str, str, str], list[Scored]]:
    """The seeds of each arm, model, training corpus and test."""
    out: dict[tuple[str, str, str, str], list[Scored]] = {}
    for one in rows:
        out.setdefault((one.arm, one.model, one.trained_on, one.corpus), []).append(one)
    return out
