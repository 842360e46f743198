"""The bytes of a text file: decompressed, checked and cut into lines with bounded memory."""

import gzip
import json
import tomllib
import zlib
from collections.abc import Iterator
from functools import cache
from itertools import chain
from pathlib import Path
from typing import Any, BinaryIO

from zstandard import ZstdDecompressor, ZstdError

from psycheck.errors import BadInput, check_piece

LONGEST = 64 * 2**20
"""The longest row that is read, in bytes."""

COMPRESSIONS = {".gz": "gzip", ".zst": "zstd"}
_OBJECT_PER_LINE = 'one JSON object per line, such as {"text": "…", "label": 1}'
DAMAGED = (gzip.BadGzipFile, zlib.error, ZstdError)

_CHUNK = 256 * 1024
_ROW = 200  # bytes of memory that a row takes beside its cells
_MOST_PACKED, _BOMB = 100, 0.25  # texts shrink to a tenth; what grows a hundredfold may fill so many GB
# A zstd block of 4 bytes can expand to 128 KiB: this much input gives 16 MiB at most.
ZSTD_INPUT = 512
MAGIC = {"gzip": b"\x1f\x8b", "zstd": b"\x28\xb5\x2f\xfd"}
_BOM = b"\xef\xbb\xbf"
_MARKUP = (b"<!doctype", b"<html", b"<?xml")


def place(path: Path, row: int, line: int | None = None, column: str | None = None) -> str:
    """The place of a row or cell: rows count from 1, row 0 is the header; the line is added if it differs."""
    where = f"{path}, " + (f"row {row}" if row else "header")
    if line is not None and line != row:
        where += f" (line {line})"
    return where + (f", column '{column}'" if column is not None else "")


def bad_file(path: Path, what: str, do: str = "", allowed: str = "") -> BadInput:
    """An error about a whole file or folder."""
    return BadInput(what, where=str(path), allowed=allowed, do=do)


class Lines:
    """The decoded lines of a file, with the current row and line for error messages.

    The reader sets `row` to the row it is reading and calls `next_row` when that row is complete; a row may
    span several lines from `start` on. What is `kept` by the reader may not outgrow the memory.
    """

    def __init__(self, path: Path, row: int, *, kept: bool = True) -> None:
        self.path = path
        self.kept = kept
        self.row = row
        self.line = 0
        self.start = 1
        self._row_bytes = 0
        self._offset = 0

    def next_row(self) -> None:
        """Begin the next row."""
        self.row += 1
        self.same_row()

    def same_row(self) -> None:
        """Begin this row again: the line was blank."""
        self.start = self.line + 1
        self._row_bytes = 0

    def where(self) -> str:
        """The row and line being read."""
        return place(self.path, self.row, self.line)

    def __iter__(self) -> Iterator[str]:
        pieces: list[bytes] = []
        for chunk in _joined_ends(_chunks(self.path, kept=self.kept)):
            for piece in chunk.splitlines(keepends=True):
                if (nul := piece.find(b"\0")) >= 0:
                    self.line += 1
                    at = f"{self._offset + sum(map(len, pieces)) + nul:,}"
                    what = f"there is a NUL byte at byte {at}: the row is damaged, or this is not a text file"
                    raise BadInput(what, where=self.where(), allowed="CSV, TSV or JSON lines in UTF-8")
                self._row_bytes += len(piece)
                if self._row_bytes > LONGEST:
                    self.line += 1
                    what = f"a row is longer than {LONGEST // 2**20} MiB"
                    do = "check that the file has line breaks and that every quote is closed"
                    raise BadInput(what, where=self.where(), do=do)
                pieces.append(piece)
                if piece.endswith((b"\n", b"\r")):
                    yield self._decoded(b"".join(pieces))
                    pieces.clear()
        if pieces:
            yield self._decoded(b"".join(pieces))

    def _decoded(self, line: bytes) -> str:
        self.line += 1
        start = self._offset
        self._offset += len(line)
        if start == 0 and line.startswith(_BOM):
            start, line = len(_BOM), line[len(_BOM) :]
        try:
            return line.decode("utf-8")
        except UnicodeDecodeError as error:
            what = f"the text is not valid UTF-8 at byte {start + error.start:,}"
            do = "save the file as UTF-8; it may be in Windows-1252 or Latin-1"
            raise BadInput(what, where=self.where(), allowed="UTF-8", do=do) from None


