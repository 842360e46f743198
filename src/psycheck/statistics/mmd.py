"""The maximum mean discrepancy of two clouds of vectors, (m, d) and (n, d), and its permutation test.

Pairs of texts of one unit (an author, or copies of a text) do not count: they are alike in any corpus.
"""

import math
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from psycheck.statistics.classification import BoolArray, FloatArray, IntArray
from psycheck.statistics.intervals import UNKNOWN, Interval
from psycheck.statistics.mmd_permutations import permutation_test
from psycheck.statistics.sides import Figure, Sides, jackknife

PAIRS = 1_000


@dataclass(frozen=True, slots=True)
class MmdTest:
    """The unbiased squared MMD, its interval, and how often chance gives as much.

    `biased` counts each text's likeness to itself too: it is never negative, and 0 for a sample and its copy.
    `chance` is the 95th percentile of the permuted values (`mmd_permutations`), `bandwidth` the sigma of the
    kernel.
    """

    value: float
    interval: Interval
    biased: float
    p: float
    chance: float
    bandwidth: float


def median_bandwidth(
    first: FloatArray,
    second: FloatArray,
    *,
    most: int = 2_000,
    seed: int = 0,
) -> float:
    """The median distance between the vectors of both samples, (m, d) and (n, d), together.

    At most `most` vectors are drawn: the distances of all pairs would not fit into memory.
    """
    from scipy.spatial.distance import pdist

    pooled = np.concatenate([first, second])
    if len(pooled) > most:
        random = np.random.default_rng(seed)
        pooled = pooled[random.choice(len(pooled), most, replace=False)]
    distances = pdist(pooled)
    if len(distances):
        median = float(np.median(distances))
        if median:
            return median

    # Samples in which most texts are equal have a median of 0: any kernel then tells the others apart.
    positive = distances[distances > 0]
    if len(positive):
        return float(positive.mean())
    return 1.0


def mmd_test(
    first: FloatArray,
    second: FloatArray,
    *,
    sides: Sides | None = None,
    bandwidth: float | None = None,
    permutations: int = 1_000,
    seed: int = 0,
) -> MmdTest:
    """Unbiased squared MMD (Gretton et al. 2012, eq. 3) with a permutation p-value, vectors (m, d), (n, d).

    The kernel is computed once, and takes 13·(m + n)² bytes. Pairs of texts of one unit do not count, on
    either side or across.
    """
    m = len(first)
    n = len(second)
    if m < 2 or n < 2:
        return MmdTest(
            value=math.nan,
            interval=UNKNOWN,
            biased=math.nan,
            p=math.nan,
            chance=math.nan,
            bandwidth=math.nan,
        )

    sigma = median_bandwidth(first, second, seed=seed) if bandwidth is None else bandwidth
    kernel = _gaussian_kernel(np.concatenate([first, second]), sigma)
    within_first = kernel[:m, :m].mean()
    within_second = kernel[m:, m:].mean()
    across = kernel[:m, m:].mean()
    biased = max(0.0, float(within_first + within_second - 2 * across))

    sides = sides or Sides.of(m, n)
    # Texts of one unit are alike whatever the sides are: such pairs are left out, a text with itself too.
    is_counted = sides.units[:, None] != sides.units
    kernel *= is_counted
    value, interval = _unbiased(kernel, sides)
    if not permutations:
        return MmdTest(
            value=value,
            interval=interval,
            biased=biased,
            p=math.nan,
            chance=math.nan,
            bandwidth=sigma,
        )

    test = permutation_test(
        kernel,
        sides,
        value,
        permutations=permutations,
        seed=seed,
    )
    return MmdTest(
        value=value,
        interval=interval,
        biased=biased,
        p=test.p,
        chance=test.chance,
        bandwidth=sigma,
    )


def _gaussian_kernel(vectors: FloatArray, sigma: float) -> FloatArray:
    """The kernel exp(−‖x − y‖² / 2σ²) of all pairs of vectors (n, d), (n, n).

    It is computed in place: a second table of this size is what would not fit into memory.
    """
    kernel: FloatArray = vectors @ vectors.T
    squared_lengths = (vectors**2).sum(axis=1)
    # ‖x − y‖² is ‖x‖² + ‖y‖² − 2 x'y.
    kernel *= -2
    kernel += squared_lengths[:, None]
    kernel += squared_lengths
    # Of equal vectors rounding can leave it a little below 0.
    np.maximum(kernel, 0.0, out=kernel)
    kernel *= -1 / (2 * sigma**2)
    np.exp(kernel, out=kernel)
    return kernel


