"""The symptoms of posts as a model whose scores the store keeps: the one place that computes them.

Whoever needs the weight of each symptom in each post opens `PostSymptoms` and asks the scoring room for its
scores (`psycheck.scoring.answers.answers`), as of any other model. A post is then weighed once: for a model
of histories, for the evidence in a history, and for an explanation alike. Nothing here remembers anything.
"""

from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import cache

import numpy as np
from numpy.typing import NDArray

from psycheck.core.arrays import FloatArray
from psycheck.core.errors import BadInput
from psycheck.core.model import Capabilities, Encoder, Model
from psycheck.models.fingerprint import hashed
from psycheck.models.opening import open_model, parse_spec
from psycheck.symptoms.reader import SymptomModel
from psycheck.symptoms.statements import weighted
from psycheck.text.clean import split_sentences

DEFAULT = "symptoms:default"
READ = 40_000  # characters of a post: as many as Reddit lets a post have
Features = NDArray[np.float32]


@dataclass(frozen=True, slots=True)
class PostSymptoms:
    """The weight of each symptom in a post, the largest over its sentences: a model of posts.

    Weights are those of formula (1); `status` and `subject` switch its factors. A post without a sentence
    weighs 0 throughout; of a post longer than 40,000 characters only these are read.
    """

    model: SymptomModel = field(repr=False)
    status: bool = True
    subject: bool = True

    @property
    def name(self) -> str:
        """That of the symptom model."""
        return self.model.name

    @property
    def labels(self) -> tuple[str, ...]:
        """The symptoms."""
        return self.model.labels

    @property
    def fingerprint(self) -> str:
        """Changes with the symptom model and the switches."""
        return hashed("posts", self.model.fingerprint, f"{self.status} {self.subject} {READ}")

    @property
    def capabilities(self) -> Capabilities:
        """As many posts at once as the symptom model likes sentences."""
        return Capabilities(batch=self.model.capabilities.batch)

    def score(self, posts: Sequence[str], /) -> FloatArray:
        """The weights of posts, (n, k)."""
        sentences_of_posts = [split_sentences(post[:READ]) for post in posts]
        counts = [len(sentences) for sentences in sentences_of_posts]
        sentences = [sentence for post_sentences in sentences_of_posts for sentence in post_sentences]

        weights = np.zeros((len(posts), len(self.labels)))
        if sentences:
            tags = self.model.tag(sentences)
            sentence_weights = weighted(tags, status=self.status, subject=self.subject)
            post_of_sentence = np.repeat(np.arange(len(posts)), counts)
            np.maximum.at(weights, post_of_sentence, sentence_weights)
        return weights


def open_post_symptoms(spec: str, *, status: bool = True, subject: bool = True) -> PostSymptoms:
    """Open "symptoms:default", "symptoms:descriptions" or "symptoms:FOLDER" as a model of posts."""
    model = _opened(spec)
    if not isinstance(model, SymptomModel):
        raise BadInput(
            f"'{spec}' is not a symptom model",
            code="symptoms.not-a-symptom-model",
            allowed="symptoms:default, symptoms:descriptions or symptoms:FOLDER",
        )
    return PostSymptoms(model, status, subject)


def _opened(spec: str) -> Model | None:
    if spec == DEFAULT:
        return _default()
    kind = parse_spec(spec)[0]
    return open_model(spec) if kind == "symptoms" else None


@cache
def _default() -> Model:
    """The shipped reader, opened once in a process."""
    return open_model(DEFAULT)


@dataclass(frozen=True, slots=True)
class PostFeatures:
    """What computes the features of posts: symptom weights, vectors, or both, side by side in this order."""

    symptoms: PostSymptoms | None
    encoder: Encoder | None

    @property
    def models(self) -> tuple[Model | Encoder, ...]:
        """The symptom model and the encoder, as far as there are."""
        return tuple(part for part in (self.symptoms, self.encoder) if part is not None)

    @property
    def fingerprints(self) -> dict[str, str]:
        """What the features depend on."""
        parts = {"symptoms": self.symptoms, "encoder": self.encoder}
        return {name: part.fingerprint for name, part in parts.items() if part is not None}
