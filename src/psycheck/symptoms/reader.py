"""Symptom models: how likely a sentence is about each symptom, whether that is uncertain, and whose it is.

`symptoms:default` is shipped: it knows what is present in the writer, and from which score on it may name
which symptom. A trained one is a classifier of sentences whose labels are the symptoms and, where the status
was annotated, `uncertain`, all from one pass. `symptoms:descriptions` needs no training: the relevance of a
symptom is the highest cosine similarity s of the sentence to one of its descriptions, as
1 / (1 + exp(-10 (s - 0.5))).
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Final

import numpy as np

from psycheck.core.arrays import FloatArray
from psycheck.core.errors import BadInput
from psycheck.core.model import Capabilities, ModelKind, capabilities_of
from psycheck.models.fingerprint import file_hash, hashed, hashed_parts
from psycheck.models.opening import open_encoder, open_model
from psycheck.models.options import ModelOptions, Text
from psycheck.statistics.word_association import highest_cosine
from psycheck.symptoms.adapted_reader import DEFAULT_FOLDER, AdaptedReader, is_adapted_reader, open_adapted
from psycheck.symptoms.graph import read_graph
from psycheck.symptoms.statements import Naming, Tags, read_naming, thresholds_of
from psycheck.symptoms.text_rules import chosen_parts, read_rules
from psycheck.text.clean import split_sentences
from psycheck.text.status import parts_of
from psycheck.text.subject import own

UNCERTAIN: Final = "uncertain"
"""The label of the status: the share of annotators who called the symptoms of a sentence uncertain."""

DEFAULT: Final = "default"
DESCRIPTIONS: Final = "descriptions"
# A similarity of 0.5, the least that retrieval accepts (App. D), becomes a relevance of 0.5.
_MIDDLE = 0.5
_SLOPE = 10.0
_BATCH = 32  # sentences at once, for a model that does not say what it prefers
_SCORING = "3"  # increase it whenever the same model and text would give another score


@dataclass(frozen=True, slots=True, eq=False, kw_only=True)
class Readings:
    """What a model itself says of n sentences and k symptoms, from one pass of one encoder.

    `relevance` (n, k) is the probability that the sentence mentions the symptom; `present` (n, k) that it is
    present in the writer, now; `uncertain` (n,) that the sentence is in doubt. NaN where a model has none.
    """

    relevance: FloatArray
    present: FloatArray
    uncertain: FloatArray

    @classmethod
    def mentioned(cls, relevance: FloatArray) -> "Readings":
        """The readings of a model that says what a sentence mentions, and nothing else."""
        return cls(
            relevance=relevance,
            present=np.full(relevance.shape, np.nan),
            uncertain=np.full(len(relevance), np.nan),
        )


@dataclass(frozen=True, slots=True, weakref_slot=True, kw_only=True)
class SymptomModel:
    """A model of sentences as a model of texts.

    `naming` says from which score on it may name which symptom, if that was measured.
    """

    name: str
    labels: tuple[str, ...]
    fingerprint: str
    capabilities: Capabilities = field(repr=False)
    outputs: Callable[[Sequence[str]], Readings] = field(repr=False)
    naming: Naming | None = field(default=None, repr=False)

    def tag(self, sentences: Sequence[str], /) -> Tags:
        """What the model and the rules of the text say of sentences, each read in parts of one status."""
        parts_by_sentence = [parts_of(sentence) for sentence in sentences]
        parts = [part for sentence_parts in parts_by_sentence for part in sentence_parts]
        readings = self.outputs(parts)
        rules = read_rules(parts, self.labels)
        relevance = np.fmax(readings.relevance, rules.stated)
        # A model that does not say what is present is left to the formula: NaN stays NaN.
        present = np.maximum(readings.present, rules.stated)

        counts = [len(sentence_parts) for sentence_parts in parts_by_sentence]
        part_of_symptom = chosen_parts(relevance, rules.status, counts)
        columns = np.arange(len(self.labels))
        is_own = [own(sentence) for sentence in sentences]
        return Tags(
            relevance=relevance[part_of_symptom, columns],
            present=present[part_of_symptom, columns],
            uncertain=_least(readings.uncertain, counts),
            status=rules.status[part_of_symptom],
            own=np.array(is_own, np.bool_),
            thresholds=thresholds_of(self.naming, self.labels),
        )

    def score(self, texts: Sequence[str], /) -> FloatArray:
        """The largest relevance over the sentences of each text, (n, k); NaN for a text without one."""
        sentences_of_texts = [split_sentences(text) for text in texts]
        counts = np.array([len(text_sentences) for text_sentences in sentences_of_texts])
        sentences = [sentence for text_sentences in sentences_of_texts for sentence in text_sentences]

        scores = np.full((len(texts), len(self.labels)), np.nan)
        if sentences:
            has_sentences = counts > 0
            ends = np.cumsum(counts[has_sentences])
            starts = np.concatenate([[0], ends[:-1]])
            relevance = self.tag(sentences).relevance
            scores[has_sentences] = np.maximum.reduceat(relevance, starts, axis=0)
        return scores


def _least(values: FloatArray, counts: Sequence[int]) -> FloatArray:
    """The least value among the parts of each sentence, (sentences,), of values (parts,)."""
    if not counts:
        return np.empty(0)
    starts = np.cumsum([0, *counts[:-1]])
    return np.asarray(np.fmin.reduceat(values, starts))


@dataclass(frozen=True, slots=True, kw_only=True)
class SymptomOptions(ModelOptions):
    """Options of a symptom model: the symptom `graph` (a file) and the `encoder` of symptoms:descriptions."""

    graph: Text | None = None
    encoder: Text = "minilm"


def open_symptoms(target: str, options: SymptomOptions) -> SymptomModel:
    """Open "default" (the shipped reader), "descriptions", or a folder of `psycheck symptoms train`."""
    if target == DESCRIPTIONS:
        return _described(options)
    if options.graph is not None:
        raise BadInput(
            "a trained symptom model knows its symptoms: it takes no graph",
            code="symptoms.graph-of-trained-model",
            where=target,
            allowed="graph is for symptoms:descriptions",
        )
    folder = DEFAULT_FOLDER if target == DEFAULT else Path(target).expanduser()
    if is_adapted_reader(folder):
        return _adapted(folder, options, name=DEFAULT if target == DEFAULT else folder.resolve().name)
    return _trained(target, options)


def _adapted(folder: Path, options: SymptomOptions, *, name: str) -> SymptomModel:
    """The reader of a folder, with what its card says that it may name."""
    reader = open_adapted(folder, options.batch)
    return model_of_reader(reader, options.name or name, read_naming(reader.card))


def model_of_reader(
    reader: AdaptedReader,
    name: str,
    naming: Naming | None = None,
) -> SymptomModel:
    """A reader as a symptom model: what a sentence mentions, and what is present in the writer."""

    def outputs(sentences: Sequence[str]) -> Readings:
        mentioned, present = np.hsplit(reader.read(list(sentences)), 2)
        # What is present is mentioned, too: the geometric mean asks for both.
        return Readings(
            relevance=mentioned,
            present=np.sqrt(mentioned * present),
            uncertain=np.full(len(sentences), np.nan),
        )

    parts = {**reader.parts, "card": file_hash(reader.card), "scoring": _SCORING}
    return SymptomModel(
        name=name,
        labels=reader.labels,
        fingerprint=hashed_parts(parts),
        capabilities=Capabilities(batch=reader.encoder.capabilities.batch, parts=parts),
        outputs=outputs,
        naming=naming,
    )


def _trained(target: str, options: SymptomOptions) -> SymptomModel:
    """The model of a folder: a classifier of sentences, one of whose labels may be the status."""
    model = open_model(target, batch=options.batch)
    symptom_columns = [column for column, label in enumerate(model.labels) if label != UNCERTAIN]
    status_columns = [column for column, label in enumerate(model.labels) if label == UNCERTAIN]

    def outputs(sentences: Sequence[str]) -> Readings:
        values = model.score(sentences)
        readings = Readings.mentioned(values[:, symptom_columns])
        if status_columns:
            return replace(readings, uncertain=values[:, status_columns[0]])
        return readings

    parts = {"sentences": model.fingerprint, "scoring": _SCORING}
    declared = capabilities_of(model)
    return SymptomModel(
        name=options.name or model.name,
        labels=tuple(model.labels[column] for column in symptom_columns),
        fingerprint=hashed_parts(parts),
        # Not what else the classifier declares: its thresholds and `exclusive` are about its own labels.
        capabilities=Capabilities(
            batch=declared.batch or _BATCH,
            parts=parts,
            trained_on=declared.trained_on,
            notes=declared.notes,
        ),
        outputs=outputs,
    )


def _described(options: SymptomOptions) -> SymptomModel:
    """The model that compares sentences with the descriptions of the symptoms of a graph."""
    graph = read_graph(options.graph)
    encoder = open_encoder(options.encoder)
    descriptions = [text for symptom in graph.symptom for text in symptom.descriptions]
    counts = [len(symptom.descriptions) for symptom in graph.symptom]
    starts = np.cumsum([0, *counts])[:-1]
    # Encoded once when opened, since every sentence is compared with all of them.
    description_vectors = encoder.encode(descriptions)

    def outputs(sentences: Sequence[str]) -> Readings:
        similarity = highest_cosine(encoder.encode(sentences), description_vectors, starts)
        relevance = 1 / (1 + np.exp(-_SLOPE * (similarity - _MIDDLE)))
        return Readings.mentioned(relevance)

    words = [text for symptom in graph.symptom for text in (symptom.name, *symptom.descriptions)]
    parts = {
        "encoder": encoder.fingerprint,
        "graph": hashed(*words),  # links and titles of the graph decide no score
        "scoring": _SCORING,
    }
    batch = options.batch or capabilities_of(encoder).batch or _BATCH
    return SymptomModel(
        name=options.name or DESCRIPTIONS,
        labels=tuple(symptom.name for symptom in graph.symptom),
        fingerprint=hashed_parts(parts),
        capabilities=Capabilities(batch=batch, parts=parts),
        outputs=outputs,
    )


KIND = ModelKind(
    open=open_symptoms,
    options=SymptomOptions,
    target="path",
    files=("graph",),
    names=(DEFAULT, DESCRIPTIONS),
)
