"""Intervals in closed form; all are 95 % intervals."""

import math

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy import stats

Interval = tuple[float, float]
UNKNOWN: Interval = (math.nan, math.nan)
Z95 = 1.959963984540054


def wilson(passed: float, n: float, z: float = Z95) -> Interval:
    """Wilson's score interval of a rate; it stays inside 0..1 and has a width even at 0 and at 1.

    With up to 2 texts (3 of more than 50) on one side its inner end is too near and moves out (Brown, Cai and
    DasGupta 2001). `n` need not be whole: dependent texts count as fewer.
    """
    if n == 0:
        return UNKNOWN
    rate, failed = passed / n, n - passed
    middle = (rate + z * z / (2 * n)) / (1 + z * z / n)
    half = z * math.sqrt(max(rate * (1 - rate), 0.0) / n + z * z / (4 * n * n)) / (1 + z * z / n)
    low, high = (0.0 if passed == 0 else middle - half), (1.0 if passed == n else middle + half)
    few = 3.001 if n > 50 else 2.001
    if 0 < passed <= few:
        low = min(low, float(stats.chi2.ppf(0.05, 2 * passed)) / 2 / n)
    if 0 < failed <= few:
        high = max(high, 1 - float(stats.chi2.ppf(0.05, 2 * failed)) / 2 / n)
    return low, high


def exact(rate: float, n: float, among: int) -> Interval:
    """Clopper and Pearson's interval of one of several rates, so that all hold together in 95 % (Bonferroni).

    So far out, Wilson's is too short where nearly all pass. `n` need not be whole (Korn and Graubard 1998).
    """
    passed, tail = rate * n, 0.025 / among
    low = 0.0 if passed == 0 else float(stats.beta.ppf(tail, passed, n - passed + 1))
    return low, 1.0 if passed == n else float(stats.beta.ppf(1 - tail, passed + 1, n - passed))


def median_interval(values: ArrayLike) -> Interval:
    """An interval of the median from order statistics, whatever the distribution; NaN below 6 values."""
    ordered = np.sort(np.asarray(values, dtype=np.float64))
    n = len(ordered)
    # The k-th smallest and k-th largest enclose the median unless fewer than k values lie on one side.
    k = int(stats.binom.ppf(0.025, n, 0.5)) if n else 0
    if k < 1 or 2 * float(stats.binom.cdf(k - 1, n, 0.5)) > 0.05:
        return UNKNOWN
    return float(ordered[k - 1]), float(ordered[n - k])


def percentiles(values: NDArray[np.float64]) -> Interval:
    """The 2.5th and the 97.5th percentile of the values that are not NaN."""
    there = values[~np.isnan(values)]
    if not len(there):
        return UNKNOWN
    low, high = np.quantile(there, [0.025, 0.975])
    return float(low), float(high)
