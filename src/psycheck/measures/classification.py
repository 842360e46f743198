"""Agreement of scores with annotations.

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

    @property
    def right(self) -> int:
        """Texts predicted as annotated."""
        return self.tp + self.tn


def usable(targets: FloatArray, scores: FloatArray) -> BoolArray:
    """Where target and score are both known; any shape."""
    known: BoolArray = ~(np.isnan(targets) | np.isnan(scores))
    return known


def gold(targets: FloatArray) -> BoolArray:
    """Targets as yes or no: at least 0.5 is yes; NaN is no, so leave it out first."""
    yes: BoolArray = targets >= 0.5
    return yes


def firm(targets: FloatArray) -> FloatArray:
    """Targets without those of exactly 0.5, which say neither yes nor no; any shape."""
    return np.where(targets == 0.5, np.nan, targets)


def decide(scores: FloatArray, threshold: float = 0.5, *, exclusive: bool = False) -> FloatArray:
    """1 where a label is predicted, else 0, (n, k); NaN stays NaN.

    A label is predicted if its score is at least the threshold, one of `exclusive` classes if its score is
    the largest (of equal ones the first).
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
    return Measured(c.right / c.n) if c.n else Measured(np.nan, ("no_texts",))


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
    return Measured((f1(c).value + f1(_turned(c)).value) / 2)


def weighted_f1(c: Confusion) -> Measured:
    """The F1 of both classes, weighted by their numbers of texts."""
    if not (c.positive and c.negative):
        return Measured(np.nan, _classes(c))
    return Measured((c.positive * f1(c).value + c.negative * f1(_turned(c)).value) / c.n)


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
    ranking = ranked(targets, scores)
    return Measured(float(ranking.areas(*ranking.once())[0][0]), _one_class(ranking))


def average_precision(targets: FloatArray, scores: FloatArray) -> Measured:
    """The mean precision at the scores of the texts annotated 1; no interpolation."""
    ranking = ranked(targets, scores)
    return Measured(float(ranking.areas(*ranking.once())[1][0]), _one_class(ranking))


def hamming(targets: FloatArray, scores: FloatArray, threshold: float = 0.5) -> Measured:
    """The share of wrong marks over many labels, targets and scores (n, k); missing marks are left out."""
    known = usable(targets, scores)
    if not known.any():
        return Measured(np.nan, ("no_texts",))
    return Measured(float(np.mean(gold(targets[known]) != (scores[known] >= threshold))))


@dataclass(frozen=True, slots=True)
class Ranking:
    """Texts sorted by score once, so that weighted AUC and average precision cost one pass each.

    `positive` and `negative` are the positions of the texts annotated 1 and 0, by rising score. For each
    positive text, `above` counts the negatives that score lower, `not_below` those that do not score higher
    and `first` the positives that score lower. Weights are (rows, positives) and (rows, negatives).
    """

    positive: IntArray
    negative: IntArray
    above: IntArray
    not_below: IntArray
    first: IntArray

    @property
    def one_class(self) -> bool:
        """Whether one of the classes has no text."""
        return not (len(self.positive) and len(self.negative))

    def once(self) -> tuple[FloatArray, FloatArray]:
        """Every text once: weights of one row."""
        return np.ones((1, len(self.positive))), np.ones((1, len(self.negative)))

    def areas(self, positive: FloatArray, negative: FloatArray) -> tuple[FloatArray, FloatArray]:
        """Weighted AUC and average precision, each (rows,); NaN with one class only."""
        if self.one_class:
            return np.full(len(positive), np.nan), np.full(len(positive), np.nan)
        hits, alarms = cumulated(positive), cumulated(negative)
        n, m = hits[:, -1:], alarms[:, -1:]
        lower = np.take(alarms, self.above, axis=1)
        pairs = np.einsum("ij,ij->i", lower + np.take(alarms, self.not_below, axis=1), positive)
        found = n - np.take(hits, self.first, axis=1)
        predicted = found + (m - lower)
        # If nothing drawn scores as high, the weight is 0: any divisor above 0 will do.
        found /= np.maximum(predicted, 1.0, out=predicted)
        precisions = np.einsum("ij,ij->i", found, positive)
        return pairs / (2 * n * m)[:, 0], precisions / n[:, 0]


def ranked(targets: FloatArray, scores: FloatArray) -> Ranking:
    """Sort the texts that are annotated and answered, targets and scores (n,)."""
    known, yes = usable(targets, scores), gold(targets)
    positive, negative = (
        at[np.argsort(scores[at], kind="stable")]
        for at in (np.flatnonzero(known & yes), np.flatnonzero(known & ~yes))
    )
    high, low = scores[positive], scores[negative]
    return Ranking(
        positive,
        negative,
        above=np.searchsorted(low, high, "left"),
        not_below=np.searchsorted(low, high, "right"),
        first=np.searchsorted(high, high, "left"),
    )


def cumulated(weights: FloatArray) -> FloatArray:
    """Sums of the first 0, 1, … columns, (rows, columns + 1)."""
    out = np.zeros((weights.shape[0], weights.shape[1] + 1))
    np.cumsum(weights, axis=1, out=out[:, 1:])
    return out


def _turned(c: Confusion) -> Confusion:
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


def _one_class(ranking: Ranking) -> tuple[str, ...]:
    if not len(ranking.positive) + len(ranking.negative):
        return ("no_texts",)
    return ("one_class",) if ranking.one_class else ()
