import pytest

from made_words import clean, corpus, flipped, names, without_split
from psycheck.corpora.cautions import cheap_cautions, warnings_of


def test_planted_leak_shortcut_and_author_overlap_are_all_found() -> None:
    made = clean()
    for i in range(200, 220):
        made["text"][i] = made["text"][i - 200]  # copies of train in test
        made["author"][i] = "a0"  # by an author of train
    for i in range(300):
        if made["label"][i]:
            made["text"][i] = f"{made['text'][i]} zebra"
    got = warnings_of(corpus(made), called="posts.csv")
    assert {"authors_across_splits", "duplicates_across_splits", "near_duplicates_across_splits"} <= set(
        names(got)
    )
    word = next(c for c in got if c.name == "single_word")
    assert (word.figure, word.n, word.label) == (1.0, 300, "low")
    assert "'zebra'" in word.sentence
    assert word.clean == ("--without-word zebra",)
    options = "--resplit 6:2:2 --drop-near-duplicates --without-word zebra"
    assert {c.command for c in got} == {f"psycheck clean posts.csv {options} --out mended.csv"}
    copies = next(c for c in got if c.name == "duplicates_across_splits")
    assert (copies.figure, copies.n) == (20 / 100, 100)
    assert copies.ids == tuple(str(i) for i in range(201, 221))
    assert set(names(cheap_cautions(corpus(made)))) == {
        "authors_across_splits", "duplicates_across_splits", "near_duplicates_across_splits", "single_word",
    }  # fmt: skip


def test_near_copies_are_found_where_exact_ones_are_not() -> None:
    made = clean()
    for i in range(200, 210):
        made["text"][i] = f"{made['text'][i - 200]} indeed!"
    got = warnings_of(corpus(made))
    assert names(got) == ["near_duplicates_across_splits"]
    assert got[0].figure == 10 / 100
    assert cheap_cautions(corpus(made)) == got


def test_every_copy_of_a_near_copy_counts() -> None:
    made = clean()
    made["text"][0] = f"{made['text'][250]} indeed"
    for i in range(251, 256):
        made["text"][i] = made["text"][250]
    near = next(c for c in warnings_of(corpus(made)) if c.name == "near_duplicates_across_splits")
    assert near.ids == tuple(str(i) for i in range(251, 257))


@pytest.mark.parametrize("share", [0, 0.1])
@pytest.mark.parametrize("each", [2, 6])
def test_one_label_per_author_is_a_caution_where_no_split_keeps_authors_apart(
    each: int, share: float
) -> None:
    made = clean(600)
    made["author"] = [f"a{i // each}" for i in range(600)]
    made["label"] = flipped([i // each % 2 for i in range(600)], share)
    (caution,) = warnings_of(without_split(made), called="posts.csv")
    assert caution.name == "label_of_author"
    # Of wrong labels a tenth: two texts agree in .9² + .1² = 82 % of cases, where chance has 50 %: .64.
    assert caution.figure == pytest.approx(0.64 if share else 1, abs=0.12 if share else 1e-9)
    assert caution.command == "psycheck clean posts.csv --resplit 6:2:2 --out mended.csv"
    made["label"] = [i % 2 for i in range(600)]
    assert warnings_of(without_split(made)) == ()


def test_repeated_texts_and_copies_with_two_labels_are_cautions_without_a_split() -> None:
    made = clean()
    for i in range(0, 30, 2):
        made["text"][i + 101] = f"{made['text'][i]}!"  # 15 copies, each with the other label
    got = {c.name: c for c in warnings_of(without_split(made), called="posts.csv")}
    assert set(got) == {"repeated_texts", "conflicting_labels"}
    assert got["repeated_texts"].figure == 15 / 300
    assert got["repeated_texts"].ids == tuple(str(i + 102) for i in range(0, 30, 2))
    assert got["repeated_texts"].command == "psycheck clean posts.csv --drop-near-duplicates --out mended.csv"
    assert got["conflicting_labels"].figure == 30 / 300
