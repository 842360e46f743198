"""A learner of scikit-learn on fixed features: an SVM, a forest, a network or a regression, saved by skops.

Its features are TF–IDF of words, which the file holds, or the vectors of an encoder, which the folder names.
Nothing in the folder can run code when it is opened.
"""

import json
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np

from psycheck.core.arrays import FloatArray, IntArray
from psycheck.core.errors import UNREADABLE, ModelFailure, explained
from psycheck.core.item import sizes_of
from psycheck.core.model import AnswersOf, Capabilities, Encoder, Model, ModelKind, capabilities_of
from psycheck.models.fingerprint import file_hash, hashed
from psycheck.models.hf import HfEncoder
from psycheck.models.opening import open_encoder
from psycheck.models.options import ModelOptions, Text
from psycheck.models.sklearn_file import BATCH, SklearnOptions, load_estimator
from psycheck.models.training_card import with_card
from psycheck.models.window import characters_read

LEARNER_FILE = "learner.json"
CLASSIFIERS_FILE = "learner.skops"


@dataclass(frozen=True, slots=True, kw_only=True)
class LearnerOptions(ModelOptions):
    """Options of a learner: the `device` is that of its encoder."""

    device: Text | None = None


@dataclass(
    frozen=True,
    slots=True,
    weakref_slot=True,
    kw_only=True,
)
class LearnerModel:
    """One classifier per label, on the vectors of `encoder`; without one it takes texts.

    `slopes` holds, for each classifier without probabilities, how steeply its margin becomes a score.
    """

    name: str
    labels: tuple[str, ...]
    fingerprint: str
    capabilities: Capabilities = field(repr=False)
    classifiers: tuple[Any, ...] = field(repr=False)
    slopes: tuple[float | None, ...]
    encoder: Encoder | None = field(repr=False, default=None)

    @property
    def needs(self) -> tuple[Model | Encoder, ...]:
        """The encoder, if there is one."""
        if self.encoder is None:
            return ()
        return (self.encoder,)

    def needed(self, texts: Sequence[str], /) -> Sequence[str]:
        """What the encoder is asked about: the texts themselves."""
        return texts

    def score_from(self, texts: Sequence[str], answers: Sequence[AnswersOf], /) -> FloatArray:
        """Score texts from their vectors, or from their words where there is no encoder, (n, k) in [0, 1]."""
        if not texts:
            return np.empty((0, len(self.labels)))
        # Classifiers on words hold their own vectorizer, and take texts.
        features: Any = list(texts)
        if self.encoder is not None:
            (vectors_of,) = answers
            features = zeros_for_unknown(vectors_of(texts))
        return scores_of_classifiers(self.classifiers, self.slopes, features)

    def score(self, texts: Sequence[str], /) -> FloatArray:
        """Score texts, (n, k) in [0, 1]; vectors are computed here."""
        answers = [] if self.encoder is None else [self.encoder.encode]
        return self.score_from(texts, answers)

    def read(self, texts: Sequence[str], /) -> IntArray:
        """How many characters of each text are read, (n,): all, unless a transformer's window ends before."""
        if isinstance(self.encoder, HfEncoder):
            return characters_read(self.encoder.tokenizer, texts, self.encoder.max_length)
        return sizes_of(texts)


def zeros_for_unknown(vectors: FloatArray) -> FloatArray:
    """Vectors of texts, (n, d), with zeros for a text without a word that the encoder knows."""
    is_unknown = np.isnan(vectors).any(axis=1, keepdims=True)
    return np.where(is_unknown, 0.0, vectors)


def scores_of_classifiers(
    classifiers: Sequence[Any], slopes: Sequence[float | None], features: Any
) -> FloatArray:
    """The score of each row by each classifier of two classes, (n, k) in [0, 1]."""
    columns = []
    for classifier, slope in zip(classifiers, slopes, strict=True):
        if slope is None:
            probabilities = np.asarray(classifier.predict_proba(features), np.float64)
            columns.append(probabilities[:, 1])
        else:
            # A margin of 0 becomes 0.5: the score decides as the classifier does.
            margins = np.asarray(classifier.decision_function(features), np.float64)
            columns.append(1 / (1 + np.exp(-slope * margins)))
    return np.column_stack(columns)


def open_learner(target: str, options: LearnerOptions) -> LearnerModel:
    """Open a folder that training wrote; another encoder of the same name is refused."""
    folder = Path(target).expanduser()
    with explained(
        "the folder does not hold a learner",
        *UNREADABLE,
        kind=ModelFailure,
        code="model.not-a-learner",
        where=target,
        allowed="a folder that `train` wrote with start svm, forest, mlp or lr",
    ):
        settings: dict[str, Any] = json.loads((folder / LEARNER_FILE).read_text("utf-8"))
        saved_labels = tuple(settings["labels"])
        slopes = tuple(settings["slopes"])
        classifiers = tuple(load_estimator(folder / CLASSIFIERS_FILE, SklearnOptions()))
        # One classifier per label, and its slope: files of two trainings must not be mixed.
        if not len(classifiers) == len(slopes) == len(saved_labels):
            raise ValueError("labels and classifiers differ in number")

    encoder = None
    if "encoder" in settings:
        encoder = open_learned_encoder(settings["encoder"], settings["max_length"], options)
        _check_unchanged(encoder, settings["encoder_fingerprint"], where=target)

    labels = tuple(options.label.split(",")) if options.label else saved_labels
    # As many texts at once as the encoder likes: the learner costs little beside it.
    batch = options.batch or (BATCH if encoder is None else capabilities_of(encoder).batch)
    return LearnerModel(
        name=options.name or folder.resolve().name,
        labels=labels,
        fingerprint=hashed(
            file_hash(folder / CLASSIFIERS_FILE),
            json.dumps(slopes),
            encoder.fingerprint if encoder else "",
        ),
        capabilities=with_card(Capabilities(batch=batch), folder, labels),
        classifiers=classifiers,
        slopes=slopes,
        encoder=encoder,
    )


def open_learned_encoder(spec: str, max_length: int, options: LearnerOptions | None = None) -> Encoder:
    """The encoder that a learner learned from: static vectors, or a transformer with its window."""
    if spec.startswith("vectors:"):
        return open_encoder(spec)
    chosen = options or LearnerOptions()
    settings = {
        "max_length": max_length,
        "batch": chosen.batch,
        "device": chosen.device,
    }
    # What is not set is left to the encoder.
    set_values = {name: value for name, value in settings.items() if value is not None}
    return open_encoder(spec, **set_values)


def _check_unchanged(encoder: Encoder, fingerprint: str, *, where: str) -> None:
    """Refuse other vectors of the same name."""
    if encoder.fingerprint != fingerprint:
        raise ModelFailure(
            f"the encoder '{encoder.name}' is not the one that this model was trained on",
            code="model.other-features",
            where=where,
            do="restore the original one, or train again",
        )


KIND = ModelKind(
    open=open_learner,
    options=LearnerOptions,
    target="path",
    markers=(LEARNER_FILE,),
)
