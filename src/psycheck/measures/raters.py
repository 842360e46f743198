"""How far several raters (models, or samples of one model) agree, beyond chance."""

import math

import numpy as np
from numpy.typing import ArrayLike, NDArray

from psycheck.measures.clustered import Clusters, figure_interval
from psycheck.measures.intervals import UNKNOWN, Interval

FloatArray = NDArray[np.float64]


def majority_share(votes: ArrayLike) -> FloatArray:
    """The share of the raters of each text that vote with the majority, (n,), from 0.5; NaN without a vote.

    Votes are (n, raters) of 0 or 1, NaN where a rater gave none.
    """
    given, yes = _tallied(votes)
    with np.errstate(invalid="ignore"):
        return np.where(given > 0, np.maximum(yes, given - yes) / given, np.nan)


def krippendorff_alpha(votes: ArrayLike) -> tuple[float, FloatArray]:
    """Krippendorff's alpha of votes (n, raters), 0 or 1 with NaN for none, and each text's influence on it.

    Texts with fewer than two votes do not count. NaN if all votes are the same: chance alone would then agree
    as much (Krippendorff 2011).
    """
    given, yes = _tallied(votes)
    paired = given >= 2
    given, yes = np.where(paired, given, 0.0), np.where(paired, yes, 0.0)
    no = given - yes
    total, ones, zeros = given.sum(), yes.sum(), no.sum()
    if not ones * zeros > 0:
        return math.nan, np.zeros(len(given))
    apart = 2 * yes * no / np.maximum(given - 1, 1)  # pairs that disagree, per vote
    scale = (total - 1) / (2 * ones * zeros)
    value = 1 - apart.sum() * scale
    pull = given / total - yes / ones - no / zeros
    return float(value), -scale * (apart + apart.sum() * pull)


def alpha_interval(votes: ArrayLike, clusters: Clusters) -> Interval:
    """The interval of Krippendorff's alpha: Wilson's of (1 + α) / 2, for the texts with the rarer vote."""
    value, influence = krippendorff_alpha(votes)
    if math.isnan(value):
        return UNKNOWN
    given, yes = _tallied(votes)
    paired = given >= 2
    some = min((paired & (yes > 0), paired & (yes < given)), key=np.count_nonzero)
    low, high = figure_interval(
        (1 + value) / 2, influence[paired] / 2, clusters.at(some), clusters.at(paired)
    )
    return 2 * low - 1, 2 * high - 1


def _tallied(votes: ArrayLike) -> tuple[FloatArray, FloatArray]:
    """How many votes each text has, and how many of them are 1, both (n,)."""
    array = np.asarray(votes, np.float64)
    return (~np.isnan(array)).sum(axis=1).astype(np.float64), np.nansum(array, axis=1)
