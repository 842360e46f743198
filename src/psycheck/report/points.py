"""Differences of rates in percentage points, and which side has more."""

from psycheck.core.finding import Finding
from psycheck.report.numbers import decimal, ends, known_interval

MISSED, POSITIVE = "equal_opportunity_difference", "demographic_parity_difference"


def in_points(gap: Finding) -> str:
    """The size of a difference of rates in percentage points: "30 points (18–41)"."""
    sign = 1 if gap.value > 0 else -1
    size = decimal(100 * sign * gap.value, 0)
    if not known_interval(gap):
        return f"{size} points"
    ends_in_points = [100 * sign * end for end in ends(gap)]
    lowest, highest = sorted(ends_in_points)

    # A dash before a minus sign would be hard to read.
    between = " to " if lowest < 0 else "–"
    low_to_high = f"{decimal(lowest, 0)}{between}{decimal(highest, 0)}"
    return f"{size} points ({low_to_high})"


def directed(gap: Finding) -> bool:
    """Whether the interval of a difference excludes 0."""
    return least(gap) > 0


def first_has_more(gap: Finding) -> bool:
    """Whether the first side is missed or decided positive more often."""
    # True positive rates are compared: the side with the lower one is missed more often.
    return gap.value < 0 if gap.measure.startswith(MISSED) else gap.value > 0


def least(gap: Finding) -> float:
    """The smallest distance from 0 within the interval of a difference; 0 without one."""
    if not known_interval(gap):
        return 0.0
    low, high = ends(gap)
    return max(low, -high, 0.0)
