"""Readers for released word vectors: word2vec text and binary, GloVe, fastText text, wink JSON.

Each reader yields blocks of words and vectors, so that converting a large file needs little memory. Errors
name the line or the number of the word, never the word.
"""

import gzip
import io
import json
import math
import re
import warnings
import zipfile
import zlib
from collections.abc import Iterator
from contextlib import contextmanager
from itertools import islice
from pathlib import Path
from typing import BinaryIO, cast

import numpy as np

from psycheck.errors import BadInput
from psycheck.models.vectors.index import Block, Rows

CHUNK = 2**24
LINES = 4_096
LONGEST = 2**14  # maximum bytes of a word
TRAILING = b" \r\n\t"
_HEADER = re.compile(rb"(\d{1,10})[ \t]+(\d{1,6})[ \t]*\r?\n")


@contextmanager
def unpacked(path: Path) -> Iterator[BinaryIO]:
    """Open a file, decompressing .gz and the only file in a .zip."""
    try:
        if path.suffix == ".gz":
            with gzip.open(path, "rb") as file:
                yield cast(BinaryIO, file)
        elif path.suffix == ".zip":
            with zipfile.ZipFile(path) as archive, archive.open(_member(archive, path)) as inner:
                yield cast(BinaryIO, inner)
        else:
            with path.open("rb") as plain:
                yield plain
    except FileNotFoundError as error:
        raise BadInput(f"there is no file '{path}'") from error
    except (EOFError, zlib.error, gzip.BadGzipFile, zipfile.BadZipFile) as error:
        raise BadInput(
            f"the compressed file is broken or cut short ({type(error).__name__})",
            where=str(path),
            do="download it again and compare its size or checksum",
        ) from error


def read_vectors(path: Path) -> Iterator[Block]:
    """Read a file of word vectors, whatever its kind, in blocks."""
    with unpacked(path) as raw:
        file = io.BufferedReader(cast(io.RawIOBase, raw), CHUNK)
        head = file.peek(LONGEST)
        if head[:1] == b"{":
            yield from _wink(file, path)
        elif header := _HEADER.match(head):
            words, dimensions = int(header[1]), int(header[2])
            if not words or not dimensions:
                raise BadInput("the header of the file declares no vectors", where=f"{path}, line 1")
            file.read(header.end())
            line = _first_line(file.peek(LONGEST))
            if all(map(_is_number, _numbers(line)[-dimensions:])):
                yield from _text(file, path, dimensions, words, first=2, apart=_separator(line))
            else:
                yield from _binary(file, path, dimensions, words)
        else:
            line = _first_line(head)
            numbers = _numbers(line)
            if len(numbers) < 2 or not all(map(_is_number, numbers)):
                raise BadInput(
                    "not a known format of word vectors",
                    where=str(path),
                    allowed="word2vec text or binary, GloVe, fastText .vec or .bin, gensim KeyedVectors, "
                    "wink-embeddings JSON, a spaCy folder, a folder with a .safetensors table and tokenizer",
                )
            yield from _text(file, path, len(numbers), None, first=1, apart=_separator(line))


def _member(archive: zipfile.ZipFile, path: Path) -> str:
    inside = [name for name in archive.namelist() if not name.endswith("/")]
    if len(inside) != 1:
        raise BadInput(
            f"the archive holds {len(inside)} files",
            where=str(path),
            allowed="one file of vectors",
            do=f"extract it and name one of them: {', '.join(inside[:6])}",
        )
    return inside[0]


def _first_line(head: bytes) -> bytes:
    """The first line; in a binary file everything before the first line feed."""
    return head.split(b"\n", 1)[0].rstrip(TRAILING)


def _separator(line: bytes) -> bytes:
    """The separator after the word: a tab if only numbers follow it, else a space."""
    after = line.partition(b"\t")[2].split()
    # A binary file may have a tab and one digit in its first line, but not several numbers.
    return b"\t" if len(after) > 1 and all(map(_is_number, after)) else b" "


def _numbers(line: bytes) -> list[bytes]:
    """What follows the word in a line of text."""
    return _spaced(line.partition(_separator(line))[2]).split(b" ")


def _spaced(numbers: bytes) -> bytes:
    return numbers.replace(b"\t", b" ")


def _text(
    file: BinaryIO, path: Path, dimensions: int, words: int | None, *, first: int, apart: bytes
) -> Iterator[Block]:
    """Lines of a word and its numbers; GloVe has no header, and a few of its words contain spaces."""
    line, seen = first, 0
    while lines := list(islice(file, LINES)):
        kept = [raw.rstrip(TRAILING) for raw in lines]
        while kept and not kept[-1]:  # empty lines at the end are allowed
            kept.pop()
        if kept:
            block = _fast_lines(kept, dimensions, apart)
            block = block or _careful_lines(kept, dimensions, path, line, apart)
            _check_finite(block[1], path, seen)
            seen += len(kept)
            yield block
        line += len(lines)
    if words is not None and seen != words:
        raise _wrong_count(path, seen, words)


def _fast_lines(lines: list[bytes], dimensions: int, apart: bytes) -> Block | None:
    """Parse all lines at once; None if one of them is irregular."""
    parts = [line.partition(apart) for line in lines]
    rests = [rest if apart == b" " else _spaced(rest) for _, _, rest in parts]
    if any(rest.count(b" ") != dimensions - 1 for rest in rests):
        return None
    with warnings.catch_warnings():
        warnings.simplefilter("error", DeprecationWarning)
        try:
            numbers = np.fromstring(b" ".join(rests).decode("ascii"), dtype=np.float32, sep=" ")
        except (ValueError, DeprecationWarning):
            return None
    if len(numbers) != dimensions * len(lines):
        return None
    return [word for word, _, _ in parts], numbers.reshape(len(lines), dimensions)


