"""Fine-tuning a sequence classifier with the Hugging Face Trainer."""

import json
import shutil
import time
import tomllib
from collections.abc import Iterator
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor
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

from psycheck.core.arrays import FloatArray
from psycheck.models.hf_folder import load_tokenizer, window_of
from psycheck.models.window import characters_read, speakable
from psycheck.symptoms.evidence import Evidence, open_evidence
from psycheck.training.dev_figures import figures, merit
from psycheck.training.linear import evidence_of
from psycheck.training.losses import MISSING, annotated_loss, log_chances
from psycheck.training.output_layer import keep_outputs, open_classifier, read_by_outputs, start_outputs
from psycheck.training.parts import AfterEpoch, Fitted, Part, Parts, Progress, balancing_weights
from psycheck.training.recipe import PLAIN, Recipe, start_folder
from psycheck.training.samplers import Balanced

# A kill costs at most this much work; writing a checkpoint of a large model takes some seconds.
CHECKPOINT_SECONDS = 120.0
TRAINER = Path(__file__).with_name("trainer.toml")
Curve = tuple[dict[str, float], ...]


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
    # Before the model is opened: a new output layer is drawn at random.
    set_seed(recipe.seed)
    start = _open_start(parts, recipe)
    objective = _Objective.of(parts, recipe, second_labels=len(start.second_task))

    checkpoints.mkdir(parents=True, exist_ok=True)
    texts = _Texts(
        train=_encode(parts.train, start),
        dev=_encode(parts.dev, start),
        collator=_collator(start.tokenizer, recipe, start.window),
    )
    checkpoint = last_checkpoint(checkpoints)
    # A checkpoint has an output layer that was trained already.
    if recipe.probe and checkpoint is None:
        _start_from_regressions(start.model, texts, parts, recipe)

    trainer = _InOrder(
        model=start.model,
        args=_arguments(recipe, checkpoints),
        train_dataset=texts.train,
        eval_dataset=texts.dev,
        processing_class=start.tokenizer,
        data_collator=texts.collator,
        compute_loss_func=objective.loss,
        compute_metrics=objective.dev_figures,
        callbacks=[_Watch(recipe, progress, after_epoch)],
    )
    trainer.control_texts = parts.train.control if recipe.balanced else None
    # It would print every logged line, and the progress line of psycheck shows them already.
    trainer.remove_callback(PrinterCallback)

    model, curve = _train_or_resume(trainer, start.model, checkpoint, recipe)
    # Without patience the last weights are kept.
    kept_epoch = curve[_best(curve, recipe)] if recipe.patience else curve[-1]
    model.eval()

    def save(out: Path) -> None:
        if start.second_task:
            keep_outputs(model, objective.outputs)
        model.save_pretrained(out)
        start.tokenizer.save_pretrained(out)

    return Fitted(
        dev={name: value for name, value in kept_epoch.items() if name != "epoch"},
        curve=curve,
        window=start.window,
        save=save,
    )


@dataclass(frozen=True, slots=True)
class _Start:
    """The weights to start from with a new output layer, and how they read texts.

    `evidence` is what a second task learns to predict, if the recipe has one.
    """

    model: Any
    tokenizer: Any
    window: int
    evidence: Evidence | None

    @property
    def second_task(self) -> tuple[str, ...]:
        """The labels of the second task."""
        if self.evidence is None:
            return ()
        return self.evidence.labels


@dataclass(frozen=True, slots=True)
class _Texts:
    """The tokens and targets of train and dev, and what pads them to batches."""

    train: list[dict[str, Any]]
    dev: list[dict[str, Any]]
    collator: DataCollatorWithPadding


def _open_start(parts: Parts, recipe: Recipe) -> _Start:
    folder = start_folder(recipe)
    tokenizer = load_tokenizer(folder, PLAIN)
    evidence = open_evidence() if recipe.symptom_task else None
    second_task = evidence.labels if evidence is not None else ()

    model = open_classifier(folder, parts.labels, recipe.layers, second_task)
    # Models that classify the last token need to know which tokens are padding.
    if model.config.pad_token_id is None:
        model.config.pad_token_id = tokenizer.pad_token_id

    window = window_of(tokenizer, model.config, recipe.max_length, where=recipe.start)
    # Saved with the tokenizer: whoever opens the folder later reads as far as training did.
    tokenizer.model_max_length = window
    return _Start(
        model=model,
        tokenizer=tokenizer,
        window=window,
        evidence=evidence,
    )


