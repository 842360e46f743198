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
from scipy import stats

from psycheck.statistics.classification import BoolArray, FloatArray
from psycheck.statistics.cluster_tests import groups_p, paired_p
from psycheck.statistics.clustered import Clusters, difference_interval, mean_interval
from psycheck.statistics.intervals import UNKNOWN, Z95, Interval, wilson
from psycheck.statistics.significance import mcnemar


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
class Ratio:
    """The lower false negative rate by the higher one, in 0..1; `favoured` is the group that is missed less.

    `interval` is that of FNR(favoured) / FNR(other). It reaches above 1 where the data cannot tell which of
    the two is favoured. `favoured` is empty where both rates are equal (then the value is 1) or unknown.
    """

    value: float
    favoured: str
    interval: Interval
    n: int


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


def fnr_ratio(
    misses_a: int,
    positives_a: int,
    misses_b: int,
    positives_b: int,
    *,
    both: int | None = None,
    names: tuple[str, str] = ("a", "b"),
    share: float = 1.0,
) -> Ratio:
    """The false negative rate ratio, min(FNR) / max(FNR) (gender bias, section 2.2), with its direction.

    `both` is given for pairs only: how many texts are missed in both wordings; both have as many positives
    then. The interval is symmetric on the log scale (Katz; for pairs with the covariance of the two
    rates), because it is closed, hence the same in every run, and cannot go below 0. `share` says how many
    independent texts one text counts for (`clustered.effective_share`).

    Where more than 90 % are missed and fewer than 5 found, there is no interval: it would cover too rarely.
    Empty cells: without positives in a group all is NaN. No miss in either group is a ratio of 1 without
    direction; no miss in one is 0. Where a cell leaves the log interval undefined or without width, it is
    computed with half a text added to each count (Haldane, Anscombe).
    """
    _check(misses_a, positives_a, misses_b, positives_b, both)
    n = positives_a if both is not None else positives_a + positives_b
    if not positives_a or not positives_b:
        return Ratio(math.nan, "", UNKNOWN, n)
    first, second = misses_a / positives_a, misses_b / positives_b
    a, b = (misses_a, positives_a), (misses_b, positives_b)
    if first > second:
        a, b = b, a
    value = 1.0 if first == second else min(first, second) / max(first, second)
    favoured = "" if first == second else names[int(first > second)]
    low, high = _log_interval(*a, *b, both, share)
    return Ratio(value, favoured, (0.0 if value == 0 else low, high), n)


def _log_interval(x: int, n: int, y: int, m: int, both: int | None, share: float) -> Interval:
    """The interval of (x / n) / (y / m) on the log scale."""
    if any(missed > 0.9 * positives > 0 and positives - missed < 5 for missed, positives in ((x, n), (y, m))):
        return UNKNOWN
    error = _log_error(x, n, y, m, both) if x and y else 0.0
    middle = math.log(x / n / (y / m)) if x and y else 0.0
    if error == 0:
        half = 0.5
        middle = math.log((x + half) / (n + 1) / ((y + half) / (m + 1)))
        error = _log_error(x + half, n + 1, y + half, m + 1, both)
    error /= math.sqrt(share)
    return math.exp(middle - Z95 * error), math.exp(middle + Z95 * error)


def _log_error(x: float, n: float, y: float, m: float, both: int | None) -> float:
    if both is None:
        return math.sqrt(1 / x - 1 / n + 1 / y - 1 / m)
    return math.sqrt((x + y - 2 * both) / (x * y))


def rate_difference(count_a: int, n_a: int, count_b: int, n_b: int) -> Difference:
    """Rate a minus rate b of different texts: Newcombe's hybrid score interval, Fisher's exact test."""
    if not n_a or not n_b:
        return Difference(math.nan, UNKNOWN, math.nan, (n_a, n_b))
    table = np.array([[count_a, n_a - count_a], [count_b, n_b - count_b]])
    p = float(stats.fisher_exact(table).pvalue)
    interval = _newcombe(Rate(count_a, n_a), Rate(count_b, n_b), 0.0)
    return Difference(count_a / n_a - count_b / n_b, interval, p, (n_a, n_b))


