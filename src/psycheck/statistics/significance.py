"""Significance tests. What cannot be computed is NaN."""

import math
import warnings
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike
from scipy import stats

from psycheck.statistics.classification import BoolArray, FloatArray
from psycheck.statistics.clusters import Clusters, variance
from psycheck.statistics.intervals import UNKNOWN, Z95, Interval

EXACT_BELOW = 25  # discordant pairs
EXACT_UP_TO = 8  # values in the smaller group, without ties


@dataclass(frozen=True, slots=True)
class McNemar:
    """Two models on the same texts: which of them was right alone, and how often."""

    statistic: float
    p: float
    both: int
    only_first: int
    only_second: int
    neither: int


@dataclass(frozen=True, slots=True)
class MannWhitney:
    """Two groups by rank; `effect` is the rank-biserial correlation, above 0 where the first ranks higher."""

    u: float
    p: float
    effect: float
    interval: Interval
    n: tuple[int, int]


@dataclass(frozen=True, slots=True)
class Pearson:
    """A linear correlation, its p-value and its interval by Fisher's z."""

    r: float
    p: float
    interval: Interval


def mcnemar(first_right: BoolArray, second_right: BoolArray) -> McNemar:
    """McNemar's test, both (n,): exact below 25 discordant pairs, else χ² with continuity correction."""
    first, second = np.asarray(first_right, bool), np.asarray(second_right, bool)
    if first.shape != second.shape:
        raise ValueError(f"pairs need equal shapes, not {first.shape} and {second.shape}")
    both, one = int(np.sum(first & second)), int(np.sum(first & ~second))
    two = int(np.sum(second & ~first))
    neither = first.size - both - one - two
    if not first.size:
        statistic, p = math.nan, math.nan
    elif one + two < EXACT_BELOW:
        statistic = float(min(one, two))
        p = min(1.0, 2 * float(stats.binom.cdf(statistic, one + two, 0.5)))
    else:
        statistic = max(abs(one - two) - 1, 0) ** 2 / (one + two)
        p = float(stats.chi2.sf(statistic, 1))
    return McNemar(statistic, p, both, one, two, neither)


def holm(pvalues: Sequence[float] | FloatArray) -> FloatArray:
    """Holm's adjusted p-values, (n,); a NaN stays NaN and does not count as a test."""
    p = np.asarray(pvalues, dtype=np.float64)
    out = np.full(p.shape, np.nan)
    tested = np.flatnonzero(~np.isnan(p))
    order = tested[np.argsort(p[tested], kind="stable")]
    steps = p[order] * np.arange(len(order), 0, -1)
    out[order] = np.minimum(np.maximum.accumulate(steps), 1.0)
    return out


def mann_whitney(a: ArrayLike, b: ArrayLike) -> MannWhitney:
    """The two-sided Mann–Whitney U test; U counts the pairs in which `a` is above `b`, ties as a half.

    Exact for a group of at most 8 without ties, else normal with tie and continuity correction. The interval
    of the effect 2 U / (n m) − 1 uses DeLong's variance on Fisher's z scale; it is NaN for fewer than two
    values in a group and where the groups do not overlap at all.
    """
    first, second = _numbers(a), _numbers(b)
    sizes = len(first), len(second)
    if not all(sizes):
        return MannWhitney(math.nan, math.nan, math.nan, UNKNOWN, sizes)
    n, m = sizes
    # Counting by level instead of ranking is cheap for millions of cases with few distinct lengths.
    levels, at = np.unique(np.concatenate([first, second]), return_inverse=True)
    ours = np.bincount(at[:n], minlength=len(levels)).astype(np.float64)
    theirs = np.bincount(at[n:], minlength=len(levels)).astype(np.float64)
    u = float(ours @ (np.cumsum(theirs) - theirs / 2))
    effect = 2 * u / (n * m) - 1
    ties = ours + theirs
    if min(sizes) <= EXACT_UP_TO and ties.max() == 1:
        p = float(stats.mannwhitneyu(first, second, method="exact").pvalue)
    else:
        p = _normal_p(u, n, m, ties)
    return MannWhitney(u, p, effect, _effect_interval(ours, theirs, effect), sizes)


def pearson(x: ArrayLike, y: ArrayLike) -> Pearson:
    """Pearson's correlation of pairs, both (n,); NaN below 3 pairs or without spread."""
    one, two = _pairs(x, y)
    n = len(one)
    if n < 3 or np.ptp(one) == 0 or np.ptp(two) == 0:
        return Pearson(math.nan, math.nan, UNKNOWN)
    found = stats.pearsonr(one, two)
    r = float(found.statistic)
    interval = _fisher(r, 1 / math.sqrt(n - 3)) if n > 3 else (-1.0, 1.0)
    return Pearson(r, float(found.pvalue), interval)


