import re
from typing import get_args

import pytest
from hypothesis import given
from hypothesis import strategies as st

from psycheck.text.edits import Edited
from psycheck.text.person import Person, shift_person

FIRST = [
    "I",
    "i",
    "me",
    "my",
    "My",
    "mine",
    "myself",
    "I'm",
    "I’ve",
    "I'd",
    "I'll",
    "im",
    "ive",
    "MY",
    "(me)",
    "me,",
]
THIRD = ["he", "She", "they're", "she’s", "HIS", "her", "hers", "him", "them", "their", "himself", "he/she"]
OTHER = [
    "ill",
    "id",
    "iPhone",
    "we",
    "our",
    "you",
    "mess",
    "Them-all",
    "it",
    "meh",
    "day.",
    "@me",
    "#my",
    "shed",
]
FIRST_LEFT = re.compile(r"(?<![\w@#])(?:i|me|my|mine|myself|im|ive)(?![\w])", re.I)


def they(text: str) -> str:
    return shift_person("they")(text).text


def he(text: str) -> str:
    return shift_person("he")(text).text


def to_i(text: str) -> str:
    return shift_person("I")(text).text


def test_every_form_to_they_he_and_she() -> None:
    text = "I hurt myself, it made me lose my job; the fault was mine."
    assert they(text) == "They hurt themselves, it made them lose their job; the fault was theirs."
    assert he(text) == "He hurt himself, it made him lose his job; the fault was his."
    assert shift_person("she")(text).text == "She hurt herself, it made her lose her job; the fault was hers."


def test_spans_mark_what_changed() -> None:
    edited = shift_person("they")("So I lost my way")
    assert edited == Edited("So they lost their way", ((3, 7), (13, 18)))


def test_verbs_are_left_alone_as_published() -> None:
    assert they("I am sad and I was tired") == "They am sad and they was tired"


def test_contractions_are_one_word_and_become_correct() -> None:
    assert (
        they("I'm here, I've eaten, I'd go, I'll stay")
        == "They're here, they've eaten, they'd go, they'll stay"
    )
    assert he("I’m here, I’ve eaten, I’d’ve gone") == "He’s here, he’s eaten, he’d’ve gone"


def test_contractions_without_apostrophe_only_where_they_are_no_other_word() -> None:
    assert they("im sad and ive tried, i feel ill, lost my id") == (
        "theyre sad and theyve tried, they feel ill, lost their id"
    )
    assert they("IM me") == "IM them"


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("Then I left. I cried", "Then he left. He cried"),
        ('She said, "I know"', 'She said, "He know"'),
        ("It ended (I think) badly", "It ended (he think) badly"),
        ("one\nI two", "one\nHe two"),
        ("i left. i cried", "he left. he cried"),
        ("WHY AM I SO TIRED", "WHY AM HE SO TIRED"),
        ("I HATE this", "He HATE this"),
        ("MY life, My life", "HIS life, His life"),
        ("I'M DONE", "HE'S DONE"),
        ("'do I?' I—", "'do he?' he—"),
        ("“Why?” I said", "“Why?” he said"),
    ],
)
def test_capitals_come_from_the_place_in_the_sentence(text: str, expected: str) -> None:
    assert he(text) == expected


@pytest.mark.parametrize(
    "text",
    [
        "bipolar I disorder and type I diabetes",
        "World War I.",
        "i.e. the I/O of an iPhone on I-95",
        "i) sleep (i) food",
        "A.I. and I.D.",
        "a museum by I. M. Pei",
        "the letter i, the letter I is missing",
        "Elizabeth I reigned after Pius I.",
        "Oh my god, omg my god, my goodness, my gosh",
        "My word! Oh my word, that hurt",
        "the coal mine and a mine shaft",
        "ME/CFS",
        "@me #my https://my.site/me",
    ],
)
def test_what_is_no_pronoun_is_left_alone(text: str) -> None:
    assert shift_person("they")(text) == Edited(text, ())


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("So do I. I am tired.", "So do he. He am tired."),
        ("So do I. A friend came by.", "So do he. A friend came by."),
        ("So do I. J. left", "So do he. J. left"),
        ("nobody knows but i. i am sad. so am i. a lot.", "nobody knows but he. he am sad. so am he. a lot."),
        ("so am i.i feel sad", "so am he.he feel sad"),
        ("the letter I wrote", "the letter he wrote"),
        ("With Mary I felt safe", "With Mary he felt safe"),
        ("my word is good, my godson", "his word is good, his godson"),
    ],
)
def test_what_only_looks_like_a_letter_is_a_pronoun(text: str, expected: str) -> None:
    assert he(text) == expected


