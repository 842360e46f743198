"""Whether a figure of one model is worse than that of another on the same texts, by more than a tolerance."""

import math
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike
from scipy import special

from psycheck.statistics.classification import (
    BoolArray,
    FloatArray,
    auc_influence,
    average_precision_influence,
)
from psycheck.statistics.cluster_tests import EXACT_UP_TO, SHUFFLED, all_signs
from psycheck.statistics.clustered import skewed_interval
from psycheck.statistics.clusters import Clusters, spread_of
from psycheck.statistics.distributions import normal_tail
from psycheck.statistics.intervals import UNKNOWN, Interval

DRAWS = 10_000
LABEL_FIGURES = ("accuracy", "precision", "recall", "f1", "macro_f1", "hard_auc", "auc", "average_precision")


@dataclass(frozen=True, slots=True)
class Estimate:
    """A figure, and the influence of each text on it, (n,): how far the text moves it from its mean."""

    value: float
    influence: FloatArray


@dataclass(frozen=True, slots=True)
class PairedChange:
    """A figure before and now on the same texts.

    `loss` is how much worse it is now (below 0 where it is better), `p_worse` the one-sided p-value of the
    hypothesis that the true loss is at most the tolerance.
    """

    before: float
    now: float
    loss: float
    interval: Interval
    p_worse: float
    n: int
    units: int


def share_estimate(counted: ArrayLike, among: ArrayLike | None = None) -> Estimate:
    """The share of the texts `among` that are counted, (n,) each: passed cases, right answers, hits."""
    hits = np.asarray(counted, np.float64)
    members = np.ones(len(hits))
    if among is not None:
        members = np.asarray(among, np.float64)
        # A text that is not among them counts neither above nor below.
        hits = hits * members
    total = float(members.sum())
    if not total:
        return Estimate(math.nan, np.zeros(len(hits)))
    value = float(hits.sum()) / total
    influence = (hits - value * members) / total
    return Estimate(value, influence)


def mean_estimate(values: ArrayLike) -> Estimate:
    """The mean of a value per text, (n,): squared errors, scores, shifts."""
    numbers = np.asarray(values, np.float64)
    if not len(numbers):
        return Estimate(math.nan, numbers)
    mean = float(numbers.mean())
    return Estimate(mean, (numbers - mean) / len(numbers))


def label_estimate(
    name: str,
    positive: BoolArray,
    scores: FloatArray,
    decided: BoolArray,
) -> Estimate:
    """One of `LABEL_FIGURES` of the texts of one label, all (n,); NaN where it is undefined.

    `positive` marks the texts annotated 1 and `decided` those predicted 1; both AUC and average precision
    rank by the scores.
    """
    if name in ("auc", "average_precision"):
        if positive.all() or not positive.any():
            return Estimate(math.nan, np.zeros(len(positive)))
        influence_of = auc_influence if name == "auc" else average_precision_influence
        return Estimate(*influence_of(positive, scores))

    if name == "accuracy":
        return share_estimate(positive == decided)
    if name == "precision":
        return share_estimate(positive, decided)
    if name == "recall":
        return share_estimate(decided, positive)
    if name == "f1":
        return _f1_estimate(positive, decided)
    if name == "macro_f1":
        f1_of_1 = _f1_estimate(positive, decided)
        f1_of_0 = _f1_estimate(~positive, ~decided)
        return _mean_of(f1_of_1, f1_of_0)
    if name == "hard_auc":
        sensitivity = share_estimate(decided, positive)
        specificity = share_estimate(~decided, ~positive)
        return _mean_of(sensitivity, specificity)
    raise ValueError(f"no such figure: {name!r}; allowed: {', '.join(LABEL_FIGURES)}")


