"""Intervals where several texts belong together: to one author, or as copies of one text.

Intervals of figures in 0..1 are Wilson's for as many independent texts as would vary as much between
clusters (`clusters.spread_of`), so they stay inside 0..1 and have a width at 0 and at 1. Student's quantile
replaces the normal one, with as many degrees of freedom as clusters of equal size (Kish) make up the variance
(Satterthwaite), less one. docs/benchmarks/intervals.md shows how often they cover.

Below `FEWEST` clusters only rates of single texts have an interval; all others are NaN ("no interval").
"""

import math
from collections.abc import Sequence

import numpy as np
from numpy.typing import ArrayLike
from scipy import special

from psycheck.statistics import intervals
from psycheck.statistics.clusters import (
    BoolArray,
    Clusters,
    Codes,
    FloatArray,
    spread_of,
    variance,
)
from psycheck.statistics.intervals import (
    UNKNOWN,
    Z95,
    Interval,
    exact,
    wilson,
)

__all__ = [
    "FEWEST",
    "FEWEST_MOVED",
    "BoolArray",
    "Clusters",
    "Codes",
    "FloatArray",
    "change_interval",
    "combined_interval",
    "difference_interval",
    "effective_share",
    "exact_number",
    "figure_interval",
    "mean_interval",
    "median_interval",
    "ratio_interval",
    "skewed_interval",
    "variance",
]

FEWEST = 15
FEWEST_MOVED = 5  # texts
NEARLY_PERFECT = 0.99  # above, a few texts decide how far two models are apart
CONTRIBUTING = 22  # clusters: below, a figure rests on a few of them
CONTRIBUTING_SHARE = 0.3  # of the clusters
PRIOR = 4  # clusters whose texts are all alike, added to what the data say (chosen by measured coverage)


def ratio_interval(
    above: ArrayLike,
    below: ArrayLike,
    clusters: Clusters,
    *,
    among: int = 1,
) -> Interval:
    """Wilson's interval of a proportion sum(above) / sum(below), both (n,), above ≤ below for every text.

    Accuracy has below 1 throughout; precision, recall and a pass rate count only a part of the texts (below
    0 or 1). With `among` several proportions, all their intervals hold together in 95 %: see `exact`.
    """
    top = np.asarray(above, np.float64)
    bottom = np.asarray(below, np.float64)
    total = float(bottom.sum())
    if not total:
        return UNKNOWN

    value = float(top.sum()) / total
    effective, freedom = _independent(top, bottom, clusters)
    if math.isnan(effective):
        return UNKNOWN
    if among > 1:
        number = exact_number(
            above=top,
            below=bottom,
            clusters=clusters,
            among=among,
        )
        return exact(value, number, among)
    quantile = Z95 if math.isinf(freedom) else _quantile(freedom)
    return wilson(value * effective, effective, quantile)


def exact_number(
    above: ArrayLike,
    below: ArrayLike,
    clusters: Clusters,
    among: int,
) -> float:
    """As how many independent texts the texts of a proportion count in `exact`; NaN with too few clusters.

    Student's quantile makes them fewer, by the clusters that make up the variance. Even if all texts of a
    cluster were alike, they count as clusters of equal size: else one text that passes says less than none.
    """
    top = np.asarray(above, np.float64)
    bottom = np.asarray(below, np.float64)
    effective, freedom = _independent(top, bottom, clusters)
    if math.isinf(freedom) or math.isnan(effective):
        return effective

    used = bottom > 0
    equal = clusters.at(used).equal(bottom[used])
    normal = _quantile(math.inf, among)
    # A width is a quantile over the root of a number: a larger quantile is a smaller number, by the square.
    stretch_by_variance = normal / _quantile(freedom, among)
    stretch_if_alike = normal / _quantile(equal, among)
    by_variance = effective * stretch_by_variance**2
    if_alike = min(effective, equal) * stretch_if_alike**2
    return max(by_variance, if_alike)


def effective_share(
    above: ArrayLike,
    below: ArrayLike,
    clusters: Clusters,
) -> float:
    """How many independent texts one text counts for in a proportion, at most 1: 1 / design effect.

    NaN below `FEWEST` clusters: nothing can be said about it.
    """
    top = np.asarray(above, np.float64)
    bottom = np.asarray(below, np.float64)
    total = float(bottom.sum())
    if not total:
        return 1.0
    effective, _ = _independent(top, bottom, clusters)
    return effective / total


