"""Calibration: whether scores can be read as probabilities.

Targets and scores are 0..1, (n,); NaN is left out. Brier and log loss use soft targets as they are; the bins
count a target of at least 0.5 as annotated 1.
"""

import math
from dataclasses import dataclass

import numpy as np

from psycheck.statistics.classification import FloatArray, IntArray, gold, usable

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
    known = usable(targets, scores)
    return float(np.mean((scores[known] - targets[known]) ** 2)) if known.any() else math.nan


def log_loss(targets: FloatArray, scores: FloatArray) -> float:
    """The mean negative log-likelihood of the scores; natural logarithm, probabilities not below 1e-15."""
    yes, no = np.log(np.maximum(scores, CLIP)), np.log(np.maximum(1 - scores, CLIP))
    losses = -(targets * yes + (1 - targets) * no)[usable(targets, scores)]
    return float(np.mean(losses)) if len(losses) else math.nan


def bin_of(scores: FloatArray, bins: int = BINS) -> IntArray:
    """The bin of each score, 0..bins − 1, of equal width."""
    edges = np.arange(1, bins) / bins
    return np.searchsorted(edges, scores, side="right")


def reliability(targets: FloatArray, scores: FloatArray, bins: int = BINS) -> tuple[Bin, ...]:
    """The reliability curve: in each bin the mean score and the share annotated 1; NaN in an empty bin."""
    known = usable(targets, scores)
    yes, answered = gold(targets[known]), scores[known]
    at = bin_of(answered, bins)
    sizes = np.bincount(at, minlength=bins)
    positives = np.bincount(at, weights=yes, minlength=bins)
    sums = np.bincount(at, weights=answered, minlength=bins)
    return tuple(
        Bin(
            lower=b / bins,
            upper=(b + 1) / bins,
            n=int(n),
            positive=int(positives[b]),
            mean_score=float(sums[b] / n) if n else math.nan,
            share=float(positives[b] / n) if n else math.nan,
        )
        for b, n in enumerate(sizes)
    )


def expected_calibration_error(targets: FloatArray, scores: FloatArray, bins: int = BINS) -> float:
    """The mean distance between mean score and share annotated 1 over the bins, weighted by texts."""
    curve = [b for b in reliability(targets, scores, bins) if b.n]
    n = sum(b.n for b in curve)
    return sum(b.n * abs(b.mean_score - b.share) for b in curve) / n if n else math.nan


def calibration_noise(
    targets: FloatArray, scores: FloatArray, *, resamples: int = 1_000, seed: int = 0
) -> float:
    """The expected calibration error that 95 % of perfectly calibrated models with these scores stay below.

    Even they are above 0, by chance alone, and the more so the fewer texts there are: each bin draws as many
    1s as its mean score says (consistency resampling, Bröcker and Smith 2007).
    """
    curve = [b for b in reliability(targets, scores) if b.n]
    if not curve:
        return math.nan
    sizes = np.array([b.n for b in curve])
    expected = np.array([b.mean_score for b in curve])
    drawn = np.random.default_rng(seed).binomial(sizes, np.clip(expected, 0.0, 1.0), (resamples, len(curve)))
    errors = np.abs(drawn - sizes * expected).sum(axis=1) / sizes.sum()
    return float(np.quantile(errors, 0.95))
