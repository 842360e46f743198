"""Evidence for the symptoms that PHQ-9 asks about: what symptom-grounded classifiers decide from."""

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Final

import numpy as np

from psycheck.core.arrays import FloatArray
from psycheck.core.errors import BadInput
from psycheck.core.model import Capabilities
from psycheck.models.fingerprint import hashed_parts
from psycheck.symptoms.graph import read_graph
from psycheck.symptoms.reader import DESCRIPTIONS, SymptomModel, SymptomOptions, open_symptoms
from psycheck.text.clean import split_sentences

SCALE: Final = "phq9"
LEAST: Final = 1e-4  # a relevance below counts as this, so that log-odds stay finite
_EVIDENCE = "2"  # increase it whenever the same symptom model and text would give other evidence


@dataclass(frozen=True, slots=True, kw_only=True)
class Evidence:
    """The one evidence model of texts: its labels are "most:SYMPTOM" and "mean:SYMPTOM", (n, 2 m) in [0, 1].

    The first is the largest relevance over the sentences of a text; the second is their mean, of log-odds. A
    text without a sentence has the evidence of an irrelevant one. The store keeps its scores.
    """

    name: str
    symptoms: tuple[str, ...]
    fingerprint: str
    capabilities: Capabilities = field(repr=False)
    model: SymptomModel = field(repr=False)

    @property
    def labels(self) -> tuple[str, ...]:
        """The columns: first those of the largest relevance, then those of the mean."""
        return tuple(f"{how}:{symptom}" for how in ("most", "mean") for symptom in self.symptoms)

    def score(self, texts: Sequence[str], /) -> FloatArray:
        """The evidence in texts, (n, 2 m)."""
        if not len(texts):
            return np.empty((0, len(self.labels)))
        # A text without a sentence has an empty one, which is about no symptom.
        sentences_of_texts = [split_sentences(text) or [""] for text in texts]
        sentences = [sentence for text_sentences in sentences_of_texts for sentence in text_sentences]
        counts = np.array([len(text_sentences) for text_sentences in sentences_of_texts])
        starts = np.cumsum(counts) - counts

        columns = [self.model.labels.index(symptom) for symptom in self.symptoms]
        relevance = self.model.tag(sentences).relevance[:, columns]
        odds = log_odds(np.nan_to_num(relevance, nan=0.0))
        most = np.maximum.reduceat(odds, starts, axis=0)
        sums = np.add.reduceat(odds, starts, axis=0)
        mean = sums / counts[:, None]

        # Back into [0, 1], which the store keeps; who learns from it takes log-odds again.
        evidence = np.hstack([most, mean])
        return np.asarray(1 / (1 + np.exp(-evidence)))


def log_odds(scores: FloatArray) -> FloatArray:
    """The log-odds of scores in [0, 1], kept finite: for symptoms:descriptions, linear in the similarity."""
    inner = np.clip(scores, LEAST, 1 - LEAST)
    return np.asarray(np.log(inner) - np.log1p(-inner))


def asked_symptoms() -> tuple[str, ...]:
    """The symptoms of the shipped graph that the items of PHQ-9 ask about, in the order of the items."""
    by_item = read_graph().asking(SCALE)
    names = [name for item_names in by_item.values() for name in item_names]
    return tuple(dict.fromkeys(names))


def open_evidence(target: str = "", options: SymptomOptions | None = None) -> Evidence:
    """Evidence from a symptom model, "default" or a folder; without a target, from descriptions."""
    # Not from the shipped reader: similarity that is a little higher or lower tells more here than what is
    # certainly said, and carries over better to other corpora (docs/benchmarks/grounding.md).
    model = open_symptoms(target or DESCRIPTIONS, options or SymptomOptions())
    symptoms = asked_symptoms()
    missing = [symptom for symptom in symptoms if symptom not in model.labels]
    if missing:
        raise BadInput(
            f"the symptom model does not score {', '.join(missing)}",
            code="symptoms.missing-symptoms",
            where=target,
            allowed=f"a model of all symptoms that PHQ-9 asks about: {', '.join(symptoms)}",
        )

    parts = {
        **model.capabilities.parts,
        "evidence": _EVIDENCE,
        "symptoms": " ".join(symptoms),
    }
    return Evidence(
        name=model.name,
        symptoms=symptoms,
        fingerprint=hashed_parts(parts),
        capabilities=Capabilities(batch=model.capabilities.batch, parts=parts),
        model=model,
    )
