import sys
from random import Random
from time import process_time

import pytest
from hypothesis import given
from hypothesis import strategies as st

from psycheck.corpora.cautions import Caution, cheap_cautions, warnings_of
from psycheck.corpora.near import near_duplicates
from psycheck.corpus import Corpus
from psycheck.demo.generate import SHIPPED_N, generate, open_demo
from psycheck.errors import MissingExtra
from psycheck.measures.intervals import wilson
from psycheck.text.words import plain_text, shingles
from psycheck.verbs.compare import compare_corpora

CHEAP = {"authors_across_splits", "duplicates_across_splits", "single_word", "length", "imbalance"}
THINGS = [
    f"{a}{b}{c}" for a in "bdfgklm" for b in ("a", "e", "o", "ui") for c in ("lt", "rn", "st", "ng", "p")
]


def sentence(random: Random, words: int = 0) -> str:
    return " ".join(random.choice(THINGS) for _ in range(words or random.randint(10, 20)))


def clean(n: int = 300, seed: int = 1) -> dict[str, list[object]]:
    """Texts of made-up words whose label depends on nothing, each author in one split."""
    random = Random(seed)
    return {
        "text": [sentence(random) for _ in range(n)],
        "author": [f"a{i // 4}" for i in range(n)],
        "split": ["train" if i < n * 2 // 3 else "test" for i in range(n)],
        "label": [i % 2 for i in range(n)],
    }


def corpus(made: dict[str, list[object]]) -> Corpus:
    return Corpus.of(
        "made",
        [str(text) for text in made["text"]],
        author=[str(who) for who in made["author"]],
        split=[str(split) for split in made["split"]],
        labels={"low": [None if mark is None else float(str(mark)) for mark in made["label"]]},
    )


def names(cautions: tuple[Caution, ...]) -> list[str]:
    return [caution.name for caution in cautions]


def test_a_clean_corpus_has_no_caution() -> None:
    assert warnings_of(corpus(clean())) == ()


@pytest.mark.parametrize("name", SHIPPED_N)
def test_the_demo_corpora_have_no_caution(name: str) -> None:
    assert warnings_of(open_demo(name)) == ()


def test_planted_names_are_found() -> None:
    made = clean()
    made["text"] = [str(text).replace("feng", "fern") for text in made["text"]]  # the one name among THINGS
    for i in range(0, 300, 30):
        made["text"][i] = f"{made['text'][i]} and my sister Ngozi left"
    (caution,) = warnings_of(corpus(made), called="posts.csv")
    assert (caution.name, caution.figure, caution.n) == ("personal_data", 10 / 300, 300)
    assert caution.ids == tuple(str(i + 1) for i in range(0, 300, 30))
    assert caution.command == "psycheck redact posts.csv --out mended.csv"
    assert "Ngozi" not in caution.sentence


@pytest.mark.parametrize("hidden", ["@moonwalker", "#moonwalker", "Moonwalker", "moon99", "ngozi"])
def test_a_word_that_may_name_somebody_is_not_shown_unless_asked_for(hidden: str) -> None:
    made = clean()
    for i in range(300):
        if made["label"][i]:
            made["text"][i] = f"{made['text'][i]} {hidden}"
    bare = hidden.lstrip("@#").lower()
    (word,) = cheap_cautions(corpus(made), called="posts.csv")
    assert bare not in word.sentence.lower()
    assert word.sentence.startswith("One word (not shown here) alone tells low")
    assert word.command == "psycheck compare posts.csv --warn --show-texts"
    (shown,) = cheap_cautions(corpus(made), called="posts.csv", show=True)
    assert f"'{bare}'" in shown.sentence
    assert shown.command == f"psycheck clean posts.csv --without-word {bare} --out mended.csv"


def test_a_word_of_few_authors_is_not_shown() -> None:
    made = clean()
    made["author"] = [f"a{i % 4}" for i in range(300)]
    made["split"] = ["train"] * 300
    for i in range(300):
        if made["label"][i]:
            made["text"][i] = f"{made['text'][i]} zebra"
    (word,) = cheap_cautions(corpus(made))
    assert "zebra" not in word.sentence


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
        "authors_across_splits", "duplicates_across_splits", "single_word",
    }  # fmt: skip


