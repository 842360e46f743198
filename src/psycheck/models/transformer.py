"""A transformer with its tokenizer, opened from a folder or the hub and run in batches."""

import inspect
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from psycheck.models.hf_folder import (
    find_folder,
    folder_name,
    folder_parts,
    load_config,
    load_network,
    load_tokenizer,
    weight_files,
    window_of,
)
from psycheck.models.options import ModelOptions
from psycheck.models.window import speakable

BATCH = 32


@dataclass(frozen=True, slots=True, kw_only=True)
class Transformer:
    """What classifiers and encoders have in common; `inputs` are the arguments of the network."""

    name: str
    fingerprint: str
    parts: Mapping[str, str]
    max_length: int
    batch: int
    tokenizer: Any = field(repr=False)
    network: Any = field(repr=False)
    inputs: frozenset[str] = field(repr=False)

    def batches(self, texts: Sequence[str], **more: bool) -> Iterator[tuple[list[int], Any, dict[str, Any]]]:
        """Batches of texts of similar length: their rows, their tokens, and the inputs of the network."""
        order = sorted(range(len(texts)), key=lambda i: len(texts[i]), reverse=True)
        for start in range(0, len(order), self.batch):
            rows = order[start : start + self.batch]
            tokens = self.tokenizer(
                speakable([texts[i] for i in rows]),
                padding=True,
                truncation=True,
                max_length=self.max_length,
                return_tensors="pt",
                **more,
            )
            device = self.network.device
            yield rows, tokens, {key: tokens[key].to(device) for key in tokens if key in self.inputs}


def checked_folder(target: str, options: ModelOptions) -> tuple[Path, Any, Any]:
    """The folder of a model, its configuration and its tokenizer; checks its weights before anything slow."""
    folder = find_folder(target, options)
    weight_files(folder, options)
    return folder, load_config(folder, options), load_tokenizer(folder, options)


def loaded(
    loader: Any, target: str, folder: Path, config: Any, tokenizer: Any, options: ModelOptions
) -> tuple[dict[str, Any], dict[str, Any]]:
    """The fields of `Transformer` apart from the fingerprint, and the report on missing weights."""
    max_length = window_of(tokenizer, config, options.max_length, where=target)
    network, report = load_network(loader, folder, config, options)
    common = {
        "name": options.name or folder_name(target, folder),
        "parts": folder_parts(folder, options) | {"max_length": str(max_length)},
        "max_length": max_length,
        "batch": options.batch or BATCH,
        "tokenizer": tokenizer,
        "network": network,
        "inputs": frozenset(inspect.signature(network.forward).parameters),
    }
    return common, report
