"""fastText .bin models: the words of the dictionary, and the matrix, which stays in its file.

The vector of a word is the mean of its own row and of the rows of its character n-grams; a word outside the
dictionary is made of its n-grams alone.
"""

import struct
from collections.abc import Callable, Iterator, Mapping
from mmap import ACCESS_READ, mmap
from pathlib import Path
from typing import Any

import numpy as np

from psycheck.errors import BadInput
from psycheck.models.vectors.index import Rows

MAGIC = struct.pack("<i", 793_712_314)
VERSIONS = (11, 12)
_HEAD = struct.Struct("<2i12id3i2q")  # magic and version, arguments of training, sizes
_MATRIX = struct.Struct("<?qq")


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
        raise BadInput(
            "the fastText model is quantised (.ftz)",
            where=str(path),
            allowed="a model that is not quantised",
            do="use the .bin or the .vec file of the same model",
        )
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