def test_near_copies_are_found_where_exact_ones_are_not() -> None:
    made = clean()
    for i in range(200, 210):
        made["text"][i] = f"{made['text'][i - 200]} indeed!"
    got = warnings_of(corpus(made))
    assert names(got) == ["near_duplicates_across_splits"]
    assert got[0].figure == 10 / 100
    assert cheap_cautions(corpus(made)) == ()


def test_every_copy_of_a_near_copy_counts() -> None:
    made = clean()
    made["text"][0] = f"{made['text'][250]} indeed"
    for i in range(251, 256):
        made["text"][i] = made["text"][250]
    near = next(c for c in warnings_of(corpus(made)) if c.name == "near_duplicates_across_splits")
    assert near.ids == tuple(str(i) for i in range(251, 257))


def test_length_that_tells_the_label() -> None:
    made, random = clean(), Random(2)
    made["text"] = [sentence(random, 20 if mark else 10) for mark in made["label"]]
    got = warnings_of(corpus(made))
    assert names(got) == ["length"]
    assert got[0].figure == 1
    made["text"] = [sentence(random, 10 if mark else 20) for mark in made["label"]]
    assert names(cheap_cautions(corpus(made))) == ["length"]


def test_lengths_that_do_not_overlap_cannot_be_balanced_and_no_command_is_given() -> None:
    made, random = clean(), Random(2)
    made["text"] = [sentence(random, 20 if mark else 10) for mark in made["label"]]
    (apart,) = cheap_cautions(corpus(made))
    assert apart.command == ""
    assert apart.sentence.endswith("balancing them cannot help, it would leave 0 of 300 texts.")
    assert apart.finding().where["command"] == ""
    # Every third text of the shorter class is as long as the others: 50 of 150 find a partner, 100 stay.
    made["text"] = [
        sentence(random, 20 if mark or i % 3 == 0 else 10) for i, mark in enumerate(made["label"])
    ]
    (near,) = cheap_cautions(corpus(made), called="posts.csv")
    assert near.command == "psycheck clean posts.csv --balance-length low --out mended.csv"


def test_a_length_that_is_one_word_more_is_mended_by_taking_the_word_out() -> None:
    made, random = clean(), Random(3)
    made["text"] = [sentence(random, 25) + " zebra" * int(str(mark)) for mark in made["label"]]
    word, length = cheap_cautions(corpus(made), called="posts.csv")
    assert (word.name, length.name, length.figure) == ("single_word", "length", 1)
    assert length.command == word.command == "psycheck clean posts.csv --without-word zebra --out mended.csv"
    assert length.sentence.endswith(
        "the word 'zebra' that makes the difference: without it the length tells little."
    )


def test_a_length_that_tells_without_the_word_is_balanced_after_it_is_taken_out() -> None:
    made, random = clean(), Random(4)
    made["text"] = [
        sentence(random, random.randint(14, 24) if mark else random.randint(8, 17))
        + " zebra" * int(str(mark))
        for mark in made["label"]
    ]
    word, length = cheap_cautions(corpus(made), called="posts.csv")
    assert length.command == (
        "psycheck clean posts.csv --without-word zebra --balance-length low --out mended.csv"
    )
    made["text"] = [str(text).replace("zebra", "@moonwalker") for text in made["text"]]
    word, length = cheap_cautions(corpus(made), called="posts.csv")
    assert "moonwalker" not in length.sentence + length.command
    assert length.command == word.command == "psycheck compare posts.csv --warn --show-texts"


def test_a_keyword_in_all_positives_is_found_though_it_takes_several_forms() -> None:
    made, random = clean(), Random(3)
    forms = ("thundering", "thunder", "thunderous")
    for i, mark in enumerate(made["label"]):
        if mark or i % 5 == 0:
            made["text"][i] = f"{made['text'][i]} {random.choice(forms)}"
    got = {c.name: c for c in warnings_of(corpus(made))}
    assert set(got) == {"keyword_label"}
    assert got["keyword_label"].figure == 1
    assert "'thunde'" in got["keyword_label"].sentence


