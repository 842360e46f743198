"""Train a symptom reader on the sentence bank: small changes of an encoder, and a layer for tokens.

Sentences of the bank have the labels that we gave them; where a sentence is close to another symptom, it is
not known whether it is about that one, too, and the loss leaves it out. With unlabelled sentences the reader
is trained twice: the mean of the first reader and a regression on frozen vectors is the target of the second.
"""

import random
import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from math import ceil
from pathlib import Path
from typing import Any, Final

import numpy as np
import tomli_w
import torch
from safetensors.torch import save_file
from torch import Tensor

from psycheck.core.arrays import FloatArray
from psycheck.core.errors import BadInput
from psycheck.core.progress import Progress, silent
from psycheck.io.writing import written
from psycheck.models.hf import HfEncoder
from psycheck.models.opening import open_encoder
from psycheck.scoring.vectors import vectors_of
from psycheck.symptoms.adapted_reader import CARD_FILE, READER_FILE, read_tokens, token_states
from psycheck.symptoms.bank_sentences import (
    BANK,
    Labelled,
    drawn_frames,
    drawn_lists,
    drawn_pairs,
    read_bank,
    read_sentences,
)
from psycheck.symptoms.graph import read_graph
from psycheck.text.clean import split_sentences
from psycheck.training.reader_layer import batches, known_loss, rate_at, refined_layer

WINDOW: Final = 128  # tokens of a sentence: longer ones are cut
_TRAINED_WINDOW: Final = 64  # in training: few sentences are longer, and they cost the most
_DROPOUT: Final = 0.1
_CLOSE: Final = 0.25  # the probability, by a regression that did not see a sentence, from which it is close
_FOLDS: Final = 5
_READ_AT_ONCE: Final = 64  # sentences in a batch outside of training
_REGRESSION_STEPS: Final = 300
_SCALE: Final = 10  # vectors of length 1 are too short for a regression of so few steps
_LORA_SCALE: Final = 2.0  # LoRA's usual alpha of 16 over a rank of 8
_START_LOGIT: Final = -2.0  # symptoms are rare: a new layer starts from there


@dataclass(frozen=True, slots=True, kw_only=True)
class BankRecipe:
    """How a reader is trained: the encoder, how many sentences are drawn from the bank, and how long.

    `upper` is the number of layers that are changed, from the last one down, by matrices of rank `rank`.
    """

    start: str = "minilm"
    seed: int = 0
    epochs: float = 4.0
    batch: int = 32
    rank: int = 8
    upper: int = 3
    rate: float = 1.5e-3
    layer_rate: float = 5e-3
    lists: int = 900
    frames: int = 900
    pairs: int = 300


@dataclass(slots=True, eq=False)
class _Learner:
    """A network in training: the encoder, its small matrices by module, and the layer for tokens."""

    encoder: HfEncoder
    matrices: dict[str, Tensor]
    layer: dict[str, Tensor]

    def logits(self, texts: Sequence[str]) -> Tensor:
        """The logits of a batch, (n, 2k), with its gradients."""
        tokens = self.encoder.tokenizer(
            list(texts),
            padding=True,
            truncation=True,
            max_length=min(_TRAINED_WINDOW, self.encoder.max_length),
            return_tensors="pt",
        )
        inputs = {key: tokens[key] for key in tokens if key in self.encoder.inputs}
        states = self.encoder.network(**inputs).last_hidden_state
        # Gradients are taken in training only, so they say whether states are to be dropped.
        is_training = torch.is_grad_enabled()
        dropped = torch.nn.functional.dropout(states, _DROPOUT, training=is_training)
        logits: Tensor = read_tokens(dropped, inputs["attention_mask"], self.layer)
        return logits

    def probabilities(self, texts: Sequence[str]) -> FloatArray:
        """The probabilities of texts, (n, 2k)."""
        outputs = len(self.layer["mean.bias"])
        values = np.empty((len(texts), outputs))
        with torch.no_grad():
            for rows in batches([len(text) for text in texts], _READ_AT_ONCE):
                logits = self.logits([texts[row] for row in rows])
                values[rows] = logits.sigmoid().double().numpy()
        return values