def crossed_pearson(x: ArrayLike, y: ArrayLike, rows: ArrayLike, columns: ArrayLike) -> Pearson:
    """Pearson's correlation of pairs that share a row (a model) or a column (a corpus), all (n,).

    Its error on Fisher's scale is clustered by rows and by columns, with Student's quantile for the fewer of
    the two: fifty pairs of ten models and five corpora say as much about other corpora as five do.
    """
    independent = pearson(x, y)
    if math.isnan(independent.r) or abs(independent.r) >= 1:
        return independent
    clusters = Clusters.of(rows, columns)
    counts = [part.count for sign, part in clusters.dimensions() if sign > 0]
    repeated = [count for count in counts if 1 < count < len(clusters.codes)]
    if not repeated:
        return independent

    r = independent.r
    first, second = _standardised(x), _standardised(y)
    influence = (first * second - r * (first**2 + second**2) / 2) / len(first) / (1 - r**2)
    # No pair says more than an independent one.
    least = 1 / max(len(first) - 3, 1)
    error = math.sqrt(max(variance(influence, clusters), least))
    freedom = min(repeated) - 1
    half = float(stats.t.ppf(0.975, freedom)) * error
    z = math.atanh(r)
    p = 2 * float(stats.t.sf(abs(z) / error, freedom))
    return Pearson(r, p, (math.tanh(z - half), math.tanh(z + half)))


def _standardised(values: ArrayLike) -> FloatArray:
    numbers = np.asarray(values, np.float64)
    standardised: FloatArray = (numbers - numbers.mean()) / numbers.std()
    return standardised


def t_test(x: ArrayLike, y: ArrayLike, *, paired: bool) -> float:
    """The p-value of the two-sided paired or Welch's unpaired t-test; NaN below 2 or without spread."""
    one, two = _pairs(x, y) if paired else (_numbers(x), _numbers(y))
    if min(len(one), len(two)) < 2:
        return math.nan
    spread = np.ptp(one - two) if paired else max(np.ptp(one), np.ptp(two))
    if spread == 0:
        return math.nan
    with warnings.catch_warnings():
        # One group may have no spread if the other has some.
        warnings.simplefilter("ignore", RuntimeWarning)
        found = stats.ttest_rel(one, two) if paired else stats.ttest_ind(one, two, equal_var=False)
    return float(found.pvalue)


def _normal_p(u: float, n: int, m: int, ties: FloatArray) -> float:
    """The two-sided normal approximation for U, corrected for ties and continuity; 1 without any spread."""
    total = n + m
    variance = n * m / 12 * (total + 1 - float(np.sum(ties**3 - ties)) / (total * (total - 1)))
    if len(ties) == 1:
        return 1.0
    z = (abs(u - n * m / 2) - 0.5) / math.sqrt(variance)
    return min(1.0, 2 * float(stats.norm.sf(z)))


def _effect_interval(ours: FloatArray, theirs: FloatArray, effect: float) -> Interval:
    """DeLong's interval; `ours` and `theirs` count the values of both groups at each level."""
    n, m = float(ours.sum()), float(theirs.sum())
    if min(n, m) < 2 or abs(effect) == 1:
        return UNKNOWN
    spread = _variance(_shares_below(theirs), ours) / n + _variance(_shares_below(ours), theirs) / m
    return _fisher(effect, 2 * math.sqrt(spread) / (1 - effect**2))


def _shares_below(counts: FloatArray) -> FloatArray:
    """The share of a group below each level, ties as a half."""
    shares: FloatArray = (np.cumsum(counts) - counts / 2) / counts.sum()
    return shares


def _variance(values: FloatArray, counts: FloatArray) -> float:
    n = counts.sum()
    return float(counts @ (values - counts @ values / n) ** 2 / (n - 1))


def _fisher(value: float, error: float) -> Interval:
    """An interval on the scale of Fisher's z, transformed back."""
    if abs(value) >= 1:
        return value, value
    z = math.atanh(value)
    return math.tanh(z - Z95 * error), math.tanh(z + Z95 * error)


def _numbers(values: ArrayLike) -> FloatArray:
    numbers = np.asarray(values, dtype=np.float64)
    return numbers[~np.isnan(numbers)]


def _pairs(x: ArrayLike, y: ArrayLike) -> tuple[FloatArray, FloatArray]:
    one, two = np.asarray(x, dtype=np.float64), np.asarray(y, dtype=np.float64)
    if one.shape != two.shape:
        raise ValueError(f"pairs need equal shapes, not {one.shape} and {two.shape}")
    there = ~(np.isnan(one) | np.isnan(two))
    return one[there], two[there]
