"""The decision threshold that classifies the texts of dev best."""

import numpy as np

from psycheck.statistics.classification import BoolArray, FloatArray, gold, usable


def best_threshold(targets: FloatArray, scores: FloatArray) -> float:
    """The threshold with the highest macro-F1 on these texts, targets and scores (n,).

    Scores at the threshold count as positive. The candidates are 0.5, the midpoints between neighbouring
    scores and a value beyond each end; of equal ones the closest to 0.5 wins. It is 0.5 if dev has one class.
    """
    answered = usable(targets, scores)
    positive = gold(targets[answered])
    values = scores[answered]
    if not positive.any() or positive.all():
        return 0.5

    order = np.argsort(values, kind="stable")
    candidates = _candidates(values)
    macro_f1 = _macro_f1_at(candidates, values[order], positive[order])
    # Equal up to rounding.
    is_best = macro_f1 >= macro_f1.max() - 1e-12
    best = candidates[is_best]
    distances = np.abs(best - 0.5)
    return float(best[np.argmin(distances)])


def _candidates(values: FloatArray) -> FloatArray:
    """Thresholds between all neighbouring scores, beyond both ends, and 0.5."""
    levels = np.unique(values)
    midpoints = (levels[1:] + levels[:-1]) / 2
    lowest = levels[0]
    highest = levels[-1]
    below_all = lowest / 2
    # Also above a score of 1, where the midpoint to 1 would be the score itself.
    above_all = max((highest + 1) / 2, np.nextafter(highest, 2.0))
    fixed = [below_all, above_all, 0.5]
    candidates: FloatArray = np.unique(np.concatenate([fixed, midpoints]))
    return candidates


def _macro_f1_at(
    thresholds: FloatArray,
    values: FloatArray,
    positive: BoolArray,
) -> FloatArray:
    """Macro-F1 at each threshold; `values` (n,) are the sorted scores, `positive` (n,) their classes."""
    texts_below = np.searchsorted(values, thresholds, "left")
    positives_before = np.concatenate([[0], np.cumsum(positive)])

    false_negatives = positives_before[texts_below].astype(np.float64)
    true_negatives = texts_below - false_negatives
    positives = float(positive.sum())
    negatives = float((~positive).sum())
    true_positives = positives - false_negatives
    false_positives = negatives - true_negatives

    # F1 of a class is right / (right + errors / 2), and both classes have the same errors.
    errors = false_negatives + false_positives
    f1_positive = true_positives / (2 * true_positives + errors)
    f1_negative = true_negatives / (2 * true_negatives + errors)
    # Each is half of an F1, so that their sum is the mean of both.
    macro_f1: FloatArray = f1_positive + f1_negative
    return macro_f1
