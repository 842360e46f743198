"""Fine-tuning a sequence classifier with the Hugging Face Trainer."""

import json
import shutil
import time
import tomllib
from collections.abc import Iterator, Sequence
from contextlib import suppress
from pathlib import Path
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor
from torch.nn.functional import log_softmax, logsigmoid
from transformers import (
    DataCollatorWithPadding,
    EvalPrediction,
    Trainer,
    TrainerCallback,
    TrainerState,
    TrainingArguments,
    set_seed,
)
from transformers.trainer_callback import PrinterCallback
from transformers.trainer_pt_utils import LengthGroupedSampler, get_length_grouped_indices

from psycheck.errors import BadInput
from psycheck.model import FloatArray
from psycheck.models import hf_folder
from psycheck.models.evidence import Evidence, open_evidence
from psycheck.models.hf_folder import characters_read, load_config, load_tokenizer, speakable, window_of
from psycheck.train.figures import figures, merit
from psycheck.train.linear import evidence_of, fit_heads
from psycheck.train.parts import AfterEpoch, Fitted, Part, Parts, Progress, balancing_weights
from psycheck.train.recipe import PLAIN, Recipe, start_folder
from psycheck.train.samplers import Balanced

CHECKPOINT_SECONDS = 120.0
TRAINER = Path(__file__).with_name("trainer.toml")
_READ_AT_ONCE = 64
MISSING = -100.0  # marks "not annotated"; the Trainer does not count it among the items of a batch


def finetune(
    parts: Parts,
    recipe: Recipe,
    checkpoints: Path,
    *,
    progress: Progress | None = None,
    after_epoch: AfterEpoch | None = None,
) -> Fitted:
    """Fine-tune, or resume from the last checkpoint to exactly the weights of an uninterrupted run.

    Checkpoints are written after each epoch and every two minutes.
    """
    set_seed(recipe.seed)
    folder = start_folder(recipe)
    tokenizer = load_tokenizer(folder, PLAIN)
    evidence = open_evidence() if recipe.symptom_task else None
    second = evidence.labels if evidence else ()
    model = open_classifier(folder, parts.labels, recipe.layers, second)
    if model.config.pad_token_id is None:
        model.config.pad_token_id = tokenizer.pad_token_id
    window = window_of(tokenizer, model.config, recipe.max_length, where=recipe.start)
    tokenizer.model_max_length = window
    balanced = balancing_weights(parts.train.targets) if recipe.class_weights else None

    k = len(parts.labels)
    own = 2 if k == 1 else k  # outputs of the labels; those of the second task follow
    # The Trainer counts the targets of both tasks together: this share of them are annotations.
    annotated = (~np.isnan(parts.train.targets)).mean(axis=0).sum()
    share = float(annotated / (annotated + len(second)))

    def compute_loss(outputs: Any, targets: Tensor, num_items_in_batch: Any = None) -> Tensor:
        weights = None
        if balanced is not None:
            weights = torch.tensor(balanced, dtype=torch.float32, device=targets.device)
        if not second:
            return annotated_loss(outputs.logits, targets, weights, num_items_in_batch)
        items = [None, None]
        if num_items_in_batch is not None:
            items = [num_items_in_batch * share, num_items_in_batch * (1 - share)]
        loss = annotated_loss(outputs.logits[:, :own], targets[:, :k], weights, items[0])
        evident = annotated_loss(outputs.logits[:, own:], targets[:, k:], None, items[1])
        return loss + recipe.symptom_task * evident

    def measure(prediction: EvalPrediction) -> dict[str, float]:
        logits = np.asarray(prediction.predictions)[:, :own]
        marks = np.asarray(prediction.label_ids)[:, :k]
        scores = log_chances(torch.from_numpy(logits).float(), len(parts.labels))[0].exp().numpy()
        targets = np.where(marks == MISSING, np.nan, marks).astype(np.float64)
        found = figures(targets, scores.astype(np.float64), parts.labels)
        return {f"dev_{name}": value for name, value in found.items()}

    checkpoints.mkdir(parents=True, exist_ok=True)
    learned, held = (_encode(part, tokenizer, window, evidence) for part in (parts.train, parts.dev))
    collator, last = _collator(tokenizer, recipe, window), last_checkpoint(checkpoints)
    if recipe.probe and last is None:
        read, read_dev = (read_by_outputs(model, some, collator) for some in (learned, held))
        start_outputs(model, read, read_dev, parts, recipe)
    trainer = _InOrder(
        model=model,
        args=_arguments(recipe, checkpoints),
        train_dataset=learned,
        eval_dataset=held,
        processing_class=tokenizer,
        data_collator=collator,
        compute_loss_func=compute_loss,
        compute_metrics=measure,
        callbacks=[_Watch(recipe, progress, after_epoch)],
    )
    trainer.control_texts = parts.train.control if recipe.balanced else None
    trainer.remove_callback(PrinterCallback)
    state = None if last is None else _state(last)
    if state is not None and (
        state.global_step >= state.max_steps or _stalls(_curve(state.log_history), recipe)
    ):
        # Interrupted between the last epoch and the finished folder: nothing is left to train.
        best = state.best_model_checkpoint if recipe.patience else None
        model = type(model).from_pretrained(best or last, dtype=torch.float32)
    else:
        trainer.train(resume_from_checkpoint=None if last is None else str(last))
        state = trainer.state
    curve = _curve(state.log_history)
    at = _best(curve, recipe) if recipe.patience else len(curve) - 1
    dev = {name: value for name, value in curve[at].items() if name != "epoch"}
    model.eval()

    def save(out: Path) -> None:
        if second:
            keep_outputs(model, own)
        model.save_pretrained(out)
        tokenizer.save_pretrained(out)

    return Fitted(dev, curve, window, save)


