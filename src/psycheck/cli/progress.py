"""What standard error shows: notes, and the progress of long work."""

import sys
from collections.abc import Iterable
from time import monotonic
from typing import Self

import typer

_EVERY = {True: 0.2, False: 10.0}  # seconds between two updates, on a terminal and elsewhere


def print_notes(notes: Iterable[str], about: str = "") -> None:
    """Print notes, one per line, with the name of what they are about."""
    for note in notes:
        typer.echo(f"note: {about}: {note}" if about else f"note: {note}", err=True)


class ProgressLine:
    """Shows done, rate and time left: one moving line on a terminal, plain lines elsewhere."""

    def __init__(self) -> None:
        self._terminal = sys.stderr.isatty()
        self._start = self._last = monotonic()
        self._shown = False

    def __call__(self, name: str, done: int, total: int, seconds: float) -> None:
        """Show the progress, but not more often than a person can read."""
        now = monotonic()
        if now - self._last < _EVERY[self._terminal]:
            return
        self._last = now
        rate = done / seconds if seconds else 0.0
        left = _span((total - done) / rate) if rate else "?"
        line = f"{name}: {done:,} of {max(total, done):,}, {_speed(rate)}, {left} left"
        sys.stderr.write(f"\r\033[K{line}" if self._terminal else line + "\n")
        sys.stderr.flush()
        self._shown = True

    def training(self, done: int, total: int) -> None:
        """Show the steps of a training."""
        self("training", done, total, monotonic() - self._start)

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        if self._terminal and self._shown:
            sys.stderr.write("\r\033[K")
            sys.stderr.flush()


def _speed(rate: float) -> str:
    """Texts or steps per second, or seconds per step below one per second."""
    if 0 < rate < 1:
        return f"{1 / rate:,.1f} s each"
    return f"{rate:,.{0 if rate >= 10 else 1}f}/s"


def _span(seconds: float) -> str:
    minutes, rest = divmod(int(seconds + 0.5), 60)
    hours, minutes = divmod(minutes, 60)
    return (
        f"{hours} h {minutes:02} min" if hours else f"{minutes} min {rest:02} s" if minutes else f"{rest} s"
    )
