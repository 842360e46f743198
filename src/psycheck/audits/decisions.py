"""Whether decisions say anything: nearly all alike or not, and ranking and decisions against chance."""

from dataclasses import dataclass

import numpy as np

from psycheck.core.arrays import FloatArray
from psycheck.core.finding import Interval
from psycheck.statistics.classification import BoolArray, auc_influence
from psycheck.statistics.clustered import Clusters, difference_interval, figure_interval, ratio_interval
from psycheck.statistics.usefulness import constancy

CONSTANT, ONE_DECISION, NEARLY_ONE = "constant", "one_decision", "nearly_one_decision"
ALIKE = (CONSTANT, ONE_DECISION, NEARLY_ONE)
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
    if yes is not None:
        nearly_one = constancy(yes, decided_1, units).verdict == "near-constant"
        return _flag(count, nearly_one=nearly_one or not count)

    _, most = ratio_interval(decided_1 == rarer, np.ones(n), units)
    # A missing interval (NaN) shows nothing.
    return _flag(count, nearly_one=most < RARE)


def _flag(rarer_decisions: int, *, nearly_one: bool) -> tuple[str, ...]:
    if not nearly_one:
        return ()
    return (NEARLY_ONE,) if rarer_decisions else (ONE_DECISION,)


def ranking_against_chance(yes: BoolArray, scores: FloatArray, units: Clusters, *, among: int) -> Area:
    """The AUC, all (n,), with an interval that holds together with `among` others."""
    area, influence = auc_influence(yes, scores)
    rarer = units.at(yes if yes.sum() <= (~yes).sum() else ~yes)
    halves = np.where(yes, 1 / yes.sum(), 1 / (~yes).sum())
    return Area(area, figure_interval(area, influence, rarer, units, halves, among=among))


def decisions_against_chance(yes: BoolArray, decided_1: BoolArray, units: Clusters, *, among: int) -> Area:
    """The balanced accuracy, all (n,), with an interval that holds together with `among` others."""
    hits = decided_1 & yes, yes
    false_alarms = decided_1 & ~yes, ~yes
    low, high = difference_interval(hits, false_alarms, units, among=among)
    informedness = float(decided_1[yes].mean() - decided_1[~yes].mean())
    return Area((1 + informedness) / 2, ((1 + low) / 2, (1 + high) / 2))
