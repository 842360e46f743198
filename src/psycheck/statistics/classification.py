"""Agreement of scores with annotations, with the intervals of its figures.

Targets and scores are 0..1, (n,). NaN targets (not annotated) and NaN scores (unanswered) are left out. A
target of at least 0.5 counts as 1, a score of at least the threshold as predicted 1. An undefined value is
NaN with a flag that gives the reason, never 0:

no_texts               nothing is both annotated and answered
one_class              only 1s or only 0s are annotated
no_positive            nothing is annotated 1
no_predicted_positive  nothing is predicted 1: precision is NaN, F1 is 0 if something is annotated 1
one_prediction         only 1s or only 0s are predicted: MCC is NaN
"""

import math
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike, NDArray

from psycheck.statistics.clustered import (
    Clusters,
    combined_interval,
    figure_interval,
    ratio_interval,
)
from psycheck.statistics.intervals import UNKNOWN, Interval

FloatArray = NDArray[np.float64]
BoolArray = NDArray[np.bool_]
IntArray = NDArray[np.intp]


@dataclass(frozen=True, slots=True)
class Measured:
    """A value, and flags for why it is NaN or must be read with care."""

    value: float
    flags: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Confusion:
    """Texts counted by what was annotated and what was predicted."""

    tp: int
    fp: int
    fn: int
    tn: int

    @property
    def positive(self) -> int:
        """Texts annotated 1."""
        return self.tp + self.fn

    @property
    def negative(self) -> int:
        """Texts annotated 0."""
        return self.fp + self.tn

    @property
    def n(self) -> int:
        """All texts."""
        return self.positive + self.negative


def usable(targets: FloatArray, scores: FloatArray) -> BoolArray:
    """Where the target says yes or no and the score is known; any shape."""
    is_missing = np.isnan(firm(targets)) | np.isnan(scores)
    is_usable: BoolArray = ~is_missing
    return is_usable


def gold(targets: FloatArray) -> BoolArray:
    """Targets as yes or no: above 0.5 is yes; leave out NaN and 0.5 first (`firm`), which are neither."""
    yes: BoolArray = targets > 0.5
    return yes


def firm(targets: FloatArray) -> FloatArray:
    """Targets without those of exactly 0.5, which say neither yes nor no; any shape."""
    return np.where(targets == 0.5, np.nan, targets)


def classes(targets: FloatArray) -> tuple[BoolArray, BoolArray]:
    """Which targets say yes and which say no, any shape; NaN and exactly 0.5 say neither."""
    yes = gold(targets)
    is_firm = ~np.isnan(firm(targets))
    return yes, ~yes & is_firm


def decide(
    scores: FloatArray,
    threshold: float | FloatArray = 0.5,
    *,
    exclusive: bool = False,
) -> FloatArray:
    """1 where a label is predicted, else 0, (n, k); NaN stays NaN.

    A label is predicted if its score is at least the threshold (one, or one per label), one of `exclusive`
    classes if its score is the largest (of equal ones the first).
    """
    is_unanswered = np.isnan(scores)
    is_predicted = scores >= threshold
    if exclusive:
        # argmax takes a NaN for the largest; below every score it is chosen only where nothing is answered.
        comparable = np.where(is_unanswered, -1.0, scores)
        largest = comparable.argmax(axis=1)
        is_predicted = largest[:, None] == np.arange(scores.shape[1])
    return np.where(is_unanswered, np.nan, is_predicted)


def confusion(
    targets: FloatArray,
    scores: FloatArray,
    threshold: float = 0.5,
) -> Confusion:
    """Count texts by annotation and prediction, targets and scores (n,)."""
    is_usable = usable(targets, scores)
    yes = gold(targets[is_usable])
    predicted = scores[is_usable] >= threshold
    tp = int(np.sum(yes & predicted))
    fp = int(np.sum(predicted)) - tp
    fn = int(np.sum(yes)) - tp
    tn = len(yes) - tp - fp - fn
    return Confusion(
        tp=tp,
        fp=fp,
        fn=fn,
        tn=tn,
    )


