"""Intervals in closed form; all are 95 % intervals."""

import math

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy import special

Interval = tuple[float, float]
UNKNOWN: Interval = (math.nan, math.nan)
Z95 = 1.959963984540054
# The chance that the truth lies outside of an interval, and beyond each end of it.
ALPHA = 0.05
TAIL = 0.025

# Up to so many texts on one side Wilson's inner end is moved out. The thousandth lets a number of texts that
# was scaled by an effective size, and so is not whole, pass for the whole number that it stands for.
RARE = 2.001
RARE_OF_MANY = 3.001
MANY = 50


def wilson(
    passed: float,
    n: float,
    z: float = Z95,
) -> Interval:
    """Wilson's score interval of a rate; it stays inside 0..1 and has a width even at 0 and at 1.

    With up to 2 texts (3 of more than 50) on one side its inner end is too near and moves out (Brown, Cai and
    DasGupta 2001). `n` need not be whole: dependent texts count as fewer.
    """
    if n == 0:
        return UNKNOWN
    failed = n - passed
    rate = passed / n
    # Rounding can take the rate a little above 1, and the root of a negative variance is not a number.
    variance = max(rate * (1 - rate), 0.0) / n

    # Wilson solves (rate − p)² = z² p (1 − p) / n for p: a middle drawn towards 0.5, and a half width.
    shrinkage = 1 + z * z / n
    towards_half = z * z / (2 * n)
    width_at_ends = z * z / (4 * n * n)
    middle = (rate + towards_half) / shrinkage
    half_width = z * math.sqrt(variance + width_at_ends) / shrinkage
    # The ends are 0 and 1 by algebra; computed, they may miss them by a rounding error.
    low = 0.0 if passed == 0 else middle - half_width
    high = 1.0 if passed == n else middle + half_width

    rare = RARE_OF_MANY if n > MANY else RARE
    if 0 < passed <= rare:
        low = min(low, _poisson_end(passed, n))
    if 0 < failed <= rare:
        high = max(high, 1 - _poisson_end(failed, n))
    return low, high


def _poisson_end(count: float, n: float) -> float:
    """The one-sided 95 % lower end of a rate of few cases, whose number is nearly Poisson's."""
    quantile = float(2 * special.gammaincinv(count, ALPHA))
    return quantile / 2 / n


def exact(
    rate: float,
    n: float,
    among: int,
) -> Interval:
    """Clopper and Pearson's interval of one of several rates, so that all hold together in 95 % (Bonferroni).

    So far out, Wilson's is too short where nearly all pass. `n` need not be whole (Korn and Graubard 1998).
    """
    passed = rate * n
    failed = n - passed
    tail = TAIL / among
    low = 0.0
    high = 1.0
    # The beta distribution is not defined where one side has no text; the end is the bound itself.
    if passed != 0:
        low = float(special.betaincinv(passed, failed + 1, tail))
    if passed != n:
        high = float(special.betaincinv(passed + 1, failed, 1 - tail))
    return low, high


def median_interval(values: ArrayLike) -> Interval:
    """An interval of the median of values (n,) from order statistics, whatever the distribution.

    NaN below 6 values: even the smallest and the largest enclose the median in less than 95 %.
    """
    ordered = np.sort(np.asarray(values, dtype=np.float64))
    n = len(ordered)
    if n == 0:
        return UNKNOWN

    # The k-th smallest and k-th largest enclose the median unless fewer than k values lie on one side.
    k = math.ceil(special.bdtrik(TAIL, n, 0.5))
    missed = 2 * float(special.bdtr(k - 1, n, 0.5))
    if k < 1 or missed > ALPHA:
        return UNKNOWN
    low = ordered[k - 1]
    high = ordered[n - k]
    return float(low), float(high)


def percentiles(values: NDArray[np.float64]) -> Interval:
    """The 2.5th and the 97.5th percentile of the values, (n,), that are not NaN."""
    defined = values[~np.isnan(values)]
    if not len(defined):
        return UNKNOWN
    low, high = np.quantile(defined, [TAIL, 1 - TAIL])
    return float(low), float(high)
