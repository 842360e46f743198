import subprocess
import sys
import tempfile
from dataclasses import replace
from pathlib import Path

import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from psycheck.core.corpus import PLAIN, Corpus
from psycheck.core.errors import BadInput, StoreFailure
from psycheck.corpora.reading import Columns, read_corpus
from psycheck.corpora.writing import guessed_alike, write_corpus, writers
from psycheck.demo.opening import DEMO, open_demo

# No halves of characters, which nothing can store, and no NUL, by which reading knows what is no text file.
CHILD = """
import resource, sys
from psycheck.corpora.writing import write_corpus
from psycheck.core.corpus import Corpus
from psycheck.core.errors import StoreFailure
corpus = Corpus.of("posts", [f"{k ** 9} and {k ** 7 % 9973}" for k in range(9000)])
resource.setrlimit(resource.RLIMIT_FSIZE, (20_000, 20_000))
try:
    write_corpus(corpus, sys.argv[1])
except StoreFailure as error:
    print(error.what)
"""
TEXT = st.text(st.characters(codec="utf-8", exclude_characters="\0"), min_size=1).filter(str.strip)
SHORT = st.text("abc XYZ,\"'\n=é", min_size=1, max_size=6).filter(str.strip)
NAME = st.text("abcdeftx_", min_size=1, max_size=6) | st.sampled_from(
    ["id", "text", "author", "split", "label", "1"]
)
MARK = st.none() | st.sampled_from([0.0, 1.0]) | st.floats(0, 1)


@st.composite
def corpora(draw: st.DrawFn) -> Corpus:
    n = draw(st.integers(1, 4))

    def column(values: st.SearchStrategy[object]) -> list[object]:
        return draw(st.lists(values, min_size=n, max_size=n))

    data: dict[str, list[object]] = {
        "id": draw(st.lists(SHORT, min_size=n, max_size=n, unique=True)),
        "text": column(TEXT),
    }
    for plain in ("author", "time"):
        if draw(st.booleans()):
            data[plain] = column(st.none() | SHORT)
    if draw(st.booleans()):
        data["split"] = column(st.sampled_from([None, "train", "dev", "test"]))
    for name in draw(st.sets(NAME, max_size=3)):
        data[f"label:{name}"] = column(MARK)
    for name in draw(st.sets(NAME, max_size=2)):
        data[f"group:{name}"] = column(st.none() | SHORT)
    schema = {name: pl.Float64 if name.startswith("label:") else pl.String for name in data}
    return Corpus("made", pl.DataFrame(data, schema=schema))


@pytest.mark.parametrize("kind", writers())
@settings(max_examples=80, deadline=None)
@given(corpus=corpora())
def test_a_written_corpus_reads_back_equal(kind: str, corpus: Corpus) -> None:
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / f"made{kind}"
        columns = write_corpus(corpus, path)
        back = read_corpus(path, columns)
        assert back.table.select(sorted(back.table.columns)).equals(
            corpus.table.select(sorted(corpus.table.columns))
        )
        assert back.fingerprint() == corpus.fingerprint()
        assert [file.name for file in Path(folder).iterdir()] == [path.name]


@pytest.mark.parametrize("kind", writers())
@settings(max_examples=80, deadline=None)
@given(made=corpora())
def test_a_written_corpus_of_words_reads_back_without_options(kind: str, made: Corpus) -> None:
    words = pl.concat_str(pl.lit("so tired "), pl.col("text")).alias("text")
    # A column of authors, times or splits that holds nothing at all tells a reader nothing.
    known = [c for c in made.table.columns if c not in PLAIN or made.table[c].null_count() < len(made)]
    corpus = replace(made, table=made.table.with_columns(words).select(known))
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / f"made{kind}"
        assert guessed_alike(corpus, write_corpus(corpus, path))
        assert read_corpus(path).fingerprint() == corpus.fingerprint()


