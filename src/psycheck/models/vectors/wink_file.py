"""Word vectors of wink-embeddings: one JSON object of words with their numbers."""

import json
import re
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import BinaryIO

import numpy as np

from psycheck.core.errors import BadInput
from psycheck.models.vectors.index import Block, Rows

CHUNK = 2**24
_BLOCK_ROWS = 4_096
_START = b'"vectors":{'


def read_wink(file: BinaryIO, path: Path) -> Iterator[Block]:
    """The vectors of {"dimensions": d, …, "vectors": {word: [d numbers, norm, rank], …}, …}, by rank."""
    head, unread = _split_head(file, path)
    declared = re.search(rb'"dimensions":\s*(\d+)', head)
    if not declared:
        raise BadInput("the JSON file has no dimensions", code="vectors.wink-no-dimensions", where=str(path))

    # The file has hundreds of megabytes: it is cut at "]," instead of being parsed as one object.
    entries = _Entries(path=path, dimensions=int(declared[1]))
    while True:
        # The last piece may be cut in the middle: it waits for the next chunk.
        *whole_entries, unread = unread.split(b"],")
        for entry in whole_entries:
            entries.add(entry)
        if b"]}" in unread:
            break
        chunk = file.read(CHUNK)
        if not chunk:
            raise BadInput(
                f"the file ends after {len(entries.words):,} words",
                code="vectors.wink-cut-short",
                where=str(path),
                do="download it again",
            )
        unread += chunk
    entries.add(unread.partition(b"]}")[0])
    yield from entries.blocks()


def _split_head(file: BinaryIO, path: Path) -> tuple[bytes, bytes]:
    """What stands before the vectors, and the beginning of these."""
    head = b""
    while _START not in head:
        chunk = file.read(CHUNK)
        if not chunk:
            raise BadInput(
                "the JSON file has no vectors",
                code="vectors.wink-no-vectors",
                where=str(path),
                allowed='"dimensions" and "vectors", as in wink-embeddings',
            )
        head += chunk
    before, _, after = head.partition(_START)
    return before, after


@dataclass(slots=True, kw_only=True)
class _Entries:
    """The words that were read, with the rank and the vector of each."""

    path: Path
    dimensions: int
    words: list[bytes] = field(default_factory=list)
    ranks: list[int] = field(default_factory=list)
    rows: list[Rows] = field(default_factory=list)

    def add(self, entry: bytes) -> None:
        """Read one entry: "word":[numbers, norm, rank."""
        name, _, numbers = entry.rpartition(b":[")
        try:
            word = json.loads(name)
            row = np.array(numbers.split(b","), dtype=np.float64)
            if len(row) < self.dimensions + 1 or not np.isfinite(row).all():
                raise ValueError("too few numbers, or one that is not finite")
        except ValueError as error:
            raise BadInput(
                f"expected a word and {self.dimensions} numbers",
                code="vectors.wink-bad-entry",
                where=f"{self.path}, word {len(self.words) + 1}",
            ) from error
        self.words.append(str(word).encode("utf-8", "surrogatepass"))
        self.ranks.append(int(row[-1]))
        self.rows.append(row[: self.dimensions].astype(np.float32))

    def blocks(self) -> Iterator[Block]:
        """The words and vectors by rank."""
        # JavaScript puts keys that look like numbers first; the last number of an entry is its true rank.
        order = sorted(range(len(self.words)), key=self.ranks.__getitem__)
        for start in range(0, len(order), _BLOCK_ROWS):
            places = order[start : start + _BLOCK_ROWS]
            words = [self.words[place] for place in places]
            yield words, np.stack([self.rows[place] for place in places])