def last_checkpoint(folder: Path) -> Path | None:
    """The newest complete checkpoint; incomplete ones are removed."""
    whole: list[tuple[int, Path]] = []
    for path in folder.glob("checkpoint-*"):
        if _state(path) is None:
            shutil.rmtree(path)
        else:
            whole.append((int(path.name.rpartition("-")[2]), path))
    return max(whole)[1] if whole else None


def open_classifier(folder: Path, labels: Sequence[str], layers: int = 0, second: Sequence[str] = ()) -> Any:
    """The model, or its first `layers`, with outputs for these labels and then for those of a second task.

    The layer is the architecture's own: on the first token for BERT (through its pooler), RoBERTa, ALBERT and
    Longformer, on the last token for XLNet. An encoder such as MiniLM gets a new one. One label has two
    outputs, "not label" and "label".
    """
    _, transformers = hf_folder.libraries("training")
    names = [*([f"not {labels[0]}", labels[0]] if len(labels) == 1 else labels), *second]
    config = load_config(folder, PLAIN)
    if layers > config.num_hidden_layers:
        what = f"the start has {config.num_hidden_layers} layers, not {layers}"
        raise BadInput(what, where=str(folder), allowed=f"1 to {config.num_hidden_layers}", key="layers")
    config.num_hidden_layers = layers or config.num_hidden_layers
    config.id2label = dict(enumerate(names))
    config.label2id = {name: k for k, name in enumerate(names)}
    config.problem_type = "single_label_classification" if len(labels) == 1 else "multi_label_classification"
    kind = transformers.AutoModelForSequenceClassification
    model, report = hf_folder.load_network(kind, folder, config, PLAIN)
    body = f"{model.base_model_prefix}."
    lost = [key for key in report["missing_keys"] if key.startswith(body) and "pooler" not in key]
    if lost:
        raise BadInput(
            f"the weights do not match the configuration ({len(lost)} tensors are missing)",
            where=str(folder),
            allowed="a folder written by save_pretrained",
        )
    return model


def log_chances(logits: Tensor, k: int) -> tuple[Tensor, Tensor]:
    """log P(label) and log P(not label), each (n, k).

    One label is scored by the softmax of two outputs ("not label", "label"), several by a sigmoid each.
    """
    if k == 1:
        both = log_softmax(logits, dim=-1)
        return both[:, 1:2], both[:, 0:1]
    return logsigmoid(logits), logsigmoid(-logits)


def annotated_loss(
    logits: Tensor, targets: Tensor, weights: Tensor | None = None, items: Tensor | float | None = None
) -> Tensor:
    """Cross-entropy against hard or soft targets (n, k), summed over the annotations, divided by `items`.

    `weights` (2, k) weighs the negative and the positive side of each label. `items` is the number of
    annotations of the whole update (all accumulated batches); without it, that of this batch.
    """
    known = targets != MISSING
    yes, no = log_chances(logits.float(), targets.shape[1])
    t = torch.where(known, targets, torch.zeros_like(targets))
    if weights is None:
        each = -(t * yes + (1 - t) * no)
    else:
        each = -(weights[1] * t * yes + weights[0] * (1 - t) * no)
    total = torch.where(known, each, torch.zeros_like(each)).sum()
    return total / (known.sum().clamp(min=1) if items is None else items)


