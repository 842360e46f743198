"""Intervals and tests where several texts belong together: to one author, or as copies of one text.

The unit of independence is the cluster. Every figure is a function of sums over texts, so its variance is the
sum over clusters of their squared influence (Taylor linearisation; Liang and Zeger 1986). Intervals are
Wilson's for as many independent texts as would vary as much, so they stay inside 0..1 and have a width at 0
and at 1. With clusters of several texts Student's quantile replaces the normal one, with as many degrees of
freedom as clusters of equal size (Kish) make up the variance (Satterthwaite), less one.
docs/benchmarks/validity.md shows how often they cover.

Below `FEWEST` clusters only rates of single texts have an interval; all others are NaN ("no interval").
"""

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy import special, stats

from psycheck.statistics import intervals
from psycheck.statistics.intervals import UNKNOWN, Z95, Interval, exact, wilson

FEWEST = 15
FEWEST_MOVED = 5  # texts
NEARLY_PERFECT = 0.99  # above, a few texts decide how far two models are apart
CONTRIBUTING, SHARE = 22, 0.3  # clusters, and of the clusters: below, a figure rests on a few of them
FEW = 5  # cases in a group: below, its own variance says little
SHUFFLES, BLOCKS, ENOUGH = 2_000, 20, 20  # draws at once, how often, and how many as far as the data end it
SHUFFLED = 2_000  # clusters; beyond, Student's t replaces shuffling
Codes = NDArray[np.intp]
FloatArray = NDArray[np.float64]
BoolArray = NDArray[np.bool_]


@dataclass(frozen=True, slots=True)
class Clusters:
    """Which texts belong together: `codes` (n,) from 0, and how many clusters there are."""

    codes: Codes
    count: int

    @classmethod
    def of(cls, names: ArrayLike) -> "Clusters":
        """Number the clusters of texts by name, (n,)."""
        found, codes = np.unique(np.asarray(names), return_inverse=True)
        return cls(codes, len(found))

    @classmethod
    def single(cls, n: int) -> "Clusters":
        """Every text by itself."""
        return cls(np.arange(n), n)

    def at(self, rows: BoolArray | Codes) -> "Clusters":
        """The clusters of some of the texts, numbered anew."""
        return Clusters.of(self.codes[rows])

    def sums(self, values: FloatArray) -> FloatArray:
        """Sums within each cluster, (clusters,)."""
        summed: FloatArray = np.bincount(self.codes, weights=values, minlength=self.count).astype(np.float64)
        return summed

    @property
    def whole(self) -> bool:
        """Whether every cluster is one text."""
        return self.count == len(self.codes)

    def equal(self, weights: FloatArray) -> float:
        """How many clusters of equal size would weigh as much as these (Kish's effective number)."""
        sizes = self.sums(weights)
        squares = float(np.sum(sizes**2))
        return float(np.sum(sizes)) ** 2 / squares if squares else 0.0


def variance(influence: FloatArray, clusters: Clusters, weights: FloatArray | None = None) -> float:
    """The variance of a figure from the influence of each text on it, (n,), as by leaving clusters out.

    A large cluster pulls the figure towards itself, which hides a part of its own deviation: dividing by the
    share that the other clusters weigh gives it back (CR3; MacKinnon and White 1985).
    """
    return float(np.sum(_by_cluster(influence, clusters, weights) ** 2))


def _by_cluster(influence: FloatArray, clusters: Clusters, weights: FloatArray | None = None) -> FloatArray:
    """The influence of each cluster as if it were left out, (clusters,); NaN where one cluster is all."""
    sizes = clusters.sums(np.ones(len(influence)) if weights is None else weights)
    others = 1 - sizes / sizes.sum()
    sums = clusters.sums(influence)
    return sums / others if clusters.count > 1 and others.min() > 0 else np.full(clusters.count, math.nan)


def ratio_interval(above: ArrayLike, below: ArrayLike, clusters: Clusters, *, among: int = 1) -> Interval:
    """Wilson's interval of a proportion sum(above) / sum(below), both (n,), above ≤ below for every text.

    Accuracy has below 1 throughout; precision, recall and a pass rate count only some texts (below 0 or 1).
    With `among` several proportions, all their intervals hold together in 95 %: see `exact`.
    """
    top, bottom = np.asarray(above, np.float64), np.asarray(below, np.float64)
    total = float(bottom.sum())
    if not total:
        return UNKNOWN
    value = float(top.sum()) / total
    effective, freedom = _independent(top, bottom, clusters)
    if math.isnan(effective):
        return UNKNOWN
    if among == 1:
        return wilson(value * effective, effective, Z95 if math.isinf(freedom) else _quantile(freedom))
    return exact(value, exact_number(top, bottom, clusters, among), among)


