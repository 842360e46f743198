"""Corpora from objects in memory: frames, Hugging Face datasets and lists of strings."""

from pathlib import Path
from typing import Any

import datasets
import numpy as np
import pandas as pd
import polars as pl
import pytest

import psycheck
from psycheck.core.corpus import Corpus
from psycheck.core.errors import BadInput
from psycheck.corpora.columns import Columns
from psycheck.corpora.opening import open_corpora, open_corpus
from psycheck.corpora.reading import read_corpus
from refusals import refused

SECRET = "I have never told anyone about this"
ROWS: dict[str, list[Any]] = {
    "id": ["p1", "p2", "p3"],
    "post": ["I cannot sleep", "a fine day out", "nothing helps any more"],
    "depression": [1, 0, None],
    "gender": ["f", None, "m"],
    "split": ["train", "test", "test"],
}


def _frames() -> list[Any]:
    return [pd.DataFrame(ROWS), pl.DataFrame(ROWS), pl.LazyFrame(ROWS), datasets.Dataset.from_dict(ROWS)]


@pytest.mark.parametrize("frame", _frames(), ids=lambda frame: type(frame).__module__)
def test_a_frame_gives_the_corpus_that_its_csv_file_gives(frame: Any, tmp_path: Path) -> None:
    pl.DataFrame(ROWS).write_csv(tmp_path / "posts.csv")
    wanted, found = read_corpus(tmp_path / "posts.csv"), open_corpus(frame)
    assert found.table.equals(wanted.table)
    assert found.notes == wanted.notes
    assert (found.ids, found.labels, found.groups) == (["p1", "p2", "p3"], ("depression",), ("gender",))
    assert found.name == ("dataset" if isinstance(frame, datasets.Dataset) else "frame")


@pytest.mark.parametrize("frame", _frames(), ids=lambda frame: type(frame).__module__)
def test_columns_and_one_split_can_be_named(frame: Any) -> None:
    corpus = open_corpus(frame, text="post", labels="depression=low", split="test")
    assert corpus.labels == ("low",)
    assert corpus.texts == ["a fine day out", "nothing helps any more"]
    np.testing.assert_array_equal(corpus.targets(), [[0.0], [np.nan]])


def test_rows_are_numbered_where_no_column_holds_ids() -> None:
    assert open_corpus(pd.DataFrame({"text": ["a b", "c d"]}, index=[7, 9])).ids == ["1", "2"]


def test_missing_values_of_pandas_are_not_annotated_and_other_objects_not_read() -> None:
    frame = pd.DataFrame(
        {
            "text": ["a b", "c d", "e f"],
            "label": pd.array([1, None, 0], dtype="Int64"),
            "source": pd.Categorical(["x", None, "y"]),
            "time": pd.to_datetime(["2020-01-02", None, "2020-01-03"]),
            "tags": [["a"], {}, object()],
            0: [1.5, 2.5, float("nan")],
        }
    )
    corpus = open_corpus(frame)
    np.testing.assert_array_equal(corpus.targets(["label"])[:, 0], [1.0, np.nan, 0.0])
    assert corpus.group("source") == ["x", None, "y"]
    assert corpus.strings("time") == ["2020-01-02T00:00:00", None, "2020-01-03T00:00:00"]
    with refused("columns.not-single-values", what="'tags'"):
        open_corpus(frame, labels="tags")


def test_a_dataset_has_class_names_and_its_selection_and_a_dict_has_splits() -> None:
    features = datasets.Features(
        {"text": datasets.Value("string"), "label": datasets.ClassLabel(names=["control", "depressed"])}
    )
    whole = datasets.Dataset.from_dict(
        {"text": ["a b", "c d", "e f"], "label": [1, 0, -1]}, features=features
    )
    chosen = read_corpus(whole.select([2, 0, 1]), Columns(positive=("depressed",)))
    assert chosen.texts == ["e f", "a b", "c d"]
    np.testing.assert_array_equal(chosen.targets()[:, 0], [np.nan, 1.0, 0.0])
    parts = datasets.DatasetDict(train=whole, validation=whole.select([0]))
    both = read_corpus(parts, Columns(positive=("depressed",)))
    assert both.strings("split") == ["train", "train", "train", "dev"]
    dev = read_corpus(parts, Columns(positive=("depressed",)), split="validation")
    assert dev.texts == ["a b"]


def test_a_saved_dataset_and_the_one_in_memory_are_the_same_corpus(tmp_path: Path) -> None:
    parts = datasets.DatasetDict(train=datasets.Dataset.from_dict(ROWS).remove_columns(["split"]))
    parts.save_to_disk(tmp_path / "saved")
    assert open_corpus(parts).table.equals(open_corpus(tmp_path / "saved").table)


@pytest.mark.parametrize(
    "texts",
    [
        ["one two", "", "three"],
        ("one two", "", "three"),
        pl.Series(["one two", "", "three"]),
        pd.Series(["one two", None, "three"]),
        np.array(["one two", "", "three"]),
    ],
    ids=["list", "tuple", "polars", "pandas", "numpy"],
)
def test_a_sequence_of_strings_is_a_corpus_and_empty_texts_are_counted(texts: Any) -> None:
    (corpus,) = open_corpora(texts)
    assert (corpus.name, corpus.ids, corpus.texts) == ("texts", ["1", "3"], ["one two", "three"])
    assert dict(corpus.left_out) == {"empty text": 1}