def test_turned_labels_are_doubted() -> None:
    made, random = clean(), Random(4)
    signs = ("zebra", "lion", "tiger")
    turned = set(range(0, 300, 7))
    for i, mark in enumerate(made["label"]):
        own = signs if (bool(mark) != (i in turned)) else ("oak", "elm", "ash")
        made["text"][i] = f"{made['text'][i]} {random.choice(own)} {random.choice(own)}"
    doubted = next(c for c in warnings_of(corpus(made)) if c.name == "label_noise")
    assert 0.06 < doubted.figure < len(turned) / 300 + 0.02
    suspects = {int(id_) - 1 for id_ in doubted.ids}
    assert len(suspects & turned) / len(suspects) > 0.9


def test_imbalance_and_one_class() -> None:
    made = clean()
    made["label"] = [int(i % 20 == 0) for i in range(300)]
    got = cheap_cautions(corpus(made))
    assert [(c.name, c.figure) for c in got] == [("imbalance", 0.95)]
    made["label"] = [1] * 300
    assert [c.figure for c in cheap_cautions(corpus(made))] == [1.0]


def test_labels_that_are_missing_in_one_split() -> None:
    made = clean()
    made["label"] = [None if i >= 200 else i % 2 for i in range(300)]
    got = warnings_of(corpus(made))
    assert names(got) == ["missing_labels"]
    assert "follows split (Cramér's V" in got[0].sentence
    assert got[0].command == "psycheck clean made --annotated low --out mended.csv"
    random = Random(5)
    made["label"] = [None if random.random() < 0.3 else i % 2 for i in range(300)]
    assert warnings_of(corpus(made)) == ()


def without_split(made: dict[str, list[object]]) -> Corpus:
    return Corpus("made", corpus(made).table.drop("split"))


def flipped(marks: list[object], share: float = 0.1) -> list[object]:
    """The labels, a share of them wrong."""
    wrong = set(Random(9).sample(range(len(marks)), round(share * len(marks))))
    return [1 - int(str(mark)) if i in wrong else mark for i, mark in enumerate(marks)]


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


