"""The weights that training starts from: their folder, their fingerprint and their classification layer."""

from collections.abc import Sequence
from difflib import get_close_matches
from pathlib import Path
from typing import Any

from psycheck.errors import BadInput
from psycheck.models.fingerprint import hashed_parts
from psycheck.models.hf_folder import find_folder, folder_parts, libraries, load_config, load_network
from psycheck.models.options import ModelOptions
from psycheck.train.recipe import FROZEN, MINILM, TFIDF, Recipe

PLAIN = ModelOptions()
OURS = (MINILM, TFIDF, FROZEN)  # starts that are neither folders nor hub names


def start_name(recipe: Recipe) -> str:
    """The model that a recipe starts from or freezes: "minilm", a folder or a hub name."""
    return recipe.start.removeprefix(FROZEN).removeprefix(":") or MINILM


def start_folder(recipe: Recipe) -> Path:
    """The folder of the model that a recipe starts from; a hub model is downloaded."""
    start = start_name(recipe)
    if start == MINILM:
        from psycheck.models.hf import minilm_folder

        return minilm_folder()
    if not Path(start).exists() and (close := get_close_matches(start.casefold(), OURS, n=1, cutoff=0.6)):
        raise BadInput(
            f"unknown start '{start}'",
            allowed=f"did you mean '{close[0]}'? (known: {', '.join(OURS)}, a model folder, a hub name)",
        )
    return find_folder(start, PLAIN)


def start_fingerprint(recipe: Recipe) -> str:
    """A hash of the weights, the architecture and the tokenizer that training starts from."""
    return TFIDF if recipe.start == TFIDF else hashed_parts(folder_parts(start_folder(recipe), PLAIN))


def open_classifier(folder: Path, labels: Sequence[str]) -> Any:
    """The model with a classification layer for these labels.

    The layer is the architecture's own: on the first token for BERT (through its pooler), RoBERTa, ALBERT and
    Longformer, on the last token for XLNet. An encoder such as MiniLM gets a new one. One label has two
    outputs, "not label" and "label".
    """
    _, transformers = libraries("training")
    names = [f"not {labels[0]}", labels[0]] if len(labels) == 1 else list(labels)
    config = load_config(folder, PLAIN)
    config.id2label = dict(enumerate(names))
    config.label2id = {name: k for k, name in enumerate(names)}
    config.problem_type = "single_label_classification" if len(labels) == 1 else "multi_label_classification"
    model, report = load_network(transformers.AutoModelForSequenceClassification, folder, config, PLAIN)
    body = f"{model.base_model_prefix}."
    lost = [key for key in report["missing_keys"] if key.startswith(body) and "pooler" not in key]
    if lost:
        raise BadInput(
            f"the weights do not match the configuration ({len(lost)} tensors are missing)",
            where=str(folder),
            allowed="a folder written by save_pretrained",
        )
    return model
