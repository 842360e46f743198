"""Sentences appended to texts of train and dev: which texts, which sentences, and that they survive."""

from collections.abc import Callable, Sequence

import numpy as np
import pytest

from psycheck.core.corpus import Corpus
from psycheck.text.gender.edits import Scope
from psycheck.training.augment import (
    Addition,
    Augmented,
    augmented,
    neutral_sentences,
    reader_of,
    with_swapped,
)
from psycheck.training.recipe import Recipe
from refusals import refused

PRESENT = ("i feel numb", "i was very tired again today")
ABSENT = ("we had music", "a sunny day", "the garden was very sunny today")
ADDED = [Addition("T1", s, True) for s in PRESENT] + [Addition("T2", s, False) for s in ABSENT]
LABEL = "low"


def posts(n: int = 80) -> Corpus:
    """Every third text is annotated 1; one in ten is soft, one in ten not annotated."""
    marks: list[float | None] = [float(i % 3 == 0) for i in range(n)]
    for i in range(0, n, 10):
        marks[i], marks[i + 5] = 0.5, None
    parts = ("train", "train", "train", "dev", "test")
    return Corpus.of(
        "posts",
        [f"post number {i} says little" for i in range(n)],
        labels={LABEL: marks},
        split=[parts[i % 5] for i in range(n)],
    )


def changed(before: Corpus, after: Augmented) -> list[int]:
    return [i for i, (a, b) in enumerate(zip(before.texts, after.corpus.texts, strict=True)) if a != b]


def test_the_number_of_texts_their_ids_and_annotations_stay() -> None:
    corpus = posts()
    done = augmented(corpus, ADDED, LABEL)
    assert len(done.corpus) == 80
    assert done.corpus.table.drop("text").equals(corpus.table.drop("text"))


def test_test_is_never_touched() -> None:
    corpus = posts()
    done = augmented(corpus, ADDED, LABEL, agreeing=False)
    assert done.corpus.part("test").texts == corpus.part("test").texts
    assert {corpus.table["split"][i] for i in changed(corpus, done)} == {"train", "dev"}


def test_presence_goes_to_texts_annotated_1_and_absence_to_those_annotated_0() -> None:
    corpus = posts()
    done = augmented(corpus, ADDED, LABEL)
    target = corpus.targets([LABEL])[:, 0]
    for i in changed(corpus, done):
        assert target[i] in (0.0, 1.0)
        assert done.corpus.texts[i].endswith(PRESENT if target[i] == 1 else ABSENT)
    hard = [i for i in range(80) if i % 5 != 4 and target[i] in (0.0, 1.0)]
    assert changed(corpus, done) == hard
    assert done.counts["augmented"] == done.counts["eligible"] == len(hard)
    assert done.counts["presence"] == sum(target[i] == 1 for i in hard)
    assert done.counts["texts"] == 64


def test_any_sentence_to_any_annotated_text() -> None:
    corpus = posts()
    done = augmented(corpus, ADDED, LABEL, agreeing=False)
    target = corpus.targets([LABEL])[:, 0]
    assert changed(corpus, done) == [i for i in range(80) if i % 5 != 4 and not np.isnan(target[i])]
    assert any(target[i] == 1 and done.corpus.texts[i].endswith(ABSENT) for i in changed(corpus, done))


def test_sentences_take_turns() -> None:
    done = augmented(posts(200), ADDED, LABEL)
    for sentences in (PRESENT, ABSENT):
        used = [done.used[sentence] for sentence in sentences]
        assert max(used) - min(used) <= 2  # at most one in train and one in dev


def test_a_share_of_the_texts_is_drawn_by_seed() -> None:
    corpus = posts(200)
    whole, half = augmented(corpus, ADDED, LABEL), augmented(corpus, ADDED, LABEL, share=0.5)
    assert half.counts["augmented"] == pytest.approx(whole.counts["augmented"] / 2, abs=2)
    assert changed(corpus, augmented(corpus, ADDED, LABEL, share=0.5)) == changed(corpus, half)
    assert changed(corpus, augmented(corpus, ADDED, LABEL, share=0.5, seed=1)) != changed(corpus, half)


def test_the_text_is_shortened_before_its_sentence() -> None:
    def first_40(texts: Sequence[str]) -> np.ndarray[tuple[int], np.dtype[np.int64]]:
        return np.array([min(len(text), 40) for text in texts], np.int64)

    corpus = posts()
    done = augmented(corpus, ADDED, LABEL, read=first_40)
    for i in changed(corpus, done):
        assert len(done.corpus.texts[i]) <= 40
        assert done.corpus.texts[i].endswith(PRESENT + ABSENT)
    assert done.counts["shortened"] > 0


def test_the_window_of_a_real_tokenizer_keeps_the_sentence(tiny: Callable[[str], str]) -> None:
    recipe = Recipe(start=tiny("bert"), max_length=12)
    read = reader_of(recipe)
    assert read is not None
    corpus = Corpus.of("long", ["the day was very " * 10] * 6, labels={LABEL: [0, 1] * 3})
    done = augmented(corpus, ADDED, LABEL, read=read)
    texts = done.corpus.texts
    assert read(texts).tolist() == [len(text) for text in texts]
    assert all(text.endswith(PRESENT + ABSENT) for text in texts)
    assert done.counts["shortened"] == 6


