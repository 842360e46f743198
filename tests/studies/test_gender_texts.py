"""Which texts take part, which wordings they have, and how training texts are drawn."""

from collections import Counter

import numpy as np
import pytest

from psycheck.core.corpus import Corpus
from psycheck.core.errors import BadInput
from psycheck.studies.gender_draws import Cut, cut, fewer, training_of
from psycheck.studies.gender_texts import CELLS, Gendered, gendered_texts, label_of
from psycheck.text.gender.edits import Scope
from refusals import refused

PRONOUNS = Scope()


def corpus_of(
    cells: dict[str, int], *, split: str | None = None, authors: int = 0, name: str = "notes"
) -> Corpus:
    """So many texts of each cell, each with a word of its own."""
    texts, marks = [], []
    for cell, size in cells.items():
        for i in range(size):
            said = "She" if cell.startswith("female") else "He"
            texts.append(f"{said} came in on day {cell.replace(' ', '')}{i}.")
            marks.append(float(cell.endswith("positive")))
    return Corpus.of(
        name,
        texts,
        labels={"low": marks},
        split=[split] * len(texts) if split else None,
        author=[f"a{i % authors}" for i in range(len(texts))] if authors else None,
    )


def read(corpus: Corpus) -> Gendered:
    return gendered_texts(corpus, "low", PRONOUNS)


def test_wordings_of_a_text() -> None:
    texts = read(Corpus.of("n", ["She slept badly.", "He ate."], labels={"low": [1, 0]}))
    assert texts.swapped == ["He slept badly.", "She ate."]
    assert texts.neutral == ["They slept badly.", "They ate."]
    assert texts.female.tolist() == [True, False]
    assert [CELLS[k] for k in texts.cells] == ["female positive", "male negative"]
    as_female, as_male = texts.wordings(np.array([1, 0]))
    assert as_female == ["She ate.", "She slept badly."]
    assert as_male == ["He ate.", "He slept badly."]


def test_a_label_of_one_half_is_left_out_and_counted() -> None:
    texts = read(Corpus.of("n", ["She slept badly.", "He ate.", "He sat."], labels={"low": [1, 0.5, None]}))
    assert texts.ids == ["1"]
    assert texts.left_out == {"undecided annotation": 1, "not annotated": 1}


def test_texts_that_name_a_gender_besides_are_counted() -> None:
    corpus = Corpus.of("n", ["A woman. She slept badly.", "He ate."], labels={"low": [1, 0]})
    assert read(corpus).besides == 1
    assert gendered_texts(corpus, "low", Scope(nouns=True)).besides == 0


def test_what_is_left_out_is_counted_and_the_undecided_are_named() -> None:
    texts = read(
        Corpus.of(
            "n",
            [
                "No one came.",
                "He met the nurse and she left.",
                "She ate.",
                "He ate.",
                "He slept.",
                "I saw her smile.",
            ],
            labels={"low": [1, 1, 1, 0, None, 1]},
        )
    )
    assert texts.texts == ["She ate."]
    assert texts.left_out == {
        "no gendered word": 1,
        "both genders": 1,
        "same text twice": 1,  # "He ate." is "She ate." swapped
        "not annotated": 1,
        "undecided gendered word": 1,
    }
    assert texts.undecided == ("6",)


def test_training_is_balanced_by_class_and_gender_and_the_rest_is_tested() -> None:
    texts = read(corpus_of(dict(zip(CELLS, (20, 30, 12, 40), strict=True))))
    drawn = cut(texts, seed=1)
    assert Counter(CELLS[k] for k in texts.cells[drawn.train]) == dict.fromkeys(CELLS, 6)
    assert len(drawn.test) == 102 - 24
    assert not set(drawn.train) & set(drawn.test)
    assert np.array_equal(drawn.train, cut(texts, seed=1).train)
    assert not np.array_equal(drawn.train, cut(texts, seed=2).train)
    assert len(cut(texts, each=4).train) == 16


def test_balancing_by_class_alone_keeps_the_genders_as_they_are() -> None:
    texts = read(corpus_of(dict(zip(CELLS, (36, 4, 4, 36), strict=True))))
    drawn = cut(texts, balance="class")
    counts = Counter(CELLS[k] for k in texts.cells[drawn.train])
    assert counts["female positive"] + counts["male positive"] == 20
    assert counts["female negative"] + counts["male negative"] == 20
    assert counts["female positive"] > 3 * counts["male positive"]


def test_a_test_split_is_the_test() -> None:
    sizes = dict.fromkeys(CELLS, 5)
    train, test = corpus_of(sizes, split="train"), corpus_of(sizes, split="test")
    both = Corpus.of(
        "both",
        [*train.texts, *(text.replace("day", "night") for text in test.texts)],
        labels={"low": [*train.targets()[:, 0], *test.targets()[:, 0]]},
        split=["train"] * 20 + ["test"] * 20,
    )
    drawn = cut(read(both))
    assert drawn.train.tolist() == list(range(20))
    assert drawn.test.tolist() == list(range(20, 40))