def paired_change(
    before: Estimate,
    now: Estimate,
    clusters: Clusters,
    *,
    tolerance: float = 0.0,
    larger_is_better: bool = True,
) -> PairedChange:
    """The loss from `before` to `now` on the same n texts, and whether it is above the tolerance.

    Two tests must agree, and the p-value is the larger of theirs. Turning the signs of whole clusters is
    exact without a tolerance and asks for enough texts that differ. Student's test of the loss against the
    tolerance, with Hall's correction for skewness, allows for the tolerance.
    """
    n = len(before.influence)
    if len(now.influence) != n or len(clusters.codes) != n:
        raise ValueError("a paired change needs both figures and the clusters on the same texts")

    sign = 1.0 if larger_is_better else -1.0
    loss = sign * (before.value - now.value)
    if math.isnan(loss):
        return PairedChange(
            before=before.value,
            now=now.value,
            loss=math.nan,
            interval=UNKNOWN,
            p_worse=math.nan,
            n=n,
            units=clusters.count,
        )

    influence = sign * (before.influence - now.influence)
    # Influences add up to 0; each text's share of the loss makes them the losses of the texts.
    losses = influence + loss / n
    by_signs = _signs_p(clusters.sums(losses))
    by_student = _student_p(loss - tolerance, influence, clusters)
    return PairedChange(
        before=before.value,
        now=now.value,
        loss=loss,
        interval=skewed_interval(loss, influence, clusters),
        p_worse=max(by_signs, by_student),
        n=n,
        units=clusters.count,
    )


def _signs_p(losses: FloatArray) -> float:
    """How often random signs of the clusters' losses, (clusters,), give at least their sum."""
    losses = losses[np.abs(losses) > 1e-15]
    total = float(losses.sum())
    if total <= 0:
        return 1.0
    # Of many clusters the sum is normal, and the table of signs would be large.
    if len(losses) > SHUFFLED:
        error = math.sqrt(float(np.sum(losses**2)))
        return normal_tail(total / error)

    if len(losses) <= EXACT_UP_TO:
        sums = all_signs(len(losses)) @ losses
        return float(np.mean(sums >= total - 1e-12))

    size = DRAWS, len(losses)
    signs = np.random.default_rng(0).choice((-1.0, 1.0), size)
    reached = int(np.sum(signs @ losses >= total - 1e-12))
    # The measured signs count as one of the draws, so that p is never 0.
    return (1 + reached) / (1 + DRAWS)


def _student_p(
    excess: float,
    influence: FloatArray,
    clusters: Clusters,
) -> float:
    """The one-sided p-value of an excess above 0, by Student's test or by Hall's, whichever is larger."""
    if excess <= 0 or clusters.count < 2:
        return 1.0
    spread = spread_of(influence, clusters)
    if not spread.variance > 0:
        # All texts moved alike: the turning of signs alone decides.
        return 0.0

    t = excess / math.sqrt(spread.variance)
    skewness = spread.skewness
    # Where a few clusters gain much, Student's test finds a loss too readily; Hall's takes the skewness off.
    hall = t + skewness * t**2 / 3 + skewness**2 * t**3 / 27 + skewness / 6
    equal = clusters.equal(np.ones(len(influence)))
    freedom = max(min(equal, spread.decisive) - 1, 1.0)
    return float(special.stdtr(freedom, -min(t, hall)))


def _f1_estimate(positive: BoolArray, decided: BoolArray) -> Estimate:
    """F1 = 2 tp / (2 tp + fp + fn); NaN without a text annotated 1."""
    if not positive.any():
        return Estimate(math.nan, np.zeros(len(positive)))
    hits = (positive & decided).astype(np.float64)
    weights = 2 * hits + (positive != decided)
    total = float(weights.sum())
    value = 2 * float(hits.sum()) / total
    influence = (2 * hits - value * weights) / total
    return Estimate(value, influence)


def _mean_of(first: Estimate, second: Estimate) -> Estimate:
    """The mean of two figures."""
    value = (first.value + second.value) / 2
    influence = (first.influence + second.influence) / 2
    return Estimate(value, influence)
