"""Texts that are nearly the same: MinHash and banding find candidates, exact overlap decides.

Likeness is the Jaccard overlap of the words and word pairs of two texts. With 20 bands of 6 hashes a pair at
0.8 is found with probability .998, a closer one more surely; what is found is then checked exactly.
"""

import re
from collections.abc import Iterator, Sequence
from itertools import islice, pairwise

import numpy as np

from psycheck.corpora.vocabulary import WORD
from psycheck.errors import MissingExtra
from psycheck.model import IntArray

BANDS, ROWS = 20, 6
NEIGHBOURS = 10  # in a bucket each text is checked against so many that follow it, which bounds the work
PIECE = 20_000
_WORD = re.compile(WORD)


def plain_text(text: str) -> str:
    """A text as it is compared: its words in lower case, and nothing else."""
    return " ".join(_WORD.findall(text.lower()))


def shingles(text: str) -> set[str]:
    """The words and word pairs of a text."""
    words = _WORD.findall(text.lower())
    return {*words, *(f"{a} {b}" for a, b in pairwise(words))}


def near_duplicates(texts: Sequence[str], *, threshold: float = 0.8, seed: int = 0) -> list[tuple[int, int]]:
    """Pairs of places whose texts overlap by at least `threshold`, copies included, in order.

    Of copies only the first is compared with other texts; each further copy is paired with the first. In a
    bucket of many texts (a form letter) each is compared with its nearest followers, not with all.
    """
    first: dict[str, int] = {}
    found: list[tuple[int, int]] = []
    for i, text in enumerate(texts):
        plain = plain_text(text)
        at = first.setdefault(plain, i)
        if at != i and plain:
            found.append((at, i))
    distinct = [i for plain, i in first.items() if plain]
    digests = _digests([texts[i] for i in distinct], seed)
    sets: dict[int, set[str]] = {}
    for a, b in sorted(_candidates(digests)):
        one, other = (sets.setdefault(i, shingles(texts[i])) for i in (distinct[a], distinct[b]))
        if len(one & other) >= threshold * len(one | other):
            found.append((distinct[a], distinct[b]))
    return sorted(found)


def _digests(texts: Sequence[str], seed: int) -> IntArray:
    """The MinHash of each text, (n, bands × rows)."""
    try:
        from rensa import RMinHash
    except ImportError as error:
        raise MissingExtra("the search for near-duplicates", "compare") from error
    parts = []
    source = iter(texts)
    while piece := [list(shingles(text)) for text in islice(source, PIECE)]:
        parts.append(np.array(RMinHash.digests_from_token_sets(piece, BANDS * ROWS, seed), dtype=np.int64))
    return np.concatenate(parts) if parts else np.zeros((0, BANDS * ROWS), dtype=np.int64)


def _candidates(digests: IntArray) -> set[tuple[int, int]]:
    """Places that agree in all rows of at least one band."""
    found: set[tuple[int, int]] = set()
    for start in range(0, BANDS * ROWS, ROWS):
        # An odd multiplier mixes the rows into one number; a rare collision costs one exact comparison.
        keys = np.zeros(len(digests), dtype=np.uint64)
        for row in range(start, start + ROWS):
            keys = keys * np.uint64(0x9E3779B97F4A7C15) + digests[:, row].astype(np.uint64)
        for bucket in _buckets(keys):
            for i, a in enumerate(bucket):
                found.update((a, b) for b in bucket[i + 1 : i + 1 + NEIGHBOURS])
    return found


def _buckets(keys: np.ndarray[tuple[int], np.dtype[np.uint64]]) -> Iterator[list[int]]:
    """Places that share a key, two or more at a time, each in rising order."""
    order = np.argsort(keys, kind="stable")
    ends = np.flatnonzero(np.diff(keys[order])) + 1
    for begin, end in zip([0, *ends.tolist()], [*ends.tolist(), len(order)], strict=True):
        if end - begin > 1:
            yield order[begin:end].tolist()