def keep_outputs(model: Any, first: int) -> None:
    """Remove all outputs of a classifier but the first ones: the second task is over once it is trained."""
    last = _outputs(model)
    last.weight = torch.nn.Parameter(last.weight.detach()[:first].clone())
    last.bias = torch.nn.Parameter(last.bias.detach()[:first].clone())
    last.out_features = first
    kept = dict(list(model.config.id2label.items())[:first])
    model.config.id2label = kept
    model.config.label2id = {name: number for number, name in kept.items()}
    model.num_labels = first


def read_by_outputs(model: Any, items: Sequence[dict[str, Any]], collator: Any) -> FloatArray:
    """What the output layer reads of each text, (n, d), without dropout."""
    seen: list[Tensor] = []
    hook = _outputs(model).register_forward_pre_hook(lambda _, read: seen.append(read[0].detach().cpu()))
    model.eval()
    # Texts of similar lengths together, as in training; then in their own order again.
    order = sorted(range(len(items)), key=lambda k: len(items[k]["input_ids"]))
    with torch.no_grad():
        for start in range(0, len(order), _READ_AT_ONCE):
            some = [{**items[k]} for k in order[start : start + _READ_AT_ONCE]]
            for one in some:
                one.pop("labels")
            model(**collator(some).to(model.device))
    hook.remove()
    found = np.empty((len(items), _outputs(model).in_features))
    found[order] = torch.cat(seen).numpy()
    return found


def start_outputs(model: Any, train: FloatArray, dev: FloatArray, parts: Parts, recipe: Recipe) -> None:
    """Set the output layer to logistic regressions on what it reads of train and dev, each (n, d).

    Fine-tuning then starts from a classifier that works (Kumar and others, 2022). Of one label, whose two
    outputs are "not label" and "label", each takes half.
    """
    mean, scale = train.mean(axis=0), train.std(axis=0) * np.sqrt(train.shape[1])
    scale[scale == 0] = 1.0
    heads = fit_heads((train - mean) / scale, (dev - mean) / scale, parts, recipe).models
    weight = np.vstack([one.coef_ for one in heads]) / scale
    bias = np.concatenate([one.intercept_ for one in heads]) - weight @ mean
    if len(heads) == 1:
        weight, bias = np.vstack([-weight, weight]) / 2, np.concatenate([-bias, bias]) / 2
    last = _outputs(model)
    with torch.no_grad():
        last.weight[: len(weight)] = torch.from_numpy(weight).to(last.weight)
        last.bias[: len(bias)] = torch.from_numpy(bias).to(last.bias)


def _outputs(model: Any) -> torch.nn.Linear:
    """The output layer of a classifier."""
    layers = [one for one in model.modules() if isinstance(one, torch.nn.Linear)]
    return next(one for one in reversed(layers) if one.out_features == model.config.num_labels)


class _InOrder(Trainer):
    """The Trainer with an order of texts that depends only on the seed and the epoch.

    Its own length-grouped order comes from the global random state, which a resumed run has lost.
    """

    control_texts: NDArray[np.bool_] | None = None

    def _get_train_sampler(self, train_dataset: Any = None) -> Any:
        if self.control_texts is not None:
            return Balanced(self.control_texts, self.args.seed)
        size = self.args.train_batch_size * self.args.gradient_accumulation_steps
        items: Any = self.train_dataset
        return _Order(size, [len(item["input_ids"]) for item in items], self.args.seed)


class _Order(LengthGroupedSampler):
    def __init__(self, size: int, lengths: list[int], seed: int) -> None:
        super().__init__(size, lengths=lengths)
        self.seed = seed
        self.epoch = 0

    def set_epoch(self, epoch: int) -> None:
        self.epoch = epoch

    def __iter__(self) -> Iterator[int]:
        drawn = torch.Generator().manual_seed(self.seed * 1_000_003 + self.epoch)
        grouped: Any = get_length_grouped_indices  # the function has no annotations
        return iter(grouped(self.lengths, self.batch_size, generator=drawn))