def accuracy(c: Confusion) -> Measured:
    """The share of texts that are predicted as annotated."""
    if not c.n:
        return Measured(np.nan, ("no_texts",))
    return Measured((c.tp + c.tn) / c.n)


def precision(c: Confusion) -> Measured:
    """The share of texts predicted 1 that are annotated 1."""
    predicted_positive = c.tp + c.fp
    if not predicted_positive:
        return Measured(np.nan, _why(c))
    return Measured(c.tp / predicted_positive, _classes(c))


def recall(c: Confusion) -> Measured:
    """The share of texts annotated 1 that are predicted 1."""
    if not c.positive:
        return Measured(np.nan, _why(c))
    return Measured(c.tp / c.positive, _classes(c))


def f1(c: Confusion) -> Measured:
    """F1 of class 1: 2 tp / (2 tp + fp + fn); 0 when no text annotated 1 is found, NaN when there is none."""
    if not c.positive:
        return Measured(np.nan, _why(c))
    flags = _classes(c)
    # A model that never says 1 has missed every text: that is an F1 of 0, not an unknown one.
    if not c.tp + c.fp:
        flags = (*flags, "no_predicted_positive")
    doubled = 2 * c.tp
    return Measured(doubled / (doubled + c.fp + c.fn), flags)


def macro_f1(c: Confusion) -> Measured:
    """The mean of the F1 of class 1 and the F1 of class 0."""
    if not (c.positive and c.negative):
        return Measured(np.nan, _classes(c))
    f1_of_1 = f1(c).value
    f1_of_0 = f1(turned(c)).value
    return Measured((f1_of_1 + f1_of_0) / 2)


def weighted_f1(c: Confusion) -> Measured:
    """The F1 of both classes, weighted by their numbers of texts."""
    if not (c.positive and c.negative):
        return Measured(np.nan, _classes(c))
    weighted_1 = c.positive * f1(c).value
    weighted_0 = c.negative * f1(turned(c)).value
    return Measured((weighted_1 + weighted_0) / c.n)


def weighted_precision(c: Confusion) -> Measured:
    """The precision of both classes, weighted by their numbers of texts; NaN if one is never predicted."""
    if not (c.positive and c.negative):
        return Measured(np.nan, _classes(c))
    # The precision of a class that is never predicted is 0 / 0; to call it 0 would blame an empty cell.
    if not (c.tp + c.fp and c.tn + c.fn):
        return Measured(np.nan, ("one_prediction",))
    weighted_1 = c.positive * precision(c).value
    weighted_0 = c.negative * precision(turned(c)).value
    return Measured((weighted_1 + weighted_0) / c.n)


def mcc(c: Confusion) -> Measured:
    """Matthews correlation coefficient; NaN if a class or a prediction never occurs."""
    # Whole numbers of Python: as those of NumPy the product would overflow from some 100,000 texts on.
    product = (c.tp + c.fp) * c.positive * c.negative * (c.tn + c.fn)
    if not product:
        return Measured(np.nan, _classes(c) or ("one_prediction",))
    covariance = c.tp * c.tn - c.fp * c.fn
    return Measured(covariance / math.sqrt(product))


def hard_brier(c: Confusion) -> Measured:
    """The Brier score of 0/1 predictions, as in App. A of DECK: 1 − accuracy."""
    if not c.n:
        return Measured(np.nan, ("no_texts",))
    return Measured((c.fp + c.fn) / c.n)


def hard_auc(c: Confusion) -> Measured:
    """The AUC of 0/1 predictions, as in App. A of DECK: the mean of the recalls of both classes."""
    if not (c.positive and c.negative):
        return Measured(np.nan, _classes(c))
    sensitivity = c.tp / c.positive
    specificity = c.tn / c.negative
    return Measured((sensitivity + specificity) / 2)


def auc(targets: FloatArray, scores: FloatArray) -> Measured:
    """Area under the ROC curve: how often a text annotated 1 scores above one annotated 0, ties as a half."""
    return _of_ranking(auc_influence, targets, scores)


def average_precision(targets: FloatArray, scores: FloatArray) -> Measured:
    """The mean precision at the scores of the texts annotated 1; no interpolation."""
    return _of_ranking(average_precision_influence, targets, scores)


