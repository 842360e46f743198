"""Readers for released word vectors: word2vec text and binary, GloVe, fastText .vec.

Each reader yields blocks of words and vectors, so that converting a large file needs little memory. Errors
name the line or the number of the word, never the word.
"""

import gzip
import io
import math
import re
import warnings
import zipfile
import zlib
from collections.abc import Generator, Iterable, Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from itertools import islice
from pathlib import Path
from typing import Any, BinaryIO

import numpy as np

from psycheck.core.errors import BadInput, check_size, explained
from psycheck.models.vectors.index import Block, Rows
from psycheck.models.vectors.wink_file import CHUNK, read_wink

LINES = 4_096
LONGEST = 2**14  # maximum bytes of a word
_MOST_NUMBERS = 10_000  # dimensions of a vector
_TRAILING = b" \r\n\t"
_HEADER = re.compile(rb"(\d{1,10})[ \t]+(\d{1,6})[ \t]*\r?\n")
CountedBlocks = Generator[Block, None, int]  # the number of words is returned


class _Gzip(gzip.GzipFile):
    """A compressed file that does not unpack to more than may be read."""

    def readinto(self, buffer: Any) -> int:
        """Fill a buffer with the next bytes."""
        check_size(self.tell(), str(self.name))
        return super().readinto(buffer)


@contextmanager
def unpacked(path: Path) -> Iterator[io.BufferedReader]:
    """Open a file, decompressing .gz and the only file in a .zip."""
    with (
        explained(
            "the compressed file is broken or cut short",
            EOFError,
            zlib.error,
            gzip.BadGzipFile,
            zipfile.BadZipFile,
            code="vectors.bad-compression",
            where=str(path),
            do="download it again and compare its size or checksum",
        ),
        ExitStack() as stack,
    ):
        # Text formats are read front to back, so that nothing is unpacked to disk.
        open_file: Any = _Gzip if path.suffix == ".gz" else open
        file = stack.enter_context(open_file(path, "rb"))
        if path.suffix == ".zip":
            archive = stack.enter_context(zipfile.ZipFile(file))
            member = _only_member(archive, path)
            file = stack.enter_context(archive.open(member))
        yield io.BufferedReader(file, CHUNK)


def _only_member(archive: zipfile.ZipFile, path: Path) -> str:
    """The name of the only file in an archive."""
    members = [name for name in archive.namelist() if not name.endswith("/")]
    if len(members) != 1:
        raise BadInput(
            f"the archive holds {len(members)} files",
            code="vectors.several-in-archive",
            where=str(path),
            allowed="one file of vectors",
            do=f"extract it and name one of them: {', '.join(members[:6])}",
        )
    check_size(archive.getinfo(members[0]).file_size, str(path))
    return members[0]


def read_vectors(path: Path) -> Iterator[Block]:
    """Read a file of word vectors, whatever its kind, in blocks."""
    with unpacked(path) as file:
        # Peeked, not read: the readers begin at the first byte.
        start = file.peek(LONGEST)
        header = _HEADER.match(start)
        if start[:1] == b"{":
            yield from read_wink(file, path)
        elif header:
            yield from _read_with_header(file, path, header)
        else:
            separator, numbers = _layout(start)
            if len(numbers) < 2 or not all(map(_is_number, numbers)):
                raise BadInput(
                    "not a known format of word vectors",
                    code="vectors.unknown-format",
                    where=str(path),
                    allowed="word2vec text or binary, GloVe, fastText .vec or .bin, gensim KeyedVectors, "
                    "wink-embeddings JSON, a spaCy folder, a folder with a .safetensors table and tokenizer",
                )
            yield from _TextLines(path, len(numbers), separator).read(file, first_line=1)


