import math

import numpy as np
import pytest
import torch
from torch.nn.functional import binary_cross_entropy_with_logits, cross_entropy

from psycheck.training.losses import MISSING, annotated_loss
from psycheck.training.parts import balancing_weights


def test_missing_labels_move_nothing() -> None:
    logits = torch.tensor([[0.0, 2.0], [1.0, -1.0]], requires_grad=True)
    targets = torch.tensor([[1.0, MISSING], [0.0, 1.0]])
    loss = annotated_loss(logits, targets)
    loss.backward()  # type: ignore[no-untyped-call]  # torch leaves it untyped
    # By hand: d loss / d logit = (sigmoid - target) / 3 annotations; nothing for the missing one.
    down = 1 / (1 + math.exp(-1))
    expected = [[-0.5 / 3, 0.0], [down / 3, (1 / (1 + math.e) - 1) / 3]]
    assert logits.grad is not None
    np.testing.assert_allclose(logits.grad.numpy(), expected, rtol=1e-6)
    assert loss.item() == pytest.approx((math.log(2) + math.log1p(math.e) + math.log1p(math.e)) / 3)


def test_one_label_is_cross_entropy_of_two_outputs() -> None:
    logits, marks = torch.randn(5, 2), torch.tensor([0, 1, 1, 0, 1])
    assert torch.allclose(annotated_loss(logits, marks[:, None].float()), cross_entropy(logits, marks))


def test_soft_targets_are_met_in_part() -> None:
    logits, soft = torch.randn(4, 2), torch.tensor([0.2, 0.5, 0.9, 1.0])
    theirs = cross_entropy(logits, torch.stack([1 - soft, soft], dim=1))
    assert torch.allclose(annotated_loss(logits, soft[:, None]), theirs)
    many, wanted = torch.randn(4, 3), torch.rand(4, 3)
    assert torch.allclose(annotated_loss(many, wanted), binary_cross_entropy_with_logits(many, wanted))


def test_accumulated_batches_weigh_each_annotation_alike() -> None:
    logits = torch.randn(6, 3)
    targets = torch.tensor([[1, 0, MISSING], [MISSING, MISSING, 1], [0, 0, 0]] * 2, dtype=torch.float32)
    known = (targets != MISSING).sum()
    halves = [annotated_loss(logits[i : i + 1], targets[i : i + 1], items=known) for i in range(6)]
    assert torch.allclose(torch.stack(halves).sum(), annotated_loss(logits, targets))


def test_balancing_weights_give_both_sides_the_same_say() -> None:
    # Label 1: 1 of 4 positive -> 4 / (2·3) and 4 / (2·1). Label 2: soft mass 0.5 of 2 annotated.
    targets = np.array([[1, np.nan], [0, 0.5], [0, 0.0], [0, np.nan]])
    np.testing.assert_allclose(balancing_weights(targets), [[4 / 6, 2 / 3], [2.0, 2.0]])
    logits = torch.zeros(4, 2)
    marks = torch.tensor([[1.0], [0.0], [0.0], [0.0]])
    weights = torch.tensor([[4 / 6], [2.0]])
    # Equal sides: the weighted mean is that of one text of each class.
    assert annotated_loss(logits, marks, weights).item() == pytest.approx(math.log(2))
