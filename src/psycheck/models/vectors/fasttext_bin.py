"""fastText's own .bin models: the words of the dictionary, and the matrix where it lies in the file.

A word's vector is the mean of its own row and of the rows of its character n-grams; a word that the
dictionary lacks is made of its n-grams alone. So nothing is copied but the dictionary.
"""

import struct
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import BinaryIO

import numpy as np

from psycheck.errors import BadInput
from psycheck.models.vectors.index import Block, Rows

MAGIC = struct.pack("<i", 793_712_314)
VERSIONS = (11, 12)
_ARGUMENTS = struct.Struct("<12id")
_SIZES = struct.Struct("<iiiqq")


@dataclass(frozen=True, slots=True)
class Dictionary:
    """What stands before the matrix: how n-grams are made, the words, and where the matrix begins."""

    dimensions: int
    shortest: int
    longest: int
    buckets: int
    words: tuple[bytes, ...] = field(repr=False)
    entries: int = 0
    start: int = 0
    rows: int = 0

    def blocks(self) -> Iterator[Block]:
        """The words without vectors, for the index."""
        yield list(self.words), np.empty((len(self.words), 0), np.float32)

    @property
    def facts(self) -> dict[str, int]:
        """What must be known to read vectors again."""
        return {
            "ngram_dimensions": self.dimensions,
            "shortest": self.shortest,
            "longest": self.longest,
            "buckets": self.buckets,
            "entries": self.entries,
            "start": self.start,
            "rows": self.rows,
        }


@dataclass(frozen=True, slots=True)
class Subwords:
    """Vectors of words as the means of rows of the matrix, which stays in its file."""

    matrix: Rows = field(repr=False)
    words: int
    shortest: int
    longest: int
    buckets: int

    def vector(self, word: str, row: int) -> Rows | None:
        """The vector of a word, (d,); `row` is −1 where the dictionary lacks it. None if nothing is known."""
        rows = [row] if row >= 0 else []
        if self.buckets and self.longest:
            rows += [
                self.words + ngram_hash(g) % self.buckets for g in ngrams(word, self.shortest, self.longest)
            ]
        return self.matrix[rows].mean(axis=0, dtype=np.float32) if rows else None


def read_dictionary(path: Path) -> Dictionary:
    """Read everything but the matrix; a file that ends before its matrix does is refused."""
    size = path.stat().st_size
    with path.open("rb") as file:
        try:
            _, version = struct.unpack("<ii", file.read(8))
            dimensions, _, _, _, _, _, _, _, buckets, shortest, longest, _, _ = _ARGUMENTS.unpack(
                file.read(_ARGUMENTS.size)
            )
            entries, words, _, _, pruned = _SIZES.unpack(file.read(_SIZES.size))
        except struct.error as error:
            raise _broken(path) from error
        if version not in VERSIONS:
            raise BadInput(f"fastText's format {version} is not known", where=str(path), allowed="11 or 12")
        names = _names(file, entries, path)
        if pruned > 0:
            file.seek(8 * pruned, 1)
        head = file.read(17)
        start = file.tell()
    if len(head) < 17:
        raise _broken(path)
    quantised, rows, columns = struct.unpack("<?qq", head)
    if quantised:
        raise BadInput(
            "the fastText model is quantised (.ftz)",
            where=str(path),
            allowed="a model that is not quantised",
            do="use the .bin or the .vec file of the same model",
        )
    if columns != dimensions or start + 4 * rows * columns > size:
        raise _broken(path)
    grams = buckets if rows > words else 0
    return Dictionary(dimensions, shortest, longest, grams, tuple(names[:words]), words, start, rows)


def open_matrix(path: Path, facts: dict[str, int]) -> Rows:
    """The input matrix where it lies, (words + buckets, d), memory-mapped."""
    found: Rows = np.memmap(
        path, "<f4", "r", offset=facts["start"], shape=(facts["rows"], facts["ngram_dimensions"])
    )
    return found


def ngrams(word: str, shortest: int, longest: int) -> Iterator[bytes]:
    """The character n-grams of <word>, without a bare < or >."""
    marked = f"<{word}>"
    for begin in range(len(marked)):
        for end in range(begin + max(1, shortest), min(len(marked), begin + longest) + 1):
            if not (end - begin == 1 and (begin == 0 or end == len(marked))):
                yield marked[begin:end].encode("utf-8", "surrogatepass")


def ngram_hash(gram: bytes) -> int:
    """fastText's 32-bit FNV-1a, which takes bytes as signed."""
    value = 2_166_136_261
    for byte in gram:
        value ^= byte if byte < 128 else byte | 0xFFFFFF00
        value = value * 16_777_619 & 0xFFFFFFFF
    return value


def _names(file: BinaryIO, entries: int, path: Path) -> list[bytes]:
    """The words: letters up to a zero, then their count (8 bytes) and kind (1 byte). It stops behind them."""
    names: list[bytes] = []
    begin, held, at = file.tell(), b"", 0
    while len(names) < entries:
        stop = held.find(b"\0", at)
        if stop < 0 or stop + 10 > len(held):
            chunk = file.read(2**24)
            if not chunk:
                raise _broken(path)
            begin, held, at = begin + at, held[at:] + chunk, 0
            continue
        names.append(held[at:stop])
        at = stop + 10
    file.seek(begin + at)
    return names


def _broken(path: Path) -> BadInput:
    return BadInput("the fastText model is broken or cut short", where=str(path), do="fetch it again")
