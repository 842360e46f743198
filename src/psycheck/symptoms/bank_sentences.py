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
from numpy.typing import NDArray

from psycheck.core.arrays import FloatArray
from psycheck.core.errors import BadInput
from psycheck.text.status import Status

BANK: Final = Path(__file__).with_name("bank")
_PRESENT: Final = "lists_present"
# How many symptoms a drawn list has: most lists of people are short.
_SIZES: Final = (1, 1, 2, 2, 3, 4, 5, 6)
_MOST_PRESENT: Final = 6
_MOST_ABSENT: Final = 3  # lists of what one does not have are shorter
# Of a list that holds; the comma is there twice because most lists have commas.
_SEPARATORS: Final = (", ", ", ", "; ", " / ", ", and ")
_DENIED_SEPARATORS: Final = (", ", " or ", ", no ")
_COLUMNS: Final = ("text", "symptom", "status", "subject")
_STATUS_WORDS: Final = tuple(status.value for status in Status)
_SUBJECTS: Final = ("writer", "other")
_MANY: Final = 4  # symptoms of a text, from which on readers may stop
_JOINTS: Final = (", ", " and ", ". ", ", but ", "... ", " because ", "; ")


@dataclass(frozen=True, slots=True, eq=False)
class Labelled:
    """Sentences, and for each symptom whether it is mentioned and present in the writer, both (n, k).

    NaN: it is not known whether the sentence is about the symptom, which it is close to.
    """

    texts: list[str]
    mentioned: FloatArray
    present: FloatArray

    def at(self, rows: NDArray[np.int64]) -> "Labelled":
        """Some of the sentences, or some of them more than once."""
        return Labelled([self.texts[row] for row in rows], self.mentioned[rows], self.present[rows])

    def __add__(self, further: "Labelled") -> "Labelled":
        return Labelled(
            texts=self.texts + further.texts,
            mentioned=np.vstack([self.mentioned, further.mentioned]),
            present=np.vstack([self.present, further.present]),
        )


def read_bank(part: str, symptoms: Sequence[str]) -> Labelled:
    """The sentences of a part of the bank, "train" or "test"."""
    with (BANK / "sentences.csv").open(encoding="utf-8", newline="") as table:
        rows = [row for row in csv.DictReader(table) if row["part"] == part]

    mentioned = np.zeros((len(rows), len(symptoms)))
    for number, row in enumerate(rows):
        for symptom in row["symptom"].split():
            column = symptoms.index(symptom)
            mentioned[number, column] = 1
    # A bank sentence has one status and one subject, which hold for all its symptoms.
    is_present = np.array([row["status"] == "present" for row in rows], np.bool_)
    is_of_writer = np.array([row["subject"] == "writer" for row in rows], np.bool_)
    holds = is_present & is_of_writer
    texts = [row["text"] for row in rows]
    return Labelled(texts, mentioned, mentioned * holds[:, None])


def read_sentences(file: Path, symptoms: Sequence[str]) -> Labelled:
    """Sentences that somebody labelled: a CSV file with a row per symptom that a text mentions.

    Its columns are text, symptom (empty if the text mentions none), status and subject, as in the bank.
    """
    texts: dict[str, int] = {}
    labels = []
    with file.open(encoding="utf-8", newline="") as table:
        for number, row in enumerate(csv.DictReader(table), start=2):
            _refuse_unlike_bank(row, symptoms, where=f"{file}:{number}")
            text_row = texts.setdefault(row["text"], len(texts))
            if row["symptom"]:
                is_evidence = (row["status"], row["subject"]) == ("present", "writer")
                labels.append((text_row, symptoms.index(row["symptom"]), is_evidence))

    mentioned = np.zeros((len(texts), len(symptoms)))
    present = np.zeros((len(texts), len(symptoms)))
    for text_row, column, is_evidence in labels:
        mentioned[text_row, column] = 1
        present[text_row, column] = is_evidence
    # Of a text with many symptoms its readers may have left out some.
    is_unknown = (mentioned.sum(1, keepdims=True) >= _MANY) & (mentioned == 0)
    return Labelled(
        texts=list(texts),
        mentioned=np.where(is_unknown, np.nan, mentioned),
        present=np.where(is_unknown, np.nan, present),
    )


def _refuse_unlike_bank(
    row: dict[str, str],
    symptoms: Sequence[str],
    where: str,
) -> None:
    """Refuse a row that lacks a column, or has a word that the bank does not know."""
    missing = [column for column in _COLUMNS if row.get(column) is None]
    if missing:
        raise BadInput(
            f"a column is missing: {', '.join(missing)}",
            code="symptoms.labelled-columns",
            where=where,
            allowed=", ".join(_COLUMNS),
        )
    if not row["symptom"]:
        return
    for column, words in (("symptom", symptoms), ("status", _STATUS_WORDS), ("subject", _SUBJECTS)):
        if row[column] not in words:
            raise BadInput(
                f"the {column} is not known",
                code="symptoms.labelled-value",
                where=where,
                allowed=", ".join(words),
            )


