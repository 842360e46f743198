"""What the tables of `intervals.py` share: texts drawn from a known population, and counted shares."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from psycheck.statistics.intervals import Interval, exact

# Methods were chosen on seeds below this one, and up to 2,000,000 + draws reported once before.
REPORTING = 7_000_000
FloatArray = NDArray[np.float64]
IntArray = NDArray[np.int64]
BoolArray = NDArray[np.bool_]
Random = np.random.Generator


@dataclass(frozen=True, slots=True)
class Share:
    """How often something held in some draws; `widths` are what else is printed beside it."""

    hits: int
    draws: int
    widths: tuple[float, ...] = ()

    @classmethod
    def of(cls, held: Sequence[bool], *widths: Sequence[float]) -> "Share":
        """From the outcome of each draw, and the widths of intervals in each."""
        means = [float(np.mean(column)) for column in widths if len(column)]
        return cls(sum(map(bool, held)), len(held), tuple(means))

    @property
    def percent(self) -> float:
        """The share in percent."""
        return 100 * self.hits / self.draws

    def interval(self) -> Interval:
        """The exact 95 % interval of the share, in percent: the error of the simulation."""
        low, high = exact(self.hits / self.draws, self.draws, 1)
        return 100 * low, 100 * high

    def __str__(self) -> str:
        if not self.draws:
            return "–"
        widths = "; ".join(f"{width:.3f}" for width in self.widths)
        return f"{self.percent:.1f} ({widths})" if widths else f"{self.percent:.1f}"


Row = list[str | Share]
Rows = Iterator[Row]


def random_of(*numbers: int) -> Random:
    """The random numbers of a cell of a table."""
    return np.random.default_rng((REPORTING, *numbers))


def authors_of(
    random: Random,
    n: int,
    authors: int,
    sizes: str = "unequal",
) -> IntArray:
    """The author of each of n texts: as many each, a few who write much, or one of half of the texts."""
    if not authors:
        return np.arange(n)
    if sizes == "equal":
        return np.arange(n) % authors
    weights = np.ones(authors)
    if sizes == "unequal":
        weights = random.lognormal(0, 1, authors)
    if sizes == "half":
        weights[0] = authors - 1
    return random.choice(authors, n, p=weights / weights.sum())


def traits(random: Random, authors: IntArray, alike: float) -> FloatArray:
    """A standard normal trait per text, of which authors share the part `alike`."""
    of_author = random.normal(size=int(authors.max()) + 1)[authors]
    of_text = random.normal(size=len(authors))
    drawn: FloatArray = np.sqrt(alike) * of_author + np.sqrt(1 - alike) * of_text
    return drawn


def holds(interval: Interval, truth: float) -> bool:
    """Whether an interval holds the true value."""
    low, high = interval
    return low <= truth <= high
