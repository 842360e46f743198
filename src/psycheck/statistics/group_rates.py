"""Rates, their ratio and differences, of groups and of pairs. What cannot be computed is NaN.

*Groups* are different texts (a column of the corpus): their rates are independent. *Pairs* are one text in
two wordings (gender bias, section 2.2): the two rates share their texts, so their covariance matters, and the
test is McNemar's. Where several texts belong together, `clusters` says so, and intervals and tests are those
of `clustered`.
"""

import math
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import ArrayLike

from psycheck.statistics.classification import BoolArray, FloatArray
from psycheck.statistics.cluster_tests import groups_p, paired_p
from psycheck.statistics.clustered import Clusters, difference_interval, mean_interval
from psycheck.statistics.distributions import fisher_p, wilcoxon_p
from psycheck.statistics.intervals import (
    UNKNOWN,
    Interval,
    wilson,
)
from psycheck.statistics.significance import McNemar, mcnemar


@dataclass(frozen=True, slots=True)
class Rate:
    """`count` of `n`, with Wilson's interval; NaN where n is 0."""

    count: int
    n: int

    @property
    def value(self) -> float:
        """The share."""
        return self.count / self.n if self.n else math.nan

    @property
    def interval(self) -> Interval:
        """Wilson's 95 % interval."""
        return wilson(self.count, self.n)


@dataclass(frozen=True, slots=True)
class Difference:
    """First rate minus second rate, with its interval, p-value and the number of texts behind each."""

    value: float
    interval: Interval
    p: float
    n: tuple[int, int]


@dataclass(frozen=True, slots=True)
class Shift:
    """How far scores move in pairs: `size` is the mean |first − second|, `difference` its signed mean.

    Intervals are those of `clustered.mean_interval`; `p` is Wilcoxon's signed-rank test of the difference, 1
    where no score moves at all.
    """

    n: int
    size: float
    size_interval: Interval
    difference: float
    interval: Interval
    p: float


def rate_difference(
    count_a: int,
    n_a: int,
    count_b: int,
    n_b: int,
) -> Difference:
    """Rate a minus rate b of different texts: Newcombe's hybrid score interval, Fisher's exact test."""
    sizes = (n_a, n_b)
    if not n_a or not n_b:
        return Difference(
            value=math.nan,
            interval=UNKNOWN,
            p=math.nan,
            n=sizes,
        )
    rate_a = Rate(count_a, n_a)
    rate_b = Rate(count_b, n_b)
    table = np.array([[count_a, n_a - count_a], [count_b, n_b - count_b]])
    p = fisher_p(table)
    # Different texts: the errors of the two rates are independent.
    interval = _newcombe(rate_a, rate_b, phi=0.0)
    return Difference(
        value=rate_a.value - rate_b.value,
        interval=interval,
        p=p,
        n=sizes,
    )


def paired_difference(
    first: ArrayLike,
    second: ArrayLike,
    clusters: Clusters | None = None,
) -> Difference:
    """Rate of the first wording minus rate of the second, both (n,) of 1, 0 or NaN (the pair is left out).

    The interval is Newcombe's for paired rates (his method 10), the test McNemar's.
    """
    first_decisions = _decisions(first)
    second_decisions = _decisions(second)
    _equal(first_decisions, second_decisions)
    # A text without one of its two answers says nothing about the difference.
    is_decided = ~np.isnan(first_decisions + second_decisions)
    first_decisions = first_decisions[is_decided]
    second_decisions = second_decisions[is_decided]
    n = len(first_decisions)
    if not n:
        return Difference(
            value=math.nan,
            interval=UNKNOWN,
            p=math.nan,
            n=(0, 0),
        )

    if clusters is None or clusters.whole:
        return _independent_pairs(first_decisions == 1, second_decisions == 1)
    units = clusters.at(is_decided)
    moves = first_decisions - second_decisions
    every = np.ones(n)
    interval = difference_interval((first_decisions, every), (second_decisions, every), units)
    return Difference(
        value=float(moves.mean()),
        interval=interval,
        p=paired_p(moves, units),
        n=(n, n),
    )


def _independent_pairs(first_positive: BoolArray, second_positive: BoolArray) -> Difference:
    """The difference of two rates of the same independent texts, decisions (n,) each."""
    test = mcnemar(first_positive, second_positive)
    n = len(first_positive)
    first_rate = Rate(test.both + test.only_first, n)
    second_rate = Rate(test.both + test.only_second, n)
    interval = _newcombe(first_rate, second_rate, _phi(test))
    return Difference(
        value=(test.only_first - test.only_second) / n,
        interval=interval,
        p=test.p,
        n=(n, n),
    )


