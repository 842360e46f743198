"""Figures over several labels at once, as ANGST 5.2 reports them, with their intervals.

Annotations and predictions are (n, k); `is_known` marks where both are known. A label weighs as many texts as
are annotated 1 with it. An undefined value is NaN with a flag for the reason (`statistics.classification`).
"""

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import compress

import numpy as np

from psycheck.statistics.classification import BoolArray, FloatArray, Measured, firm, gold
from psycheck.statistics.clustered import Clusters, figure_interval, ratio_interval
from psycheck.statistics.intervals import UNKNOWN, Interval
from psycheck.statistics.label_intervals import F1

NONE = "none"
JOINT = " + "
MEANS = ("macro_f1", "weighted_precision", "weighted_recall", "weighted_f1")


Figures = dict[str, tuple[Measured, int, Interval]]
"""Each figure by its name, with the number of texts or marks behind it and its interval."""


@dataclass(frozen=True, slots=True)
class LabelMean:
    """A mean over labels, the influence of each text on it, (n,), and flags for how to read it.

    `is_counted` (n,) marks the texts that it rests on: a precision on those that are called.
    """

    value: float
    influence: FloatArray
    is_counted: BoolArray
    flags: tuple[str, ...]


def label_figures(
    yes: BoolArray,
    called: BoolArray,
    is_known: BoolArray,
    clusters: Clusters,
) -> Figures:
    """Each figure by its name, with its n and interval, from marks (n, k).

    Hamming loss (share of wrong marks), exact match (texts with every mark right), the mean F1 of the labels,
    and precision, recall and F1 of the labels weighted by their positive texts.
    """
    is_wrong = ((yes != called) & is_known).astype(np.float64)
    figures = {
        "hamming": _hamming_loss(is_wrong, is_known, clusters),
        "exact_match": _exact_match(is_wrong, is_known, clusters),
    }
    return figures | _over_labels(
        yes=yes & is_known,
        called=called & is_known,
        is_wrong=is_wrong,
        clusters=clusters,
    )


def _hamming_loss(
    is_wrong: FloatArray,
    is_known: BoolArray,
    clusters: Clusters,
) -> tuple[Measured, int, Interval]:
    """The share of wrong marks among those that are known, (n, k)."""
    marks = int(is_known.sum())
    loss = Measured(np.nan, ("no_texts",))
    if marks:
        loss = Measured(float(is_wrong.sum() / marks))
    interval = ratio_interval(is_wrong.sum(axis=1), is_known.sum(axis=1), clusters)
    return loss, marks, interval


def _exact_match(
    is_wrong: FloatArray,
    is_known: BoolArray,
    clusters: Clusters,
) -> tuple[Measured, int, Interval]:
    """The share of texts without a wrong mark, among those of which every mark, (n, k), is known."""
    # A text with an unknown mark may be right in it, or not: it is left out.
    is_complete = is_known.all(axis=1)
    is_right = is_complete & ~is_wrong.any(axis=1)
    texts = int(is_complete.sum())
    share = Measured(np.nan, ("no_texts",))
    if texts:
        share = Measured(float(is_right.sum() / texts))
    return share, texts, ratio_interval(is_right, is_complete, clusters)


def _over_labels(
    yes: BoolArray,
    called: BoolArray,
    is_wrong: FloatArray,
    clusters: Clusters,
) -> Figures:
    """The means over the labels that some text is annotated with, from marks (n, k)."""
    # Neither recall nor F1 is defined for a label that no text has; the flag says that it was left out.
    used = np.flatnonzero(yes.any(axis=0))
    flags = ("labels_without_positive",) if len(used) < yes.shape[1] else ()
    if not len(used):
        return {f"{name}_across_labels": (Measured(np.nan, flags), 0, UNKNOWN) for name in MEANS}

    used_yes = yes[:, used].astype(np.float64)
    used_called = called[:, used].astype(np.float64)
    means = {
        "macro_f1": _macro_f1(
            yes=used_yes,
            called=used_called,
            is_wrong=is_wrong[:, used],
            flags=flags,
        ),
        "weighted_precision": _weighted_share(
            yes=used_yes,
            called=used_called,
            counted=used_called,
            flags=flags,
        ),
        "weighted_recall": _weighted_share(
            yes=used_yes,
            called=used_called,
            counted=used_yes,
            flags=flags,
        ),
        "weighted_f1": _weighted_f1(
            yes=used_yes,
            called=used_called,
            is_wrong=is_wrong[:, used],
            flags=flags,
        ),
    }

    positives = int(used_yes.sum())
    figures: Figures = {}
    for name in MEANS:
        mean = means[name]
        # The macro mean counts every label once, the weighted ones every positive mark.
        number = len(used) if name == "macro_f1" else positives
        interval = UNKNOWN
        if not np.isnan(mean.value):
            interval = figure_interval(
                value=mean.value,
                influence=mean.influence,
                # Where every text of these is right the figure is 1, however many others there are.
                counted=clusters.at(mean.is_counted),
                clusters=clusters,
            )
        figures[f"{name}_across_labels"] = Measured(mean.value, mean.flags), number, interval
    return figures


