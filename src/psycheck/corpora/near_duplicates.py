"""Texts that are nearly the same: MinHash and banding find candidates, exact overlap decides.

Likeness is the Jaccard overlap of the words and word pairs of two texts. With 20 bands of 6 hashes a pair at
0.8 is found with probability .998, a closer one more surely; what is found is then checked exactly.
"""

from collections.abc import Callable, Iterator, Sequence
from hashlib import blake2b
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from psycheck.core.arrays import IntArray
from psycheck.core.errors import library
from psycheck.core.kept import kept
from psycheck.text.words import shingles, shingles_of, words_of

BANDS = 20
ROWS = 6  # hashes per band
NEIGHBOURS = 10  # in a bucket each text is checked against so many that follow it, which bounds the work
HELD = 200_000  # shingles that are held at a time, about 20 MB, however long the texts are
_ODD_MULTIPLIER = np.uint64(0x9E3779B97F4A7C15)  # 2^64 by the golden ratio, as in Fibonacci hashing
Keys = NDArray[np.uint64]


def near_duplicates(texts: Sequence[str], *, threshold: float = 0.8, seed: int = 0) -> list[tuple[int, int]]:
    """Pairs of places whose texts overlap by at least `threshold`, copies included, in order.

    Of copies only the first is compared with other texts; each further copy is paired with the first. In a
    bucket of many texts (a form letter) each is compared with its nearest followers, not with all.
    """

    def compute() -> bytes:
        pairs = near_places(
            text_at=texts.__getitem__,
            count=len(texts),
            threshold=threshold,
            seed=seed,
        )
        return np.array(pairs, np.int64).tobytes()

    encoded = [text.encode("utf-8", "surrogatepass") for text in texts]
    places = kept(f"near duplicates {threshold} {seed}", encoded, compute, code=Path(__file__))
    return [(first, second) for first, second in np.frombuffer(places, np.int64).reshape(-1, 2).tolist()]


def near_places(
    text_at: Callable[[int], str],
    count: int,
    *,
    threshold: float = 0.8,
    seed: int = 0,
) -> list[tuple[int, int]]:
    """The same for texts that lie elsewhere: `text_at` gives each by its place, one at a time."""
    pairs: list[tuple[int, int]] = []
    distinct_places: list[int] = []
    distinct_shingles = _distinct_shingles(
        text_at=text_at,
        count=count,
        distinct_places=distinct_places,
        copies=pairs,
    )
    # This consumes the iterator, which fills `distinct_places` and `pairs` as it goes.
    keys = _band_keys(distinct_shingles, seed)

    # Candidates come in the order of the first place, so its shingles are mostly still in the cache.
    shingles_at = _bounded_shingles(text_at)
    for code in _candidates(keys).tolist():
        first_rank, second_rank = divmod(code, len(distinct_places))
        first_place = distinct_places[first_rank]
        second_place = distinct_places[second_rank]
        first = shingles_at(first_place)
        second = shingles_at(second_place)
        common = len(first & second)
        union = len(first) + len(second) - common
        if common >= threshold * union:
            pairs.append((first_place, second_place))
    return sorted(pairs)


def _distinct_shingles(
    text_at: Callable[[int], str],
    count: int,
    distinct_places: list[int],
    copies: list[tuple[int, int]],
) -> Iterator[set[str]]:
    """The shingles of each distinct text that has a word.

    Adds its place to `distinct_places`, and pairs of the first of identical texts and a further one to
    `copies`.
    """
    first_place: dict[bytes, int] = {}
    for place in range(count):
        words = words_of(text_at(place).lower())
        if not words:
            continue

        # 16 bytes stand for a text, which need not be held for the sake of its copies.
        encoded = " ".join(words).encode("utf-8", "surrogatepass")
        digest = blake2b(encoded, digest_size=16).digest()
        first = first_place.setdefault(digest, place)
        if first != place:
            copies.append((first, place))
            continue
        distinct_places.append(place)
        yield shingles_of(words)


def _bounded_shingles(text_at: Callable[[int], str]) -> Callable[[int], set[str]]:
    """A function from a place to its shingles that forgets the oldest when it holds too many."""
    cache: dict[int, set[str]] = {}
    cached_shingles = 0

    def shingles_at(place: int) -> set[str]:
        nonlocal cached_shingles
        if place not in cache:
            cache[place] = shingles(text_at(place))
            cached_shingles += len(cache[place])
            # The text that was asked for stays, however long it is.
            while cached_shingles > HELD and len(cache) > 1:
                oldest = next(iter(cache))
                cached_shingles -= len(cache.pop(oldest))
        return cache[place]

    return shingles_at


def _band_keys(shingle_sets: Iterator[set[str]], seed: int) -> Keys:
    """The MinHash of each set, the rows of each band mixed into one number, (n, bands)."""
    min_hash = library("rensa", "the search for near-duplicates", "compare").RMinHash
    # An empty first batch, so that a corpus without words has keys of the right shape too.
    keys_of_batches = [np.zeros((0, BANDS), dtype=np.uint64)]
    remaining = map(list, shingle_sets)
    while batch := _batch(remaining):
        hashes = min_hash.digests_from_token_sets(batch, BANDS * ROWS, seed)
        digests = np.array(hashes, dtype=np.uint64)
        keys = np.zeros((len(batch), BANDS), dtype=np.uint64)
        for row in range(ROWS):
            # An odd multiplier mixes the rows; a rare collision costs one exact comparison.
            keys = keys * _ODD_MULTIPLIER + digests[:, row::ROWS]
        keys_of_batches.append(keys)
    return np.concatenate(keys_of_batches)


def _batch(shingle_lists: Iterator[list[str]]) -> list[list[str]]:
    """The next lists of shingles, as many at a time as may be held."""
    batch: list[list[str]] = []
    size = 0
    for shingle_list in shingle_lists:
        batch.append(shingle_list)
        size += len(shingle_list)
        if size >= HELD:
            break
    return batch


def _candidates(keys: Keys) -> IntArray:
    """Places a < b of n that share a band's key, as a·n + b in rising order, each pair once."""
    n = len(keys)
    candidates = np.zeros(0, dtype=np.int64)
    for band in range(BANDS):
        # Texts of one bucket stand side by side, in rising order because the sort is stable.
        order = np.argsort(keys[:, band], kind="stable")
        sorted_keys = keys[order, band]

        pairs = [candidates]
        for step in range(1, min(NEIGHBOURS + 1, n)):
            same_bucket = np.flatnonzero(sorted_keys[:-step] == sorted_keys[step:])
            # No two texts this far apart share a bucket, so none further apart do.
            if not len(same_bucket):
                break
            first = order[same_bucket]
            second = order[same_bucket + step]
            # One number per pair sorts and removes repetitions much faster than rows of two.
            pairs.append(first * n + second)
        # Joined after each band, so that no more than one band's repetitions are held.
        candidates = np.unique(np.concatenate(pairs))
    return candidates
