"""How far several raters (annotators, models, or samples of one model) agree, beyond chance.

Ratings are (n, raters), a number for each value of the scale, NaN where a rater gave none. Only texts
with two ratings or more count. Every figure is a function of sums over texts, so a bootstrap of texts draws
how often each kind of text occurs, and 200,000 texts cost no more than the few kinds that they are of.
"""

import math
from collections.abc import Callable
from dataclasses import dataclass
from typing import Literal

import numpy as np
from numpy.typing import ArrayLike, NDArray

from psycheck.statistics.clustered import FEWEST, Clusters, figure_interval, skewed_interval
from psycheck.statistics.intervals import UNKNOWN, Interval

FloatArray = NDArray[np.float64]
BoolArray = NDArray[np.bool_]
Level = Literal["nominal", "ordinal", "interval"]
DRAWS = 2_000  # of a bootstrap
FEWEST_RATINGS = 2  # of a text: fewer make no pair that could agree
# Texts with a rating that is not the commonest: with fewer, the bootstrap covers less than it says.
RARER = 20
_TAIL = 2.5  # per cent


def majority_share(votes: ArrayLike) -> FloatArray:
    """The share of the raters of each text that vote with the majority, (n,), from 0.5; NaN without a vote.

    Votes are (n, raters) of 0 or 1, NaN where a rater gave none.
    """
    totals, yes = _tallied(votes)
    majority = np.maximum(yes, totals - yes)
    with np.errstate(invalid="ignore"):
        return np.where(totals > 0, majority / totals, np.nan)


def krippendorff_alpha(votes: ArrayLike) -> tuple[float, FloatArray]:
    """Krippendorff's alpha of votes (n, raters), 0 or 1 with NaN for none, and each text's influence on it.

    Texts with fewer than two votes do not count. NaN if all votes are the same: chance alone would then agree
    as much (Krippendorff 2011).
    """
    totals, yes = _tallied(votes)
    # A single vote can neither agree nor disagree: such a text keeps its row, with an influence of 0.
    is_paired = totals >= FEWEST_RATINGS
    totals = np.where(is_paired, totals, 0.0)
    yes = np.where(is_paired, yes, 0.0)
    no = totals - yes
    vote_count = totals.sum()
    yes_count = yes.sum()
    no_count = no.sum()
    if not yes_count * no_count > 0:
        return math.nan, np.zeros(len(totals))

    # Pairs that disagree, per vote: divided by the votes that each could be paired with, a text counts by its
    # votes and not by their square.
    disagreement = 2 * yes * no / np.maximum(totals - 1, 1)
    total_disagreement = disagreement.sum()
    # Alpha is 1 less the disagreement that is seen, as a share of what pairs drawn from all votes would show.
    scale = (vote_count - 1) / (2 * yes_count * no_count)
    alpha_of_votes = 1 - total_disagreement * scale
    # A text also moves the disagreement by chance, through the numbers of votes of each kind.
    pull = totals / vote_count - yes / yes_count - no / no_count
    influence = -scale * (disagreement + total_disagreement * pull)
    return float(alpha_of_votes), influence


def alpha_interval(votes: ArrayLike, clusters: Clusters) -> Interval:
    """The interval of Krippendorff's alpha: Wilson's of (1 + α) / 2, for the texts with the rarer vote."""
    value, influence = krippendorff_alpha(votes)
    if math.isnan(value):
        return UNKNOWN
    totals, yes = _tallied(votes)
    is_paired = totals >= FEWEST_RATINGS
    has_yes = is_paired & (yes > 0)
    has_no = is_paired & (yes < totals)
    # Alpha rests on the texts with the rarer vote: many with the common one do not make it more certain.
    rarer = min((has_yes, has_no), key=np.count_nonzero)
    low, high = figure_interval(
        value=(1 + value) / 2,
        influence=influence[is_paired] / 2,
        counted=clusters.at(rarer),
        clusters=clusters.at(is_paired),
    )
    return 2 * low - 1, 2 * high - 1


def _tallied(votes: ArrayLike) -> tuple[FloatArray, FloatArray]:
    """How many votes each text has, and how many of them are 1, both (n,)."""
    array = np.asarray(votes, np.float64)
    totals = (~np.isnan(array)).sum(axis=1)
    yes = np.nansum(array, axis=1)
    return totals.astype(np.float64), yes


