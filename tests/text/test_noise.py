import re
from typing import get_args

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from psycheck.text.edits import Edited
from psycheck.text.noise import Noise, noise

NAMES = get_args(Noise)
ANY_TEXT = st.text(st.characters())  # lone surrogates too
POSTS = st.lists(
    st.sampled_from(
        [
            *(
                "I",
                "feel",
                "so",
                "tired",
                "today",
                "and",
                "my",
                "work",
                "is",
                "don't",
                "cannot",
                "well-being",
            ),
            *(
                "@someone",
                "#rainyday",
                "https://example.org/Some/Page?q=1",
                "3.5",
                "10:30",
                "yes!!",
                "(maybe)",
            ),
            *(":)", "because", "you", "you're", "people", "REALLY", "Straße", "λόγος", "☕", "…", "\n"),
        ]
    )
).map(" ".join)
TEXTS = st.one_of(ANY_TEXT, POSTS)
SENTENCE = "I feel tired today, because nothing works and people are really far away."


def letters(word: str) -> list[str]:
    return sorted(word)


def rest(edited: Edited) -> list[str]:
    """What stands between the changed places."""
    ends = [0, *(end for _, end in edited.spans)]
    starts = [*(start for start, _ in edited.spans), len(edited.text)]
    return [edited.text[end:start] for end, start in zip(ends, starts, strict=True)]


@pytest.mark.parametrize("name", NAMES)
@settings(max_examples=40)
@given(text=TEXTS)
def test_noise_is_the_same_every_time_and_says_whether_it_changed_anything(name: Noise, text: str) -> None:
    edited = noise(name)(text)
    assert edited == noise(name)(text)
    assert (edited.text != text) == bool(edited.spans)
    assert edited.undecided == 0


@pytest.mark.parametrize("name", [name for name in NAMES if name != "emoji"])
@settings(max_examples=40)
@given(text=TEXTS)
def test_what_lies_outside_the_spans_is_the_text_as_it_was(name: Noise, text: str) -> None:
    edited = noise(name)(text)
    pieces = rest(edited)
    assert text.startswith(pieces[0])
    assert text.endswith(pieces[-1])
    at = 0
    for piece in pieces:
        at = text.index(piece, at) + len(piece)
    assert all(0 <= start <= end <= len(edited.text) for start, end in edited.spans)


@pytest.mark.parametrize("name", ["lower", "upper"])
@settings(max_examples=40)
@given(text=TEXTS)
def test_a_second_time_changes_nothing(name: Noise, text: str) -> None:
    once = noise(name)(text).text
    assert noise(name)(once) == Edited(once, ())


@given(st.text(st.characters(codec="ascii")).filter(lambda text: "://" not in text and "www." not in text))
def test_lower_and_upper_are_those_of_the_language(text: str) -> None:
    assert noise("lower")(text).text == text.lower()
    assert noise("upper")(text).text == text.upper()


def test_case_leaves_addresses_alone_and_marks_what_it_changed() -> None:
    edited = noise("upper")("See https://example.org/a now")
    assert edited.text == "SEE https://example.org/a NOW"
    assert [edited.text[a:b] for a, b in edited.spans] == ["SEE", "NOW"]


@given(POSTS)
def test_a_typo_is_one_slip_inside_a_word_of_four_letters_or_more(text: str) -> None:
    edited = noise("typos")(text)
    before, after = text.split(), edited.text.split()
    assert len(before) == len(after)
    for old, new in zip(before, after, strict=True):
        if old == new:
            continue
        assert len(re.sub(r"\W", "", old)) >= 4
        assert old[0] not in "@#"
        assert not old.startswith("https")
        swapped = letters(old) == letters(new)
        dropped = any(old[:i] + old[i + 1 :] == new for i in range(1, len(old) - 1))
        assert swapped or dropped
        assert old[0] == new[0]


def test_typos_touch_some_words_and_at_least_one() -> None:
    edit = noise("typos")
    assert len(edit("nothing").spans) == 1
    assert edit("I am so sad") == Edited("I am so sad", ())
    long = " ".join(f"{a}{b}word" for a in "abcdefghijklmnopqrst" for b in "abcdefghijklmnopqrst")
    assert 30 <= len(edit(long).spans) <= 105  # 400 words, a sixth is 67, standard deviation 7.5


def test_both_slips_happen() -> None:
    long = " ".join(f"{a}{b}work" for a in "abcdefgh" for b in "abcdefgh")
    edited = noise("typos")(long)
    lengths = {end - start for start, end in edited.spans}
    assert lengths == {5, 6}  # dropped, swapped


def test_an_emoji_is_appended_after_one_space() -> None:
    edited = noise("emoji")("Long day. \n")
    ((start, end),) = edited.spans
    assert edited.text[:start] == "Long day. "
    assert end == len(edited.text)
    assert not edited.text[start:end].isascii()
    assert len({noise("emoji")(f"text {n}").text[-1] for n in range(60)}) > 5


def test_words_are_drawn_out_and_shortened_in_their_case() -> None:
    assert noise("elongation")("So tired, SO sad").text == "Soooo tiiiired, SOOOO saaaad"
    edited = noise("abbreviations")("You’re late because YOUR people said you don't know")
    assert edited.text == "Ur late bc UR ppl said u dunno"


@given(POSTS)
def test_hashtags_only_add_marks_before_words(text: str) -> None:
    edited = noise("hashtags")(text)
    spans = [edited.text[start:end] for start, end in edited.spans]
    assert all(re.fullmatch(r"#[^\W\d_]{4,}", word) for word in spans)
    assert len(edited.text) == len(text) + len(spans)


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("Well, I tried. It failed!!", "Well I tried It failed"),
        ("at 10:30 it was 3.5 (cold)", "at 10:30 it was 3.5 cold"),
        ("fine :). so-so :( fun:)!", "fine :) so-so :( fun:)"),
        ("don't (like this): ok", "don't like this ok"),
        ("see https://example.org/a. Now!", "see https://example.org/a. Now"),
        ("@you #sad…", "@you #sad"),
    ],
)
def test_punctuation_goes_and_what_belongs_to_a_word_stays(text: str, expected: str) -> None:
    assert noise("punctuation")(text).text == expected


@given(POSTS)
def test_spaces_are_doubled_and_nothing_else(text: str) -> None:
    edited = noise("spaces")(text)
    assert edited.text.split() == text.split()
    assert all(edited.text[start:end] == "  " for start, end in edited.spans)


@pytest.mark.parametrize("name", NAMES)
def test_every_noise_changes_an_ordinary_sentence(name: Noise) -> None:
    assert noise(name)(SENTENCE).spans


@pytest.mark.parametrize("piece", ["(", "[)", ":(", "(:", "o(", "='", "a(", "!?"])
def test_noise_comes_to_an_end_with_200_000_marks(piece: str) -> None:
    # A search for a face that began anew at every bracket of a row would take minutes.
    marks = piece * (200_000 // len(piece))
    for name in NAMES:
        assert noise(name)(marks).undecided == 0
    assert noise("punctuation")("(" * 200_000).text == ""
