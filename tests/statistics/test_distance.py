import math

import numpy as np
import ot
import pytest
from numpy.typing import NDArray
from scipy.optimize import linear_sum_assignment
from scipy.spatial.distance import cdist, jensenshannon
from scipy.stats import wasserstein_distance

from psycheck.statistics import distance, mmd
from psycheck.statistics.intervals import UNKNOWN
from psycheck.statistics.sides import Sides, jackknife

Cloud = NDArray[np.float64]


def cloud(n: int, seed: int, shift: float = 0.0, d: int = 4) -> Cloud:
    return np.random.default_rng(seed).standard_normal((n, d)) + shift


def test_jsd_by_hand() -> None:
    # Laplace turns 3, 1 and 1, 3 into 2/3, 1/3 and 1/3, 2/3; their mean 1/2, 1/2 has an entropy of 1 bit.
    entropy = -(2 / 3 * math.log2(2 / 3) + 1 / 3 * math.log2(1 / 3))
    assert distance.jensen_shannon(np.array([3.0, 1]), np.array([1.0, 3])) == pytest.approx(1 - entropy)


def test_jsd_without_a_common_word_is_1_and_smoothing_lowers_it() -> None:
    ours, theirs = np.array([5.0, 0]), np.array([0.0, 5])
    assert distance.jensen_shannon(ours, theirs, smoothing=0) == 1
    assert distance.jensen_shannon(ours, theirs) < 1


def test_jsd_is_the_square_of_scipys_distance_and_symmetric() -> None:
    ours, theirs = np.random.default_rng(0).poisson(3, (2, 50)).astype(float)
    value = distance.jensen_shannon(ours, theirs)
    assert value == pytest.approx(jensenshannon(ours + 1, theirs + 1, base=2) ** 2)
    assert value == pytest.approx(distance.jensen_shannon(theirs, ours))
    assert distance.jensen_shannon(ours, ours) == 0


def test_too_few_texts_give_no_value() -> None:
    assert math.isnan(mmd.mmd_test(cloud(1, 1), cloud(5, 2)).value)
    assert math.isnan(distance.wasserstein(cloud(1, 1), cloud(5, 2))[0].value)
    assert math.isnan(distance.sliced_wasserstein(cloud(1, 1), cloud(5, 2))[0].value)


def test_exact_wasserstein_is_the_best_assignment() -> None:
    x, y = cloud(20, 1), cloud(20, 2, 0.5)
    cost = cdist(x, y)
    best = cost[linear_sum_assignment(cost)].mean()
    assert distance.exact_wasserstein(x, y) == pytest.approx(best)
    assert distance.exact_wasserstein(y, x) == pytest.approx(best)


def test_exact_wasserstein_on_a_line_is_scipys() -> None:
    x, y = cloud(30, 1, d=1), cloud(17, 2, 0.5, d=1)
    assert distance.exact_wasserstein(x, y) == pytest.approx(wasserstein_distance(x[:, 0], y[:, 0]))


def test_a_shift_moves_wasserstein_by_its_length_and_above_chance() -> None:
    x = cloud(100, 1)
    same_units = Sides.of(100, 100, np.tile(np.arange(100), 2))
    shifted, _ = distance.wasserstein(x, x + 10, sides=same_units, size=40, repeats=5)
    assert shifted.value == pytest.approx(20)  # 10 in each of 4
    found, _ = distance.wasserstein(x, cloud(100, 2, 10.0), size=40, repeats=5)
    assert found.value == pytest.approx(20, abs=0.5)
    assert found.n == 2 * 40
    assert found.interval is None
    same, chance = distance.wasserstein(cloud(100, 1), cloud(100, 2), size=40, repeats=5)
    assert same.value == pytest.approx(chance, rel=0.15)


def test_sliced_wasserstein_is_pots() -> None:
    x, y = cloud(40, 1), cloud(25, 2, 0.5)
    found, _ = distance.sliced_wasserstein(x, y, slices=30, seed=7)
    along = distance.directions(4, 30, 7)
    assert found.value == pytest.approx(ot.sliced.sliced_wasserstein_distance(x, y, projections=along, p=1))
    assert distance.sliced_wasserstein(y, x, slices=30, seed=7)[0].value == pytest.approx(found.value)
    assert found.interval is not None
    assert found.interval[0] < found.value < found.interval[1]


def test_four_texts_a_side_or_no_spread_give_no_interval() -> None:
    few = cloud(4, 1), cloud(9, 2)
    assert all(math.isnan(mmd.mmd_test(*few, permutations=0).interval[k]) for k in (0, 1))
    assert distance.sliced_wasserstein(*few)[0].interval is UNKNOWN
    assert mmd.pair_mmd(*few, bandwidth=1.0)[0].interval is UNKNOWN
    assert math.isnan(jackknife(0.5, lambda keep: 0.5, Sides.of(9, 0))[0])
    five = cloud(5, 1), cloud(9, 2)
    assert not math.isnan(mmd.mmd_test(*five, permutations=0).interval[0])
    assert distance.sliced_wasserstein(*five)[0].interval is not UNKNOWN


def test_the_interval_of_the_sliced_distance_holds_that_of_other_directions() -> None:
    # One of 50 dimensions differs: a random direction sees little of it, or much.
    x, y = cloud(200, 1, d=50), cloud(200, 2, d=50)
    y[:, 0] += 3
    exact = distance.sliced_wasserstein(x, y, slices=2_000, seed=99)[0].value
    found = [distance.sliced_wasserstein(x, y, seed=seed)[0] for seed in range(20)]
    held = [low <= exact <= high for low, high in (one.interval or UNKNOWN for one in found)]
    assert np.mean(held) >= 0.9
    assert np.std([one.value for one in found]) < 0.1 * exact
