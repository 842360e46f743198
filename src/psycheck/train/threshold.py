"""The decision threshold, chosen on dev."""

import numpy as np

from psycheck.measures.classification import FloatArray, gold, usable

DEFAULT = 0.5


def best_threshold(targets: FloatArray, scores: FloatArray) -> float:
    """The threshold with the highest macro-F1 on these texts, targets and scores (n,).

    Scores at the threshold count as positive. The candidates are 0.5, the midpoints between neighbouring
    scores and a value beyond each end; of equal ones the closest to 0.5 wins. It is 0.5 if dev has one class.
    """
    known = usable(targets, scores)
    yes, values = gold(targets[known]), scores[known]
    if not yes.any() or yes.all():
        return DEFAULT
    order = np.argsort(values, kind="stable")
    values, yes = values[order], yes[order]
    levels = np.unique(values)
    inner = (levels[1:] + levels[:-1]) / 2
    above = max((levels[-1] + 1) / 2, np.nextafter(levels[-1], 2.0))  # also above a score of 1
    cuts = np.unique(np.concatenate([[levels[0] / 2, above, DEFAULT], inner]))
    below = np.searchsorted(values, cuts, "left")  # texts below each threshold
    missed = np.concatenate([[0], np.cumsum(yes)])[below].astype(np.float64)
    right_no = below - missed
    positive, negative = float(yes.sum()), float((~yes).sum())
    found, alarms = positive - missed, negative - right_no
    wrong = missed + alarms
    macro = found / (2 * found + wrong) + right_no / (2 * right_no + wrong)
    best = cuts[macro >= macro.max() - 1e-12]
    return float(best[np.argmin(np.abs(best - DEFAULT))])
