"""The switches that every command has, where it does not handle them by itself."""

import json
import os
import signal
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from process import psycheck

SUITES = ("suite", "check", "deck")


def printed_json(folder: Path, *words: str, code: int = 0) -> dict[str, Any]:
    done = psycheck(folder, *words, "--json")
    assert done.returncode == code, done.stderr
    content: dict[str, Any] = json.loads(done.stdout)
    return content


def test_what_a_command_prints_is_json_where_it_has_no_other(tmp_path: Path) -> None:
    said = psycheck(tmp_path, *SUITES).stdout.splitlines()
    assert printed_json(tmp_path, *SUITES) == {
        "schema_version": 1,
        "command": "suite check",
        "printed": said,
    }


def test_what_a_command_prints_is_also_written_to_a_new_file(tmp_path: Path) -> None:
    done = psycheck(tmp_path, *SUITES, "--out", "said.txt")
    assert (tmp_path / "said.txt").read_text() == done.stdout
    assert (tmp_path / "said.txt").stat().st_mode & 0o077 == 0

    again = psycheck(tmp_path, "ls", "scales", "--json", "--out", "said.txt")
    assert (again.returncode, again.stdout) == (2, "")
    assert (tmp_path / "said.txt").read_text() == done.stdout


@pytest.fixture(scope="module")
def place(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("place")
    (folder / "a.csv").write_text("text,depression\nso tired,1\nA day out,0\nA walk,\n")
    (folder / "b.csv").write_text("text,depression\nso sad,1\nA day in,0\n")
    return folder


def test_a_dry_run_counts_the_texts_it_would_read_and_writes_nothing(place: Path) -> None:
    before = sorted(place.iterdir())
    assert printed_json(place, "compare", "a.csv", "b.csv", "--out", "far", "--dry-run") == {
        "schema_version": 1,
        "command": "compare",
        "dry_run": True,
        "corpora": [{"corpus": "a.csv", "texts": 3}, {"corpus": "b.csv", "texts": 2}],
        "files": [],
        "writes": ["far"],
    }
    done = psycheck(place, "clean", "a.csv", "--preset", "plain", "--out", "b.csv", "--dry-run")
    assert "would read a.csv: 3 texts\nwould write b.csv (exists)\n" in done.stdout
    assert sorted(place.iterdir()) == before


@pytest.mark.parametrize(
    "words",
    [
        ("compare", "a.csv", "missing.csv"),
        ("improve", "models/a", "a.csv", "--label", "anxiety"),
        ("diff", "runs/missing"),
        ("curate", "missing.jsonl", "--out", "curated"),
        ("explain", "symptoms:default", "missing.csv"),
    ],
)
def test_a_dry_run_finds_what_would_stop_the_command(place: Path, words: tuple[str, ...]) -> None:
    done = psycheck(place, *words, "--dry-run")
    assert (done.returncode, done.stdout) == (2, "")


def test_a_dry_run_of_deleting_deletes_nothing(place: Path) -> None:
    (place / "mod.py").write_text("def score(texts):\n    return [0.5 for _ in texts]\n")
    store = {"PSYCHECK_STORE": str(place / "scores.sqlite")}
    psycheck(place, "score", "python:mod:score", "a.csv", "--out", "scores.csv", **store)
    before = psycheck(place, "store", "show", **store).stdout
    done = psycheck(place, "store", "forget", "--model", "score", "--yes", "--dry-run", **store)
    assert done.returncode == 0, done.stderr
    assert psycheck(place, "store", "show", **store).stdout == before


def test_a_study_as_json_has_its_findings(place: Path) -> None:
    rows = [f"so tired of day {number},{number % 2}" for number in range(24)]
    (place / "many.csv").write_text("\n".join(["text,depression", *rows]) + "\n")
    words = ("study", "corpora", "many.csv", "--part", "words", "--label", "depression", "--out", "study")
    content = printed_json(place, *words)
    lines = (place / "study" / "findings.jsonl").read_text().splitlines()
    findings = [{"schema_version": 1, **finding} for finding in content["findings"]]
    assert findings == [json.loads(line) for line in lines]
    assert content["report"] == "study/report.html"


def test_a_server_says_at_once_in_json_where_it_listens(place: Path) -> None:
    for name in ("one", "two"):
        done = psycheck(place, "compare", "a.csv", "b.csv", "--part", "words", "--out", f"runs/{name}")
        assert done.returncode == 0, done.stderr
    words = ["-m", "psycheck", "view", "runs", "--no-browser", "--json"]
    server = subprocess.Popen(
        [sys.executable, *words],
        cwd=place,
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
        text=True,
        env=dict(os.environ),
    )
    assert server.stdout is not None
    try:
        line = json.loads(server.stdout.readline())
        assert line["command"] == "view"
        assert "http://127.0.0.1:" in line["printed"][0]
    finally:
        server.send_signal(signal.SIGINT)
        server.wait(20)


def test_a_verb_whose_extra_is_not_installed_names_it(tmp_path: Path) -> None:
    # None in sys.modules is how Python marks a module that cannot be imported.
    code = (
        "import sys; sys.modules['sqlalchemy'] = None;"
        "sys.argv = ['psycheck', 'annotate', 'new', 'folder'];"
        "from psycheck.commands.main import run; run()"
    )
    done = subprocess.run([sys.executable, "-c", code], cwd=tmp_path, capture_output=True, text=True)
    assert done.returncode == 2, done.stderr
    assert 'pip install "psycheck[annotate]"' in done.stderr
