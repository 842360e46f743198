"""A logistic regression on fixed features: the vectors of an encoder, evidence for symptoms, or both.

Its folder holds the coefficients and the names of the encoder and the symptom model, not their weights.
"""

import json
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np

from psycheck.core.arrays import FloatArray, IntArray
from psycheck.core.errors import UNREADABLE, BadInput, ModelFailure, explained
from psycheck.core.item import sizes_of
from psycheck.core.model import AnswersOf, Capabilities, Encoder, Model, ModelKind, capabilities_of
from psycheck.models.fingerprint import hashed
from psycheck.models.hf import HfEncoder, minilm_folder, open_hf_encoder
from psycheck.models.hf_folder import HfOptions, find_folder
from psycheck.models.options import ModelOptions, Text
from psycheck.models.training_card import with_card
from psycheck.models.window import characters_read
from psycheck.symptoms.evidence import Evidence, log_odds, open_evidence
from psycheck.symptoms.reader import SymptomOptions

HEAD_FILE = "head.safetensors"
FROZEN_FILE = "frozen.json"


@dataclass(frozen=True, slots=True, kw_only=True)
class FrozenOptions(ModelOptions):
    """Options of a frozen model: the `device` is that of its encoder."""

    device: Text | None = None


@dataclass(frozen=True, slots=True, weakref_slot=True, kw_only=True)
class FrozenModel:
    """A logistic regression; its features are those of `evidence`, then those of `encoder`.

    `weights` (k, d), `intercepts` (k,); `means` (d,) are those of the features in training.
    """

    name: str
    labels: tuple[str, ...]
    fingerprint: str
    capabilities: Capabilities = field(repr=False)
    weights: FloatArray = field(repr=False)
    intercepts: FloatArray = field(repr=False)
    means: FloatArray = field(repr=False)
    encoder: HfEncoder | None = field(repr=False)
    evidence: Evidence | None = field(repr=False, default=None)

    @property
    def needs(self) -> tuple[Model | Encoder, ...]:
        """The evidence and the encoder, in the order of their features."""
        return tuple(need for need in (self.evidence, self.encoder) if need is not None)

    def needed(self, texts: Sequence[str], /) -> Sequence[str]:
        """What evidence and encoder are asked about: the texts themselves."""
        return texts

    def score_from(self, texts: Sequence[str], answers: Sequence[AnswersOf], /) -> FloatArray:
        """Score texts from their evidence and their vectors, (n, k) in [0, 1]."""
        features = [answer(texts) for answer in answers]
        # The store keeps evidence in [0, 1]; the regression was fitted to its log-odds.
        if self.evidence is not None:
            features[0] = log_odds(features[0])
        logits = np.hstack(features) @ self.weights.T + self.intercepts
        return np.asarray(1 / (1 + np.exp(-logits)))

    def score(self, texts: Sequence[str], /) -> FloatArray:
        """Score texts, (n, k) in [0, 1]; evidence and vectors are computed here."""
        answers: list[AnswersOf] = []
        if self.evidence is not None:
            answers.append(self.evidence.score)
        if self.encoder is not None:
            answers.append(self.encoder.encode)
        return self.score_from(texts, answers)

    def read(self, texts: Sequence[str], /) -> IntArray:
        """How many characters of each text are read, (n,): all where its sentences are."""
        if self.evidence is not None or self.encoder is None:
            return sizes_of(texts)
        return characters_read(self.encoder.tokenizer, texts, self.encoder.max_length)

    def reasons(self, texts: Sequence[str], /, label: str | None = None) -> FloatArray:
        """How far each symptom moves the log-odds of a label away from those of a mean text, (n, m).

        The columns are `evidence.symptoms`. Without `label` it is the first one.
        """
        if self.evidence is None:
            raise BadInput(
                f"model '{self.name}' does not decide from symptoms",
                code="model.no-symptoms",
                allowed="a model trained with symptoms+lr or encoder+symptoms+lr",
            )
        width = len(self.evidence.labels)
        row = self.labels.index(label or self.labels[0])
        from_mean = log_odds(self.evidence.score(texts)) - self.means[:width]
        moved = from_mean * self.weights[row, :width]
        # Each symptom has two features, its largest and its mean evidence: (n, 2, m).
        return np.asarray(moved.reshape(len(texts), 2, -1).sum(axis=1))


