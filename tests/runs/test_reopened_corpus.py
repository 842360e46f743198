"""A run records where its corpora were read from, as data, and opens them again."""

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest

from psycheck.core.corpus import Corpus, CorpusSource
from psycheck.core.finding import Findings
from psycheck.core.run import Run
from psycheck.corpora.columns import Columns
from psycheck.corpora.opening import CorpusPlan, open_corpus
from psycheck.runs.environment import described
from psycheck.runs.reopened_corpus import corpus_of
from refusals import refused

PLAN = CorpusPlan(
    "posts.txt",
    split="test",
    format="csv",
    columns=Columns(text="body", labels=("sad=depression",), positive=("yes",), split="fold"),
)


@pytest.fixture
def corpus(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Corpus:
    monkeypatch.chdir(tmp_path)
    rows = ["body,sad,fold", "I slept well,no,test", "Nothing helps,yes,test", "Fine,no,train"]
    (tmp_path / "posts.txt").write_text("\n".join(rows))
    return open_corpus(PLAN)


def run_with(description: Mapping[str, Any], corpus: Corpus) -> Run:
    plan = json.loads(json.dumps({"corpora": [description]}))
    return Run(plan=plan, findings=Findings([]), environment={"corpora": {corpus.name: corpus.fingerprint()}})


def test_the_source_is_recorded_as_a_plain_mapping(corpus: Corpus) -> None:
    (description,) = described([corpus])["corpora"]
    assert description["source"] == {
        "path": "posts.txt",
        "columns": {"text": "body", "split": "fold", "labels": ["sad=depression"], "positive": ["yes"]},
        "split": "test",
        "format": "csv",
    }


def test_a_corpus_is_opened_again_from_its_source(corpus: Corpus) -> None:
    (description,) = described([corpus])["corpora"]
    again = corpus_of(run_with(description, corpus), "posts")
    assert again.fingerprint() == corpus.fingerprint()
    assert again.source == corpus.source


def test_a_moved_file_is_read_with_the_columns_and_the_format_of_the_run(corpus: Corpus) -> None:
    (description,) = described([corpus])["corpora"]
    run = run_with(description, corpus)
    Path("posts.txt").rename("moved.txt")
    assert corpus_of(run, "posts", ["moved.txt"]).texts == corpus.texts
    Path("moved.txt").rename("moved.csv")
    assert corpus_of(run, "posts", [Path("moved.csv")]).texts == corpus.texts
    with refused("run.corpus-not-found", where="posts.txt", do="corpora=PATH"):
        corpus_of(run, "posts")


def test_an_older_folder_that_has_only_what_was_typed_is_read(corpus: Corpus) -> None:
    Path("posts.txt").rename("posts.csv")
    typed = "posts.csv --text body --split-column fold --label sad=depression --positive yes --split test"
    description = {"name": "posts", "called": typed, "labels": ["depression"]}
    assert corpus_of(run_with(description, corpus), "posts").fingerprint() == corpus.fingerprint()


@pytest.mark.parametrize(
    "description",
    [
        {"name": "posts"},
        {"name": "posts", "called": ""},
        {"name": "posts", "source": None},
        {"name": "posts", "source": {"columns": {}}},
        {"name": "posts", "source": {"path": 3}},
        {"name": "posts", "source": {"path": "posts.txt", "columns": {"texts": "body"}}},
        {"name": "posts", "source": {"path": "posts.txt", "columns": ["body"]}},
    ],
)
def test_a_run_without_a_readable_source_says_so(description: Mapping[str, Any], corpus: Corpus) -> None:
    with refused("run.corpus-not-found", where="does not record"):
        corpus_of(run_with(description, corpus), "posts")


@pytest.mark.parametrize(
    "source",
    [
        CorpusSource("posts.csv", columns={"text": "I have not slept since the spring"}),
        CorpusSource("posts.csv", columns={"labels": ("sad", "I have not slept since the spring")}),
        CorpusSource("posts.csv", split="I have not slept since the spring"),
    ],
)
def test_names_that_look_like_prose_are_not_recorded(source: CorpusSource) -> None:
    corpus = Corpus("posts", Corpus.of("posts", ["a"]).table, source=source)
    (description,) = described([corpus])["corpora"]
    assert description["source"] is None
    assert "slept" not in json.dumps(description)


def test_a_corpus_made_in_memory_has_no_source() -> None:
    (description,) = described([Corpus.of("posts", ["a"])])["corpora"]
    assert description["source"] is None