def _start_from_regressions(
    model: Any,
    texts: _Texts,
    parts: Parts,
    recipe: Recipe,
) -> None:
    """Set the output layer to regressions on what it reads: many rare labels stay at chance without it."""
    train_features = read_by_outputs(model, texts.train, texts.collator)
    dev_features = read_by_outputs(model, texts.dev, texts.collator)
    start_outputs(model, train_features, dev_features, parts, recipe)


def _train_or_resume(
    trainer: Trainer, model: Any, checkpoint: Path | None, recipe: Recipe
) -> tuple[Any, Curve]:
    """The trained model, and the figures on dev after each epoch."""
    if checkpoint is None:
        trainer.train()
        return model, _curve(trainer.state.log_history)

    finished = _finished_state(checkpoint, recipe)
    if finished is None:
        trainer.train(resume_from_checkpoint=str(checkpoint))
        return model, _curve(trainer.state.log_history)

    # Interrupted between the last epoch and the finished folder: nothing is left to train.
    best_checkpoint = finished.best_model_checkpoint if recipe.patience else None
    best_model = type(model).from_pretrained(best_checkpoint or checkpoint, dtype=torch.float32)
    return best_model, _curve(finished.log_history)


@dataclass(frozen=True, slots=True)
class _Objective:
    """What is minimised, and what is measured on dev.

    The outputs and targets of the labels come first, those of the second task follow. `weights` (2, k)
    balance the classes of the labels; `share` of all targets are annotations of the labels.
    """

    labels: tuple[str, ...]
    has_second_task: bool
    second_weight: float
    weights: FloatArray | None
    share: float

    @classmethod
    def of(cls, parts: Parts, recipe: Recipe, *, second_labels: int) -> "_Objective":
        # How many labels a text is annotated for on average; the second task has targets for every text.
        is_annotated = ~np.isnan(parts.train.targets)
        annotated = is_annotated.mean(axis=0).sum()
        return cls(
            labels=parts.labels,
            has_second_task=second_labels > 0,
            second_weight=recipe.symptom_task,
            weights=balancing_weights(parts.train.targets) if recipe.class_weights else None,
            share=float(annotated / (annotated + second_labels)),
        )

    @property
    def outputs(self) -> int:
        """The outputs of the labels: one label has two, "not label" and "label"."""
        if len(self.labels) == 1:
            return 2
        return len(self.labels)

    def loss(self, outputs: Any, targets: Tensor, num_items_in_batch: Any = None) -> Tensor:
        """The loss of the labels, and that of the second task by its weight."""
        weights = None
        if self.weights is not None:
            weights = torch.tensor(self.weights, dtype=torch.float32, device=targets.device)
        if not self.has_second_task:
            return annotated_loss(outputs.logits, targets, weights, num_items_in_batch)

        label_items = None
        second_items = None
        if num_items_in_batch is not None:
            # The Trainer counts the targets of both tasks together.
            label_items = num_items_in_batch * self.share
            second_items = num_items_in_batch * (1 - self.share)

        columns = len(self.labels)
        label_loss = annotated_loss(
            outputs.logits[:, : self.outputs],
            targets[:, :columns],
            weights,
            label_items,
        )
        # Class weights are those of the labels: evidence has no classes.
        second_loss = annotated_loss(
            outputs.logits[:, self.outputs :],
            targets[:, columns:],
            None,
            second_items,
        )
        return label_loss + self.second_weight * second_loss

    def dev_figures(self, prediction: EvalPrediction) -> dict[str, float]:
        """The figures of the labels on dev, each with the prefix "dev_"."""
        labels = len(self.labels)
        # The outputs of a second task come after those of the labels, and so do its targets.
        logits = np.asarray(prediction.predictions)[:, : self.outputs]
        log_yes, _ = log_chances(torch.from_numpy(logits).float(), labels)
        scores = log_yes.exp().numpy().astype(np.float64)

        marks = np.asarray(prediction.label_ids)[:, :labels]
        with_gaps = np.where(marks == MISSING, np.nan, marks)
        targets = with_gaps.astype(np.float64)
        measured = figures(targets, scores, self.labels)
        return {f"dev_{name}": value for name, value in measured.items()}


def last_checkpoint(folder: Path) -> Path | None:
    """The newest complete checkpoint; incomplete ones are removed."""
    complete: list[tuple[int, Path]] = []
    for path in folder.glob("checkpoint-*"):
        if _state(path) is None:
            shutil.rmtree(path)
            continue
        # By number, not by name: "checkpoint-90" comes before "checkpoint-100".
        _, _, step = path.name.rpartition("-")
        complete.append((int(step), path))
    if not complete:
        return None
    _, newest = max(complete)
    return newest


