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

from psycheck.statistics.clustered import Clusters, combined_interval, figure_interval, ratio_interval
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
    known: BoolArray = ~(np.isnan(firm(targets)) | np.isnan(scores))
    return known


def gold(targets: FloatArray) -> BoolArray:
    """Targets as yes or no: above 0.5 is yes; leave out NaN and 0.5 first (`firm`), which are neither."""
    yes: BoolArray = targets > 0.5
    return yes


def firm(targets: FloatArray) -> FloatArray:
    """Targets without those of exactly 0.5, which say neither yes nor no; any shape."""
    return np.where(targets == 0.5, np.nan, targets)


def classes(targets: FloatArray) -> tuple[BoolArray, BoolArray]:
    """Which targets say yes and which say no, any shape; NaN and exactly 0.5 say neither."""
    return gold(targets), ~gold(targets) & ~np.isnan(firm(targets))


def decide(scores: FloatArray, threshold: float | FloatArray = 0.5, *, exclusive: bool = False) -> FloatArray:
    """1 where a label is predicted, else 0, (n, k); NaN stays NaN.

    A label is predicted if its score is at least the threshold (one, or one per label), one of `exclusive`
    classes if its score is the largest (of equal ones the first).
    """
    chosen = scores >= threshold
    if exclusive:
        largest = np.where(np.isnan(scores), -1.0, scores).argmax(axis=1)
        chosen = largest[:, None] == np.arange(scores.shape[1])
    return np.where(np.isnan(scores), np.nan, chosen)


def confusion(targets: FloatArray, scores: FloatArray, threshold: float = 0.5) -> Confusion:
    """Count texts by annotation and prediction, targets and scores (n,)."""
    known = usable(targets, scores)
    yes, predicted = gold(targets[known]), scores[known] >= threshold
    tp = int(np.sum(yes & predicted))
    fp = int(np.sum(predicted)) - tp
    fn = int(np.sum(yes)) - tp
    return Confusion(tp, fp, fn, len(yes) - tp - fp - fn)


def accuracy(c: Confusion) -> Measured:
    """The share of texts that are predicted as annotated."""
    return Measured((c.tp + c.tn) / c.n) if c.n else Measured(np.nan, ("no_texts",))


def precision(c: Confusion) -> Measured:
    """The share of texts predicted 1 that are annotated 1."""
    if not c.tp + c.fp:
        return Measured(np.nan, _why(c))
    return Measured(c.tp / (c.tp + c.fp), _classes(c))


def recall(c: Confusion) -> Measured:
    """The share of texts annotated 1 that are predicted 1."""
    return Measured(c.tp / c.positive, _classes(c)) if c.positive else Measured(np.nan, _why(c))


def f1(c: Confusion) -> Measured:
    """F1 of class 1: 2 tp / (2 tp + fp + fn); 0 when no text annotated 1 is found, NaN when there is none."""
    if not c.positive:
        return Measured(np.nan, _why(c))
    missing = () if c.tp + c.fp else ("no_predicted_positive",)
    return Measured(2 * c.tp / (2 * c.tp + c.fp + c.fn), _classes(c) + missing)


def macro_f1(c: Confusion) -> Measured:
    """The mean of the F1 of class 1 and the F1 of class 0."""
    if not (c.positive and c.negative):
        return Measured(np.nan, _classes(c))
    return Measured((f1(c).value + f1(turned(c)).value) / 2)


def weighted_f1(c: Confusion) -> Measured:
    """The F1 of both classes, weighted by their numbers of texts."""
    if not (c.positive and c.negative):
        return Measured(np.nan, _classes(c))
    return Measured((c.positive * f1(c).value + c.negative * f1(turned(c)).value) / c.n)


def weighted_precision(c: Confusion) -> Measured:
    """The precision of both classes, weighted by their numbers of texts; NaN if one is never predicted."""
    if not (c.positive and c.negative):
        return Measured(np.nan, _classes(c))
    if not (c.tp + c.fp and c.tn + c.fn):
        return Measured(np.nan, ("one_prediction",))
    return Measured((c.positive * precision(c).value + c.negative * precision(turned(c)).value) / c.n)


