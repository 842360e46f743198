import pytest
from hypothesis import given
from hypothesis import strategies as st

from psycheck.text.subject import own


@pytest.mark.parametrize(
    ("sentence", "mine"),
    [
        ("I can't sleep and my hands shake", True),
        ("cannot sleep, heart racing all night", True),  # 0 against 0
        ("My sister cannot sleep", False),  # "my" belongs to the sister
        ("my best friend hasn't eaten for days", False),
        ("My sister says I never sleep", True),  # 1 against 1
        ("she told me that he can't sleep", False),  # 2 against 1
        ("He’s been low since the divorce", False),
        ("theyre tired, he is tired", False),
        ("im tired of everything", True),
        ("our teacher is nice", True),  # who is not in one's life is no mention
        ("26 male, can't sleep", True),
        ("we are both exhausted", True),
        ("", True),
    ],
)
def test_the_writer_is_the_subject_unless_others_are_mentioned_more(sentence: str, mine: bool) -> None:
    assert own(sentence) is mine


@given(st.text())
def test_another_mention_never_makes_a_sentence_ones_own(text: str) -> None:
    assert own(text) or not own(f"{text} , she")
