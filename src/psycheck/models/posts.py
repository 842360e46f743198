"""What a model of histories sees of each post: symptom weights, a vector, or both."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from functools import cache

import numpy as np
from numpy.typing import NDArray

from psycheck.errors import BadInput
from psycheck.model import Encoder, FloatArray, Model, digest_of
from psycheck.models.fingerprint import hashed
from psycheck.models.open import open_model, parse_spec
from psycheck.models.symptoms import SymptomModel, weighted
from psycheck.text.clean import split_sentences

DESCRIBED = "symptoms:descriptions"
READ = 40_000  # characters of a post: as many as Reddit lets a post have
_AT_ONCE = 512  # posts
_REMEMBERED = 2**28  # bytes of features
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
    def batch(self) -> int:
        """As many posts at once as the symptom model likes sentences."""
        return self.model.batch

    def score(self, posts: Sequence[str], /) -> FloatArray:
        """The weights of posts, (n, k)."""
        split = [split_sentences(post[:READ]) for post in posts]
        weights = np.zeros((len(posts), len(self.labels)))
        flat = [sentence for sentences in split for sentence in sentences]
        if flat:
            rows = np.repeat(np.arange(len(posts)), [len(sentences) for sentences in split])
            tags = self.model.tag(flat)
            np.maximum.at(weights, rows, weighted(tags, status=self.status, subject=self.subject))
        return weights


def open_post_symptoms(spec: str, *, status: bool = True, subject: bool = True) -> PostSymptoms:
    """Open "symptoms:descriptions" or "symptoms:FOLDER" as a model of posts."""
    kind = parse_spec(spec)[0]
    model = _described() if spec == DESCRIBED else open_model(spec) if kind == "symptoms" else None
    if not isinstance(model, SymptomModel):
        allowed = "symptoms:descriptions or symptoms:FOLDER"
        raise BadInput(f"'{spec}' is not a symptom model", allowed=allowed)
    return PostSymptoms(model, status, subject)


@cache
def _described() -> Model:
    """The shipped descriptions, encoded once in a process."""
    return open_model(DESCRIBED)


@dataclass(frozen=True, slots=True)
class PostFeatures:
    """The features of posts side by side, (n, d); each distinct post is computed once in a process."""

    symptoms: PostSymptoms | None
    encoder: Encoder | None

    @property
    def fingerprints(self) -> dict[str, str]:
        """What the features depend on."""
        parts = {"symptoms": self.symptoms, "encoder": self.encoder}
        return {name: part.fingerprint for name, part in parts.items() if part is not None}

    def of(self, posts: Sequence[str]) -> Features:
        """The features of posts, (n, d)."""
        columns = []
        if self.symptoms is not None:
            columns.append(_once(posts, self.symptoms.fingerprint, self.symptoms.score))
        if self.encoder is not None:
            columns.append(_once(posts, self.encoder.fingerprint, self.encoder.encode))
        return np.hstack(columns)


@cache
def _known(fingerprint: str) -> dict[bytes, Features]:
    """What this process has computed, by post."""
    return {}


def _once(posts: Sequence[str], fingerprint: str, compute: Callable[[list[str]], FloatArray]) -> Features:
    """Features of posts, (n, d), from memory where they are known; the oldest are forgotten."""
    known, keys = _known(fingerprint), [digest_of(post) for post in posts]
    new = list({key: post for key, post in zip(keys, posts, strict=True) if key not in known}.items())
    for start in range(0, len(new), _AT_ONCE):
        some = new[start : start + _AT_ONCE]
        found = compute([post for _, post in some]).astype(np.float32)
        known.update(zip((key for key, _ in some), found, strict=True))
    rows = np.stack([known[key] for key in keys])
    while len(known) * rows.shape[1] * rows.itemsize > _REMEMBERED:
        del known[next(iter(known))]
    return rows
