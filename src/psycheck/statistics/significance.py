"""Significance tests. What cannot be computed is NaN."""

import math
import warnings
from collections.abc import Sequence
from dataclasses import dataclass
from functools import partial

import numpy as np
from numpy.typing import ArrayLike
from scipy import special

from psycheck.statistics.classification import BoolArray, FloatArray
from psycheck.statistics.clusters import Clusters, variance
from psycheck.statistics.distributions import normal_tail, student_tail
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
    first = np.asarray(first_right, bool)
    second = np.asarray(second_right, bool)
    if first.shape != second.shape:
        raise ValueError(f"pairs need equal shapes, not {first.shape} and {second.shape}")
    right_in_both = int(np.sum(first & second))
    only_first = int(np.sum(first & ~second))
    only_second = int(np.sum(second & ~first))
    right_in_either = right_in_both + only_first + only_second

    statistic = math.nan
    p = math.nan
    if first.size:
        statistic, p = _discordance(only_first, only_second)
    return McNemar(
        statistic=statistic,
        p=p,
        both=right_in_both,
        only_first=only_first,
        only_second=only_second,
        neither=first.size - right_in_either,
    )


def _discordance(only_first: int, only_second: int) -> tuple[float, float]:
    """McNemar's statistic and p-value: pairs in which both are right, or neither is, tell nothing."""
    discordant = only_first + only_second
    if discordant < EXACT_BELOW:
        smaller = float(min(only_first, only_second))
        # Twice one tail counts the middle twice where both numbers are equal.
        return smaller, min(1.0, 2 * float(special.bdtr(smaller, discordant, 0.5)))
    statistic = max(abs(only_first - only_second) - 1, 0) ** 2 / discordant
    return statistic, float(special.chdtrc(1, statistic))


def holm(pvalues: Sequence[float] | FloatArray) -> FloatArray:
    """Holm's adjusted p-values, (n,); a NaN stays NaN and does not count as a test."""
    p = np.asarray(pvalues, dtype=np.float64)
    tested = np.flatnonzero(~np.isnan(p))
    order = tested[np.argsort(p[tested], kind="stable")]
    # The smallest is multiplied by the number of tests, the next by one less; none may fall below one before.
    multipliers = np.arange(len(order), 0, -1)
    steps = np.maximum.accumulate(p[order] * multipliers)
    adjusted = np.full(p.shape, np.nan)
    adjusted[order] = np.minimum(steps, 1.0)
    return adjusted


def mann_whitney(a: ArrayLike, b: ArrayLike) -> MannWhitney:
    """The two-sided Mann–Whitney U test; U counts the pairs in which `a` is above `b`, ties as a half.

    Exact for a group of at most 8 without ties, else normal with tie and continuity correction. The interval
    of the effect 2 U / (n m) − 1 uses DeLong's variance on Fisher's z scale; it is NaN for fewer than two
    values in a group and where the groups do not overlap at all.
    """
    first = _numbers(a)
    second = _numbers(b)
    n = len(first)
    m = len(second)
    sizes = n, m
    if not all(sizes):
        return MannWhitney(
            u=math.nan,
            p=math.nan,
            effect=math.nan,
            interval=UNKNOWN,
            n=sizes,
        )

    # Counting by level instead of ranking is cheap for millions of cases with few distinct lengths.
    levels, level_of_value = np.unique(np.concatenate([first, second]), return_inverse=True)
    first_counts = np.bincount(level_of_value[:n], minlength=len(levels)).astype(np.float64)
    second_counts = np.bincount(level_of_value[n:], minlength=len(levels)).astype(np.float64)
    second_below = np.cumsum(second_counts) - second_counts / 2
    u = float(first_counts @ second_below)
    effect = 2 * u / (n * m) - 1
    interval = _effect_interval(first_counts, second_counts, effect)

    ties = first_counts + second_counts
    # The exact distribution of U is that of values without ties.
    if min(sizes) <= EXACT_UP_TO and ties.max() == 1:
        from scipy import stats

        p = float(stats.mannwhitneyu(first, second, method="exact").pvalue)
    else:
        p = _normal_p(
            u=u,
            n=n,
            m=m,
            ties=ties,
        )
    return MannWhitney(
        u=u,
        p=p,
        effect=effect,
        interval=interval,
        n=sizes,
    )


def pearson(x: ArrayLike, y: ArrayLike) -> Pearson:
    """Pearson's correlation of pairs, both (n,); NaN below 3 pairs or without spread."""
    first, second = _pairs(x, y)
    n = len(first)
    if n < 3 or np.ptp(first) == 0 or np.ptp(second) == 0:
        return Pearson(math.nan, math.nan, UNKNOWN)
    from scipy import stats

    test = stats.pearsonr(first, second)
    r = float(test.statistic)
    # Fisher's z has the variance 1 / (n − 3): three pairs leave everything open.
    interval = (-1.0, 1.0)
    if n > 3:
        interval = _fisher(r, 1 / math.sqrt(n - 3))
    return Pearson(r, float(test.pvalue), interval)


