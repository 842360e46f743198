"""Plain statements of suicidal ideas, written before the rule; at first it named 39 of 40 present ones."""

import csv
from pathlib import Path

import pytest

from psycheck.symptoms.suicidal_rule import is_about_others, is_about_writer, states_suicidal_ideas
from psycheck.text.status import Status, parts_of, plain, status_of
from psycheck.text.subject import own

with Path(__file__).with_name("suicidal_statements.csv").open(encoding="utf-8") as table:
    STATEMENTS = [(row["statement"], row["text"]) for row in csv.DictReader(table)]

# "She asked whether I was suicidal and I said no": who answers a question is beyond the rules.
UNREAD = {"She asked whether I was suicidal and I said no."}


def statement_of(text: str) -> str:
    """What the rules make of a text: present, another status, other people's, or no statement at all."""
    readings = []
    for part in parts_of(text):
        if states_suicidal_ideas(plain(part)):
            is_own = own(part) or is_about_writer(plain(part))
            readings.append(status_of(part).value if is_own else "other")
    return Status.PRESENT.value if Status.PRESENT in readings else (readings or ["none"])[0]


@pytest.mark.parametrize(("statement", "text"), STATEMENTS)
def test_plain_statements_are_read_as_what_they_are(statement: str, text: str) -> None:
    if text in UNREAD:
        pytest.xfail("an answer to a reported question")
    assert statement_of(text) == statement


@pytest.mark.parametrize(
    "text",
    [
        "some nights I just cry, wanting to die",
        "all I want is to be dead",
        "the only way out is death",
        "I deserve to fucking die",
        "please just let me die",
        "every time I wake up I wish I hadn't",
        "I would be better off not being here",
        "I can't think of any reason to go on",
        "why do I still exist",
    ],
)
def test_wishes_in_other_words_are_statements_too(text: str) -> None:
    assert statement_of(text) == "present"


@pytest.mark.parametrize(
    "figure",
    [
        "I'm dying to meet you",
        "I don't want to live with my ex",
        "we are all going to die",
        "people hate suicide",
        "my feet are killing me",
        "I thought I was going to die",
        "I'm killing myself for this job",
        "we lost a good friend to suicide",
        "the post mentions suicide",
        "they keep telling me to kill myself",
    ],
)
def test_figures_of_speech_and_fears_of_death_are_no_statements(figure: str) -> None:
    assert not states_suicidal_ideas(plain(figure))


def test_what_others_did_or_want_is_theirs_although_the_writer_is_the_subject() -> None:
    assert is_about_others(plain("I heard that she wanted to kill herself"))
    assert is_about_others(plain("my eldest has attempted suicide"))
    assert is_about_others(plain("I don't understand people who kill themselves"))
    assert not is_about_others(plain("I want to kill myself because he left"))