def _independent(
    top: FloatArray,
    bottom: FloatArray,
    clusters: Clusters,
) -> tuple[float, float]:
    """As how many independent texts those of a proportion vary, and the degrees of freedom of this number.

    Where hardly any cluster shows the rarer outcome, the data say little about how alike the texts of a
    cluster are: nothing, if only one does. The variance is therefore drawn towards that of clusters of texts
    that are all alike, on the log scale, as if `PRIOR` more clusters had shown it.
    """
    used = bottom > 0
    if not used.all():
        top = top[used]
        bottom = bottom[used]
        clusters = clusters.at(used)
    total = float(bottom.sum())
    # Several marks of one text are not independent.
    if clusters.whole and np.all(bottom == 1):
        return total, math.inf
    if clusters.count < FEWEST:
        return math.nan, math.nan

    value = float(top.sum()) / total
    equal = clusters.equal(bottom)
    room = value * (1 - value)
    if not room > 0:
        return equal, equal

    influence = (top - value * bottom) / total
    spread = spread_of(influence, clusters, bottom)
    is_rarer = top > 0 if value <= 0.5 else top < bottom
    showing = clusters.showing(is_rarer, bottom)
    if_alike = max(room / equal, spread.variance)
    if_independent = max(spread.variance, room / total)
    # A single cluster tells nothing about how clusters differ.
    telling = max(showing - 1, 0.0)
    weight = telling / (telling + PRIOR)
    variance_drawn = if_independent**weight * if_alike ** (1 - weight)
    decisive = min(equal, spread.decisive + PRIOR)
    freedom = decisive**weight * equal ** (1 - weight)
    return room / variance_drawn, freedom


def mean_interval(
    values: ArrayLike,
    clusters: Clusters,
    *,
    low: float = -math.inf,
) -> Interval:
    """The interval of a mean of values from `low` up, (n,); NaN if fewer than `FEWEST_MOVED` are not 0."""
    numbers = np.asarray(values, np.float64)
    n = len(numbers)
    if np.count_nonzero(numbers) < FEWEST_MOVED or np.ptp(numbers) == 0:
        return UNKNOWN
    mean = float(numbers.mean())
    lower_end, upper_end = skewed_interval(mean, (numbers - mean) / n, clusters)
    # max(NaN, low) is NaN, but max(low, NaN) is low: the order would decide.
    if math.isnan(lower_end):
        return lower_end, upper_end
    return max(lower_end, low), upper_end


def skewed_interval(
    value: float,
    influence: FloatArray,
    clusters: Clusters,
    *,
    among: int = 1,
) -> Interval:
    """Student's interval of any figure by its influence values, (n,), as wide as Hall's where that is wider.

    Hall's (1992) allows for skewness: where a few clusters move a figure far, others may move it further. The
    fewer clusters make up the variance, the fewer degrees of freedom it has. NaN below `FEWEST` clusters of
    equal size.
    """
    equal = clusters.equal(np.ones(len(influence)))
    spread = spread_of(influence, clusters)
    if not spread.variance > 0 or equal < FEWEST:
        return UNKNOWN

    error = math.sqrt(spread.variance)
    student = _quantile(min(equal, spread.decisive), among)
    hall_high = _hall(student, spread.skewness)
    hall_low = _hall(-student, spread.skewness)
    deviations = [student, -student, hall_high, hall_low]
    return value - error * max(deviations), value - error * min(deviations)


def _hall(t: float, skewness: float) -> float:
    """The deviation d that Hall's transformation takes to `t`: d + s d²/3 + s² d³/27 + s/6 = t."""
    if abs(skewness) < 1e-6:
        return t
    # The left side is a cube less a constant, so that it has one real root.
    cube = 1 + skewness * (t - skewness / 6)
    return 3 / skewness * (float(np.cbrt(cube)) - 1)


def median_interval(values: FloatArray, clusters: Clusters) -> Interval:
    """The interval of a median, (n,): by order statistics, of clusters by that of a half (Woodruff 1952)."""
    if clusters.whole or not len(values):
        return intervals.median_interval(values)
    is_below = values <= np.median(values)
    ends = np.array(ratio_interval(is_below, np.ones(len(values)), clusters))
    if np.isnan(ends).any():
        return UNKNOWN
    # Ties make the share at the median differ from a half; the interval keeps its width around the half.
    shares = 0.5 + ends - is_below.mean()
    low, high = np.quantile(values, np.clip(shares, 0, 1))
    return float(low), float(high)


def combined_interval(
    values: Sequence[float],
    intervals: Sequence[Interval],
    weights: Sequence[float],
    influences: Sequence[FloatArray],
    clusters: Clusters,
) -> Interval:
    """The interval of a weighted sum of figures from the interval of each and how they vary together.

    The distances from each value to the ends of its interval add up as standard errors do (MOVER; Zou and
    Donner 2008); the correlations come from the influence of each cluster on each figure. The difference of
    two rates is the sum with the weights 1 and -1: Newcombe's intervals.
    """
    ends = np.array(intervals)
    point = np.array(values)
    weight = np.array(weights)
    if np.isnan(ends).any():
        return UNKNOWN

    correlation = _correlation(influences, clusters)
    to_low = point - ends[:, 0]
    to_high = ends[:, 1] - point
    down = weight * np.where(weight > 0, to_low, to_high)
    up = weight * np.where(weight > 0, to_high, to_low)
    below = math.sqrt(max(float(down @ correlation @ down), 0.0))
    above = math.sqrt(max(float(up @ correlation @ up), 0.0))
    total = float(weight @ point)
    return total - below, total + above


