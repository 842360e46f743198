"""Tagging sentences: what the file holds, how it is resumed, and what cannot be tagged."""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from pathlib import Path

import numpy as np
import polars as pl
import pytest

from psycheck.commands.tag import tag_corpus, tag_parts
from psycheck.core.corpus import Corpus
from psycheck.core.errors import BadInput, StoreFailure
from psycheck.core.model import Capabilities
from psycheck.core.registry import ENGINES
from psycheck.corpora.columns import Columns
from psycheck.corpora.opening import CorpusPlan
from psycheck.corpora.stream import stream_corpus
from psycheck.models.opening import open_model
from psycheck.scoring.ray_engine import RayEngine
from psycheck.symptoms.reader import Readings, SymptomModel
from refusals import refused

SEEN: list[str] = []


def outputs(sentences: Sequence[str]) -> Readings:
    """One symptom, found in every sentence with "sleep"; "maybe" is uncertain."""
    SEEN.extend(sentences)
    relevance = np.array([[float("sleep" in sentence)] for sentence in sentences]).reshape(-1, 1)
    uncertain = np.array([0.25 * ("maybe" in sentence) for sentence in sentences])
    return replace(Readings.mentioned(relevance), uncertain=uncertain)


MODEL = SymptomModel(
    name="sleep", labels=("sleep",), fingerprint="1", capabilities=Capabilities(batch=8), outputs=outputs
)


@pytest.fixture(autouse=True)
def fresh() -> None:
    SEEN.clear()


def posts(n: int = 3) -> Corpus:
    texts = ["I cannot sleep. Lunch was fine.", "Maybe I maybe sleep too much.", "My brother cannot sleep!"]
    return Corpus.of(
        "posts", texts[:n], ids=["a", "b", "c"][:n], author=["x", "x", "y"][:n], time=["1", "2", "3"][:n]
    )


def test_the_file_has_one_row_per_sentence_and_no_text(tmp_path: Path) -> None:
    tagged = tag_corpus(MODEL, [posts()], tmp_path / "tags.parquet")
    table = pl.read_parquet(tmp_path / "tags.parquet")
    assert (tagged.posts, tagged.sentences) == (3, 4)
    assert table.columns == [
        *("id", "sentence", "author", "time", "uncertain", "own"),
        *("relevance:sleep", "weight:sleep", "status:sleep"),
    ]
    assert table.rows()[1][:4] == ("a", 1, "x", "1")
    assert table["sentence"].to_list() == [0, 1, 0, 0]
    assert table["relevance:sleep"].to_list() == [1, 0, 1, 1]
    # "Maybe" at the start is doubt in the words of the text: a tenth, beside what the model says.
    assert table["weight:sleep"].to_list() == pytest.approx([0.9, 0, 0.75 * 0.9 * 0.1, 0.1])
    assert table["status:sleep"].to_list() == ["present", "past", "uncertain", "other"]
    assert table["own"].to_list() == [True, True, True, False]
    assert (tmp_path / "tags.parquet").stat().st_mode & 0o077 == 0
    assert [path.name for path in tmp_path.iterdir() if path.name != "store"] == ["tags.parquet"]


def test_factors_of_the_weight_are_switches(tmp_path: Path) -> None:
    tag_corpus(MODEL, [posts()], tmp_path / "tags.parquet", status=False, subject=False)
    table = pl.read_parquet(tmp_path / "tags.parquet")
    assert table["weight:sleep"].to_list() == table["relevance:sleep"].to_list()


def test_a_repeated_sentence_is_encoded_once(tmp_path: Path) -> None:
    corpus = Corpus.of("again", ["I cannot sleep. I cannot sleep.", "I cannot sleep."])
    assert tag_corpus(MODEL, [corpus], tmp_path / "tags.parquet").sentences == 3
    assert SEEN == ["I cannot sleep."]


def test_progress_names_a_total_only_where_the_number_of_texts_is_known(tmp_path: Path) -> None:
    shown: list[tuple[int, int]] = []

    def progress(name: str, done: int, total: int, seconds: float) -> None:
        shown.append((done, total))

    tag_corpus(MODEL, posts().slices(1), tmp_path / "tags.parquet", progress=progress)
    assert shown == [(2, 0), (3, 0), (4, 0)]
    shown.clear()
    tag_parts(MODEL, posts().slices(1), tmp_path / "parts", texts=3, progress=progress)
    assert shown == [(2, 6), (3, 4), (4, 4)]  # 2 sentences in 1 of 3 texts, then 3 in 2


class Stopped(Exception):
    pass