def _careful_lines(lines: list[bytes], dimensions: int, path: Path, first: int, apart: bytes) -> Block:
    words, rows = [], np.empty((len(lines), dimensions), np.float32)
    for k, line in enumerate(lines):
        word, _, rest = line.partition(b"\t")
        fields = line.rsplit(None, dimensions) if apart == b" " else [word, *rest.split()]
        try:
            if len(fields) != dimensions + 1:
                raise ValueError
            rows[k] = [float(number) for number in fields[1:]]
        except ValueError as error:
            found = max(0, len(line.split()) - 1) if apart == b" " else len(rest.split())
            raise BadInput(
                f"expected a word and {dimensions} numbers, found {found} fields after the word",
                where=f"{path}, line {first + k}",
                allowed="the same number of values in every line",
                do="download the file again if it was cut short",
            ) from error
        words.append(fields[0])
    return words, rows


def _binary(file: BinaryIO, path: Path, dimensions: int, words: int) -> Iterator[Block]:
    """A word, a space, and its numbers as raw bytes; a line feed may precede a word."""
    size, held, seen = 4 * dimensions, b"", 0
    while seen < words:
        chunk = file.read(CHUNK)
        held += chunk
        at = 0
        names: list[bytes] = []
        rows: list[bytes] = []
        while seen + len(names) < words:
            space = held.find(b" ", at, at + LONGEST)
            if space < 0 and len(held) - at >= LONGEST:
                raise BadInput(
                    "a word has no end",
                    where=f"{path}, word {seen + len(names) + 1}",
                    do="check that it is a complete file in word2vec's binary format",
                )
            if space < 0 or space + 1 + size > len(held):
                break
            names.append(held[at:space].lstrip(b"\n"))
            rows.append(held[space + 1 : space + 1 + size])
            at = space + 1 + size
        held = held[at:]
        if names:
            block = np.frombuffer(b"".join(rows), "<f4").reshape(len(names), dimensions)
            _check_finite(block, path, seen)
            seen += len(names)
            yield names, block
        if not chunk and seen < words:
            raise _wrong_count(path, seen, words)
    if held.strip() or file.read(LONGEST).strip():
        raise BadInput(
            f"the file holds more than the {words:,} words that its header declares",
            where=str(path),
            do="correct the numbers in its first line, or download the file again",
        )


def _wink(file: BinaryIO, path: Path) -> Iterator[Block]:
    """The JSON of wink-embeddings: {"dimensions": d, …, "vectors": {word: [d numbers, norm, rank], …}, …}."""
    head = b""
    while b'"vectors":{' not in head:
        chunk = file.read(CHUNK)
        if not chunk:
            raise BadInput(
                "the JSON file has no vectors",
                where=str(path),
                allowed='"dimensions" and "vectors", as in wink-embeddings',
            )
        head += chunk
    head, _, held = head.partition(b'"vectors":{')
    declared = re.search(rb'"dimensions":\s*(\d+)', head)
    if not declared:
        raise BadInput("the JSON file has no dimensions", where=str(path))
    dimensions = int(declared[1])
    found: list[tuple[int, bytes, Rows]] = []
    while True:
        *entries, held = held.split(b"],")
        found += [_wink_entry(entry, dimensions, path, len(found) + k) for k, entry in enumerate(entries)]
        if b"]}" in held:
            break
        if not (chunk := file.read(CHUNK)):
            raise BadInput(
                f"the file ends after {len(found):,} words", where=str(path), do="download it again"
            )
        held += chunk
    found.append(_wink_entry(held.partition(b"]}")[0], dimensions, path, len(found)))
    # JavaScript puts keys that look like numbers first; the last number of an entry is its true rank.
    found.sort(key=lambda entry: entry[0])
    for start in range(0, len(found), LINES):
        some = found[start : start + LINES]
        yield [word for _, word, _ in some], np.stack([row for _, _, row in some])


def _wink_entry(entry: bytes, dimensions: int, path: Path, seen: int) -> tuple[int, bytes, Rows]:
    name, _, numbers = entry.rpartition(b":[")
    try:
        word = json.loads(name)
        row = np.array(numbers.split(b","), dtype=np.float64)
        if len(row) < dimensions + 1 or not np.isfinite(row).all():
            raise ValueError
    except ValueError as error:
        raise BadInput(
            f"expected a word and {dimensions} numbers", where=f"{path}, word {seen + 1}"
        ) from error
    return int(row[-1]), str(word).encode("utf-8", "surrogatepass"), row[:dimensions].astype(np.float32)


def _check_finite(rows: Rows, path: Path, seen: int) -> None:
    broken = np.flatnonzero(~np.isfinite(rows).all(axis=1))
    if len(broken):
        raise BadInput(
            "a vector holds a value that is not a number",
            where=f"{path}, word {seen + int(broken[0]) + 1}",
            do="download the file again, or correct the dimensions in its first line",
        )


def _wrong_count(path: Path, seen: int, words: int) -> BadInput:
    return BadInput(
        f"the header declares {words:,} words, the file holds {seen:,}",
        where=str(path),
        do="download the file again",
    )


def _is_number(field: bytes) -> bool:
    try:
        return math.isfinite(float(field))
    except ValueError:
        return False
