"""Fit a logistic regression on the vectors of a frozen encoder, and write it as a model folder."""

import json
from pathlib import Path

from psycheck.models.frozen import FROZEN_FILE, HEAD_FILE, open_frozen_encoder
from psycheck.scoring.answers import encode_once
from psycheck.train.fitted import Fitted
from psycheck.train.linear import fit_heads
from psycheck.train.parts import Parts
from psycheck.train.recipe import Recipe
from psycheck.train.start import start_name


def fit_frozen(parts: Parts, recipe: Recipe) -> Fitted:
    """Encode the texts, or take their vectors from the store, then fit one logistic regression per label."""
    encoder = open_frozen_encoder(start_name(recipe), recipe.max_length)
    train, dev = (encode_once(encoder, part.texts) for part in (parts.train, parts.dev))
    heads = fit_heads(train, dev, parts, recipe)

    def save(folder: Path) -> None:
        """Write the coefficients and the name of the encoder."""
        from safetensors.numpy import save_file

        weights, intercepts = heads.coefficients()
        save_file({"weights": weights, "intercepts": intercepts}, folder / HEAD_FILE)
        settings = {
            "encoder": start_name(recipe),
            "encoder_fingerprint": encoder.fingerprint,
            "labels": list(parts.labels),
            "max_length": encoder.max_length,
        }
        (folder / FROZEN_FILE).write_text(json.dumps(settings, indent=1, ensure_ascii=False) + "\n", "utf-8")

    return Fitted(heads.dev, heads.curve, encoder.max_length, save)
