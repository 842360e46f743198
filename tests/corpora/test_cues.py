"""Cues in sentences of our own, and patterns that read any text in linear time."""

from importlib import import_module
from typing import Any

import pytest

from psycheck.corpora.cues import OTHER, _patterns, conditions_of, cue_names, cues_of
from psycheck.report.display_names import words_of

_parser: Any = import_module("re._parser")  # the parser of patterns has no public name

HAS = [
    ("I used to be low all winter.", {"past"}),
    ("That was three years ago and I feel so much better now.", {"past"}),
    ("She is in remission.", {"past"}),
    ("My younger sister has been really depressed lately.", {"other_person"}),
    ("My dad's depression frightens me.", {"other_person"}),
    ("He is so depressed.", {"other_person"}),
    ("I was diagnosed in spring.", {"diagnosis"}),
    ("My misdiagnosis cost a year.", {"diagnosis"}),
    ("They put me on sertraline.", {"medication"}),
    ("The meds make me sleepy.", {"medication"}),
    ("My OCD is loud today.", {OTHER}),
    ("Panic disorder and PTSD run in the house.", {OTHER}),
]
HAS_NOT = [
    "I feel low and cannot sleep.",
    "My sister bought a bicycle.",
    "He is late again.",
    "Depression is all I know.",
    "The Great Depression was long.",
    "I got better shoes.",
    "A dxyz file.",
    "The medal was gold.",
]


@pytest.mark.parametrize(("text", "cues"), HAS)
def test_a_cue_is_found(text: str, cues: set[str]) -> None:
    assert set(cues_of(text, "depression")) == cues


@pytest.mark.parametrize("text", HAS_NOT)
def test_what_only_looks_like_a_cue_is_none(text: str) -> None:
    assert cues_of(text, "depression") == {}


def test_another_disorder_is_one_that_the_label_is_not_about() -> None:
    text = "My anxiety and my depression."
    assert cues_of(text, "depression") == {OTHER: ((3, 10),)}
    assert cues_of(text, "anxiety") == {OTHER: ((18, 28),)}
    assert cues_of(text, "sleep") == {OTHER: ((3, 10), (18, 28))}
    assert conditions_of("depressed") >= {"depression"}


def test_every_cue_has_words_for_the_page() -> None:
    assert set(cue_names()) == set(words_of("words")["cues"]) == set(words_of("words")["cue_says"])


def _repeats(parsed: Any, inside: int = 0) -> list[tuple[int, int]]:
    """The upper bound of every repetition of a pattern, and how many lie around it."""
    found = []
    for operator, argument in parsed:
        name = str(operator)
        if "REPEAT" in name:
            found += [(int(argument[1]), inside), *_repeats(argument[2], inside + (int(argument[1]) > 1))]
        elif name == "BRANCH":
            found += [one for branch in argument[1] for one in _repeats(branch, inside)]
        elif name == "SUBPATTERN":
            found += _repeats(argument[3], inside)
    return found


def test_repetitions_are_bounded_except_the_letters_of_a_word() -> None:
    # Then a match has a bounded number of words, and a text is read in time that grows with its length.
    for name, pattern in _patterns().items():
        found = _repeats(_parser.parse(pattern.pattern))
        assert found, name
        assert all(most <= 4 or (most > 1000 and around == 1) for most, around in found), name
