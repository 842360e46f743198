"""Trains convolutions over the posts of histories, one network per label, with early stopping on dev."""

from collections.abc import Sequence

import numpy as np
import torch
from torch import Tensor
from torch.nn.functional import binary_cross_entropy_with_logits

from psycheck.measures.classification import gold
from psycheck.model import FloatArray
from psycheck.models.history_network import PostConvolutions, padded, probabilities
from psycheck.models.posts import Features
from psycheck.train.figures import figures, loss, merit
from psycheck.train.parts import Parts, Progress, balancing_weights
from psycheck.train.recipe import Recipe

Curve = tuple[dict[str, float], ...]


def convolve(
    train: Sequence[Features],
    dev: Sequence[Features],
    parts: Parts,
    recipe: Recipe,
    progress: Progress | None = None,
) -> tuple[dict[str, Tensor], dict[str, float], Curve]:
    """The weights of all networks (label k: "k.…"), their dev figures, and those of each epoch and label."""
    networks, curve, epochs = [], list[dict[str, float]](), int(np.ceil(recipe.epochs))
    with torch.random.fork_rng():
        for k in range(len(parts.labels)):
            # Its own seed: a label is learned alike whichever others are.
            torch.manual_seed(recipe.seed)
            network, steps = _one_label(train, dev, parts, k, recipe, epochs)
            networks.append(network)
            curve += [{"label": k, **step} for step in steps]
            if progress is not None:
                progress(k + 1, len(parts.labels))
    tensors = {
        f"{k}.{name}": tensor.contiguous()
        for k, network in enumerate(networks)
        for name, tensor in network.state_dict().items()
    }
    return tensors, figures(parts.dev.targets, probabilities(networks, dev), parts.labels), tuple(curve)


def _one_label(
    train: Sequence[Features], dev: Sequence[Features], parts: Parts, k: int, recipe: Recipe, epochs: int
) -> tuple[PostConvolutions, list[dict[str, float]]]:
    """The network of one label at its best epoch (the last without patience), and the dev figures of each."""
    network = PostConvolutions(train[0].shape[1])
    target, weight, rows = _annotated(parts.train.targets[:, k], balanced=recipe.class_weights)
    known = np.flatnonzero(~np.isnan(parts.dev.targets[:, k]))
    measured, label = parts.dev.targets[known, k : k + 1], parts.labels[k : k + 1]
    seen = [dev[row] for row in known.tolist()]
    optimiser = torch.optim.AdamW(
        network.parameters(), recipe.learning_rate, weight_decay=recipe.weight_decay
    )
    steps: list[dict[str, float]] = []
    best, kept, at = (-np.inf, -np.inf), network.state_dict(), 0
    for epoch in range(1, epochs + 1):
        network.train()
        order = torch.randperm(len(rows))
        for start in range(0, len(rows), recipe.batch):
            some = order[start : start + recipe.batch]
            posts, there = padded([train[rows[i]] for i in some.tolist()])
            logits = network(posts, there)
            error = binary_cross_entropy_with_logits(logits, target[some], weight[some])
            optimiser.zero_grad()
            torch.autograd.backward(error)
            optimiser.step()
        scores = probabilities([network], seen)
        found = figures(measured, scores, label) | {"loss": _loss(measured, scores, recipe)}
        steps.append({"epoch": float(epoch), **found})
        merits = (merit(found, recipe.criterion), -found["loss"])  # the loss decides between equal figures
        value = (-np.inf, merits[1]) if np.isnan(merits[0]) else merits
        if value > best or not recipe.patience:
            best, kept, at = value, {name: t.clone() for name, t in network.state_dict().items()}, epoch
        elif epoch - at >= recipe.patience:
            break
    network.load_state_dict(kept)
    return network.eval(), steps


def _loss(targets: FloatArray, scores: FloatArray, recipe: Recipe) -> float:
    """The cross-entropy on dev, (n, 1), with the weights that training gives the classes."""
    if not recipe.class_weights or len(np.unique(gold(targets))) < 2:
        return loss(targets, scores)
    return float(np.mean([loss(targets[side], scores[side]) for side in (gold(targets), ~gold(targets))]))


def _annotated(targets: FloatArray, *, balanced: bool) -> tuple[Tensor, Tensor, np.ndarray]:
    """Targets and weights of the histories that are annotated, (m,), and their rows."""
    rows = np.flatnonzero(~np.isnan(targets))
    marks = targets[rows]
    sides = balancing_weights(marks[:, None])[:, 0] if balanced else np.ones(2)
    weight = marks * sides[1] + (1 - marks) * sides[0]
    return torch.tensor(marks, dtype=torch.float32), torch.tensor(weight, dtype=torch.float32), rows
