"""Figures of a model on dev and test, from scores and annotations alone; the threshold chosen on dev."""

import math
from collections.abc import Mapping

import numpy as np

from psycheck.measures import classification as measures
from psycheck.measures.calibration import brier
from psycheck.measures.classification import confusion, gold, usable
from psycheck.model import FloatArray

_OF_COUNTS = (measures.accuracy, measures.f1, measures.macro_f1, measures.precision, measures.recall)
BY_COUNTS = {measure.__name__: measure for measure in _OF_COUNTS}
NAMES = (*BY_COUNTS, "brier", "auc")


def figures(targets: FloatArray, scores: FloatArray, labels: tuple[str, ...]) -> dict[str, float]:
    """Measure scores (n, k) against annotations (n, k), NaN where not annotated.

    Annotations and scores of 0.5 or more count as positive; Brier score and loss use the annotation itself,
    soft or hard. With several labels the plain name is the mean over labels and `name:label` the value of one
    label; `loss` is the mean over all annotations. Undefined values (such as precision without a positive
    decision) are NaN and excluded from means.
    """
    own = [_one(targets[:, k], scores[:, k]) for k in range(len(labels))]
    out = {}
    for name in NAMES:
        known = [one[name] for one in own if not math.isnan(one[name])]
        out[name] = sum(known) / len(known) if known else math.nan
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


def best_threshold(targets: FloatArray, scores: FloatArray) -> float:
    """The threshold with the highest macro-F1 on these texts, targets and scores (n,).

    Scores at the threshold count as positive. The candidates are 0.5, the midpoints between neighbouring
    scores and a value beyond each end; of equal ones the closest to 0.5 wins. It is 0.5 if dev has one class.
    """
    known = usable(targets, scores)
    yes, values = gold(targets[known]), scores[known]
    if not yes.any() or yes.all():
        return 0.5
    order = np.argsort(values, kind="stable")
    values, yes = values[order], yes[order]
    levels = np.unique(values)
    inner = (levels[1:] + levels[:-1]) / 2
    above = max((levels[-1] + 1) / 2, np.nextafter(levels[-1], 2.0))  # also above a score of 1
    cuts = np.unique(np.concatenate([[levels[0] / 2, above, 0.5], inner]))
    below = np.searchsorted(values, cuts, "left")  # texts below each threshold
    missed = np.concatenate([[0], np.cumsum(yes)])[below].astype(np.float64)
    right_no = below - missed
    positive, negative = float(yes.sum()), float((~yes).sum())
    found, alarms = positive - missed, negative - right_no
    wrong = missed + alarms
    macro = found / (2 * found + wrong) + right_no / (2 * right_no + wrong)
    best = cuts[macro >= macro.max() - 1e-12]
    return float(best[np.argmin(np.abs(best - 0.5))])


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
    table = confusion(targets, scores)
    return {
        **{name: measure(table).value for name, measure in BY_COUNTS.items()},
        "brier": brier(targets, scores),
        "auc": measures.auc(targets, scores).value,
    }
