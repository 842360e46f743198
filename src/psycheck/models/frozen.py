"""A frozen encoder with a logistic regression on its vectors.

Its folder holds the coefficients and the name of the encoder, not the weights of the encoder.
"""

import json
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path

import numpy as np

from psycheck.errors import UNREADABLE, ModelFailure, explained
from psycheck.model import FloatArray, IntArray
from psycheck.models.fingerprint import hashed
from psycheck.models.hf import HfEncoder, minilm_folder, open_hf_encoder
from psycheck.models.hf_folder import characters_read, find_folder
from psycheck.models.options import ModelOptions

HEAD_FILE, FROZEN_FILE = "head.safetensors", "frozen.json"


@dataclass(frozen=True, slots=True)
class FrozenModel:
    """A logistic regression on the vectors of an encoder."""

    name: str
    labels: tuple[str, ...]
    fingerprint: str
    weights: FloatArray = field(repr=False)
    intercepts: FloatArray = field(repr=False)
    encoder: HfEncoder = field(repr=False)

    @property
    def batch(self) -> int:
        """The batch size of the encoder."""
        return self.encoder.batch

    def score(self, texts: Sequence[str], /) -> FloatArray:
        """Score texts, (n, k) in [0, 1]."""
        logits = self.encoder.encode(texts) @ self.weights.T + self.intercepts
        return np.asarray(1 / (1 + np.exp(-logits)))

    def read(self, texts: Sequence[str], /) -> IntArray:
        """How many characters of each text fit into the window, (n,)."""
        return characters_read(self.encoder.tokenizer, texts, self.encoder.max_length)


def open_frozen(target: str, options: ModelOptions) -> FrozenModel:
    """Open a folder that training 'encoder+lr' wrote; another encoder of the same name is refused."""
    from safetensors import SafetensorError
    from safetensors.numpy import load_file

    folder = Path(target).expanduser()
    what, allowed = "the folder does not hold a frozen model", "a folder that training 'encoder+lr' wrote"
    with explained(what, *UNREADABLE, SafetensorError, kind=ModelFailure, where=str(folder), allowed=allowed):
        settings = json.loads((folder / FROZEN_FILE).read_text("utf-8"))
        head = load_file(folder / HEAD_FILE)
        weights, intercepts, labels = head["weights"], head["intercepts"], tuple(settings["labels"])
        name, window = settings["encoder"], settings["max_length"]
        fingerprint = settings["encoder_fingerprint"]
        if not len(weights) == len(intercepts) == len(labels):
            raise ValueError("labels and coefficients differ in number")
    encoder = open_frozen_encoder(name, window, options)
    if encoder.fingerprint != fingerprint:
        what = f"the encoder '{name}' is not the one that this model was trained on"
        raise ModelFailure(what, where=target, do="restore the original encoder, or train again")
    mark = hashed(encoder.fingerprint, weights.tobytes(), intercepts.tobytes())
    labels = tuple(options.label.split(",")) if options.label else labels
    return FrozenModel(options.name or folder.resolve().name, labels, mark, weights, intercepts, encoder)


def open_frozen_encoder(name: str, max_length: int, options: ModelOptions | None = None) -> HfEncoder:
    """Open the encoder of a frozen model: "minilm", a folder or a hub name."""
    own = options or ModelOptions()
    wanted = ModelOptions(max_length=max_length, batch=own.batch, device=own.device)
    folder = minilm_folder() if name == "minilm" else find_folder(name, ModelOptions())
    return open_hf_encoder(str(folder), wanted, name=name)
