"""The bytes of a text file: decompressed, checked and cut into lines with bounded memory."""

import gzip
import tomllib
import zlib
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from functools import cache
from itertools import chain
from pathlib import Path
from typing import BinaryIO, NoReturn

from zstandard import ZstdDecompressor, ZstdError

from psycheck.core.errors import BadInput, check_piece
from psycheck.io.encodings import LineDecoder, as_utf_8, utf_16_of

LONGEST = 64 * 2**20
"""The longest row that is read, in bytes."""

COMPRESSIONS = {".gz": "gzip", ".zst": "zstd"}
MAGIC = {"gzip": b"\x1f\x8b", "zstd": b"\x28\xb5\x2f\xfd"}
DAMAGED = (gzip.BadGzipFile, zlib.error, ZstdError)

_CHUNK = 256 * 1024
# A zstd block of 4 bytes can expand to 128 KiB: this much input gives 16 MiB at most.
ZSTD_INPUT = 512

_ROW_OVERHEAD = 200  # bytes of memory that a row takes beside its cells
_LARGEST_GB = 8
# Texts shrink to a tenth when they are compressed. What grows a hundredfold is likely made to fill the
# memory, and may only take a quarter of a GB.
_SUSPICIOUS_GROWTH = 100
_LARGEST_SUSPICIOUS_GB = 0.25

_BOM = b"\xef\xbb\xbf"
_MARKUP = (b"<!doctype", b"<html", b"<?xml")


def place(
    path: Path,
    row: int,
    line: int | None = None,
    column: str | None = None,
) -> str:
    """The place of a row or cell: rows count from 1, row 0 is the header; the line is added if it differs."""
    where = f"{path}, row {row}" if row else f"{path}, header"
    if line is not None and line != row:
        where += f" (line {line})"
    if column is not None:
        where += f", column '{column}'"
    return where


def bad_file(
    path: Path,
    what: str,
    *,
    code: str,
    do: str = "",
    allowed: str = "",
) -> BadInput:
    """An error about a whole file or folder."""
    return BadInput(
        what=what,
        code=code,
        where=str(path),
        allowed=allowed,
        do=do,
    )


class Lines:
    """The decoded lines of a file, with the current row and line for error messages.

    The reader sets `row` to the row it is reading and calls `next_row` when that row is complete; a row may
    span several lines from `start` on. `whole_file` is true if the reader keeps all rows: then the file may
    not outgrow the memory.
    """

    def __init__(self, path: Path, row: int, *, whole_file: bool = True) -> None:
        self.path = path
        self.whole_file = whole_file
        self.row = row
        self.line = 0
        self.start = 1
        self._row_bytes = 0
        self._offset = 0
        self._decoder = LineDecoder()

    @property
    def notes(self) -> tuple[str, ...]:
        """What was assumed about the encoding, as far as the file was read."""
        return (self._decoder.note,) if self._decoder.note else ()

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
        # A chunk may end within a line: its pieces wait here for the end of the line.
        pieces: list[bytes] = []

        for chunk in _joined_line_ends(_chunks(self.path, whole_file=self.whole_file)):
            for piece in chunk.splitlines(keepends=True):
                nul = piece.find(b"\0")
                if nul >= 0:
                    self._refuse_nul(self._offset + sum(map(len, pieces)) + nul)

                self._row_bytes += len(piece)
                if self._row_bytes > LONGEST:
                    self._refuse_long_row()

                pieces.append(piece)
                if piece.endswith((b"\n", b"\r")):
                    yield self._decoded(b"".join(pieces))
                    pieces.clear()

        if pieces:
            yield self._decoded(b"".join(pieces))

    def _refuse_nul(self, position: int) -> NoReturn:
        self.line += 1
        raise BadInput(
            what=f"there is a NUL byte at byte {position:,}: the row is damaged, or this is not a text file",
            code="file.nul-byte",
            where=self.where(),
            allowed="CSV, TSV or JSON lines in UTF-8",
        )

    def _refuse_long_row(self) -> NoReturn:
        self.line += 1
        raise BadInput(
            what=f"a row is longer than {LONGEST // 2**20} MiB",
            code="file.long-row",
            where=self.where(),
            do="check that the file has line breaks and that every quote is closed",
        )

    def _decoded(self, line: bytes) -> str:
        self.line += 1
        start = self._offset
        self._offset += len(line)

        if start == 0 and line.startswith(_BOM):
            start = len(_BOM)
            line = line[len(_BOM) :]

        try:
            return self._decoder.decode(line)
        except UnicodeDecodeError as error:
            raise BadInput(
                what=f"the text is not valid UTF-8 at byte {start + error.start:,}",
                code="file.not-utf-8",
                where=self.where(),
                allowed="UTF-8",
                do="save the file as UTF-8; it may be damaged, or two files in one",
            ) from None


def file_bytes(path: Path) -> bytes:
    """All bytes of a file, decompressed and in UTF-8 if they were UTF-16."""
    return b"".join(_chunks(path, whole_file=True))


def _joined_line_ends(chunks: Iterator[bytes]) -> Iterator[bytes]:
    """Hold a carriage return at the end of a chunk back, so that it stays with its line feed."""
    carriage_return = b""
    for chunk in chunks:
        content = carriage_return + chunk
        if content.endswith(b"\r"):
            carriage_return = b"\r"
            yield content[:-1]
        else:
            carriage_return = b""
            yield content

    if carriage_return:
        yield carriage_return


