"""The loss of fine-tuning: cross-entropy over what is annotated, hard or soft, for one label or several."""

import torch
from torch import Tensor
from torch.nn.functional import log_softmax, logsigmoid

# Marks "not annotated"; the Trainer does not count it among the items of a batch.
MISSING = -100.0


def log_chances(logits: Tensor, labels: int) -> tuple[Tensor, Tensor]:
    """log P(label) and log P(not label), each (n, k).

    One label is scored by the softmax of two outputs ("not label", "label"), several by a sigmoid each.
    """
    if labels == 1:
        log_classes = log_softmax(logits, dim=-1)
        # Slices instead of columns: the result keeps two dimensions, as that of several labels.
        log_no = log_classes[:, 0:1]
        log_yes = log_classes[:, 1:2]
        return log_yes, log_no

    # log(1 - sigmoid(x)) would lose all digits of a confident output.
    log_yes = logsigmoid(logits)
    log_no = logsigmoid(-logits)
    return log_yes, log_no


def annotated_loss(
    logits: Tensor,
    targets: Tensor,
    weights: Tensor | None = None,
    items: Tensor | float | None = None,
) -> Tensor:
    """Cross-entropy against hard or soft targets (n, k), summed over the annotations, divided by `items`.

    `weights` (2, k) weighs the negative and the positive side of each label. `items` is the number of
    annotations of the whole update (all accumulated batches); without it, that of this batch.
    """
    annotated = targets != MISSING
    labels = targets.shape[1]
    # In 32 bits, also where the network computes in 16: logarithms near zero need them.
    log_yes, log_no = log_chances(logits.float(), labels)

    # Any number will do where there is no annotation: its loss is set to zero below.
    target = torch.where(annotated, targets, torch.zeros_like(targets))
    if weights is None:
        gain_of_yes = target * log_yes
        gain_of_no = (1 - target) * log_no
    else:
        negative_weight, positive_weight = weights
        gain_of_yes = positive_weight * target * log_yes
        gain_of_no = negative_weight * (1 - target) * log_no
    losses = -(gain_of_yes + gain_of_no)

    annotated_losses = torch.where(annotated, losses, torch.zeros_like(losses))
    total = annotated_losses.sum()
    if items is None:
        # A batch may be without any annotation: its loss is 0, not 0 / 0.
        items = annotated.sum().clamp(min=1)
    return total / items
