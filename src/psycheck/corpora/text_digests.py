"""Digests of training texts, by which an audit recognises them, or near copies, without having them.

Of each text two things are kept: a salted hash of its words, and a MinHash signature of its shingles (words
and word pairs), 120 hashes of which only the lowest byte is kept. The share of equal bytes estimates the
Jaccard overlap of two texts (b-bit minwise hashing; Li and König 2010), with a standard error below 0.04 at
0.8. Which texts were hashed cannot be read off these bytes, but whoever has the file can ask whether a text
that they know is among them: it is to be protected like the model (docs/decisions/20-training-digests.md).
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from hashlib import blake2b
from importlib.util import find_spec
from pathlib import Path
from zipfile import BadZipFile

import numpy as np
from numpy.typing import NDArray

from psycheck.core.corpus import History
from psycheck.core.errors import UNREADABLE, BadInput, library
from psycheck.io.writing import written
from psycheck.statistics.classification import BoolArray
from psycheck.text.words import shingles_of, words_of

DIGESTS = "training-texts.npz"
FEWEST_WORDS = 5  # shorter texts recur by chance, and could be guessed from their hash
LIKENESS = 0.8  # of shingles, as in `near_duplicates`
HASHES = 120
BAND = 6  # hashes that must all be equal for two texts to be compared: .998 of pairs at 0.8 have such a band
NEIGHBOURS = 10  # of a band; more are copies of one form letter, and any of them will do
CHANCE = 1 / 256  # that two bytes are equal though the hashes differ
BATCH = 2_000  # texts whose shingles are held at a time

Hashes = NDArray[np.uint64]
Signatures = NDArray[np.uint8]


@dataclass(frozen=True, slots=True)
class TextDigests:
    """A hash of each text, (n,), and its signature, (n, 120); no signatures, (0, 120), without rensa."""

    salt: str
    hashes: Hashes
    signatures: Signatures


@dataclass(frozen=True, slots=True)
class Matches:
    """Which texts are among those of some digests, each (n,): as they are, nearly, or too short to tell."""

    exact: BoolArray
    near: BoolArray
    short: BoolArray


def texts_in(items: Iterable[str | History]) -> list[str]:
    """The texts of items: themselves, or the posts of histories."""
    texts: list[str] = []
    for item in items:
        texts += item.posts if isinstance(item, History) else [item]
    return texts


def can_sign() -> bool:
    """Whether near copies can be looked for: the signatures need the extra 'compare'."""
    return find_spec("rensa") is not None


def digests_of(texts: Sequence[str], salt: str) -> TextDigests:
    """The digests of the texts that are long enough, in an order that says nothing about theirs."""
    words = [words_of(text.lower()) for text in dict.fromkeys(texts)]
    long_enough = [words_of_text for words_of_text in words if len(words_of_text) >= FEWEST_WORDS]
    hashes = _hashes(long_enough, salt)
    signatures = _signatures(long_enough, salt)

    # Sorted by hash, so that the file does not tell which text followed which.
    order = np.argsort(hashes, kind="stable")
    if len(signatures):
        signatures = signatures[order]
    return TextDigests(
        salt=salt,
        hashes=hashes[order],
        signatures=signatures,
    )


def matches(texts: Sequence[str], digests: TextDigests) -> Matches:
    """Which texts, or near copies of them, have one of the digests."""
    words = [words_of(text.lower()) for text in texts]
    short = np.array([len(words_of_text) < FEWEST_WORDS for words_of_text in words], dtype=np.bool_)
    places = np.flatnonzero(~short)
    long_enough = [words[place] for place in places]

    exact = np.zeros(len(texts), dtype=np.bool_)
    exact[places] = np.isin(_hashes(long_enough, digests.salt), digests.hashes)

    near = np.zeros(len(texts), dtype=np.bool_)
    if len(digests.signatures) and can_sign():
        others = places[~exact[places]]
        signatures = _signatures([words[place] for place in others], digests.salt)
        near[others] = _alike(signatures, digests.signatures)
    return Matches(exact=exact, near=near, short=short)


def write_digests(digests: TextDigests, folder: Path) -> None:
    """Write digests beside the model that learned from their texts."""
    with written(folder / DIGESTS) as part, part.open("wb") as file:
        np.savez_compressed(
            file,
            salt=np.array(digests.salt),
            hashes=digests.hashes,
            signatures=digests.signatures,
        )


def read_digests(folder: Path) -> TextDigests | None:
    """The digests in the folder of a model; None where it has none, as those of older versions."""
    path = folder / DIGESTS
    if not path.is_file():
        return None
    try:
        with np.load(path, allow_pickle=False) as arrays:
            return TextDigests(
                salt=str(arrays["salt"]),
                hashes=arrays["hashes"].astype(np.uint64),
                signatures=arrays["signatures"].astype(np.uint8).reshape(-1, HASHES),
            )
    except (*UNREADABLE, BadZipFile) as error:
        raise BadInput(
            f"the digests of the training texts cannot be read ({type(error).__name__})",
            code="digests.unreadable",
            where=str(path),
            allowed="the file that psycheck train wrote",
            do="remove it, or train again: without it nothing is said about texts that the model has seen",
        ) from error


def _hashes(words: Sequence[Sequence[str]], salt: str) -> Hashes:
    """A salted hash of each text, (n,), given as words in lower case."""
    key = salt.encode()[:64]
    digests = []
    for words_of_text in words:
        encoded = " ".join(words_of_text).encode("utf-8", "surrogatepass")
        digest = blake2b(encoded, digest_size=8, key=key).digest()
        digests.append(int.from_bytes(digest, "little"))
    return np.array(digests, dtype=np.uint64)


def _signatures(words: Sequence[Sequence[str]], salt: str) -> Signatures:
    """The lowest bytes of the MinHash of each text, (n, 120); none without rensa."""
    if not can_sign():
        return np.zeros((0, HASHES), dtype=np.uint8)

    min_hash = library("rensa", "the search for near-duplicates", "compare").RMinHash
    seed = int.from_bytes(blake2b(salt.encode(), digest_size=4).digest(), "little")
    parts = [np.zeros((0, HASHES), dtype=np.uint8)]
    for start in range(0, len(words), BATCH):
        shingle_sets = [list(shingles_of(words_of_text)) for words_of_text in words[start : start + BATCH]]
        hashes = np.array(min_hash.digests_from_token_sets(shingle_sets, HASHES, seed), dtype=np.uint64)
        parts.append((hashes & np.uint64(0xFF)).astype(np.uint8))
    return np.concatenate(parts)


def _alike(signatures: Signatures, known: Signatures) -> BoolArray:
    """Which signatures, (n, 120), are of a text that overlaps by 0.8 with one of those that are known."""
    alike = np.zeros(len(signatures), dtype=np.bool_)
    for start in range(0, HASHES, BAND):
        # Six bytes as one number; a band that is equal by chance costs one comparison.
        keys = _band(signatures, start)
        known_keys = _band(known, start)
        order = np.argsort(known_keys, kind="stable")
        sorted_keys = known_keys[order]
        first = np.searchsorted(sorted_keys, keys)

        for step in range(NEIGHBOURS):
            at = np.minimum(first + step, len(sorted_keys) - 1)
            candidates = np.flatnonzero((sorted_keys[at] == keys) & ~alike)
            if not len(candidates):
                break
            equal = (signatures[candidates] == known[order[at[candidates]]]).mean(axis=1)
            overlap = (equal - CHANCE) / (1 - CHANCE)
            alike[candidates] = overlap >= LIKENESS
    return alike


def _band(signatures: Signatures, start: int) -> Hashes:
    """One number for each six bytes from `start` on, (n,)."""
    weights = np.uint64(256) ** np.arange(BAND, dtype=np.uint64)
    keys: Hashes = signatures[:, start : start + BAND].astype(np.uint64) @ weights
    return keys
