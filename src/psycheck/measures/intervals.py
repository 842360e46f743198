"""Intervals in closed form; all are 95 % intervals."""

import math

import numpy as np
from numpy.typing import ArrayLike

Interval = tuple[float, float]
UNKNOWN: Interval = (math.nan, math.nan)
Z95 = 1.959963984540054


def wilson(passed: float, n: float) -> Interval:
    """Wilson's score interval of a rate; it stays inside 0..1 and has a width even at 0 and at 1.

    `n` need not be whole: dependent texts count as fewer.
    """
    if n == 0:
        return UNKNOWN
    rate, z2 = passed / n, Z95**2
    middle = (rate + z2 / (2 * n)) / (1 + z2 / n)
    half = Z95 * math.sqrt(rate * (1 - rate) / n + z2 / (4 * n * n)) / (1 + z2 / n)
    return (0.0 if passed == 0 else middle - half, 1.0 if passed == n else middle + half)


def median_interval(values: ArrayLike) -> Interval:
    """An interval of the median from order statistics, whatever the distribution; NaN below 6 values."""
    from scipy.stats import binom

    ordered = np.sort(np.asarray(values, dtype=np.float64))
    n = len(ordered)
    # The k-th smallest and k-th largest enclose the median unless fewer than k values lie on one side.
    k = int(binom.ppf(0.025, n, 0.5)) if n else 0
    if k < 1 or 2 * float(binom.cdf(k - 1, n, 0.5)) > 0.05:
        return UNKNOWN
    return float(ordered[k - 1]), float(ordered[n - k])
