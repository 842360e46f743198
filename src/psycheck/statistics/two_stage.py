"""A cheap classifier with a band in which an expensive one is asked instead: accuracy against cost."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from psycheck.statistics.classification import BoolArray, FloatArray, firm, gold, usable

_EQUAL = 1e-9  # distances of .2 and .8 from .5 differ by rounding alone


@dataclass(frozen=True, slots=True)
class CascadePoint:
    """One band around the threshold: how many of n texts are asked about, and how good the decisions are.

    Texts whose cheap score is less than `half_width` from the threshold are asked about.
    """

    asked: int
    n: int
    half_width: float
    f1: float
    accuracy: float

    @property
    def share(self) -> float:
        """The share of texts that are asked about."""
        return self.asked / self.n


@dataclass(frozen=True, slots=True)
class Prices:
    """What one text costs: asked of the expensive model, sent to a person, and decided wrongly."""

    expensive: float
    person: float = 0.0
    error: float = 0.0


def cascade_curve(
    targets: FloatArray, cheap: FloatArray, expensive: FloatArray, threshold: float = 0.5
) -> tuple[CascadePoint, ...]:
    """Every band around the threshold, from none asked to all, targets and scores (n,).

    The expensive model decides inside the band; where it gives no answer (NaN), the cheap one does. Texts
    without a target or a cheap score are left out. Texts at the same distance are asked about together.
    """
    known = usable(firm(targets), cheap)
    positive = gold(firm(targets)[known])
    cheap_decides = cheap[known] >= threshold
    answered = ~np.isnan(expensive[known])
    expensive_decides = np.where(answered, expensive[known] >= threshold, cheap_decides)

    distance = np.abs(cheap[known] - threshold)
    order = np.argsort(distance, kind="stable")
    sorted_distance = distance[order]

    # Asking about one more text swaps its decision: counts for every number of texts asked, (n + 1,).
    swaps = _swaps(positive[order], cheap_decides[order], expensive_decides[order])
    true_positives = np.sum(cheap_decides & positive) + swaps.true_positives
    false_positives = np.sum(cheap_decides & ~positive) + swaps.false_positives
    false_negatives = positive.sum() - true_positives
    n = len(positive)

    points = []
    for asked in _ends_of_ties(sorted_distance):
        errors = float(false_positives[asked] + false_negatives[asked])
        right = float(true_positives[asked])
        points.append(
            CascadePoint(
                asked=asked,
                n=n,
                half_width=_half_width(sorted_distance, asked),
                f1=_ratio(2 * right, 2 * right + errors),
                accuracy=_ratio(n - errors, n),
            )
        )
    return tuple(points)


@dataclass(frozen=True, slots=True)
class _Swaps:
    """The change of each count when the first texts are decided by the other model, (n + 1,)."""

    true_positives: FloatArray
    false_positives: FloatArray


def _swaps(positive: BoolArray, before: BoolArray, after: BoolArray) -> _Swaps:
    change = after.astype(np.float64) - before.astype(np.float64)
    return _Swaps(
        true_positives=np.concatenate([[0.0], np.cumsum(change * positive)]),
        false_positives=np.concatenate([[0.0], np.cumsum(change * ~positive)]),
    )


def _ends_of_ties(distances: FloatArray) -> list[int]:
    """The numbers of texts that a band can hold: equal distances are in it together, or not at all."""
    n = len(distances)
    ends = [place for place in range(1, n) if distances[place] - distances[place - 1] > _EQUAL]
    return [0, *ends, n] if n else [0]


def _half_width(distances: FloatArray, asked: int) -> float:
    """Half the width of the band that holds the first texts: halfway to the next one."""
    n = len(distances)
    if asked == 0:
        return 0.0
    if asked == n:
        return 1.0
    return float((distances[asked - 1] + distances[asked]) / 2)


def _ratio(part: float, whole: float) -> float:
    return part / whole if whole else float("nan")


def best_within_budget(curve: Sequence[CascadePoint], budget: float) -> CascadePoint:
    """The band with the highest F1 that asks about at most this share; of equal ones the narrowest."""
    affordable = [point for point in curve if point.share <= budget]
    return max(affordable, key=lambda point: (point.f1, -point.asked))


def cheapest_within_loss(curve: Sequence[CascadePoint], loss: float) -> CascadePoint:
    """The narrowest band whose F1 is at most this much below that of asking about every text."""
    of_all = curve[-1].f1
    good_enough = [point for point in curve if point.f1 >= of_all - loss - 1e-12]
    return min(good_enough, key=lambda point: point.asked)


def expected_cost(
    targets: FloatArray, decided: FloatArray, asked: BoolArray, prices: Prices
) -> tuple[float, float]:
    """The cost of all texts, and the share sent to a person: those that are not decided (NaN), all (n,).

    A person costs what a person costs and errs not; a wrong decision costs its own price.
    """
    abstained = np.isnan(decided)
    known = usable(firm(targets), decided)
    wrong = known & (decided != firm(targets).round())
    cost = prices.expensive * asked.sum() + prices.person * abstained.sum() + prices.error * wrong.sum()
    return float(cost), float(abstained.mean()) if len(abstained) else 0.0
