"""A frozen encoder with a logistic regression on its vectors, opened from its folder.

The folder holds the coefficients and names the encoder; it does not copy the encoder's weights.
"""

import json
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np

from psycheck.errors import ModelFailure
from psycheck.model import FloatArray, IntArray
from psycheck.models.encoder import HfEncoder, minilm_folder, open_hf_encoder
from psycheck.models.fingerprint import hashed
from psycheck.models.hf_folder import find_folder
from psycheck.models.options import ModelOptions
from psycheck.models.window import characters_read

HEAD_FILE, FROZEN_FILE = "head.safetensors", "frozen.json"


@dataclass(frozen=True, slots=True)
class FrozenModel:
    """A model that scores texts by their vectors alone."""

    name: str
    labels: tuple[str, ...]
    fingerprint: str
    weights: FloatArray = field(repr=False)
    intercepts: FloatArray = field(repr=False)
    encoder: HfEncoder = field(repr=False)

    @property
    def batch(self) -> int:
        """How many texts it likes at once."""
        return self.encoder.batch

    def score(self, texts: Sequence[str], /) -> FloatArray:
        """Score texts, (n, k) in [0, 1]."""
        logits = self.encoder.encode(texts) @ self.weights.T + self.intercepts
        return np.asarray(1 / (1 + np.exp(-logits)))

    def read(self, texts: Sequence[str], /) -> IntArray:
        """How many characters of each text fall into the window, (n,)."""
        return characters_read(self.encoder.tokenizer, texts, self.encoder.max_length)


def open_frozen(target: str, options: ModelOptions) -> FrozenModel:
    """Open a folder that `save_frozen` wrote; another encoder under the same name is refused."""
    folder = Path(target).expanduser()
    said, head = _read(folder)
    encoder = open_frozen_encoder(said["encoder"], said["max_length"], options)
    if encoder.fingerprint != said["encoder_fingerprint"]:
        raise ModelFailure(
            f"the encoder '{said['encoder']}' is not the one that this model was trained on",
            where=target,
            do="bring back the same weights, or train again",
        )
    mark = hashed(encoder.fingerprint, head["weights"].tobytes(), head["intercepts"].tobytes())
    labels = tuple(options.label.split(",")) if options.label else tuple(said["labels"])
    return FrozenModel(
        options.name or folder.resolve().name, labels, mark, head["weights"], head["intercepts"], encoder
    )


def _read(folder: Path) -> tuple[dict[str, Any], dict[str, Any]]:
    from safetensors import SafetensorError
    from safetensors.numpy import load_file

    try:
        said = json.loads((folder / FROZEN_FILE).read_text("utf-8"))
        head = load_file(folder / HEAD_FILE)
        if len(head["weights"]) != len(head["intercepts"]) or len(said["labels"]) != len(head["weights"]):
            raise ValueError("labels and coefficients differ in number")
        said["encoder"], said["encoder_fingerprint"], said["max_length"]
    except (OSError, ValueError, KeyError, TypeError, SafetensorError) as error:
        raise ModelFailure(
            f"the folder holds no frozen model ({type(error).__name__})",
            where=str(folder),
            allowed="a folder that training 'encoder+lr' wrote",
        ) from error
    return said, head


def open_frozen_encoder(name: str, max_length: int, options: ModelOptions | None = None) -> HfEncoder:
    """Open the encoder that a frozen model names: "minilm", a folder or a hub name."""
    own = options or ModelOptions()
    wanted = ModelOptions(max_length=max_length, batch=own.batch, device=own.device)
    folder = minilm_folder() if name == "minilm" else find_folder(name, ModelOptions())
    return open_hf_encoder(str(folder), wanted, name=name)
