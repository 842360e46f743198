import re

import pytest

from psycheck.text.gender.edits import Scope, neutralise, swap
from psycheck.text.gender.entries import NAMES


def swapped(text: str, scope: Scope) -> str:
    return swap(scope)(text).text


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("MS. JONES DENIES SI. SHE CRIES.", "MR. JONES DENIES SI. HE CRIES."),
        ("JOHN SMITH SAYS HE CRIES; MARY said no.", "MARY SMITH SAYS SHE CRIES; JOHN said no."),
        ("MS. GRACE JONES CAME.", "MR. MARK JONES CAME."),
        ("Mr.Smith came, MS.JONES DID NOT.", "Ms.Smith came, MR.JONES DID NOT."),
        ("Mr. and Ms. Smith came.", "Ms. and Mr. Smith came."),
        ("MR. AND MS. SMITH CAME.", "MS. AND MR. SMITH CAME."),
    ],
)
def test_titles_and_names_in_capitals_and_in_couples(text: str, expected: str) -> None:
    edit = swap(Scope(titles=True, names=True))
    assert (edit(text).text, edit(text).undecided) == (expected, 0)
    assert edit(expected).text == text


@pytest.mark.parametrize(
    "text",
    [
        "SHE HAS MS. NO PAIN.",
        "SHE HAS MS. JONES CAME.",
        "SHE HAD MR IMAGING AND MS CONTIN.",
        "SHE SAYS I MISS YOU.",
        "Ask Mr/Ms Smith and Mr./Ms. Bell.",
        "She takes St. John's wort in St John.",
        "She takes ST. JOHN'S WORT.",
        "She is from Charlotte, NC or Charlotte, North Carolina, not San Diego.",
        "She was at John Hopkins and Mary Washington Hospital on Elizabeth Street.",
        "HOPE SHE SAID NO. MARK MY WORDS.",
        "Grace under pressure. Mark my words, she said.",
        "Hope is lost. May God help. She left in May, since April 5.",
        "Will she come?",
        "Frank psychosis. She read the Bill, DAISY IS HERE.",
        "She met Mr. Ray and Mr. Grant.",
    ],
)
def test_titles_and_names_that_are_something_else_stay(text: str) -> None:
    scope = Scope(titles=True, names=True)
    left = re.compile(r"\bMr\. (?=Ray|Grant)")
    assert left.sub("Ms. ", swap()(text).text) == swap(scope)(text).text
    assert swap(scope)(text).undecided == 0


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("Grace is sad.", "Mark is sad."),
        ("Mark said so.", "Grace said so."),
        ("I saw Grace today.", "I saw Mark today."),
        ("Grace Miller came.", "Mark Miller came."),
        ("Will's mother came.", "Rose's mother came."),
        ("Ms. Grace Miller and Dr. Will Bell", "Ms. Mark Miller and Dr. Rose Bell"),
        ("Grace and Mark came.", "Mark and Grace came."),
        ("Faith and Hope came.", "Grant and Chase came."),
        ("Ask Frank. Dear Grace, I met June.", "Ask Pearl. Dear Mark, I met Reed."),
        ("MARK SMITH DENIES SI. ROSE CRIES.", "GRACE SMITH DENIES SI. WILL CRIES."),
        ("April reports pain, June Miller does not.", "Colt reports pain, Reed Miller does not."),
        ("I told Hope so.", "I told Chase so."),
        ("Will Mary come?", "Will John come?"),
    ],
)
def test_names_that_are_words_too_by_what_stands_beside_them(text: str, expected: str) -> None:
    assert swapped(text, Scope(names=True)) == expected
    assert swapped(expected, Scope(names=True)) == text


def test_at_least_700_first_names_with_the_common_ones() -> None:
    assert len(NAMES) >= 700
    assert {"Grace", "Mark", "Jack", "Joe", "Alan", "Rose", "Bill", "Kate", "Jane", "Ian"} <= set(NAMES)


def test_names_in_s_have_partners_in_s_so_that_both_possessives_come_back() -> None:
    assert all((name[-1] in "sxz") == (entry.partner[-1] in "sxz") for name, entry in NAMES.items())
    text = "James' mother, James's dog and Mary's cat"
    assert swapped(text, Scope(names=True)) == "Frances' mother, Frances's dog and John's cat"
    assert swapped("Frances' mother", Scope(names=True)) == "James' mother"


def test_couples_have_no_title_left_in_neutral_text() -> None:
    assert (
        neutralise(Scope(titles=True))("Mr. and Mrs. Smith, Mr./Ms. Bell").text
        == "Mx. and Mx. Smith, Mx. Bell"
    )