@dataclass(frozen=True, slots=True)
class Agreement:
    """One figure of agreement with its interval, and the texts with two ratings or more."""

    value: float
    interval: Interval
    n: int


Figure = Callable[[FloatArray, FloatArray], FloatArray]
"""From the sums of draws, (draws, sums), and the values that occur, (v,), to the figures, (draws,)."""


@dataclass(frozen=True, slots=True)
class RatedTexts:
    """The ratings of the n texts that have two or more, as sums that every figure can be computed from.

    `values` (v,) are the values that occur and `counts` (n, v) how often each text has each of them. `terms`
    (n, 2 + v + v²) holds for each text its agreement, a 1, its counts and its coincidences.
    """

    values: FloatArray
    counts: FloatArray
    terms: FloatArray


def alpha(
    ratings: ArrayLike,
    level: Level = "nominal",
    clusters: Clusters | None = None,
) -> Agreement:
    """Krippendorff's alpha of any ratings, by the distance of two values at a level (Krippendorff 2011).

    NaN if all ratings are the same.
    """

    def alpha_at_level(sums: FloatArray, values: FloatArray) -> FloatArray:
        return _alpha(sums, values, level)

    return _agreement(ratings, alpha_at_level, clusters)


def fleiss_kappa(ratings: ArrayLike, clusters: Clusters | None = None) -> Agreement:
    """Fleiss' kappa (1971); texts may have different numbers of ratings, each text weighs the same."""
    return _agreement(ratings, _fleiss, clusters)


def percent_agreement(ratings: ArrayLike, clusters: Clusters | None = None) -> Agreement:
    """The share of pairs of ratings of a text that are the same, 0..1, averaged over texts."""

    def mean_agreement(sums: FloatArray, values: FloatArray) -> FloatArray:
        agreement, _ = _shares(sums, len(values))
        return agreement

    return _agreement(ratings, mean_agreement, clusters)


def _alpha(
    sums: FloatArray,
    values: FloatArray,
    level: Level,
) -> FloatArray:
    """Alpha of draws, (draws,), from their sums, (draws, 2 + v + v²)."""
    v = len(values)
    coincidences = sums[:, 2 + v :].reshape(-1, v, v)
    value_counts = coincidences.sum(axis=2)
    rating_count = value_counts.sum(axis=1)
    distances = _distances(value_counts, values, level)
    seen = (coincidences * distances).sum(axis=(1, 2))
    expected = np.einsum("dc,dk,dck->d", value_counts, value_counts, distances)
    # Where all ratings of a draw are the same nothing is expected to differ, and alpha is undefined.
    with np.errstate(invalid="ignore", divide="ignore"):
        alphas = 1 - (rating_count - 1) * seen / expected
    return np.where(expected > 0, alphas, np.nan)


def _distances(
    value_counts: FloatArray,
    values: FloatArray,
    level: Level,
) -> FloatArray:
    """The squared distance of every two values, (draws, v, v) or (1, v, v), for how often each occurs."""
    if level == "nominal":
        return (1 - np.eye(len(values)))[None]
    if level == "interval":
        differences = values[:, None] - values[None]
        return (differences**2)[None]
    # Ordinal: the ratings from one value to the other, the two values themselves counted half.
    middle = np.cumsum(value_counts, axis=1) - value_counts / 2
    steps = middle[:, :, None] - middle[:, None]
    return np.asarray(steps**2)


def _shares(sums: FloatArray, v: int) -> tuple[FloatArray, FloatArray]:
    """The mean agreement within texts, (draws,), and the share of each of v values, (draws, v)."""
    agreement = sums[:, 0] / sums[:, 1]
    value_counts = sums[:, 2 : 2 + v]
    rating_counts = value_counts.sum(axis=1, keepdims=True)
    return agreement, value_counts / rating_counts


def _fleiss(sums: FloatArray, values: FloatArray) -> FloatArray:
    """Fleiss' kappa of draws, (draws,), from their sums, (draws, 2 + v + v²)."""
    agreement, shares = _shares(sums, len(values))
    chance = (shares**2).sum(axis=1)
    # Where all ratings of a draw are the same, chance agrees as much, and kappa is undefined.
    with np.errstate(invalid="ignore", divide="ignore"):
        kappas = (agreement - chance) / (1 - chance)
    return np.where(chance < 1, kappas, np.nan)


