import gzip
import json
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st
from zstandard import ZstdCompressionParameters, ZstdCompressor

from psycheck.core.errors import BadInput
from psycheck.corpora.columns import Columns
from psycheck.corpora.opening import CorpusPlan
from psycheck.corpora.stream import Post, is_dump, stream_posts
from psycheck.demo.opening import open_demo
from psycheck.io import parquet, text_files
from refusals import refused

ROWS = [
    {
        "id": f"p{i}",
        "text": f'text {i},\n"quoted"',
        "author": f"a{i % 2}",
        "time": "2020-01-01",
        "split": "train",
    }
    for i in range(8)
]
POSTS = [Post(row["id"], row["text"], row["author"], row["time"]) for row in ROWS]

LONG = ZstdCompressionParameters(window_log=28, enable_ldm=True)  # as the archives are compressed


@pytest.fixture(autouse=True)
def _small_pieces(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(text_files, "PIECE", 3)
    monkeypatch.setattr(parquet, "PIECE", 3)


def _lines(rows: Iterable[Mapping[str, Any]]) -> bytes:
    return "".join(json.dumps(row) + "\n" for row in rows).encode()


@pytest.mark.parametrize(
    "name", ["a.csv", "a.tsv", "a.jsonl", "a.jsonl.gz", "a.jsonl.zst", "a.parquet", "demo"]
)
def test_every_format_gives_the_same_posts_in_pieces(name: str, tmp_path: Path) -> None:
    frame, path = pl.DataFrame(ROWS), tmp_path / name
    if name.endswith(".csv"):
        frame.write_csv(path)
    elif name.endswith(".tsv"):
        frame.write_csv(path, separator="\t")
    elif name.endswith(".parquet"):
        frame.write_parquet(path)
    elif name == "demo":
        notes = open_demo("notes", "dev")
        assert [post.text for post in stream_posts(CorpusPlan("demo:notes", split="dev"))] == notes.texts
        return
    else:
        pack = {".gz": gzip.compress, ".zst": ZstdCompressor().compress}.get(path.suffix, bytes)
        path.write_bytes(pack(_lines(ROWS)))
    assert list(stream_posts(CorpusPlan(str(path)))) == POSTS


@given(texts=st.lists(st.text(st.characters(blacklist_categories=("Cs", "Cc")), min_size=1), min_size=1))
def test_any_text_survives_json_lines(texts: list[str], tmp_path_factory: pytest.TempPathFactory) -> None:
    path = tmp_path_factory.mktemp("json") / "a.jsonl"
    path.write_bytes(_lines([{"text": f"x{text}"} for text in texts]))
    posts = list(stream_posts(CorpusPlan(str(path), columns=Columns(text="text"))))
    assert [post.text for post in posts] == [f"x{text}" for text in texts]
    assert [post.id for post in posts] == [str(i + 1) for i in range(len(texts))]


def test_a_column_that_a_later_row_leaves_out_is_unknown(tmp_path: Path) -> None:
    path = tmp_path / "a.jsonl"
    path.write_bytes(_lines([*ROWS[:3], {"id": "p9", "text": "alone"}]))
    assert list(stream_posts(CorpusPlan(str(path))))[3] == Post("p9", "alone", None, None)


def test_an_error_in_a_later_piece_names_its_row(tmp_path: Path) -> None:
    path = tmp_path / "a.jsonl"
    path.write_bytes(_lines([*ROWS[:5], {"id": "p9", "text": 4}]))
    with refused("corpus.text-not-a-string", where="a.jsonl, row 6, column 'text'"):
        list(stream_posts(CorpusPlan(str(path))))
    path.write_bytes(_lines([*ROWS[:5], {"id": "", "text": "x"}]))
    with refused("corpus.empty-id"):
        list(stream_posts(CorpusPlan(str(path))))


def test_a_tsv_file_without_quotes_is_read_as_it_stands(tmp_path: Path) -> None:
    path = tmp_path / "a.tsv"
    path.write_text('id\ttext\n1\t"so" they said\n2\tplain\n')
    assert [post.text for post in stream_posts(CorpusPlan(str(path)))] == ['"so" they said', "plain"]


def test_only_the_wanted_split_is_read(tmp_path: Path) -> None:
    path = tmp_path / "a.csv"
    pl.DataFrame([row | {"split": "val" if i == 4 else "train"} for i, row in enumerate(ROWS)]).write_csv(
        path
    )
    assert [post.id for post in stream_posts(CorpusPlan(str(path), split="dev"))] == ["p4"]
    path.write_text("text\nsome words here\n")
    with refused("corpus.no-split-column"):
        list(stream_posts(CorpusPlan(str(path), split="dev")))


@pytest.mark.parametrize(("name", "content"), [("a.csv", ""), ("a.csv", "id,text\n"), ("a.jsonl", "\n")])
def test_a_file_without_rows_is_refused(name: str, content: str, tmp_path: Path) -> None:
    (tmp_path / name).write_text(content)
    with pytest.raises(BadInput, match=r"empty|no rows"):
        list(stream_posts(CorpusPlan(str(tmp_path / name))))


def test_a_parquet_file_without_rows_or_that_is_none_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "a.parquet"
    pl.DataFrame({"text": []}, schema={"text": pl.String}).write_parquet(path)
    with refused("table.no-rows"):
        list(stream_posts(CorpusPlan(str(path))))
    path.write_text("garbage")
    with refused("parquet.other-content"):
        list(stream_posts(CorpusPlan(str(path))))


def test_a_dump_is_recognised_and_its_titles_are_read(tmp_path: Path) -> None:
    path = tmp_path / "RS_2020-01.zst"
    post = {"id": "q1", "author": "someone", "subreddit": "cats", "created_utc": 1577836800}
    rows: list[dict[str, Any]] = [post | {"title": "A title.", "selftext": "A body."}, {"id": "q2"}]
    path.write_bytes(ZstdCompressor(compression_params=LONG).compress(_lines(rows)))
    notes: list[str] = []
    plan = CorpusPlan(str(path))
    assert is_dump(plan)
    assert list(stream_posts(plan, notes.append)) == [
        Post("t3_q1", "A title.\nA body.", "someone", "2020-01-01T00:00:00+00:00")
    ]
    assert notes == ["left out: 1 (a field is missing)"]
    assert not is_dump(CorpusPlan("demo:tweets"))
