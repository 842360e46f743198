"""Whether a model is of any use on a corpus: ranking, balanced accuracy, and decisions that hardly vary.

The null is 0.5 for the AUC and for balanced accuracy, whatever the prevalence: a sound screener of a rare
condition is less accurate than always answering 0, and still useful.
"""

import math
from dataclasses import dataclass
from typing import Literal

import numpy as np
from scipy import special

from psycheck.statistics.classification import BoolArray, FloatArray, auc_influence, gold, usable
from psycheck.statistics.clustered import (
    FEWEST,
    Clusters,
    difference_interval,
    figure_interval,
    ratio_interval,
)
from psycheck.statistics.clusters import spread_of
from psycheck.statistics.distributions import fisher_p
from psycheck.statistics.intervals import UNKNOWN, Interval
from psycheck.statistics.label_intervals import equal_class_weights, rarer_class
from psycheck.statistics.significance import mann_whitney

# docs/benchmarks/intervals.md has the error rates of these two limits: decisions of which 95 % or more are
# the same whatever is annotated are found, models of sensitivity 0.5 and specificity 0.9 are not blamed.
NEARLY_ALL = 0.9
BLIND = 0.3

Verdict = Literal["near-constant", "undecided", "varied"]
Fault = Literal["", "threshold", "ranking", "both", "unknown"]


@dataclass(frozen=True, slots=True)
class AgainstChance:
    """A figure that is 0.5 by chance: its value, its interval and the two-sided p-value of 0.5."""

    value: float
    interval: Interval
    p: float

    @property
    def is_above(self) -> bool:
        """Whether it is above chance at the level of 5 %."""
        return self.value > 0.5 and self.p <= 0.05

    @property
    def is_below(self) -> bool:
        """Whether it is below chance at the level of 5 %."""
        return self.value < 0.5 and self.p <= 0.05


@dataclass(frozen=True, slots=True)
class Constancy:
    """How nearly a model always decides the same.

    `decision` is the more frequent decision (0 or 1), `share` how many of the n texts get it, `annotated` how
    many are annotated so. `informedness` is sensitivity + specificity − 1: how much more often the rarer
    decision falls on texts annotated so than on others.
    """

    decision: int
    share: float
    share_interval: Interval
    annotated: float
    annotated_interval: Interval
    informedness: float
    informedness_interval: Interval
    verdict: Verdict
    n: int
    units: int


@dataclass(frozen=True, slots=True)
class Usefulness:
    """Ranking, balanced accuracy and constancy of the decisions about one label."""

    auc: AgainstChance
    balanced_accuracy: AgainstChance
    constancy: Constancy

    @property
    def fault(self) -> Fault:
        """What is wrong: the threshold (it ranks, but hardly decides), the ranking, or both."""
        if math.isnan(self.auc.p):
            return "unknown"
        is_constant = self.constancy.verdict == "near-constant"
        if self.auc.is_above:
            return "threshold" if is_constant else ""
        return "both" if is_constant else "ranking"


def usefulness(
    targets: FloatArray,
    scores: FloatArray,
    decided: FloatArray,
    clusters: Clusters,
) -> Usefulness:
    """What the decisions and scores about one label are good for, all (n,), NaN where unknown."""
    # All three figures are of the same texts: else they could not be set against each other.
    is_usable = usable(targets, scores) & ~np.isnan(decided)
    positive = gold(targets[is_usable])
    called = decided[is_usable] == 1
    units = clusters.at(is_usable)
    return Usefulness(
        auc=auc_against_chance(positive, scores[is_usable], units),
        balanced_accuracy=balanced_accuracy_against_chance(positive, called, units),
        constancy=constancy(positive, called, units),
    )


def constancy(
    positive: BoolArray,
    called: BoolArray,
    clusters: Clusters,
) -> Constancy:
    """Whether nearly all decisions are the same although the annotation does not ask for it, both (n,).

    The verdict is "near-constant" if at least `NEARLY_ALL` texts get the same decision and informedness is
    below `BLIND` even at the upper end of its interval; "undecided" if the texts of the rarer decision are
    too few to tell.
    """
    n = len(positive)
    if not n:
        return Constancy(
            decision=0,
            share=math.nan,
            share_interval=UNKNOWN,
            annotated=math.nan,
            annotated_interval=UNKNOWN,
            informedness=math.nan,
            informedness_interval=UNKNOWN,
            verdict="undecided",
            n=0,
            units=0,
        )

    decision = int(2 * int(called.sum()) > n)
    is_frequent = called == bool(decision)
    is_annotated_so = positive == bool(decision)
    share = float(is_frequent.mean())
    every = np.ones(n)
    informedness, informedness_interval = _informedness(positive, called, clusters)
    return Constancy(
        decision=decision,
        share=share,
        share_interval=ratio_interval(is_frequent, every, clusters),
        annotated=float(is_annotated_so.mean()),
        annotated_interval=ratio_interval(is_annotated_so, every, clusters),
        informedness=informedness,
        informedness_interval=informedness_interval,
        verdict=_verdict(share, informedness, informedness_interval),
        n=n,
        units=clusters.count,
    )


