from psycheck.text.gender.edits import Scope, gender_of, swap
from psycheck.text.gender.placebo import placebo


def reworded(text: str) -> str:
    return placebo(text, swap(Scope(nouns=True, titles=True))(text)).text


def test_as_many_words_are_reworded_as_were_swapped_and_each_near_one() -> None:
    text = "Nothing in the mail. She slept on the train, but he read and I can't say more."
    assert (
        reworded(text) == "Nothing in the mail. She slept upon the train, yet he read and I can't say more."
    )


def test_case_and_apostrophe_are_kept_and_gender_stays() -> None:
    text = "I don’t know. But she and her brother AREN'T here."
    assert reworded(text) == "I don’t know. Yet she & her brother ARE NOT here."
    assert gender_of(reworded(text)) == gender_of(text) == "female"


def test_a_text_with_too_few_such_words_has_no_placebo() -> None:
    text = "She and he left."
    assert placebo(text, swap()(text)).spans == ()


def test_addresses_stay() -> None:
    text = "She wrote https://a.example/and/but on paper."
    assert reworded(text) == "She wrote https://a.example/and/but upon paper."