def train_bank_reader(
    recipe: BankRecipe,
    folder: Path,
    *,
    labelled: Labelled | None = None,
    unlabelled: Sequence[str] = (),
    progress: Progress = silent,
) -> dict[str, float]:
    """Train a reader of all symptoms of the graph and write its folder; its figures on the test part.

    The encoder adapts to the bank, and to what it makes of `unlabelled` sentences. Then the layer alone
    learns from sentences as people post them: those of the bank and those that somebody `labelled`.
    """
    symptoms = [symptom.name for symptom in read_graph().symptom]
    bank = read_bank("train", symptoms)
    # The random state of the caller stays as it was.
    with torch.random.fork_rng():
        frozen = _open(recipe)
        bank = _close_ones_unknown(bank, vectors_of(frozen, bank.texts))
        lessons = _with_drawn(bank, symptoms, recipe)
        learner = _train(recipe, lessons, progress)
        if unlabelled:
            soft = _soft_targets(
                learner=learner,
                frozen=frozen,
                labelled=lessons,
                unlabelled=unlabelled,
            )
            learner = _train(recipe, lessons + soft, progress)

        further = read_sentences(BANK / "posts.csv", symptoms)
        if labelled is not None:
            further += labelled
        lessons = further + bank
        states = token_states(learner.encoder, lessons.texts)
        learner.layer = refined_layer(states, learner.layer, lessons, recipe.seed)

    figures = _figures(learner, read_bank("test", symptoms))
    _write(
        learner=learner,
        recipe=recipe,
        symptoms=symptoms,
        folder=folder,
        figures=figures,
    )
    return figures


def sentences_to_learn(
    posts: Sequence[str],
    most: int,
    seed: int,
) -> list[str]:
    """At most so many distinct sentences of posts, drawn at random: those that the second training reads."""
    sentences = [sentence for post in posts for sentence in split_sentences(post)]
    distinct = list(dict.fromkeys(sentences))
    chance = random.Random(f"unlabelled {seed}")
    return chance.sample(distinct, min(most, len(distinct)))


def _open(recipe: BankRecipe) -> HfEncoder:
    """The encoder to start from; another kind of model is refused."""
    # Word vectors are refused before they are read: their files can be large.
    is_network = not recipe.start.startswith("vectors:")
    encoder = open_encoder(recipe.start, max_length=WINDOW) if is_network else None
    if not isinstance(encoder, HfEncoder):
        raise BadInput(
            f"'{recipe.start}' is not a transformer that can be changed",
            code="symptoms.not-a-transformer",
            key="start",
            allowed="minilm, a folder or a hub name",
        )
    return encoder


def _close_ones_unknown(bank: Labelled, vectors: FloatArray) -> Labelled:
    """The bank without the zeros of symptoms that a sentence is close to: its author may have missed them."""
    fold = np.random.default_rng(0).integers(0, _FOLDS, len(bank.texts))
    likely = np.empty(bank.mentioned.shape)
    for number in range(_FOLDS):
        is_out = fold == number
        regression = _regression(vectors[~is_out], bank.mentioned[~is_out])
        likely[is_out] = regression(vectors[is_out])

    # Neutral sentences were written to be close: their zeros are meant.
    has_symptom = bank.mentioned.any(axis=1, keepdims=True)
    is_close = (likely > _CLOSE) & (bank.mentioned == 0) & has_symptom
    holds = bank.present.any(axis=1, keepdims=True)
    return Labelled(
        texts=bank.texts,
        mentioned=np.where(is_close, np.nan, bank.mentioned),
        # Where nothing of a sentence holds, what it may mention besides does not hold either.
        present=np.where(is_close & holds, np.nan, bank.present),
    )