@dataclass(frozen=True, slots=True, kw_only=True)
class _Saved:
    """What the folder of a frozen model holds.

    `settings` name the encoder and the evidence; `fingerprints` are theirs, by "evidence" and "encoder".
    """

    labels: tuple[str, ...]
    settings: dict[str, Any]
    fingerprints: dict[str, str]
    weights: FloatArray
    intercepts: FloatArray
    means: FloatArray


def open_frozen(target: str, options: FrozenOptions) -> FrozenModel:
    """Open a folder that training wrote; another encoder or symptom model of the same name is refused."""
    folder = Path(target).expanduser()
    saved = _read_folder(folder)

    evidence = encoder = None
    if "evidence" in saved.fingerprints:
        evidence = open_evidence(saved.settings["evidence"], SymptomOptions(batch=options.batch))
        _check_unchanged("symptom model", evidence, saved, where=target)
    if "encoder" in saved.fingerprints:
        max_length = saved.settings["max_length"]
        encoder = open_frozen_encoder(saved.settings["encoder"], max_length, options)
        _check_unchanged("encoder", encoder, saved, where=target)

    # The names of encoder and symptom model do not count, their fingerprints do.
    fingerprint = hashed(
        *saved.fingerprints.values(),
        saved.weights.tobytes(),
        saved.intercepts.tobytes(),
    )
    labels = tuple(options.label.split(",")) if options.label else saved.labels
    # As many texts at once as the encoder or the evidence likes: the regression costs nothing beside them.
    declared = Capabilities(batch=capabilities_of(encoder or evidence).batch)
    return FrozenModel(
        name=options.name or folder.resolve().name,
        labels=labels,
        fingerprint=fingerprint,
        capabilities=with_card(declared, folder, labels),
        weights=saved.weights,
        intercepts=saved.intercepts,
        means=saved.means,
        encoder=encoder,
        evidence=evidence,
    )


def _read_folder(folder: Path) -> _Saved:
    """The settings and coefficients of a folder."""
    from safetensors import SafetensorError
    from safetensors.numpy import load_file

    with explained(
        "the folder does not hold a frozen model",
        *UNREADABLE,
        SafetensorError,
        kind=ModelFailure,
        code="model.not-frozen",
        where=str(folder),
        allowed="a folder that training 'encoder+lr' wrote",
    ):
        settings: dict[str, Any] = json.loads((folder / FROZEN_FILE).read_text("utf-8"))
        head = load_file(folder / HEAD_FILE)
        weights = head["weights"]
        saved = _Saved(
            labels=tuple(settings["labels"]),
            settings=settings,
            fingerprints={
                feature: settings[f"{feature}_fingerprint"]
                for feature in ("evidence", "encoder")
                if feature in settings
            },
            weights=weights,
            intercepts=head["intercepts"],
            means=head.get("means", np.zeros(weights.shape[1])),  # older folders have none
        )
        _check_saved(saved)
    return saved


def _check_saved(saved: _Saved) -> None:
    """Refuse a folder whose parts do not belong together."""
    label_counts = {len(saved.labels), len(saved.weights), len(saved.intercepts)}
    if len(label_counts) > 1 or len(saved.means) != saved.weights.shape[1]:
        raise ValueError("labels and coefficients differ in number")
    if not saved.fingerprints:
        raise ValueError("no features are named")
    if "encoder" in saved.fingerprints and "max_length" not in saved.settings:
        raise ValueError("the window of the encoder is missing")


def _check_unchanged(what: str, opened: Evidence | HfEncoder, saved: _Saved, *, where: str) -> None:
    """Refuse another symptom model or encoder of the same name."""
    if opened.fingerprint not in saved.fingerprints.values():
        raise ModelFailure(
            f"the {what} '{opened.name}' is not the one that this model was trained on",
            code="model.other-features",
            where=where,
            do="restore the original one, or train again",
        )


def open_frozen_encoder(name: str, max_length: int, options: FrozenOptions | None = None) -> HfEncoder:
    """Open the encoder of a frozen model: "minilm", a folder or a hub name."""
    # The folder names the encoder: training wrote its start as the recipe had it.
    folder = minilm_folder() if name == "minilm" else find_folder(name, HfOptions())
    model_options = options or FrozenOptions()
    encoder_options = HfOptions(
        max_length=max_length,
        batch=model_options.batch,
        device=model_options.device,
    )
    return open_hf_encoder(str(folder), encoder_options, name=name)


KIND = ModelKind(open=open_frozen, options=FrozenOptions, target="path", markers=(FROZEN_FILE,))
