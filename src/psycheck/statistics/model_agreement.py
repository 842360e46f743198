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
    first_decisions = np.asarray(first, np.float64)
    second_decisions = np.asarray(second, np.float64)
    if first_decisions.shape != second_decisions.shape:
        shapes = f"{first_decisions.shape} and {second_decisions.shape}"
        raise ValueError(f"pairs need equal shapes, not {shapes}")
    n = len(first_decisions)
    if n == 0:
        return math.nan, np.zeros(0)

    is_equal = first_decisions == second_decisions
    first_rate = float(first_decisions.mean())
    second_rate = float(second_decisions.mean())
    agreement = float(is_equal.mean())

    # Kappa is 1 less the disagreement that is seen, as a share of what chance alone would make of the rates.
    seen = 1 - agreement
    by_chance = first_rate * (1 - second_rate) + second_rate * (1 - first_rate)
    if not by_chance > 0:
        return math.nan, np.zeros(n)
    kappa = 1 - seen / by_chance

    # A text moves kappa through the agreement, and through both rates, which set what chance would make.
    first_moves = (1 - 2 * second_rate) * (first_decisions - first_rate)
    second_moves = (1 - 2 * first_rate) * (second_decisions - second_rate)
    chance_moves = first_moves + second_moves
    through_agreement = (is_equal - agreement) / by_chance
    through_chance = seen / by_chance**2 * chance_moves
    return kappa, (through_agreement + through_chance) / n


def kappa_interval(
    first: ArrayLike,
    second: ArrayLike,
    clusters: Clusters,
) -> Interval:
    """The interval of Cohen's kappa: Wilson's of (1 + κ) / 2, for the rarer decision of either model."""
    first_positive = np.asarray(first, bool)
    second_positive = np.asarray(second, bool)
    kappa, influence = cohen_kappa(first_positive, second_positive)
    if math.isnan(kappa):
        return UNKNOWN

    any_positive = first_positive | second_positive
    any_negative = ~first_positive | ~second_positive
    # Kappa rests on the texts with the rarer decision: many common ones do not make it more certain.
    rarer = min((any_positive, any_negative), key=np.count_nonzero)
    # Kappa lies in -1..1, so that its place in that range is a figure in 0..1, as Wilson's interval needs.
    low, high = figure_interval(
        value=(1 + kappa) / 2,
        influence=influence / 2,
        counted=clusters.at(rarer),
        clusters=clusters,
    )
    return 2 * low - 1, 2 * high - 1
