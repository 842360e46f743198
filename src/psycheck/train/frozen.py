"""Fit a logistic regression on the vectors of a frozen encoder, and write it as a model folder."""

import json
from pathlib import Path

from psycheck.models.encoder import HfEncoder
from psycheck.models.frozen import FROZEN_FILE, HEAD_FILE, open_frozen_encoder
from psycheck.scoring.answers import encode_once
from psycheck.train.linear import Heads, fit_heads
from psycheck.train.parts import Parts
from psycheck.train.recipe import FROZEN, MINILM, Recipe


def encoder_of(recipe: Recipe) -> str:
    """Which encoder "encoder+lr" or "encoder+lr:FOLDER" freezes."""
    return recipe.start.removeprefix(FROZEN).removeprefix(":") or MINILM


def fit_frozen(parts: Parts, recipe: Recipe) -> tuple[Heads, HfEncoder]:
    """Encode the texts, or take their vectors from the store, then fit one logistic regression per label."""
    encoder = open_frozen_encoder(encoder_of(recipe), recipe.max_length)
    train, dev = encode_once(encoder, parts.train.texts), encode_once(encoder, parts.dev.texts)
    return fit_heads(train, dev, parts, recipe), encoder


def save_frozen(heads: Heads, encoder: HfEncoder, parts: Parts, recipe: Recipe, folder: Path) -> None:
    """Write the coefficients and the name of the encoder."""
    from safetensors.numpy import save_file

    weights, intercepts = heads.coefficients()
    save_file({"weights": weights, "intercepts": intercepts}, folder / HEAD_FILE)
    said = {
        "encoder": encoder_of(recipe),
        "encoder_fingerprint": encoder.fingerprint,
        "labels": list(parts.labels),
        "max_length": encoder.max_length,
    }
    (folder / FROZEN_FILE).write_text(json.dumps(said, indent=1, ensure_ascii=False) + "\n", "utf-8")
