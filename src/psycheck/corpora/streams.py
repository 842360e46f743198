"""The bytes of a text file: decompressed, checked and cut into lines with bounded memory."""

import gzip
import zlib
from collections.abc import Iterator
from pathlib import Path

from psycheck.errors import BadInput

LONGEST = 64 * 2**20
"""The longest row that is read, in bytes."""

COMPRESSIONS = {".gz": "gzip", ".zst": "zstd"}

_CHUNK = 256 * 1024
# A zstd block of 4 bytes can stand for 128 KiB, so that this much input gives 16 MiB at most.
_ZSTD_INPUT = 512
_MAGIC = {"gzip": b"\x1f\x8b", "zstd": b"\x28\xb5\x2f\xfd"}
_BOM = b"\xef\xbb\xbf"
_OTHER_TYPES = (
    (b"PAR1", "a Parquet file", "name it .parquet"),
    (b"ARROW1", "an Arrow file", "save it as Parquet or CSV"),
    (_MAGIC["gzip"], "compressed with gzip", "add .gz to its name"),
    (_MAGIC["zstd"], "compressed with zstd", "add .zst to its name"),
    (b"BZh", "compressed with bzip2", "compress it with gzip or zstd, or not at all"),
    (b"\xfd7zXZ", "compressed with xz", "compress it with gzip or zstd, or not at all"),
    (b"PK\x03\x04", "a zip archive or an Excel workbook", "unpack it, or save the sheet as CSV"),
    (b"\xd0\xcf\x11\xe0", "an old Excel workbook", "save the sheet as CSV"),
    (b"%PDF", "a PDF", "save the texts as CSV"),
    (b"SQLite format 3", "an SQLite database", "export the table as CSV"),
    (b"\x80\x04", "a pickle", "save it as Parquet or CSV"),
    (b"\xff\xfe", "encoded in UTF-16", "save it as UTF-8"),
    (b"\xfe\xff", "encoded in UTF-16", "save it as UTF-8"),
)
_MARKUP = (b"<!doctype", b"<html", b"<?xml")


def place(path: Path, row: int, line: int | None = None, column: str | None = None) -> str:
    """Say where something stands; rows count from 1, row 0 is the header, the line is said if it differs."""
    said = f"{path}, " + (f"row {row}" if row else "header")
    if line is not None and line != row:
        said += f" (line {line})"
    return said + (f", column '{column}'" if column is not None else "")


class Lines:
    """The decoded lines of a file, which knows where it stands so that an error can say so.

    The reader sets `row` to the row it is reading and calls `next_row` when that row is complete; a row may
    span several lines.
    """

    def __init__(self, path: Path, compression: str | None, row: int) -> None:
        self.path = path
        self.compression = compression
        self.row = row
        self.line = 0
        self._row_bytes = 0
        self._offset = 0

    def next_row(self) -> None:
        """Go on to the next row."""
        self.row += 1
        self._row_bytes = 0

    def same_row(self) -> None:
        """Forget what was read of this row: it was a blank line."""
        self._row_bytes = 0

    def where(self) -> str:
        """The row and line that is being read."""
        return place(self.path, self.row, self.line)

    def __iter__(self) -> Iterator[str]:
        pieces: list[bytes] = []
        for chunk in _joined_ends(_checked(self.path, _chunks(self.path, self.compression))):
            damaged = b"\0" in chunk
            for piece in chunk.splitlines(keepends=True):
                if damaged and b"\0" in piece:
                    raise self._nul(self._offset + sum(map(len, pieces)) + piece.index(b"\0"))
                self._row_bytes += len(piece)
                if self._row_bytes > LONGEST:
                    self.line += 1
                    raise self._too_long()
                pieces.append(piece)
                if piece.endswith((b"\n", b"\r")):
                    line = b"".join(pieces)
                    pieces.clear()
                    yield self._decoded(line)
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
            raise BadInput(
                f"the text is not valid UTF-8 at byte {start + error.start:,}",
                where=self.where(),
                allowed="UTF-8",
                do="save the file as UTF-8; it may be in Windows-1252 or Latin-1",
            ) from None

    def _nul(self, byte: int) -> BadInput:
        self.line += 1
        return BadInput(
            f"there is a NUL byte at byte {byte:,}: the row is damaged, or this is no text file",
            where=self.where(),
            allowed="CSV, TSV or JSON lines in UTF-8",
        )

    def _too_long(self) -> BadInput:
        return BadInput(
            f"a row is longer than {LONGEST // 2**20} MiB",
            where=self.where(),
            do="check that the file has line breaks and that every quote is closed",
        )


def _joined_ends(chunks: Iterator[bytes]) -> Iterator[bytes]:
    """Hold a carriage return at the end of a chunk back, so that it stays with its line feed."""
    held = b""
    for chunk in chunks:
        whole = held + chunk
        held = b"\r" if whole.endswith(b"\r") else b""
        yield whole[:-1] if held else whole
    if held:
        yield held


def _checked(path: Path, chunks: Iterator[bytes]) -> Iterator[bytes]:
    """Refuse what is known to be of another type before any of it is read as text."""
    first = True
    for chunk in chunks:
        if first:
            _refuse_other_types(path, chunk)
            first = False
        yield chunk


def _refuse_other_types(path: Path, head: bytes) -> None:
    for magic, what, do in _OTHER_TYPES:
        if head.startswith(magic):
            raise BadInput(f"the content of this file is {what}", where=str(path), do=do)
    if head.lstrip()[:9].lower().startswith(_MARKUP):
        raise BadInput(
            "this is a web page or an XML file", where=str(path), do="download the data file itself"
        )


def _chunks(path: Path, compression: str | None) -> Iterator[bytes]:
    """The decompressed bytes in pieces of bounded size, none of them empty."""
    try:
        with path.open("rb") as file:
            head = file.read(4)
            file.seek(0)
            if compression is None or not head:
                while chunk := file.read(_CHUNK):
                    yield chunk
                return
            if not head.startswith(_MAGIC[compression]):
                raise BadInput(
                    f"this file is named as if compressed with {compression}, but it is not",
                    where=str(path),
                    do=f"take '{path.suffix}' off its name",
                )
            if compression == "gzip":
                with gzip.GzipFile(fileobj=file) as unzipped:
                    while chunk := unzipped.read(_CHUNK):
                        yield chunk
            else:
                yield from _unzstd(path, iter(lambda: file.read(_ZSTD_INPUT), b""))
    except EOFError:
        raise BadInput("the compressed file is cut off", where=str(path), do="copy it again") from None
    except (gzip.BadGzipFile, zlib.error) as error:
        raise BadInput(
            f"the compressed file is damaged ({error})", where=str(path), do="copy it again"
        ) from None
    except OSError as error:
        raise BadInput(f"the file cannot be read ({error.strerror})", where=str(path)) from None


def _unzstd(path: Path, pieces: Iterator[bytes]) -> Iterator[bytes]:
    """Decompress one or more zstd frames; unlike zstandard's own reader this notices a missing end."""
    from zstandard import ZstdDecompressor, ZstdError

    frame = ZstdDecompressor().decompressobj()
    try:
        for piece in pieces:
            rest = piece
            while rest:
                if frame.eof:
                    frame = ZstdDecompressor().decompressobj()
                if chunk := frame.decompress(rest):
                    yield chunk
                rest = frame.unused_data
    except ZstdError as error:
        raise BadInput(
            f"the compressed file is damaged or needs a window of more than 128 MiB ({error})",
            where=str(path),
            do="copy it again, or compress it without --long",
        ) from None
    if not frame.eof:
        raise EOFError
