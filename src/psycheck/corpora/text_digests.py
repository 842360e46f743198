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
from psycheck.statistics.classification import BoolArray, FloatArray
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
    distinct_texts = dict.fromkeys(texts)
    words = [words_of(text.lower()) for text in distinct_texts]
    long_enough = [text_words for text_words in words if len(text_words) >= FEWEST_WORDS]
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
    lengths = np.array([len(text_words) for text_words in words], dtype=np.int64)
    short = lengths < FEWEST_WORDS

    exact = np.zeros(len(texts), dtype=np.bool_)
    long_places = np.flatnonzero(~short)
    hashes = _hashes([words[place] for place in long_places], digests.salt)
    exact[long_places] = np.isin(hashes, digests.hashes)

    near = np.zeros(len(texts), dtype=np.bool_)
    if len(digests.signatures) and can_sign():
        # Copies are settled: only the other texts are worth a signature.
        open_places = long_places[~exact[long_places]]
        signatures = _signatures([words[place] for place in open_places], digests.salt)
        near[open_places] = _alike(signatures, digests.signatures)
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
    for text_words in words:
        encoded = " ".join(text_words).encode("utf-8", "surrogatepass")
        digest = blake2b(encoded, digest_size=8, key=key).digest()
        digests.append(int.from_bytes(digest, "little"))
    return np.array(digests, dtype=np.uint64)


def _signatures(words: Sequence[Sequence[str]], salt: str) -> Signatures:
    """The lowest bytes of the MinHash of each text, (n, 120); none without rensa."""
    parts = [np.zeros((0, HASHES), dtype=np.uint8)]
    if not can_sign():
        return parts[0]

    min_hash = library("rensa", "the search for near-duplicates", "compare").RMinHash
    salt_digest = blake2b(salt.encode(), digest_size=4).digest()
    seed = int.from_bytes(salt_digest, "little")
    for start in range(0, len(words), BATCH):
        batch = words[start : start + BATCH]
        shingle_lists = [list(shingles_of(text_words)) for text_words in batch]
        hashes = min_hash.digests_from_token_sets(shingle_lists, HASHES, seed)
        # The conversion keeps the lowest byte.
        parts.append(np.array(hashes, dtype=np.uint64).astype(np.uint8))
    return np.concatenate(parts)


def _alike(signatures: Signatures, training: Signatures) -> BoolArray:
    """Which signatures, (n, 120), are of a text that overlaps by 0.8 with one of the training texts."""
    alike = np.zeros(len(signatures), dtype=np.bool_)
    for start in range(0, HASHES, BAND):
        keys = _band_keys(signatures, start)
        training_keys = _band_keys(training, start)
        order = np.argsort(training_keys, kind="stable")
        sorted_keys = training_keys[order]
        first = np.searchsorted(sorted_keys, keys)

        for step in range(NEIGHBOURS):
            place = np.minimum(first + step, len(sorted_keys) - 1)
            same_key = sorted_keys[place] == keys
            candidates = np.flatnonzero(same_key & ~alike)
            # Equal keys stand side by side: no text has a further neighbour.
            if not len(candidates):
                break
            neighbours = training[order[place[candidates]]]
            alike[candidates] = _overlap(signatures[candidates], neighbours) >= LIKENESS
    return alike


def _overlap(first: Signatures, second: Signatures) -> FloatArray:
    """The estimated Jaccard overlap of pairs of texts by their signatures, (n, 120) each."""
    equal = (first == second).mean(axis=1)
    overlap: FloatArray = (equal - CHANCE) / (1 - CHANCE)
    return overlap


def _band_keys(signatures: Signatures, start: int) -> Hashes:
    """Six bytes of each signature, from `start` on, as one number, (n,)."""
    weights = np.uint64(256) ** np.arange(BAND, dtype=np.uint64)
    band = signatures[:, start : start + BAND].astype(np.uint64)
    keys: Hashes = band @ weights
    return keys