def test_stopped_it_resumes_with_the_pieces_that_are_not_done(tmp_path: Path) -> None:
    pieces = [posts(1), Corpus.of("more", ["Sleep is fine."], ids=["d"])]

    def stopping() -> Iterator[Corpus]:
        yield pieces[0]
        raise Stopped

    with pytest.raises(Stopped):
        tag_corpus(MODEL, stopping(), tmp_path / "tags.parquet")
    assert not (tmp_path / "tags.parquet").exists()
    SEEN.clear()
    tagged = tag_corpus(MODEL, pieces, tmp_path / "tags.parquet")
    assert (tagged.sentences, tagged.resumed) == (3, 2)
    assert SEEN == ["Sleep is fine."]
    assert [path.name for path in tmp_path.iterdir() if path.name != "store"] == ["tags.parquet"]
    assert pl.read_parquet(tmp_path / "tags.parquet")["id"].to_list() == ["a", "a", "d"]


def test_texts_that_changed_meanwhile_are_tagged_again(tmp_path: Path) -> None:
    def stopping(first: Corpus) -> Iterator[Corpus]:
        yield first
        raise Stopped

    with pytest.raises(Stopped):
        tag_corpus(MODEL, stopping(posts(1)), tmp_path / "tags.parquet")
    changed = Corpus.of("posts", ["Sleep came."], ids=["a"])
    assert tag_corpus(MODEL, [changed], tmp_path / "tags.parquet").resumed == 0
    assert len(pl.read_parquet(tmp_path / "tags.parquet")) == 1


def test_a_file_that_cannot_be_written_is_refused_before_anything_is_tagged(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    with pytest.raises(StoreFailure, match="cannot write"):
        tag_corpus(MODEL, [posts()], tmp_path / "file" / "tags.parquet")
    with refused("tags.not-parquet", key="out"):
        tag_corpus(MODEL, [posts()], tmp_path / "tags.csv")
    with refused("tags.no-texts"):
        tag_corpus(MODEL, [], tmp_path / "tags.parquet")
    assert SEEN == []


def test_one_post_of_a_megabyte_is_tagged(tmp_path: Path) -> None:
    long = Corpus.of("long", ["I cannot sleep tonight. " * 42_000])
    assert tag_corpus(MODEL, [long], tmp_path / "tags.parquet").sentences == 42_000
    assert SEEN == ["I cannot sleep tonight."]


@pytest.mark.parametrize("kind", ["csv", "jsonl", "parquet"])
def test_a_file_is_read_in_pieces(kind: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("psycheck.corpora.stream.POSTS", 2)
    texts = [f"I cannot sleep since day {i}." for i in range(5)]
    table = pl.DataFrame({"text": texts, "user": ["u"] * 5, "depression": [0, 1, 0, 1, 0]})
    path = tmp_path / f"posts.{kind}"
    ways: dict[str, Callable[[Path], object]] = {"csv": table.write_csv, "parquet": table.write_parquet}
    ways.get(kind, table.write_ndjson)(path)
    pieces = list(stream_corpus(CorpusPlan(str(path), columns=Columns(author="user"))))
    assert [len(piece) for piece in pieces] == [2, 2, 1]
    assert [one for piece in pieces for one in piece.ids] == ["1", "2", "3", "4", "5"]
    assert [one for piece in pieces for one in piece.texts] == texts
    assert pieces[2].strings("author") == ["u"]


def test_long_texts_make_short_pieces(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("psycheck.corpora.stream.LETTERS", 50)
    path = tmp_path / "posts.csv"
    path.write_text("text\n" + "".join(f"{'word ' * 12}{i}\n" for i in range(3)))
    assert [len(piece) for piece in stream_corpus(CorpusPlan(str(path)))] == [1, 1, 1]


def test_empty_texts_are_counted_and_guesses_told(tmp_path: Path) -> None:
    path, notes = tmp_path / "posts.csv", list[str]()
    path.write_text('id,post,user\na,"",x\nb,I cannot sleep at all.,y\nc," ",z\n')
    (piece,) = stream_corpus(CorpusPlan(str(path)), notes.append)
    assert piece.ids == ["b"]
    assert notes[-1] == "2 rows left out (empty text)"
    assert any("post" in note for note in notes[:-1])


def test_a_file_without_texts_is_an_error(tmp_path: Path) -> None:
    path = tmp_path / "posts.csv"
    path.write_text('id,text\na,""\nb," "\n')
    with pytest.raises(BadInput, match="no texts"):
        list(stream_corpus(CorpusPlan(str(path), columns=Columns(text="text"))))
    path.write_text("")
    with pytest.raises(BadInput, match="empty"):
        list(stream_corpus(CorpusPlan(str(path))))


@pytest.mark.slow
def test_a_cluster_tags_as_this_process_does(tmp_path: Path) -> None:
    import ray

    model = open_model("symptoms:descriptions")
    assert isinstance(model, SymptomModel)
    pieces = list(posts().slices(1))
    tag_corpus(model, pieces, tmp_path / "local.parquet")
    with ENGINES.adding("ray", RayEngine):
        tagged = tag_corpus(model, pieces, tmp_path / "cluster.parquet", engine="ray?actors=1")
    ray.shutdown()
    assert tagged.resumed == 0
    assert pl.read_parquet(tmp_path / "cluster.parquet").equals(pl.read_parquet(tmp_path / "local.parquet"))
