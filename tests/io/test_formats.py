"""A format that another package registers is read, streamed, recognised and written like ours."""

from collections.abc import Iterator
from pathlib import Path

import polars as pl
import pytest

from psycheck.core.corpus import Corpus
from psycheck.core.registry import FORMATS
from psycheck.corpora.opening import CorpusPlan, open_corpus
from psycheck.corpora.stream import stream_posts
from psycheck.corpora.writing import write_corpus
from psycheck.io.formats import CSV, Format
from psycheck.io.tables import Table, read_table, readable_endings, readable_name, stem, table_pieces
from refusals import refused

POSTS = ["I slept well", "Nothing helps any more", "The day was long"]


def read_blocks(path: Path) -> Table:
    """One text per block of lines, with blank lines between them."""
    return Table(path, {"text": path.read_text("utf-8").split("\n\n")})


def block_pieces(path: Path) -> Iterator[Table]:
    for before, text in enumerate(path.read_text("utf-8").split("\n\n")):
        yield Table(path, {"text": [text]}, before=before)


def write_blocks(frame: pl.DataFrame, path: Path) -> None:
    path.write_text("\n\n".join(frame["text"]), "utf-8")


BLOCKS = Format(
    name="blocks",
    title="text blocks",
    endings=(".blocks",),
    read=read_blocks,
    pieces=block_pieces,
    writers={".blocks": write_blocks},
)


@pytest.fixture
def path(tmp_path: Path) -> Path:
    path = tmp_path / "posts.blocks"
    path.write_text("\n\n".join(POSTS), "utf-8")
    return path


@pytest.fixture
def _registered() -> Iterator[None]:
    with FORMATS.adding("blocks", BLOCKS):
        yield


@pytest.mark.usefixtures("_registered")
def test_a_registered_format_is_known_by_its_ending(path: Path) -> None:
    assert readable_name(path.name)
    assert ".blocks" in readable_endings()
    assert stem(path) == "posts"
    corpus = open_corpus(path)
    assert corpus.texts == POSTS
    assert corpus.source is not None
    assert corpus.source.format is None


@pytest.mark.usefixtures("_registered")
def test_a_registered_format_is_known_by_its_name(path: Path) -> None:
    other_ending = path.rename(path.with_suffix(".txt"))
    corpus = open_corpus(CorpusPlan(str(other_ending), format="blocks"))
    assert corpus.texts == POSTS
    assert corpus.source is not None
    assert corpus.source.format == "blocks"


@pytest.mark.usefixtures("_registered")
def test_a_registered_format_is_streamed_in_its_pieces(path: Path) -> None:
    assert [post.text for post in stream_posts(CorpusPlan(str(path)))] == POSTS
    assert [table.before for table in table_pieces(path)] == [0, 1, 2]


@pytest.mark.usefixtures("_registered")
def test_rows_and_columns_of_a_registered_format_come_from_its_pieces(path: Path) -> None:
    assert BLOCKS.columns_of(path) == ["text"]
    assert list(BLOCKS.rows_of(path, ["text", "author"])) == [{"text": text} for text in POSTS]


@pytest.mark.usefixtures("_registered")
def test_a_corpus_is_written_in_a_registered_format(tmp_path: Path) -> None:
    target = tmp_path / "made.blocks"
    write_corpus(Corpus.of("made", POSTS), target)
    assert read_table(target).columns == {"text": POSTS}


@pytest.mark.usefixtures("_registered")
def test_an_unknown_ending_is_refused_with_all_registered_formats(tmp_path: Path) -> None:
    path = tmp_path / "posts.sav"
    path.write_text("x")
    with refused("file.unknown-ending", where="posts.sav", do="format") as caught:
        read_table(path)
    for name in FORMATS.names():
        assert FORMATS.get(name).described() in caught.value.allowed


@pytest.mark.usefixtures("_registered")
def test_a_format_that_is_not_compressible_is_refused_when_compressed(tmp_path: Path) -> None:
    path = tmp_path / "posts.blocks.gz"
    path.write_text("x")
    with refused("file.compressed-twice", do="decompress the .gz file"):
        read_table(path)


def test_what_a_format_of_another_package_raises_is_explained_without_the_text(path: Path) -> None:
    def fail(path: Path) -> Table:
        raise ValueError("I slept well")

    broken = Format(name="blocks", title="text blocks", endings=(".blocks",), read=fail)
    with FORMATS.adding("blocks", broken):
        with refused("file.format-failed", where="posts.blocks") as caught:
            read_table(path)
        assert "ValueError" in caught.value.what
        assert "slept" not in str(caught.value)
        assert caught.value.__suppress_context__
        with refused("file.format-failed"):
            list(table_pieces(path))


def test_without_the_package_its_files_are_not_read(path: Path) -> None:
    assert not readable_name(path.name)
    with refused("file.unknown-ending"):
        read_table(path)
    with refused("file.unknown-format", allowed="csv"):
        read_table(path, "blocks")


def test_ours_are_registered_under_their_names() -> None:
    assert [FORMATS.get(name).name for name in FORMATS.names()] == list(FORMATS.names())
    assert FORMATS.get("csv") is CSV
