"""Intervals of the figures of one label, and the influence of each text on those that are compared.

Targets and scores are 0..1, (n,), NaN where unknown.
"""

import math
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike

from psycheck.statistics.classification import (
    BoolArray,
    FloatArray,
    auc_influence,
    average_precision_influence,
    gold,
    usable,
)
from psycheck.statistics.clustered import (
    Clusters,
    combined_interval,
    figure_interval,
    ratio_interval,
)
from psycheck.statistics.intervals import UNKNOWN, Interval


def classification_intervals(
    targets: FloatArray,
    scores: FloatArray,
    clusters: Clusters,
    threshold: float = 0.5,
    decided: FloatArray | None = None,
) -> dict[str, Interval]:
    """Intervals of the figures of one label, targets and scores (n,), NaN where unknown.

    `decided` are the predictions, 0 or 1, where the threshold alone does not make them.
    The expected calibration error has none: chance alone makes it larger, by an amount that depends on the
    unknown curve, and no method tried covers in 93 % of corpora.
    """
    is_usable = usable(targets, scores)
    if not is_usable.any():
        return {}
    positive = gold(targets[is_usable])
    answered = scores[is_usable]
    called = answered >= threshold if decided is None else decided[is_usable] == 1
    units = clusters.at(is_usable)

    intervals = _rate_intervals(positive, called, units)
    intervals["brier"] = _brier_interval(targets[is_usable], answered, units)
    if positive.any():
        hits = (positive & called).astype(np.float64)
        errors = (positive != called).astype(np.float64)
        intervals["f1"] = f1_interval(hits, errors, units)
    if positive.any() and not positive.all():
        intervals |= _two_class_intervals(positive, called, units)
        intervals |= _ranking_intervals(positive, answered, units)
    return intervals


def _rate_intervals(
    positive: BoolArray,
    called: BoolArray,
    clusters: Clusters,
) -> dict[str, Interval]:
    """Intervals of the figures that are proportions of texts, marks (n,)."""
    n = len(positive)
    hits = (positive & called).astype(np.float64)
    errors = (positive != called).astype(np.float64)
    accuracy = ratio_interval(1 - errors, np.ones(n), clusters)
    return {
        "accuracy": accuracy,
        "precision": ratio_interval(hits, called, clusters),
        "recall": ratio_interval(hits, positive, clusters),
        # One minus the accuracy, so its ends change places.
        "hard_brier": (1 - accuracy[1], 1 - accuracy[0]),
    }


def _brier_interval(
    targets: FloatArray,
    scores: FloatArray,
    clusters: Clusters,
) -> Interval:
    """The interval of the mean squared error of scores, (n,), against targets, which may be soft."""
    squared_errors = (scores - targets) ** 2
    mean = float(squared_errors.mean())
    influence = (squared_errors - mean) / len(squared_errors)
    return figure_interval(
        value=mean,
        influence=influence,
        counted=clusters,
        clusters=clusters,
    )


def _two_class_intervals(
    positive: BoolArray,
    called: BoolArray,
    clusters: Clusters,
) -> dict[str, Interval]:
    """Intervals of the figures that join what is measured for either class, marks (n,)."""
    hits = (positive & called).astype(np.float64)
    correct_rejections = (~positive & ~called).astype(np.float64)
    errors = (positive != called).astype(np.float64)
    f1_of_1 = F1.of(hits, errors)
    f1_of_0 = F1.of(correct_rejections, errors)
    # The mean of two figures is not a figure of Wilson's; from the two intervals it inherits their shape.
    macro_f1 = combined_interval(
        values=(f1_of_1.value, f1_of_0.value),
        intervals=(f1_interval(hits, errors, clusters), f1_interval(correct_rejections, errors, clusters)),
        weights=(0.5, 0.5),
        influences=(f1_of_1.influence, f1_of_0.influence),
        clusters=clusters,
    )
    return {
        "macro_f1": macro_f1,
        "weighted_precision": _weighted_precision_interval(positive, called, clusters),
        "weighted_f1": _weighted_f1_interval(
            positive=positive,
            f1_of_1=f1_of_1,
            f1_of_0=f1_of_0,
            clusters=clusters,
        ),
        "hard_auc": _hard_auc_interval(positive, called, clusters),
    }


def _weighted_precision_interval(
    positive: BoolArray,
    called: BoolArray,
    clusters: Clusters,
) -> Interval:
    """The interval of the precision of both classes by their numbers of texts; NaN if one is never called."""
    if called.all() or not called.any():
        return UNKNOWN
    n = len(positive)
    called_1 = called.sum()
    called_0 = (~called).sum()
    precision_of_1 = float((positive & called).sum() / called_1)
    precision_of_0 = float((~positive & ~called).sum() / called_0)
    share = float(positive.mean())
    # Each class moves by its texts that are called so: the share of these that are right is its precision.
    moves_of_1 = share * called * (positive - precision_of_1) / called_1
    moves_of_0 = (1 - share) * ~called * (~positive - precision_of_0) / called_0
    # A text also moves the weights of the two classes.
    moves_of_weights = (precision_of_1 - precision_of_0) * (positive - share) / n
    influence = moves_of_1 + moves_of_0 + moves_of_weights
    value = share * precision_of_1 + (1 - share) * precision_of_0
    return figure_interval(
        value=value,
        influence=influence,
        counted=clusters,
        clusters=clusters,
    )