def _chunks(path: Path, *, whole_file: bool) -> Iterator[bytes]:
    """The decompressed bytes in pieces of bounded size; content of a known other type is refused first."""
    compression = COMPRESSIONS.get(path.suffix.lower())

    with _reading(path), path.open("rb") as file:
        head = file.read(4)
        file.seek(0)
        if compression and head and not head.startswith(MAGIC[compression]):
            raise bad_file(
                path=path,
                what=f"this file is named as if compressed with {compression}, but it is not",
                code="file.not-compressed",
                do=f"remove '{path.suffix}' from its name",
            )

        # An empty file has no compressed frame, and is read as an empty text.
        chunks = decompressed(file, compression if head else None, step=ZSTD_INPUT)
        first = next(chunks, b"")
        _refuse_non_text(path, first)

        utf_16 = utf_16_of(first)
        yield from _within_memory(
            chunks=as_utf_8(first, chunks, utf_16) if utf_16 else chain([first], chunks),
            path=path,
            compressed=compression is not None,
            whole_file=whole_file,
        )


@contextmanager
def _reading(path: Path) -> Iterator[None]:
    """Turn what can go wrong while a file is read and decompressed into one error."""
    try:
        yield
    except EOFError:
        raise bad_file(
            path=path,
            what="the compressed file is truncated",
            code="file.truncated",
            do="copy it again",
        ) from None
    except DAMAGED as error:
        raise bad_file(
            path=path,
            what=f"the compressed file is damaged or needs a window of more than 128 MiB ({error})",
            code="file.damaged",
            do="copy it again, or compress it without --long",
        ) from None
    except OSError as error:
        raise unreadable(path, error) from None


def unreadable(path: Path, error: OSError) -> BadInput:
    """The error for a file that the system refuses to read."""
    return bad_file(path, f"the file cannot be read ({error.strerror})", code="file.cannot-read")


@dataclass(frozen=True, slots=True)
class _ContentType:
    """A kind of content that is not text, known by its first bytes, and what to do about it."""

    magic: tuple[bytes, ...]
    what: str
    do: str


@cache
def _non_text_types() -> tuple[_ContentType, ...]:
    entries = tomllib.loads(Path(__file__).with_name("streams.toml").read_text("utf-8"))["other"]
    content_types = []
    for entry in entries:
        magic = tuple(bytes.fromhex(digits) for digits in entry["magic"])
        content_type = _ContentType(
            magic=magic,
            what=entry["what"],
            do=entry["do"],
        )
        content_types.append(content_type)
    return tuple(content_types)


def _refuse_non_text(path: Path, first_bytes: bytes) -> None:
    for content_type in _non_text_types():
        if first_bytes.startswith(content_type.magic):
            raise bad_file(
                path=path,
                what=f"the content of this file is {content_type.what}",
                code="file.other-content",
                do=content_type.do,
            )

    if first_bytes.lstrip()[:9].lower().startswith(_MARKUP):
        raise bad_file(
            path=path,
            what="this is a web page or an XML file",
            code="file.markup",
            do="download the data file itself",
        )


def _within_memory(
    chunks: Iterator[bytes],
    path: Path,
    *,
    compressed: bool,
    whole_file: bool,
) -> Iterator[bytes]:
    """The chunks, as long as the rows that are kept of them fit into the memory."""
    size_on_disk = path.stat().st_size
    size_in_memory = 0

    for chunk in chunks:
        size_in_memory += len(chunk) + _ROW_OVERHEAD * chunk.count(b"\n")
        suspicious = compressed and size_in_memory > _SUSPICIOUS_GROWTH * size_on_disk
        most = _LARGEST_SUSPICIOUS_GB if suspicious else _LARGEST_GB
        # A reader of pieces keeps no rows, and may read a file of any size.
        size_of_rows = size_in_memory if whole_file else 0
        yield check_piece(
            piece=chunk,
            size=size_of_rows,
            where=str(path),
            most=most,
        )


def decompressed(
    file: BinaryIO,
    compression: str | None,
    *,
    step: int,
    window: int = 0,
    chunk: int = _CHUNK,
) -> Iterator[bytes]:
    """The bytes of an open file in pieces of bounded size, none empty; EOFError if the end is missing.

    Of a zstd file `step` bytes are read at a time; unlike zstandard's own reader this notices a missing end.
    """
    if compression == "zstd":
        yield from _zstd_pieces(file, step=step, window=window)
        return

    source = gzip.GzipFile(fileobj=file) if compression == "gzip" else file
    while piece := source.read(chunk):
        yield piece


def _zstd_pieces(file: BinaryIO, *, step: int, window: int) -> Iterator[bytes]:
    frame = ZstdDecompressor(max_window_size=window).decompressobj()
    while compressed := file.read(step):
        # A file may hold several frames, one after the other, and a step may hold the end of one of them.
        while compressed:
            if frame.eof:
                frame = ZstdDecompressor(max_window_size=window).decompressobj()
            if piece := frame.decompress(compressed):
                yield piece
            compressed = frame.unused_data

    if not frame.eof:
        raise EOFError