def _agreement(
    ratings: ArrayLike,
    figure: Figure,
    clusters: Clusters | None,
) -> Agreement:
    """A figure and its interval: percentiles over draws of texts, or by leaving clusters out.

    Of clusters of several texts the percentiles cover too little where few clusters weigh most.
    """
    array = np.asarray(ratings, np.float64)
    is_paired = (~np.isnan(array)).sum(axis=1) >= FEWEST_RATINGS
    if not is_paired.any():
        return Agreement(math.nan, UNKNOWN, 0)

    rated = _rated_texts(array, is_paired)
    n = len(rated.counts)
    total = rated.terms.sum(axis=0, keepdims=True)
    value = float(figure(total, rated.values)[0])
    units = Clusters.single(n) if clusters is None else clusters.at(is_paired)
    if math.isnan(value) or not _has_enough(rated, units):
        return Agreement(value, UNKNOWN, n)

    if not units.whole:
        return Agreement(value, _interval_of_clusters(value, rated, figure, units), n)
    drawn = _resampled(rated.terms)
    low, high = np.nanpercentile(figure(drawn, rated.values), (_TAIL, 100 - _TAIL))
    return Agreement(value, (float(low), float(high)), n)


def _interval_of_clusters(
    value: float,
    rated: RatedTexts,
    figure: Figure,
    units: Clusters,
) -> Interval:
    """The interval of a figure from leaving out each cluster once (Student's and Hall's, the wider)."""
    sums = np.column_stack([units.sums(column) for column in rated.terms.T])
    values = figure(sums.sum(axis=0) - sums, rated.values)
    count = units.count
    # The interval divides by the weight of the remaining clusters, as leaving one out has done already.
    influence = (values.mean() - values) * (1 - 1 / count)
    low, high = skewed_interval(value, influence, Clusters.single(count))
    if math.isnan(low):
        return UNKNOWN
    return low, min(high, 1.0)


def _rated_texts(ratings: FloatArray, is_paired: BoolArray) -> RatedTexts:
    """What all figures are made of, from ratings (texts, raters)."""
    values = np.unique(ratings[~np.isnan(ratings)])
    paired_ratings = ratings[is_paired]
    is_value = paired_ratings[:, :, None] == values  # (n, raters, v)
    counts = is_value.sum(axis=1).astype(np.float64)
    totals = counts.sum(axis=1)
    n = len(counts)

    # Ordered pairs of two different ratings of one text, (n, v, v): no rating is paired with itself.
    products = counts[:, :, None] * counts[:, None]
    with_itself = counts[:, :, None] * np.eye(len(values))
    pairs = products - with_itself
    equal_pairs = np.trace(pairs, axis1=1, axis2=2)
    agreement = equal_pairs / (totals * (totals - 1))
    # Each rating counts once in the coincidence matrix, however many others it is paired with.
    further_ratings = totals - 1
    coincidences = (pairs / further_ratings[:, None, None]).reshape(n, -1)
    terms = np.column_stack([agreement, np.ones(n), counts, coincidences])
    return RatedTexts(values, counts, terms)


def _has_enough(rated: RatedTexts, units: Clusters) -> bool:
    """Whether there are enough clusters, and enough texts with a rarer rating, for an interval to cover."""
    if units.count < FEWEST:
        return False
    commonest = rated.counts.sum(axis=0).argmax()
    rarer_counts = np.delete(rated.counts, commonest, axis=1)
    has_rarer = (rarer_counts > 0).any(axis=1)
    return int(has_rarer.sum()) >= RARER


def _resampled(terms: FloatArray) -> FloatArray:
    """The sums of `DRAWS` draws of texts with replacement, (draws, sums), from terms (n, sums)."""
    # Only how often each kind of text is drawn matters; rounding makes texts of one kind equal.
    kinds, frequencies = np.unique(terms.round(9), axis=0, return_counts=True)
    random = np.random.default_rng(0)
    draws = random.multinomial(len(terms), frequencies / len(terms), DRAWS)
    drawn: FloatArray = draws @ kinds
    return drawn
