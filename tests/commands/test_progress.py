import io
import sys

import pytest

from psycheck.commands.console import ProgressLine


@pytest.mark.parametrize(
    ("done", "seconds", "said"),
    [
        (50, 2.0, "minilm: 50 of 100, 25/s, 2 s left"),
        (9, 2.0, "minilm: 9 of 100, 4.5/s, 20 s left"),
        (2, 25.0, "minilm: 2 of 100, 12.5 s each, 20 min 25 s left"),
        (0, 3.0, "minilm: 0 of 100, 0.0/s, ? left"),
    ],
)
def test_slow_steps_are_told_in_seconds_each(
    monkeypatch: pytest.MonkeyPatch, done: int, seconds: float, said: str
) -> None:
    moments = iter([0.0, 60.0])
    monkeypatch.setattr("psycheck.commands.console.monotonic", lambda: next(moments))
    shown = io.StringIO()
    monkeypatch.setattr(sys, "stderr", shown)
    ProgressLine()("minilm", done, 100, seconds)
    assert shown.getvalue() == said + "\n"


def moments_of(monkeypatch: pytest.MonkeyPatch, *moments: float) -> io.StringIO:
    """A log, and a clock that shows these moments."""
    clock = iter(moments)
    monkeypatch.setattr("psycheck.commands.console.monotonic", lambda: next(clock))
    shown = io.StringIO()
    monkeypatch.setattr(sys, "stderr", shown)
    return shown


def test_the_time_left_is_that_of_the_last_minute(monkeypatch: pytest.MonkeyPatch) -> None:
    shown = moments_of(monkeypatch, 0.0, 100.0, 130.0, 160.0)
    line = ProgressLine()
    # A model that needed 100 s to load and then scores one text per second.
    line("m", 0, 120, 100.0)
    line("m", 30, 120, 130.0)
    line("m", 60, 120, 160.0)
    assert shown.getvalue().splitlines()[-1] == "m: 60 of 120, 1.0/s, 1 min 00 s left"


def test_a_log_names_the_phase_beside_its_figures(monkeypatch: pytest.MonkeyPatch) -> None:
    shown = moments_of(monkeypatch, 0.0, 20.0)
    line = ProgressLine()
    line.phase("scoring")
    line("m", 20, 40, 20.0)
    line.phase("judging")
    assert shown.getvalue() == "scoring m: 20 of 40, 1.0/s, 20 s left\n"


def test_a_terminal_shows_each_phase(monkeypatch: pytest.MonkeyPatch) -> None:
    terminal = io.StringIO()
    monkeypatch.setattr(terminal, "isatty", lambda: True)
    monkeypatch.setattr(sys, "stderr", terminal)
    with ProgressLine() as line:
        line.phase("reading")
        line.phase("judging")
    assert terminal.getvalue() == "\r\033[Kreading …\r\033[Kjudging …\r\033[K"
