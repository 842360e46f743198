from collections.abc import Sequence
from typing import Any

import pytest

from psycheck.text.gender import placebo as placebo_module
from psycheck.text.gender.edits import Scope, gender_of, swap
from psycheck.text.gender.placebo import placebo


def swapped_and_reworded(text: str) -> tuple[str, str]:
    swapped = swap(Scope(nouns=True, titles=True))(text)
    return swapped.text, placebo(text, swapped).text


def test_as_many_words_are_reworded_as_were_swapped_and_the_length_is_that_of_the_swap() -> None:
    text = "Nothing in the mail. She slept on the train, but he read and I can't say more."
    swapped, reworded = swapped_and_reworded(text)
    # "She" and "he" become "He" and "she": as long as before, so "on" grows by two and "and" shrinks by two.
    assert reworded == "Nothing in the mail. She slept upon the train, but he read & I can't say more."
    assert len(reworded) == len(swapped)


def test_a_longer_swap_has_a_longer_placebo() -> None:
    swapped, reworded = swapped_and_reworded("The door was open and he left so early.")
    # "she" for "he" is one character longer, and so is "this" for "the".
    assert len(reworded) == len(swapped) == 40
    assert gender_of(reworded) == "male"


def test_case_and_apostrophe_are_kept() -> None:
    swapped, reworded = swapped_and_reworded("He AREN’T sure. So she slept.")
    assert len(reworded) == len(swapped)
    assert "ARE NOT" in reworded or "AREN’T" in reworded


def test_a_text_without_words_that_make_up_the_length_has_no_placebo() -> None:
    for text in ("She and he left.", "But he slept"):
        assert placebo(text, swap()(text)).spans == ()


def test_addresses_stay() -> None:
    _, reworded = swapped_and_reworded("He wrote https://a.example/and/but on the paper.")
    assert reworded == "He wrote https://a.example/and/but on this paper."


def test_a_swap_that_lengthens_the_text_much_has_a_placebo() -> None:
    # "She" for "he" adds one character, "daughter" for "son" five.
    text = (
        "He was late so he ran, and he slept until the end. " * 2
        + "He thanked his friend, but the son left in a home."
    )
    swapped, reworded = swapped_and_reworded(text)
    assert len(swapped) - len(text) > 4
    assert len(reworded) == len(swapped)
    assert reworded != text


def test_placebos_of_a_long_text_are_near_the_swapped_words() -> None:
    block = "She slept on the train, but he read and I can't say more. "
    text = block * 20 + "The sea was calm and the sun was high so we went in. " * 40 + block * 20
    edited = swap()(text)
    reworded = placebo(text, edited)
    assert len(reworded.spans) == len(edited.spans) == 80
    between = range(len(block) * 21, len(text) - len(block) * 21)
    assert not [start for start, _ in reworded.spans if start in between]


def test_choices_grow_with_the_text_alone(monkeypatch: pytest.MonkeyPatch) -> None:
    """A text of 1 MB, four times as long as another, has four times as many choices, each of bounded size."""
    sizes: dict[int, list[int]] = {}
    sentence = "She slept on the train, but he read and I can't say more. "
    fitting = vars(placebo_module)["_fitting"]

    for length in (250_000, 1_000_000):
        considered = sizes.setdefault(length, [])

        def counted(
            nearest: Sequence[object],
            wordings: Any,
            considered: list[int] = considered,
            **size: int,
        ) -> Any:
            considered.append(len(nearest))
            return fitting(nearest, wordings, **size)

        monkeypatch.setattr(placebo_module, "_fitting", counted)
        text = sentence * (length // len(sentence))
        edited = swap()(text)
        reworded = placebo(text, edited)
        assert len(reworded.text) == len(edited.text)
        assert len(reworded.spans) == len(edited.spans)

    short, long = sizes.values()
    assert max(short + long) <= 2 * 11 + 6
    assert abs(len(long) - 4 * len(short)) <= 4
