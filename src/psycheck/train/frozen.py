"""Fit a logistic regression on the vectors of a frozen encoder, and write it as a model folder."""

import json
from pathlib import Path

from psycheck.models.frozen import FROZEN_FILE, HEAD_FILE, open_frozen_encoder
from psycheck.train.fitted import Fitted
from psycheck.train.linear import fit_heads
from psycheck.train.parts import Parts
from psycheck.train.recipe import Recipe
from psycheck.train.start import start_name


def fit_frozen(parts: Parts, recipe: Recipe) -> Fitted:
    """Encode each text once, then fit one logistic regression per label."""
    encoder = open_frozen_encoder(start_name(recipe), recipe.max_length)
    train, dev = encoder.encode(parts.train.texts), encoder.encode(parts.dev.texts)
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
