"""Texts that are nearly the same: MinHash and banding find candidates, exact overlap decides.

Likeness is the Jaccard overlap of the words and word pairs of two texts. With 20 bands of 6 hashes a pair at
0.8 is found with probability .998, a closer one more surely; what is found is then checked exactly.
"""

from collections.abc import Callable, Iterator, Sequence
from hashlib import blake2b

import numpy as np
from numpy.typing import NDArray

from psycheck.errors import library
from psycheck.model import IntArray
from psycheck.text.words import shingles, shingles_of, words_of

BANDS, ROWS = 20, 6
NEIGHBOURS = 10  # in a bucket each text is checked against so many that follow it, which bounds the work
HELD = 200_000  # shingles that are held at a time, about 20 MB, however long the texts are
Keys = NDArray[np.uint64]


def near_duplicates(texts: Sequence[str], *, threshold: float = 0.8, seed: int = 0) -> list[tuple[int, int]]:
    """Pairs of places whose texts overlap by at least `threshold`, copies included, in order.

    Of copies only the first is compared with other texts; each further copy is paired with the first. In a
    bucket of many texts (a form letter) each is compared with its nearest followers, not with all.
    """
    return near_places(texts.__getitem__, len(texts), threshold=threshold, seed=seed)


def near_places(
    text: Callable[[int], str], count: int, *, threshold: float = 0.8, seed: int = 0
) -> list[tuple[int, int]]:
    """The same for texts that lie elsewhere: `text` gives each by its place, one at a time, none is held."""
    found: list[tuple[int, int]] = []
    distinct: list[int] = []
    keys = _band_keys(_first_of_each(text, count, distinct, found), seed)
    held = _holder(text)
    for code in _candidates(keys).tolist():
        a, b = (distinct[k] for k in divmod(code, len(distinct)))
        one, other = held(a), held(b)
        both = len(one & other)
        if both >= threshold * (len(one) + len(other) - both):
            found.append((a, b))
    return sorted(found)


def _first_of_each(
    text: Callable[[int], str], count: int, distinct: list[int], copies: list[tuple[int, int]]
) -> Iterator[set[str]]:
    """The shingles of each distinct text that has a word; its place and those of its copies are noted."""
    first: dict[bytes, int] = {}
    for i in range(count):
        words = words_of(text(i).lower())
        if not words:
            continue
        # 16 bytes stand for a text, which need not be held for the sake of its copies.
        own = blake2b(" ".join(words).encode("utf-8", "surrogatepass"), digest_size=16).digest()
        at = first.setdefault(own, i)
        if at != i:
            copies.append((at, i))
            continue
        distinct.append(i)
        yield shingles_of(words)


def _holder(text: Callable[[int], str]) -> Callable[[int], set[str]]:
    """A function from a place to its shingles that forgets the first it made when it holds too many."""
    held: dict[int, set[str]] = {}
    size = 0

    def at(i: int) -> set[str]:
        nonlocal size
        if i not in held:
            held[i] = shingles(text(i))
            size += len(held[i])
            while size > HELD and len(held) > 1:
                size -= len(held.pop(next(iter(held))))
        return held[i]

    return at


def _band_keys(sets: Iterator[set[str]], seed: int) -> Keys:
    """The MinHash of each set, the rows of each band mixed into one number, (n, bands)."""
    min_hash = library("rensa", "the search for near-duplicates", "compare").RMinHash
    parts = [np.zeros((0, BANDS), dtype=np.uint64)]
    left = map(list, sets)
    while piece := _piece(left):
        digests = np.array(min_hash.digests_from_token_sets(piece, BANDS * ROWS, seed), dtype=np.uint64)
        keys = np.zeros((len(piece), BANDS), dtype=np.uint64)
        for row in range(ROWS):
            # An odd multiplier mixes the rows; a rare collision costs one exact comparison.
            keys = keys * np.uint64(0x9E3779B97F4A7C15) + digests[:, row::ROWS]
        parts.append(keys)
    return np.concatenate(parts)


def _piece(sets: Iterator[list[str]]) -> list[list[str]]:
    """The next sets, as many at a time as may be held."""
    piece: list[list[str]] = []
    size = 0
    while size < HELD and (own := next(sets, None)) is not None:
        piece.append(own)
        size += len(own)
    return piece


def _candidates(keys: Keys) -> IntArray:
    """Places a < b of n that share a band's key, as a·n + b in rising order, each pair once."""
    n = len(keys)
    found = np.zeros(0, dtype=np.int64)
    for band in range(BANDS):
        # Texts of one bucket stand side by side, in rising order because the sort is stable.
        order = np.argsort(keys[:, band], kind="stable")
        own = keys[order, band]
        pairs = [found]
        for step in range(1, min(NEIGHBOURS + 1, n)):
            same = np.flatnonzero(own[:-step] == own[step:])
            if not len(same):
                break
            pairs.append(order[same] * n + order[same + step])
        found = np.unique(np.concatenate(pairs))
    return found
