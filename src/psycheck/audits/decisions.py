"""Whether decisions say anything: nearly all alike or not, and ranking and decisions against chance."""

from dataclasses import dataclass

import numpy as np

from psycheck.core.arrays import FloatArray
from psycheck.core.finding import Interval
from psycheck.statistics.classification import BoolArray, auc_influence
from psycheck.statistics.clustered import (
    Clusters,
    difference_interval,
    figure_interval,
    ratio_interval,
)
from psycheck.statistics.usefulness import constancy

CONSTANT, ONE_DECISION, NEARLY_ONE = "constant", "one_decision", "nearly_one_decision"
ALIKE = (CONSTANT, ONE_DECISION, NEARLY_ONE)
# At least 90 % are alike, and too few texts tell whether the others follow the annotation.
PERHAPS_ONE = "perhaps_one_decision"
RARE = 0.02  # without annotations: the largest likely share of the rarer decision


@dataclass(frozen=True, slots=True)
class Area:
    """An AUC with its interval; that of decisions of 0 and 1 is the balanced accuracy."""

    value: float
    interval: Interval


def alike_flags(
    scores: FloatArray,
    decided_1: BoolArray,
    yes: BoolArray | None,
    units: Clusters,
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

    rarer_decision = bool(decided_1.mean() < 0.5)
    is_rarer = decided_1 == rarer_decision
    count = int(np.sum(is_rarer))
    # How rare is too rare depends on how common the label itself is.
    if yes is not None:
        verdict = constancy(yes, decided_1, units).verdict
        if verdict == "undecided" and count:
            return (PERHAPS_ONE,)
        return _flag(count, nearly_one=verdict == "near-constant" or not count)

    _, most = ratio_interval(is_rarer, np.ones(n), units)
    # A missing interval (NaN) shows nothing.
    return _flag(count, nearly_one=most < RARE)


def _flag(rarer_decisions: int, *, nearly_one: bool) -> tuple[str, ...]:
    if not nearly_one:
        return ()
    if rarer_decisions:
        return (NEARLY_ONE,)
    return (ONE_DECISION,)


def ranking_against_chance(
    yes: BoolArray,
    scores: FloatArray,
    units: Clusters,
    *,
    among: int,
) -> Area:
    """The AUC, all (n,), with an interval that holds together with `among` others."""
    area, influence = auc_influence(yes, scores)
    no = ~yes
    ones = yes.sum()
    zeros = no.sum()
    # The rarer class decides how far the interval can be trusted.
    rarer_class = yes if ones <= zeros else no
    halves = np.where(yes, 1 / ones, 1 / zeros)
    interval = figure_interval(
        area,
        influence,
        units.at(rarer_class),
        units,
        halves,
        among=among,
    )
    return Area(area, interval)


def decisions_against_chance(
    yes: BoolArray,
    decided_1: BoolArray,
    units: Clusters,
    *,
    among: int,
) -> Area:
    """The balanced accuracy, all (n,), with an interval that holds together with `among` others."""
    no = ~yes
    low, high = difference_interval(
        (decided_1 & yes, yes),
        (decided_1 & no, no),
        units,
        among=among,
    )
    informedness = float(decided_1[yes].mean() - decided_1[no].mean())

    # The balanced accuracy is (1 + informedness) / 2, and so are the ends of its interval.
    value = (1 + informedness) / 2
    interval = ((1 + low) / 2, (1 + high) / 2)
    return Area(value, interval)