def crossed_pearson(
    x: ArrayLike,
    y: ArrayLike,
    rows: ArrayLike,
    columns: ArrayLike,
) -> Pearson:
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
    n = len(clusters.codes)
    first = _standardised(x)
    second = _standardised(y)
    # A pair moves r through the product, and through both standard deviations; 1 − r² takes it to Fisher's z.
    moves = first * second - r * (first**2 + second**2) / 2
    influence = moves / n / (1 - r**2)
    # No pair says more than an independent one.
    least = 1 / max(n - 3, 1)
    error = math.sqrt(max(variance(influence, clusters), least))
    freedom = min(repeated) - 1
    half_width = float(special.stdtrit(freedom, 0.975)) * error
    z = math.atanh(r)
    low = math.tanh(z - half_width)
    high = math.tanh(z + half_width)
    p = 2 * student_tail(abs(z) / error, freedom)
    return Pearson(r, p, (low, high))


def _standardised(values: ArrayLike) -> FloatArray:
    """Values, (n,), with the mean 0 and the standard deviation 1."""
    numbers = np.asarray(values, np.float64)
    standardised: FloatArray = (numbers - numbers.mean()) / numbers.std()
    return standardised


def t_test(
    x: ArrayLike,
    y: ArrayLike,
    *,
    paired: bool,
) -> float:
    """The p-value of the two-sided paired or Welch's unpaired t-test; NaN below 2 or without spread."""
    if paired:
        first, second = _pairs(x, y)
    else:
        first, second = _numbers(x), _numbers(y)
    if min(len(first), len(second)) < 2:
        return math.nan

    spread = np.ptp(first - second) if paired else max(np.ptp(first), np.ptp(second))
    if spread == 0:
        return math.nan

    from scipy import stats

    # Welch's test: groups of depressed and other writers rarely have equal variances.
    welch = partial(stats.ttest_ind, equal_var=False)
    compare = stats.ttest_rel if paired else welch
    with warnings.catch_warnings():
        # One group may have no spread if the other has some.
        warnings.simplefilter("ignore", RuntimeWarning)
        test = compare(first, second)
    return float(test.pvalue)


def _normal_p(
    u: float,
    n: int,
    m: int,
    ties: FloatArray,
) -> float:
    """The two-sided normal approximation for U, corrected for ties and continuity; 1 without any spread."""
    # A single level: all values are tied, and the variance is 0.
    if len(ties) == 1:
        return 1.0
    total = n + m
    tied = float(np.sum(ties**3 - ties)) / (total * (total - 1))
    variance_of_u = n * m / 12 * (total + 1 - tied)
    z = (abs(u - n * m / 2) - 0.5) / math.sqrt(variance_of_u)
    return min(1.0, 2 * normal_tail(z))


def _effect_interval(
    first_counts: FloatArray,
    second_counts: FloatArray,
    effect: float,
) -> Interval:
    """DeLong's interval of the effect, from the numbers of values of both groups at each level, (levels,)."""
    n = float(first_counts.sum())
    m = float(second_counts.sum())
    if min(n, m) < 2 or abs(effect) == 1:
        return UNKNOWN
    # Placements: the share of the other group below each value. Their variances in both groups add up.
    first_variance = _variance(_shares_below(second_counts), first_counts)
    second_variance = _variance(_shares_below(first_counts), second_counts)
    error_of_u = math.sqrt(first_variance / n + second_variance / m)
    # The effect is twice the share less one, and its error on Fisher's scale larger by 1 / (1 − effect²).
    return _fisher(effect, 2 * error_of_u / (1 - effect**2))


def _shares_below(counts: FloatArray) -> FloatArray:
    """The share of a group below each level, (levels,), ties as a half."""
    below = np.cumsum(counts) - counts / 2
    shares: FloatArray = below / counts.sum()
    return shares


def _variance(values: FloatArray, counts: FloatArray) -> float:
    """The variance of values that occur so often, (levels,) each."""
    n = counts.sum()
    mean = counts @ values / n
    squares = counts @ (values - mean) ** 2
    return float(squares / (n - 1))


def _fisher(value: float, error: float) -> Interval:
    """An interval on the scale of Fisher's z, transformed back."""
    if abs(value) >= 1:
        return value, value
    z = math.atanh(value)
    half_width = Z95 * error
    return math.tanh(z - half_width), math.tanh(z + half_width)


def _numbers(values: ArrayLike) -> FloatArray:
    """The values that are not NaN."""
    numbers = np.asarray(values, dtype=np.float64)
    return numbers[~np.isnan(numbers)]


def _pairs(x: ArrayLike, y: ArrayLike) -> tuple[FloatArray, FloatArray]:
    """The pairs without a NaN, (n,) each."""
    first = np.asarray(x, dtype=np.float64)
    second = np.asarray(y, dtype=np.float64)
    if first.shape != second.shape:
        raise ValueError(f"pairs need equal shapes, not {first.shape} and {second.shape}")
    is_complete = ~(np.isnan(first) | np.isnan(second))
    return first[is_complete], second[is_complete]
