"""Long texts cost what they are long: the work of an edit is counted, not timed."""

import sys
from collections.abc import Callable
from types import FrameType

import pytest

from psycheck.text.edits import Edited
from psycheck.text.gender.edits import gender_of, names_besides, swap
from psycheck.text.gender.placebo import placebo
from psycheck.text.gender.scope import scope_of

SCOPE = scope_of(["nouns,titles"])
PHRASE = "My mother said that she would maybe call her sister, and he told his wife that they were happy. "


def swapped_with_placebo(text: str) -> Edited:
    return placebo(text, swap(SCOPE)(text))


def genders(text: str) -> object:
    return gender_of(text, SCOPE), names_besides(text, SCOPE)


def calls(edit: Callable[[str], object], text: str) -> int:
    """How many functions are called to edit a text, those of C included."""
    count = 0

    def counting(_frame: FrameType, event: str, _argument: object) -> None:
        nonlocal count
        count += event in ("call", "c_call")

    sys.setprofile(counting)
    try:
        edit(text)
    finally:
        sys.setprofile(None)
    return count


@pytest.mark.parametrize("edit", [swapped_with_placebo, genders])
def test_the_gender_edits_of_a_long_text_are_linear_in_its_length(edit: Callable[[str], object]) -> None:
    edit(PHRASE)  # patterns are compiled once
    short = calls(edit, PHRASE * 100)
    assert calls(edit, PHRASE * 400) <= 4.4 * short


def test_a_long_text_without_a_blank_is_left_alone() -> None:
    text = "she" * 100_000
    assert swap(SCOPE)(text) == Edited(text, ())
