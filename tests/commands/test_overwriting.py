"""What a command may overwrite, and what it prints about what it assumed."""

import json
from pathlib import Path

import pytest
from typer.testing import CliRunner, Result

import psycheck
from psycheck.commands.main import app
from psycheck.core.command import RUNNING
from psycheck.core.errors import PsycheckError

MODEL = "def score(texts):\n    return [(len(text) * 37 % 101) / 101 for text in texts]\n"
AUDIT = ("audit", "python:mod.py:score", "posts.csv", "--audit", "performance", "--out", "runs/a")


@pytest.fixture
def place(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder with a model, and a corpus as Excel writes it."""
    (tmp_path / "mod.py").write_text(MODEL)
    rows = [
        "text;state",
        *(f"I wént to place {i}, {i};{'depressed' if i % 2 else 'control'}" for i in range(20)),
    ]
    (tmp_path / "posts.csv").write_text("\n".join(rows) + "\n", "cp1252")
    monkeypatch.chdir(tmp_path)
    return tmp_path


def psycheck_says(*words: str) -> Result:
    return CliRunner().invoke(app, words)


def code_of(outcome: Result) -> str:
    assert isinstance(outcome.exception, PsycheckError), outcome.output
    return outcome.exception.code


def test_a_finished_run_is_overwritten_by_its_own_command_or_by_force(place: Path) -> None:
    assert psycheck_says(*AUDIT).exit_code == 0
    written = (place / "runs/a/findings.jsonl").read_bytes()
    assert psycheck_says(*AUDIT, "--quiet").exit_code == 0

    other = (*AUDIT, "--threshold", "0.3")
    assert code_of(psycheck_says(*other)) == "run.finished"
    assert (place / "runs/a/findings.jsonl").read_bytes() == written
    assert psycheck_says(*other, "--force").exit_code == 0
    assert (place / "runs/a/findings.jsonl").read_bytes() != written
    # Now it is the run of that command.
    assert psycheck_says(*other).exit_code == 0
    assert code_of(psycheck_says(*AUDIT)) == "run.finished"


def test_a_folder_that_nobody_named_is_another_one_for_another_command(place: Path) -> None:
    unnamed = AUDIT[:-2]
    for threshold, folder in (("0.5", "audit"), ("0.3", "audit-2"), ("0.5", "audit"), ("0.4", "audit-3")):
        outcome = psycheck_says(*unnamed, "--threshold", threshold)
        assert f"report: runs/{folder}/report.html" in outcome.stdout
    compare = ("compare", "demo:tweets", "--by", "depression", "--part", "words")
    psycheck_says(*compare)
    outcome = psycheck_says(*compare, "--show-texts")
    assert "report: runs/compare-2/report.html" in outcome.stdout
    assert outcome.exit_code == 0


def test_a_run_with_missing_scores_is_continued_by_any_command(place: Path) -> None:
    psycheck_says(*AUDIT)
    facts = json.loads((place / "runs/a/run.json").read_text())
    (place / "runs/a/run.json").write_text(json.dumps(facts | {"incomplete": 3}))
    assert psycheck_says(*AUDIT, "--threshold", "0.3").exit_code == 0


def test_another_verb_does_not_overwrite_an_audit(place: Path) -> None:
    psycheck_says(*AUDIT)
    compare = ("compare", "demo:tweets", "demo:forum", "--part", "words", "--out", "runs/a")
    assert code_of(psycheck_says(*compare)) == "run.finished"


def test_python_and_drawing_again_are_not_held_up(place: Path) -> None:
    psycheck_says(*AUDIT)
    assert psycheck_says("view", "runs/a", "--redraw", "--no-browser").exit_code == 0
    assert RUNNING.get() is None
    run = psycheck.audit(
        lambda texts: [0.5 for _ in texts], "posts.csv", audits=["performance"], out="runs/a"
    )
    assert run.folder == Path("runs/a")


def test_what_was_assumed_about_a_file_is_one_line(place: Path) -> None:
    lines = psycheck_says(*AUDIT).stderr.splitlines()
    (assumed,) = [line for line in lines if line.startswith("assumed: posts: ")]
    for guess in ("semicolons separate", "Windows-1252", "'text' holds the texts", "labels are 'state'"):
        assert guess in assumed
    assert not any("Guessed" in line for line in lines)


def test_quiet_prints_no_notes(place: Path) -> None:
    outcome = psycheck_says(*AUDIT, "--quiet")
    assert (outcome.stdout, outcome.stderr) == ("", "")
    outcome = psycheck_says("score", "python:mod.py:score", "posts.csv", "--quiet")
    assert outcome.stderr == ""


def test_old_names_of_options_work_with_a_hint(place: Path) -> None:
    outcome = psycheck_says(*AUDIT, "--evidence=symptoms:default")
    assert outcome.exit_code == 0
    assert "note: --evidence is called --symptoms now" in outcome.stderr
