import json
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import polars as pl
import pytest

from psycheck.commands import retrieve as module
from psycheck.commands.retrieve import Retrieving, retrieve
from psycheck.core.arrays import FloatArray
from psycheck.core.errors import BadInput, ModelFailure, PsycheckError
from psycheck.corpora.columns import Columns
from psycheck.corpora.opening import CorpusPlan
from psycheck.corpora.reading import read_corpus
from psycheck.symptoms.graph import Graph, Symptom

WORDS = ("sleep", "night", "sad", "tears", "food", "hungry")
GRAPH = Graph(
    {"a": "A", "b": "B"},
    (
        Symptom("insomnia", "Insomnia", ("a",), ("sleep", "night"), ("sleep night",)),
        Symptom("sadness", "Sadness", ("a", "b"), ("sad",), ("tears",)),
        Symptom("hunger", "Hunger", ("b",), ("food",), ("hungry food",)),
    ),
)
TEXTS = {
    "1": "No sleep this night. We had food.",
    "2": "So sad, in tears. Sleep was fine, and the night too, sad to say.",
    "3": "So sad, in tears!",
    "4": "Nothing here.",
}


@dataclass(frozen=True)
class Counting:
    """Counts a few words: the cosine of two texts can be worked out by hand."""

    name: str = "counting"
    fingerprint: str = "counting"
    width: int = 0

    def encode(self, texts: Sequence[str], /) -> FloatArray:
        rows = [[float(text.lower().count(word)) for word in WORDS] for text in texts]
        return np.array(rows)[self.width :]

    def encode_spans(self, texts: Sequence[str], spans: Sequence[tuple[int, int]], /) -> FloatArray:
        raise NotImplementedError


def _posts(folder: Path, texts: dict[str, str] = TEXTS, name: str = "posts.jsonl") -> CorpusPlan:
    path = folder / name
    rows = [{"id": i, "text": text, "author": f"w{i}", "time": "2020"} for i, text in texts.items()]
    path.write_text("".join(json.dumps(row) + "\n" for row in rows))
    return CorpusPlan(str(path))


def test_candidates_are_the_most_similar_sentences_of_each_symptom(tmp_path: Path) -> None:
    found = retrieve([_posts(tmp_path)], encoder=Counting(), graph=GRAPH, how=Retrieving(threshold=0.3))
    assert (found.posts, found.sentences) == (4, 6)
    rows = found.table.select("id", "disease", "symptom", "similarity").rows()
    # "sleep … night" is "sleep night" itself; "sad … tears" is at 1/√2 of each; "food" is "food" itself;
    # "sleep, night, sad" is at 2/√6 of "sleep night". The second "So sad, in tears" is a copy.
    assert rows == [
        ("1#1/a", "a", "insomnia", 1.0),
        ("2#1/a", "a", "sadness", pytest.approx(0.707107)),
        ("2#2/a", "a", "insomnia", pytest.approx(0.816497)),
        ("2#1/b", "b", "sadness", pytest.approx(0.707107)),
        ("1#2/b", "b", "hunger", 1.0),
        ("2#2/b", "b", "sadness", pytest.approx(0.57735)),
    ]
    assert found.table.columns == ["id", "text", "disease", "symptom", "similarity", "author", "time"]


def test_the_register_decides_which_descriptions_count(tmp_path: Path) -> None:
    how = Retrieving(register="clinician", diseases=("a",), threshold=0.3)
    table = retrieve([_posts(tmp_path)], encoder=Counting(), graph=GRAPH, how=how).table
    # Without "sleep night" the sentence is at 1/√2 of "sleep"; a single disease needs no name in the id.
    assert table.row(0)[:5] == ("1#1", "No sleep this night.", "a", "insomnia", pytest.approx(0.707107))