def exact_number(above: ArrayLike, below: ArrayLike, clusters: Clusters, among: int) -> float:
    """As how many independent texts the texts of a proportion count in `exact`; NaN with too few clusters.

    Student's quantile makes them fewer, by the clusters that make up the variance. Even if all texts of a
    cluster were alike, they count as clusters of equal size: else one text that passes says less than none.
    """
    top, bottom = np.asarray(above, np.float64), np.asarray(below, np.float64)
    effective, freedom = _independent(top, bottom, clusters)
    if math.isinf(freedom) or math.isnan(effective):
        return effective
    used = bottom > 0
    equal, normal = clusters.at(used).equal(bottom[used]), _quantile(math.inf, among)
    return max(
        effective * (normal / _quantile(freedom, among)) ** 2,
        min(effective, equal) * (normal / _quantile(equal, among)) ** 2,
    )


def _independent(top: FloatArray, bottom: FloatArray, clusters: Clusters) -> tuple[float, float]:
    """As how many independent texts those of a proportion vary, and the degrees of freedom of this number."""
    used = bottom > 0
    if not used.all():
        top, bottom, clusters = top[used], bottom[used], clusters.at(used)
    total = float(bottom.sum())
    if clusters.whole and np.all(bottom == 1):  # several marks of one text are not independent
        return total, math.inf
    if clusters.count < FEWEST:
        return math.nan, math.nan
    value = float(top.sum()) / total
    equal, parts = clusters.equal(bottom), _by_cluster((top - value * bottom) / total, clusters, bottom)
    spread, room = float(np.sum(parts**2)), value * (1 - value)
    # Without any spread (all right, all wrong) a cluster counts as one text: nothing is known about how alike
    # its texts are.
    effective = min(room / spread, total) if spread > 0 and room > 0 else equal
    return effective, _decisive(parts, equal)


def effective_share(above: ArrayLike, below: ArrayLike, clusters: Clusters) -> float:
    """How many independent texts one text counts for in a proportion, at most 1: 1 / design effect.

    NaN below `FEWEST` clusters: nothing is known about it.
    """
    top, bottom = np.asarray(above, np.float64), np.asarray(below, np.float64)
    used, total = bottom > 0, float(bottom.sum())
    mine = clusters.at(used)
    if mine.whole or not total:
        return 1.0
    if mine.count < FEWEST:
        return math.nan
    value = float(top.sum()) / total
    spread, room = variance((top - value * bottom)[used] / total, mine, bottom[used]), value * (1 - value)
    return min(room / spread / total, 1.0) if spread > 0 and room > 0 else mine.equal(bottom[used]) / total


def mean_interval(values: ArrayLike, clusters: Clusters, *, low: float = -math.inf) -> Interval:
    """The interval of a mean of values from `low` up, (n,); NaN if fewer than `FEWEST_MOVED` are not 0."""
    numbers = np.asarray(values, np.float64)
    if not len(numbers) or np.ptp(numbers) == 0 or np.count_nonzero(numbers) < FEWEST_MOVED:
        return UNKNOWN
    mean = float(numbers.mean())
    down, up = skewed_interval(mean, (numbers - mean) / len(numbers), clusters)
    return (down if math.isnan(down) else max(down, low)), up


def skewed_interval(value: float, influence: FloatArray, clusters: Clusters) -> Interval:
    """Student's interval of any figure by its influence values, (n,), as wide as Hall's where that is wider.

    Hall's (1992) allows for skewness: where a few clusters move a figure far, others may move it further. The
    fewer clusters make up the variance, the fewer degrees of freedom it has. NaN below `FEWEST` clusters of
    equal size.
    """
    equal = clusters.equal(np.ones(len(influence)))
    parts = _by_cluster(influence, clusters)
    error = math.sqrt(float(np.sum(parts**2)))
    if not error > 0 or equal < FEWEST:
        return UNKNOWN
    skewness, student = float(np.sum((parts / error) ** 3)), _quantile(_decisive(parts, equal))
    ends = [*(student, -student), *(_hall(t, skewness) for t in (student, -student))]
    return value - error * max(ends), value - error * min(ends)


