"""The output layer of a sequence classifier: how it is made, started, read and cut."""

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
import torch
from torch import Tensor

from psycheck.core.arrays import FloatArray
from psycheck.core.errors import BadInput
from psycheck.models import hf_folder
from psycheck.models.hf_folder import load_config
from psycheck.training.linear import fit_heads
from psycheck.training.parts import Parts
from psycheck.training.recipe import PLAIN, Recipe

# How many texts are read at once before training; nothing is learned from them, so memory alone decides.
_TEXTS_AT_ONCE = 64


def open_classifier(
    folder: Path,
    labels: Sequence[str],
    layers: int = 0,
    second: Sequence[str] = (),
) -> Any:
    """The model, or its first `layers`, with outputs for these labels and then for those of a second task.

    The layer is the architecture's own: on the first token for BERT (through its pooler), RoBERTa, ALBERT and
    Longformer, on the last token for XLNet. An encoder such as MiniLM gets a new one. One label has two
    outputs, "not label" and "label".
    """
    _, transformers = hf_folder.libraries("training")
    config = load_config(folder, PLAIN)
    _keep_first_layers(config, layers, folder)
    _name_outputs(config, labels, second)

    model, report = hf_folder.load_network(
        transformers.AutoModelForSequenceClassification,
        folder,
        config,
        PLAIN,
    )
    _refuse_lost_weights(model, report["missing_keys"], folder)
    return model


def _keep_first_layers(config: Any, layers: int, folder: Path) -> None:
    """Make the configuration one of the first `layers`; 0 stands for all of them."""
    if layers > config.num_hidden_layers:
        raise BadInput(
            f"the start has {config.num_hidden_layers} layers, not {layers}",
            code="train.too-many-layers",
            where=str(folder),
            allowed=f"1 to {config.num_hidden_layers}",
            key="layers",
        )
    if layers:
        config.num_hidden_layers = layers


def _name_outputs(config: Any, labels: Sequence[str], second: Sequence[str]) -> None:
    """Give the configuration the names of its outputs, which decide how many there are."""
    if len(labels) == 1:
        names = [f"not {labels[0]}", labels[0]]
        config.problem_type = "single_label_classification"
    else:
        names = list(labels)
        config.problem_type = "multi_label_classification"
    names += second

    config.id2label = dict(enumerate(names))
    config.label2id = {name: number for number, name in enumerate(names)}


def _refuse_lost_weights(model: Any, missing_keys: Sequence[str], folder: Path) -> None:
    # A missing output layer or pooler is trained from random weights; anything else is an error.
    body = f"{model.base_model_prefix}."
    missing_in_body = [key for key in missing_keys if key.startswith(body)]
    lost = [key for key in missing_in_body if "pooler" not in key]
    if lost:
        raise BadInput(
            f"the weights do not match the configuration ({len(lost)} tensors are missing)",
            code="model.weights-missing",
            where=str(folder),
            allowed="a folder written by save_pretrained",
        )


def keep_outputs(model: Any, first: int) -> None:
    """Remove all outputs of a classifier but the first ones: the second task is over once it is trained."""
    layer = _output_layer(model)
    # Cloned: a slice would still hold, and save, the memory of all outputs.
    first_weights = layer.weight.detach()[:first].clone()
    first_biases = layer.bias.detach()[:first].clone()
    layer.weight = torch.nn.Parameter(first_weights)
    layer.bias = torch.nn.Parameter(first_biases)
    layer.out_features = first

    all_labels = list(model.config.id2label.items())
    remaining_labels = dict(all_labels[:first])
    model.config.id2label = remaining_labels
    model.config.label2id = {name: number for number, name in remaining_labels.items()}
    model.num_labels = first


def read_by_outputs(model: Any, items: Sequence[dict[str, Any]], collator: Any) -> FloatArray:
    """What the output layer reads of each text, (n, d), without dropout."""
    layer = _output_layer(model)
    inputs: list[Tensor] = []

    # Architectures differ in what they do before this layer: a hook sees its input in each of them.
    def remember_input(_: Any, arguments: tuple[Tensor, ...]) -> None:
        inputs.append(arguments[0].detach().cpu())

    hook = layer.register_forward_pre_hook(remember_input)
    model.eval()

    # Texts of similar lengths together, as in training; then in their own order again.
    order = sorted(range(len(items)), key=lambda row: len(items[row]["input_ids"]))
    with torch.no_grad():
        for start in range(0, len(order), _TEXTS_AT_ONCE):
            rows = order[start : start + _TEXTS_AT_ONCE]
            batch = [_without_labels(items[row]) for row in rows]
            padded = collator(batch).to(model.device)
            model(**padded)
    hook.remove()

    features = np.empty((len(items), layer.in_features))
    features[order] = torch.cat(inputs).numpy()
    return features


def _without_labels(item: dict[str, Any]) -> dict[str, Any]:
    return {name: value for name, value in item.items() if name != "labels"}


def start_outputs(
    model: Any,
    train: FloatArray,
    dev: FloatArray,
    parts: Parts,
    recipe: Recipe,
) -> None:
    """Set the output layer to logistic regressions on what it reads of train and dev, each (n, d).

    Fine-tuning then starts from a classifier that works (Kumar and others, 2022). Of one label, whose two
    outputs are "not label" and "label", each takes half.
    """
    width = train.shape[1]
    mean = train.mean(axis=0)
    # Texts then have about length 1, as tf-idf and sentence vectors do, for which the strengths are chosen.
    scale = train.std(axis=0) * np.sqrt(width)
    scale[scale == 0] = 1.0
    scaled_train = (train - mean) / scale
    scaled_dev = (dev - mean) / scale
    heads = fit_heads(scaled_train, scaled_dev, parts, recipe).models

    # The same functions of what is not scaled.
    coefficients = np.vstack([head.coef_ for head in heads])
    intercepts = np.concatenate([head.intercept_ for head in heads])
    weight = coefficients / scale
    bias = intercepts - weight @ mean
    if len(heads) == 1:
        # The softmax of two outputs sees only their difference.
        weight = np.vstack([-weight, weight]) / 2
        bias = np.concatenate([-bias, bias]) / 2

    layer = _output_layer(model)
    # Outputs of a second task come after these, and keep their random start.
    with torch.no_grad():
        layer.weight[: len(weight)] = torch.from_numpy(weight).to(layer.weight)
        layer.bias[: len(bias)] = torch.from_numpy(bias).to(layer.bias)


def _output_layer(model: Any) -> torch.nn.Linear:
    """The last linear layer with as many outputs as the classifier has labels."""
    linear_layers = [layer for layer in model.modules() if isinstance(layer, torch.nn.Linear)]
    outputs = model.config.num_labels
    # Its name differs by architecture ("classifier", "out_proj", "logits_proj"), its width does not.
    matching = [layer for layer in linear_layers if layer.out_features == outputs]
    return matching[-1]
