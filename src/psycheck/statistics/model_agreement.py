"""How far two models agree, whoever of them is right."""

import math

import numpy as np
from numpy.typing import ArrayLike, NDArray

from psycheck.statistics.clustered import Clusters, figure_interval
from psycheck.statistics.intervals import UNKNOWN, Interval

FloatArray = NDArray[np.float64]


def cohen_kappa(first: ArrayLike, second: ArrayLike) -> tuple[float, FloatArray]:
    """Cohen's kappa of two models' decisions of 0 or 1, and the influence of each text on it, all (n,).

    NaN if both give every text the same decision: chance alone would then agree as much (Cohen 1960).
    """
    a, b = np.asarray(first, np.float64), np.asarray(second, np.float64)
    if a.shape != b.shape:
        raise ValueError(f"pairs need equal shapes, not {a.shape} and {b.shape}")
    n = len(a)
    p, q, agreed = (float(one.mean()) if n else math.nan for one in (a, b, a == b))
    apart = p * (1 - q) + q * (1 - p)  # the disagreement that chance alone makes
    if not apart > 0:
        return math.nan, np.zeros(n)
    by_chance = (1 - 2 * q) * (a - p) + (1 - 2 * p) * (b - q)
    return 1 - (1 - agreed) / apart, (((a == b) - agreed) / apart + (1 - agreed) / apart**2 * by_chance) / n


def kappa_interval(first: ArrayLike, second: ArrayLike, clusters: Clusters) -> Interval:
    """The interval of Cohen's kappa: Wilson's of (1 + κ) / 2, for the rarer decision of either model."""
    a, b = np.asarray(first, bool), np.asarray(second, bool)
    value, influence = cohen_kappa(a, b)
    if math.isnan(value):
        return UNKNOWN
    some = min((a | b, ~a | ~b), key=np.count_nonzero)
    low, high = figure_interval((1 + value) / 2, influence / 2, clusters.at(some), clusters)
    return 2 * low - 1, 2 * high - 1
