import gzip
import json
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
import pytest
import zstandard
from hypothesis import given
from hypothesis import strategies as st

from psycheck.core.errors import BadInput
from psycheck.core.item import digest_of
from psycheck.core.model import capabilities_of
from psycheck.models.opening import open_model
from psycheck.models.score_file import ScoreFile
from refusals import refused

TEXTS = ["one text", 'a "quoted", text\nin two lines', "ünï 🙂"]
SCORES = [[0.25, 0.5], [0.125, 1.0], [0.0, 0.75]]


def opened(path: Path, **options: Any) -> ScoreFile:
    model = open_model(f"scores:{path}", **options)
    assert isinstance(model, ScoreFile)
    return model


def table(key: str) -> pl.DataFrame:
    keys = TEXTS if key == "text" else [digest_of(text).hex() for text in TEXTS]
    low, worry = zip(*SCORES, strict=True)
    return pl.DataFrame({key: keys, "depression": low, "anxiety": worry})


def written(key: str, kind: str, folder: Path) -> Path:
    path = folder / f"elsewhere{kind}"
    plain = folder / f"plain{kind.removesuffix('.gz').removesuffix('.zst')}"
    match plain.suffix:
        case ".csv":
            table(key).write_csv(plain)
        case ".tsv":
            table(key).write_csv(plain, separator="\t")
        case ".jsonl":
            table(key).write_ndjson(plain)
        case _:
            table(key).write_parquet(plain)
    raw = plain.read_bytes()
    packed = {".gz": gzip.compress, ".zst": zstandard.ZstdCompressor().compress}.get(path.suffix)
    path.write_bytes(packed(raw) if packed else raw)
    return path


@pytest.mark.parametrize("key", ["text", "text_hash"])
@pytest.mark.parametrize(
    "kind", [".csv", ".tsv", ".jsonl", ".parquet", ".csv.gz", ".jsonl.zst", ".parquet.gz"]
)
def test_every_format_gives_the_same_scores(key: str, kind: str, tmp_path: Path) -> None:
    model = opened(written(key, kind, tmp_path))
    assert (model.name, model.labels) == ("elsewhere", ("depression", "anxiety"))
    np.testing.assert_array_equal(
        model.score([TEXTS[2], "another", TEXTS[0]]), [SCORES[2], [np.nan] * 2, SCORES[0]]
    )
    assert model.missing(["another", *TEXTS, "more"]) == ["another", "more"]
    assert model.read(["another", TEXTS[0]]).tolist() == [7, 8]
    assert model.score([]).shape == (0, 2)


@given(st.dictionaries(st.text(st.characters(exclude_categories=["Cs"])), st.floats(0, 1), min_size=1))
def test_what_is_written_as_json_lines_is_found_again(
    tmp_path_factory: pytest.TempPathFactory, known: dict[str, float]
) -> None:
    path = tmp_path_factory.mktemp("scores") / "s.jsonl"
    lines = (json.dumps({"text": text, "score": score}, ensure_ascii=False) for text, score in known.items())
    path.write_text("\n".join(lines), "utf-8", newline="")
    model = opened(path)
    np.testing.assert_array_equal(model.score(list(known))[:, 0], list(known.values()))


def test_an_export_that_was_filled_in_part(tmp_path: Path) -> None:
    path = tmp_path / "filled.jsonl"
    rows = [
        {"text_hash": digest_of("scored").hex(), "text": "scored", "score": 0.5, "read": 4},
        {"text_hash": digest_of("no answer").hex(), "text": "no answer", "score": float("nan")},
        {"text_hash": digest_of("not yet").hex(), "text": "not yet"},
        {"text_hash": digest_of("empty").hex(), "text": "empty", "score": ""},
    ]
    path.write_text("\n".join(map(json.dumps, rows)) + "\n")
    model = opened(path, label="depression")
    asked = ["scored", "no answer", "not yet", "empty"]
    assert model.labels == ("depression",)
    assert model.missing(asked) == ["not yet", "empty"]
    np.testing.assert_array_equal(model.score(asked)[:, 0], [0.5, np.nan, np.nan, np.nan])
    assert model.read(asked).tolist() == [4, 9, 7, 5]


def test_nan_in_a_table_is_no_usable_answer_and_empty_is_not_yet(tmp_path: Path) -> None:
    path = tmp_path / "s.csv"
    path.write_text('text,a,b\none,0.5,\ntwo,nan,NaN\nthree,,\nfour,"",""\n')
    model = opened(path)
    assert model.missing(["one", "two", "three", "four"]) == ["three", "four"]
    np.testing.assert_array_equal(model.score(["one", "two"]), [[0.5, np.nan], [np.nan, np.nan]])


