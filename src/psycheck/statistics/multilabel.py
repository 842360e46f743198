"""Figures over several labels at once, as ANGST 5.2 reports them, with their intervals.

Annotations and predictions are (n, k); `known` marks where both are known. A label weighs as many texts as
are annotated 1 with it. An undefined value is NaN with a flag for the reason (`measures.classification`).
"""

from collections.abc import Sequence
from itertools import compress

import numpy as np

from psycheck.statistics.classification import F1, BoolArray, FloatArray, Measured, firm, gold
from psycheck.statistics.clustered import Clusters, figure_interval, ratio_interval
from psycheck.statistics.intervals import UNKNOWN, Interval

NONE = "none"


def label_figures(
    yes: BoolArray, called: BoolArray, known: BoolArray, clusters: Clusters
) -> dict[str, tuple[Measured, int, Interval]]:
    """Each figure by its name, with its n and interval.

    Hamming loss (share of wrong marks), exact match (texts with every mark right), the mean F1 of the labels,
    and precision, recall and F1 of the labels weighted by their positive texts.
    """
    wrong = ((yes != called) & known).astype(np.float64)
    marks, whole = int(known.sum()), known.all(axis=1)
    right = whole & ~wrong.any(axis=1)
    nothing = Measured(np.nan, ("no_texts",))
    hamming = Measured(float(wrong.sum() / marks)) if marks else nothing
    exact = Measured(float(right.sum() / whole.sum())) if whole.any() else nothing
    return {
        "hamming": (hamming, marks, ratio_interval(wrong.sum(axis=1), known.sum(axis=1), clusters)),
        "exact_match": (exact, int(whole.sum()), ratio_interval(right, whole, clusters)),
        **_over_labels(yes & known, called & known, wrong, clusters),
    }


def _over_labels(
    yes: BoolArray, called: BoolArray, wrong: FloatArray, clusters: Clusters
) -> dict[str, tuple[Measured, int, Interval]]:
    used = [k for k in range(yes.shape[1]) if yes[:, k].any()]
    names = ("macro_f1", "weighted_precision", "weighted_recall", "weighted_f1")
    missing = ("labels_without_positive",) if len(used) < yes.shape[1] else ()
    if not used:
        nothing = Measured(np.nan, missing), 0, UNKNOWN
        return {f"{name}_across_labels": nothing for name in names}
    y, c = (marks[:, used].astype(np.float64) for marks in (yes, called))
    hits, weight = y * c, y.sum(axis=0) / y.sum()
    f1 = [F1.of(hits[:, i], wrong[:, k]) for i, k in enumerate(used)]
    values = np.array([one.value for one in f1])
    influences = np.column_stack([one.influence for one in f1])
    found = {
        "macro_f1": (float(values.mean()), influences.mean(axis=1), missing),
        "weighted_f1": (*_weighted(values, influences, y, weight), missing),
    }
    for name, out_of in (("precision", c), ("recall", y)):
        total = out_of.sum(axis=0)
        if not total.all():
            found[f"weighted_{name}"] = np.nan, np.zeros(len(y)), (*missing, "no_predicted_positive")
            continue
        values = hits.sum(axis=0) / total
        influences = (hits - values * out_of) / total
        found[f"weighted_{name}"] = (*_weighted(values, influences, y, weight), missing)
    counted = {"macro_f1": len(used)}
    return {
        f"{name}_across_labels": (
            Measured(found[name][0], found[name][2]),
            counted.get(name, int(y.sum())),
            UNKNOWN if np.isnan(found[name][0]) else figure_interval(*found[name][:2], clusters, clusters),
        )
        for name in names
    }


def _weighted(
    values: FloatArray, influences: FloatArray, yes: FloatArray, weight: FloatArray
) -> tuple[float, FloatArray]:
    """The weighted mean of figures, (k,), and the influence of each text on it, also through the weights."""
    mean = float(values @ weight)
    moved = (yes @ (values - mean)) / yes.sum()
    return mean, influences @ weight + moved


def combinations(
    targets: FloatArray, decided: FloatArray, labels: Sequence[str]
) -> dict[str, tuple[FloatArray, FloatArray]]:
    """Each combination of labels as a class of its own: annotated and predicted as such, each (n,).

    A text without each annotation, or without each answer, is NaN. Of two labels all four combinations are
    listed, of more those that are annotated: "none", "depression", "depression + anxiety" …
    """
    names = [_names(marks, labels) for marks in (firm(targets), decided)]
    every = {name: None for name in names[0] if name is not None}
    if len(labels) == 2:
        every = dict.fromkeys((NONE, *labels, " + ".join(labels)))
    ordered = sorted(every, key=lambda name: (name != NONE, name.count(" + ")))
    first, second = ({one: _as_class(side, one) for one in ordered} for side in names)
    return {one: (first[one], second[one]) for one in ordered}


def _names(marks: FloatArray, labels: Sequence[str]) -> list[str | None]:
    return [
        None if np.isnan(row).any() else " + ".join(compress(labels, gold(row).tolist())) or NONE
        for row in marks
    ]


def _as_class(names: Sequence[str | None], name: str) -> FloatArray:
    return np.array([np.nan if one is None else float(one == name) for one in names])
