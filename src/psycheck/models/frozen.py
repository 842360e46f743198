"""A logistic regression on fixed features: the vectors of an encoder, evidence for symptoms, or both.

Its folder holds the coefficients and the names of the encoder and the symptom model, not their weights.
"""

import json
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np

from psycheck.errors import UNREADABLE, BadInput, ModelFailure, explained
from psycheck.model import FloatArray, IntArray, sizes_of
from psycheck.models.evidence import Evidence, log_odds, open_evidence
from psycheck.models.fingerprint import hashed
from psycheck.models.hf import HfEncoder, minilm_folder, open_hf_encoder
from psycheck.models.hf_folder import characters_read, find_folder
from psycheck.models.options import ModelOptions

HEAD_FILE, FROZEN_FILE = "head.safetensors", "frozen.json"


@dataclass(frozen=True, slots=True)
class FrozenModel:
    """A logistic regression; its features are those of `evidence`, then those of `encoder`.

    `weights` (k, d), `intercepts` (k,); `means` (d,) are those of the features in training.
    """

    name: str
    labels: tuple[str, ...]
    fingerprint: str
    weights: FloatArray = field(repr=False)
    intercepts: FloatArray = field(repr=False)
    means: FloatArray = field(repr=False)
    encoder: HfEncoder | None = field(repr=False)
    evidence: Evidence | None = field(repr=False, default=None)

    @property
    def batch(self) -> int:
        """The batch size of the encoder."""
        return (self.encoder or self.evidence or self).batch

    def score(self, texts: Sequence[str], /) -> FloatArray:
        """Score texts, (n, k) in [0, 1]."""
        found = [] if self.evidence is None else [log_odds(self.evidence.score(texts))]
        found += [] if self.encoder is None else [self.encoder.encode(texts)]
        return np.asarray(1 / (1 + np.exp(-(np.hstack(found) @ self.weights.T + self.intercepts))))

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
            what = f"model '{self.name}' does not decide from symptoms"
            raise BadInput(what, allowed="a model trained with symptoms+lr or encoder+symptoms+lr")
        d, row = len(self.evidence.labels), self.labels.index(label or self.labels[0])
        moved = (log_odds(self.evidence.score(texts)) - self.means[:d]) * self.weights[row, :d]
        return np.asarray(moved.reshape(len(texts), 2, -1).sum(axis=1))


def open_frozen(target: str, options: ModelOptions) -> FrozenModel:
    """Open a folder that training wrote; another encoder or symptom model of the same name is refused."""
    from safetensors import SafetensorError
    from safetensors.numpy import load_file

    folder = Path(target).expanduser()
    what, allowed = "the folder does not hold a frozen model", "a folder that training 'encoder+lr' wrote"
    with explained(what, *UNREADABLE, SafetensorError, kind=ModelFailure, where=str(folder), allowed=allowed):
        settings: dict[str, Any] = json.loads((folder / FROZEN_FILE).read_text("utf-8"))
        head = load_file(folder / HEAD_FILE)
        weights, intercepts, labels = head["weights"], head["intercepts"], tuple(settings["labels"])
        means = head.get("means", np.zeros(weights.shape[1]))  # older folders have none
        if not len(weights) == len(intercepts) == len(labels) or len(means) != weights.shape[1]:
            raise ValueError("labels and coefficients differ in number")
        named = {
            kind: settings[f"{kind}_fingerprint"] for kind in ("evidence", "encoder") if kind in settings
        }
        window = settings["max_length"] if "encoder" in named else 0
        if not named:
            raise ValueError("no features are named")
    evidence = encoder = None
    if "evidence" in named:
        evidence = open_evidence(settings["evidence"], ModelOptions(batch=options.batch))
    if "encoder" in named:
        encoder = open_frozen_encoder(settings["encoder"], window, options)
    for kind, opened in (("symptom model", evidence), ("encoder", encoder)):
        if opened is not None and opened.fingerprint not in named.values():
            what = f"the {kind} '{opened.name}' is not the one that this model was trained on"
            raise ModelFailure(what, where=target, do="restore the original one, or train again")
    mark = hashed(*named.values(), weights.tobytes(), intercepts.tobytes())
    labels = tuple(options.label.split(",")) if options.label else labels
    name = options.name or folder.resolve().name
    return FrozenModel(name, labels, mark, weights, intercepts, means, encoder, evidence)


def open_frozen_encoder(name: str, max_length: int, options: ModelOptions | None = None) -> HfEncoder:
    """Open the encoder of a frozen model: "minilm", a folder or a hub name."""
    own = options or ModelOptions()
    wanted = ModelOptions(max_length=max_length, batch=own.batch, device=own.device)
    folder = minilm_folder() if name == "minilm" else find_folder(name, ModelOptions())
    return open_hf_encoder(str(folder), wanted, name=name)
