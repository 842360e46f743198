"""How long work reports its progress."""

from collections.abc import Callable
from itertools import count
from time import monotonic

# Called with what is worked on, how much is done, how much there is (0: not known yet), and seconds so far.
Progress = Callable[[str, int, int, float], None]


Say = Callable[[str], None]
"""Called with one line about what is done next."""


def quiet(_: str) -> None:
    """Report nothing."""


def silent(
    name: str,
    done: int,
    total: int,
    seconds: float,
    /,
) -> None:
    """Report nothing."""


def counting(progress: Progress, name: str, total: int) -> Callable[[str], None]:
    """A function to call with each finished part of long work, which reports the progress."""
    started = monotonic()
    finished_parts = count(1)

    def step(part: str) -> None:
        seconds = monotonic() - started
        progress(f"{name}, {part}", next(finished_parts), total, seconds)

    return step
