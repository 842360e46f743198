"""Figures of symptom models (PsySym, sections 5.2 and 5.3): means over symptoms, errors of the status."""

import math
from collections.abc import Sequence

import numpy as np

from psycheck.statistics.classification import FloatArray
from psycheck.statistics.clustered import Clusters, mean_interval, skewed_interval
from psycheck.statistics.intervals import UNKNOWN, Interval


def mean_figure(
    figures: Sequence[tuple[float, FloatArray]], clusters: Clusters
) -> tuple[float, int, Interval]:
    """The mean of the figures that are defined, how many these are, and its interval.

    A figure comes with the influence of each sentence on it, (n,).
    """
    values: list[float] = []
    influences: list[FloatArray] = []
    for value, influence in figures:
        # A symptom without a sentence that shows it has no recall: it is left out and not counted as 0.
        if not math.isnan(value):
            values.append(value)
            influences.append(influence)
    if not values:
        return math.nan, 0, UNKNOWN

    mean = float(np.mean(values))
    # The symptoms of one sentence vary together, as its mean influence on all of them takes into account.
    mean_influence = np.mean(influences, axis=0)
    low, high = skewed_interval(mean, mean_influence, clusters)
    return mean, len(values), (max(low, 0.0), min(high, 1.0))


def status_errors(targets: FloatArray, predicted: FloatArray) -> dict[str, FloatArray]:
    """Absolute errors of the status of each sentence, (n,): of the model, and of what bounds it.

    "constant" predicts the mean share; "annotator" is the error expected of one of the annotators, who says
    1 with probability t and 0 otherwise: t (1 − t) + (1 − t) t.
    """
    of_model = np.abs(predicted - targets)
    of_constant = np.abs(targets.mean() - targets)
    of_annotator = 2 * targets * (1 - targets)
    return {
        "model": of_model,
        "constant": of_constant,
        "annotator": of_annotator,
    }


def mean_error(errors: FloatArray, clusters: Clusters) -> tuple[float, Interval]:
    """The mean of absolute errors, (n,), and its interval."""
    # An absolute error is never below 0, and its interval is not either.
    interval = mean_interval(errors, clusters, low=0.0)
    return float(errors.mean()), interval
