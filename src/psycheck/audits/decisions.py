"""Whether decisions say anything: nearly all alike or not, and ranking and decisions against chance."""

from dataclasses import dataclass

import numpy as np

from psycheck.core.arrays import FloatArray
from psycheck.core.finding import Interval
from psycheck.statistics.classification import BoolArray, auc_influence
from psycheck.statistics.clustered import Clusters, figure_interval, ratio_interval

CONSTANT, ONE_DECISION, NEARLY_ONE = "constant", "one_decision", "nearly_one_decision"
ALIKE = (CONSTANT, ONE_DECISION, NEARLY_ONE)
FEWER = 4  # times fewer rare decisions than rare annotations are nearly one decision
RARE = 0.02  # without annotations: the largest likely share of the rarer decision


@dataclass(frozen=True, slots=True)
class Area:
    """An AUC with its interval; that of decisions of 0 and 1 is the balanced accuracy."""

    value: float
    interval: Interval


def alike_flags(
    scores: FloatArray, decided_1: BoolArray, yes: BoolArray | None, units: Clusters
) -> tuple[str, ...]:
    """How nearly all decisions are alike, all (n,); `yes` are the annotations, where there are any.

    A single text shows nothing. Texts of one class may all rightly get one decision: only scores that are all
    the same tell there.
    """
    n = len(decided_1)
    if n < 2:
        return ()
    if np.ptp(scores) == 0:
        return (CONSTANT,)
    if yes is not None and (yes.all() or not yes.any()):
        return ()

    rarer = bool(decided_1.mean() < 0.5)
    count = int(np.sum(decided_1 == rarer))
    if not count and yes is not None:
        return (ONE_DECISION,)

    ones = np.ones(n)
    _, most = ratio_interval(decided_1 == rarer, ones, units)
    limit = RARE if yes is None else ratio_interval(yes == rarer, ones, units)[0] / FEWER
    # A missing interval (NaN) shows nothing.
    if not most < limit:
        return ()
    return (NEARLY_ONE,) if count else (ONE_DECISION,)


def area_against_chance(yes: BoolArray, values: FloatArray, units: Clusters, *, among: int) -> Area:
    """The AUC of scores or decisions, all (n,), with an interval that holds together with `among` others."""
    area, influence = auc_influence(yes, values)
    rarer = units.at(yes if yes.sum() <= (~yes).sum() else ~yes)
    halves = np.where(yes, 1 / yes.sum(), 1 / (~yes).sum())
    return Area(area, figure_interval(area, influence, rarer, units, halves, among=among))
