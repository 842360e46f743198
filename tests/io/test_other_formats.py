"""Files as other programs write them: delimiters, encodings, workbooks, archives, Arrow, JSON, folders."""

import gzip
import json
import zipfile
from pathlib import Path

import openpyxl  # type: ignore[import-untyped]  # has no types
import pandas as pd
import polars as pl
import pytest

from psycheck.corpora.opening import open_corpus
from psycheck.io.tables import Table, read_table, table_pieces
from refusals import refused

ROWS = {"id": ["p1", "p2"], "text": ["I’m so tired; always", "A café, a day"], "depression": [1, 0]}
FRAME = pd.DataFrame(ROWS)


def cells(table: Table) -> list[list[str]]:
    return [[str(cell) for cell in column] for column in table.columns.values()]


EXPECTED = [["p1", "p2"], ROWS["text"], ["1", "0"]]


@pytest.mark.parametrize(("separator", "note"), [(";", "semicolons"), ("\t", "tabs"), ("|", "pipes")])
@pytest.mark.parametrize("name", ["posts.csv", "posts.csv.gz"])
def test_other_delimiters_are_read_with_a_note(tmp_path: Path, name: str, separator: str, note: str) -> None:
    FRAME.to_csv(tmp_path / name, sep=separator, index=False)
    table = read_table(tmp_path / name)
    assert cells(table) == EXPECTED
    assert table.notes == (f"Guessed that {note} separate the fields.",)
    (piece,) = table_pieces(tmp_path / name)
    assert (cells(piece), piece.notes) == (EXPECTED, table.notes)


def test_commas_in_a_tsv_are_read_too(tmp_path: Path) -> None:
    FRAME.to_csv(tmp_path / "posts.tsv", index=False)
    assert cells(read_table(tmp_path / "posts.tsv")) == EXPECTED


def test_a_first_line_that_is_a_text_is_not_cut_at_its_semicolons(tmp_path: Path) -> None:
    (tmp_path / "posts.csv").write_text("I was so tired; and then; it got better again\nAnother day\n")
    assert len(read_table(tmp_path / "posts.csv").columns) == 1


@pytest.mark.parametrize("encoding", ["utf-16", "utf-16-le", "utf-16-be", "utf-8-sig"])
def test_unicode_is_read_without_a_note(tmp_path: Path, encoding: str) -> None:
    FRAME.to_csv(tmp_path / "posts.csv", index=False, encoding=encoding)
    table = read_table(tmp_path / "posts.csv")
    assert (cells(table), table.notes) == (EXPECTED, ())


def test_a_long_file_of_utf_16_is_read_in_chunks(tmp_path: Path) -> None:
    long = pd.DataFrame({"text": [f"{number} café 🙂" for number in range(60_000)]})
    long.to_csv(tmp_path / "posts.csv", index=False, encoding="utf-16")
    assert read_table(tmp_path / "posts.csv").columns["text"] == tuple(long["text"])


def test_windows_1252_is_read_with_a_note(tmp_path: Path) -> None:
    FRAME.to_csv(tmp_path / "posts.csv", index=False, encoding="cp1252")
    table = read_table(tmp_path / "posts.csv")
    assert cells(table) == EXPECTED
    assert table.notes == ("Guessed that the file is encoded in Windows-1252: it is not valid UTF-8.",)


def test_latin_1_is_read_with_a_note(tmp_path: Path) -> None:
    (tmp_path / "posts.csv").write_bytes("text\ncaf\xe9 \x81\n".encode("latin-1"))
    table = read_table(tmp_path / "posts.csv")
    assert table.columns["text"] == ("caf\xe9 \x81",)
    assert "Latin-1" in table.notes[0]


@pytest.mark.parametrize("content", [b"text\ncaf\xc3\xa9\ncaf\xe9\n", b"text\ncaf\xe9\ncaf\xc3\xa9\n"])
def test_two_encodings_in_one_file_are_refused(tmp_path: Path, content: bytes) -> None:
    (tmp_path / "posts.csv").write_bytes(content)
    with refused("file.not-utf-8", where="row 2 (line 3)"):
        read_table(tmp_path / "posts.csv")


def test_a_workbook_is_read_from_its_first_sheet_with_rows(tmp_path: Path) -> None:
    workbook = openpyxl.Workbook()
    posts = workbook.create_sheet("posts")
    posts.append([])
    for row in (list(ROWS), *FRAME.itertuples(index=False)):
        posts.append(list(row))
    workbook.create_sheet("codes").append(["code"])
    workbook.save(tmp_path / "posts.xlsx")

    table = read_table(tmp_path / "posts.xlsx")
    assert cells(table) == EXPECTED
    assert table.columns["depression"] == [1, 0]
    assert table.where(1) == f"{tmp_path / 'posts.xlsx'}, row 2 (line 4)"
    assert "sheet 'posts'" in table.notes[0]


