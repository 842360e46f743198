from random import Random

import pytest

from made_words import clean, corpus, flipped, names, sentence
from psycheck.corpora.cautions import cheap_cautions, warnings_of


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
    word = cheap_cautions(corpus(made))[0]
    assert "zebra" not in word.sentence


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