def test_a_queue_is_bounded_and_chunks_change_nothing(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    texts = {str(i): f"sad item{i} tears {'night ' * (i % 3)}here" for i in range(30)}
    how = Retrieving(queue=4, diseases=("a",), near=1.0)
    whole = retrieve([_posts(tmp_path, texts)], encoder=Counting(), graph=GRAPH, how=how)
    monkeypatch.setattr(module, "CHUNK", 7)
    assert retrieve([_posts(tmp_path, texts)], encoder=Counting(), graph=GRAPH, how=how).table.equals(
        whole.table
    )
    # Posts 0, 3, 6 and 9 speak of nothing else: the first four of equal similarity, in order.
    sadness = whole.table.filter(symptom="sadness")["id"].to_list()
    assert sadness == ["0#1", "3#1", "6#1", "9#1"]


def test_the_file_is_a_corpus_with_unique_ids(tmp_path: Path) -> None:
    plans = [_posts(tmp_path), _posts(tmp_path, {"1": "I am so hungry, food please."}, "more.jsonl")]
    out = tmp_path / "candidates.csv"
    found = retrieve(plans, out=out, encoder=Counting(), graph=GRAPH, how=Retrieving(threshold=0.1))
    corpus = read_corpus(out)
    assert corpus.ids == found.table["id"].to_list()
    assert "more/1#1/b" in corpus.ids
    assert out.stat().st_mode & 0o077 == 0


def test_posts_with_the_same_id_and_copies_are_told_apart(tmp_path: Path) -> None:
    path = tmp_path / "posts.csv"
    path.write_text("id,text\n7,So sad and in tears\n7,food is on the table\n7,SO SAD and in tears!\n")
    how = Retrieving(threshold=0.1)
    table = retrieve([CorpusPlan(str(path))], encoder=Counting(), graph=GRAPH, how=how).table
    assert table.filter(disease="b")["id"].to_list() == ["7#1/b", "7+2#1/b"]


def test_authors_of_a_dump_are_numbered(tmp_path: Path) -> None:
    post = {"author": "a_name", "subreddit": "x", "created_utc": 1577836800, "title": "", "selftext": ""}
    path = tmp_path / "dump.jsonl"
    path.write_text(
        "".join(
            json.dumps(post | {"id": f"{i}", "selftext": text}) + "\n"
            for i, text in enumerate(TEXTS.values())
        )
    )
    table = retrieve([CorpusPlan(str(path))], encoder=Counting(), graph=GRAPH).table
    assert set(table["author"]) == {"author-1"}


def test_a_post_of_one_megabyte_is_read_and_its_endless_sentence_left_out(tmp_path: Path) -> None:
    texts = {"1": "sad " * 300_000, "2": "The night was long. " * 60_000, "3": "I am sad."}
    found = retrieve([_posts(tmp_path, texts)], encoder=Counting(), graph=GRAPH)
    assert dict(found.left_out) == {"longer than 1,000 characters": 1}
    assert found.sentences == 60_001
    assert set(found.table["text"]) == {"I am sad.", "The night was long."}


@pytest.mark.parametrize(
    ("texts", "says"), [({"1": ""}, "no sentence was found"), ({"1": " \n "}, "no sentence|holds texts")]
)
def test_a_corpus_without_sentences_is_refused_and_nothing_is_written(
    texts: dict[str, str], says: str, tmp_path: Path
) -> None:
    plan = CorpusPlan(_posts(tmp_path, texts).path, columns=Columns(text="text"))
    with pytest.raises(BadInput, match=says):
        retrieve([plan], out=tmp_path / "c.csv", encoder=Counting(), graph=GRAPH)
    assert not (tmp_path / "c.csv").exists()


def test_an_interruption_leaves_the_old_file_as_it_was(tmp_path: Path) -> None:
    out = tmp_path / "c.jsonl"
    out.write_text("old")

    def interrupted(*_: object) -> None:
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        retrieve([_posts(tmp_path)], out=out, encoder=Counting(), graph=GRAPH, progress=interrupted)
    assert out.read_text() == "old"
    assert {path.name for path in tmp_path.iterdir()} == {"c.jsonl", "posts.jsonl"}


def test_what_cannot_work_is_refused_before_anything_is_read(tmp_path: Path) -> None:
    plan, bare = _posts(tmp_path), Graph({"a": "A"}, (Symptom("s", "S", ("a",), ("sad",)),))
    for settings, says in (
        ({"encoder": "hf:nowhere"}, "nowhere"),
        ({"how": Retrieving(diseases=("c",))}, "the graph has no disease 'c'"),
        ({"graph": bare, "how": Retrieving(register="poster")}, "no description in the poster's register"),
        ({"out": plan.path}, "the output is the input"),
        ({"out": tmp_path / "c.txt"}, "cannot write"),
        ({"encoder": Counting(width=1)}, "returned an array of shape"),
    ):
        with pytest.raises((BadInput, ModelFailure, PsycheckError), match=says):
            retrieve([plan], **({"encoder": Counting(), "graph": GRAPH} | settings))  # type: ignore[arg-type]  # a mix
    assert isinstance(retrieve([plan], encoder=Counting(), graph=GRAPH).table, pl.DataFrame)
