"""Figures of a model on dev and test, from scores and annotations alone."""

import math
from collections.abc import Mapping, Sequence

import numpy as np

from psycheck.core.arrays import FloatArray
from psycheck.statistics import classification as measures
from psycheck.statistics.calibration import brier
from psycheck.statistics.classification import confusion

_MEASURES_OF_COUNTS = (
    measures.accuracy,
    measures.f1,
    measures.macro_f1,
    measures.precision,
    measures.recall,
)
BY_COUNTS = {measure.__name__: measure for measure in _MEASURES_OF_COUNTS}
NAMES = (*BY_COUNTS, "brier", "auc")


def figures(targets: FloatArray, scores: FloatArray, labels: tuple[str, ...]) -> dict[str, float]:
    """Measure scores (n, k) against annotations (n, k), NaN where not annotated.

    Annotations and scores of 0.5 or more count as positive; Brier score and loss use the annotation itself,
    soft or hard. With several labels the plain name is the mean over labels and `name:label` the value of one
    label; `loss` is the mean over all annotations. Undefined values (such as precision without a positive
    decision) are NaN and excluded from means.
    """
    figures_by_label = []
    for label_targets, label_scores in zip(targets.T, scores.T, strict=True):
        figures_by_label.append(_figures_of_label(label_targets, label_scores))

    result = {}
    for name in NAMES:
        values = [label_figures[name] for label_figures in figures_by_label]
        result[name] = _mean_of_defined(values)
    result["loss"] = loss(targets, scores)
    has_annotation = ~np.isnan(targets).all(axis=1)
    result["n"] = float(has_annotation.sum())

    # Of a single label, the plain names say it all.
    if len(labels) > 1:
        for label, label_figures in zip(labels, figures_by_label, strict=True):
            for name, value in label_figures.items():
                result[f"{name}:{label}"] = value
    return result


def _mean_of_defined(values: Sequence[float]) -> float:
    defined = [value for value in values if not math.isnan(value)]
    if not defined:
        return math.nan
    return sum(defined) / len(defined)


def _figures_of_label(targets: FloatArray, scores: FloatArray) -> dict[str, float]:
    """The figures of one label, defined where an audit's are."""
    table = confusion(targets, scores)
    by_counts = {name: measure(table).value for name, measure in BY_COUNTS.items()}
    return {
        **by_counts,
        "brier": brier(targets, scores),
        "auc": measures.auc(targets, scores).value,
    }


def loss(targets: FloatArray, scores: FloatArray) -> float:
    """The mean cross-entropy over all annotations, without class weights."""
    annotated = ~np.isnan(targets)
    if not annotated.any():
        return math.nan
    target = targets[annotated]
    # A certain and wrong score would cost infinitely much.
    chance = np.clip(scores[annotated], 1e-7, 1 - 1e-7)
    gain_of_yes = target * np.log(chance)
    gain_of_no = (1 - target) * np.log1p(-chance)
    cross_entropy = -(gain_of_yes + gain_of_no)
    return float(cross_entropy.mean())


def merit(dev_figures: Mapping[str, float], criterion: str) -> float:
    """The figure that a recipe's criterion names, so that higher is better."""
    value = dev_figures[criterion.removeprefix("dev_")]
    # F1 is better where it is higher, loss where it is lower.
    return value if criterion == "dev_f1" else -value


def format_figure(all_figures: Mapping[str, float], name: str) -> str:
    """Format a figure; an undefined one is a dash with the reason."""
    value = all_figures[name]
    if math.isnan(value):
        return f"– ({why_undefined(all_figures, name)})"
    if name == "n":
        return f"{value:,.0f}"
    return f"{value:.3f}"


def why_undefined(all_figures: Mapping[str, float], name: str) -> str:
    """Why a figure could not be computed, inferred from the other figures of its label."""
    measure, colon, label = name.partition(":")

    def is_undefined(other_measure: str) -> bool:
        name_of_other = f"{other_measure}{colon}{label}"
        return math.isnan(all_figures.get(name_of_other, math.nan))

    if is_undefined("accuracy"):
        return "no annotated text has a score"
    if measure == "precision":
        return "no text scores 0.5 or more"
    if is_undefined("recall"):
        return "no text is annotated 1"
    return "all texts are annotated 1"