def _verdict(
    share: float,
    informedness: float,
    interval: Interval,
) -> Verdict:
    """How to call decisions of which a share is the same; without a second class nothing can be told."""
    # The few other decisions of a sound screener of a rare condition follow the annotation.
    if share < NEARLY_ALL or informedness >= BLIND:
        return "varied"
    upper_end = interval[1]
    if upper_end < BLIND:
        return "near-constant"
    return "undecided"


def auc_against_chance(
    positive: BoolArray,
    scores: FloatArray,
    clusters: Clusters,
) -> AgainstChance:
    """The AUC against 0.5; the Mann–Whitney test where every text is independent."""
    if positive.all() or not positive.any():
        return AgainstChance(math.nan, UNKNOWN, math.nan)
    value, influence = auc_influence(positive, scores)
    # Tests of the field where they hold; between clusters Student's, with the variance of the interval.
    interval = _interval_of_classes(
        value=value,
        influence=influence,
        positive=positive,
        clusters=clusters,
    )
    if clusters.whole:
        p = mann_whitney(scores[positive], scores[~positive]).p
    else:
        p = _score_p(
            value=value,
            influence=influence,
            positive=positive,
            clusters=clusters,
        )
    return AgainstChance(value, interval, p)


def balanced_accuracy_against_chance(
    positive: BoolArray,
    called: BoolArray,
    clusters: Clusters,
) -> AgainstChance:
    """The mean of sensitivity and specificity against 0.5; Fisher's test where every text is independent."""
    if positive.all() or not positive.any():
        return AgainstChance(math.nan, UNKNOWN, math.nan)
    informedness, (low, high) = _informedness(positive, called, clusters)
    value = (1 + informedness) / 2
    if clusters.whole:
        hits = int((positive & called).sum())
        false_alarms = int((~positive & called).sum())
        misses = int(positive.sum()) - hits
        correct_rejections = int((~positive).sum()) - false_alarms
        table = np.array([[hits, misses], [false_alarms, correct_rejections]])
        p = fisher_p(table)
    else:
        # Of decisions in place of scores the AUC is the balanced accuracy.
        influence = auc_influence(positive, called.astype(np.float64))[1]
        p = _score_p(
            value=value,
            influence=influence,
            positive=positive,
            clusters=clusters,
        )
    return AgainstChance(value, ((1 + low) / 2, (1 + high) / 2), p)


def _informedness(
    positive: BoolArray,
    called: BoolArray,
    clusters: Clusters,
) -> tuple[float, Interval]:
    """Sensitivity + specificity − 1 and its interval, a difference of the rates of two classes."""
    if positive.all() or not positive.any():
        return math.nan, UNKNOWN
    value = float(called[positive].mean() - called[~positive].mean())
    interval = difference_interval((called & positive, positive), (called & ~positive, ~positive), clusters)
    return value, interval


def _interval_of_classes(
    value: float,
    influence: FloatArray,
    positive: BoolArray,
    clusters: Clusters,
) -> Interval:
    """The interval of a figure to which both classes contribute a half."""
    return figure_interval(
        value=value,
        influence=influence,
        counted=clusters.at(rarer_class(positive)),
        clusters=clusters,
        weights=equal_class_weights(positive),
    )


def _score_p(
    value: float,
    influence: FloatArray,
    positive: BoolArray,
    clusters: Clusters,
) -> float:
    """The p-value of 0.5 by Student's test between clusters; NaN with too few clusters of the rarer class."""
    rarer = clusters.at(rarer_class(positive))
    equal = rarer.equal(np.ones(len(rarer.codes)))
    if rarer.count < FEWEST:
        return math.nan
    spread = spread_of(influence, clusters, equal_class_weights(positive))
    # Without any variance between clusters the value is what it is in all of them.
    if not spread.variance > 0:
        return 1.0 if value == 0.5 else 0.0
    t = abs(value - 0.5) / math.sqrt(spread.variance)
    # The clusters that make up the variance say how well it is known.
    freedom = max(min(equal, spread.decisive) - 1, 1.0)
    return 2 * float(special.stdtr(freedom, -t))
