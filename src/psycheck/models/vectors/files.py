"""Readers for released word vectors: word2vec text and binary, GloVe, fastText .vec and .bin, wink JSON.

Each reader yields blocks of words and vectors, so that converting a large file needs little memory. Errors
name the line or the number of the word, never the word.

The matrix of a fastText .bin stays in its file: the vector of a word is the mean of its own row and of the
rows of its character n-grams; a word outside the dictionary is made of its n-grams alone.
"""

import gzip
import io
import json
import math
import re
import struct
import warnings
import zipfile
import zlib
from collections.abc import Callable, Generator, Iterable, Iterator, Mapping
from contextlib import ExitStack, contextmanager
from itertools import islice
from mmap import ACCESS_READ, mmap
from pathlib import Path
from typing import Any, BinaryIO

import numpy as np

from psycheck.errors import BadInput, check_size, explained
from psycheck.models.vectors.index import Block, Rows

CHUNK = 2**24
LINES = 4_096
LONGEST = 2**14  # maximum bytes of a word
_MOST_NUMBERS = 10_000  # dimensions of a vector
TRAILING = b" \r\n\t"
MAGIC = struct.pack("<i", 793_712_314)
VERSIONS = (11, 12)
_HEAD = struct.Struct("<2i12id3i2q")  # magic and version, arguments of training, sizes
_MATRIX = struct.Struct("<?qq")
Counted = Generator[Block, None, int]  # the number of words is returned
_HEADER = re.compile(rb"(\d{1,10})[ \t]+(\d{1,6})[ \t]*\r?\n")


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
            *(EOFError, zlib.error, gzip.BadGzipFile, zipfile.BadZipFile),
            where=str(path),
            do="download it again and compare its size or checksum",
        ),
        ExitStack() as stack,
    ):
        opener: Any = _Gzip if path.suffix == ".gz" else open
        file = stack.enter_context(opener(path, "rb"))
        if path.suffix == ".zip":
            archive = stack.enter_context(zipfile.ZipFile(file))
            inside = [name for name in archive.namelist() if not name.endswith("/")]
            if len(inside) != 1:
                what = f"the archive holds {len(inside)} files"
                do = f"extract it and name one of them: {', '.join(inside[:6])}"
                raise BadInput(what, where=str(path), allowed="one file of vectors", do=do)
            check_size(archive.getinfo(inside[0]).file_size, str(path))
            file = stack.enter_context(archive.open(inside[0]))
        yield io.BufferedReader(file, CHUNK)


def read_vectors(path: Path) -> Iterator[Block]:
    """Read a file of word vectors, whatever its kind, in blocks."""
    with unpacked(path) as file:
        head = file.peek(LONGEST)
        if head[:1] == b"{":
            yield from _wink(file, path)
        elif header := _HEADER.match(head):
            words, dimensions = int(header[1]), int(header[2])
            if not words or not dimensions:
                raise BadInput("the header of the file declares no vectors", where=f"{path}, line 1")
            file.read(header.end())
            apart, numbers = _layout(file.peek(LONGEST))
            if all(map(_is_number, numbers[-dimensions:])):
                seen = yield from _text(file, path, dimensions, apart, first=2)
            else:
                seen = yield from _binary(file, path, dimensions, words)
            if seen != words:
                what = f"the header declares {words:,} words, the file holds {seen:,}"
                raise BadInput(what, where=str(path), do="download the file again")
        else:
            apart, numbers = _layout(head)
            if len(numbers) < 2 or not all(map(_is_number, numbers)):
                raise BadInput(
                    "not a known format of word vectors",
                    where=str(path),
                    allowed="word2vec text or binary, GloVe, fastText .vec or .bin, gensim KeyedVectors, "
                    "wink-embeddings JSON, a spaCy folder, a folder with a .safetensors table and tokenizer",
                )
            yield from _text(file, path, len(numbers), apart, first=1)


def finite(blocks: Iterable[Block], path: Path) -> Iterator[Block]:
    """Pass on blocks of words and vectors; a value that is not a number is an error."""
    seen = 0
    for words, rows in blocks:
        broken = np.flatnonzero(~np.isfinite(rows).all(axis=1))
        if len(broken):
            what = "a vector holds a value that is not a number"
            do = "download the file again, or correct the dimensions in its first line"
            raise BadInput(what, where=f"{path}, word {seen + int(broken[0]) + 1}", do=do)
        seen += len(words)
        yield words, rows