def _regression(vectors: FloatArray, targets: FloatArray) -> Callable[[FloatArray], FloatArray]:
    """Logistic regressions of all targets, (n, k), on vectors of length 1, as one function."""
    torch.manual_seed(0)
    features = torch.tensor(vectors, dtype=torch.float32) * _SCALE
    labels = torch.tensor(targets, dtype=torch.float32)
    linear = torch.nn.Linear(features.shape[1], targets.shape[1])
    optimizer = torch.optim.AdamW(linear.parameters(), lr=0.05, weight_decay=0.05)
    for _ in range(_REGRESSION_STEPS):
        loss = known_loss(linear(features), labels)
        optimizer.zero_grad()
        loss.backward()  # type: ignore[no-untyped-call]  # torch leaves it untyped
        optimizer.step()

    def probabilities(new_vectors: FloatArray) -> FloatArray:
        with torch.no_grad():
            logits = linear(torch.tensor(new_vectors, dtype=torch.float32) * _SCALE)
        return np.asarray(logits.sigmoid().double().numpy())

    return probabilities


def _with_drawn(
    bank: Labelled,
    symptoms: Sequence[str],
    recipe: BankRecipe,
) -> Labelled:
    """The bank and what is drawn from it: lists, sentences in longer ones, and pairs."""
    lists = drawn_lists(symptoms, recipe.lists, recipe.seed)
    frames = drawn_frames(bank, recipe.frames, recipe.seed)
    pairs = drawn_pairs(bank, recipe.pairs, recipe.seed)
    return bank + lists + frames + pairs


def _soft_targets(
    learner: _Learner,
    frozen: HfEncoder,
    labelled: Labelled,
    unlabelled: Sequence[str],
) -> Labelled:
    """What two readers make of unlabelled sentences: the mean of their probabilities."""
    texts = list(unlabelled)
    targets = np.hstack([labelled.mentioned, labelled.present])
    regression = _regression(vectors_of(frozen, labelled.texts), targets)
    by_vectors = regression(vectors_of(frozen, texts))
    by_tokens = learner.probabilities(texts)
    mentioned, present = np.hsplit((by_vectors + by_tokens) / 2, 2)
    return Labelled(texts, mentioned, present)


def _train(
    recipe: BankRecipe,
    labelled: Labelled,
    progress: Progress,
) -> _Learner:
    """Train the small matrices and the layer on labelled sentences."""
    torch.manual_seed(recipe.seed)
    learner = _learner(recipe, labelled.mentioned.shape[1])
    marks = np.hstack([labelled.mentioned, labelled.present])
    labels = torch.tensor(marks, dtype=torch.float32)
    matrices = list(learner.matrices.values())
    layer = list(learner.layer.values())
    # The layer starts from nothing and must move further than an encoder that can read already.
    groups = [
        {"params": matrices, "lr": recipe.rate},
        {"params": layer, "lr": recipe.layer_rate},
    ]
    optimizer = torch.optim.AdamW(groups, weight_decay=0.01)
    sentences = len(labelled.texts)
    epochs = ceil(recipe.epochs)
    steps = epochs * ceil(sentences / recipe.batch)
    schedule = torch.optim.lr_scheduler.LambdaLR(optimizer, lambda step: rate_at(step, steps))

    chance = random.Random(recipe.seed)
    lengths = [len(text) for text in labelled.texts]
    started = time.monotonic()
    done = 0
    for _ in range(epochs):
        for rows in batches(lengths, recipe.batch, chance):
            logits = learner.logits([labelled.texts[row] for row in rows])
            loss = known_loss(logits, labels[rows])
            optimizer.zero_grad()
            loss.backward()  # type: ignore[no-untyped-call]  # torch leaves it untyped
            # A batch of rare symptoms would otherwise throw small matrices far off.
            torch.nn.utils.clip_grad_norm_([*matrices, *layer], 1.0)
            optimizer.step()
            schedule.step()

            done += len(rows)
            seconds = time.monotonic() - started
            progress("training", done, epochs * sentences, seconds)
    return learner