def test_a_classifier_that_knows_the_writers_is_a_caution() -> None:
    # Each author has a word of his own, and one label but for a tenth of the texts.
    made = clean(600)
    made["author"] = [f"a{i // 10}" for i in range(600)]
    made["text"] = [f"{text} {THINGS[i // 10]}{THINGS[i // 10 + 1]}" for i, text in enumerate(made["text"])]
    made["label"] = flipped([i // 10 % 2 for i in range(600)])
    got = {c.name: c for c in warnings_of(without_split(made))}
    assert set(got) == {"label_of_author", "author_folds"}
    leak = got["author_folds"]
    assert leak.figure > 0.2
    assert leak.interval is not None
    assert leak.interval[0] > 0
    assert "on authors that it has not seen" in leak.sentence
    assert warnings_of(corpus(clean(600))) == ()


def test_shares_of_texts_are_clustered_by_author() -> None:
    """Two of 20 authors, with ten texts each, have all the texts annotated 0: 0.9 of 20 authors.

    Each author moves the share by 0.1 × 10 / 200 or 0.9 × 10 / 200, by 1 / 0.95 of it when left out: the
    variance is (18 × 0.005² + 2 × 0.045²) / 0.95² = 0.004986, that of 0.09 / 0.004986 = 18.05 texts.
    """
    made = clean(200)
    made["author"] = [f"a{i // 10}" for i in range(200)]
    made["label"] = [float(i >= 20) for i in range(200)]
    (found,) = [one for one in cheap_cautions(without_split(made)) if one.name == "imbalance"]
    assert found.figure == 0.9
    assert found.interval is not None
    # 2 (Σp²)² / Σp⁴ = 4.9 authors decide the variance: t(3.9) is 2.80.
    assert found.interval == pytest.approx(wilson(0.9 * 18.05, 18.05, 2.80), abs=0.005)
    made["author"] = [f"a{i // 20}" for i in range(200)]
    (few,) = [one for one in cheap_cautions(without_split(made)) if one.name == "imbalance"]
    assert few.interval is None  # 10 authors


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


def test_a_copy_with_a_label_of_one_half_contradicts_nothing() -> None:
    made = clean()
    for i in range(0, 30, 2):
        made["text"][i + 101] = f"{made['text'][i]}!"
        made["label"][i + 101] = 0.5  # the originals are annotated 0
    assert "conflicting_labels" not in names(warnings_of(without_split(made), called="posts.csv"))


@pytest.mark.parametrize("debris", ["donâ€™t", "&amp;", "don â t", "this amp that"])
def test_remains_of_an_encoding_that_tell_the_label_are_a_caution(debris: str) -> None:
    made = clean()
    wrong = flipped(made["label"])
    for i, mark in enumerate(made["label"]):
        if mark and i % 10 < 4:  # 30 of 150 texts, hidden from any single word's caution
            made["text"][i] = f"{made['text'][i]} {debris}"
    made["label"] = wrong
    (caution,) = warnings_of(corpus(made), called="posts.csv")
    assert (caution.name, caution.n) == ("encoding_debris", 300)
    assert 0.55 <= caution.figure < 0.7
    repaired = "psycheck clean posts.csv --step html --step encoding --out mended.csv"
    assert caution.command == (repaired if debris in ("donâ€™t", "&amp;") else "")
    # In both classes alike it tells nothing; nor do words that only look like it.
    made["text"] = [f"{text} {debris}" for text in clean()["text"]]
    assert warnings_of(corpus(made)) == ()


@pytest.mark.parametrize("fault", ["single_word", "length", "keyword_label"])
def test_shortcuts_are_found_though_a_tenth_of_the_labels_is_wrong(fault: str) -> None:
    made, random = clean(600), Random(7)
    for i, mark in enumerate(made["label"]):
        if fault == "length":
            made["text"][i] = sentence(random, random.randint(14, 20) if mark else random.randint(8, 14))
        elif mark or (fault == "keyword_label" and i % 8 == 0):
            ending = random.choice(("", "ing", "ous")) if fault == "keyword_label" else ""
            made["text"][i] = f"{made['text'][i]} thunder{ending}"
    made["label"] = flipped(made["label"])
    assert fault in names(warnings_of(corpus(made)))


def test_labels_that_are_blank_together_are_one_fact() -> None:
    random = Random(8)
    texts = [sentence(random) for _ in range(400)]
    blank = [random.random() < 0.4 for _ in texts]
    labels: dict[str, list[float | None]] = {
        name: [None if gone else float(random.random() < 0.5) for gone in blank]
        for name in ("low", "fear", "anger")
    }
    assert warnings_of(Corpus.of("made", texts, labels=labels)) == ()
    # A fourth label is known for all texts, and the three are missing mostly where it is 1.
    labels["ill"] = [float(gone != (random.random() < 0.1)) for gone in blank]
    (caution,) = warnings_of(Corpus.of("made", texts, labels=labels))
    assert (caution.name, caution.label) == ("missing_labels", "low")
    assert "follows the value of ill, as for 2 other labels missing in the same texts" in caution.sentence


def test_splits_and_labels_need_not_be_there() -> None:
    assert warnings_of(Corpus.of("bare", ["a b", "c d"])) == ()
    assert cheap_cautions(Corpus.of("few", ["a", "b"], labels={"low": [1, 0]})) == ()


def test_cheap_cautions_need_no_extra_and_the_others_say_so(monkeypatch: pytest.MonkeyPatch) -> None:
    for module in ("rensa", "cleanlab", "cleanlab.filter"):
        monkeypatch.setitem(sys.modules, module, None)
    assert cheap_cautions(corpus(clean())) == ()
    with pytest.raises(MissingExtra, match="extra 'compare'"):
        warnings_of(corpus(clean()))


def test_cheap_cautions_are_among_all_and_quick() -> None:
    big = generate("tweets", 5_000, 1)
    cheap_cautions(big)
    started = process_time()
    got = cheap_cautions(big)
    assert process_time() - started < 1
    assert set(names(got)) <= CHEAP


def test_a_caution_is_a_finding_of_the_run() -> None:
    made = clean()
    made["author"] = ["a0"] * 300
    run = compare_corpora([corpus(made)], warn=True)
    (finding,) = run.findings
    assert finding.measure == "caution"
    assert finding.where["caution"] == "authors_across_splits"
    assert finding.value == 1
    assert finding.where["sentence"].startswith("100.0 % of the 100 texts outside train")
    assert len(run.tables["cautions"]) == len(finding.examples) == 50


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
