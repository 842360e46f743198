"""Distances between two samples: word distributions (JSD) and clouds of vectors (1-Wasserstein).

Vectors are (m, d) and (n, d). JSD and sliced Wasserstein are above 0 by chance, the more the fewer the texts:
their intervals (`sides.jackknife`) are of the figure at these sizes, chance included.
"""

import math

import numpy as np

from psycheck.statistics.classification import BoolArray, FloatArray, IntArray
from psycheck.statistics.intervals import UNKNOWN
from psycheck.statistics.sides import Figure, Sides, jackknife

SHUFFLES = 10
_ROUNDING = 1e-12


def jensen_shannon(
    first: FloatArray,
    second: FloatArray,
    *,
    smoothing: float = 1.0,
) -> float:
    """Jensen–Shannon divergence, base 2 (0 to 1), of two smoothed count vectors (v,) (ANGST 4.1).

    `smoothing` is added to each count (1 is Laplace's), so that a word that one side lacks has a probability.
    """
    from scipy.spatial.distance import jensenshannon

    # SciPy gives the distance, the root of the divergence; squared it may exceed 1 by a rounding error.
    distance = jensenshannon(first + smoothing, second + smoothing, base=2)
    return min(1.0, float(distance) ** 2)


def exact_wasserstein(first: FloatArray, second: FloatArray) -> float:
    """Exact 1-Wasserstein distance of two clouds, Euclidean cost (DECK 4.2); needs POT.

    Time grows with the cube of the number of texts: a few hundred per side take a moment, 5,000 take minutes.
    """
    import ot

    first_lengths = (first**2).sum(axis=1)
    second_lengths = (second**2).sum(axis=1)
    # ‖x − y‖² is ‖x‖² + ‖y‖² − 2 x'y, of equal vectors perhaps a little below 0.
    squared = first_lengths[:, None] + second_lengths - 2 * (first @ second.T)
    cost = np.sqrt(np.maximum(squared, 0.0))
    # Roots of rounding errors are not distances.
    cost[cost < 1e-7] = 0.0
    # Empty lists are equal weights. The default of 100,000 steps can end before large samples are matched.
    return float(
        ot.emd2(
            [],
            [],
            cost,
            numItermax=2_000_000,
        )
    )


def wasserstein(
    first: FloatArray,
    second: FloatArray,
    *,
    sides: Sides | None = None,
    size: int = 300,
    repeats: int = 10,
    seed: int = 0,
) -> tuple[Figure, float]:
    """Exact distance on `repeats` samples of at most `size` texts per side, and the same by chance: means.

    In many dimensions samples of the same source are far from 0 apart; that is the distance by chance, from
    shuffling the sides. `n` is the size of both samples together. A sample takes whole units, and at most
    four fifths of the smaller side, so that repeats differ. Repeats share texts, so that their spread is no
    interval.
    """
    least = min(len(first), len(second))
    if least < 2:
        return Figure(math.nan, None, 2 * least), math.nan
    sides = sides or Sides.of(len(first), len(second))
    size = min(size, max(2, least * 4 // 5))
    pooled = np.concatenate([first, second])
    values: list[float] = []
    chance: list[float] = []
    for repeat in range(repeats):
        random = np.random.default_rng((seed, repeat))
        # The same units come first on both sides: a sample against itself is 0.
        ranks = random.permutation(int(sides.units.max()) + 1)
        order = np.argsort(ranks[sides.units], kind="stable")
        shuffled = sides.shuffled(random)
        values.append(
            _distance_of_sample(
                vectors=pooled,
                order=order,
                is_first=sides.first,
                size=size,
            )
        )
        chance.append(
            _distance_of_sample(
                vectors=pooled,
                order=order,
                is_first=shuffled,
                size=size,
            )
        )
    figure = Figure(float(np.mean(values)), None, 2 * size)
    return figure, float(np.mean(chance))


def _distance_of_sample(
    vectors: FloatArray,
    order: IntArray,
    is_first: BoolArray,
    size: int,
) -> float:
    """The exact distance of the first texts of either side in this order, vectors (n, d), marks (n,)."""
    first_rows = order[is_first[order]][:size]
    second_rows = order[~is_first[order]][:size]
    return exact_wasserstein(vectors[first_rows], vectors[second_rows])


def directions(
    dimensions: int,
    count: int,
    seed: int = 0,
) -> FloatArray:
    """Random directions, (d, count), each of length 1."""
    # Normal coordinates, scaled to length 1, point in every direction equally often.
    drawn = np.random.default_rng(seed).standard_normal((dimensions, count))
    unit_vectors: FloatArray = drawn / np.linalg.norm(drawn, axis=0)
    return unit_vectors


def sliced_wasserstein(
    first: FloatArray,
    second: FloatArray,
    *,
    sides: Sides | None = None,
    slices: int = 200,
    seed: int = 0,
) -> tuple[Figure, float]:
    """Mean 1-Wasserstein distance over random directions, of all texts, and its mean by chance.

    The interval is the jackknife's, with the variance over the directions added.
    """
    n = len(first) + len(second)
    if len(first) < 2 or len(second) < 2:
        return Figure(math.nan, UNKNOWN, n), math.nan
    sides = sides or Sides.of(len(first), len(second))
    places = np.concatenate([first, second]) @ directions(first.shape[1], slices, seed)

    # Along each direction it is the area between the distribution functions; texts are sorted once for all.
    order = np.argsort(places, axis=0)
    gaps = np.diff(np.take_along_axis(places, order, axis=0), axis=0)

    def areas(is_first: BoolArray, is_second: BoolArray) -> FloatArray:
        weights = is_first / is_first.sum() - is_second / is_second.sum()
        heights = np.cumsum(weights[order], axis=0)[:-1]
        areas_of_slices: FloatArray = np.abs(heights * gaps).sum(axis=0)
        return areas_of_slices

    def mean_area(keep: BoolArray) -> float:
        return float(areas(keep & sides.first, keep & ~sides.first).mean())

    measured = areas(sides.first, ~sides.first)
    value = float(measured.mean())
    # The directions are drawn, too: their variance comes on top of that of the texts.
    direction_variance = float(measured.var(ddof=1)) / slices
    interval = jackknife(
        value=value,
        measure=mean_area,
        sides=sides,
        groups=10,
        besides=direction_variance,
    )

    random = np.random.default_rng(seed)
    shuffled = [sides.shuffled(random) for _ in range(SHUFFLES)]
    chance = float(np.mean([areas(is_first, ~is_first).mean() for is_first in shuffled]))
    # The mean of rounding errors is not a distance.
    return Figure(value if value > _ROUNDING else 0.0, interval, n), chance