def _decisive(parts: FloatArray, equal: float) -> float:
    """How many clusters of equal size make up a variance, from the influence of each (Satterthwaite 1946).

    Of normal influence values Σp⁴ / (Σp²)² is 3 / clusters: 2 in place of 3 errs towards width.
    """
    fourth = float(np.sum(parts**4))
    return min(equal, 2 * float(np.sum(parts**2)) ** 2 / fourth) if fourth > 0 else equal


def _hall(t: float, skewness: float) -> float:
    """The deviation d that Hall's transformation takes to `t`: d + s d²/3 + s² d³/27 + s/6 = t."""
    if abs(skewness) < 1e-6:
        return t
    return 3 / skewness * (float(np.cbrt(1 + skewness * (t - skewness / 6))) - 1)


def median_interval(values: FloatArray, clusters: Clusters) -> Interval:
    """The interval of a median, (n,): by order statistics, of clusters by that of a half (Woodruff 1952)."""
    if clusters.whole or not len(values):
        return intervals.median_interval(values)
    below = values <= np.median(values)
    share = np.array(ratio_interval(below, np.ones(len(values)), clusters)) - below.mean()
    if np.isnan(share).any():
        return UNKNOWN
    low, high = np.quantile(values, np.clip(0.5 + share, 0, 1))
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
    ends, point, weight = np.array(intervals), np.array(values), np.array(weights)
    if np.isnan(ends).any():
        return UNKNOWN
    sums = np.stack([clusters.sums(one) for one in influences])
    together = sums @ sums.T
    scale = np.sqrt(np.diag(together))
    correlation = np.divide(
        together, np.outer(scale, scale), where=np.outer(scale, scale) > 0, out=np.eye(len(point))
    )
    below, above = point - ends[:, 0], ends[:, 1] - point
    down, up = np.where(weight > 0, below, above) * weight, np.where(weight > 0, above, below) * weight
    total = float(weight @ point)
    low, high = (math.sqrt(max(float(step @ correlation @ step), 0.0)) for step in (down, up))
    return total - low, total + high


def difference_interval(
    first: tuple[ArrayLike, ArrayLike],
    second: tuple[ArrayLike, ArrayLike],
    clusters: Clusters,
    *,
    among: int = 1,
) -> Interval:
    """The interval of one proportion minus another, each (above, below) as in `ratio_interval`, all (n,).

    With `among` several differences, all their intervals hold together in 95 %.

    Two groups are counted in different texts (below is 0 elsewhere); clusters may reach into both. Two
    wordings are counted in the same texts: the share that the first alone has minus the share that the second
    alone has, which leaves a width where no text differs.
    """
    if np.array_equal(first[1], second[1]):
        moved = np.asarray(first[0], np.float64) - np.asarray(second[0], np.float64)
        first, second = (np.maximum(moved, 0), first[1]), (np.maximum(-moved, 0), second[1])
    values, influences = [], []
    for above, below in (first, second):
        top, bottom = np.asarray(above, np.float64), np.asarray(below, np.float64)
        total = max(float(bottom.sum()), 1.0)
        values.append(float(top.sum()) / total)
        influences.append((top - values[-1] * bottom) / total)
    ends = [ratio_interval(*pair, clusters, among=among) for pair in (first, second)]
    low, high = combined_interval(values, ends, (1.0, -1.0), influences, clusters)
    return max(low, -1.0), min(high, 1.0)


def paired_p(differences: ArrayLike, clusters: Clusters, *, seed: int = 0) -> float:
    """Whether differences within pairs, (n,), are centred at 0: the signs of whole clusters are turned.

    Exact up to 14 clusters that differ at all, else by random turns; beyond `SHUFFLED` by Student's t.
    """
    sums = clusters.sums(np.asarray(differences, np.float64))
    sums = sums[sums != 0]
    if not len(sums):
        return 1.0
    if len(sums) <= 14:
        signs = 1.0 - 2.0 * ((np.arange(2 ** len(sums))[:, None] >> np.arange(len(sums))) & 1)
        return float(np.mean(np.abs(signs @ sums) >= abs(sums.sum()) - 1e-9))
    if len(sums) > SHUFFLED:
        return float(stats.ttest_1samp(sums, 0.0).pvalue)

    def turned(random: np.random.Generator) -> FloatArray:
        drawn: FloatArray = np.abs(random.choice((-1.0, 1.0), (SHUFFLES, len(sums))) @ sums)
        return drawn

    return _share_as_far(turned, abs(float(sums.sum())), seed)