def mcc(c: Confusion) -> Measured:
    """Matthews correlation coefficient; NaN if a class or a prediction never occurs."""
    product = (c.tp + c.fp) * c.positive * c.negative * (c.tn + c.fn)
    if not product:
        return Measured(np.nan, _classes(c) or ("one_prediction",))
    return Measured((c.tp * c.tn - c.fp * c.fn) / math.sqrt(product))


def hard_brier(c: Confusion) -> Measured:
    """The Brier score of 0/1 predictions, as in App. A of DECK: 1 − accuracy."""
    return Measured((c.fp + c.fn) / c.n) if c.n else Measured(np.nan, ("no_texts",))


def hard_auc(c: Confusion) -> Measured:
    """The AUC of 0/1 predictions, as in App. A of DECK: the mean of the recalls of both classes."""
    if not (c.positive and c.negative):
        return Measured(np.nan, _classes(c))
    return Measured((c.tp / c.positive + c.tn / c.negative) / 2)


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
    known = usable(targets, scores)
    yes = gold(targets[known])
    if yes.all() or not yes.any():
        return Measured(np.nan, ("one_class",) if known.any() else ("no_texts",))
    return Measured(figure(yes, scores[known])[0])


def auc_influence(y: BoolArray, scores: FloatArray) -> tuple[float, FloatArray]:
    """The AUC and the influence of each text on it, (n,) (DeLong's placements; clusters: Obuchowski 1997)."""
    high, low = np.sort(scores[y]), np.sort(scores[~y])
    placed = np.empty(len(y))
    placed[y] = _below(low, scores[y]) / len(low)
    placed[~y] = 1 - _below(high, scores[~y]) / len(high)
    area = float(placed[y].mean())
    return area, (placed - area) / np.where(y, len(high), len(low))


def average_precision_influence(y: BoolArray, scores: FloatArray) -> tuple[float, FloatArray]:
    """The average precision and the influence of each text on it, (n,).

    A text weighs on its own precision, if annotated 1, and on that of every text annotated 1 that does not
    score above it.
    """
    order = np.argsort(scores, kind="stable")
    s, yes = scores[order], y[order].astype(np.float64)
    n, positives = len(y), float(y.sum())
    first, last = np.searchsorted(s, s, "left"), np.searchsorted(s, s, "right")
    hits = positives - np.concatenate([[0.0], np.cumsum(yes)])[first]
    called = n - first
    precision = hits / called
    value = float((precision * yes).sum() / positives)
    ones = np.concatenate([[0.0], np.cumsum(yes / called)])[last]
    shares = np.concatenate([[0.0], np.cumsum(yes * precision / called)])[last]
    influence = np.empty(n)
    influence[order] = (yes * (precision - value) + yes * ones - shares) / positives
    return value, influence


def _below(ordered: FloatArray, values: FloatArray) -> FloatArray:
    """How many of some ordered values lie below each value, ties as a half."""
    return (np.searchsorted(ordered, values, "left") + np.searchsorted(ordered, values, "right")) / 2


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
    known = usable(targets, scores)
    y, given, clusters = gold(targets[known]), scores[known], clusters.at(known)
    called = given >= threshold if decided is None else decided[known] == 1
    n = len(y)
    if not n:
        return {}
    tp, tn, wrong = (np.asarray(one, np.float64) for one in (y & called, ~y & ~called, y != called))
    accuracy = ratio_interval(1 - wrong, np.ones(n), clusters)
    errors = (given - targets[known]) ** 2
    brier = float(errors.mean())
    intervals = {
        "accuracy": accuracy,
        "precision": ratio_interval(tp, called, clusters),
        "recall": ratio_interval(tp, y, clusters),
        "hard_brier": (1 - accuracy[1], 1 - accuracy[0]),
        "brier": figure_interval(brier, (errors - brier) / n, clusters, clusters),
    }
    if not y.any():
        return intervals
    one = F1.of(tp, wrong)
    intervals["f1"] = f1_interval(tp, wrong, clusters)
    if y.all():
        return intervals
    zero = F1.of(tn, wrong)
    both, ends = (one.value, zero.value), (intervals["f1"], f1_interval(tn, wrong, clusters))
    share = float(y.mean())
    mixed = share * one.value + (1 - share) * zero.value
    moved = share * one.influence + (1 - share) * zero.influence + (one.value - zero.value) * (y - share) / n
    tpr, tnr = float(tp.sum() / y.sum()), float(tn.sum() / (~y).sum())
    rates = (y * (called - tpr) / y.sum(), ~y * (~called - tnr) / (~y).sum())
    weighted = UNKNOWN
    if called.any() and not called.all():
        ppv, npv = float(tp.sum() / called.sum()), float(tn.sum() / (~called).sum())
        moves = (
            share * called * (y - ppv) / called.sum() + (1 - share) * ~called * (~y - npv) / (~called).sum()
        )
        moves = moves + (ppv - npv) * (y - share) / n
        weighted = figure_interval(share * ppv + (1 - share) * npv, moves, clusters, clusters)
    area, placed = auc_influence(y, given)
    precision, kept = average_precision_influence(y, given)
    halves = np.where(y, 1 / y.sum(), 1 / (~y).sum())
    rarer = clusters.at(y if y.sum() <= (~y).sum() else ~y)
    return intervals | {
        "macro_f1": combined_interval(both, ends, (0.5, 0.5), (one.influence, zero.influence), clusters),
        "weighted_precision": weighted,
        "weighted_f1": figure_interval(mixed, moved, clusters, clusters),
        "hard_auc": figure_interval((tpr + tnr) / 2, sum(rates) / 2, rarer, clusters, halves),
        "auc": figure_interval(area, placed, rarer, clusters, halves),
        "average_precision": figure_interval(precision, kept, clusters.at(y), clusters, y.astype(np.float64)),
    }


