"""`psycheck score` as a person meets it: what is never written over, and what is said."""

import os
from pathlib import Path

import pytest

from process import psycheck


@pytest.fixture
def place(tmp_path: Path) -> Path:
    (tmp_path / "mod.py").write_text("def score(texts):\n    return [0.25] * len(texts)\n")
    (tmp_path / "posts.csv").write_text("id,text\na,a walk\nb,\nc,a garden\n")
    return tmp_path


@pytest.mark.parametrize("target", ["posts.csv", "link.csv"])
def test_scores_never_replace_the_corpus(place: Path, target: str) -> None:
    os.link(place / "posts.csv", place / "link.csv")
    before = (place / "posts.csv").read_bytes()
    done = psycheck(place, "score", "python:mod:score", "posts.csv", "--out", target)
    assert (done.returncode, "the output is the input" in done.stderr) == (2, True), done.stderr
    assert ((place / "posts.csv").read_bytes(), (place / target).read_bytes()) == (before, before)


def test_scores_never_replace_the_scores_they_come_from(place: Path) -> None:
    (place / "done.csv").write_text("text,depression\na walk,0.5\na garden,0.5\n")
    done = psycheck(place, "score", "scores:done.csv", "posts.csv", "--out", "done.csv")
    assert (done.returncode, "the output is the input" in done.stderr) == (2, True), done.stderr


def test_a_kind_of_file_that_cannot_be_written_is_said_before_anything_is_scored(place: Path) -> None:
    (place / "mod.py").write_text("def score(texts):\n    raise SystemExit\n")
    done = psycheck(place, "score", "python:mod:score", "posts.csv", "--out", "s.xlsx")
    assert (done.returncode, "cannot write '.xlsx' files" in done.stderr) == (2, True), done.stderr


def test_rows_left_out_are_said(place: Path) -> None:
    done = psycheck(place, "score", "python:mod:score", "posts.csv", "--out", "s.csv")
    assert (done.returncode, "2 texts scored" in done.stdout) == (0, True), done.stderr
    assert "note: posts: 1 row left out" in done.stderr


def test_an_id_that_a_spreadsheet_would_run_is_escaped_in_csv_alone_and_the_scores_are_found(
    place: Path,
) -> None:
    (place / "posts.csv").write_text("id,text\n=1+1,a walk\n-5,a garden\n")
    for name in ("s.csv", "s.jsonl"):
        assert psycheck(place, "score", "python:mod:score", "posts.csv", "--out", name).returncode == 0
    ids = [line.split(",")[0] for line in (place / "s.csv").read_text().splitlines()]
    assert ids == ["id", "'=1+1", "-5"]
    assert '"id":"=1+1"' in (place / "s.jsonl").read_text()
    done = psycheck(place, "score", "scores:s.csv", "posts.csv", "--out", "again.csv")
    assert (done.returncode, "2 texts scored" in done.stdout) == (0, True), done.stderr


@pytest.mark.parametrize("how", [[], ["--as-labels", "hard"]])
def test_an_engine_is_found_by_its_name_before_anything_is_scored(place: Path, how: list[str]) -> None:
    (place / "other.py").write_text("raise SystemExit\n")
    unknown = psycheck(place, "score", "python:other:score", "posts.csv", "--engine", "locale", *how)
    assert (unknown.returncode, "unknown engine 'locale'" in unknown.stderr) == (2, True), unknown.stderr
    local = psycheck(place, "score", "python:mod:score", "posts.csv", "--engine", "local", *how)
    assert local.returncode == 0, local.stderr