def _of_ranking(
    figure: Callable[[BoolArray, FloatArray], tuple[float, FloatArray]],
    targets: FloatArray,
    scores: FloatArray,
) -> Measured:
    """A figure of the order of the scores, all (n,); NaN without both classes."""
    is_usable = usable(targets, scores)
    if not is_usable.any():
        return Measured(np.nan, ("no_texts",))
    yes = gold(targets[is_usable])
    if yes.all() or not yes.any():
        return Measured(np.nan, ("one_class",))
    value, _ = figure(yes, scores[is_usable])
    return Measured(value)


def auc_influence(y: BoolArray, scores: FloatArray) -> tuple[float, FloatArray]:
    """The AUC and the influence of each text on it, (n,) (DeLong's placements; clusters: Obuchowski 1997)."""
    scores_of_1 = np.sort(scores[y])
    scores_of_0 = np.sort(scores[~y])
    # A text's placement is the share of the other class that it is ranked rightly against. Sorting makes that
    # n log n; comparing all pairs of 50,000 texts would not fit into memory.
    placements = np.empty(len(y))
    placements[y] = _below(scores_of_0, scores[y]) / len(scores_of_0)
    placements[~y] = 1 - _below(scores_of_1, scores[~y]) / len(scores_of_1)
    area = float(placements[y].mean())
    class_sizes = np.where(y, len(scores_of_1), len(scores_of_0))
    return area, (placements - area) / class_sizes


def average_precision_influence(y: BoolArray, scores: FloatArray) -> tuple[float, FloatArray]:
    """The average precision and the influence of each text on it, (n,).

    A text weighs on its own precision, if annotated 1, and on that of every text annotated 1 that does not
    score above it.
    """
    n = len(y)
    positives = float(y.sum())
    order = np.argsort(scores, kind="stable")
    ordered_scores = scores[order]
    yes = y[order].astype(np.float64)

    # Texts of equal score are called together, so each looks from the first and to the last of its ties.
    first_tie = np.searchsorted(ordered_scores, ordered_scores, "left")
    after_ties = np.searchsorted(ordered_scores, ordered_scores, "right")
    hits = positives - _sums_before(yes)[first_tie]
    called = n - first_tie
    precision_at = hits / called
    value = float((precision_at * yes).sum() / positives)

    # What a text adds to the hits of those that score no higher, and what it takes by being called with them.
    added_hits = _sums_before(yes / called)[after_ties]
    added_calls = _sums_before(yes * precision_at / called)[after_ties]
    influence = np.empty(n)
    influence[order] = (yes * (precision_at - value) + yes * added_hits - added_calls) / positives
    return value, influence


def _sums_before(values: FloatArray) -> FloatArray:
    """The sum of all values before each place, (n + 1,), of values (n,)."""
    return np.concatenate([[0.0], np.cumsum(values)])


def _below(ordered: FloatArray, values: FloatArray) -> FloatArray:
    """How many of some ordered values, (m,), lie below each value, (n,), ties as a half."""
    lower = np.searchsorted(ordered, values, "left")
    lower_or_equal = np.searchsorted(ordered, values, "right")
    return (lower + lower_or_equal) / 2


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
    return positive if positive.sum() <= negative.sum() else negative


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


def turned(c: Confusion) -> Confusion:
    """The same texts with 0 as the positive class."""
    return Confusion(
        tp=c.tn,
        fp=c.fn,
        fn=c.fp,
        tn=c.tp,
    )


def _classes(c: Confusion) -> tuple[str, ...]:
    """What the annotation lacks for a figure of both classes; nothing if both occur."""
    if not c.n:
        return ("no_texts",)
    if c.positive and c.negative:
        return ()
    return ("one_class",)


def _why(c: Confusion) -> tuple[str, ...]:
    """Why precision, recall or F1 of class 1 is undefined."""
    if not c.n:
        return ("no_texts",)
    flags: list[str] = []
    if not c.positive:
        flags += ["one_class", "no_positive"]
    if not c.tp + c.fp:
        flags += ["no_predicted_positive"]
    return tuple(flags)
