"""Maps from scores to calibrated probabilities, fitted on dev: Platt's logistic map, and the isotonic one."""

from dataclasses import dataclass

import numpy as np
from scipy.special import expit, logit

from psycheck.statistics.classification import (
    FloatArray,
    firm,
    gold,
    usable,
)

CLIP = 1e-6  # of probabilities before their log-odds are taken: hard answers are 0 and 1


@dataclass(frozen=True, slots=True)
class Platt:
    """A logistic map of log-odds: p becomes sigmoid(slope · logit(p) + intercept).

    `only_shifts` if the slope was not fitted, because the fitted one would turn the ranking round.
    """

    slope: float = 1.0
    intercept: float = 0.0
    only_shifts: bool = False

    def __call__(self, scores: FloatArray) -> FloatArray:
        """Calibrated scores, any shape; NaN stays NaN."""
        clipped = np.clip(scores, CLIP, 1 - CLIP)
        calibrated: FloatArray = expit(self.slope * logit(clipped) + self.intercept)
        return calibrated


@dataclass(frozen=True, slots=True)
class Isotonic:
    """A rising step function, interpolated between the scores of dev: `values` (m,) at `levels` (m,)."""

    levels: FloatArray
    values: FloatArray

    def __call__(self, scores: FloatArray) -> FloatArray:
        """Calibrated scores, any shape; NaN stays NaN."""
        # What np.interp makes of NaN is not documented.
        interpolated = np.interp(scores, self.levels, self.values)
        return np.where(np.isnan(scores), np.nan, interpolated)


def fit_platt(targets: FloatArray, scores: FloatArray) -> Platt:
    """Platt's map, targets and scores (n,); the identity if dev has one class.

    Targets are drawn in towards the middle (Platt 1999, section 2.2), so that separable scores do not become
    certain: each text counts as both classes, with weights. A map never falls: where the fitted one would,
    the log-odds are only shifted, so that the mean score is that of the targets.
    """
    from sklearn.linear_model import LogisticRegression

    is_usable = usable(firm(targets), scores)
    positive = gold(targets[is_usable])
    if not positive.any() or positive.all():
        return Platt()

    n_positive = positive.sum()
    n_negative = len(positive) - n_positive
    target_of_positive = (n_positive + 1) / (n_positive + 2)
    target_of_negative = 1 / (n_negative + 2)
    soft_targets = np.where(positive, target_of_positive, target_of_negative)
    clipped = np.clip(scores[is_usable], CLIP, 1 - CLIP)
    log_odds = logit(clipped)[:, None]

    # scikit-learn takes no soft targets: every text is there twice, once in each class.
    regression = LogisticRegression(C=np.inf, max_iter=1000, tol=1e-8)
    regression.fit(
        np.vstack([log_odds, log_odds]),
        np.repeat([1, 0], len(positive)),
        sample_weight=np.concatenate([soft_targets, 1 - soft_targets]),
    )
    slope = float(regression.coef_[0, 0])
    intercept = float(regression.intercept_[0])
    if slope > 0:
        return Platt(slope, intercept)
    return Platt(1.0, _shift(log_odds[:, 0], float(soft_targets.mean())), only_shifts=True)


def _shift(log_odds: FloatArray, mean: float) -> float:
    """What is added to log-odds (n,) so that the mean probability is `mean`."""
    from scipy.optimize import brentq

    # With this shift all probabilities are below, or all above, whatever the mean is.
    widest = float(np.abs(log_odds).max()) + abs(float(logit(mean))) + 1
    return float(brentq(lambda shift: expit(log_odds + shift).mean() - mean, -widest, widest))


def fit_isotonic(targets: FloatArray, scores: FloatArray) -> Isotonic:
    """The isotonic map, targets and scores (n,); constant if dev has one class."""
    from sklearn.isotonic import IsotonicRegression

    is_usable = usable(firm(targets), scores)
    regression = IsotonicRegression(y_min=0, y_max=1, out_of_bounds="clip")
    positive = gold(targets[is_usable])
    regression.fit(scores[is_usable], positive.astype(np.float64))
    levels = np.asarray(regression.X_thresholds_)
    values = np.asarray(regression.y_thresholds_)
    return Isotonic(levels, values)
