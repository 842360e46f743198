"""Symptom models: how likely a sentence is about each symptom, whether that is uncertain, and whose it is.

A trained one is a classifier of sentences whose labels are the symptoms and, where the status was annotated,
`uncertain`, all from one pass. `symptoms:descriptions` needs no training: the relevance of a symptom is the
highest cosine similarity s of the sentence to one of its descriptions, as 1 / (1 + exp(-10 (s - 0.5))).
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Final

import numpy as np
from numpy.typing import NDArray

from psycheck.errors import BadInput
from psycheck.knowledge.graph import read_graph
from psycheck.measures.association import highest_cosine
from psycheck.model import FloatArray
from psycheck.models.fingerprint import hashed, hashed_parts
from psycheck.models.open import open_encoder, open_model
from psycheck.models.options import ModelOptions
from psycheck.text.clean import split_sentences
from psycheck.text.subject import own

UNCERTAIN: Final = "uncertain"
"""The label of the status: the share of annotators who called the symptoms of a sentence uncertain."""

DESCRIPTIONS: Final = "descriptions"
OWN_WEIGHT, OTHER_WEIGHT = 0.9, 0.1  # w_subj of formula (1)
_MIDDLE, _SLOPE = 0.5, 10.0  # a similarity of 0.5, the least that retrieval accepts (App. D), becomes 0.5
_SCORING = "1"  # increase it whenever the same model and text would give another score


@dataclass(frozen=True, slots=True, eq=False)
class Tags:
    """What a model says of n sentences and k symptoms, from one pass of one encoder.

    `relevance` (n, k) is the probability that the sentence is about the symptom, `uncertain` (n,) that of the
    status (NaN if the model has none), `own` (n,) whether the writer speaks of themselves.
    """

    relevance: FloatArray
    uncertain: FloatArray
    own: NDArray[np.bool_]


def weighted(tags: Tags, *, status: bool = True, subject: bool = True) -> FloatArray:
    """Relevance × P(present) × 0.9 for the writer's own or 0.1 for another's, (n, k): formula (1).

    Each factor is a switch; without a status the factor is 1.
    """
    factor = np.ones(len(tags.own))
    if status:
        factor *= np.where(np.isnan(tags.uncertain), 1.0, 1 - tags.uncertain)
    if subject:
        factor *= np.where(tags.own, OWN_WEIGHT, OTHER_WEIGHT)
    return np.asarray(tags.relevance * factor[:, None])


@dataclass(frozen=True, slots=True, kw_only=True)
class SymptomModel:
    """A model of sentences as a model of texts; `outputs` gives (n, k + 1): relevance, then `uncertain`."""

    name: str
    labels: tuple[str, ...]
    fingerprint: str
    batch: int
    parts: Mapping[str, str]
    outputs: Callable[[Sequence[str]], FloatArray] = field(repr=False)
    trained_on: tuple[str, ...] = ()
    notes: tuple[str, ...] = ()

    def tag(self, sentences: Sequence[str], /) -> Tags:
        """Relevance, status and subject of sentences."""
        values = self.outputs(sentences)
        return Tags(values[:, :-1], values[:, -1], np.array([own(one) for one in sentences], np.bool_))

    def score(self, texts: Sequence[str], /) -> FloatArray:
        """The largest relevance over the sentences of each text, (n, k); NaN for a text without one."""
        split = [split_sentences(text) for text in texts]
        counts = np.array([len(sentences) for sentences in split])
        scores = np.full((len(texts), len(self.labels)), np.nan)
        flat = [sentence for sentences in split for sentence in sentences]
        if flat:
            starts = np.concatenate([[0], np.cumsum(counts[counts > 0])[:-1]])
            scores[counts > 0] = np.maximum.reduceat(self.outputs(flat)[:, :-1], starts, axis=0)
        return scores


def open_symptoms(target: str, options: ModelOptions) -> SymptomModel:
    """Open "descriptions" (no training), or a folder that `psycheck symptoms train` wrote."""
    if target == DESCRIPTIONS:
        return _described(options)
    if options.graph is not None:
        what = "a trained symptom model knows its symptoms: it takes no graph"
        raise BadInput(what, where=target, allowed="graph is for symptoms:descriptions")
    model = open_model(target, batch=options.batch)
    places = [k for k, label in enumerate(model.labels) if label != UNCERTAIN]
    status = [k for k, label in enumerate(model.labels) if label == UNCERTAIN]

    def outputs(sentences: Sequence[str]) -> FloatArray:
        values = model.score(sentences)
        last = values[:, status] if status else np.full((len(values), 1), np.nan)
        return np.hstack([values[:, places], last])

    parts = {"sentences": model.fingerprint, "scoring": _SCORING}
    return SymptomModel(
        name=options.name or model.name,
        labels=tuple(model.labels[k] for k in places),
        fingerprint=hashed_parts(parts),
        batch=getattr(model, "batch", None) or 32,
        parts=parts,
        outputs=outputs,
        trained_on=getattr(model, "trained_on", ()),
        notes=getattr(model, "notes", ()),
    )


def _described(options: ModelOptions) -> SymptomModel:
    """The model that compares sentences with the descriptions of the symptoms of a graph."""
    graph, encoder = read_graph(options.graph), open_encoder(options.encoder)
    descriptions = [text for symptom in graph.symptom for text in symptom.descriptions]
    starts = np.cumsum([0, *(len(symptom.descriptions) for symptom in graph.symptom)])[:-1]
    known = encoder.encode(descriptions)

    def outputs(sentences: Sequence[str]) -> FloatArray:
        nearest = highest_cosine(encoder.encode(sentences), known, starts)
        relevance = 1 / (1 + np.exp(-_SLOPE * (nearest - _MIDDLE)))
        return np.hstack([relevance, np.full((len(relevance), 1), np.nan)])

    parts = {
        "encoder": encoder.fingerprint,
        "graph": hashed(*(text for one in graph.symptom for text in (one.name, *one.descriptions))),
        "scoring": _SCORING,
    }
    return SymptomModel(
        name=options.name or DESCRIPTIONS,
        labels=tuple(symptom.name for symptom in graph.symptom),
        fingerprint=hashed_parts(parts),
        batch=options.batch or getattr(encoder, "batch", None) or 32,
        parts=parts,
        outputs=outputs,
    )