def test_labels_are_columns_or_the_name_of_the_only_one(tmp_path: Path) -> None:
    path = tmp_path / "s.csv"
    path.write_text("id,text,a,b\n7,one,0.5,0.25\n")
    assert opened(path).labels == ("a", "b")
    chosen = opened(path, label="b")
    assert (chosen.labels, chosen.score(["one"]).tolist()) == (("b",), [[0.25]])
    with refused("scores.no-such-column", allowed="a, b"):
        opened(path, label="c")
    (tmp_path / "one.csv").write_text("text,score\none,0.5\n")
    assert opened(tmp_path / "one.csv").labels == ("positive",)
    assert opened(tmp_path / "one.csv", label="depression", name="far").labels == ("depression",)


def test_labels_can_be_exclusive_classes(tmp_path: Path) -> None:
    path = tmp_path / "s.csv"
    path.write_text("text,not,moderate,severe\none,0.4,0.3,0.3\n")
    assert not opened(path).capabilities.exclusive
    assert capabilities_of(open_model(f"scores:{path}?exclusive=yes")).exclusive
    assert opened(path, exclusive=True).capabilities.exclusive
    # One class alone is decided by the threshold.
    assert not opened(path, exclusive=True, label="severe").capabilities.exclusive
    with refused("model.option-of-another-kind", allowed="'exclusive' is for scores:"):
        open_model("python:json:loads?exclusive=yes")


@pytest.mark.parametrize(
    ("name", "content", "code", "where"),
    [
        ("s.csv", "text,a\none,0.5\ntwo,1.5\n", "scores.out-of-range", "row 2, column 'a'"),
        ("s.csv", "text,a\none,-0.5\n", "scores.out-of-range", "row 1, column 'a'"),
        ("s.csv", "text,a\none,high\n", "scores.not-a-number", "row 1, column 'a'"),
        ("s.csv", "text,a\none,0.5\none,0.5\none,0.6\n", "scores.differ", "rows 1 and 3"),
        ("s.csv", "text_hash,a\nabc,0.5\n", "scores.bad-hash", "row 1"),
        ("s.csv", "text_hash,a\n,0.5\n", "scores.no-text", "row 1"),
        ("s.csv", "post,a\none,0.5\n", "scores.no-text-column", "s.csv"),
        ("s.csv", "text,id\none,1\n", "scores.no-score-column", "s.csv"),
        ("s.csv", "text,a\n", "scores.empty", "s.csv"),
        ("s.csv", "", "scores.empty", "s.csv"),
        ("s.parquet", "text", "scores.unreadable", "s.parquet"),
        ("s.sav", "text", "scores.unknown-ending", "s.sav"),
    ],
)
def test_files_that_are_refused(name: str, content: str, code: str, where: str, tmp_path: Path) -> None:
    (tmp_path / name).write_text(content)
    with refused(code, where=where) as caught:
        opened(tmp_path / name)
    said = str(caught.value).replace(str(tmp_path), "").replace("one JSON object", "")
    assert "one" not in said.split()


@pytest.mark.parametrize(
    ("name", "content", "what", "where"),
    [
        ("s.csv", "text,a\none,0.5,3,4\n", "the row has 4 fields", "row 1"),
        ("s.jsonl", '{"text": "one", "a": 1}\n{"text"', "not valid JSON", "row 2"),
        ("s.jsonl", "[1]\n", "not an object", "row 1"),
        ("s.csv.gz", "text", "named as if compressed with gzip", "s.csv.gz"),
        ("s.csv.zst", "text", "named as if compressed with zstd", "s.csv.zst"),
    ],
)
def test_files_that_cannot_be_read_are_refused(
    name: str, content: str, what: str, where: str, tmp_path: Path
) -> None:
    (tmp_path / name).write_text(content)
    with pytest.raises(BadInput) as caught:
        opened(tmp_path / name)
    assert what in caught.value.what
    assert where in caught.value.where


def test_files_that_are_not_there_or_in_latin_1(tmp_path: Path) -> None:
    with refused("scores.no-such-file"):
        opened(tmp_path / "none.csv")
    (tmp_path / "latin.csv").write_bytes("text,a\nmüde,0.5\n".encode("latin-1"))
    assert opened(tmp_path / "latin.csv").score(["müde"]).tolist() == [[0.5]]


def test_fingerprint_is_of_the_bytes(tmp_path: Path) -> None:
    (tmp_path / "a.csv").write_text("text,a\none,0.5\n")
    (tmp_path / "b.csv").write_text("text,a\none,0.5\n")
    (tmp_path / "c.csv").write_text("text,a\none,0.6\n")
    first, same, other = (opened(tmp_path / f"{name}.csv").fingerprint for name in "abc")
    assert first == same != other
