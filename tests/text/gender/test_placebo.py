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
