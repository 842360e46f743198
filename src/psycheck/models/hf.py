"""Sequence classifiers in the layout of Hugging Face: a local folder or a hub name."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from importlib import import_module
from typing import Any

import numpy as np

from psycheck.errors import BadInput, ModelFailure
from psycheck.model import FloatArray, IntArray
from psycheck.models.fingerprint import hashed_parts
from psycheck.models.hf_folder import libraries, trained_on
from psycheck.models.labels import kept_columns
from psycheck.models.options import ModelOptions
from psycheck.models.transformer import Transformer, checked_folder, loaded
from psycheck.models.window import characters_read

SCORING = "1"  # increase it whenever the same weights and text would give another score


@dataclass(frozen=True, slots=True, kw_only=True)
class HfModel(Transformer):
    """A transformer that classifies texts; `columns` are the outputs that are kept as labels."""

    labels: tuple[str, ...]
    activation: str
    columns: tuple[int, ...]
    trained_on: tuple[str, ...] = ()
    notes: tuple[str, ...] = ()

    def score(self, texts: Sequence[str], /) -> FloatArray:
        """Score texts, (n, k) in [0, 1]; NaN where the network gives no finite output."""
        torch = import_module("torch")
        scores = np.full((len(texts), len(self.labels)), np.nan)
        for rows, _, inputs in self.batches(texts):
            if inputs["input_ids"].shape[1] == 0:  # empty texts and a tokenizer without special tokens
                continue
            with torch.inference_mode():
                logits = self.network(**inputs).logits.double()
                probabilities = logits.softmax(-1) if self.activation == "softmax" else logits.sigmoid()
                probabilities[~logits.isfinite()] = torch.nan
                if "attention_mask" in inputs:
                    probabilities[inputs["attention_mask"].sum(1) == 0] = torch.nan
            scores[rows] = probabilities.cpu().numpy()[:, self.columns]
        return scores

    def read(self, texts: Sequence[str], /) -> IntArray:
        """How many characters of each text fit into the window, (n,)."""
        return characters_read(self.tokenizer, texts, self.max_length)


def open_hf(target: str, options: ModelOptions) -> HfModel:
    """Open a sequence classifier from a folder or the hub."""
    _, transformers = libraries("hf: models")
    folder, config, tokenizer = checked_folder(target, options)
    activation = _activation(config, options, where=target)
    classes = [str(config.id2label.get(i, f"LABEL_{i}")) for i in range(config.num_labels)]
    exclusive = activation == "softmax"
    if exclusive and len(classes) == 1:
        raise BadInput("a softmax over one output is always 1", where=target, allowed="activation=sigmoid")
    kept = kept_columns(classes, options, exclusive=exclusive, ordered=True, where=target)
    if getattr(config, "pad_token_id", None) is None:
        config.pad_token_id = tokenizer.pad_token_id
    loader = transformers.AutoModelForSequenceClassification
    common, report = loaded(loader, target, folder, config, tokenizer, options)
    _check_report(report, common["network"], where=target)
    parts = common.pop("parts") | {"labels": str(kept), "activation": activation, "scoring": SCORING}
    window, notes = common["max_length"], kept.notes
    if options.max_length is not None and options.max_length > window:
        cut = f"max_length {options.max_length} is more than the model reads: its window is {window} tokens."
        notes = (*notes, cut)
    return HfModel(
        **common,
        fingerprint=hashed_parts(parts),
        parts=parts,
        labels=kept.labels,
        activation=activation,
        columns=kept.columns,
        trained_on=trained_on(folder),
        notes=notes,
    )


def _activation(config: Any, options: ModelOptions, *, where: str) -> str:
    if options.activation:
        return options.activation
    if config.problem_type == "regression":
        raise BadInput(
            "the model was trained for regression, so its outputs are not probabilities",
            where=where,
            allowed="single_label_classification or multi_label_classification as problem_type",
            do="if its outputs are logits, set activation=sigmoid",
        )
    if config.problem_type == "multi_label_classification" or config.num_labels == 1:
        return "sigmoid"
    return "softmax"


def _check_report(report: Mapping[str, Any], network: Any, *, where: str) -> None:
    """Refuse a model with untrained weights."""
    mismatched = sorted(str(entry[0]) for entry in report["mismatched_keys"])
    missing = sorted(report["missing_keys"])
    if mismatched:
        raise ModelFailure(
            f"the sizes in config.json do not match the weights ({', '.join(mismatched[:3])})",
            where=where,
            allowed="the labels (id2label) and sizes that the model was trained with",
            do="use the config.json that was saved with the weights",
        )
    if any(not key.startswith(f"{network.base_model_prefix}.") for key in missing):
        raise ModelFailure(
            f"the model has no trained classification layer ({', '.join(missing[:3])} missing)",
            where=where,
            allowed="a model that was fine-tuned for sequence classification",
            do="fine-tune it for classification first, then name the resulting folder",
        )
    if missing:
        raise ModelFailure(
            f"{len(missing)} weights are missing ({', '.join(missing[:3])})",
            where=where,
            do="save the whole model again with save_pretrained",
        )
