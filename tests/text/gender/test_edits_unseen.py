"""Sentences that were labelled before the rules were changed for them: see decision 9."""

import csv
import re
from collections.abc import Iterator
from pathlib import Path

import pytest

from psycheck.text.gender.edits import Scope, neutralise, swap
from psycheck.text.gender.entries import NAMES
from psycheck.text.person import shift_person

SCOPE = Scope(nouns=True, titles=True, names=True)
EDITS = {
    "swap": swap(SCOPE),
    "neutral": neutralise(SCOPE),
    "remove": neutralise(SCOPE, "remove"),
    "person": shift_person("they", agreement=True),
}
# Known faults, which decision 9 names.
KNOWN = (
    "Pronouns: (he/him).",
    "Napoleon I and",
    "Name (Mr)",
    "Charles I lost",
    "Art is my only",
    "Pleasure and Joy",
    "Rob never hit",
    "Hope was crying",
    "He deals with anger",
    "She (her) is",
)


def rows() -> Iterator[dict[str, str]]:
    with (Path(__file__).parent / "edits_unseen.csv").open(encoding="utf-8", newline="") as file:
        yield from csv.DictReader(file)


def expected(row: dict[str, str]) -> str:
    """The text that the edit should make; {Name} stands for what replaces that name."""
    form = "partner" if row["edit"] == "swap" else "neutral"
    return re.sub(r"\{(\w+)\}", lambda name: getattr(NAMES[name[1]], form), row["expected"])


@pytest.mark.parametrize(
    "row", [pytest.param(row, id=f"{row['phenomenon']}-{row['text'][:40]}") for row in rows()]
)
def test_labelled_sentences(row: dict[str, str]) -> None:
    edited = EDITS[row["edit"]](row["text"])
    right = (edited.text, edited.undecided > 0) == (expected(row), row["undecided"] == "1")
    assert right != row["text"].startswith(KNOWN), edited


def test_every_swap_of_the_labelled_sentences_runs_both_ways() -> None:
    texts = [row["text"] for row in rows()]
    assert len(texts) >= 200
    for text in texts:
        swapped = EDITS["swap"](text).text
        assert EDITS["swap"](swapped).text == text
