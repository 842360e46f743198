import csv
import gzip
from pathlib import Path

import pytest
import zstandard

from psycheck.core.errors import BadInput
from psycheck.io import streams
from psycheck.io.tables import Table, read_table, stem
from refusals import refused


def write(path: Path, content: str | bytes) -> Path:
    path.write_bytes(content.encode() if isinstance(content, str) else content)
    return path


def rows(table: Table) -> list[tuple[object, ...]]:
    return list(zip(*table.columns.values(), strict=True))


def refusal(path: Path) -> str:
    with pytest.raises(BadInput) as caught:
        read_table(path)
    return str(caught.value)


def test_csv_is_read_as_rfc_4180_says(tmp_path: Path) -> None:
    table = read_table(write(tmp_path / "a.csv", 'text,label\r\n"a, ""b""\nc",1\r\nd "e" f,0\r\n'))
    assert list(table.columns) == ["text", "label"]
    assert rows(table) == [('a, "b"\nc', "1"), ('d "e" f', "0")]
    assert table.where(1, "label") == f"{tmp_path / 'a.csv'}, row 2 (line 4), column 'label'"


@pytest.mark.parametrize("end", ["\n", "\r\n", "\r"])
def test_csv_may_end_its_lines_in_any_way_and_have_blank_ones(tmp_path: Path, end: str) -> None:
    table = read_table(write(tmp_path / "a.csv", end.join(["\ufefftext,label", "a,1", "", "b,0", ""])))
    assert rows(table) == [("a", "1"), ("b", "0")]
    assert table.where(1) == f"{tmp_path / 'a.csv'}, row 2 (line 4)"


def test_mixed_line_ends_are_read(tmp_path: Path) -> None:
    assert rows(read_table(write(tmp_path / "a.csv", "text\na\r\nb\rc"))) == [("a",), ("b",), ("c",)]


def test_a_column_without_a_name_is_called_by_its_position(tmp_path: Path) -> None:
    assert list(read_table(write(tmp_path / "a.csv", ", text \n0,a\n")).columns) == ["column_1", "text"]


def test_tsv_is_read_with_quotes_that_enclose_fields(tmp_path: Path) -> None:
    assert rows(read_table(write(tmp_path / "a.tsv", 'text\tlabel\n"a\tb\nc"\t1\n'))) == [("a\tb\nc", "1")]


def test_tsv_that_quotes_nothing_is_read_with_its_quotes_and_says_so(tmp_path: Path) -> None:
    table = read_table(write(tmp_path / "a.tsv", 'text\tlabel\n"Fine," she said\t0\n"never\t1\n'))
    assert rows(table) == [('"Fine," she said', "0"), ('"never', "1")]
    assert "Quotation marks are read as part of the fields" in table.notes[0]


def test_json_lines_keep_their_types_and_absent_keys_are_null(tmp_path: Path) -> None:
    table = read_table(
        write(tmp_path / "a.jsonl", '{"text": "a\\n\\ud83d\\ude42", "y": 1}\n\n{"text": "b", "z": true}\n')
    )
    assert table.columns == {"text": ["a\n🙂", "b"], "y": [1, None], "z": [None, True]}
    assert table.where(0) == f"{tmp_path / 'a.jsonl'}, row 1"
    assert table.where(1) == f"{tmp_path / 'a.jsonl'}, row 2 (line 3)"


@pytest.mark.parametrize("name", ["a.csv", "a.tsv", "a.ndjson"])
@pytest.mark.parametrize("suffix", [".gz", ".zst"])
def test_text_formats_may_be_compressed(tmp_path: Path, name: str, suffix: str) -> None:
    content = b'{"text": "hello"}\n' if name.endswith("json") else b"text\nhello\n"
    squeeze = gzip.compress if suffix == ".gz" else zstandard.compress
    assert rows(read_table(write(tmp_path / (name + suffix), squeeze(content)))) == [("hello",)]


def test_the_format_can_be_said(tmp_path: Path) -> None:
    assert rows(read_table(write(tmp_path / "a.txt", "text\nhello\n"), "csv")) == [("hello",)]


@pytest.mark.parametrize(
    ("content", "code", "place"),
    [
        ("", "file.empty", ""),
        ("\n \n", "file.empty", ""),
        ("text,label\n", "table.no-rows", ""),
        ("text,label\na,1\nb\n", "csv.fields-per-row", ", row 2 (line 3)"),
        ('text,label\n"a\nb",1\nc,d,1\n', "csv.fields-per-row", ", row 2 (line 4)"),
        ('text,label\na,1\n"b,0\nc,1\n', "csv.unclosed-quote", ", row 2 (line 3)"),
        ('text,label\n"a"b,1\n', "csv.text-after-quote", ", row 1 (line 2)"),
        ("text,text\na,b\n", "csv.repeated-column", ", header"),
        ('{"text": "a"}\n', "csv.looks-like-json", ""),
        ("text\n" + "é\n" * 3 + "b\udce9\n", "file.not-utf-8", ", row 4 (line 5)"),
    ],
)
def test_bad_csv_is_refused(tmp_path: Path, content: str, code: str, place: str) -> None:
    path = write(tmp_path / "a.csv", content.encode("utf-8", "surrogateescape"))
    with refused(code, where=f"{path}{place}"):
        read_table(path)