def _phi(test: McNemar) -> float:
    """The correlation of paired decisions for Newcombe's method 10, with his continuity correction."""
    first_positive = test.both + test.only_first
    first_negative = test.only_second + test.neither
    second_positive = test.both + test.only_second
    second_negative = test.only_first + test.neither
    margins = first_positive * first_negative * second_positive * second_negative
    # A wording that always decides the same correlates with nothing.
    if not margins:
        return 0.0
    n = first_positive + first_negative
    cross: float = test.both * test.neither - test.only_first * test.only_second
    if cross > 0:
        cross = max(cross - n / 2, 0)
    return cross / math.sqrt(margins)


def group_difference(
    decided: ArrayLike,
    group: ArrayLike,
    first: str,
    second: str = "",
    clusters: Clusters | None = None,
    *,
    among: BoolArray | None = None,
) -> Difference:
    """Rate of positive decisions of group `first` minus that of `second` (or of all other known groups).

    All (n,). Of all texts it is the demographic parity difference, `among` those annotated 1 that of equal
    opportunity.
    """
    decisions = _decisions(decided)
    names = np.asarray(group, dtype=np.str_)
    among = np.ones(len(decisions), bool) if among is None else among
    _equal(among, decisions, names)
    is_counted = among & ~np.isnan(decisions)
    is_positive = decisions == 1
    in_first = is_counted & (names == first)
    # Texts of which the group is not known belong to no side.
    is_of_another = (names != first) & (names != "")
    in_second = is_counted & (names == second if second else is_of_another)

    first_positive = is_positive & in_first
    second_positive = is_positive & in_second
    difference = rate_difference(
        count_a=int(first_positive.sum()),
        n_a=int(in_first.sum()),
        count_b=int(second_positive.sum()),
        n_b=int(in_second.sum()),
    )
    in_either = in_first | in_second
    if clusters is None or math.isnan(difference.value) or clusters.at(in_either).whole:
        return difference
    return replace(
        difference,
        interval=difference_interval((first_positive, in_first), (second_positive, in_second), clusters),
        p=groups_p(
            above=is_positive & in_either,
            below=in_either,
            first=in_first,
            clusters=clusters,
        ),
    )


def score_shift(
    first: ArrayLike,
    second: ArrayLike,
    clusters: Clusters | None = None,
) -> Shift:
    """Scores of the same texts in two wordings, both (n,); pairs with a NaN are left out."""
    first_scores = np.asarray(first, dtype=np.float64)
    second_scores = np.asarray(second, dtype=np.float64)
    _equal(first_scores, second_scores)
    is_answered = ~(np.isnan(first_scores) | np.isnan(second_scores))
    moves = (first_scores - second_scores)[is_answered]
    n = len(moves)
    if not n:
        return Shift(
            n=0,
            size=math.nan,
            size_interval=UNKNOWN,
            difference=math.nan,
            interval=UNKNOWN,
            p=math.nan,
        )

    units = Clusters.single(n) if clusters is None else clusters.at(is_answered)
    sizes = np.abs(moves)
    return Shift(
        n=n,
        size=float(sizes.mean()),
        size_interval=mean_interval(sizes, units, low=0.0),
        difference=float(moves.mean()),
        interval=mean_interval(moves, units),
        p=_shift_p(moves, units),
    )


def _shift_p(moves: FloatArray, clusters: Clusters) -> float:
    """Whether moves, (n,), are centred at 0: Wilcoxon's test, between clusters that of their signs."""
    if not clusters.whole:
        return paired_p(moves, clusters)
    # Wilcoxon's test is undefined where nothing moves.
    if not np.any(moves != 0):
        return 1.0
    return wilcoxon_p(moves)


def _newcombe(
    first: Rate,
    second: Rate,
    phi: float,
) -> Interval:
    """Newcombe's interval of a difference of two rates whose errors correlate with `phi`."""
    first_low, first_high = first.interval
    second_low, second_high = second.interval
    first_down = first.value - first_low
    first_up = first_high - first.value
    second_down = second.value - second_low
    second_up = second_high - second.value

    # The difference is lowest where the first rate is low and the second is high, and the other way round.
    below = first_down**2 - 2 * phi * first_down * second_up + second_up**2
    above = first_up**2 - 2 * phi * first_up * second_down + second_down**2
    difference = first.value - second.value
    low = difference - math.sqrt(max(below, 0.0))
    high = difference + math.sqrt(max(above, 0.0))
    return max(low, -1.0), min(high, 1.0)


def _decisions(values: ArrayLike) -> FloatArray:
    """An array of 1, 0 and NaN; anything else is an error."""
    decisions = np.asarray(values, dtype=np.float64)
    is_decision = np.isnan(decisions) | (decisions == 0) | (decisions == 1)
    if decisions.ndim != 1 or not np.all(is_decision):
        raise ValueError("decisions and annotations must be one-dimensional and 1, 0 or NaN")
    return decisions


def _equal(*arrays: np.ndarray) -> None:
    """Refuse arrays of different shapes."""
    shapes = [array.shape for array in arrays]
    if len(set(shapes)) > 1:
        raise ValueError(f"expected one value per text, got shapes {shapes}")