def pair_mmd(
    first: FloatArray,
    second: FloatArray,
    *,
    bandwidth: float,
    sides: Sides | None = None,
    seed: int = 0,
) -> tuple[Figure, Figure]:
    """Mean and median squared MMD of two single texts, 2 − 2k(x, y), over random distinct pairs (ANGST A.2).

    It also grows with the spread within each sample, so it is above 0 for a sample against itself; the
    unbiased estimate takes that off. At most m·n distinct pairs exist.
    """
    m = len(first)
    n = len(second)
    sides = sides or Sides.of(m, n)
    random = np.random.default_rng(seed)
    # A pair is numbered row by row, so that a draw without replacement gives distinct pairs.
    pairs = random.choice(m * n, size=min(PAIRS, m * n), replace=False)
    first_rows = pairs // n
    second_rows = pairs % n
    squared = ((first[first_rows] - second[second_rows]) ** 2).sum(axis=1)
    values = 2 - 2 * np.exp(-squared / (2 * bandwidth**2))

    def figure(middle: Callable[[FloatArray], float]) -> Figure:
        def measure(keep: BoolArray) -> float:
            keeps_first = keep[:m][first_rows]
            keeps_second = keep[m:][second_rows]
            remaining = values[keeps_first & keeps_second]
            if len(remaining):
                return float(middle(remaining))
            return math.nan

        value = float(middle(values))
        return Figure(value, jackknife(value, measure, sides), len(values))

    return figure(np.mean), figure(np.median)


def _unbiased(kernel: FloatArray, sides: Sides) -> tuple[float, Interval]:
    """The estimate and its interval from a kernel, (n, n), that is 0 for pairs within a unit."""
    groups = sides.groups()
    first_texts = np.unique(groups, return_index=True)[1]  # a text of each group
    count = len(first_texts)

    # Sums of the kernel between the parts of groups, first side and second side one after the other: leaving
    # out a group is then a matter of a small table, (2 groups, 2 groups), and not of the kernel.
    parts = np.zeros((len(groups), 2 * count))
    part_of_text = groups + count * ~sides.first
    parts[np.arange(len(groups)), part_of_text] = 1.0
    sums = parts.T @ (kernel @ parts)
    sizes = parts.sum(axis=0)
    within_first, within_second, within_both = _pairs_within_units(sides, groups)

    def estimate(keep: BoolArray) -> float:
        keeps_group = keep[first_texts]
        no_group = np.zeros(count, np.bool_)
        in_first = np.concatenate([keeps_group, no_group])
        in_second = np.concatenate([no_group, keeps_group])

        def mean(
            rows: BoolArray,
            columns: BoolArray,
            pairs_within: FloatArray,
        ) -> float:
            pairs = sizes[rows].sum() * sizes[columns].sum() - pairs_within[keeps_group].sum()
            if pairs:
                return float(sums[np.ix_(rows, columns)].sum() / pairs)
            return math.nan

        # Equation 3 of the paper: both means within a sample, less twice the mean across.
        similar_first = mean(in_first, in_first, within_first)
        similar_second = mean(in_second, in_second, within_second)
        across = mean(in_first, in_second, within_both)
        return similar_first + similar_second - 2 * across

    value = estimate(np.ones(len(groups), np.bool_))
    return value, jackknife(
        value=value,
        measure=estimate,
        sides=sides,
        low=-math.inf,
    )


def _pairs_within_units(sides: Sides, groups: IntArray) -> list[FloatArray]:
    """How many pairs of each group lie in one unit: of the first side, of the second, across; (groups,) each.

    These pairs do not count, so they are taken off the number that a sum is divided by.
    """
    first_text_of_unit = np.unique(sides.units, return_index=True)[1]
    group_of_unit = groups[first_text_of_unit]
    first_sizes = np.bincount(sides.units, sides.first)
    second_sizes = np.bincount(sides.units, ~sides.first)
    products = (first_sizes * first_sizes, second_sizes * second_sizes, first_sizes * second_sizes)
    return [np.bincount(group_of_unit, pairs).astype(np.float64) for pairs in products]