def figure_influences(
    targets: FloatArray, scores: FloatArray, threshold: float
) -> dict[str, tuple[float, FloatArray]]:
    """F1, macro-F1 and AUC of one label, NaN where undefined, and the influence of each text on it, (n,)."""
    known = usable(targets, scores)
    y, given = gold(targets[known]), scores[known]
    called = given >= threshold
    one, zero = (F1.of(right.astype(np.float64), (y != called) * 1.0) for right in (y & called, ~y & ~called))
    found = {"f1": (one.value if y.any() else math.nan, one.influence)}
    if y.any() and not y.all():
        found["macro_f1"] = (one.value + zero.value) / 2, (one.influence + zero.influence) / 2
        found["auc"] = auc_influence(y, given)
    out = {}
    for name in ("f1", "macro_f1", "auc"):
        value, mine = found.get(name, (math.nan, np.zeros(len(y))))
        every = np.zeros(len(targets))
        every[known] = mine
        out[name] = value, every
    return out


def f1_interval(hits: ArrayLike, wrong: ArrayLike, clusters: Clusters) -> Interval:
    """The interval of F1 = 2 tp / (2 tp + fp + fn); `hits` marks true positives, `wrong` both errors, (n,).

    F1 rises with tp / (tp + fp + fn), a proportion, so the ends of that proportion's interval give its ends.
    """
    tp = np.asarray(hits, np.float64)
    low, high = ratio_interval(tp, tp + np.asarray(wrong, np.float64), clusters)
    return 2 * low / (1 + low), 2 * high / (1 + high)


@dataclass(frozen=True, slots=True)
class F1:
    """F1 = 2 tp / (2 tp + fp + fn), and the influence of each text on it, (n,)."""

    value: float
    influence: FloatArray

    @classmethod
    def of(cls, hits: FloatArray, wrong: FloatArray) -> "F1":
        """From the marks of true positives and of both errors, (n,)."""
        weight = 2 * hits + wrong
        total = float(weight.sum())
        value = 2 * float(hits.sum()) / total if total else 0.0
        return cls(value, (2 * hits - value * weight) / max(total, 1.0))


def turned(c: Confusion) -> Confusion:
    """The same texts with 0 as the positive class."""
    return Confusion(tp=c.tn, fp=c.fn, fn=c.fp, tn=c.tp)


def _classes(c: Confusion) -> tuple[str, ...]:
    if not c.n:
        return ("no_texts",)
    return () if c.positive and c.negative else ("one_class",)


def _why(c: Confusion) -> tuple[str, ...]:
    """Why precision, recall or F1 of class 1 is undefined."""
    if not c.n:
        return ("no_texts",)
    flags = () if c.positive else ("one_class", "no_positive")
    return flags if c.tp + c.fp else (*flags, "no_predicted_positive")
