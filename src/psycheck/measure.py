"""A measure: what a figure is called, which values are good, and how findings of it are identified."""

from dataclasses import dataclass
from typing import Literal

Kind = Literal["rate", "score", "distance", "p_value", "count"]


@dataclass(frozen=True, slots=True)
class Measure:
    """One measure; `better` is "higher", "lower", "none" or the best value, `keys` those of `where`."""

    name: str
    title: str
    kind: Kind
    better: str | float
    unit: str = ""
    sentence: str = ""
    keys: tuple[str, ...] = ()
