"""The shipped reader: what its card promises, and what it makes of plain sentences and made-up histories."""

import csv
from pathlib import Path

import numpy as np
import pytest

from psycheck.models.opening import open_model
from psycheck.symptoms.adapted_reader import DEFAULT_FOLDER
from psycheck.symptoms.reader import SymptomModel
from psycheck.symptoms.statements import NAMED, STATUSES, weighted
from psycheck.text.clean import split_sentences

MOST_BYTES = 3_000_000


@pytest.fixture(scope="module")
def reader() -> SymptomModel:
    model = open_model("symptoms:default")
    assert isinstance(model, SymptomModel)
    return model


def named(reader: SymptomModel, text: str) -> set[str]:
    """The symptoms that a text names."""
    largest = weighted(reader.tag(split_sentences(text))).max(axis=0)
    return {reader.labels[column] for column in np.flatnonzero(largest >= NAMED)}


def test_it_is_small() -> None:
    assert sum(file.stat().st_size for file in DEFAULT_FOLDER.iterdir()) < MOST_BYTES


def test_its_card_names_only_symptoms_that_it_reads(reader: SymptomModel) -> None:
    assert reader.naming is not None
    assert set(reader.naming.thresholds) < set(reader.labels)
    assert all(0.3 <= threshold < 1 for threshold in reader.naming.thresholds.values())


@pytest.mark.parametrize(
    ("sentence", "symptom"),
    [
        ("I want to die.", "suicidal_ideas"),
        ("I have no energy and I'm exhausted all the time.", "decreased_energy_tiredness_fatigue"),
        ("I lie awake every night and can't sleep.", "sleep_disturbance"),
        ("I had a panic attack and I'm still having them.", "panic_fear"),
        ("Side effects: nausea, weight gain.", "gastrointestinal_symptoms"),
    ],
)
def test_plain_statements_are_named(reader: SymptomModel, sentence: str, symptom: str) -> None:
    assert symptom in named(reader, sentence)


@pytest.mark.parametrize(
    "sentence",
    [
        "I no longer have panic attacks.",
        "I have never thought of suicide.",
        "My sister can't sleep and cries all day.",
        "Can this drug cause insomnia?",
        "The bus was late again.",
    ],
)
def test_what_is_denied_past_doubtful_or_of_others_is_not_named(reader: SymptomModel, sentence: str) -> None:
    assert named(reader, sentence) == set()


def test_a_denied_symptom_is_mentioned_and_shown_as_denied(reader: SymptomModel) -> None:
    tags = reader.tag(["I do not have panic attacks."])
    column = reader.labels.index("panic_fear")
    assert tags.relevance[0, column] > NAMED
    assert STATUSES[tags.status[0, column]] == "denied"


def test_a_symptom_of_which_too_little_is_known_is_never_named(reader: SymptomModel) -> None:
    weights = weighted(reader.tag(["I wash my hands fifty times a day, these rituals rule my life."]))
    column = reader.labels.index("compulsions")
    assert np.isnan(reader.tag(["x"]).thresholds[column])
    assert weights[0, column] < NAMED


def test_authors_who_deny_everything_or_speak_of_others_get_no_symptom(reader: SymptomModel) -> None:
    with Path(__file__).with_name("histories.csv").open(encoding="utf-8", newline="") as table:
        posts = [row for row in csv.DictReader(table) if row["author"] in {"cleo", "dan", "eve", "jon"}]
    names = [named(reader, row["text"]) for row in posts]
    assert names == [set()] * len(posts)
