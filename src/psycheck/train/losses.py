"""The loss of fine-tuning: cross-entropy over the annotations."""

import torch
from torch import Tensor
from torch.nn.functional import log_softmax, logsigmoid

MISSING = -100.0  # marks "not annotated"; the Trainer does not count it among the items of a batch


def log_chances(logits: Tensor, k: int) -> tuple[Tensor, Tensor]:
    """log P(label) and log P(not label), each (n, k).

    One label is scored by the softmax of two outputs ("not label", "label"), several by a sigmoid each.
    """
    if k == 1:
        both = log_softmax(logits, dim=-1)
        return both[:, 1:2], both[:, 0:1]
    return logsigmoid(logits), logsigmoid(-logits)


def annotated_loss(
    logits: Tensor, targets: Tensor, weights: Tensor | None = None, items: Tensor | int | None = None
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
