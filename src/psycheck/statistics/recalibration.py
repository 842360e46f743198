"""Maps from scores to calibrated probabilities, fitted on dev: Platt's logistic map, and the isotonic one."""

from dataclasses import dataclass

import numpy as np
from scipy.special import expit, logit
from sklearn.isotonic import IsotonicRegression
from sklearn.linear_model import LogisticRegression

from psycheck.statistics.classification import FloatArray, firm, gold, usable

CLIP = 1e-6  # of probabilities before their log-odds are taken: hard answers are 0 and 1


@dataclass(frozen=True, slots=True)
class Platt:
    """A logistic map of log-odds: p becomes sigmoid(slope · logit(p) + intercept)."""

    slope: float = 1.0
    intercept: float = 0.0

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
        return np.where(np.isnan(scores), np.nan, np.interp(scores, self.levels, self.values))


def fit_platt(targets: FloatArray, scores: FloatArray) -> Platt:
    """Platt's map, targets and scores (n,); the identity if dev has one class.

    Targets are drawn in towards the middle (Platt 1999, section 2.2), so that separable scores do not become
    certain: each text counts as both classes, with weights.
    """
    known = usable(firm(targets), scores)
    positive = gold(firm(targets)[known])
    if not positive.any() or positive.all():
        return Platt()

    n_positive = positive.sum()
    n_negative = len(positive) - n_positive
    soft = np.where(positive, (n_positive + 1) / (n_positive + 2), 1 / (n_negative + 2))
    log_odds = logit(np.clip(scores[known], CLIP, 1 - CLIP))[:, None]
    regression = LogisticRegression(C=np.inf, max_iter=1000, tol=1e-8)
    regression.fit(
        np.vstack([log_odds, log_odds]),
        np.repeat([1, 0], len(positive)),
        sample_weight=np.concatenate([soft, 1 - soft]),
    )
    return Platt(slope=float(regression.coef_[0, 0]), intercept=float(regression.intercept_[0]))


def fit_isotonic(targets: FloatArray, scores: FloatArray) -> Isotonic:
    """The isotonic map, targets and scores (n,); constant if dev has one class."""
    known = usable(firm(targets), scores)
    regression = IsotonicRegression(y_min=0, y_max=1, out_of_bounds="clip")
    regression.fit(scores[known], gold(firm(targets)[known]).astype(np.float64))
    return Isotonic(np.asarray(regression.X_thresholds_), np.asarray(regression.y_thresholds_))
