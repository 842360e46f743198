import gzip
import os
import subprocess
import sys
from pathlib import Path

import pytest
import zstandard

import psycheck
from psycheck.core.errors import BadInput
from psycheck.io import streams
from psycheck.io.streams import Lines, place
from refusals import refused


def lines(path: Path, content: bytes, compression: str | None = None) -> list[str]:
    if compression is not None:
        path = path.with_suffix({"gzip": ".gz", "zstd": ".zst"}[compression])
    path.write_bytes(content)
    return list(Lines(path, row=1))


def refusal(path: Path, content: bytes, compression: str | None = None) -> str:
    with pytest.raises(BadInput) as caught:
        lines(path, content, compression)
    return str(caught.value)


def test_a_place_names_file_row_line_and_column() -> None:
    assert place(Path("a.csv"), 17, 23, "label") == "a.csv, row 17 (line 23), column 'label'"
    assert place(Path("a.csv"), 17, 17) == "a.csv, row 17"
    assert place(Path("a.csv"), 0, 1) == "a.csv, header (line 1)"


def test_lines_end_in_any_of_the_three_ways(tmp_path: Path) -> None:
    assert lines(tmp_path / "a", b"a\nb\r\nc\rd") == ["a\n", "b\r\n", "c\r", "d"]


def test_only_line_ends_cut_lines(tmp_path: Path) -> None:
    text = "a\x0bb\x0cc\x1cd\x85e\u2028f\n"
    assert lines(tmp_path / "a", text.encode()) == [text]


@pytest.mark.parametrize("size", [1, 2, 3, 5])
def test_lines_are_the_same_wherever_a_chunk_ends(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, size: int
) -> None:
    monkeypatch.setattr(streams, "_CHUNK", size)
    assert lines(tmp_path / "a", "é\r\n\r\r\n🙂\n\rz\r".encode()) == [
        "é\r\n",
        "\r",
        "\r\n",
        "🙂\n",
        "\r",
        "z\r",
    ]


def test_a_byte_order_mark_is_dropped(tmp_path: Path) -> None:
    assert lines(tmp_path / "a", b"\xef\xbb\xbfa\n\xef\xbb\xbfb") == ["a\n", "\ufeffb"]


def test_invalid_utf8_after_valid_is_refused_with_line_and_byte(tmp_path: Path) -> None:
    said = refusal(tmp_path / "a", b"\xef\xbb\xbfab\nc\xc3\xa9\nef\xe9g\n")
    assert "not valid UTF-8 at byte 12" in said
    assert "(line 3)" in said


@pytest.mark.parametrize("compression", ["gzip", "zstd"])
def test_compressed_bytes_are_read_over_several_members(tmp_path: Path, compression: str) -> None:
    squeeze = gzip.compress if compression == "gzip" else zstandard.compress
    content = squeeze(b"a\nb") + squeeze(b"c\n" + b"d" * 2_000_000 + b"\n")
    assert lines(tmp_path / "a", content, compression) == ["a\n", "bc\n", "d" * 2_000_000 + "\n"]


@pytest.mark.parametrize("compression", ["gzip", "zstd"])
@pytest.mark.parametrize("missing", [1, 20, 4_000])
def test_a_compressed_file_that_is_cut_off_is_refused(tmp_path: Path, compression: str, missing: int) -> None:
    squeeze = gzip.compress if compression == "gzip" else zstandard.compress
    content = squeeze(os.urandom(5_000).hex().encode())
    assert "truncated" in refusal(tmp_path / "a", content[:-missing], compression)


@pytest.mark.parametrize("compression", ["gzip", "zstd"])
def test_a_damaged_compressed_file_is_refused(tmp_path: Path, compression: str) -> None:
    squeeze = (
        gzip.compress if compression == "gzip" else zstandard.ZstdCompressor(write_checksum=True).compress
    )
    content = bytearray(squeeze(b"a line of a text\n" * 1_000))
    content[-10] ^= 0xFF
    assert "damaged" in refusal(tmp_path / "a", bytes(content), compression)


def test_a_file_that_is_only_named_as_compressed_is_refused(tmp_path: Path) -> None:
    assert "remove '.gz' from its name" in refusal(tmp_path / "a.csv.gz", b"text\nhello\n", "gzip")


@pytest.mark.parametrize(
    ("content", "said"),
    [
        (b"PAR1\x15\x04", "Parquet"),
        (gzip.compress(b"a", mtime=0), "add .gz to its name"),
        (zstandard.compress(b"a"), "add .zst to its name"),
        (b"PK\x03\x04\x14\x00", "Excel"),
        (b"%PDF-1.7\n", "PDF"),
        (b"\n<!DOCTYPE html><html>", "web page"),
        (b"text,label\na,\x001\n", "NUL byte at byte 13"),
    ],
)
def test_a_file_of_another_type_is_refused(tmp_path: Path, content: bytes, said: str) -> None:
    assert said in refusal(tmp_path / "a.csv", content)


def test_another_type_inside_a_compressed_file_is_refused(tmp_path: Path) -> None:
    assert "Parquet" in refusal(tmp_path / "a.csv.gz", gzip.compress(b"PAR1\x15\x04"), "gzip")


def test_a_row_of_many_lines_may_not_be_longer_than_one_line(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(streams, "LONGEST", 10)
    (tmp_path / "a").write_bytes(b"12345\n12345\n")
    one_row = Lines(tmp_path / "a", row=1)
    with refused("file.long-row"):
        list(one_row)
    rows = Lines(tmp_path / "a", row=1)
    for _ in rows:
        rows.next_row()
    assert rows.row == 3


READ_AND_MEASURE = """
import re, sys
from pathlib import Path
from psycheck.corpora.reading import read_corpus
from psycheck.core.errors import BadInput
def peak():
    return int(re.search(r"VmHWM:\\s+(\\d+)", Path("/proc/self/status").read_text()).group(1)) // 1024
before = peak()
try:
    read_corpus(sys.argv[1])
except BadInput as error:
    print(peak() - before, error)
"""


def test_a_line_of_300_megabytes_is_refused_with_bounded_memory(tmp_path: Path) -> None:
    path = tmp_path / "long.csv.zst"
    stream = zstandard.ZstdCompressor(level=1).compressobj()
    with path.open("wb") as file:
        file.write(stream.compress(b"text,label\nshort,1\n"))
        for _ in range(300):
            file.write(stream.compress(b"a" * 2**20))
        file.write(stream.flush())
    assert path.stat().st_size < 100_000
    home = str(Path(psycheck.__file__).parents[1])
    done = subprocess.run(
        [sys.executable, "-c", READ_AND_MEASURE, str(path)],
        capture_output=True,
        text=True,
        check=True,
        env={**os.environ, "PYTHONPATH": home},
    )
    mebibytes, said = done.stdout.split(" ", 1)
    assert "a row is longer than 64 MiB" in said
    assert "row 2 (line 3)" in said
    assert int(mebibytes) < 128
