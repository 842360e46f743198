from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import pytest

from psycheck.core.arrays import FloatArray
from psycheck.core.corpus import Corpus
from psycheck.studies.psysym_retrieval import BOTH, CLINICIAN, EMOTION, KEYWORDS, NAMES, retrieval_figures
from psycheck.symptoms.graph import Graph, Symptom
from refusals import refused

GRAPH = Graph(
    {"a": "A"},
    (
        Symptom("bad_sleep", "Bad sleep", ("a",), ("nights without rest",), ("wide awake",)),
        Symptom("low_mood", "Low mood", ("a",), ("sadness of long duration",), ("tears again",)),
        Symptom("never_annotated", "Never annotated", ("a",), ("other",), ("other",)),
    ),
)
# Each text is repeated with other words, so that there are enough units for an interval.
SAID: dict[str, tuple[float | None, float | None]] = {
    "bad sleep here {}": (1, 0),
    "wide awake {}": (1, 0),
    "sleep is for cats {}": (0, 0),
    "tears again {}": (0, 1),
    "so sad {}": (None, 1),
    "we bought bread {}": (0, 0),
}


@dataclass(frozen=True)
class Marks:
    """Vectors of a few known phrases."""

    name: str = "marks"
    fingerprint: str = "marks"

    def encode(self, texts: Sequence[str], /) -> FloatArray:
        marks = ("rest", "awake", "sadness", "tears")
        return np.array([[float(mark in text) for mark in marks] + [0.01] for text in texts])

    def encode_spans(self, texts: Sequence[str], spans: Sequence[tuple[int, int]], /) -> FloatArray:
        raise NotImplementedError


@pytest.fixture
def corpus() -> Corpus:
    rows = [(text.format(i), *marks) for i in range(10) for text, marks in SAID.items()]
    labels = {"bad_sleep": [row[1] for row in rows], "low_mood": [row[2] for row in rows]}
    return Corpus.of("said", [row[0] for row in rows], labels=labels)


def test_each_method_has_the_precision_and_recall_worked_out_by_hand(corpus: Corpus, tmp_path: Path) -> None:
    found = retrieval_figures(corpus, graph=GRAPH, encoder=Marks(), store=tmp_path / "s.sqlite")
    got = {one.method: [one.precision, one.recall, one.symptoms, one.without] for one in found}
    # "bad", "sleep": 2 of 3 texts hit, one right, of 2 positive; "low", "mood": never.
    assert got[NAMES] == pytest.approx([1 / 2, 1 / 4, 2, 1])
    # "nights", "rest" and "sadness", "long", "duration": never.
    assert got[KEYWORDS] == pytest.approx([np.nan, 0, 2, 2], nan_ok=True)
    # "tears", "sad" and "awake" are words of distress: for sleep 1 of 2 annotated texts is right and 1 of 2
    # found, for mood 2 of 3 and 2 of 2.
    assert got[EMOTION] == pytest.approx([(1 / 2 + 2 / 3) / 2, (1 / 2 + 1) / 2, 2, 0])
    # No text holds a clinician's word; a poster's words give one of two each.
    assert got[CLINICIAN][1:] == [0, 2, 2]
    assert got[BOTH] == pytest.approx([1, 1 / 2, 2, 0])
    (interval,) = (one.recall_interval for one in found if one.method == BOTH)
    # The mean of two shares of 20 texts each: 0.5 ± 1.96 × √(0.25 / 40), by Student and Wilson.
    assert interval == pytest.approx((0.345, 0.655), abs=0.01)


def test_a_corpus_with_other_labels_is_refused(corpus: Corpus) -> None:
    with refused("corpus.no-symptom-label", what="said"):
        retrieval_figures(corpus, encoder=Marks())
