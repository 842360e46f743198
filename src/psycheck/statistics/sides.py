"""Two samples of texts that are compared: their units, shuffled sides, and the jackknife of a figure of both.

Intervals are 95 % intervals of a delete-a-group jackknife: both samples are cut into groups, each is left out
once, and the spread of the results is the error. Unlike the bootstrap it repeats no text, which would make
two samples look further apart than they are. Texts of one unit (an author) are shuffled and left out
together. Below 5 units per side, or if all values are equal, there is no interval.
"""

import math
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from psycheck.statistics.classification import BoolArray, FloatArray, IntArray
from psycheck.statistics.intervals import UNKNOWN, Interval

GROUPS = 20
FEWEST = 5  # units per side; the spread of fewer is meaningless
_ROUNDING = 1e-12


@dataclass(frozen=True, slots=True)
class Figure:
    """A value with its interval and the number of texts, pairs or parts behind it."""

    value: float
    interval: Interval | None
    n: int


@dataclass(frozen=True, slots=True)
class Sides:
    """Two samples one after the other: the unit of each text, and whether it is in the first, (n,) each."""

    units: IntArray
    first: BoolArray

    @classmethod
    def of(
        cls,
        m: int,
        n: int,
        units: IntArray | None = None,
    ) -> "Sides":
        """Number the units of m and n texts; without `units` each text is one."""
        places = np.arange(m + n)
        numbers = places
        if units is not None:
            _, numbers = np.unique(units, return_inverse=True)
        return cls(numbers.astype(np.int64), places < m)

    def counts(self) -> tuple[int, int]:
        """The number of units on each side."""
        units_of_first = np.unique(self.units[self.first])
        units_of_second = np.unique(self.units[~self.first])
        return len(units_of_first), len(units_of_second)

    def fewest(self) -> int:
        """The number of units of the smaller side; of the only one where the other is empty."""
        return min(count for count in self.counts() if count)

    def shuffled(
        self,
        random: np.random.Generator,
        *,
        least: int = 2,
    ) -> BoolArray:
        """Which texts are in the first sample by chance, (n,): whole units trade places.

        A unit with texts on both sides swaps its two parts or not. Either sample keeps `least` texts.
        """
        shares = self._shares()
        is_one_sided = (shares == 0) | (shares == 1)
        one_sided = shares[is_one_sided]
        while True:
            swaps = random.random(len(shares)) < 0.5
            # One-sided units are permuted, which keeps the number of units on either side.
            swaps[is_one_sided] = one_sided != random.permutation(one_sided)
            members: BoolArray = self.first ^ swaps[self.units]
            if least <= members.sum() <= len(members) - least:
                return members

    def groups(self, most: int = GROUPS) -> IntArray:
        """Random groups of whole units for the jackknife, (n,), with as many units of each side as can be."""
        shares = self._shares()
        unit_count = len(shares)
        group_count = min(most, unit_count)
        # In order of their sides, and by chance within a side, units are dealt out like cards.
        by_chance = np.random.default_rng(0).random(unit_count)
        order = np.lexsort((by_chance, shares))
        group_of_unit = np.empty(unit_count, np.int64)
        group_of_unit[order] = np.arange(unit_count) % group_count
        return group_of_unit[self.units]

    def _shares(self) -> FloatArray:
        """The share of the texts of each unit that is in the first sample, (units,)."""
        sizes = np.bincount(self.units)
        shares: FloatArray = np.bincount(self.units, self.first) / sizes
        return shares


def jackknife(
    value: float,
    measure: Callable[[BoolArray], float],
    sides: Sides,
    *,
    groups: int = GROUPS,
    low: float = 0.0,
    high: float = math.inf,
    besides: float = 0.0,
) -> Interval:
    """The interval around a value from leaving out each group of units once; `measure` takes what is kept.

    `besides` is added to the variance. Unknown below 5 units per side, and if leaving out changes nothing.
    """
    from scipy.stats import t

    if sides.fewest() < FEWEST:
        return UNKNOWN
    group_of_text = sides.groups(groups)
    count = int(group_of_text.max()) + 1
    without = np.array([measure(group_of_text != group) for group in range(count)])
    squares = float(((without - without.mean()) ** 2).sum())
    # Values without a group hardly differ, as they share all other groups: hence count − 1 in the numerator.
    variance = (count - 1) / count * squares
    least = _ROUNDING * max(1.0, abs(value))
    # A NaN is not above the least either: what cannot be computed without a group has no interval.
    if not math.sqrt(variance) > least:
        return UNKNOWN
    freedom = min(count, sides.fewest()) - 1
    half_width = float(t.ppf(0.975, freedom)) * math.sqrt(variance + besides)
    return max(low, value - half_width), min(high, value + half_width)