def _weighted_f1_interval(
    positive: BoolArray,
    f1_of_1: "F1",
    f1_of_0: "F1",
    clusters: Clusters,
) -> Interval:
    """The interval of the F1 of both classes by their numbers of texts, marks (n,)."""
    n = len(positive)
    share = float(positive.mean())
    # The classes weigh as much as they have texts, and these weights are estimated, too.
    moves_of_figures = share * f1_of_1.influence + (1 - share) * f1_of_0.influence
    moves_of_weights = (f1_of_1.value - f1_of_0.value) * (positive - share) / n
    value = share * f1_of_1.value + (1 - share) * f1_of_0.value
    return figure_interval(
        value=value,
        influence=moves_of_figures + moves_of_weights,
        counted=clusters,
        clusters=clusters,
    )


def _hard_auc_interval(
    positive: BoolArray,
    called: BoolArray,
    clusters: Clusters,
) -> Interval:
    """The interval of the mean of sensitivity and specificity, marks (n,)."""
    positives = positive.sum()
    negatives = (~positive).sum()
    sensitivity = float((positive & called).sum() / positives)
    specificity = float((~positive & ~called).sum() / negatives)
    moves_of_1 = positive * (called - sensitivity) / positives
    moves_of_0 = ~positive * (~called - specificity) / negatives
    return figure_interval(
        value=(sensitivity + specificity) / 2,
        influence=(moves_of_1 + moves_of_0) / 2,
        counted=clusters.at(rarer_class(positive)),
        clusters=clusters,
        weights=equal_class_weights(positive),
    )


def _ranking_intervals(
    positive: BoolArray,
    scores: FloatArray,
    clusters: Clusters,
) -> dict[str, Interval]:
    """Intervals of AUC and average precision, marks and scores (n,)."""
    area, area_influence = auc_influence(positive, scores)
    precision, precision_influence = average_precision_influence(positive, scores)
    return {
        "auc": figure_interval(
            value=area,
            influence=area_influence,
            counted=clusters.at(rarer_class(positive)),
            clusters=clusters,
            weights=equal_class_weights(positive),
        ),
        # It is a mean over the texts annotated 1, so that these alone make it certain.
        "average_precision": figure_interval(
            value=precision,
            influence=precision_influence,
            counted=clusters.at(positive),
            clusters=clusters,
            weights=positive.astype(np.float64),
        ),
    }


def rarer_class(positive: BoolArray) -> BoolArray:
    """The texts of the class with fewer texts, (n,): a figure of both classes is as uncertain as theirs."""
    negative = ~positive
    if positive.sum() <= negative.sum():
        return positive
    return negative


def equal_class_weights(positive: BoolArray) -> FloatArray:
    """The weight of each text, (n,), where each class weighs a half in all."""
    weight_of_positive = 1 / float(positive.sum())
    weight_of_negative = 1 / float((~positive).sum())
    return np.where(positive, weight_of_positive, weight_of_negative)


def figure_influences(
    targets: FloatArray,
    scores: FloatArray,
    threshold: float,
) -> dict[str, tuple[float, FloatArray]]:
    """F1, macro-F1 and AUC of one label, NaN where undefined, and the influence of each text on it, (n,)."""
    is_usable = usable(targets, scores)
    figures = _defined_figures(gold(targets[is_usable]), scores[is_usable], threshold)

    influences: dict[str, tuple[float, FloatArray]] = {}
    for name in ("f1", "macro_f1", "auc"):
        value = math.nan
        # Texts that are not usable move nothing, but keep their rows: the caller's clusters are of all texts.
        influence = np.zeros(len(targets))
        if name in figures:
            value, influence[is_usable] = figures[name]
        influences[name] = value, influence
    return influences


def _defined_figures(
    positive: BoolArray,
    scores: FloatArray,
    threshold: float,
) -> dict[str, tuple[float, FloatArray]]:
    """Those of F1, macro-F1 and AUC for which there are texts, with the influence of each text, (n,)."""
    called = scores >= threshold
    errors = (positive != called).astype(np.float64)
    f1_of_1 = F1.of((positive & called).astype(np.float64), errors)
    value_of_1 = f1_of_1.value if positive.any() else math.nan
    figures = {"f1": (value_of_1, f1_of_1.influence)}
    if positive.all() or not positive.any():
        return figures

    f1_of_0 = F1.of((~positive & ~called).astype(np.float64), errors)
    # Both classes count the same, however rare one is.
    mean = (f1_of_1.value + f1_of_0.value) / 2
    mean_influence = (f1_of_1.influence + f1_of_0.influence) / 2
    figures["macro_f1"] = mean, mean_influence
    figures["auc"] = auc_influence(positive, scores)
    return figures


def f1_interval(
    hits: ArrayLike,
    wrong: ArrayLike,
    clusters: Clusters,
) -> Interval:
    """The interval of F1 = 2 tp / (2 tp + fp + fn); `hits` marks true positives, `wrong` both errors, (n,).

    F1 rises with tp / (tp + fp + fn), a proportion, so the ends of that proportion's interval give its ends.
    """
    tp = np.asarray(hits, np.float64)
    errors = np.asarray(wrong, np.float64)
    low, high = ratio_interval(tp, tp + errors, clusters)
    # Of a proportion p = tp / (tp + errors), F1 is 2 p / (1 + p).
    f1_low = 2 * low / (1 + low)
    f1_high = 2 * high / (1 + high)
    return f1_low, f1_high


@dataclass(frozen=True, slots=True)
class F1:
    """F1 = 2 tp / (2 tp + fp + fn), and the influence of each text on it, (n,)."""

    value: float
    influence: FloatArray

    @classmethod
    def of(
        cls,
        hits: FloatArray,
        wrong: FloatArray,
    ) -> "F1":
        """From the marks of true positives and of both errors, (n,)."""
        weights = 2 * hits + wrong
        total = float(weights.sum())
        value = 2 * float(hits.sum()) / total if total else 0.0
        # Of a ratio: what a text adds above, less what it adds below times the ratio, over the sum below.
        influence = (2 * hits - value * weights) / max(total, 1.0)
        return cls(value, influence)
