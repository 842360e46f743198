"""Evidence for the symptoms that PHQ-9 asks about: what symptom-grounded classifiers decide from."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Final

import numpy as np

from psycheck.errors import BadInput
from psycheck.knowledge.graph import read_graph
from psycheck.model import FloatArray
from psycheck.models.fingerprint import hashed_parts
from psycheck.models.options import ModelOptions
from psycheck.models.symptoms import DESCRIPTIONS, SymptomModel, open_symptoms
from psycheck.text.clean import split_sentences

SCALE: Final = "phq9"
LEAST: Final = 1e-4  # a relevance below counts as this, so that log-odds stay finite
_EVIDENCE = "1"  # increase it whenever the same symptom model and text would give other evidence


@dataclass(frozen=True, slots=True, kw_only=True)
class Evidence:
    """A model of texts whose labels are "most:SYMPTOM" and "mean:SYMPTOM", (n, 2 m) in [0, 1].

    The first is the largest relevance over the sentences of a text; the second is their mean, of log-odds. A
    text without a sentence has the evidence of an irrelevant one.
    """

    name: str
    symptoms: tuple[str, ...]
    fingerprint: str
    parts: Mapping[str, str]
    model: SymptomModel = field(repr=False)

    @property
    def labels(self) -> tuple[str, ...]:
        """The columns: first those of the largest relevance, then those of the mean."""
        return tuple(f"{how}:{symptom}" for how in ("most", "mean") for symptom in self.symptoms)

    @property
    def batch(self) -> int:
        """How many texts it likes at once."""
        return self.model.batch

    def score(self, texts: Sequence[str], /) -> FloatArray:
        """The evidence in texts, (n, 2 m)."""
        split = [split_sentences(text) or [""] for text in texts]
        if not split:
            return np.empty((0, len(self.labels)))
        places = [self.model.labels.index(symptom) for symptom in self.symptoms]
        relevance = self.model.tag([sentence for some in split for sentence in some]).relevance[:, places]
        odds = log_odds(np.nan_to_num(relevance, nan=0.0))
        counts = np.array([len(some) for some in split])
        starts = np.cumsum(counts) - counts
        most = np.maximum.reduceat(odds, starts, axis=0)
        mean = np.add.reduceat(odds, starts, axis=0) / counts[:, None]
        return np.asarray(1 / (1 + np.exp(-np.hstack([most, mean]))))


def log_odds(scores: FloatArray) -> FloatArray:
    """The log-odds of scores in [0, 1], kept finite: for symptoms:descriptions, linear in the similarity."""
    kept = np.clip(scores, LEAST, 1 - LEAST)
    return np.asarray(np.log(kept) - np.log1p(-kept))


def asked_symptoms() -> tuple[str, ...]:
    """The symptoms of the shipped graph that the items of PHQ-9 ask about, in the order of the items."""
    asked = read_graph().asking(SCALE).values()
    return tuple(dict.fromkeys(name for names in asked for name in names))


def open_evidence(target: str = "", options: ModelOptions | None = None) -> Evidence:
    """Evidence from a trained symptom model (a folder) or, without a target, from descriptions."""
    model, names = open_symptoms(target or DESCRIPTIONS, options or ModelOptions()), asked_symptoms()
    if missing := [name for name in names if name not in model.labels]:
        raise BadInput(
            f"the symptom model does not score {', '.join(missing)}",
            where=target,
            allowed=f"a model of all symptoms that PHQ-9 asks about: {', '.join(names)}",
        )
    parts = {**model.parts, "evidence": _EVIDENCE, "symptoms": " ".join(names)}
    return Evidence(
        name=model.name, symptoms=names, fingerprint=hashed_parts(parts), parts=parts, model=model
    )
