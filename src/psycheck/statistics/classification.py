"""Agreement of scores with annotations (intervals: `label_intervals`).

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
from numpy.typing import NDArray

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
