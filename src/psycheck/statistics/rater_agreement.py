"""How far several raters (annotators, models, or samples of one model) agree, beyond chance.

Ratings are (n, raters), one number for each value that can be given, NaN where a rater gave none. Only texts
with two ratings or more count. Every figure is a function of sums over texts, so a bootstrap of texts draws
how often each kind of text occurs, and 200,000 texts cost no more than the few kinds that they are of.
"""

import math
from collections.abc import Callable
from dataclasses import dataclass
from typing import Literal

import numpy as np
from numpy.typing import ArrayLike, NDArray

from psycheck.statistics.clustered import FEWEST, Clusters, figure_interval
from psycheck.statistics.intervals import UNKNOWN, Interval

FloatArray = NDArray[np.float64]
Level = Literal["nominal", "ordinal", "interval"]
DRAWS = 2_000  # of a bootstrap
# Texts with a rating that is not the commonest: with fewer, the bootstrap covers less than it says.
RARER = 20
FEWEST_OF_SEVERAL = 60  # clusters of several texts: with fewer, the bootstrap covers 89 to 90.5 %
_TAIL = 2.5  # per cent


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


@dataclass(frozen=True, slots=True)
class Agreement:
    """One figure of agreement with its bootstrap interval, and the texts with two ratings or more."""

    value: float
    interval: Interval
    n: int


Figure = Callable[[FloatArray, FloatArray], FloatArray]
"""From the sums of draws, (draws, sums), and the values that can be given, (v,), to the figures, (draws,)."""


def alpha(ratings: ArrayLike, level: Level = "nominal", clusters: Clusters | None = None) -> Agreement:
    """Krippendorff's alpha of any ratings, by the distance of two values at a level (Krippendorff 2011).

    NaN if all ratings are the same.
    """
    return _agreement(ratings, lambda sums, values: _alpha(sums, values, level), clusters)


def fleiss_kappa(ratings: ArrayLike, clusters: Clusters | None = None) -> Agreement:
    """Fleiss' kappa (1971); texts may have different numbers of ratings, each text weighs the same."""
    return _agreement(ratings, _fleiss, clusters)


def percent_agreement(ratings: ArrayLike, clusters: Clusters | None = None) -> Agreement:
    """The share of pairs of ratings of a text that are the same, 0..1, averaged over texts."""
    return _agreement(ratings, lambda sums, values: _shares(sums, len(values))[0], clusters)


def _alpha(sums: FloatArray, values: FloatArray, level: Level) -> FloatArray:
    v = len(values)
    pairs = sums[:, 2 + v :].reshape(-1, v, v)  # the coincidence matrix, (draws, v, v)
    each = pairs.sum(axis=2)
    total = each.sum(axis=1)
    apart = _distances(each, values, level)
    seen = (pairs * apart).sum(axis=(1, 2))
    expected = np.einsum("dc,dk,dck->d", each, each, apart)
    with np.errstate(invalid="ignore", divide="ignore"):
        return np.where(expected > 0, 1 - (total - 1) * seen / expected, np.nan)


def _distances(each: FloatArray, values: FloatArray, level: Level) -> FloatArray:
    """The squared distance of every two values, (draws, v, v) or (1, v, v), for how often each is given."""
    if level == "nominal":
        return (1 - np.eye(len(values)))[None]
    if level == "interval":
        return ((values[:, None] - values[None]) ** 2)[None]
    # Ordinal: the ratings from one value to the other, the two values themselves counted half.
    middle = np.cumsum(each, axis=1) - each / 2
    return np.asarray((middle[:, :, None] - middle[:, None]) ** 2)


def _shares(sums: FloatArray, v: int) -> tuple[FloatArray, FloatArray]:
    """The mean agreement within texts, (draws,), and the share of each value, (draws, v)."""
    each = sums[:, 2 : 2 + v]
    return sums[:, 0] / sums[:, 1], each / each.sum(axis=1, keepdims=True)


def _fleiss(sums: FloatArray, values: FloatArray) -> FloatArray:
    alike, share = _shares(sums, len(values))
    chance = (share**2).sum(axis=1)
    with np.errstate(invalid="ignore", divide="ignore"):
        return np.where(chance < 1, (alike - chance) / (1 - chance), np.nan)


def _agreement(ratings: ArrayLike, figure: Figure, clusters: Clusters | None) -> Agreement:
    """A figure and its interval: percentiles over draws of clusters with replacement."""
    array = np.asarray(ratings, np.float64)
    values = np.unique(array[~np.isnan(array)])
    counts = (array[:, :, None] == values).sum(axis=1).astype(np.float64)  # (n, v)
    given = counts.sum(axis=1)
    paired = given >= 2
    if not paired.any():
        return Agreement(math.nan, UNKNOWN, 0)
    counts, given = counts[paired], given[paired]
    # What all figures are made of: agreement within the text, 1, its ratings and its pairs of ratings.
    pairs = counts[:, :, None] * counts[:, None] - counts[:, :, None] * np.eye(len(values))
    alike = np.trace(pairs, axis1=1, axis2=2) / (given * (given - 1))
    coincidence = (pairs / (given - 1)[:, None, None]).reshape(len(given), -1)
    sums = np.column_stack([alike, np.ones(len(given)), counts, coincidence])
    value = float(figure(sums.sum(axis=0, keepdims=True), values)[0])
    units = Clusters.single(len(given)) if clusters is None else clusters.at(paired)
    rarer = int((np.delete(counts, counts.sum(axis=0).argmax(), axis=1) > 0).any(axis=1).sum())
    fewest = FEWEST if units.whole else FEWEST_OF_SEVERAL
    if units.count < fewest or rarer < RARER or math.isnan(value):
        return Agreement(value, UNKNOWN, len(given))
    if not units.whole:
        sums = np.column_stack([units.sums(column) for column in sums.T])
    kinds, often = np.unique(sums.round(9), axis=0, return_counts=True)
    drawn = np.random.default_rng(0).multinomial(units.count, often / units.count, DRAWS) @ kinds
    low, high = np.nanpercentile(figure(drawn, values), (_TAIL, 100 - _TAIL))
    return Agreement(value, (float(low), float(high)), len(given))
