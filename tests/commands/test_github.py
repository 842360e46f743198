"""What GitHub Actions is told: nothing unless it asks, and then gates and verdict."""

from pathlib import Path

import pytest

from psycheck.commands.github import annotations, summary, tell_github
from psycheck.core.finding import Findings
from psycheck.core.headline import Headline
from psycheck.core.run import GateResult, Run

FAILS = GateResult("f1>=0.9", holds=False, checked=1, failing=(), reason="1 of 1\noutside 50% of the bound")
HOLDS = GateResult("pass_rate>=0.1", holds=True, checked=3, failing=(), reason="3 within the bound")
RUN = Run(
    {},
    {},
    Findings([]),
    gates=(FAILS, HOLDS),
    incomplete=2,
    headlines=(Headline("performance.f1", "a|b reads *posts* at F1 0.50.", "warning"),),
)


def test_only_gates_that_fail_are_errors_and_lines_are_escaped() -> None:
    assert list(annotations(RUN, "audit")) == [
        "::error title=psycheck audit::gate fails: f1>=0.9 (1 of 1%0Aoutside 50%25 of the bound)",
        "::warning title=psycheck audit::2 texts could not be scored",
    ]


def test_the_summary_has_verdict_and_gates_and_no_markup_of_names() -> None:
    lines = summary(RUN, "diff").splitlines()
    assert lines[0] == "## psycheck diff"
    assert lines[2] == r"- a&#124;b reads \*posts\* at F1 0.50."
    assert lines[-3:-1] == [
        "| f1>=0.9 | **fails** | 1 of 1 outside 50% of the bound |",
        r"| pass\_rate>=0.1 | holds | 3 within the bound |",
    ]


def test_github_is_told_where_it_asks(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    file = tmp_path / "summary.md"
    monkeypatch.setenv("GITHUB_ACTIONS", "true")
    monkeypatch.setenv("GITHUB_STEP_SUMMARY", str(file))
    tell_github(RUN, "audit")
    tell_github(RUN, "audit")
    assert file.read_text("utf-8") == summary(RUN, "audit") * 2  # steps add to one file
    printed = capsys.readouterr()
    assert (printed.out, printed.err.count("::error")) == ("", 2)


def test_elsewhere_it_is_silent(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    monkeypatch.delenv("GITHUB_ACTIONS", raising=False)
    monkeypatch.delenv("GITHUB_STEP_SUMMARY", raising=False)
    tell_github(RUN, "audit")
    assert capsys.readouterr() == ("", "")


def test_a_summary_that_cannot_be_written_is_a_warning(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.delenv("GITHUB_ACTIONS", raising=False)
    monkeypatch.setenv("GITHUB_STEP_SUMMARY", str(tmp_path / "nowhere" / "summary.md"))
    tell_github(RUN, "audit")
    assert "FileNotFoundError" in capsys.readouterr().err
