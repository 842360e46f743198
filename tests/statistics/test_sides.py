import numpy as np
import pytest
from numpy.typing import NDArray
from scipy.stats import sem, t

from psycheck.statistics.sides import Sides, jackknife

Cloud = NDArray[np.float64]


def cloud(n: int, seed: int, shift: float = 0.0, d: int = 4) -> Cloud:
    return np.random.default_rng(seed).standard_normal((n, d)) + shift


def test_the_jackknife_of_a_mean_is_its_standard_error() -> None:
    values = cloud(20, 4, 5.0, d=1)[:, 0]
    side = Sides.of(20, 0)
    low, high = jackknife(float(values.mean()), lambda keep: float(values[keep].mean()), side)
    assert (high - low) / 2 == pytest.approx(t.ppf(0.975, 19) * sem(values))


def test_an_author_on_both_sides_swaps_parts_or_stays() -> None:
    # Unit 0 has a text on either side, units 1 and 2 have two on the first, 3 and 4 on the second.
    units = np.array([0, 1, 1, 2, 2, 0, 3, 3, 4, 4])
    sides, random = Sides.of(5, 5, units), np.random.default_rng(0)
    drawn = {tuple(sides.shuffled(random).tolist()) for _ in range(500)}
    assert len(drawn) == 2 * 6  # two ways for unit 0, C(4, 2) for the others
    for member in map(np.array, drawn):
        assert member[0] != member[5]
        assert member[1] == member[2]
        assert member[[1, 3, 6, 8]].sum() == 2
    assert sides.counts() == (3, 3)
    assert all(len(set(sides.groups()[units == unit])) == 1 for unit in range(5))
