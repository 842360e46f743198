"""Figures of a model on dev and test, from scores and annotations alone."""

import math

import numpy as np

from psycheck.model import FloatArray

NAMES = ("accuracy", "f1", "macro_f1", "precision", "recall", "brier", "auc")


def figures(targets: FloatArray, scores: FloatArray, labels: tuple[str, ...]) -> dict[str, float]:
    """Measure scores (n, k) against annotations (n, k), NaN where not annotated.

    Texts annotated 0.5 or more count as positive, scores of 0.5 or more as decided so; Brier and loss are
    taken against the annotation itself, soft or hard. With several labels the plain name is the mean over
    labels and `name:label` the label's own; `loss` is the mean over all annotations.
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
    """The mean cross-entropy over what was annotated, without class weights."""
    known = ~np.isnan(targets)
    t = targets[known]
    p = np.clip(scores[known], 1e-7, 1 - 1e-7)
    return float(-(t * np.log(p) + (1 - t) * np.log1p(-p)).mean()) if len(t) else math.nan


def _one(targets: FloatArray, scores: FloatArray) -> dict[str, float]:
    from sklearn.metrics import accuracy_score, f1_score, precision_score, recall_score, roc_auc_score

    known = ~(np.isnan(targets) | np.isnan(scores))
    if not known.any():
        return dict.fromkeys(NAMES, math.nan)
    soft, p = targets[known], scores[known]
    y, decided = soft >= 0.5, p >= 0.5
    return {
        "accuracy": float(accuracy_score(y, decided)),
        "f1": float(f1_score(y, decided, zero_division=0)),
        "macro_f1": float(f1_score(y, decided, average="macro", zero_division=0)),
        "precision": float(precision_score(y, decided, zero_division=0)),
        "recall": float(recall_score(y, decided, zero_division=0)),
        "brier": float(((p - soft) ** 2).mean()),
        "auc": float(roc_auc_score(y, p)) if 0 < y.sum() < len(y) else math.nan,
    }


def _mean(values: list[float]) -> float:
    known = [value for value in values if not math.isnan(value)]
    return sum(known) / len(known) if known else math.nan
