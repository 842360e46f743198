"""Figures of a model on dev and test, from scores and annotations alone."""

import math
from collections.abc import Mapping

import numpy as np

from psycheck.measures.classification import (
    accuracy,
    auc,
    confusion,
    f1,
    macro_f1,
    precision,
    recall,
    usable,
)
from psycheck.model import FloatArray

NAMES = ("accuracy", "f1", "macro_f1", "precision", "recall", "brier", "auc")


def figures(targets: FloatArray, scores: FloatArray, labels: tuple[str, ...]) -> dict[str, float]:
    """Measure scores (n, k) against annotations (n, k), NaN where not annotated.

    Annotations and scores of 0.5 or more count as positive; Brier score and loss use the annotation itself,
    soft or hard. With several labels the plain name is the mean over labels and `name:label` the value of one
    label; `loss` is the mean over all annotations. Undefined values (such as precision without a positive
    decision) are NaN and excluded from means.
    """
    own = [_one(targets[:, k], scores[:, k]) for k in range(len(labels))]
    out = {name: _mean([one[name] for one in own]) for name in NAMES}
    out["loss"] = loss(targets, scores)
    out["n"] = float((~np.isnan(targets).all(axis=1)).sum())
    if len(labels) > 1:
        for label, one in zip(labels, own, strict=True):
            out |= {f"{name}:{label}": value for name, value in one.items()}
    return out


def loss(targets: FloatArray, scores: FloatArray) -> float:
    """The mean cross-entropy over all annotations, without class weights."""
    known = ~np.isnan(targets)
    t = targets[known]
    p = np.clip(scores[known], 1e-7, 1 - 1e-7)
    return float(-(t * np.log(p) + (1 - t) * np.log1p(-p)).mean()) if len(t) else math.nan


def merit(found: Mapping[str, float], criterion: str) -> float:
    """The figure that a recipe's criterion names, so that higher is better."""
    value = found[criterion.removeprefix("dev_")]
    return value if criterion == "dev_f1" else -value


def format_figure(found: Mapping[str, float], name: str) -> str:
    """Format a figure; an undefined one is a dash with the reason."""
    value = found[name]
    if math.isnan(value):
        return f"– ({why_undefined(found, name)})"
    return f"{value:,.0f}" if name == "n" else f"{value:.3f}"


def why_undefined(found: Mapping[str, float], name: str) -> str:
    """Why a figure could not be computed, inferred from the other figures of its label."""
    measure, colon, label = name.partition(":")

    def lacks(other: str) -> bool:
        return math.isnan(found.get(f"{other}{colon}{label}", math.nan))

    if lacks("accuracy"):
        return "no annotated text has a score"
    if measure == "precision":
        return "no text scores 0.5 or more"
    return "no text is annotated 1" if lacks("recall") else "all texts are annotated 1"


def _one(targets: FloatArray, scores: FloatArray) -> dict[str, float]:
    """The figures of one label, defined where an audit's are."""
    known = usable(targets, scores)
    if not known.any():
        return dict.fromkeys(NAMES, math.nan)
    table = confusion(targets, scores)
    return {
        "accuracy": accuracy(table).value,
        "f1": f1(table).value,
        "macro_f1": macro_f1(table).value,
        "precision": precision(table).value,
        "recall": recall(table).value,
        "brier": float(((scores[known] - targets[known]) ** 2).mean()),
        "auc": auc(targets, scores).value,
    }


def _mean(values: list[float]) -> float:
    known = [value for value in values if not math.isnan(value)]
    return sum(known) / len(known) if known else math.nan