def paired_difference(first: ArrayLike, second: ArrayLike, clusters: Clusters | None = None) -> Difference:
    """Rate of the first wording minus rate of the second, both (n,) of 1, 0 or NaN (the pair is left out).

    The interval is Newcombe's for paired rates (his method 10), the test McNemar's.
    """
    one, two = _decisions(first), _decisions(second)
    _equal(one, two)
    there = ~np.isnan(one + two)
    one, two, n = one[there], two[there], int(there.sum())
    if not n:
        return Difference(math.nan, UNKNOWN, math.nan, (0, 0))
    if clusters is not None and not clusters.whole:
        units, ones, moved = clusters.at(there), np.ones(n), one - two
        interval = difference_interval((one, ones), (two, ones), units)
        return Difference(float(moved.mean()), interval, paired_p(moved, units), (n, n))
    found = mcnemar(one == 1, two == 1)
    a, b, c, d = found.both, found.only_first, found.only_second, found.neither
    margins = (a + b) * (c + d) * (a + c) * (b + d)
    cross = a * d - b * c
    phi = (max(cross - n / 2, 0) if cross > 0 else cross) / math.sqrt(margins) if margins else 0.0
    interval = _newcombe(Rate(a + b, n), Rate(a + c, n), phi)
    return Difference((b - c) / n, interval, found.p, (n, n))


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
    decisions, names = _decisions(decided), np.asarray(group, dtype=np.str_)
    among = np.ones(len(decisions), bool) if among is None else among
    _equal(among, decisions, names)
    there, yes = among & ~np.isnan(decisions), decisions == 1
    ours = there & (names == first)
    theirs = there & ((names == second) if second else (names != first) & (names != ""))
    found = rate_difference(int(yes[ours].sum()), int(ours.sum()), int(yes[theirs].sum()), int(theirs.sum()))
    either = ours | theirs
    if clusters is None or math.isnan(found.value) or clusters.at(either).whole:
        return found
    interval = difference_interval((yes & ours, ours), (yes & theirs, theirs), clusters)
    return replace(found, interval=interval, p=groups_p(yes & either, either, ours, clusters))


def score_shift(first: ArrayLike, second: ArrayLike, clusters: Clusters | None = None) -> Shift:
    """Scores of the same texts in two wordings, both (n,); pairs with a NaN are left out."""
    one, two = np.asarray(first, dtype=np.float64), np.asarray(second, dtype=np.float64)
    _equal(one, two)
    there = ~(np.isnan(one) | np.isnan(two))
    moved = (one - two)[there]
    if not len(moved):
        return Shift(0, math.nan, UNKNOWN, math.nan, UNKNOWN, math.nan)
    units = Clusters.single(len(moved)) if clusters is None else clusters.at(there)
    if not units.whole:
        p = paired_p(moved, units)
    else:
        p = float(stats.wilcoxon(moved).pvalue) if np.any(moved != 0) else 1.0
    size = np.abs(moved)
    size_interval = mean_interval(size, units, low=0.0)
    difference = mean_interval(moved, units)
    return Shift(len(moved), float(size.mean()), size_interval, float(moved.mean()), difference, p)


def _newcombe(one: Rate, two: Rate, phi: float) -> Interval:
    """Newcombe's interval of a difference of two rates whose errors correlate with `phi`."""
    (l1, u1), (l2, u2) = one.interval, two.interval
    down1, up1, down2, up2 = one.value - l1, u1 - one.value, two.value - l2, u2 - two.value
    value = one.value - two.value
    low = math.sqrt(max(down1**2 - 2 * phi * down1 * up2 + up2**2, 0.0))
    high = math.sqrt(max(up1**2 - 2 * phi * up1 * down2 + down2**2, 0.0))
    return max(value - low, -1.0), min(value + high, 1.0)


def _decisions(values: ArrayLike) -> FloatArray:
    """An array of 1, 0 and NaN; anything else is an error."""
    decisions = np.asarray(values, dtype=np.float64)
    if decisions.ndim != 1 or not np.all(np.isnan(decisions) | (decisions == 0) | (decisions == 1)):
        raise ValueError("decisions and annotations must be one-dimensional and 1, 0 or NaN")
    return decisions


def _equal(*arrays: np.ndarray) -> None:
    if len({array.shape for array in arrays}) > 1:
        raise ValueError(f"expected one value per text, got shapes {[array.shape for array in arrays]}")


def _check(misses_a: int, positives_a: int, misses_b: int, positives_b: int, both: int | None) -> None:
    if not (0 <= misses_a <= positives_a and 0 <= misses_b <= positives_b):
        raise ValueError("misses must be between 0 and the number of positives")
    if both is None:
        return
    if positives_a != positives_b or not max(0, misses_a + misses_b - positives_a) <= both <= min(
        misses_a, misses_b
    ):
        raise ValueError("pairs need equal numbers of positives, and `both` at most as many as either misses")