class _Watch(TrainerCallback):
    """Reports progress, requests checkpoints, and stops when dev no longer improves.

    It keeps no state that a resumed run would miss: whether to stop is decided from the logged figures.
    """

    def __init__(self, recipe: Recipe, progress: Progress | None, after_epoch: AfterEpoch | None) -> None:
        self.recipe = recipe
        self.progress = progress
        self.after_epoch = after_epoch
        self.saved = time.monotonic()

    def on_step_end(self, args: Any, state: Any, control: Any, **_: Any) -> None:
        if self.progress is not None:
            self.progress(state.global_step, state.max_steps)
        # At the end of an epoch the checkpoint is written after the dev figures.
        ends = state.epoch is not None and (state.epoch % 1 == 0 or state.global_step >= state.max_steps)
        if not ends and time.monotonic() - self.saved >= CHECKPOINT_SECONDS:
            control.should_save = True

    def on_save(self, args: Any, state: Any, control: Any, **_: Any) -> None:
        self.saved = time.monotonic()

    def on_evaluate(self, args: Any, state: Any, control: Any, **_: Any) -> None:
        curve = _curve(state.log_history)
        if _stalls(curve, self.recipe):
            control.should_training_stop = True
        if self.after_epoch is not None:
            self.after_epoch(curve[-1]["epoch"], curve[-1])


def _arguments(recipe: Recipe, checkpoints: Path) -> TrainingArguments:
    gpu = torch.cuda.is_available()
    return TrainingArguments(
        output_dir=str(checkpoints),
        num_train_epochs=recipe.epochs,
        per_device_train_batch_size=recipe.batch,
        per_device_eval_batch_size=max(recipe.batch, 16),
        gradient_accumulation_steps=recipe.accumulate,
        learning_rate=recipe.learning_rate,
        weight_decay=recipe.weight_decay,
        warmup_steps=recipe.warmup,
        bf16=gpu and torch.cuda.is_bf16_supported(),
        dataloader_pin_memory=gpu,
        load_best_model_at_end=recipe.patience > 0,
        metric_for_best_model=f"eval_{recipe.criterion}",
        greater_is_better=recipe.criterion == "dev_f1",
        seed=recipe.seed,
        **tomllib.loads(TRAINER.read_text("utf-8")),
    )


def _encode(part: Part, tokenizer: Any, window: int, evidence: Evidence | None) -> list[dict[str, Any]]:
    """One item per text, without padding; missing annotations are MISSING.

    The labels are followed by the evidence for symptoms in what the window keeps of the text.
    """
    encoded = tokenizer(speakable(part.texts), truncation=True, max_length=window, padding=False)
    targets = part.targets
    if evidence is not None:
        ends = characters_read(tokenizer, part.texts, window).tolist()
        read = [text[:end] for text, end in zip(part.texts, ends, strict=True)]
        targets = np.hstack([targets, evidence_of(evidence, read)])
    columns = {**encoded, "labels": np.where(np.isnan(targets), MISSING, targets).tolist()}
    return [dict(zip(columns, row, strict=True)) for row in zip(*columns.values(), strict=True)]


def _collator(tokenizer: Any, recipe: Recipe, window: int) -> DataCollatorWithPadding:
    if recipe.padding == "fixed":
        return DataCollatorWithPadding(tokenizer, padding="max_length", max_length=window)
    return DataCollatorWithPadding(tokenizer, pad_to_multiple_of=8 if torch.cuda.is_available() else None)


def _state(checkpoint: Path) -> TrainerState | None:
    """The state of a checkpoint, which is written last; None if missing or incomplete."""
    with suppress(OSError, json.JSONDecodeError, TypeError):
        state: TrainerState = TrainerState.load_from_json(str(checkpoint / "trainer_state.json"))
        return state
    return None


def _curve(history: list[dict[str, float]]) -> tuple[dict[str, float], ...]:
    """The figures on dev after each epoch."""
    return tuple(
        {"epoch": line["epoch"]}
        | {name.removeprefix("eval_dev_"): value for name, value in line.items() if "eval_dev_" in name}
        for line in history
        if "eval_dev_loss" in line
    )


def _best(curve: tuple[dict[str, float], ...], recipe: Recipe) -> int:
    """The first epoch with the best criterion, as the Trainer chooses it."""
    values = [merit(point, recipe.criterion) for point in curve]
    return values.index(max(values))


def _stalls(curve: tuple[dict[str, float], ...], recipe: Recipe) -> bool:
    return 0 < recipe.patience < len(curve) - _best(curve, recipe) if curve else False