@pytest.mark.parametrize(
    ("content", "value"),
    [
        ("text,label\na,1\nb\n", "1 field, the header has 2"),
        ("text,text\na,b\n", "'text'"),
        ("text\n" + "é\n" * 3 + "b\udce9\n", "byte 15"),
    ],
)
def test_an_error_about_csv_names_what_it_found(tmp_path: Path, content: str, value: str) -> None:
    path = write(tmp_path / "a.csv", content.encode("utf-8", "surrogateescape"))
    assert value in refusal(path)


def test_a_first_row_of_data_is_refused_and_not_quoted(tmp_path: Path) -> None:
    said = refusal(write(tmp_path / "a.tsv", "I have not slept since the spring\t27\nAll is well\t1\n"))
    assert "looks like data" in said
    assert "slept" not in said


@pytest.mark.parametrize(
    ("content", "code", "place"),
    [
        ("\n", "file.empty", ""),
        ('{"text": "a"}\n\n{"text": "b"\n', "json.not-valid", ", row 2 (line 3)"),
        ('{"text": "a"}\n[1]\n', "json.not-an-object", ", row 2"),
        ('[\n{"text": "a"}\n]\n', "json.not-valid", ", row 1"),
        ('{"text": "\\ud83d"}\n', "json.half-character", ", row 1"),
        ("[" * 100_000 + "\n", "json.not-valid", ", row 1"),
        ('{"n": ' + "1" * 5_000 + "}\n", "json.not-valid", ", row 1"),
    ],
)
def test_bad_json_lines_are_refused(tmp_path: Path, content: str, code: str, place: str) -> None:
    path = write(tmp_path / "a.jsonl", content)
    with refused(code, where=f"{path}{place}"):
        read_table(path)


def test_a_bad_json_line_is_not_quoted(tmp_path: Path) -> None:
    assert "slept" not in refusal(write(tmp_path / "a.jsonl", '{"text": "I have not slept}\n'))


def test_a_row_that_is_too_long_is_refused_and_the_csv_limit_stays(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(streams, "LONGEST", 1_000)
    before = csv.field_size_limit()
    said = refusal(write(tmp_path / "a.csv", 'text\nshort\n"' + "a\n" * 1_000))
    assert "row 2 (line" in said
    assert csv.field_size_limit() == before


def test_a_long_field_is_read_up_to_the_limit_of_a_row(tmp_path: Path) -> None:
    assert rows(read_table(write(tmp_path / "a.csv", "text\n" + "a" * 200_000))) == [("a" * 200_000,)]


def test_a_file_that_does_not_exist_is_refused_with_the_nearest(tmp_path: Path) -> None:
    write(tmp_path / "posts.csv", "text\na\n")
    assert "did you mean 'posts.csv'?" in refusal(tmp_path / "post.csv")
    for i in range(9):
        write(tmp_path / f"posts{i}.csv", "text\na\n")
    write(tmp_path / "unlike.txt", "")
    said = refusal(tmp_path / "post.csv")
    assert (said.count("posts"), "unlike" in said) == (3, False)
    with refused("file.no-such-folder"):
        read_table(tmp_path / "nowhere" / "post.csv")


@pytest.mark.parametrize(
    ("name", "code", "do"),
    [
        ("a.sav", "file.unknown-ending", "format"),
        ("a.parquet.gz", "file.compressed-twice", "decompress the .gz file"),
    ],
)
def test_formats_that_are_not_read_are_refused(tmp_path: Path, name: str, code: str, do: str) -> None:
    with refused(code, do=do):
        read_table(write(tmp_path / name, "x"))


def test_an_unknown_format_is_refused_with_the_nearest(tmp_path: Path) -> None:
    with refused("file.unknown-format", allowed="did you mean 'jsonl'?"):
        read_table(write(tmp_path / "a.csv", "text\na\n"), "jsonll")


def test_a_folder_is_no_csv_and_a_file_no_dataset(tmp_path: Path) -> None:
    with refused("file.is-a-folder", what="csv"):
        read_table(tmp_path, "csv")
    with refused("file.not-a-folder"):
        read_table(write(tmp_path / "a.csv", "text\na\n"), "dataset")


def test_more_columns_than_any_corpus_has_are_refused(tmp_path: Path) -> None:
    assert "more than 4,000 columns" in refusal(
        write(tmp_path / "a.csv", ",".join(f"c{i}" for i in range(4_001)) + "\n")
    )


@pytest.mark.parametrize(
    ("name", "expected"),
    [("posts.csv", "posts"), ("posts.v2.csv.gz", "posts.v2"), ("posts.jsonl.zst", "posts")],
)
def test_the_stem_of_a_file_has_no_extensions(name: str, expected: str) -> None:
    assert stem(Path(name)) == expected


def test_a_nul_byte_is_told_with_its_row(tmp_path: Path) -> None:
    path = tmp_path / "a.csv"
    path.write_bytes(b'text,label\n"a\nb",1\nc\x00d,0\n')
    assert f"{path}, row 2 (line 4)" in refusal(path)
    assert "NUL byte at byte 20" in refusal(path)