def _learner(recipe: BankRecipe, symptoms: int) -> _Learner:
    """An encoder with small matrices beside the weights of its upper layers; at first they change nothing."""
    encoder = _open(recipe)
    network = encoder.network
    for parameter in network.parameters():
        parameter.requires_grad = False

    matrices: dict[str, Tensor] = {}
    for name, module in _upper_modules(network, recipe.upper):
        down = torch.randn(recipe.rank, module.in_features) / module.in_features**0.5
        # Zeros: the network starts as it is.
        up = torch.zeros(module.out_features, recipe.rank)
        matrices[f"{name}.down"] = down.requires_grad_()
        matrices[f"{name}.up"] = up.requires_grad_()
        module.register_forward_hook(_changed_by(down, up))

    width = network.config.hidden_size
    outputs = 2 * symptoms
    layer = {
        "mean.weight": torch.zeros(outputs, width),
        "mean.bias": torch.full((outputs,), _START_LOGIT),
        "token.weight": torch.zeros(outputs, width),
        "token.bias": torch.zeros(outputs),
    }
    for tensor in layer.values():
        tensor.requires_grad_()
    return _Learner(encoder, matrices, layer)


def _upper_modules(network: Any, upper: int) -> Iterator[tuple[str, torch.nn.Linear]]:
    """The linear modules of the uppermost layers, with their names."""
    layers = network.config.num_hidden_layers
    numbers = {str(number) for number in range(layers - upper, layers)}
    for name, module in network.named_modules():
        # "encoder.layer.5.attention.self.query": one of the steps is the number of the layer.
        is_upper = not numbers.isdisjoint(name.split("."))
        if is_upper and isinstance(module, torch.nn.Linear):
            yield name, module


def _changed_by(down: Tensor, up: Tensor) -> Any:
    """A hook that adds to the output of a linear module what its small matrices make of the input."""

    def changed(
        _: Any,
        inputs: tuple[Tensor, ...],
        output: Tensor,
    ) -> Tensor:
        change = _LORA_SCALE * (inputs[0] @ down.T) @ up.T
        return output + change

    return changed


def _figures(learner: _Learner, test: Labelled) -> dict[str, float]:
    """Average precision on the bank's test part: of what is mentioned, and of what is present."""
    from sklearn.metrics import average_precision_score

    mentioned, present = np.hsplit(learner.probabilities(test.texts), 2)
    precision_of_mentioned = average_precision_score(test.mentioned.ravel(), mentioned.ravel())
    precision_of_present = average_precision_score(test.present.ravel(), present.ravel())
    return {
        "mentioned": float(precision_of_mentioned),
        "present": float(precision_of_present),
    }


def _write(
    learner: _Learner,
    recipe: BankRecipe,
    symptoms: Sequence[str],
    folder: Path,
    figures: dict[str, float],
) -> None:
    """Write the matrices and the layer, in half precision, and the card without thresholds."""
    tensors = {}
    for name, tensor in (*learner.matrices.items(), *learner.layer.items()):
        # Whoever reads the file adds what the matrices make, without a scale.
        scale = _LORA_SCALE if name.endswith(".up") else 1.0
        tensors[name] = (tensor.detach() * scale).half().contiguous()
    with written(folder / READER_FILE) as part:
        save_file(tensors, part)

    card = {
        "reader": {
            "encoder": recipe.start,
            "encoder_fingerprint": learner.encoder.fingerprint,
            "window": WINDOW,
            "symptoms": list(symptoms),
        },
        "bank": {name: round(value, 3) for name, value in figures.items()},
    }
    with written(folder / CARD_FILE) as part:
        part.write_text(tomli_w.dumps(card), "utf-8")
