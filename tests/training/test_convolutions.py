"""What each network over histories can tell apart, and what it cannot: planted histories of one feature."""

from collections.abc import Callable

import numpy as np
import pytest
import torch

from psycheck.symptoms.history_network import (
    PostConvolutions,
    PostTransformer,
    attention,
    made,
    probabilities,
)
from psycheck.symptoms.history_settings import history_settings
from psycheck.symptoms.post_weights import Features
from psycheck.training.convolutions import convolve
from psycheck.training.parts import Part, Parts
from psycheck.training.recipe import Recipe

POSTS = 10
# The history of an author with a condition (True) or without, of `POSTS` posts with one feature.
Planted = Callable[[bool, np.random.Generator], list[float]]


def next_to_each_other(positive: bool, random: np.random.Generator) -> list[float]:
    """Two marked posts: next to each other, or apart."""
    first = int(random.integers(0, 4))
    second = first + (1 if positive else int(random.integers(3, 6)))
    return [float(place in (first, second)) for place in range(POSTS)]


def early(positive: bool, random: np.random.Generator) -> list[float]:
    """One marked post: in the first half, or in the second."""
    marked = int(random.integers(0, 5)) + (0 if positive else 5)
    return [float(place == marked) for place in range(POSTS)]


def often(positive: bool, random: np.random.Generator) -> list[float]:
    """Marked posts: six, or one."""
    marked = random.choice(POSTS, 6 if positive else 1, replace=False)
    return [float(place in marked) for place in range(POSTS)]


def either_way(positive: bool, random: np.random.Generator) -> list[float]:
    """All posts alike: well above 0 or well below it, or near it."""
    level = random.choice([-1.0, 1.0]) if positive else random.uniform(-0.1, 0.1)
    return [float(level)] * POSTS


def planted(history: Planted, n: int, seed: int) -> tuple[list[Features], Part]:
    """So many histories, every second one positive, and their annotations."""
    random = np.random.default_rng(seed)
    rows = [history(bool(row % 2), random) for row in range(n)]
    features = [np.array(row, np.float32)[:, None] for row in rows]
    targets = (np.arange(n) % 2).astype(np.float64)[:, None]
    return features, Part([], targets)


def auc(history: Planted, options: str, epochs: int = 60) -> float:
    """The AUC on 60 other histories after training on 120."""
    train, train_part = planted(history, 120, seed=1)
    dev, dev_part = planted(history, 60, seed=2)
    parts = Parts("planted", "planted", ("condition",), train_part, dev_part, left_out=0)
    recipe = Recipe(
        start="history:symptoms",
        epochs=epochs,
        batch=20,
        learning_rate=0.02,
        patience=epochs,
        criterion="dev_loss",
    )
    settings = history_settings(f"history:symptoms?{options}")
    _, figures, _ = convolve(train, dev, parts, recipe, settings)
    return figures["auc"]


@pytest.mark.parametrize(
    ("history", "able", "unable"),
    [
        # A window of one post does not see which post is next to which.
        (next_to_each_other, "widths=2&filters=16&pool=max", "widths=1&filters=4&pool=max"),
        # Places are known to a transformer alone.
        (early, "network=transformer&filters=8&pool=mean", "widths=1&filters=8&pool=mean"),
        # The largest value is the same, however many posts have it.
        (often, "widths=1&filters=4&pool=mean", "widths=1&filters=4&pool=max"),
        (often, "widths=1&filters=4&pool=largest", "widths=1&filters=4&pool=max"),
    ],
)
def test_a_network_tells_apart_what_it_can_see(history: Planted, able: str, unable: str) -> None:
    assert auc(history, able) > 0.95
    # Both classes look the same to it, so that all histories have one score.
    assert auc(history, unable, epochs=3) == 0.5


def test_one_filter_sees_one_direction() -> None:
    assert auc(either_way, "widths=1&filters=8&pool=mean") > 0.95
    # Rising or falling in the feature: half of the positive histories stay below the negative ones.
    assert auc(either_way, "widths=1&filters=1&pool=mean") < 0.8


@pytest.mark.parametrize("network", ["convolutions", "transformer"])
def test_attention_is_1_in_all_and_leaves_padding_out(network: str) -> None:
    torch.manual_seed(0)
    reading = made(1, network=network, widths=(1, 3), filters=4, layers=1, pool="attention")
    histories = [np.ones((posts, 1), np.float32) for posts in (7, 2, 0)]
    seven, two, none = attention([reading, reading], histories)
    assert (seven.shape, two.shape, none.shape) == ((7, 2), (2, 2), (0, 2))
    assert seven.sum(axis=0) == pytest.approx([1, 1])
    assert two.sum(axis=0) == pytest.approx([1, 1])


def test_the_attention_of_a_window_is_shared_by_the_posts_in_it() -> None:
    network = PostConvolutions(1, widths=(2,), filters=1, pool="attention")
    with torch.no_grad():
        for pooling in network.pooling:
            pooling.attention.weight.fill_(0.0)  # type: ignore[operator,union-attr]  # a Conv1d
    two, three = (np.zeros((posts, 1), np.float32) for posts in (2, 3))
    of_two, of_three = attention([network], [two, three])
    # Equal weights of the windows (1, 2), (2, 3) and (3): halves of the pairs, and the whole of the last.
    assert of_three[:, 0].tolist() == pytest.approx([1 / 6, 1 / 3, 1 / 2])
    assert of_two[:, 0].tolist() == pytest.approx([1 / 4, 3 / 4])


def test_a_transformer_reads_places_and_not_the_padding_of_others() -> None:
    torch.manual_seed(0)
    network = PostTransformer(1, size=8, layers=2, pool="mean")
    rising = np.arange(4, dtype=np.float32)[:, None]
    longer = np.ones((9, 1), np.float32)
    (alone,) = probabilities([network], [rising])
    beside_longer, _ = probabilities([network], [rising, longer])
    (falling,) = probabilities([network], [rising[::-1].copy()])
    assert beside_longer == pytest.approx(alone, abs=1e-6)
    assert abs(falling[0] - alone[0]) > 1e-4


@pytest.mark.parametrize(
    ("options", "inputs"),
    [("widths=2,4&filters=3", 6), ("filters=7", 35), ("network=transformer&filters=12&layers=2", 12)],
)
def test_filters_and_widths_make_what_decides(options: str, inputs: int) -> None:
    settings = history_settings(f"history:symptoms?{options}")
    network = made(
        38,
        network=settings.network,
        widths=settings.window_sizes,
        filters=settings.filters,
        layers=settings.layers,
        pool=settings.pool,
    )
    assert network.out.in_features == inputs