def _layout(head: bytes) -> tuple[bytes, list[bytes]]:
    """The separator after the word in the first line, a tab or a space, and the fields after it."""
    line = head.split(b"\n", 1)[0].rstrip(TRAILING)
    after = line.partition(b"\t")[2].split()
    # A binary file may have a tab and one digit in its first line, but not several numbers.
    apart = b"\t" if len(after) > 1 and all(map(_is_number, after)) else b" "
    return apart, line.partition(apart)[2].replace(b"\t", b" ").split(b" ")


def _text(file: BinaryIO, path: Path, dimensions: int, apart: bytes, first: int) -> Counted:
    """Lines of a word and its numbers; GloVe has no header, and a few of its words contain spaces."""
    line, seen, longest = first, 0, LONGEST + 40 * dimensions
    if dimensions > _MOST_NUMBERS:
        raise BadInput(f"a line holds more than {_MOST_NUMBERS:,} numbers", where=f"{path}, line {first}")
    # A longer line is cut, and then has too few or too many numbers.
    whole = iter(lambda: file.readline(longest), b"")
    while lines := list(islice(whole, LINES)):
        kept = [raw.rstrip(TRAILING) for raw in lines]
        while kept and not kept[-1]:  # empty lines at the end are allowed
            kept.pop()
        if kept:
            fast = _fast_lines(kept, dimensions, apart)
            yield fast or _careful_lines(kept, dimensions, path, line, apart)
            seen += len(kept)
        line += len(lines)
    return seen


def _fast_lines(lines: list[bytes], dimensions: int, apart: bytes) -> Block | None:
    """Parse all lines at once; None if one of them is irregular."""
    parts = [line.partition(apart) for line in lines]
    rests = [rest if apart == b" " else rest.replace(b"\t", b" ") for _, _, rest in parts]
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


def _binary(file: BinaryIO, path: Path, dimensions: int, words: int) -> Counted:
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
                do = "check that it is a complete file in word2vec's binary format"
                raise BadInput("a word has no end", where=f"{path}, word {seen + len(names) + 1}", do=do)
            if space < 0 or space + 1 + size > len(held):
                break
            names.append(held[at:space].lstrip(b"\n"))
            rows.append(held[space + 1 : space + 1 + size])
            at = space + 1 + size
        held = held[at:]
        if names:
            seen += len(names)
            yield names, np.frombuffer(b"".join(rows), "<f4").reshape(len(names), dimensions)
        if not chunk:
            return seen
    if held.strip() or file.read(LONGEST).strip():
        what = f"the file holds more than the {words:,} words that its header declares"
        do = "correct the numbers in its first line, or download the file again"
        raise BadInput(what, where=str(path), do=do)
    return seen


def _wink(file: BinaryIO, path: Path) -> Iterator[Block]:
    """The JSON of wink-embeddings: {"dimensions": d, …, "vectors": {word: [d numbers, norm, rank], …}, …}."""
    head, found = b"", list[tuple[int, bytes, Rows]]()
    while b'"vectors":{' not in head:
        if not (chunk := file.read(CHUNK)):
            allowed = '"dimensions" and "vectors", as in wink-embeddings'
            raise BadInput("the JSON file has no vectors", where=str(path), allowed=allowed)
        head += chunk
    head, _, held = head.partition(b'"vectors":{')
    declared = re.search(rb'"dimensions":\s*(\d+)', head)
    if not declared:
        raise BadInput("the JSON file has no dimensions", where=str(path))
    dimensions = int(declared[1])

    def add(entry: bytes) -> None:
        name, _, numbers = entry.rpartition(b":[")
        try:
            word = json.loads(name)
            row = np.array(numbers.split(b","), dtype=np.float64)
            if len(row) < dimensions + 1 or not np.isfinite(row).all():
                raise ValueError
        except ValueError as error:
            what = f"expected a word and {dimensions} numbers"
            raise BadInput(what, where=f"{path}, word {len(found) + 1}") from error
        raw = str(word).encode("utf-8", "surrogatepass")
        found.append((int(row[-1]), raw, row[:dimensions].astype(np.float32)))

    while True:
        *entries, held = held.split(b"],")
        for entry in entries:
            add(entry)
        if b"]}" in held:
            break
        if not (chunk := file.read(CHUNK)):
            what = f"the file ends after {len(found):,} words"
            raise BadInput(what, where=str(path), do="download it again")
        held += chunk
    add(held.partition(b"]}")[0])
    # JavaScript puts keys that look like numbers first; the last number of an entry is its true rank.
    found.sort(key=lambda entry: entry[0])
    for start in range(0, len(found), LINES):
        some = found[start : start + LINES]
        yield [word for _, word, _ in some], np.stack([row for _, _, row in some])