def test_a_verb_after_the_letter_makes_it_a_pronoun() -> None:
    assert they("the type I like, the stage I am at") == "the type they like, the stage they am at"


def test_every_form_to_i() -> None:
    assert to_i("They saw them; their fault is theirs, themselves") == "I saw me; my fault is mine, myself"
    assert to_i("He saw him; his dog. The dog is his, himself") == "I saw me; my dog. The dog is mine, myself"
    assert to_i("She told her mother, who saw her; it is hers") == "I told my mother, who saw me; it is mine"


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("he's sad", "I'm sad"),
        ("she’s been there", "I’ve been there"),
        ("he's never had one", "I've never had one"),
        ("she's depressed", "I'm depressed"),
        ("she's stopped", "I've stopped"),
        ("he's done", "I'm done"),
        ("he's done nothing", "I've done nothing"),
        ("they're late, they've gone, they'd go, they'll go", "I'm late, I've gone, I'd go, I'll go"),
        ("HE'S LATE", "I'M LATE"),
        ("hes late", "Im late"),
    ],
)
def test_contractions_to_i(text: str, expected: str) -> None:
    assert to_i(text) == expected


def test_pairs_become_one_word_and_pronoun_labels_stay() -> None:
    assert to_i("he/she lost his or her dog, s/he saw him/her") == "I lost my dog, I saw me"
    assert to_i("she/her and they/them") == "she/her and they/them"


def test_what_cannot_be_decided_is_left_and_counted() -> None:
    assert shift_person("I")("So we gave her money") == Edited("So we gave her money", (), 1)


@given(
    st.lists(st.sampled_from(OTHER), max_size=12),
    st.sampled_from(get_args(Person)),
    st.booleans(),
)
def test_without_a_pronoun_the_text_is_unchanged(words: list[str], to: Person, agreement: bool) -> None:
    text = " ".join(words)
    assert shift_person(to, agreement=agreement)(text) == Edited(text, ())


@given(st.lists(st.sampled_from([*FIRST, "day", "we", "feel", "was"]), max_size=12), st.booleans())
def test_no_first_person_is_left(words: list[str], agreement: bool) -> None:
    edited = shift_person("they", agreement=agreement)(" ".join(words))
    assert FIRST_LEFT.search(edited.text) is None


@given(
    st.lists(
        st.sampled_from(FIRST + THIRD + OTHER + ["am", "is", "have", "do", "and", "or", "feels", "\n"]),
        max_size=14,
    ),
    st.sampled_from(get_args(Person)),
    st.booleans(),
)
def test_text_outside_the_spans_is_the_original(words: list[str], to: Person, agreement: bool) -> None:
    text = " ".join(words)
    edited = shift_person(to, agreement=agreement)(text)
    ends = [0, *(end for _, end in edited.spans)]
    starts = [*(start for start, _ in edited.spans), len(edited.text)]
    outside = [edited.text[a:b] for a, b in zip(ends, starts, strict=True)]
    assert all(a < b for a, b in edited.spans)
    assert re.fullmatch(".+?".join(map(re.escape, outside)), text, re.S)
    assert bool(edited.spans) == (edited.text != text)


@given(
    st.text(alphabet=st.one_of(st.characters(), st.sampled_from("iImMeEyY hHsStTr'’./)(-\nſıİ"))),
    st.sampled_from(get_args(Person)),
)
def test_any_text_can_be_edited(text: str, to: Person) -> None:
    edited = shift_person(to, agreement=True)(text)
    assert edited.spans or edited.text == text