def _f1_of_labels(
    yes: FloatArray,
    called: FloatArray,
    is_wrong: FloatArray,
) -> tuple[FloatArray, FloatArray]:
    """The F1 of each label, (k,), and the influence of each text on it, (n, k), from marks (n, k)."""
    hits = yes * called
    label_figures = [F1.of(hits[:, label], is_wrong[:, label]) for label in range(yes.shape[1])]
    values = np.array([figure.value for figure in label_figures])
    influences = np.column_stack([figure.influence for figure in label_figures])
    return values, influences


def _macro_f1(
    yes: FloatArray,
    called: FloatArray,
    is_wrong: FloatArray,
    flags: tuple[str, ...],
) -> LabelMean:
    """The mean F1 of the labels, each of which counts the same, from marks (n, k)."""
    values, influences = _f1_of_labels(yes, called, is_wrong)
    return LabelMean(
        value=float(values.mean()),
        influence=influences.mean(axis=1),
        is_counted=_marked(yes + called),
        flags=flags,
    )


def _weighted_f1(
    yes: FloatArray,
    called: FloatArray,
    is_wrong: FloatArray,
    flags: tuple[str, ...],
) -> LabelMean:
    """The mean F1 of the labels, weighted by their positive texts, from marks (n, k)."""
    values, influences = _f1_of_labels(yes, called, is_wrong)
    mean, influence = _weighted(values, influences, yes)
    return LabelMean(
        value=mean,
        influence=influence,
        is_counted=_marked(yes + called),
        flags=flags,
    )


def _weighted_share(
    yes: FloatArray,
    called: FloatArray,
    counted: FloatArray,
    flags: tuple[str, ...],
) -> LabelMean:
    """The weighted mean share of hits among the marks `counted`, (n, k): those called, or the positive."""
    totals = counted.sum(axis=0)
    # The precision of a label that is never called is 0 / 0, and a mean without it would flatter the model.
    if not totals.all():
        return LabelMean(
            value=np.nan,
            influence=np.zeros(len(yes)),
            is_counted=_marked(counted),
            flags=(*flags, "no_predicted_positive"),
        )
    hits = yes * called
    values = hits.sum(axis=0) / totals
    influences = (hits - values * counted) / totals
    mean, influence = _weighted(values, influences, yes)
    return LabelMean(
        value=mean,
        influence=influence,
        is_counted=_marked(counted),
        flags=flags,
    )


def _marked(marks: FloatArray) -> BoolArray:
    """Which texts have a mark for any label, (n,), from marks (n, k)."""
    is_marked: BoolArray = np.any(marks > 0, axis=1)
    return is_marked


def _weighted(
    values: FloatArray,
    influences: FloatArray,
    yes: FloatArray,
) -> tuple[float, FloatArray]:
    """The mean of figures, (k,), by positive texts, and the influence of each text on it, (n,).

    `influences` and `yes` are (n, k).
    """
    positives = yes.sum()
    weights = yes.sum(axis=0) / positives
    mean = float(values @ weights)
    # A text with a label also adds to the label's weight.
    through_weights = (yes @ (values - mean)) / positives
    return mean, influences @ weights + through_weights


def combinations(
    targets: FloatArray,
    decided: FloatArray,
    labels: Sequence[str],
) -> dict[str, tuple[FloatArray, FloatArray]]:
    """Each combination of labels as a class of its own: annotated and predicted as such, each (n,).

    A text without each annotation, or without each answer, is NaN. Of two labels all four combinations are
    listed, of more those that are annotated: "none", "depression", "depression + anxiety" …
    """
    annotated = _names(firm(targets), labels)
    predicted = _names(decided, labels)
    # A dict keeps the order of the names, which decides between combinations of as many labels.
    names = dict.fromkeys(name for name in annotated if name is not None)
    if len(labels) == 2:
        names = dict.fromkeys((NONE, *labels, JOINT.join(labels)))
    ordered = sorted(names, key=lambda name: (name != NONE, name.count(JOINT)))
    return {name: (_as_class(annotated, name), _as_class(predicted, name)) for name in ordered}


def _names(marks: FloatArray, labels: Sequence[str]) -> list[str | None]:
    """The combination of labels of each text, from marks (n, k); None where a mark is unknown."""
    names: list[str | None] = []
    for row in marks:
        # An unknown mark may belong to several combinations.
        if np.isnan(row).any():
            names.append(None)
            continue
        marked = compress(labels, gold(row).tolist())
        names.append(JOINT.join(marked) or NONE)
    return names


def _as_class(names: Sequence[str | None], name: str) -> FloatArray:
    """1 where a text has this combination, 0 where another, NaN where it is unknown, (n,)."""
    is_unknown = [text_name is None for text_name in names]
    is_member = np.array([text_name == name for text_name in names], np.float64)
    return np.where(is_unknown, np.nan, is_member)
