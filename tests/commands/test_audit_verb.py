"""`psycheck audit` as a person meets it: what is written where, and what is said on the console."""

import json
import os
from pathlib import Path

import pytest

from process import psycheck

MODEL = """
import numpy as np

def score(texts):
    return [(len(text) * 37 % 101) / 101 for text in texts]

def silent(texts):
    return [np.nan if "she" in text.split() else 0.3 for text in texts]

class _Named:
    labels = ("anxiety",)
    score = staticmethod(score)

named = _Named()
"""


@pytest.fixture
def place(tmp_path: Path) -> Path:
    (tmp_path / "mod.py").write_text(MODEL)
    rows = ["id,text,depression"]
    rows += [f"p{i},I went to place {i} and he was there with his dog,{i % 2}" for i in range(20)]
    (tmp_path / "posts.csv").write_text("\n".join(rows) + "\n")
    return tmp_path


FAST = ("--label", "depression", "--audit", "performance")
AUDIT = ("audit", "python:mod:score", "posts.csv", *FAST, "--out", "runs/a")


@pytest.mark.parametrize(
    "target", ["posts.csv", "./posts.csv", "hard.csv", "soft.csv", "mod.py", "suite.toml"]
)
def test_exported_texts_never_replace_what_is_read(place: Path, target: str) -> None:
    os.link(place / "posts.csv", place / "hard.csv")
    (place / "soft.csv").symlink_to("posts.csv")
    (place / "suite.toml").write_text("not read yet")
    before = {path.name: path.read_bytes() for path in place.iterdir() if path.is_file()}
    done = psycheck(place, *AUDIT, "--suite", "suite.toml", "--export-texts", target)
    assert (done.returncode, "the output is the input" in done.stderr) == (2, True), done.stderr
    assert {path.name: path.read_bytes() for path in place.iterdir() if path.is_file()} == before


def test_a_score_file_that_is_read_is_not_exported_into(place: Path) -> None:
    (place / "done.csv").write_text("text,depression\nsome text,0.5\n")
    words = ("audit", "scores:done.csv", "posts.csv", *FAST)
    assert psycheck(place, *words, "--export-texts", "done.csv").returncode == 2
    assert (place / "done.csv").read_text() == "text,depression\nsome text,0.5\n"


def test_an_export_that_fails_leaves_the_earlier_one(place: Path) -> None:
    (place / "need.jsonl").write_text("earlier\n")
    done = psycheck(place, *AUDIT, "--text", "txt", "--export-texts", "need.jsonl")
    assert (done.returncode, (place / "need.jsonl").read_text()) == (2, "earlier\n")
    assert sorted(path.name for path in place.iterdir()) == ["mod.py", "need.jsonl", "posts.csv"]


def test_an_export_replaces_an_earlier_one_in_a_linked_folder_but_not_through_a_linked_file(
    place: Path,
) -> None:
    (place / "kept").mkdir()
    (place / "kept" / "need.jsonl").write_text("earlier\n")
    (place / "need.jsonl").symlink_to("kept/need.jsonl")
    done = psycheck(place, *AUDIT, "--export-texts", "need.jsonl")
    assert (done.returncode, "symbolic link\n  where: need.jsonl" in done.stderr) == (2, True), done.stderr
    assert (place / "kept" / "need.jsonl").read_text() == "earlier\n"
    (place / "linked").symlink_to("kept")
    assert psycheck(place, *AUDIT, "--export-texts", "linked/need.jsonl").returncode == 0
    assert len((place / "kept" / "need.jsonl").read_text().splitlines()) == 20
    assert [path.name for path in (place / "kept").iterdir()] == ["need.jsonl"]


def test_an_export_may_go_to_a_pipe(place: Path) -> None:
    done = psycheck(place, *AUDIT, "--export-texts", "/dev/stdout")
    assert done.returncode == 0, done.stderr
    first = json.loads(done.stdout.splitlines()[0])
    assert set(first) == {"text_hash", "text"}


def test_a_run_is_not_held_against_its_own_folder(place: Path) -> None:
    plan = (
        'models = ["python:mod:score"]\nout = "runs/p"\naudits = ["performance"]\nlabels = ["depression"]\n'
        '[[corpus]]\npath = "posts.csv"\n[[gate]]\nmeasure = "accuracy"\nno_worse_than = "runs/../runs/p"\n'
    )
    (place / "psycheck.toml").write_text(plan)
    assert psycheck(place, *AUDIT[:-1], "runs/p").returncode == 0
    findings = (place / "runs/p/findings.jsonl").read_bytes()
    for _ in range(2):
        done = psycheck(place, "audit")
        assert (done.returncode, "are the same folder" in done.stderr) == (2, True), done.stderr
    assert (place / "runs/p/findings.jsonl").read_bytes() == findings
    assert psycheck(place, "audit", "--out", "runs/q").returncode == 0


def test_without_a_baseline_the_way_to_one_is_said(place: Path) -> None:
    (place / "psycheck.toml").write_text(
        'models = ["python:mod:score"]\n[[corpus]]\npath = "posts.csv"\n'
        '[[gate]]\nmeasure = "accuracy"\nno_worse_than = "runs/last"\n'
    )
    done = psycheck(place, "audit")
    assert done.returncode == 2
    assert "without this gate, with --out runs/last" in done.stderr


def test_a_label_that_the_user_or_the_model_named_is_not_judged_as_another(place: Path) -> None:
    (place / "done.csv").write_text("text,depression\nsome text,0.5\n")
    for model in ("python:mod:score?label=anxiety", "python:mod:named", "scores:done.csv?label=anxiety"):
        done = psycheck(place, "audit", model, "posts.csv", *FAST)
        assert (done.returncode, "scores anxiety; corpora" in done.stderr) == (2, True), done.stderr


def test_a_label_that_is_taken_as_another_is_said_before_scoring(place: Path) -> None:
    done = psycheck(place, *AUDIT)
    assert "note: model 'score': its only score 'positive' is used for 'depression'\n" in done.stderr


def test_answers_that_are_missing_are_said_with_what_the_figures_rest_on(place: Path) -> None:
    rows = ["id,text,depression"]
    rows += [f"p{i},day {i} and {'she' if i < 5 else 'he'} was there,{i % 2}" for i in range(12)]
    (place / "posts.csv").write_text("\n".join(rows) + "\n")
    words = ("audit", "python:mod:silent", "posts.csv", *FAST, "--audit", "behaviour", "--out", "runs/a")
    done = psycheck(place, *words)
    assert done.returncode == 0, done.stderr
    said = (
        "The model gave no usable answer to 5 of 12 annotated texts; performance is measured on the other 7."
    )
    assert said in done.stdout.splitlines()
    page = (place / "runs/a/report.html").read_text("utf-8")
    assert said in page
    # T1 makes "he" of 7 texts "she", T2 "she" of 5 texts "he": one of both wordings is never answered.
    assert "T1: the model gave no usable answer (7 of 7 changed texts)" in page
    assert "T2: the model gave no usable answer (5 of 5 changed texts)" in page
    assert json.loads(psycheck(place, *words, "--json").stdout)["unanswered"][0] == said


def test_rows_left_out_are_said_on_the_console(place: Path) -> None:
    with (place / "posts.csv").open("a") as file:
        file.write("q1,,1\nq2,  ,0\n")
    assert "note: posts: 2 rows left out (" in psycheck(place, *AUDIT).stderr
