from random import Random

import numpy as np
import pytest

from psycheck.core.corpus import Corpus
from psycheck.corpora.adversarial import FOLDS, classify_sides, fold_groups, folds_of

LETTERS = "abcdefghijklmnopqrstuvwxyz"


def nonsense(n: int, seed: int) -> list[str]:
    """Texts of made-up words that nothing but a copy can tell."""
    random = Random(seed)
    return [" ".join("".join(random.choices(LETTERS, k=6)) for _ in range(8)) for _ in range(n)]


def test_copies_by_many_authors_teach_nothing() -> None:
    # 50 texts a side, each six times, each time by another author: whoever sees a copy knows its side.
    first, second = nonsense(50, 1) * 6, nonsense(50, 2) * 6
    unknown = classify_sides(Corpus.of("a", first), Corpus.of("b", second))
    known = classify_sides(
        Corpus.of("a", first, author=[f"a{i}" for i in range(300)]),
        Corpus.of("b", second, author=[f"b{i}" for i in range(300)]),
    )
    assert known.values["auc"] == pytest.approx(0.5, abs=0.15)
    assert known.values == unknown.values


def test_a_text_of_several_authors_is_with_who_wrote_it_most_and_ties_nobody() -> None:
    # "Thank you" is by ann twice, by bob and by nobody known; "three" by bob and by nobody known.
    texts = ["one", "Thank you", "thank you!", "THANK YOU", "three", "Three", "thank you", "alone", "..."]
    groups = fold_groups(texts, ["ann", "ann", "ann", "bob", "bob", None, None, None, "cleo"])
    assert len({*groups[:4], groups[6]}) == 1
    assert groups[4] == groups[5] != groups[0]
    assert len({*groups}) == 4


def test_short_texts_that_many_share_do_not_chain_their_authors() -> None:
    # 60 authors write six texts of their own, and two of ten short ones that everybody writes.
    random, own = Random(5), nonsense(360, 4)
    texts, authors = [], []
    for author in range(60):
        texts += own[6 * author : 6 * author + 6] + [
            f"thanks {LETTERS[k]}" for k in random.sample(range(10), 2)
        ]
        authors += [f"a{author}"] * 8
    groups = fold_groups(texts, authors)
    assert all(len({*groups[8 * author : 8 * author + 6]}) == 1 for author in range(60))
    assert all(
        len({group for group, text in zip(groups, texts, strict=True) if text == one}) == 1
        for one in set(texts)
    )
    assert len({*groups}) == 60
    assert max(groups.count(group) for group in {*groups}) < 0.1 * len(groups)


def test_texts_without_a_word_are_copies_only_if_they_are_the_same() -> None:
    assert len({*fold_groups(["!!!", "...", "!!!"], [None] * 3)}) == 2


def test_the_name_of_a_group_does_not_depend_on_the_order() -> None:
    texts, authors = ["x", "y", "y", "z"], ["ann", "ann", "bob", None]
    there, back = fold_groups(texts, authors), fold_groups(texts[::-1], authors[::-1])
    assert there == back[::-1]


def test_reversing_the_rows_changes_no_figure() -> None:
    random = Random(3)
    words = ["rain", "sun", "fog", "snow", "hail", "wind", "frost", "heat"]
    first, second = ([" ".join(random.choices(words[k : k + 6], k=5)) for _ in range(60)] for k in (0, 2))
    there = classify_sides(Corpus.of("x", first), Corpus.of("y", second))
    back = classify_sides(Corpus.of("x", first[::-1]), Corpus.of("y", second[::-1]))
    assert there.values == back.values
    assert there.confusion == back.confusion


def test_folds_keep_groups_whole_and_classes_even() -> None:
    # 20 groups of 3 texts each, half of them of either class, and 40 single texts: 100 in all.
    groups = [f"g{i // 3}" for i in range(60)] + [f"s{i}" for i in range(40)]
    yes = np.array([(i // 3) % 2 for i in range(60)] + [i % 2 for i in range(40)])
    folds = folds_of(groups, yes)
    assert all(len({int(f) for f, own in zip(folds, groups, strict=True) if own == g}) == 1 for g in groups)
    assert [(int((folds == k).sum()), int(yes[folds == k].sum())) for k in range(FOLDS)] == [(20, 10)] * FOLDS


def test_another_seed_makes_other_folds_of_groups_of_different_sizes() -> None:
    groups = [f"g{size}" for size in range(1, 41) for _ in range(size)]
    yes = np.arange(len(groups)) % 2
    made = [folds_of(groups, yes, seed) for seed in (1, 2, 3)]
    # Which texts are in one fold, whatever its number.
    apart = [(fold[:, None] == fold).tobytes() for fold in made]
    assert len({*apart}) == 3
    assert all(np.ptp(np.bincount(fold)) <= 0.1 * len(groups) / FOLDS for fold in made)


def test_another_seed_makes_other_folds() -> None:
    groups, yes = [f"g{i}" for i in range(100)], np.arange(100) % 2
    assert (folds_of(groups, yes, 1) != folds_of(groups, yes, 2)).any()
    assert (folds_of(groups, yes, 1) == folds_of(groups, yes, 1)).all()