def test_a_recipe_without_a_window_shortens_nothing() -> None:
    assert reader_of(Recipe(start="tfidf+lr")) is None


def test_the_control_augments_the_same_texts_with_sentences_as_long() -> None:
    corpus = posts(200)
    real = augmented(corpus, ADDED, LABEL, seed=3)
    control = augmented(corpus, ADDED, LABEL, seed=3, sentences="random")
    assert changed(corpus, control) == changed(corpus, real)

    def added(done: Augmented) -> list[int]:
        own = [len(text.split()) for text in corpus.texts]
        return sorted(len(done.corpus.texts[i].split()) - own[i] for i in changed(corpus, done))

    assert all(abs(a - b) <= 1 for a, b in zip(added(real), added(control), strict=True))
    assert set(control.used) <= set(neutral_sentences())


def test_the_control_does_not_give_the_annotation_away() -> None:
    corpus = posts(400)
    one_long = [Addition("T1", " ".join(["tired"] * 10), True), Addition("T2", "a sunny day", False)]
    control = augmented(corpus, one_long, LABEL, sentences="random")
    target = corpus.targets([LABEL])[:, 0]
    long = [i for i in changed(corpus, control) if len(control.corpus.texts[i].split()) > 10]
    share = np.mean([target[i] for i in changed(corpus, control)])
    assert np.mean([target[i] for i in long]) == pytest.approx(share, abs=0.15)


def test_neutral_sentences_are_distinct_and_cover_the_lengths_of_deck() -> None:
    sentences = neutral_sentences()
    assert len(set(sentences)) == len(sentences)
    assert {3, 4, 5, 6, 7, 8, 10, 11} <= {len(sentence.split()) for sentence in sentences}


def test_wrong_input_is_refused() -> None:
    with refused("augment.no-sentence"):
        augmented(posts(), [], LABEL)
    with refused("augment.share-out-of-range"):
        augmented(posts(), ADDED, LABEL, share=0.0)


def of_people() -> Corpus:
    texts = ["She is tired.", "He left.", "It rains.", "They gave her flowers.", "She sings.", "He runs."]
    return Corpus.of(
        "people",
        texts,
        labels={LABEL: [1.0, 0.0, 0.0, 1.0, None, 1.0]},
        ids=["a", "b", "c", "d", "e", "f"],
        author=["x", None, None, None, "y", None],
        split=["train", "train", "train", "train", "dev", "test"],
    )


def test_swapped_counterparts_join_train_and_dev_with_their_annotation() -> None:
    made = with_swapped(of_people())
    added = made.corpus.table[6:]
    assert added["id"].to_list() == ["a~swapped", "b~swapped", "e~swapped"]
    assert added["text"].to_list() == ["He is tired.", "She left.", "He sings."]
    assert added[f"label:{LABEL}"].to_list() == [1.0, 0.0, None]
    assert added["split"].to_list() == ["train", "train", "dev"]
    assert added["author"].to_list() == ["x", None, "y"]
    assert made.corpus.table[:6].equals(of_people().table)


def test_the_number_of_texts_grows_and_is_told() -> None:
    made = with_swapped(of_people())
    # "They gave her flowers" is undecided, "It rains" names no gender; the test text is not counted at all.
    counted = {"texts": 5, "added": 3, "texts_after": 8, "undecided": 1, "unchanged": 1, "named_besides": 0}
    assert made.counts == counted
    assert made.undecided == ("d",)
    assert "3 of 5 texts of train and dev added" in made.corpus.notes[-1]


def test_what_a_swap_leaves_to_be_seen_is_counted() -> None:
    texts = ["A woman of 40. She is tired.", "She left.", "A man of 40."]
    corpus = Corpus.of("c", texts, labels={LABEL: [1, 0, 1]}, split=["train"] * 3)
    assert with_swapped(corpus).counts["named_besides"] == 1
    assert with_swapped(corpus, Scope(nouns=True)).counts["named_besides"] == 0


def test_the_control_repeats_the_same_texts_as_they_are() -> None:
    made = with_swapped(of_people(), control=True)
    assert made.corpus.table[6:]["text"].to_list() == ["She is tired.", "He left.", "She sings."]
    assert made.corpus.table[6:]["id"].to_list() == ["a~again", "b~again", "e~again"]
    assert made.counts == with_swapped(of_people()).counts


def test_where_all_gendered_texts_are_undecided_that_is_said() -> None:
    corpus = Corpus.of("c", ["They gave her flowers.", "It rains."], labels={LABEL: [1, 0]})
    with refused("augment.nothing-decided", what="1 text"):
        with_swapped(corpus)


def test_texts_that_name_no_gender_cannot_be_augmented() -> None:
    with refused("augment.nothing-to-swap"):
        with_swapped(posts())
