"""Training texts are recognised by their digests, as they are or nearly, and cannot be read off them."""

import sys
from pathlib import Path
from random import Random

import numpy as np
import pytest

from made_words import sentence
from psycheck.corpora.text_digests import DIGESTS, digests_of, matches, read_digests, write_digests
from psycheck.text.words import shingles
from refusals import refused


def overlap(first: str, second: str) -> float:
    """The Jaccard overlap, computed from the shingles themselves."""
    return len(shingles(first) & shingles(second)) / len(shingles(first) | shingles(second))


def texts(n: int, seed: int = 1) -> list[str]:
    random = Random(seed)
    return [" ".join(sentence(random) for _ in range(4)) for _ in range(n)]


def test_a_text_is_found_whatever_its_case_and_punctuation() -> None:
    known = texts(50)
    found = matches([known[0].upper() + "!", known[1], texts(1, seed=9)[0]], digests_of(known, "salt"))
    assert found.exact.tolist() == [True, True, False]
    assert not found.near.any()


def test_near_copies_are_found_and_texts_that_share_half_are_not() -> None:
    known = texts(200)
    near = [f"edit {text} and so on" for text in known]
    half = [
        " ".join(text.split()[: len(text.split()) // 2] + other.split()[:20])
        for text, other in zip(known, texts(200, seed=7), strict=True)
    ]
    assert min(map(overlap, known, near)) > 0.85
    assert max(map(overlap, known, half)) < 0.65
    digests = digests_of(known, "salt")
    assert matches(near, digests).near.mean() >= 0.98
    assert not matches(half, digests).near.any()
    assert not matches(texts(200, seed=8), digests).near.any()


def test_short_texts_have_no_digest_because_they_could_be_guessed() -> None:
    digests = digests_of(["I am so sad", "I am so very sad"], "salt")
    assert len(digests.hashes) == 1
    found = matches(["I am so sad"], digests)
    assert (found.short.tolist(), found.exact.tolist()) == ([True], [False])


def test_two_salts_have_no_digest_in_common_and_the_order_of_the_texts_is_lost() -> None:
    known = texts(100)
    first = digests_of(known, "one")
    second = digests_of(known, "two")
    assert not set(first.hashes.tolist()) & set(second.hashes.tolist())
    assert (np.diff(first.hashes.astype(float)) > 0).all()
    assert np.array_equal(first.hashes, digests_of(known[::-1], "one").hashes)


def test_the_file_is_small_holds_no_word_and_is_read_as_it_was_written(tmp_path: Path) -> None:
    known = texts(500)
    digests = digests_of(known, "salt")
    write_digests(digests, tmp_path)
    content = (tmp_path / DIGESTS).read_bytes()
    assert len(content) < 140 * 500
    assert not any(word.encode() in content for word in set(" ".join(known).split()) if len(word) > 4)
    again = read_digests(tmp_path)
    assert again is not None
    assert np.array_equal(again.signatures, digests.signatures)
    assert matches(known, again).exact.all()


def test_a_folder_without_digests_has_none_and_a_damaged_file_is_refused(tmp_path: Path) -> None:
    assert read_digests(tmp_path) is None
    (tmp_path / DIGESTS).write_bytes(b"PK\x03\x04 not an archive")
    with refused("digests.unreadable"):
        read_digests(tmp_path)


def test_without_the_extra_only_copies_are_found(monkeypatch: pytest.MonkeyPatch) -> None:
    known = texts(20)
    monkeypatch.setitem(sys.modules, "rensa", None)
    digests = digests_of(known, "salt")
    assert digests.signatures.shape == (0, 120)
    found = matches([known[0], f"{known[1]} indeed"], digests)
    assert found.exact.tolist() == [True, False]
    assert not found.near.any()
