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
    known = [one for one in figures if not math.isnan(one[0])]
    if not known:
        return math.nan, 0, UNKNOWN
    mean = float(np.mean([value for value, _ in known]))
    low, high = skewed_interval(mean, np.mean([influence for _, influence in known], axis=0), clusters)
    return mean, len(known), (max(low, 0.0), min(high, 1.0))


def status_errors(targets: FloatArray, predicted: FloatArray) -> dict[str, FloatArray]:
    """Absolute errors of the status of each sentence, (n,): of the model, and of what bounds it.

    "constant" predicts the mean share; "annotator" is the error expected of one of the annotators, who says
    1 with probability t and 0 otherwise: t (1 − t) + (1 − t) t.
    """
    return {
        "model": np.abs(predicted - targets),
        "constant": np.abs(targets.mean() - targets),
        "annotator": 2 * targets * (1 - targets),
    }


def mean_error(errors: FloatArray, clusters: Clusters) -> tuple[float, Interval]:
    """The mean of absolute errors, (n,), and its interval."""
    return float(errors.mean()), mean_interval(errors, clusters, low=0.0)
