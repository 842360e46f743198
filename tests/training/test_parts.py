from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from psycheck.core.corpus import Corpus
from psycheck.core.errors import BadInput
from psycheck.training.card import described
from psycheck.training.parts import dev_rows, held_out, parts_of
from psycheck.training.recipe import Recipe
from refusals import refused


def ten(split: list[str | None] | None = None, labels: list[float | None] | None = None) -> Corpus:
    marks = labels or [0, 1] * 5
    return Corpus.of("ten", [f"text {i}" for i in range(10)], labels={"low": marks}, split=split)


def test_the_split_column_decides() -> None:
    split: list[str | None] = [*["train"] * 6, *["valid"] * 2, *["test"] * 2]
    parts = parts_of(ten(split), Recipe())
    assert sorted(parts.train.texts) == [f"text {i}" for i in range(6)]
    assert sorted(parts.dev.texts) == ["text 6", "text 7"]
    test = held_out(ten(split))
    assert test is not None
    assert test.texts == ["text 8", "text 9"]


def test_without_dev_it_says_how() -> None:
    with refused("corpus.no-dev-split", do="`dev_share=0.1`"):
        parts_of(ten(), Recipe())
    parts = parts_of(ten(), Recipe(dev_share=0.2))
    assert (len(parts.train), len(parts.dev)) == (8, 2)
    assert sorted(parts.dev.targets[:, 0]) == [0, 1]


def test_texts_without_any_annotation_are_left_out_and_counted() -> None:
    parts = parts_of(ten([*["train"] * 6, *["dev"] * 4], [0, 1, None, 0, 1, None, 1, 0, None, 1]), Recipe())
    assert (len(parts.train), len(parts.dev), parts.left_out) == (4, 3, 3)


def test_a_label_of_one_half_is_of_no_class() -> None:
    split: list[str | None] = [*["train"] * 6, *["dev"] * 4]
    with refused("train.one-class", what="'low': 0 of 5"):
        parts_of(ten(split, [0, 0, 0, 0, 0, 0.5, 1, 0, 1, 0]), Recipe())
    parts = parts_of(ten(split, [0, 1, 0.5, 1, 0, 0.5, 1, 0, 1, 0]), Recipe())
    train = described(parts, 0.0)["train"]
    assert (train["annotated"], train["positive"], train["undecided"]) == ({"low": 6}, {"low": 2}, {"low": 2})


def test_one_class_and_unknown_labels_are_refused() -> None:
    split: list[str | None] = [*["train"] * 6, *["dev"] * 4]
    with refused("train.one-class", what="'low': 0 of 6"):
        parts_of(ten(split, [0, 0, 0, 0, 0, 0, 1, 0, 1, 0]), Recipe())
    with pytest.raises(BadInput, match="no label 'lwo'"):
        parts_of(ten(split), Recipe(labels=("lwo",)))
    with refused("train.no-annotation", what="dev of corpus 'ten'"):
        parts_of(ten(split, [0, 1, 0, 1, 0, 1, None, None, None, None]), Recipe())


def test_one_class_in_train_says_that_no_weight_helps() -> None:
    split: list[str | None] = [*["train"] * 6, *["dev"] * 4]
    with refused("train.one-class", what="'low'") as caught:
        parts_of(ten(split, [1, 1, 1, 1, 1, 1, 1, 0, 1, 0]), Recipe(class_weights=True))
    assert "a model cannot learn from one class, even with class weights" in caught.value.allowed
    with refused("train.no-annotation", what="train of corpus 'ten'"):
        parts_of(ten(split, [None] * 6 + [1, 0, 1, 0]), Recipe(labels=("low",)))


def test_dev_of_one_class_cannot_choose_by_f1() -> None:
    split: list[str | None] = [*["train"] * 6, *["dev"] * 4]
    one_class = ten(split, [0, 1, 0, 1, 0, 1, 0, 0, 0, 0])
    assert len(parts_of(one_class, Recipe()).dev) == 4
    with refused("train.one-class", what="'low': 0 of 4") as caught:
        parts_of(one_class, Recipe(criterion="dev_f1"))
    assert "dev_loss" in caught.value.do


def test_data_is_named_by_what_training_sees() -> None:
    split: list[str | None] = [*["train"] * 6, *["dev"] * 4]
    one, other = parts_of(ten(split), Recipe()), parts_of(ten(split, [1, 0] * 5), Recipe())
    assert one.train.fingerprint() == parts_of(ten(split), Recipe()).train.fingerprint()
    assert one.train.fingerprint() != other.train.fingerprint()


@settings(max_examples=40, deadline=None)
@given(
    st.lists(st.tuples(st.integers(0, 6), st.integers(0, 1)), min_size=20, max_size=80),
    st.integers(0, 5),
)
def test_no_author_is_cut_in_two(rows: list[tuple[int, int]], seed: int) -> None:
    corpus = Corpus.of(
        "c",
        ["t"] * len(rows),
        labels={"low": [mark for _, mark in rows]},
        author=[f"a{author}" for author, _ in rows],
    )
    try:
        picked = dev_rows(corpus, Recipe(dev_share=0.3, seed=seed))
    except BadInput:
        return  # so few authors that none is nearer to the share than none at all
    authors = np.array([author for author, _ in rows])
    assert not set(authors[picked]) & set(authors[~picked])
    assert (picked == dev_rows(corpus, Recipe(dev_share=0.3, seed=seed))).all()


def test_dev_holds_the_same_texts_whatever_their_order() -> None:
    corpus = Corpus.of(
        "c", [f"t{i}" for i in range(50)], labels={"low": [float(i % 5 == 0) for i in range(50)]}
    )
    recipe = Recipe(dev_share=0.2, seed=4)
    turned = replace(corpus, table=corpus.table.reverse())
    one, other = (set(each.only(dev_rows(each, recipe)).ids) for each in (corpus, turned))
    assert len(one) == 10
    assert one == other
    assert one != set(corpus.only(dev_rows(corpus, replace(recipe, seed=5))).ids)


def test_dev_keeps_the_mix_of_labels() -> None:
    corpus = Corpus.of("c", ["t"] * 100, labels={"low": [float(i < 20) for i in range(100)]})
    picked = dev_rows(corpus, Recipe(dev_share=0.1, seed=3))
    assert (picked[:20].sum(), picked[20:].sum()) == (2, 8)
