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