def test_a_list_of_names_is_several_corpora_and_frames_are_numbered(tmp_path: Path) -> None:
    named = open_corpora(["demo:tweets", "demo:forum"], split="test")
    assert [corpus.name for corpus in named] == ["tweets", "forum"]
    assert {split for corpus in named for split in corpus.strings("split")} == {"test"}
    frames = open_corpora([pd.DataFrame(ROWS), "demo:notes", pl.DataFrame(ROWS)], labels=["depression"])
    assert [corpus.name for corpus in frames] == ["frame", "notes", "frame-2"]
    with refused("file.does-not-exist"):
        open_corpora([str(tmp_path / "my posts.csv")])


def test_a_corpus_can_be_narrowed() -> None:
    corpus = Corpus.of("c", ["a", "b"], labels={"x": [1, 0], "y": [0, 1]}, split=["train", "test"])
    narrow = open_corpus(corpus, labels="y", split="test")
    assert (narrow.labels, narrow.texts) == (("y",), ["b"])
    with refused("corpus.columns-of-corpus"):
        open_corpus(corpus, text="a")


@pytest.mark.parametrize(
    ("source", "message"),
    [
        (None, "expected a corpus, got an object of type NoneType"),
        (12, "got an object of type int"),
        ({"text": SECRET}, "holds an object of type str, not a list of cells"),
        ({"text": [SECRET], "depression": [1, 0]}, "the columns have different lengths"),
        ([SECRET, 3], "expected a string, got an object of type int"),
        ([SECRET, [SECRET]], "expected a string, got an object of type list"),
        ([], "no rows to read"),
        (pd.DataFrame({"text": []}), "no rows to read"),
        (pd.DataFrame([[SECRET, 1]], columns=["text", "text"]), "two columns have the same name"),
        (pd.DataFrame({"text": [SECRET, 3]}), "the text column holds a value of type int, not a string"),
        (pl.DataFrame({"text": [SECRET] * 2, "id": [SECRET] * 2}), "id of 35 characters occurs twice"),
        (SECRET, "a single string names a file, and this one looks like a text"),
        (f"{SECRET}\n" * 200, "a single string names a file"),
    ],
)
def test_errors_name_the_type_and_never_quote_a_text(source: Any, message: str) -> None:
    with pytest.raises(BadInput, match=message) as caught:
        open_corpus(source)
    assert SECRET not in str(caught.value)


def test_an_unknown_column_is_an_error_that_lists_the_known_ones() -> None:
    with refused("columns.unknown-column", what="'postt'") as caught:
        open_corpus(pd.DataFrame(ROWS), text="postt")
    assert "did you mean 'post'?" in caught.value.allowed
    assert caught.value.where == "frame"


@pytest.mark.parametrize(
    "source",
    [
        [{"text": "grey", "low": 1}, {"text": "sunny", "low": 0}, {"text": "wet"}],
        {"text": ["grey", "sunny", "wet"], "low": [1, 0, None]},
        {"text": np.array(["grey", "sunny", "wet"]), "low": pd.Series([1, 0, None])},
        datasets.Dataset.from_list(
            [{"text": "grey", "low": 1}, {"text": "sunny", "low": 0}, {"text": "wet", "low": None}]
        ).to_iterable_dataset(),
    ],
)
def test_records_and_columns_are_corpora(source: Any) -> None:
    corpus = open_corpus(source, label="low")
    assert corpus.texts == ["grey", "sunny", "wet"]
    np.testing.assert_array_equal(corpus.targets(["low"])[:, 0], [1.0, 0.0, np.nan])


def test_a_mapping_of_frames_names_corpora() -> None:
    frames = {"here": pd.DataFrame({"text": ["grey"]}), "there": pl.DataFrame({"text": ["sunny"]})}
    assert [corpus.name for corpus in open_corpora(frames)] == ["here", "there"]


def test_every_role_is_a_keyword() -> None:
    rows = {
        "words": ["grey day", "sunny day"],
        "state": ["low", "fine"],
        "who": ["a", "b"],
        "when": ["2020", "2021"],
        "kind": ["f", "m"],
        "part": ["train", "test"],
        "key": ["k1", "k2"],
    }
    corpus = open_corpus(
        rows,
        text="words",
        label={"state": "depression"},
        positive="low",
        id="key",
        author="who",
        time="when",
        groups="kind",
        split_column="part",
    )
    assert (corpus.ids, corpus.labels, corpus.groups) == (["k1", "k2"], ("depression",), ("kind",))
    assert corpus.strings("author") == ["a", "b"]
    assert corpus.strings("split") == ["train", "test"]
    assert corpus.targets(["depression"])[:, 0].tolist() == [1.0, 0.0]


@pytest.mark.parametrize(
    ("keywords", "code"),
    [
        ({"lable": "low"}, "keyword.unknown"),
        ({"label": "low", "labels": ["low"]}, "columns.label-and-labels"),
        ({"author": pd.Series(["a"])}, "columns.not-a-name"),
    ],
)
def test_keywords_that_are_refused(keywords: dict[str, Any], code: str) -> None:
    with refused(code):
        open_corpus({"text": ["grey"], "low": [1]}, **keywords)


def test_audit_takes_a_frame(tmp_path: Path) -> None:
    frame = pd.DataFrame({"words": ["so sad"] * 3 + ["so glad"] * 3, "low": [1, 1, 0, 0, 0, 0]})

    def low(texts: list[str]) -> Any:
        return np.array([[0.9 if "sad" in text else 0.1] for text in texts])

    run = psycheck.audit(
        low, frame, text="words", labels=["low"], audits=("performance",), store=tmp_path / "scores.db"
    )
    accuracy = [f for f in run.findings if f.measure == "accuracy" and f.where["label"] == "low"]
    assert [finding.value for finding in accuracy] == [pytest.approx(5 / 6)]
    assert accuracy[0].where["corpus"] == "frame"
