"""Calibration: whether scores can be read as probabilities.

Targets and scores are 0..1, (n,); NaN is left out. Soft targets are used as they are: a score of 0.3 is
calibrated where three of ten annotators say 1.
"""

import math
from dataclasses import dataclass

import numpy as np

from psycheck.statistics.classification import (
    FloatArray,
    IntArray,
    gold,
    usable,
)
from psycheck.statistics.clusters import Clusters

BINS = 15
CLIP = 1e-15


@dataclass(frozen=True, slots=True)
class Bin:
    """The texts whose score lies in lower ≤ score < upper (the last bin holds 1 too)."""

    lower: float
    upper: float
    n: int
    positive: int
    mean_score: float
    share: float


def brier(targets: FloatArray, scores: FloatArray) -> float:
    """The mean squared error of the scores."""
    is_usable = usable(targets, scores)
    if not is_usable.any():
        return math.nan
    errors = scores[is_usable] - targets[is_usable]
    return float(np.mean(errors**2))


def log_loss(targets: FloatArray, scores: FloatArray) -> float:
    """The mean negative log-likelihood of the scores; natural logarithm, probabilities not below 1e-15."""
    # A certain answer that is wrong would otherwise make the mean infinite, whatever the others are.
    log_yes = np.log(np.maximum(scores, CLIP))
    log_no = np.log(np.maximum(1 - scores, CLIP))
    log_likelihood = targets * log_yes + (1 - targets) * log_no
    losses = -log_likelihood[usable(targets, scores)]
    if not len(losses):
        return math.nan
    return float(np.mean(losses))


def bin_of(scores: FloatArray, bins: int = BINS) -> IntArray:
    """The bin of each score, 0..bins − 1, of equal width."""
    edges = np.arange(1, bins) / bins
    # A score on an edge belongs to the bin above it; the last bin has no edge above.
    return np.searchsorted(edges, scores, side="right")


def reliability(
    targets: FloatArray,
    scores: FloatArray,
    bins: int = BINS,
) -> tuple[Bin, ...]:
    """The reliability curve: in each bin the mean score and the share annotated 1; NaN in an empty bin.

    The share is the mean of the targets, which may be soft; `positive` counts those above 0.5.
    """
    # Without the targets of exactly 0.5 a calibrated model would look too timid.
    is_usable = ~(np.isnan(targets) | np.isnan(scores))
    annotated = targets[is_usable]
    answered = scores[is_usable]
    bin_numbers = bin_of(answered, bins)
    sizes = np.bincount(bin_numbers, minlength=bins)
    positives = np.bincount(bin_numbers, weights=gold(annotated), minlength=bins)
    target_sums = np.bincount(bin_numbers, weights=annotated, minlength=bins)
    score_sums = np.bincount(bin_numbers, weights=answered, minlength=bins)
    curve = []
    for number, size in enumerate(sizes):
        score_bin = Bin(
            lower=number / bins,
            upper=(number + 1) / bins,
            n=int(size),
            positive=int(positives[number]),
            mean_score=_mean(score_sums[number], size),
            share=_mean(target_sums[number], size),
        )
        curve.append(score_bin)
    return tuple(curve)


def _mean(total: float, n: int) -> float:
    """A mean; NaN of nothing."""
    return float(total / n) if n else math.nan


def expected_calibration_error(
    targets: FloatArray,
    scores: FloatArray,
    bins: int = BINS,
) -> float:
    """The mean distance between mean score and share annotated 1 over the bins, weighted by texts."""
    curve = [score_bin for score_bin in reliability(targets, scores, bins) if score_bin.n]
    n = sum(score_bin.n for score_bin in curve)
    if not n:
        return math.nan
    distances = [abs(score_bin.mean_score - score_bin.share) for score_bin in curve]
    weighted = [score_bin.n * distance for score_bin, distance in zip(curve, distances, strict=True)]
    return sum(weighted) / n


def calibration_noise(
    targets: FloatArray,
    scores: FloatArray,
    clusters: Clusters | None = None,
    *,
    resamples: int = 1_000,
    seed: int = 0,
) -> float:
    """The expected calibration error that 95 % of perfectly calibrated models with these scores stay below.

    Even they are above 0, by chance alone, and the more so the fewer texts there are. Each bin draws as many
    1s as its mean score says (consistency resampling, Bröcker and Smith 2007). Where texts of a cluster may
    be alike, or targets are soft, the errors of the bins are drawn together instead, with the covariance that
    they have between whole clusters.
    """
    is_usable = ~(np.isnan(targets) | np.isnan(scores))
    annotated = targets[is_usable]
    answered = scores[is_usable]
    if not len(annotated):
        return math.nan

    units = Clusters.single(len(annotated)) if clusters is None else clusters.at(is_usable)
    random = np.random.default_rng(seed)
    is_soft = bool(np.any((annotated != 0) & (annotated != 1)))
    if units.whole and not is_soft:
        errors = _errors_of_single_texts(answered, random, resamples)
    else:
        residuals = annotated - answered
        errors = _errors_of_clusters(
            residuals=residuals,
            bin_numbers=bin_of(answered),
            clusters=units,
            random=random,
            resamples=resamples,
        )
    return float(np.quantile(errors, 0.95))


def _errors_of_single_texts(
    scores: FloatArray,
    random: np.random.Generator,
    resamples: int,
) -> FloatArray:
    """Calibration errors by chance, (resamples,), of independent texts that are 1 or 0."""
    bin_numbers = bin_of(scores)
    sizes = np.bincount(bin_numbers, minlength=BINS)
    expected = np.bincount(bin_numbers, weights=scores, minlength=BINS)
    # A mean of scores of 1 may exceed 1 by a rounding error, which is no probability.
    shares = np.clip(expected / np.maximum(sizes, 1), 0.0, 1.0)
    drawn = random.binomial(sizes, shares, (resamples, BINS))
    distances = np.abs(drawn - expected).sum(axis=1)
    errors: FloatArray = distances / len(scores)
    return errors


def _errors_of_clusters(
    residuals: FloatArray,
    bin_numbers: IntArray,
    clusters: Clusters,
    random: np.random.Generator,
    resamples: int,
) -> FloatArray:
    """Calibration errors by chance, (resamples,), with the covariance of the bins between clusters."""
    covariance = np.zeros((BINS, BINS))
    for sign, part in clusters.dimensions():
        # A cell is a bin of a cluster; numbered together, all cells are summed at once.
        cell_numbers = part.codes * BINS + bin_numbers
        cells = np.bincount(cell_numbers, residuals, part.count * BINS)
        sums = cells.reshape(part.count, BINS)
        covariance += sign * (sums.T @ sums)

    # Copies across authors can make the difference of two covariances slightly indefinite.
    variances, directions = np.linalg.eigh(covariance)
    roots = directions * np.sqrt(np.maximum(variances, 0.0))
    drawn = random.standard_normal((resamples, BINS)) @ roots.T
    # Student's instead of normal errors: a variance of few clusters is uncertain itself.
    n = len(residuals)
    freedom = max(clusters.equal(np.ones(n)) - 1, 1.0)
    stretch = np.sqrt(freedom / random.chisquare(freedom, resamples))
    distances = np.abs(drawn).sum(axis=1)
    errors: FloatArray = distances * stretch / n
    return errors
