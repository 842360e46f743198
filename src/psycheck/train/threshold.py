"""Where to cut scores into a decision, chosen on dev."""

import numpy as np

from psycheck.measures.classification import FloatArray, gold, usable

DEFAULT = 0.5


def best_threshold(targets: FloatArray, scores: FloatArray) -> float:
    """The threshold with the highest macro-F1 on these texts, targets and scores (n,); scores at it are yes.

    Cuts midway between neighbouring scores, beyond both ends and at 0.5 are tried; of equal ones the nearest
    to 0.5 is taken. Where dev has one class only, nothing can be chosen and 0.5 stays.
    """
    known = usable(targets, scores)
    yes, given = gold(targets[known]), scores[known]
    if not yes.any() or yes.all():
        return DEFAULT
    order = np.argsort(given, kind="stable")
    given, yes = given[order], yes[order]
    levels = np.unique(given)
    inner = (levels[1:] + levels[:-1]) / 2
    above = max((levels[-1] + 1) / 2, np.nextafter(levels[-1], 2.0))  # beyond a score of 1, too
    cuts = np.unique(np.concatenate([[levels[0] / 2, above, DEFAULT], inner]))
    below = np.searchsorted(given, cuts, "left")  # texts decided no at each cut
    missed = np.concatenate([[0], np.cumsum(yes)])[below].astype(np.float64)
    right_no = below - missed
    positive, negative = float(yes.sum()), float((~yes).sum())
    found, alarms = positive - missed, negative - right_no
    wrong = missed + alarms
    macro = found / (2 * found + wrong) + right_no / (2 * right_no + wrong)
    best = cuts[macro >= macro.max() - 1e-12]
    return float(best[np.argmin(np.abs(best - DEFAULT))])
