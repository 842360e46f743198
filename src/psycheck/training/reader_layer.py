"""The layer of a symptom reader, trained alone: the encoder stays, so its states are computed once."""

import random
from collections.abc import Iterable, Mapping, Sequence
from math import ceil
from typing import Final

import numpy as np
import torch
from torch import Tensor
from torch.nn.functional import binary_cross_entropy_with_logits, dropout
from torch.nn.utils.rnn import pad_sequence

from psycheck.symptoms.adapted_reader import read_tokens
from psycheck.symptoms.bank_sentences import Labelled

_EPOCHS: Final = 12
_BATCH: Final = 64
_RATE: Final = 3e-3
_DROPOUT: Final = 0.3  # few sentences were labelled: without it the layer learns them by heart
_STAY: Final = 0.01  # the pull towards the layer that the bank gave
_WARM_UP: Final = 0.1  # the share of steps in which the rate rises
_LEAST_RATE: Final = 0.02  # of the largest one, at the end


def refined_layer(
    states: Sequence[Tensor],
    layer: Mapping[str, Tensor],
    lessons: Labelled,
    seed: int,
) -> dict[str, Tensor]:
    """The layer after it learned from further sentences, close to what it was before.

    `states` are those of the tokens of each text, (tokens, d): see `token_states`.
    """
    torch.manual_seed(seed)
    chance = random.Random(seed)
    marks = np.hstack([lessons.mentioned, lessons.present])
    labels = torch.tensor(marks, dtype=torch.float32)
    first = {name: tensor.detach().float() for name, tensor in layer.items()}
    learned = {name: tensor.clone().requires_grad_() for name, tensor in first.items()}

    optimizer = torch.optim.AdamW(learned.values(), lr=_RATE, weight_decay=0)
    steps = _EPOCHS * ceil(len(states) / _BATCH)
    schedule = torch.optim.lr_scheduler.LambdaLR(optimizer, lambda step: rate_at(step, steps))
    lengths = [len(text_states) for text_states in states]
    for _ in range(_EPOCHS):
        for rows in batches(lengths, _BATCH, chance):
            logits = _dropped_logits([states[row] for row in rows], learned)
            loss = known_loss(logits, labels[rows]) + _STAY * _moved(learned, first)
            optimizer.zero_grad()
            loss.backward()  # type: ignore[no-untyped-call]  # torch leaves it untyped
            optimizer.step()
            schedule.step()
    return {name: tensor.detach() for name, tensor in learned.items()}


def _dropped_logits(states: list[Tensor], layer: Mapping[str, Tensor]) -> Tensor:
    """The logits of a batch, (n, 2k), with some of its states left out."""
    padded = pad_sequence([text_states.float() for text_states in states], batch_first=True)
    ones = [torch.ones(len(text_states)) for text_states in states]
    mask = pad_sequence(ones, batch_first=True)
    logits: Tensor = read_tokens(dropout(padded, _DROPOUT), mask, dict(layer))
    return logits


def _moved(layer: Mapping[str, Tensor], first: Mapping[str, Tensor]) -> Tensor:
    """The squared distance of a layer from what it was at first."""
    distances = [(layer[name] - first[name]).square().sum() for name in layer]
    return torch.stack(distances).sum()


def known_loss(logits: Tensor, labels: Tensor) -> Tensor:
    """The mean over texts of the cross-entropy of their labels, (n, k); a NaN label adds nothing."""
    is_known = ~labels.isnan()
    losses = binary_cross_entropy_with_logits(logits, labels.nan_to_num(0), reduction="none")
    return (losses * is_known).sum(1).mean()


def rate_at(step: int, total: int) -> float:
    """The share of the largest rate: it rises at first, then falls in a line."""
    rising = (step + 1) / (total * _WARM_UP)
    falling = max(_LEAST_RATE, 1 - step / total)
    return min(1.0, rising) * falling


def batches(
    lengths: Iterable[int],
    size: int,
    chance: random.Random | None = None,
) -> list[list[int]]:
    """The rows of batches of texts of similar length; drawn anew if chance is given."""
    lengths = list(lengths)
    order = list(range(len(lengths)))
    if chance is None:
        order.sort(key=lengths.__getitem__)
        return _cut(order, size)

    chance.shuffle(order)
    drawn_batches = []
    # Long enough to find neighbours of similar length, short enough to stay random.
    for span in _cut(order, 16 * size):
        span.sort(key=lengths.__getitem__)
        drawn_batches += _cut(span, size)
    chance.shuffle(drawn_batches)
    return drawn_batches


def _cut(rows: list[int], size: int) -> list[list[int]]:
    """Rows in pieces of this size; the last one may be shorter."""
    starts = range(0, len(rows), size)
    return [rows[start : start + size] for start in starts]
