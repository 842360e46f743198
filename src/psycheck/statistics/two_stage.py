"""A cheap classifier with a band in which an expensive one is asked instead: accuracy against cost."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from psycheck.statistics.classification import BoolArray, FloatArray, firm, gold, usable

_ABSTENTIONS = tuple(step / 20 for step in range(10))  # half-widths: 0 to 0.45
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
    targets: FloatArray,
    cheap: FloatArray,
    expensive: FloatArray,
    threshold: float = 0.5,
) -> tuple[CascadePoint, ...]:
    """Every band around the threshold, from none asked to all, targets and scores (n,).

    The expensive model decides inside the band; where it gives no answer (NaN), the cheap one does. Texts
    without a target or a cheap score are left out. Texts at the same distance are asked about together.
    """
    is_usable = usable(firm(targets), cheap)
    positive = gold(targets[is_usable])
    cheap_scores = cheap[is_usable]
    expensive_scores = expensive[is_usable]
    cheap_decides = cheap_scores >= threshold
    is_answered = ~np.isnan(expensive_scores)
    expensive_decides = np.where(is_answered, expensive_scores >= threshold, cheap_decides)

    # The band grows from the threshold, so texts are asked about in order of their distance from it.
    distance = np.abs(cheap_scores - threshold)
    order = np.argsort(distance, kind="stable")
    sorted_distance = distance[order]

    # Asking about one more text swaps its decision: counts for every number of texts asked, (n + 1,).
    swaps = _swaps(positive[order], cheap_decides[order], expensive_decides[order])
    hits_of_cheap = np.sum(cheap_decides & positive)
    false_alarms_of_cheap = np.sum(cheap_decides & ~positive)
    true_positives = hits_of_cheap + swaps.true_positives
    false_positives = false_alarms_of_cheap + swaps.false_positives
    false_negatives = positive.sum() - true_positives
    n = len(positive)

    points = []
    for number_asked in _ends_of_ties(sorted_distance):
        errors = float(false_positives[number_asked] + false_negatives[number_asked])
        doubled_hits = 2 * float(true_positives[number_asked])
        point = CascadePoint(
            asked=number_asked,
            n=n,
            half_width=_half_width(sorted_distance, number_asked),
            f1=_ratio(doubled_hits, doubled_hits + errors),
            accuracy=_ratio(n - errors, n),
        )
        points.append(point)
    return tuple(points)


@dataclass(frozen=True, slots=True)
class _Swaps:
    """The change of each count when the first texts are decided by the other model, (n + 1,)."""

    true_positives: FloatArray
    false_positives: FloatArray


def _swaps(
    positive: BoolArray,
    before: BoolArray,
    after: BoolArray,
) -> _Swaps:
    """The swaps of texts in the order in which they are asked about, marks (n,)."""
    change = after.astype(np.float64) - before.astype(np.float64)
    hits = np.cumsum(change * positive)
    false_alarms = np.cumsum(change * ~positive)
    # Nothing has changed before the first text.
    return _Swaps(
        true_positives=np.concatenate([[0.0], hits]), false_positives=np.concatenate([[0.0], false_alarms])
    )


def _ends_of_ties(distances: FloatArray) -> list[int]:
    """The numbers of texts that a band can hold: equal distances are in it together, or not at all."""
    n = len(distances)
    if not n:
        return [0]
    ends = [0]
    for place in range(1, n):
        step = distances[place] - distances[place - 1]
        if step > _EQUAL:
            ends.append(place)
    return [*ends, n]


def _half_width(distances: FloatArray, number_asked: int) -> float:
    """Half the width of the band that holds the first texts: halfway to the next one."""
    n = len(distances)
    if number_asked == 0:
        return 0.0
    if number_asked == n:
        return 1.0
    furthest_inside = distances[number_asked - 1]
    nearest_outside = distances[number_asked]
    return float((furthest_inside + nearest_outside) / 2)


def _ratio(part: float, total: float) -> float:
    """A share; NaN of nothing."""
    return part / total if total else float("nan")


def best_within_budget(curve: Sequence[CascadePoint], budget: float) -> CascadePoint:
    """The band with the highest F1 that asks about at most this share; of equal ones the narrowest."""
    affordable = [point for point in curve if point.share <= budget]
    return max(affordable, key=lambda point: (point.f1, -point.asked))


def cheapest_within_loss(curve: Sequence[CascadePoint], loss: float) -> CascadePoint:
    """The narrowest band whose F1 is at most this much below that of asking about every text."""
    f1_of_all = curve[-1].f1
    # A loss that is equal up to rounding is allowed.
    least = f1_of_all - loss - 1e-12
    good_enough = [point for point in curve if point.f1 >= least]
    return min(good_enough, key=lambda point: point.asked)


def text_costs(
    targets: FloatArray,
    decided: FloatArray,
    asked: BoolArray,
    prices: Prices,
) -> FloatArray:
    """The cost of each text, all (n,); where nothing is decided (NaN), a person decides.

    A person costs what a person costs and errs not; a wrong decision costs its own price. A text without a
    target has no known error, so its cost is NaN.
    """
    abstained = np.isnan(decided)
    sure_targets = firm(targets)
    is_wrong = ~abstained & (decided != gold(targets))
    costs = prices.expensive * asked + prices.person * abstained + prices.error * is_wrong
    return np.where(np.isnan(sure_targets), np.nan, costs)


@dataclass(frozen=True, slots=True)
class Policy:
    """A band, and the scores around the threshold that are left to a person; `cost` is that of one text."""

    point: CascadePoint
    abstain: float
    cost: float


def cheapest_policy(
    targets: FloatArray,
    cheap: FloatArray,
    expensive: FloatArray,
    curve: Sequence[CascadePoint],
    prices: Prices,
    threshold: float = 0.5,
) -> Policy:
    """The band of a curve, and the final scores left to a person, whose texts cost least; scores (n,).

    Final scores nearer to the threshold than `abstain` are left to a person. Of equal costs the fewest calls
    win, then the fewest persons.
    """
    distance = np.abs(cheap - threshold)
    policies = []
    for point in curve:
        asked = distance < point.half_width
        answered = asked & ~np.isnan(expensive)
        final = np.where(answered, expensive, cheap)
        for abstain in _ABSTENTIONS:
            is_left = np.abs(final - threshold) < abstain - _EQUAL
            decided = np.where(is_left, np.nan, final >= threshold)
            cost = float(np.nanmean(text_costs(targets, decided, asked, prices)))
            policies.append(Policy(point=point, abstain=abstain, cost=cost))
    return min(policies, key=lambda policy: (policy.cost, policy.point.asked, policy.abstain))