def groups_p(
    above: ArrayLike, below: ArrayLike, first: BoolArray, clusters: Clusters, *, seed: int = 0
) -> float:
    """Whether a proportion differs between two groups, all (n,); `first` marks the texts of the first.

    Where every cluster lies in one group, the groups of clusters are shuffled; else, and with more clusters
    than `SHUFFLED`, the difference is set against its variance between clusters by Student's t.
    """
    top, bottom = np.asarray(above, np.float64), np.asarray(below, np.float64)
    used = bottom > 0
    top, bottom, first, clusters = top[used], bottom[used], np.asarray(first)[used], clusters.at(used)
    if first.all() or not first.any():
        return math.nan
    tops, bottoms = clusters.sums(top), clusters.sums(bottom)
    firsts, sizes = clusters.sums(first.astype(np.float64)), clusters.sums(np.ones(len(top)))
    mixed = (firsts > 0) & (firsts < sizes)
    if not mixed.any() and clusters.count <= SHUFFLED:
        mine = (firsts > 0).astype(np.float64)

        def apart(groups: FloatArray) -> FloatArray:
            with np.errstate(invalid="ignore", divide="ignore"):
                rates = (groups @ tops) / (groups @ bottoms)
                others = ((1 - groups) @ tops) / ((1 - groups) @ bottoms)
            return np.abs(np.nan_to_num(rates - others))

        def shuffled(random: np.random.Generator) -> FloatArray:
            return apart(random.permuted(np.tile(mine, (SHUFFLES, 1)), axis=1))

        return _share_as_far(shuffled, float(apart(mine[None])[0]), seed)
    weights = np.where(first, 1 / bottom[first].sum(), -1 / bottom[~first].sum())
    rate = np.where(first, top[first].sum() / bottom[first].sum(), top[~first].sum() / bottom[~first].sum())
    difference = float(weights @ top)
    spread = variance(weights * (top - rate * bottom), clusters, np.abs(weights) * bottom)
    cases = ((top == 0) | (top == bottom)).all()
    if cases and min(part[side].sum() for part in (top, bottom - top) for side in (first, ~first)) < FEW:
        # Around its own rate a group with few cases hardly varies: at least as much as independent texts do.
        common = top - top.sum() / bottom.sum() * bottom
        spread = max(spread, float(np.mean(common**2) * np.sum(weights**2)))
    if difference == 0 or not spread > 0:
        return 1.0
    equal = min(clusters.at(side).equal(np.ones(int(side.sum()))) for side in (first, ~first))
    return 2 * float(stats.t.sf(abs(difference) / math.sqrt(spread), max(equal - 1, 1.0)))


def _share_as_far(draw: Callable[[np.random.Generator], FloatArray], found: float, seed: int) -> float:
    """The share of draws as far as the data, drawn in blocks until enough are (Besag and Clifford 1991)."""
    random = np.random.default_rng(seed)
    count = total = 0
    while count < ENOUGH and total < BLOCKS * SHUFFLES:
        drawn = draw(random)
        count, total = count + int(np.sum(drawn >= found - 1e-12)), total + len(drawn)
    return (1 + count) / (1 + total)


def change_interval(before: float, now: float, influence: FloatArray, clusters: Clusters) -> Interval:
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
    parts = _by_cluster(influence, clusters, weights)
    spread, room = float(np.sum(parts**2)), value * (1 - value)
    equal = counted.equal(np.ones(len(counted.codes)))
    sums = np.abs(clusters.sums(influence))  # as many clusters of equal influence would vary as much:
    contributing = float(sums.sum()) ** 2 / max(float(np.sum(sums**2)), 1e-300)
    effective = room / spread if spread > 0 and room > 0 else equal
    if contributing < max(CONTRIBUTING, SHARE * clusters.equal(np.ones(len(influence)))):
        effective = min(effective, equal)  # a few clusters decide: their number is all that is known
    freedom = _decisive(parts, min(equal, contributing)) if spread > 0 else equal
    return wilson(value * effective, effective, _quantile(freedom, among))


def _quantile(equal: float, among: int = 1) -> float:
    return float(special.stdtrit(max(equal - 1, 1.0), 1 - 0.025 / among))  # t.ppf without its overhead
