"""Sequence classifiers in the layout of Hugging Face: a local folder or a hub name."""

import inspect
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from importlib import import_module
from typing import Any

import numpy as np

from psycheck.errors import BadInput, ModelFailure
from psycheck.model import FloatArray, IntArray
from psycheck.models.fingerprint import hashed_parts
from psycheck.models.hf_folder import (
    find_folder,
    folder_name,
    folder_parts,
    libraries,
    load_config,
    load_network,
    load_tokenizer,
    trained_on,
    weight_files,
    window_of,
)
from psycheck.models.labels import class_index, column_names, guessed_positive, positive_class
from psycheck.models.options import ModelOptions
from psycheck.models.window import characters_read, speakable

SCORING = "1"  # raise it whenever the same weights and text would give another score
BATCH = 32


@dataclass(frozen=True, slots=True)
class HfModel:
    """A transformer that classifies texts; `columns` are the outputs that are kept as labels."""

    name: str
    labels: tuple[str, ...]
    fingerprint: str
    parts: Mapping[str, str]
    activation: str
    columns: tuple[int, ...]
    max_length: int
    batch: int
    tokenizer: Any = field(repr=False)
    network: Any = field(repr=False)
    inputs: frozenset[str] = field(repr=False)
    trained_on: tuple[str, ...] = ()
    notes: tuple[str, ...] = ()

    def score(self, texts: Sequence[str], /) -> FloatArray:
        """Score texts, (n, k) in [0, 1]; NaN where the network gives no finite output."""
        scores = np.full((len(texts), len(self.labels)), np.nan)
        order = sorted(range(len(texts)), key=lambda i: len(texts[i]), reverse=True)
        for start in range(0, len(order), self.batch):
            rows = order[start : start + self.batch]
            scores[rows] = self._probabilities(speakable([texts[i] for i in rows]))[:, self.columns]
        return scores

    def read(self, texts: Sequence[str], /) -> IntArray:
        """How many characters of each text fall into the window, (n,)."""
        return characters_read(self.tokenizer, texts, self.max_length)

    def _probabilities(self, texts: list[str]) -> FloatArray:
        """All outputs of the network for one batch, padded to its longest text, (n, outputs)."""
        torch = import_module("torch")
        tokens = self.tokenizer(
            texts, padding=True, truncation=True, max_length=self.max_length, return_tensors="pt"
        )
        fed = {key: value.to(self.network.device) for key, value in tokens.items() if key in self.inputs}
        if fed["input_ids"].shape[1] == 0:  # empty texts and a tokenizer without special tokens
            return np.full((len(texts), self.network.config.num_labels), np.nan)
        with torch.inference_mode():
            logits = self.network(**fed).logits.double()
            probabilities = logits.softmax(-1) if self.activation == "softmax" else logits.sigmoid()
            probabilities[~logits.isfinite()] = torch.nan
            if "attention_mask" in fed:
                probabilities[fed["attention_mask"].sum(1) == 0] = torch.nan
        found: FloatArray = probabilities.cpu().numpy()
        return found


def open_hf(target: str, options: ModelOptions) -> HfModel:
    """Open a sequence classifier from a folder or the hub."""
    _, transformers = libraries("hf: models")
    folder = find_folder(target, options)
    weight_files(folder, options)  # before anything slow, say that they are absent or not safe
    config = load_config(folder, options)
    activation = _activation(config, options, where=target)
    classes = [str(config.id2label.get(i, f"LABEL_{i}")) for i in range(config.num_labels)]
    columns, labels = _columns(classes, activation, options, where=target)
    tokenizer = load_tokenizer(folder, options)
    max_length = window_of(tokenizer, config, options.max_length, where=target)
    if getattr(config, "pad_token_id", None) is None:
        config.pad_token_id = tokenizer.pad_token_id
    network, report = load_network(transformers.AutoModelForSequenceClassification, folder, config, options)
    _judge_report(report, network, where=target)
    parts = folder_parts(folder, options) | {
        "max_length": str(max_length),
        "labels": ",".join(f"{column}={label}" for column, label in zip(columns, labels, strict=True)),
        "activation": activation,
        "scoring": SCORING,
    }
    return HfModel(
        name=options.name or folder_name(target, folder),
        labels=labels,
        fingerprint=hashed_parts(parts),
        parts=parts,
        activation=activation,
        columns=columns,
        max_length=max_length,
        batch=options.batch or BATCH,
        tokenizer=tokenizer,
        network=network,
        inputs=frozenset(inspect.signature(network.forward).parameters),
        trained_on=trained_on(folder),
        notes=_notes(classes, columns, activation, max_length, options),
    )


def _activation(config: Any, options: ModelOptions, *, where: str) -> str:
    if options.activation:
        return options.activation
    if config.problem_type == "regression":
        raise BadInput(
            "the model was trained for regression, so its outputs are no probabilities",
            where=where,
            allowed="single_label_classification or multi_label_classification as problem_type",
            do="if its outputs are logits after all, say how to read them: activation=sigmoid",
        )
    if config.problem_type == "multi_label_classification" or config.num_labels == 1:
        return "sigmoid"
    return "softmax"


def _columns(
    classes: list[str], activation: str, options: ModelOptions, *, where: str
) -> tuple[tuple[int, ...], tuple[str, ...]]:
    """Which outputs are kept and what they are called: of two exclusive classes only the positive one."""
    if activation == "softmax" and len(classes) == 1:
        raise BadInput("a softmax over one output is always 1", where=where, allowed="activation=sigmoid")
    if activation == "softmax" and len(classes) == 2:
        columns = [positive_class(classes, options.positive, ordered=True, where=where)]
    elif options.positive is not None:
        columns = [class_index(classes, options.positive, where=where)]
    else:
        columns = list(range(len(classes)))
    return tuple(columns), column_names([classes[i] for i in columns], options.label, where=where)


def _notes(
    classes: list[str], columns: tuple[int, ...], activation: str, max_length: int, options: ModelOptions
) -> tuple[str, ...]:
    """What was guessed, and what was asked for and cannot be had."""
    guess = guessed_positive(classes, columns[0], options.positive) if activation == "softmax" else ()
    if options.max_length is None or options.max_length <= max_length:
        return guess
    cut = f"max_length {options.max_length} is more than the model reads: its window is {max_length} tokens."
    return (*guess, cut)


def _judge_report(report: Mapping[str, Any], network: Any, *, where: str) -> None:
    """Refuse what would be scored with weights that nobody trained."""
    mismatched = sorted(str(entry[0]) for entry in report["mismatched_keys"])
    missing = sorted(report["missing_keys"])
    if mismatched:
        raise ModelFailure(
            f"the sizes in config.json do not fit the weights ({', '.join(mismatched[:3])})",
            where=where,
            allowed="as many labels (id2label) and the same sizes as the model was trained with",
            do="use the config.json that was saved with the weights",
        )
    if any(not key.startswith(f"{network.base_model_prefix}.") for key in missing):
        raise ModelFailure(
            f"the model has no trained classification layer ({', '.join(missing[:3])} absent)",
            where=where,
            allowed="a model that was fine-tuned for sequence classification",
            do="fine-tune it for classification first, then name the folder it was saved to",
        )
    if missing:
        raise ModelFailure(
            f"{len(missing)} weights are absent ({', '.join(missing[:3])})",
            where=where,
            do="save the whole model again with save_pretrained",
        )