def json_values(lines: Lines, *, objects: bool = True) -> Iterator[Any]:
    """The JSON value of each line that is not blank: an object with whole characters, or any value."""
    for line in lines:
        if not line.strip():
            lines.same_row()
            continue
        try:
            value = json.loads(line)
        except (ValueError, RecursionError) as error:
            what = "nested too deeply"
            if isinstance(error, json.JSONDecodeError):
                what = f"{error.msg}, character {error.colno}"
            if lines.row == 1 and line.lstrip().startswith("["):
                what = "it begins a JSON array that spans several lines"
            what = f"the line is not valid JSON ({what})"
            raise BadInput(what, where=lines.where(), allowed=_OBJECT_PER_LINE) from None
        if objects and not isinstance(value, dict):
            what = f"the line is JSON of type {type(value).__name__}, not an object"
            raise BadInput(what, where=lines.where(), allowed=_OBJECT_PER_LINE)
        if "\\u" in line:
            # Of an object only the strings at its top are read.
            parts = chain.from_iterable(value.items()) if objects else (value,)
            read = [part for part in parts if isinstance(part, str) or not objects]
            refuse_half_characters(read, lines.where())
        yield value
        lines.next_row()


def refuse_half_characters(value: object, where: str) -> None:
    """Refuse a JSON value with an escaped half of a surrogate pair, which cannot be stored."""
    try:
        json.dumps(value, ensure_ascii=False).encode()
    except UnicodeEncodeError:
        what = "an escape stands for half a character (a lone surrogate such as \\ud83d)"
        do = "write the whole pair, or the character itself in UTF-8"
        raise BadInput(what, where=where, do=do) from None


def _joined_ends(chunks: Iterator[bytes]) -> Iterator[bytes]:
    """Hold a carriage return at the end of a chunk back, so that it stays with its line feed."""
    held = b""
    for chunk in chunks:
        whole = held + chunk
        held = b"\r" if whole.endswith(b"\r") else b""
        yield whole[:-1] if held else whole
    if held:
        yield held


@cache
def _other_types() -> list[tuple[tuple[bytes, ...], str, str]]:
    """The first bytes of content that is not CSV, TSV or JSON lines, what it is and what to do."""
    kinds = tomllib.loads(Path(__file__).with_name("streams.toml").read_text("utf-8"))["other"]
    return [(tuple(map(bytes.fromhex, kind["magic"])), kind["what"], kind["do"]) for kind in kinds]


def _chunks(path: Path, *, kept: bool) -> Iterator[bytes]:
    """The decompressed bytes in pieces of bounded size; content of a known other type is refused first."""
    compression = COMPRESSIONS.get(path.suffix.lower())
    try:
        with path.open("rb") as file:
            head = file.read(4)
            file.seek(0)
            if compression and head and not head.startswith(MAGIC[compression]):
                what = f"this file is named as if compressed with {compression}, but it is not"
                raise bad_file(path, what, do=f"remove '{path.suffix}' from its name")
            chunks = decompressed(file, compression if head else None, step=ZSTD_INPUT)
            first = next(chunks, b"")
            for magic, what, do in _other_types():
                if first.startswith(magic):
                    raise bad_file(path, f"the content of this file is {what}", do=do)
            if first.lstrip()[:9].lower().startswith(_MARKUP):
                do = "download the data file itself"
                raise bad_file(path, "this is a web page or an XML file", do=do)
            size, packed = 0, path.stat().st_size
            for chunk in chain([first], chunks):
                size += len(chunk) + _ROW * chunk.count(b"\n")
                bomb = compression and size > _MOST_PACKED * packed
                yield check_piece(chunk, size if kept else 0, str(path), _BOMB if bomb else 8)
    except EOFError:
        raise bad_file(path, "the compressed file is truncated", do="copy it again") from None
    except DAMAGED as error:
        what = f"the compressed file is damaged or needs a window of more than 128 MiB ({error})"
        raise bad_file(path, what, do="copy it again, or compress it without --long") from None
    except OSError as error:
        raise bad_file(path, f"the file cannot be read ({error.strerror})") from None


def decompressed(
    file: BinaryIO, compression: str | None, *, step: int, window: int = 0, chunk: int = _CHUNK
) -> Iterator[bytes]:
    """The bytes of an open file in pieces of bounded size, none empty; EOFError if the end is missing.

    Of a zstd file `step` bytes are read at a time; unlike zstandard's own reader this notices a missing end.
    """
    if compression != "zstd":
        source = gzip.GzipFile(fileobj=file) if compression == "gzip" else file
        while piece := source.read(chunk):
            yield piece
        return
    frame = ZstdDecompressor(max_window_size=window).decompressobj()
    while rest := file.read(step):
        while rest:
            if frame.eof:
                frame = ZstdDecompressor(max_window_size=window).decompressobj()
            if piece := frame.decompress(rest):
                yield piece
            rest = frame.unused_data
    if not frame.eof:
        raise EOFError