def drawn_lists(
    symptoms: Sequence[str],
    number: int,
    seed: int,
) -> Labelled:
    """Lists of symptoms as people write them: "Side effects: insomnia, brain fog"."""
    content = _phrases()
    phrases = content["phrases"]
    frames = content["frames"]
    chance = random.Random(f"lists {seed}")
    list_kinds = [kind for kind in frames if kind.startswith("lists")]
    absent_kinds = [kind for kind in list_kinds if kind != _PRESENT]
    # Somewhat more lists that hold than lists that do not.
    kinds = [_PRESENT] * (len(absent_kinds) + 2) + absent_kinds

    texts = []
    mentioned = np.zeros((number, len(symptoms)))
    present = np.zeros((number, len(symptoms)))
    for row in range(number):
        kind = chance.choice(kinds)
        most = _MOST_PRESENT if kind == _PRESENT else _MOST_ABSENT
        size = min(chance.choice(_SIZES), most)
        listed = chance.sample(list(phrases), size)
        items = [chance.choice(phrases[symptom]) for symptom in listed]
        frame = chance.choice(frames[kind])
        text = frame.replace("{list}", _joined(items, kind, chance))
        texts.append(_as_begun(text, chance))

        columns = [symptoms.index(symptom) for symptom in listed]
        mentioned[row, columns] = 1
        present[row, columns] = kind == _PRESENT
    return Labelled(texts, mentioned, present)


def _joined(
    items: list[str],
    kind: str,
    chance: random.Random,
) -> str:
    """Items as a list: "a, b and c", "a; b", "a / b"; what is denied may be "a, no b"."""
    separators = _DENIED_SEPARATORS if kind == "lists_denied" else _SEPARATORS
    separator = chance.choice(separators)
    is_with_commas = separator == ", " and len(items) > 1
    if is_with_commas and chance.random() < 0.5:
        *first_items, last_item = items
        return f"{', '.join(first_items)} and {last_item}"
    return separator.join(items)


def _as_begun(text: str, chance: random.Random) -> str:
    """The text, with a capital or not: people post both."""
    if chance.random() < 0.5:
        return text[0].upper() + text[1:]
    return text


def drawn_frames(
    bank: Labelled,
    number: int,
    seed: int,
) -> Labelled:
    """Sentences of the bank inside longer ones, which change nothing of what they say."""
    chance = random.Random(f"frames {seed}")
    frames = _phrases()["frames"]["around"]

    def framed(row: int) -> tuple[str, int]:
        frame: str = chance.choice(frames)
        sentence = bank.texts[row].rstrip(".")
        if not frame.startswith("{s}"):
            sentence = _continued(sentence)
        # No second sentence is in it: the row itself adds nothing to the labels.
        return frame.replace("{s}", sentence), row

    return _drawn(
        bank=bank,
        number=number,
        chance=chance,
        write=framed,
    )


def drawn_pairs(
    bank: Labelled,
    number: int,
    seed: int,
) -> Labelled:
    """Two sentences of the bank as one, with the symptoms of both."""
    chance = random.Random(f"pairs {seed}")

    def paired(row: int) -> tuple[str, int]:
        second = chance.randrange(len(bank.texts))
        joint = chance.choice(_JOINTS)
        beginning = bank.texts[row].rstrip(".?")
        end = _continued(bank.texts[second])
        return f"{beginning}{joint}{end}", second

    return _drawn(
        bank=bank,
        number=number,
        chance=chance,
        write=paired,
    )


def _drawn(
    bank: Labelled,
    number: int,
    chance: random.Random,
    write: Callable[[int], tuple[str, int]],
) -> Labelled:
    """New sentences from drawn rows of the bank; `write` gives a text and the other row that is in it."""
    first_rows = [chance.randrange(len(bank.texts)) for _ in range(number)]
    written = [write(row) for row in first_rows]
    second_rows = [second for _, second in written]
    return Labelled(
        texts=[text for text, _ in written],
        # What either says, it says; what is not known of one is not known: a maximum with NaN is NaN.
        mentioned=np.maximum(bank.mentioned[first_rows], bank.mentioned[second_rows]),
        present=np.maximum(bank.present[first_rows], bank.present[second_rows]),
    )


def _continued(sentence: str) -> str:
    """A sentence without its capital, unless that is "I"."""
    if sentence.startswith(("I ", "I'", "I’")):
        return sentence
    return sentence[0].lower() + sentence[1:]


def _phrases() -> dict[str, Any]:
    """The phrases of each symptom, and the frames of lists and sentences."""
    content = (BANK / "phrases.toml").read_text("utf-8")
    return tomllib.loads(content)
