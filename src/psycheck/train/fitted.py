"""What every kind of training returns, and the callbacks it reports to."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path

Progress = Callable[[int, int], None]
AfterEpoch = Callable[[float, Mapping[str, float]], None]


@dataclass(frozen=True, slots=True)
class Fitted:
    """A trained model in memory: dev figures, their curve, its window in tokens, and how to save it."""

    dev: dict[str, float]
    curve: tuple[dict[str, float], ...]
    window: int | None
    save: Callable[[Path], None]
