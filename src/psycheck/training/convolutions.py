"""Trains networks over the posts of histories, one per label, with early stopping on dev."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import torch
from torch import Tensor
from torch.nn.functional import binary_cross_entropy_with_logits

from psycheck.core.arrays import FloatArray
from psycheck.statistics.classification import gold
from psycheck.symptoms.history_network import PostNetwork, made, padded, probabilities
from psycheck.symptoms.history_settings import HistorySettings
from psycheck.symptoms.post_weights import Features
from psycheck.training.dev_figures import figures, loss, merit
from psycheck.training.parts import Parts, Progress, balancing_weights
from psycheck.training.recipe import Recipe

Curve = tuple[dict[str, float], ...]


@dataclass(frozen=True, slots=True)
class _Annotated:
    """The annotated histories of one label: their features, targets and weights, (m,)."""

    features: list[Features]
    targets: Tensor
    weights: Tensor

    def __len__(self) -> int:
        return len(self.features)


def convolve(
    train: Sequence[Features],
    dev: Sequence[Features],
    parts: Parts,
    recipe: Recipe,
    settings: HistorySettings,
    progress: Progress | None = None,
) -> tuple[dict[str, Tensor], dict[str, float], Curve]:
    """The weights of all networks (label k: "k.…"), their dev figures, and those of each epoch and label."""
    networks: list[PostNetwork] = []
    curve: list[dict[str, float]] = []
    # The random state of the caller stays as it was.
    with torch.random.fork_rng():
        for column in range(len(parts.labels)):
            # Its own seed: a label is learned alike whichever others are.
            torch.manual_seed(recipe.seed)
            network, epochs = _train_label(train, dev, parts, column, recipe, settings)
            networks.append(network)
            curve += [{"label": column, **epoch} for epoch in epochs]

            if progress is not None:
                progress(column + 1, len(parts.labels))

    tensors = {}
    for column, network in enumerate(networks):
        for name, tensor in network.state_dict().items():
            # safetensors refuses views of other tensors.
            tensors[f"{column}.{name}"] = tensor.contiguous()

    dev_scores = probabilities(networks, dev)
    dev_figures = figures(parts.dev.targets, dev_scores, parts.labels)
    return tensors, dev_figures, tuple(curve)


def _train_label(
    train: Sequence[Features],
    dev: Sequence[Features],
    parts: Parts,
    column: int,
    recipe: Recipe,
    settings: HistorySettings,
) -> tuple[PostNetwork, list[dict[str, float]]]:
    """The network of one label at its best epoch (the last without patience), and the dev figures of each."""
    width = train[0].shape[1]
    network = made(
        width,
        network=settings.network,
        widths=settings.window_sizes,
        filters=settings.filters,
        layers=settings.layers,
        pool=settings.pool,
    )
    train_targets = parts.train.targets[:, column]
    annotated = _annotated(train, train_targets, balanced=recipe.class_weights)

    # Slices keep two dimensions, (n, 1), as the figures of several labels need them.
    dev_rows = np.flatnonzero(~np.isnan(parts.dev.targets[:, column]))
    dev_features = [dev[row] for row in dev_rows.tolist()]
    dev_targets = parts.dev.targets[dev_rows, column : column + 1]
    label = parts.labels[column : column + 1]

    optimiser = torch.optim.AdamW(
        network.parameters(),
        recipe.learning_rate,
        weight_decay=recipe.weight_decay,
    )
    epochs: list[dict[str, float]] = []
    best_merit = (-np.inf, -np.inf)
    best_weights = network.state_dict()
    best_epoch = 0
    # A part of an epoch, which fine-tuning allows, is a whole one here: histories are few.
    last_epoch = int(np.ceil(recipe.epochs))
    for epoch in range(1, last_epoch + 1):
        _train_epoch(network, optimiser, annotated, recipe.batch)
        scores = probabilities([network], dev_features)
        dev_loss = _dev_loss(dev_targets, scores, recipe)
        dev_figures = figures(dev_targets, scores, label) | {"loss": dev_loss}
        epochs.append({"epoch": float(epoch), **dev_figures})

        epoch_merit = _merit(dev_figures, recipe)
        if epoch_merit > best_merit or not recipe.patience:
            best_merit = epoch_merit
            # Copies: the next epoch changes the tensors in place.
            best_weights = {name: tensor.clone() for name, tensor in network.state_dict().items()}
            best_epoch = epoch
        elif epoch - best_epoch >= recipe.patience:
            break

    network.load_state_dict(best_weights)
    return network.eval(), epochs


def _train_epoch(
    network: PostNetwork,
    optimiser: torch.optim.Optimizer,
    annotated: _Annotated,
    batch: int,
) -> None:
    """One pass over the annotated histories, in random order."""
    network.train()
    order = torch.randperm(len(annotated))
    for start in range(0, len(annotated), batch):
        rows = order[start : start + batch]
        features = [annotated.features[row] for row in rows.tolist()]
        posts, mask = padded(features)
        logits = network(posts, mask)
        error = binary_cross_entropy_with_logits(
            logits,
            annotated.targets[rows],
            annotated.weights[rows],
        )

        optimiser.zero_grad()
        torch.autograd.backward(error)
        optimiser.step()


def _merit(dev_figures: dict[str, float], recipe: Recipe) -> tuple[float, float]:
    """How good an epoch is: by the criterion, and by the loss between equal figures."""
    criterion = merit(dev_figures, recipe.criterion)
    # An undefined figure (no positive decision yet) is worse than any other; NaN would compare as neither.
    if np.isnan(criterion):
        criterion = -np.inf
    return criterion, -dev_figures["loss"]


def _dev_loss(targets: FloatArray, scores: FloatArray, recipe: Recipe) -> float:
    """The cross-entropy on dev, (n, 1), with the weights that training gives the classes."""
    positive = gold(targets)
    one_class = len(np.unique(positive)) < 2
    if one_class or not recipe.class_weights:
        return loss(targets, scores)

    loss_of_positive = loss(targets[positive], scores[positive])
    loss_of_negative = loss(targets[~positive], scores[~positive])
    return float(np.mean([loss_of_positive, loss_of_negative]))


def _annotated(features: Sequence[Features], targets: FloatArray, *, balanced: bool) -> _Annotated:
    """The histories that are annotated; classes weigh the same if they are `balanced`."""
    rows = np.flatnonzero(~np.isnan(targets))
    marks = targets[rows]
    negative_weight = 1.0
    positive_weight = 1.0
    if balanced:
        negative_weight, positive_weight = balancing_weights(marks[:, None])[:, 0]
    # A soft mark weighs as a part of both classes.
    weights = marks * positive_weight + (1 - marks) * negative_weight
    return _Annotated(
        features=[features[row] for row in rows.tolist()],
        targets=torch.tensor(marks, dtype=torch.float32),
        weights=torch.tensor(weights, dtype=torch.float32),
    )
