"""What the verbs print: a run, notes, and the progress of long work."""

import json
import sys
from collections.abc import Iterable
from pathlib import Path
from time import monotonic
from typing import TYPE_CHECKING, Self

import typer

from psycheck.cli.options import with_flags

if TYPE_CHECKING:
    from psycheck.run import Run

_EVERY = {True: 0.2, False: 10.0}  # seconds between two updates, on a terminal and elsewhere


def print_notes(notes: Iterable[str], about: str = "") -> None:
    """Print notes on standard error, one per line, with the name of what they are about."""
    for note in map(with_flags, notes):
        typer.echo(f"note: {about}: {note}" if about else f"note: {note}", err=True)


def print_run(run: "Run", out: Path, lines: Iterable[str], *, as_json: bool, **more: str) -> None:
    """Print a run: its notes, the verb's lines and the report's path; or `more` and its findings as JSON."""
    report = out / "report.html"
    if as_json:
        found = [json.loads(finding.as_json()) for finding in run.findings]
        content = {**more, "report": str(report), "findings": found, "notes": [*map(with_flags, run.notes)]}
        typer.echo(json.dumps(content, indent=1, ensure_ascii=False))
        return
    print_notes(run.notes)
    for line in lines:
        typer.echo(line)
    typer.echo(f"report: {report}")


class ProgressLine:
    """Shows done, rate and time left: one moving line on a terminal, plain lines elsewhere."""

    def __init__(self) -> None:
        self._terminal = sys.stderr.isatty()
        self._start = self._last = monotonic()
        self._shown = False

    def __call__(self, name: str, done: int, total: int, seconds: float) -> None:
        """Show the progress, but not more often than a person can read; a `total` of 0 is not known yet."""
        now = monotonic()
        if now - self._last < _EVERY[self._terminal]:
            return
        self._last = now
        rate = done / seconds if seconds else 0.0
        left = span((total - done) / rate) if rate else "?"
        speed = f"{1 / rate:,.1f} s each" if 0 < rate < 1 else f"{rate:,.{0 if rate >= 10 else 1}f}/s"
        line = f"{name}: {done:,} of {max(total, done):,}, {speed}, {left} left"
        if not total:
            line = f"{name}: {done:,}, {speed}"
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


def span(seconds: float) -> str:
    """A time for people: "1 h 05 min", "2 min 10 s", "3 s"."""
    minutes, rest = divmod(int(seconds + 0.5), 60)
    hours, minutes = divmod(minutes, 60)
    if hours:
        return f"{hours} h {minutes:02} min"
    return f"{minutes} min {rest:02} s" if minutes else f"{rest} s"