def _read_with_header(file: io.BufferedReader, path: Path, header: re.Match[bytes]) -> Iterator[Block]:
    """A file whose first line declares how many words and dimensions follow, as text or binary."""
    words = int(header[1])
    dimensions = int(header[2])
    if not words or not dimensions:
        raise BadInput(
            "the header of the file declares no vectors",
            code="vectors.empty-header",
            where=f"{path}, line 1",
        )
    file.read(header.end())

    separator, numbers = _layout(file.peek(LONGEST))
    # The header of word2vec's text and binary formats is the same; what follows the first word differs.
    if all(map(_is_number, numbers[-dimensions:])):
        count = yield from _TextLines(path, dimensions, separator).read(file, first_line=2)
    else:
        count = yield from _read_binary(file, path, dimensions, words)
    if count != words:
        raise BadInput(
            f"the header declares {words:,} words, the file holds {count:,}",
            code="vectors.word-count",
            where=str(path),
            do="download the file again",
        )


def finite(blocks: Iterable[Block], path: Path) -> Iterator[Block]:
    """Pass on blocks of words and vectors; a value that is not a number is an error."""
    # A header with wrong dimensions shifts all numbers of a binary file: they then become NaN or infinite.
    words_before = 0
    for words, rows in blocks:
        broken_rows = np.flatnonzero(~np.isfinite(rows).all(axis=1))
        if len(broken_rows):
            raise BadInput(
                "a vector holds a value that is not a number",
                code="vectors.not-finite",
                where=f"{path}, word {words_before + int(broken_rows[0]) + 1}",
                do="download the file again, or correct the dimensions in its first line",
            )
        words_before += len(words)
        yield words, rows


def _layout(start: bytes) -> tuple[bytes, list[bytes]]:
    """The separator after the word in the first line, a tab or a space, and the fields after it."""
    line = start.split(b"\n", 1)[0].rstrip(_TRAILING)
    after_tab = line.partition(b"\t")[2].split()
    # A binary file may have a tab and one digit in its first line, but not several numbers.
    has_tab = len(after_tab) > 1 and all(map(_is_number, after_tab))
    separator = b"\t" if has_tab else b" "
    numbers = line.partition(separator)[2].replace(b"\t", b" ")
    return separator, numbers.split(b" ")


def _is_number(field: bytes) -> bool:
    try:
        return math.isfinite(float(field))
    except ValueError:
        return False


@dataclass(frozen=True, slots=True)
class _TextLines:
    """Lines of a word and its numbers; GloVe has no header, and a few of its words contain spaces."""

    path: Path
    dimensions: int
    separator: bytes

    def read(self, file: BinaryIO, *, first_line: int) -> CountedBlocks:
        """The blocks of a file from a line on; the number of words is returned."""
        if self.dimensions > _MOST_NUMBERS:
            raise BadInput(
                f"a line holds more than {_MOST_NUMBERS:,} numbers",
                code="vectors.too-many-numbers",
                where=f"{self.path}, line {first_line}",
            )
        # A longer line is cut, and then has too few or too many numbers.
        longest = LONGEST + 40 * self.dimensions
        file_lines = iter(lambda: file.readline(longest), b"")

        line_number = first_line
        word_count = 0
        while True:
            raw_lines = list(islice(file_lines, LINES))
            if not raw_lines:
                return word_count

            lines = [line.rstrip(_TRAILING) for line in raw_lines]
            while lines and not lines[-1]:  # empty lines at the end are allowed
                lines.pop()
            if lines:
                yield self._parse_at_once(lines) or self._parse_each(lines, line_number)
                word_count += len(lines)
            line_number += len(raw_lines)

    def _parse_at_once(self, lines: list[bytes]) -> Block | None:
        """Parse all lines at once, which is much faster; None if one of them is irregular."""
        parts = [line.partition(self.separator) for line in lines]
        numbers = [after for _, _, after in parts]
        if self.separator == b"\t":
            numbers = [after.replace(b"\t", b" ") for after in numbers]
        # A word with a space in it shows up as one number too many.
        spaces_between = self.dimensions - 1
        if any(after.count(b" ") != spaces_between for after in numbers):
            return None

        joined = b" ".join(numbers)
        with warnings.catch_warnings():
            warnings.simplefilter("error", DeprecationWarning)  # NumPy's answer to what is not a number
            try:
                values = np.fromstring(joined.decode("ascii"), dtype=np.float32, sep=" ")
            except (ValueError, DeprecationWarning):
                return None
        if len(values) != self.dimensions * len(lines):
            return None
        words = [word for word, _, _ in parts]
        return words, values.reshape(len(lines), self.dimensions)

    def _parse_each(self, lines: list[bytes], first_line: int) -> Block:
        """Parse line by line, so that an error names its line."""
        words = []
        rows: Rows = np.empty((len(lines), self.dimensions), np.float32)
        for k, line in enumerate(lines):
            fields = self._fields(line)
            try:
                if len(fields) != self.dimensions + 1:
                    raise ValueError("too few or too many fields")
                rows[k] = [float(number) for number in fields[1:]]
            except ValueError as error:
                raise BadInput(
                    f"expected a word and {self.dimensions} numbers, "
                    f"found {self._field_count(line)} fields after the word",
                    code="vectors.bad-line",
                    where=f"{self.path}, line {first_line + k}",
                    allowed="the same number of values in every line",
                    do="download the file again if it was cut short",
                ) from error
            words.append(fields[0])
        return words, rows

    def _fields(self, line: bytes) -> list[bytes]:
        """The word and its numbers; a word may contain spaces."""
        if self.separator == b" ":
            # From the right: what is left of the numbers is the word, with its spaces.
            return line.rsplit(None, self.dimensions)
        word, _, after = line.partition(b"\t")
        return [word, *after.split()]

    def _field_count(self, line: bytes) -> int:
        """How many fields follow the word, for an error."""
        if self.separator == b" ":
            return max(0, len(line.split()) - 1)
        return len(line.partition(b"\t")[2].split())


