"""Models of fastText (.bin): the vector of a word is the mean of its own row and of those of its n-grams.

The matrix stays in its file, memory-mapped; a word outside the dictionary is made of its n-grams alone.
"""

import struct
from collections.abc import Callable, Iterator, Mapping
from mmap import ACCESS_READ, mmap
from pathlib import Path
from typing import Any

import numpy as np

from psycheck.core.errors import BadInput
from psycheck.models.vectors.index import Rows

MAGIC = struct.pack("<i", 793_712_314)
_VERSIONS = (11, 12)
_HEAD = struct.Struct("<2i12id3i2q")  # magic and version, arguments of training, sizes
_MATRIX = struct.Struct("<?qq")  # whether it is quantised, rows, columns
_AFTER_WORD = 10  # the zero byte that ends a word, its count (8 bytes) and its kind (1 byte)


def read_dictionary(path: Path) -> tuple[list[bytes], dict[str, int]]:
    """The words, and the facts that `open_subwords` needs; a file that ends before its matrix is refused."""
    with path.open("rb") as file, mmap(file.fileno(), 0, access=ACCESS_READ) as raw:
        try:
            _, version, *arguments, entries, words, _, _, pruned = _HEAD.unpack_from(raw)
            if version not in _VERSIONS:
                raise BadInput(
                    f"unknown fastText format {version}",
                    code="vectors.fasttext-version",
                    where=str(path),
                    allowed="11 or 12",
                )
            names, dictionary_end = _entry_names(raw, entries, path)
            # A pruned model lists the n-grams that it kept; −1 means that it is not pruned.
            matrix_head = dictionary_end + 8 * max(0, pruned)
            is_quantised, rows, columns = _MATRIX.unpack_from(raw, matrix_head)
        except struct.error as error:
            raise _cut_short(path) from error
        start = matrix_head + _MATRIX.size
        is_cut = start + 4 * rows * columns > len(raw)

    if is_quantised:
        raise BadInput(
            "the fastText model is quantised (.ftz)",
            code="vectors.fasttext-quantised",
            where=str(path),
            allowed="a model that is not quantised",
            do="use the .bin or the .vec file of the same model",
        )
    dimensions = arguments[0]
    buckets, shortest, longest = arguments[8:11]
    if columns != dimensions or is_cut:
        raise _cut_short(path)
    return names[:words], {
        "ngram_dimensions": dimensions,
        "shortest": shortest,
        "longest": longest,
        "buckets": buckets if rows > words else 0,
        "entries": words,
        "start": start,
        "rows": rows,
    }


def _entry_names(raw: mmap, entries: int, path: Path) -> tuple[list[bytes], int]:
    """The words and labels of the dictionary, and where it ends."""
    names: list[bytes] = []
    start = _HEAD.size
    for _ in range(entries):
        end = raw.find(b"\0", start)
        if end < 0:
            raise _cut_short(path)
        names.append(raw[start:end])
        start = end + _AFTER_WORD
    return names, start


def _cut_short(path: Path) -> BadInput:
    return BadInput(
        "the fastText model is broken or cut short",
        code="vectors.fasttext-cut-short",
        where=str(path),
        do="download it again",
    )


def open_subwords(path: Path, facts: Mapping[str, Any]) -> tuple[Rows, Callable[[str, int], Rows | None]]:
    """Map the matrix of a model, (words + buckets, d), without reading it; and a lookup of words in it."""
    shape = (facts["rows"], facts["ngram_dimensions"])
    matrix: Rows = np.memmap(path, "<f4", "r", offset=facts["start"], shape=shape)
    has_ngrams = facts["buckets"] and facts["longest"]

    def lookup(word: str, row: int) -> Rows | None:
        """The vector of a word, (d,), or None; `row` is −1 if it is not in the dictionary."""
        # Rows of words come first, then those of n-grams, which share buckets by their hash.
        rows = [row] if row >= 0 else []
        if has_ngrams:
            for gram in ngrams(word, facts["shortest"], facts["longest"]):
                bucket = ngram_hash(gram) % facts["buckets"]
                rows.append(facts["entries"] + bucket)
        if not rows:
            return None
        mean: Rows = matrix[rows].mean(axis=0, dtype=np.float32)
        return mean

    return matrix, lookup


def ngrams(word: str, shortest: int, longest: int) -> Iterator[bytes]:
    """The character n-grams of <word>, without a bare < or >."""
    marked = f"<{word}>"
    for begin in range(len(marked)):
        first_end = begin + max(1, shortest)
        last_end = min(len(marked), begin + longest)
        for end in range(first_end, last_end + 1):
            at_an_edge = begin == 0 or end == len(marked)
            is_bare_mark = at_an_edge and end - begin == 1
            if not is_bare_mark:
                yield marked[begin:end].encode("utf-8", "surrogatepass")


def ngram_hash(gram: bytes) -> int:
    """The 32-bit FNV-1a hash of fastText, which treats bytes as signed."""
    value = 2_166_136_261
    for byte in gram:
        value ^= byte if byte < 128 else byte | 0xFFFFFF00
        value = value * 16_777_619 & 0xFFFFFFFF
    return value