def test_an_author_who_trains_does_not_test() -> None:
    texts = read(corpus_of(dict.fromkeys(CELLS, 60), authors=120))
    drawn = cut(texts, each=10)
    learned = {texts.owners[i] for i in drawn.train}
    assert not learned & {texts.owners[i] for i in drawn.test}
    assert drawn.shared > 0
    assert len(drawn.train) + len(drawn.test) + drawn.shared == 240


def test_folds_are_shared_and_twins_stay_together() -> None:
    texts = read(corpus_of(dict.fromkeys(CELLS, 12)))
    training = training_of(texts, cut(texts), seed=0)
    original, marks, folds = training.of("original")
    both, marks_twice, folds_twice = training.of("augmented")
    assert both == original + training.of("swapped")[0]
    assert np.array_equal(folds_twice, np.concatenate([folds, folds]))
    assert np.array_equal(marks_twice, np.concatenate([marks, marks]))
    assert np.bincount(folds).tolist() == [8, 8, 8]


def test_too_few_authors_cannot_be_cut_into_folds() -> None:
    texts = read(corpus_of(dict.fromkeys(CELLS, 6), split="train", authors=2))
    with refused("gender-study.too-few-authors", what="2 authors"):
        training_of(texts, Cut(np.arange(24), np.arange(0)), seed=0)


def test_fewer_pairs_keep_the_rare_class() -> None:
    texts = read(corpus_of(dict(zip(CELLS, (10, 60, 10, 60), strict=True))))
    drawn = fewer(texts, cut(texts, each=4), 30, seed=0)
    assert (len(drawn.test), int(texts.marks[drawn.test].sum())) == (30, 12)
    assert drawn.beyond == 140 - 16 - 30


def test_wrong_input_is_one_clear_line() -> None:
    none = Corpus.of("posts", ["I am tired.", "I am fine."], labels={"low": [1, 0]})
    with refused("gender-study.no-gendered-text", what="2 no gendered word"):
        cut(read(none))
    with refused("gender-study.no-gendered-text", do="`swap=nouns,titles,names`"):
        cut(read(none))
    with refused("gender-study.one-class", what="20 of 20"):
        cut(read(corpus_of({"female positive": 10, "male positive": 10})))
    few = read(corpus_of(dict(zip(CELLS, (20, 20, 4, 20), strict=True))))
    with refused("gender-study.too-few-texts", what="4 are male positive"):
        cut(few)
    with refused("gender-study.too-few-texts", what="4 are male positive"):
        cut(few, each=3)
    assert len(cut(few, balance="class").train) == 24
    with refused("gender-study.too-few-each", what="each = 1"):
        cut(few, each=1)
    with refused("gender-study.too-few-texts", do="`each=6`"):
        cut(few, balance="class", each=50)


def test_the_label_that_is_studied() -> None:
    one = corpus_of({"female positive": 1})
    assert label_of(one) == "low"
    many = Corpus.of("n", ["a"], labels={"anxiety": [1], "depression": [0]})
    assert label_of(many) == "depression"
    assert label_of(many, "anxiety") == "anxiety"
    with refused("corpus.several-labels", what="2 labels"):
        label_of(Corpus.of("n", ["a"], labels={"x": [1], "y": [0]}))
    with refused("corpus.no-labels"):
        label_of(Corpus.of("n", ["a"]))
    with pytest.raises(BadInput, match="has no label 'depressed'"):
        label_of(many, "depressed")


def test_the_record_decides_where_words_name_both_genders_or_none() -> None:
    corpus = Corpus.of(
        "n",
        ["She came with him.", "Slept badly.", "He ate.", "He sat.", "They left."],
        labels={"low": [1, 0, 1, 0, 0]},
        groups={"gender": ["F", "male", "", "female", None]},
    )
    by_words = read(corpus)
    assert by_words.ids == ["3", "4"]
    texts = gendered_texts(corpus, "low", PRONOUNS, record="gender")
    assert texts.ids == ["1", "2", "3", "4"]
    # The third has no record; the record of the fourth is another one than its words.
    assert texts.female.tolist() == [True, False, False, True]
    assert (texts.recorded, texts.contradicted) == (3, 1)
    assert texts.paired.tolist() == [True, False, True, True]
    as_female, as_male = texts.wordings(np.array([0]))
    assert (as_female, as_male) == (["She came with him."], ["He came with her."])
    assert texts.left_out == {"no gendered word": 1}


def test_a_text_without_gendered_words_makes_no_test_pair() -> None:
    cells = {"female positive": 8, "female negative": 8, "male positive": 8, "male negative": 8}
    named = corpus_of(cells)
    plain = [f"Slept badly on day {i}." for i in range(12)]
    corpus = Corpus.of(
        "n",
        [*named.texts, *plain],
        labels={"low": [*named.targets()[:, 0].tolist(), *[float(i % 2) for i in range(12)]]},
        groups={"gender": [*[None] * 32, *["F", "M"] * 6]},
    )
    texts = gendered_texts(corpus, "low", PRONOUNS, record="gender")
    drawn = cut(texts, each=4)
    assert texts.paired[drawn.test].all()
    assert len(texts) == 44


def test_a_record_that_is_not_there_is_refused() -> None:
    with refused("gender-study.no-record"):
        gendered_texts(Corpus.of("n", ["She ate."], labels={"low": [1]}), "low", PRONOUNS, record="gender")