def _read_binary(
    file: BinaryIO,
    path: Path,
    dimensions: int,
    words: int,
) -> CountedBlocks:
    """A word, a space, and its numbers as raw bytes; a line feed may precede a word."""
    # A piece of a file ends inside of an entry, which is completed by the next one.
    count = 0
    unread = b""
    while count < words:
        chunk = file.read(CHUNK)
        unread += chunk
        names, rows, end = _whole_entries(unread, row_bytes=4 * dimensions, most=words - count)
        if count + len(names) < words and _word_has_no_end(unread, end):
            raise BadInput(
                "a word has no end",
                code="vectors.endless-word",
                where=f"{path}, word {count + len(names) + 1}",
                do="check that it is a complete file in word2vec's binary format",
            )
        unread = unread[end:]
        if names:
            count += len(names)
            numbers = np.frombuffer(b"".join(rows), "<f4")
            yield names, numbers.reshape(len(names), dimensions)
        if not chunk:
            return count

    if unread.strip() or file.read(LONGEST).strip():
        raise BadInput(
            f"the file holds more than the {words:,} words that its header declares",
            code="vectors.more-words",
            where=str(path),
            do="correct the numbers in its first line, or download the file again",
        )
    return count


def _whole_entries(raw: bytes, *, row_bytes: int, most: int) -> tuple[list[bytes], list[bytes], int]:
    """The words and the bytes of their rows that are whole in a piece of a file, and where these end."""
    names: list[bytes] = []
    rows: list[bytes] = []
    start = 0
    while len(names) < most:
        # The bytes of a row may contain spaces, so that entries are cut by length.
        space = raw.find(b" ", start, start + LONGEST)
        row_end = space + 1 + row_bytes
        if space < 0 or row_end > len(raw):
            break
        names.append(raw[start:space].lstrip(b"\n"))
        rows.append(raw[space + 1 : row_end])
        start = row_end
    return names, rows, start


def _word_has_no_end(raw: bytes, start: int) -> bool:
    """True if no space follows within the longest word, so that this is not a file of words."""
    is_read_far_enough = len(raw) - start >= LONGEST
    return is_read_far_enough and raw.find(b" ", start, start + LONGEST) < 0