def _correlation(influences: Sequence[FloatArray], clusters: Clusters) -> FloatArray:
    """How the errors of figures correlate, (figures, figures), by the influence of each cluster on each."""
    together = np.zeros((len(influences), len(influences)))
    for sign, part in clusters.dimensions():
        sums = np.stack([part.sums(influence) for influence in influences])
        together += sign * (sums @ sums.T)
    scale = np.sqrt(np.maximum(np.diag(together), 0.0))
    products = np.outer(scale, scale)
    identity = np.eye(len(influences))
    correlation: FloatArray = np.divide(
        together,
        products,
        where=products > 0,
        out=identity,
    )
    return np.clip(correlation, -1.0, 1.0)


def difference_interval(
    first: tuple[ArrayLike, ArrayLike],
    second: tuple[ArrayLike, ArrayLike],
    clusters: Clusters,
    *,
    among: int = 1,
) -> Interval:
    """The interval of one proportion minus another, each (above, below) as in `ratio_interval`, all (n,).

    Two groups are counted in different texts (below is 0 elsewhere); clusters may reach into both. Two
    wordings are counted in the same texts: the share that the first alone has minus the share that the second
    alone has, which leaves a width where no text differs. With `among` differences, all hold together.
    """
    first_above, first_below = first
    second_above, second_below = second
    if np.array_equal(first_below, second_below):
        moves = np.asarray(first_above, np.float64) - np.asarray(second_above, np.float64)
        first = np.maximum(moves, 0), first_below
        second = np.maximum(-moves, 0), second_below

    values: list[float] = []
    influences: list[FloatArray] = []
    ends: list[Interval] = []
    for above, below in (first, second):
        top = np.asarray(above, np.float64)
        bottom = np.asarray(below, np.float64)
        total = max(float(bottom.sum()), 1.0)
        value = float(top.sum()) / total
        values.append(value)
        influences.append((top - value * bottom) / total)
        ends.append(
            ratio_interval(top, bottom, clusters, among=among),
        )
    # Newcombe's limits can leave the range of a difference of two rates.
    low, high = combined_interval(
        values=values,
        intervals=ends,
        weights=(1.0, -1.0),
        influences=influences,
        clusters=clusters,
    )
    return max(low, -1.0), min(high, 1.0)


def change_interval(
    before: float,
    now: float,
    influence: FloatArray,
    clusters: Clusters,
) -> Interval:
    """The interval of a change between models on the same texts; NaN if both are `NEARLY_PERFECT`."""
    if min(before, now) > NEARLY_PERFECT:
        return UNKNOWN
    return skewed_interval(now - before, influence, clusters)


def figure_interval(
    value: float,
    influence: FloatArray,
    counted: Clusters,
    clusters: Clusters,
    weights: FloatArray | None = None,
    among: int = 1,
) -> Interval:
    """Wilson's interval of any figure in 0..1; `counted` are the clusters that it rests on at the ends."""
    if min(counted.count, clusters.count) < FEWEST:
        return UNKNOWN
    spread = spread_of(influence, clusters, weights)
    equal = counted.equal(np.ones(len(counted.codes)))
    room = value * (1 - value)
    if not (spread.variance > 0 and room > 0):
        return wilson(value * equal, equal, _quantile(equal, among))

    effective = room / spread.variance
    contributing = _contributing(influence, clusters)
    equal_of_all = clusters.equal(np.ones(len(influence)))
    few = max(CONTRIBUTING, CONTRIBUTING_SHARE * equal_of_all)
    if contributing < few:
        # A few clusters decide: their number is all that can be relied on.
        effective = min(effective, equal)
    freedom = min(equal, contributing, spread.decisive)
    return wilson(value * effective, effective, _quantile(freedom, among))


def _contributing(influence: FloatArray, clusters: Clusters) -> float:
    """How many clusters of equal influence would move a figure as much as these."""
    moves = np.abs(clusters.sums(influence))
    total = float(moves.sum())
    squares = float(np.sum(moves**2))
    # Kish's number; no move at all is 0 and not 0 / 0.
    return total**2 / max(squares, 1e-300)


def _quantile(equal: float, among: int = 1) -> float:
    """Student's quantile for as many clusters of equal size, of one of several intervals."""
    freedom = max(equal - 1, 1.0)
    # t.ppf without its overhead.
    return float(special.stdtrit(freedom, 1 - 0.025 / among))
