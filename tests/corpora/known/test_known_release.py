import gzip
import tempfile
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from psycheck.core.errors import BadInput
from psycheck.corpora.known.opening import known_corpora, open_known
from psycheck.corpora.known.release import Item, Loaded, Release, gather, gender
from refusals import refused

DREADDIT = known_corpora()["dreaddit"]


def test_files_are_found_whatever_their_case_and_compression_but_not_hidden_ones(tmp_path: Path) -> None:
    (tmp_path / "inner").mkdir()
    for name in ("inner/Some_File.CSV", "inner/some-file.csv.gz", "inner/._some_file.csv", "inner/other.csv"):
        (tmp_path / name).write_bytes(b"x")
    found = Release(DREADDIT, tmp_path).files("some-file.csv")
    assert [path.name for path in found] == ["Some_File.CSV", "some-file.csv.gz"]
    with refused("release.several-files", what="Some_File.CSV"):
        Release(DREADDIT, tmp_path).file("some-file.csv")


def test_a_file_at_the_top_is_preferred_to_one_below(tmp_path: Path) -> None:
    (tmp_path / "old").mkdir()
    for name in ("a.csv", "old/a.csv"):
        (tmp_path / name).write_text("x")
    assert Release(DREADDIT, tmp_path).file("a.csv") == tmp_path / "a.csv"


def test_ids_that_repeat_are_numbered_and_empty_columns_left_out() -> None:
    items = [Item("a", "x", {"l": 1.0}), Item("a", "y", {}), Item("a~2", "z", {"m": 0.0}, author="u")]
    corpus = gather("c", Loaded(items, {"why": 2}, ("note",)))
    assert len(set(corpus.ids)) == 3
    assert corpus.ids[:2] == ["a", "a~2"]
    assert corpus.table["label:l"].to_list() == [1.0, None, None]
    assert set(corpus.table.columns) == {"id", "text", "author", "label:l", "label:m"}
    assert (corpus.left_out, corpus.notes) == ({"why": 2}, ("note",))


def test_genders_have_one_spelling() -> None:
    assert [gender(said) for said in ("F", " male ", "x", None)] == ["female", "male", None, None]


def test_lines_of_json_say_where_they_are_wrong(tmp_path: Path) -> None:
    release = Release(DREADDIT, tmp_path)
    path = tmp_path / "a.jl.gz"
    path.write_bytes(gzip.compress(b'{"a": 1}\n\n[2]\n{"secret words\n'))
    values = release.json_lines(path)
    assert [next(values)[1], next(values)[1]] == [{"a": 1}, [2]]
    with pytest.raises(BadInput, match=r"row 3 \(line 4\)") as caught:
        next(values)
    assert "secret" not in str(caught.value)
    path = tmp_path / "b.jsonl"
    path.write_text('{"t": "\\ud83d"}\n')
    with pytest.raises(BadInput, match="half a character"):
        list(release.json_lines(path))


words = st.text(st.characters(codec="utf-8", exclude_categories=("Cc", "Cs")), min_size=1, max_size=30)


@given(st.lists(st.tuples(words, st.sampled_from(["0", "1", "0.5", ""])), min_size=1, max_size=8))
def test_texts_and_marks_come_through_as_they_are(rows: list[tuple[str, str]]) -> None:
    with tempfile.TemporaryDirectory() as folder:
        quoted = "".join('"{}",{},s\n'.format(text.replace('"', '""'), mark) for text, mark in rows)
        path = Path(folder) / "dreaddit-train.csv"
        path.write_text("text,label,subreddit\n" + quoted, encoding="utf-8", newline="")
        kept = [(text, float(mark) if mark else None) for text, mark in rows if text.strip()]
        if not kept:
            with refused("release.no-texts"):
                open_known("dreaddit", path)
            return
        corpus = open_known("dreaddit", path)
    assert list(zip(corpus.texts, corpus.table["label:stress"].to_list(), strict=True)) == kept
    assert sum(corpus.left_out.values()) == len(rows) - len(kept)


@given(st.text(st.characters(codec="utf-8", exclude_characters="\0\r\n"), min_size=3, max_size=30))
def test_what_is_wrong_in_a_cell_is_never_quoted(cell: str) -> None:
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "dreaddit-test.csv"
        secret = f"zebra {cell}"
        path.write_text('text,label,subreddit\n"{0}","{0}",s\n'.format(secret.replace('"', '""')), "utf-8")
        with pytest.raises(BadInput) as caught:
            open_known("dreaddit", path)
    assert "row 1 (line 2), column 'label'" in str(caught.value)
    assert "zebra" not in str(caught.value)
