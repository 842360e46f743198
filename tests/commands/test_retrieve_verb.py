from pathlib import Path

import polars as pl
import pytest

from process import psycheck

GRAPH = """
[disease]
a = "A"
[[symptom]]
name = "insomnia"
title = "Insomnia"
diseases = ["a"]
clinician = ["sleep night"]
"""
VECTORS = "4 2\nsleep 1 0\nnight 1 0.1\nbread 0 1\nbutter 0.1 1\n"
POSTS = "id,text\n1,No sleep at night. We had bread.\n2,Bread and butter.\n"


@pytest.fixture
def place(tmp_path: Path) -> Path:
    for name, content in (("graph.toml", GRAPH), ("v.txt", VECTORS), ("posts.csv", POSTS)):
        (tmp_path / name).write_text(content)
    return tmp_path


WORDS = ("retrieve", "posts.csv", "--encoder", "vectors:v.txt", "--graph", "graph.toml", "--out", "c.csv")


def test_candidates_are_written_and_counted(place: Path) -> None:
    done = psycheck(place, *WORDS, "--threshold", "0.5")
    assert done.returncode == 0, done.stderr
    assert done.stdout.splitlines() == [
        "a                    1 candidate for 1 symptom",
        "1 candidate from 3 sentences of 2 posts: c.csv",
    ]
    assert "1 queue of 1 not full: insomnia" in done.stderr
    table = pl.read_csv(place / "c.csv")
    assert table.row(0)[:4] == ("1#1", "No sleep at night.", "a", "insomnia")
    again = psycheck(place, *WORDS)
    assert again.returncode == 2
    assert "--force" in again.stderr


@pytest.mark.parametrize(
    ("options", "says"),
    [
        (("--disease", "b"), "the graph has no disease 'b'"),
        (("--register", "poster"), "no description in the poster's register"),
        (("--register", "doctor"), "--register"),
        (("--queue", "0"), "--queue"),
        (("--text", "body"), "there is no column 'body'"),
    ],
)
def test_mistakes_are_named_with_their_option(options: tuple[str, ...], says: str, place: Path) -> None:
    done = psycheck(place, *WORDS, *options)
    assert done.returncode == 2
    assert says in done.stderr
    assert "Traceback" not in done.stderr
    assert not (place / "c.csv").exists()