@pytest.mark.parametrize("kind", writers())
@pytest.mark.parametrize("name", DEMO)
def test_a_demo_corpus_reads_back_equal_but_for_groups_with_long_names(
    name: str, kind: str, tmp_path: Path
) -> None:
    corpus = open_demo(name, "test")
    columns = write_corpus(corpus, tmp_path / f"{name}{kind}")
    long = [group for group in corpus.groups if max(len(cell or "") for cell in corpus.group(group)) > 80]
    assert columns.groups == tuple(f"group:{group}" for group in corpus.groups if group not in long)
    back = read_corpus(tmp_path / f"{name}{kind}")
    kept = replace(corpus, table=corpus.table.drop([f"group:{group}" for group in long]))
    assert back.fingerprint() == kept.fingerprint()


@pytest.mark.parametrize("kind", writers())
def test_a_corpus_with_usual_names_needs_no_columns_named(kind: str, tmp_path: Path) -> None:
    corpus = Corpus.of(
        "usual",
        ["one", "two"],
        labels={"depression": [0, 1], "anxiety": [None, 0.5]},
        groups={"gender": ["f", None]},
        author=["u1", None],
        time=["2020-01-01", None],
        split=["train", "test"],
    )
    columns = write_corpus(corpus, tmp_path / f"usual{kind}")
    assert guessed_alike(corpus, columns)
    assert read_corpus(tmp_path / f"usual{kind}").fingerprint() == corpus.fingerprint()


def test_labels_and_groups_with_other_names_say_what_they_are(tmp_path: Path) -> None:
    corpus = Corpus.of("odd", ["one", "two"], labels={"n_sad": [0, 1]}, groups={"shift": ["day", "night"]})
    columns = write_corpus(corpus, tmp_path / "odd.csv")
    assert columns == Columns(text="text", id="id", labels=("label:n_sad",), groups=("group:shift",))
    assert (tmp_path / "odd.csv").read_text().splitlines()[0] == '"id","text","label:n_sad","group:shift"'
    assert read_corpus(tmp_path / "odd.csv").fingerprint() == corpus.fingerprint()


def test_names_that_clash_keep_their_prefix(tmp_path: Path) -> None:
    corpus = Corpus.of("clash", ["one"], labels={"text": [1]}, groups={"id": ["a"]})
    columns = write_corpus(corpus, tmp_path / "clash.jsonl")
    assert (columns.id, columns.text, columns.labels) == ("id", "text", ("label:text",))
    assert read_corpus(tmp_path / "clash.jsonl").fingerprint() == corpus.fingerprint()


def test_an_older_file_stays_when_the_new_one_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "posts.csv"
    write_corpus(Corpus.of("posts", ["one"]), path)
    before = path.read_bytes()
    with pytest.raises(BadInput, match="1 of the texts are blank"):
        write_corpus(Corpus.of("posts", ["one", " "]), path)
    assert path.read_bytes() == before


def test_ids_that_repeat_are_refused_as_reading_would(tmp_path: Path) -> None:
    corpus = Corpus.of("posts", ["one", "two", "three", "four"])
    twice = replace(corpus, table=corpus.table.with_columns(pl.Series("id", ["a", "b", "a", "a"])))
    with pytest.raises(BadInput, match="2 of the ids repeat another"):
        write_corpus(twice, tmp_path / "posts.csv")
    assert list(tmp_path.iterdir()) == []


def test_other_formats_and_places_that_cannot_be_written_are_refused(tmp_path: Path) -> None:
    corpus = Corpus.of("posts", ["one"])
    with pytest.raises(BadInput, match=r"cannot write '\.xlsx' files"):
        write_corpus(corpus, tmp_path / "posts.xlsx")
    (tmp_path / "file").write_text("")
    with pytest.raises(StoreFailure, match="cannot write results: Not a directory"):
        write_corpus(corpus, tmp_path / "file" / "posts.csv")


@pytest.mark.parametrize("ending", writers())
def test_a_file_that_may_not_grow_leaves_nothing_behind(tmp_path: Path, ending: str) -> None:
    command = [sys.executable, "-c", CHILD, str(tmp_path / f"posts{ending}")]
    done = subprocess.run(command, capture_output=True, text=True, timeout=60)
    assert done.stdout == "cannot write results: File too large\n", done.stderr
    assert list(tmp_path.iterdir()) == []
