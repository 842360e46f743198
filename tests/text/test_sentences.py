from hypothesis import given, settings
from hypothesis import strategies as st

from psycheck.text.clean import split_sentences


def test_sentences_end_at_marks_but_not_after_titles() -> None:
    text = "I saw Dr. Smith today. He said it takes time... Is that so? Yes!"
    assert split_sentences(text) == [
        "I saw Dr. Smith today.",
        "He said it takes time...",
        "Is that so?",
        "Yes!",
    ]


def test_an_empty_line_ends_a_sentence_and_a_single_break_does_not() -> None:
    assert split_sentences("no mark here\n\nnext one\ngoes on") == ["no mark here", "next one goes on"]


def test_blank_text_has_no_sentences() -> None:
    assert split_sentences(" \n\t\n ") == []


@settings(max_examples=100, deadline=None)
@given(st.text(st.characters()))
def test_no_letter_is_lost_and_no_sentence_is_blank(text: str) -> None:
    sentences = split_sentences(text)
    assert all(sentence.strip() == sentence and sentence for sentence in sentences)
    assert [c for c in "".join(sentences) if c.isalnum()] == [c for c in text if c.isalnum()]
