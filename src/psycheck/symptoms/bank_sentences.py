"""The sentence bank, as a reader learns from it: sentences, lists of symptoms, and sentences in longer ones.

All texts are ours (symptoms/bank/). What is drawn depends on the seed alone: training can be repeated.
"""

import csv
import random
import tomllib
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

import numpy as np

from psycheck.core.arrays import FloatArray

BANK: Final = Path(__file__).with_name("bank")
_PRESENT: Final = "lists_present"
# How many symptoms a drawn list has: most lists of people are short.
_SIZES: Final = (1, 1, 2, 2, 3, 4, 5, 6)
_JOINTS: Final = (", ", " and ", ". ", ", but ", "... ", " because ", "; ")


@dataclass(frozen=True, slots=True, eq=False)
class Labelled:
    """Sentences, and for each symptom whether it is mentioned and present in the writer, both (n, k).

    NaN: it is not known whether the sentence is about the symptom, which it is close to.
    """

    texts: list[str]
    mentioned: FloatArray
    present: FloatArray

    def __add__(self, other: "Labelled") -> "Labelled":
        return Labelled(
            self.texts + other.texts,
            np.vstack([self.mentioned, other.mentioned]),
            np.vstack([self.present, other.present]),
        )


def read_bank(part: str, symptoms: Sequence[str]) -> Labelled:
    """The sentences of a part of the bank, "train" or "test"."""
    with (BANK / "sentences.csv").open(encoding="utf-8", newline="") as table:
        rows = [row for row in csv.DictReader(table) if row["part"] == part]

    mentioned = np.zeros((len(rows), len(symptoms)))
    for number, row in enumerate(rows):
        for symptom in row["symptom"].split():
            mentioned[number, symptoms.index(symptom)] = 1
    holds = [row["status"] == "present" and row["subject"] == "writer" for row in rows]
    present = mentioned * np.array(holds)[:, None]
    return Labelled([row["text"] for row in rows], mentioned, present)


def drawn_lists(symptoms: Sequence[str], number: int, seed: int) -> Labelled:
    """Lists of symptoms as people write them: "Side effects: insomnia, brain fog"."""
    content = _phrases()
    phrases, frames = content["phrases"], content["frames"]
    chance = random.Random(f"lists {seed}")
    # As many that hold as that do not.
    other_kinds = [kind for kind in frames if kind.startswith("lists") and kind != _PRESENT]
    kinds = [_PRESENT] * (len(other_kinds) + 2) + other_kinds

    texts = []
    mentioned = np.zeros((number, len(symptoms)))
    present = np.zeros((number, len(symptoms)))
    for row in range(number):
        kind = chance.choice(kinds)
        most = 6 if kind == _PRESENT else 3
        listed = chance.sample(list(phrases), min(chance.choice(_SIZES), most))
        items = [chance.choice(phrases[symptom]) for symptom in listed]
        text = chance.choice(frames[kind]).replace("{list}", _joined(items, kind, chance))
        texts.append(_as_begun(text, chance))

        columns = [symptoms.index(symptom) for symptom in listed]
        mentioned[row, columns] = 1
        present[row, columns] = kind == _PRESENT
    return Labelled(texts, mentioned, present)


def _joined(items: list[str], kind: str, chance: random.Random) -> str:
    """Items as a list: "a, b and c", "a; b", "a / b"; what is denied may be "a, no b"."""
    separators = [", ", " or ", ", no "] if kind == "lists_denied" else [", ", ", ", "; ", " / ", ", and "]
    separator = chance.choice(separators)
    if separator == ", " and len(items) > 1 and chance.random() < 0.5:
        return f"{', '.join(items[:-1])} and {items[-1]}"
    return separator.join(items)


def _as_begun(text: str, chance: random.Random) -> str:
    """The text, with a capital or not: people post both."""
    return text[0].upper() + text[1:] if chance.random() < 0.5 else text


def drawn_frames(bank: Labelled, number: int, seed: int) -> Labelled:
    """Sentences of the bank inside longer ones, which change nothing of what they say."""
    chance = random.Random(f"frames {seed}")
    frames = _phrases()["frames"]["around"]

    def framed(row: int) -> str:
        frame = chance.choice(frames)
        sentence = bank.texts[row].rstrip(".")
        if not frame.startswith("{s}"):
            sentence = _continued(sentence)
        return str(frame.replace("{s}", sentence))

    return _drawn(bank, number, chance, lambda row: (framed(row), row))


def drawn_pairs(bank: Labelled, number: int, seed: int) -> Labelled:
    """Two sentences of the bank as one, with the symptoms of both."""
    chance = random.Random(f"pairs {seed}")

    def paired(row: int) -> tuple[str, int]:
        second = chance.randrange(len(bank.texts))
        joint = chance.choice(_JOINTS)
        return f"{bank.texts[row].rstrip('.?')}{joint}{_continued(bank.texts[second])}", second

    return _drawn(bank, number, chance, paired)


def _drawn(
    bank: Labelled, number: int, chance: random.Random, write: Callable[[int], tuple[str, int]]
) -> Labelled:
    """New sentences from drawn rows of the bank; `write` gives a text and the other row that is in it."""
    first_rows = [chance.randrange(len(bank.texts)) for _ in range(number)]
    written = [write(row) for row in first_rows]
    second_rows = [second for _, second in written]
    return Labelled(
        [text for text, _ in written],
        # What either says, it says; what is not known of one is not known.
        np.maximum(bank.mentioned[first_rows], bank.mentioned[second_rows]),
        np.maximum(bank.present[first_rows], bank.present[second_rows]),
    )


def _continued(sentence: str) -> str:
    """A sentence without its capital, unless that is "I"."""
    if sentence.startswith(("I ", "I'", "I’")):
        return sentence
    return sentence[0].lower() + sentence[1:]


def _phrases() -> dict[str, Any]:
    return tomllib.loads((BANK / "phrases.toml").read_text("utf-8"))