def test_a_damaged_workbook_is_refused(tmp_path: Path) -> None:
    (tmp_path / "posts.xlsx").write_bytes(b"PK\x03\x04 nothing")
    with refused("workbook.unreadable", do="CSV"):
        read_table(tmp_path / "posts.xlsx")


@pytest.mark.parametrize(
    "orient",
    ["records", "list", "columns", "under a key", "lines"],
)
def test_json_is_read_in_the_usual_shapes(tmp_path: Path, orient: str) -> None:
    path = tmp_path / "posts.json"
    if orient == "lines":
        FRAME.to_json(path, orient="records", lines=True)
    elif orient == "list":
        path.write_text(json.dumps(ROWS))
    elif orient == "under a key":
        path.write_text(json.dumps({"version": 1, "data": FRAME.to_dict("records")}))
    else:
        FRAME.to_json(path, orient=orient)
    table = read_table(path)
    assert cells(table) == EXPECTED
    assert len(table.notes) == int(orient in ("lines", "under a key"))


def test_compressed_json_is_read(tmp_path: Path) -> None:
    (tmp_path / "posts.json.gz").write_bytes(gzip.compress(json.dumps(ROWS).encode()))
    assert cells(read_table(tmp_path / "posts.json.gz")) == EXPECTED


@pytest.mark.parametrize(
    ("content", "code"),
    [
        ("[1, 2]", "json.no-table"),
        ("[{", "json.invalid"),
        ('{"a": 1}', "json.no-table"),
        ("", "json.invalid"),
    ],
)
def test_json_without_a_table_is_refused(tmp_path: Path, content: str, code: str) -> None:
    (tmp_path / "posts.json").write_text(content)
    with refused(code, where="posts.json"):
        read_table(tmp_path / "posts.json")


def test_a_zip_archive_with_one_table_is_read(tmp_path: Path) -> None:
    with zipfile.ZipFile(tmp_path / "posts.zip", "w") as archive:
        archive.writestr("data/posts.csv", FRAME.to_csv(index=False, sep=";"))
        archive.writestr("README.md", "ours")
        archive.writestr("__MACOSX/data/._posts.csv", "shadow")
    table = read_table(tmp_path / "posts.zip")
    assert (cells(table), table.path) == (EXPECTED, tmp_path / "posts.zip")


def test_a_zip_archive_with_two_tables_is_refused_with_their_names(tmp_path: Path) -> None:
    with zipfile.ZipFile(tmp_path / "posts.zip", "w") as archive:
        archive.writestr("a.csv", "text\na\n")
        archive.writestr("b.csv", "text\nb\n")
    with refused("archive.not-one-table", allowed="a.csv, b.csv"):
        read_table(tmp_path / "posts.zip")


def test_an_error_in_an_archive_names_the_archive(tmp_path: Path) -> None:
    with zipfile.ZipFile(tmp_path / "posts.zip", "w") as archive:
        archive.writestr("a.csv", "text,label\na\n")
    with refused("csv.fields-per-row", where=f"{tmp_path / 'posts.zip'}, a.csv, row 1 (line 2)"):
        read_table(tmp_path / "posts.zip")


@pytest.mark.parametrize("name", ["posts.arrow", "posts.feather"])
@pytest.mark.parametrize("stream", [False, True])
def test_arrow_is_read_as_a_file_and_as_a_stream(tmp_path: Path, name: str, stream: bool) -> None:
    frame = pl.DataFrame(ROWS)
    (frame.write_ipc_stream if stream else frame.write_ipc)(tmp_path / name)
    assert cells(read_table(tmp_path / name)) == EXPECTED


def test_a_damaged_arrow_file_is_refused(tmp_path: Path) -> None:
    (tmp_path / "posts.arrow").write_bytes(b"ARROW1\0\0broken")
    with refused("file.damaged"):
        read_table(tmp_path / "posts.arrow")


def class_folder(folder: Path, *splits: str) -> Path:
    for split in splits or ("",):
        for name, text in (("control", "A day out"), ("depressed", "So tired")):
            (folder / split / name).mkdir(parents=True)
            (folder / split / name / "1.txt").write_text(f"{text} {split}\n")
    return folder


def test_a_folder_of_class_folders_is_a_corpus(tmp_path: Path) -> None:
    corpus = open_corpus(class_folder(tmp_path / "posts"))
    assert corpus.ids == ["control/1", "depressed/1"]
    assert corpus.texts == ["A day out", "So tired"]
    assert corpus.targets(["label"])[:, 0].tolist() == [0.0, 1.0]


def test_splits_above_the_classes_are_splits(tmp_path: Path) -> None:
    corpus = open_corpus(class_folder(tmp_path / "posts", "train", "test"), split="test")
    assert corpus.ids == ["test/control/1", "test/depressed/1"]


def test_text_files_at_two_depths_are_refused(tmp_path: Path) -> None:
    folder = class_folder(tmp_path / "posts", "train")
    (folder / "train" / "1.txt").write_text("a")
    with refused("classes.mixed-depths"):
        read_table(folder)
