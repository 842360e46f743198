"""Near-duplicates: the same pairs however little is held at a time."""

import tracemalloc
from random import Random

import pytest
from hypothesis import given
from hypothesis import strategies as st

from made_words import THINGS, sentence
from psycheck.corpora import near_duplicates as near
from psycheck.corpora.near_duplicates import BANDS, NEIGHBOURS, ROWS, near_duplicates, near_places
from psycheck.text.words import plain_text, shingles

VOCABULARY = [f"w{k}" for k in range(500)]


def mixed(seed: int) -> list[str]:
    """Texts of many lengths, copies, small changes, and a form letter with other endings."""
    random = Random(seed)
    texts = [" ".join(random.choices(VOCABULARY, k=random.choice((0, 1, 3, 20, 90)))) for _ in range(300)]
    form = " ".join(random.choices(VOCABULARY, k=60))
    for k in range(len(texts)):
        chance = random.random()
        if chance < 0.1:
            texts[k] = random.choice(texts).upper()
        elif chance < 0.4:
            words = random.choice(texts).split()
            texts[k] = " ".join([*words[:-1], random.choice(VOCABULARY)])
        elif chance < 0.55:
            texts[k] = f"{form} {' '.join(random.choices(VOCABULARY, k=random.randrange(6)))}"
    return texts


def by_the_book(texts: list[str], threshold: float, seed: int) -> list[tuple[int, int]]:
    """The definition without any thrift: all shingles, all MinHashes, all buckets held at once."""
    from rensa import RMinHash

    first: dict[str, int] = {}
    found = set()
    for i, text in enumerate(texts):
        at = first.setdefault(plain_text(text), i)
        if at != i and plain_text(text):
            found.add((at, i))
    places = [i for plain, i in first.items() if plain]
    sets = {i: shingles(texts[i]) for i in places}
    digests = RMinHash.digests_from_token_sets([list(sets[i]) for i in places], BANDS * ROWS, seed)
    for start in range(0, BANDS * ROWS, ROWS):
        buckets: dict[tuple[int, ...], list[int]] = {}
        for i, digest in zip(places, digests, strict=True):
            buckets.setdefault(tuple(digest[start : start + ROWS]), []).append(i)
        for bucket in buckets.values():
            for k, a in enumerate(bucket):
                for b in bucket[k + 1 : k + 1 + NEIGHBOURS]:
                    if len(sets[a] & sets[b]) >= threshold * len(sets[a] | sets[b]):
                        found.add((a, b))
    return sorted(found)


@pytest.mark.parametrize("held", [1, 500, 200_000])
@pytest.mark.parametrize(("seed", "threshold"), [(0, 0.8), (1, 0.5), (2, 1.0)])
def test_the_pairs_are_those_of_the_definition_however_little_is_held(
    held: int, seed: int, threshold: float, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(near, "HELD", held)
    texts = mixed(seed)
    found = near_duplicates(texts, threshold=threshold, seed=seed)
    assert found == by_the_book(texts, threshold, seed)
    assert len(found) > 20


def test_a_text_that_resembles_none_is_asked_for_once() -> None:
    texts = ["one two three", "four five six", "", "seven eight nine"]
    asked: list[int] = []

    def text(place: int) -> str:
        asked.append(place)
        return texts[place]

    assert near_places(text, 4) == []
    assert asked == [0, 1, 2, 3]


def test_no_more_is_held_than_allowed(monkeypatch: pytest.MonkeyPatch) -> None:
    random = Random(3)
    texts = [" ".join(random.choices(VOCABULARY, k=100)) for _ in range(200)]
    near_duplicates(texts)  # loads what it needs

    def peak(held: int) -> int:
        monkeypatch.setattr(near, "HELD", held)
        tracemalloc.start()
        near_duplicates(texts)
        _, most = tracemalloc.get_traced_memory()
        tracemalloc.stop()
        return most

    # About 190 shingles a text: 38,000 in all against 2,000, beside 20 numbers for each text.
    assert peak(2_000) < peak(10**9) / 3


def test_near_duplicates_of_a_small_set_are_those_of_all_pairs() -> None:
    random = Random(6)
    texts = [sentence(random) for _ in range(60)]
    texts += [f"{text} {random.choice(THINGS)}" for text in texts[:20]] + texts[20:30]
    sets = [shingles(text) for text in texts]
    every = [
        (i, j)
        for i in range(len(texts))
        for j in range(i + 1, len(texts))
        if len(sets[i] & sets[j]) >= 0.8 * len(sets[i] | sets[j])
    ]
    assert near_duplicates(texts) == every


@given(st.lists(st.text("ab ,.'", max_size=12), max_size=8))
def test_copies_are_always_found_and_empty_texts_never(texts: list[str]) -> None:
    found = near_duplicates(texts, threshold=1.0)
    first: dict[str, int] = {}
    for i, text in enumerate(texts):
        plain = plain_text(text)
        if plain and plain in first:
            assert (first[plain], i) in found
        first.setdefault(plain, i)
    assert all(plain_text(texts[i]) for pair in found for i in pair)
