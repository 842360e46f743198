"""A corpus in the other gender, in none, in both; what cannot be decided stays and is named."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from psycheck.core.corpus import Corpus
from psycheck.corpora.regender import regendered
from psycheck.text.gender.edits import Scope
from refusals import refused


def notes() -> Corpus:
    texts = ["She is tired. A woman of 40.", "It rains.", "They gave her flowers.", "He eats and sleeps."]
    return Corpus.of(
        "notes",
        texts,
        ids=["a", "b", "c", "d"],
        labels={"low": [1, 0, None, 0]},
        author=["x", "x", "y", "z"],
        split=["train", "train", "train", "test"],
    )


@pytest.mark.parametrize(
    ("to", "first", "last"),
    [
        ("swapped", "He is tired. A woman of 40.", "She eats and sleeps."),
        ("neutral", "They are tired. A woman of 40.", "They eat and sleep."),
    ],
)
def test_each_text_is_edited_or_stays_whole(to: str, first: str, last: str) -> None:
    done = regendered(notes(), to)
    assert done.corpus.texts == [first, "It rains.", "They gave her flowers.", last]
    assert done.corpus.ids == notes().ids
    assert done.undecided == ("c",)
    assert done.counts == {
        "before": 4,
        "after": 4,
        "changed": 2,
        "unchanged": 1,
        "undecided": 1,
        "emptied": 0,
        "named_besides": 1,
    }


def test_what_is_taken_out_need_not_be_decided() -> None:
    done = regendered(notes(), "removed")
    assert done.corpus.texts == [
        "Is tired. A woman of 40.",
        "It rains.",
        "They gave flowers.",
        "Eats and sleeps.",
    ]
    assert done.undecided == ()


def test_a_text_of_which_no_word_is_left_is_dropped_and_named() -> None:
    short = Corpus.of("short", ["She", "He.", "She rests.", "Fine.", "..."], labels={"low": [1, 0, 1, 0, 0]})
    done = regendered(short, "removed")
    assert (done.corpus.ids, done.corpus.texts) == (["3", "4", "5"], ["Rests.", "Fine.", "..."])
    assert done.corpus.table["label:low"].to_list() == [1.0, 0.0, 0.0]
    assert done.emptied == ("1", "2")
    assert done.corpus.left_out == {"nothing but gendered words": 2}
    counts = {"before": 5, "after": 3, "changed": 1, "unchanged": 2, "undecided": 0, "emptied": 2}
    assert done.counts == {**counts, "named_besides": 0}
    with refused("regender.nothing-left", what="'gone'"):
        regendered(Corpus.of("gone", ["She", "He"]), "removed")


def test_a_corpus_is_augmented_once() -> None:
    once = regendered(notes(), "augmented").corpus
    with refused("regender.already-augmented", what="2 ids"):
        regendered(once, "augmented")
    # Counterparts without their texts are texts like others.
    alone = Corpus("alone", once.table.filter(once.table["id"].str.ends_with("~swapped")))
    assert len(regendered(alone, "augmented").corpus) == 4


def test_augmented_keeps_all_and_adds_counterparts_with_what_belongs_to_them() -> None:
    done = regendered(notes(), "augmented", Scope(nouns=True))
    assert done.corpus.table[:4].equals(notes().table)
    added = done.corpus.table[4:]
    assert added["id"].to_list() == ["a~swapped", "d~swapped"]
    assert added["text"].to_list() == ["He is tired. A man of 40.", "She eats and sleeps."]
    assert added["label:low"].to_list() == [1.0, 0.0]
    assert added["author"].to_list() == ["x", "z"]
    assert added["split"].to_list() == ["train", "test"]
    assert (done.counts["after"], done.counts["named_besides"]) == (6, 0)


def test_an_unknown_way_is_a_plain_error() -> None:
    with refused("regender.unknown-edit", what="'swap'") as caught:
        regendered(notes(), "swap")
    assert "swapped" in str(caught.value)


WORDS = st.sampled_from(["she", "He", "his", "her", "Mr", "mother", "sleeps", "and", "badly", ".", "herself"])


@given(st.lists(st.lists(WORDS, max_size=8).map(" ".join), min_size=1, max_size=5))
def test_swapping_a_corpus_twice_gives_it_back(texts: list[str]) -> None:
    corpus = Corpus.of("c", [f"{i} {text}" for i, text in enumerate(texts)])
    scope = Scope(nouns=True, titles=True)
    once = regendered(corpus, "swapped", scope)
    again = regendered(once.corpus, "swapped", scope)
    assert again.corpus.texts == corpus.texts
    assert again.undecided == once.undecided
