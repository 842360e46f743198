"""What the verbs print: a run, notes, and the progress of long work."""

import json
import re
import sys
from collections import deque
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from pathlib import Path
from time import monotonic
from typing import TYPE_CHECKING, Any, Self

import typer

from psycheck.commands.colours import say
from psycheck.commands.options import with_flags
from psycheck.core.command import is_quiet
from psycheck.core.finding import SCHEMA_VERSION
from psycheck.core.progress import Progress, silent

if TYPE_CHECKING:
    from psycheck.core.finding import Finding
    from psycheck.core.run import Run

_ASSUMED = re.compile(r"Guessed that (.+)\.")  # how notes begin that tell what a file did not say
# Seconds between two updates.
_ON_A_TERMINAL = 0.2
_IN_A_LOG = 10.0
_RECENT = 60.0  # seconds over which the rate is taken
_CLEAR_LINE = "\r\033[K"


def print_notes(notes: Iterable[str], about: str = "", *, even_if_quiet: bool = False) -> None:
    """Print notes on standard error, one per line; all that was assumed about a thing is one line."""
    if is_quiet() and not even_if_quiet:
        return
    name = f"{about}: " if about else ""
    all_notes = [with_flags(note) for note in notes]
    assumptions = [assumed[1] for note in all_notes if (assumed := _ASSUMED.fullmatch(note))]
    if assumptions:
        say(f"assumed: {name}{'; '.join(assumptions)}", err=True)
    for note in all_notes:
        if not _ASSUMED.fullmatch(note):
            say(f"note: {name}{note}", err=True)


def caution_lines(cautions: Iterable["Finding"]) -> list[str]:
    """Each caution about a corpus on one line, and then the commands that help, each once."""
    from psycheck.report.cautions import commands

    found = list(cautions)
    lines = [f"caution: {caution.where['corpus']}: {caution.where['sentence']}" for caution in found]
    return [*lines, *(f"  do: {command}" for command in commands(found))]


def print_run(run: "Run", out: Path, lines: Iterable[str], *, as_json: bool, **more: str) -> None:
    """Print a run: its notes, the verb's lines and the report's path; or `more` and its findings as JSON."""
    report = out / "report.html"
    if as_json:
        # Notes are part of the JSON, so that programs get them without reading standard error.
        content = {
            "schema_version": SCHEMA_VERSION,
            **more,
            "report": str(report),
            "findings": [finding.as_record() for finding in run.findings],
            "notes": [with_flags(note) for note in run.notes],
        }
        typer.echo(json.dumps(content, indent=1, ensure_ascii=False))
        return

    print_notes(run.notes)
    for line in lines:
        say(line)
    say(f"report: {report}")


def print_json(**content: Any) -> None:
    """Print the result of a verb for programs."""
    typer.echo(json.dumps({"schema_version": SCHEMA_VERSION, **content}, indent=1, ensure_ascii=False))


class ProgressLine:
    """Shows the phase, done, rate and time left: one moving line on a terminal, plain lines elsewhere.

    The rate and the time left are those of the last minute.
    """

    def __init__(self) -> None:
        self._terminal = sys.stderr.isatty()
        self._pause = _ON_A_TERMINAL if self._terminal else _IN_A_LOG
        self._start = self._last = monotonic()
        self._shown = False
        self._phase = ""
        self._recent: dict[str, deque[tuple[float, int]]] = {}  # when how much was done, by name

    def phase(self, name: str) -> None:
        """Show what is done next (reading, judging …); a log only names it beside figures."""
        self._phase = name
        if self._terminal and not is_quiet():
            sys.stderr.write(f"{_CLEAR_LINE}{name} …")
            sys.stderr.flush()
            self._shown = True

    def __call__(self, name: str, done: int, total: int, seconds: float) -> None:
        """Show the progress, but not more often than a person can read; a `total` of 0 is not known yet."""
        now = monotonic()
        if is_quiet() or now - self._last < self._pause:
            return
        self._last = now

        line = _progress(f"{self._phase} {name}".lstrip(), done, total, self._rate(name, done, seconds, now))
        sys.stderr.write(f"{_CLEAR_LINE}{line}" if self._terminal else f"{line}\n")
        sys.stderr.flush()
        self._shown = True

    def _rate(self, name: str, done: int, seconds: float, now: float) -> float:
        """How much is done per second, of the last minute: the beginning may have been slow, or stored."""
        recent = self._recent.setdefault(name, deque())
        # The work began with nothing done, `seconds` ago.
        if not recent:
            recent.append((now - seconds, 0))
        recent.append((now, done))
        while len(recent) > 2 and recent[1][0] <= now - _RECENT:
            recent.popleft()
        (earlier, done_earlier), (later, done_later) = recent[0], recent[-1]
        return (done_later - done_earlier) / (later - earlier) if later > earlier else 0.0

    def training(self, done: int, total: int) -> None:
        """Show the steps of a training."""
        self("training", done, total, monotonic() - self._start)

    def __enter__(self) -> Self:
        return self

    def clear(self) -> None:
        """Remove the moving line before something else is printed; lines of a log are a record, and stay."""
        if self._terminal and self._shown:
            sys.stderr.write(_CLEAR_LINE)
            sys.stderr.flush()

    def __exit__(self, *_: object) -> None:
        self.clear()


@contextmanager
def shown_progress(progress: Progress | None) -> Iterator[Progress]:
    """The progress that a caller passed; without one, a line on a terminal or in a notebook, else nothing."""
    if progress is not None:
        yield progress
        return
    if not sys.stderr.isatty() and "ipykernel" not in sys.modules:
        yield silent
        return
    with ProgressLine() as line:
        yield line


def _progress(name: str, done: int, total: int, rate: float) -> str:
    """The line "scoring minilm: 20 of 100, 5.0/s, 16 s left", without what is not known."""
    # A rate below 1 reads as "0/s": the time of each says more.
    if 0 < rate < 1:
        speed = f"{1 / rate:,.1f} s each"
    elif rate < 10:
        speed = f"{rate:,.1f}/s"
    else:
        speed = f"{rate:,.0f}/s"

    if not total:
        return f"{name}: {done:,}, {speed}"
    # A total is an estimate where texts are still being made, and may be passed.
    time_left = span((total - done) / rate) if rate else "?"
    return f"{name}: {done:,} of {max(total, done):,}, {speed}, {time_left} left"


def span(seconds: float) -> str:
    """A time for people: "1 h 05 min", "2 min 10 s", "3 s"."""
    all_minutes, full_seconds = divmod(int(seconds + 0.5), 60)
    hours, minutes = divmod(all_minutes, 60)
    if hours:
        return f"{hours} h {minutes:02} min"
    if minutes:
        return f"{minutes} min {full_seconds:02} s"
    return f"{full_seconds} s"