class _InOrder(Trainer):
    """The Trainer with an order of texts that depends only on the seed and the epoch.

    Its own length-grouped order comes from the global random state, which a resumed run has lost.
    """

    control_texts: NDArray[np.bool_] | None = None

    def _get_train_sampler(self, train_dataset: Any = None) -> Any:
        if self.control_texts is not None:
            return Balanced(self.control_texts, self.args.seed)
        texts_of_update = self.args.train_batch_size * self.args.gradient_accumulation_steps
        items: Any = self.train_dataset
        lengths = [len(item["input_ids"]) for item in items]
        return _Order(texts_of_update, lengths, self.args.seed)


class _Order(LengthGroupedSampler):
    """Texts of similar lengths together, in an order of its own for each seed and epoch."""

    def __init__(self, size: int, lengths: list[int], seed: int) -> None:
        super().__init__(size, lengths=lengths)
        self.seed = seed
        self.epoch = 0

    def set_epoch(self, epoch: int) -> None:
        self.epoch = epoch

    def __iter__(self) -> Iterator[int]:
        # A prime factor above any number of epochs: no two seeds share the order of an epoch.
        generator = torch.Generator().manual_seed(self.seed * 1_000_003 + self.epoch)
        grouped: Any = get_length_grouped_indices  # the function has no annotations
        return iter(grouped(self.lengths, self.batch_size, generator=generator))


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
        last_step = state.global_step >= state.max_steps
        epoch_ends = state.epoch is not None and (state.epoch % 1 == 0 or last_step)
        if not epoch_ends and time.monotonic() - self.saved >= CHECKPOINT_SECONDS:
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
        # Measuring keeps no gradients, so that more texts fit at once.
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


def _encode(part: Part, start: _Start) -> list[dict[str, Any]]:
    """One item per text, without padding; missing annotations are MISSING.

    The labels are followed by the evidence for symptoms in what the window keeps of the text.
    """
    encoded = start.tokenizer(
        speakable(part.texts),
        truncation=True,
        max_length=start.window,
        padding=False,
    )

    targets = part.targets
    if start.evidence is not None:
        # A model cannot learn to predict evidence that stands behind its window.
        ends = characters_read(start.tokenizer, part.texts, start.window).tolist()
        read_texts = [text[:end] for text, end in zip(part.texts, ends, strict=True)]
        targets = np.hstack([targets, evidence_of(start.evidence, read_texts)])
    marks = np.where(np.isnan(targets), MISSING, targets)

    columns = {**encoded, "labels": marks.tolist()}
    rows = zip(*columns.values(), strict=True)
    return [dict(zip(columns, row, strict=True)) for row in rows]


def _collator(tokenizer: Any, recipe: Recipe, window: int) -> DataCollatorWithPadding:
    if recipe.padding == "fixed":
        return DataCollatorWithPadding(tokenizer, padding="max_length", max_length=window)
    # Tensor cores of GPUs are faster at multiples of 8.
    multiple = 8 if torch.cuda.is_available() else None
    return DataCollatorWithPadding(tokenizer, pad_to_multiple_of=multiple)


def _state(checkpoint: Path) -> TrainerState | None:
    """The state of a checkpoint, which is written last; None if missing or incomplete."""
    with suppress(OSError, json.JSONDecodeError, TypeError):
        state: TrainerState = TrainerState.load_from_json(str(checkpoint / "trainer_state.json"))
        return state
    return None


def _finished_state(checkpoint: Path, recipe: Recipe) -> TrainerState | None:
    """The state of a checkpoint after which nothing is left to train; None if there is."""
    state = _state(checkpoint)
    if state is None:
        return None
    all_steps_done = state.global_step >= state.max_steps
    stopped_early = _stalls(_curve(state.log_history), recipe)
    if all_steps_done or stopped_early:
        return state
    return None


def _curve(history: list[dict[str, float]]) -> Curve:
    """The figures on dev after each epoch."""
    # The history also has lines about the loss on train.
    dev_lines = [line for line in history if "eval_dev_loss" in line]

    points = []
    for line in dev_lines:
        point = {"epoch": line["epoch"]}
        for name, value in line.items():
            if "eval_dev_" in name:
                point[name.removeprefix("eval_dev_")] = value
        points.append(point)
    return tuple(points)


def _best(curve: Curve, recipe: Recipe) -> int:
    """The first epoch with the best criterion, as the Trainer chooses it."""
    values = [merit(point, recipe.criterion) for point in curve]
    return values.index(max(values))


def _stalls(curve: Curve, recipe: Recipe) -> bool:
    """True if dev has not improved for more epochs than the recipe is patient."""
    if not curve or not recipe.patience:
        return False
    return len(curve) - _best(curve, recipe) > recipe.patience
