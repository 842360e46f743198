import pytest

from psycheck.text.edits import Edited
from psycheck.text.gender.edits import Scope, neutralise, swap


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("34yo F presents, she is sad", "34yo M presents, he is sad"),
        (
            "34 y/o M; 34 y.o. F; 34-year-old M; 34 yr. old F",
            "34 y/o F; 34 y.o. M; 34-year-old F; 34 yr. old M",
        ),
        ("34F, 35M, 36/F and (20f)", "34M, 35F, 36/M and (20m)"),
        ("F, 34. Seen today (M, 40).", "M, 34. Seen today (F, 40)."),
        ("SEX: F. Sex - M. Gender: F", "SEX: M. Sex - F. Gender: M"),
        ("Pt is a F. She is a F, 34. Age 40 M.", "Pt is a M. He is a M, 34. Age 40 F."),
        ("34yo white F, 30 yo WM, 31 yo AAF", "34yo white M, 30 yo WF, 31 yo AAM"),
    ],
)
def test_letters_for_the_sex_beside_an_age_or_a_label(text: str, expected: str) -> None:
    edit = swap(Scope(nouns=True))
    assert (edit(text).text, edit(text).undecided) == (expected, 0)
    assert edit(expected).text == text
    assert swap()("34yo F, 35M").text == "34yo F, 35M"


@pytest.mark.parametrize(
    "text",
    [
        "Temp 98.6 F, T 94F, 98F, 101 F",
        "grade F, an F in maths, F. Scott, M. Bell",
        "F/u Monday, M-F, M&M, M.D., 34 yo M.D. degree",
        "$34M, 34m away, 16F foley, 34 F, 1.5M",
        "Sex: M/F, yo M",
    ],
)
def test_no_other_letter_is_a_sex(text: str) -> None:
    assert swap(Scope(nouns=True))(text) == Edited(text, ())


def test_letters_for_the_sex_in_neutral_text() -> None:
    assert neutralise(Scope(nouns=True))("34yo F, an M of 30, 30 yo WF. SEX: F.").text == (
        "34yo person, an M of 30, 30 yo person. SEX: person."
    )