def _is_number(field: bytes) -> bool:
    try:
        return math.isfinite(float(field))
    except ValueError:
        return False


def read_dictionary(path: Path) -> tuple[list[bytes], dict[str, int]]:
    """The words, and the facts that `open_subwords` needs; a file that ends before its matrix is refused."""
    broken = BadInput("the fastText model is broken or cut short", where=str(path), do="download it again")
    with path.open("rb") as file, mmap(file.fileno(), 0, access=ACCESS_READ) as raw:
        try:
            _, version, *arguments, entries, words, _, _, pruned = _HEAD.unpack_from(raw)
            if version not in VERSIONS:
                raise BadInput(f"unknown fastText format {version}", where=str(path), allowed="11 or 12")
            names: list[bytes] = []
            start = _HEAD.size
            for _ in range(entries):  # letters up to a zero byte, then a count (8 bytes) and a kind (1 byte)
                if (stop := raw.find(b"\0", start)) < 0:
                    raise broken
                names.append(raw[start:stop])
                start = stop + 10
            start += 8 * max(0, pruned)
            quantised, rows, columns = _MATRIX.unpack_from(raw, start)
        except struct.error as error:
            raise broken from error
        start += _MATRIX.size
        cut = start + 4 * rows * columns > len(raw)
    if quantised:
        what = "the fastText model is quantised (.ftz)"
        do = "use the .bin or the .vec file of the same model"
        raise BadInput(what, where=str(path), allowed="a model that is not quantised", do=do)
    dimensions, buckets, shortest, longest = arguments[0], *arguments[8:11]
    if columns != dimensions or cut:
        raise broken
    return names[:words], {
        "ngram_dimensions": dimensions,
        "shortest": shortest,
        "longest": longest,
        "buckets": buckets if rows > words else 0,
        "entries": words,
        "start": start,
        "rows": rows,
    }


def open_subwords(path: Path, facts: Mapping[str, Any]) -> tuple[Rows, Callable[[str, int], Rows | None]]:
    """Map the matrix of a model, (words + buckets, d), without reading it; and a lookup of words in it."""
    shape = (facts["rows"], facts["ngram_dimensions"])
    matrix: Rows = np.memmap(path, "<f4", "r", offset=facts["start"], shape=shape)

    def lookup(word: str, row: int) -> Rows | None:
        """The vector of a word, (d,), or None; `row` is −1 if it is not in the dictionary."""
        rows = [row] if row >= 0 else []
        if facts["buckets"] and facts["longest"]:
            grams = ngrams(word, facts["shortest"], facts["longest"])
            rows += [facts["entries"] + ngram_hash(gram) % facts["buckets"] for gram in grams]
        return matrix[rows].mean(axis=0, dtype=np.float32) if rows else None

    return matrix, lookup


def ngrams(word: str, shortest: int, longest: int) -> Iterator[bytes]:
    """The character n-grams of <word>, without a bare < or >."""
    marked = f"<{word}>"
    for begin in range(len(marked)):
        for end in range(begin + max(1, shortest), min(len(marked), begin + longest) + 1):
            if not (end - begin == 1 and (begin == 0 or end == len(marked))):
                yield marked[begin:end].encode("utf-8", "surrogatepass")


def ngram_hash(gram: bytes) -> int:
    """The 32-bit FNV-1a hash of fastText, which treats bytes as signed."""
    value = 2_166_136_261
    for byte in gram:
        value ^= byte if byte < 128 else byte | 0xFFFFFF00
        value = value * 16_777_619 & 0xFFFFFFFF
    return value
