"""Distances between two samples: word distributions and clouds of vectors.

JSD compares counts; MMD and the 1-Wasserstein distance compare vectors, (m, d) and (n, d). Intervals are 95 %
intervals of a delete-a-group jackknife: both samples are cut into groups, each is left out once, and the
spread of the results is the error. Unlike the bootstrap it repeats no text, which would make two samples look
further apart than they are. Texts of one unit (an author) are shuffled and left out together (`Sides`). Below
5 units per side, or if all values are equal, there is no interval. JSD and sliced Wasserstein are above 0 by
chance, the more the fewer the texts: their intervals are of the figure at these sizes, chance included.
"""

import math
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from psycheck.statistics.classification import BoolArray, FloatArray, IntArray
from psycheck.statistics.intervals import UNKNOWN, Interval

GROUPS = 20
FEWEST = 5  # units per side; the spread of fewer is meaningless
SHUFFLES = 10
PAIRS = 1_000
BLOCK = 256  # permutations in one matrix product
Block = NDArray[np.float32]
_ROUNDING = 1e-12
_SINGLE_ROUNDING = 1e-6  # of sums of a kernel in single precision


@dataclass(frozen=True, slots=True)
class Figure:
    """A value with its interval and the number of texts, pairs or parts behind it."""

    value: float
    interval: Interval | None
    n: int


@dataclass(frozen=True, slots=True)
class MmdTest:
    """The unbiased squared MMD, its interval, and how often chance gives as much.

    `biased` counts each text's likeness to itself too: it is never negative, and 0 for a sample and its copy.
    `chance` is the 95th percentile of the permuted values, `bandwidth` the sigma of the kernel.
    """

    value: float
    interval: Interval
    biased: float
    p: float
    chance: float
    bandwidth: float


@dataclass(frozen=True, slots=True)
class Sides:
    """Two samples one after the other: the unit of each text, and whether it is in the first, (n,) each."""

    units: IntArray
    first: BoolArray

    @classmethod
    def of(
        cls,
        m: int,
        n: int,
        units: IntArray | None = None,
    ) -> "Sides":
        """Number the units of m and n texts; without `units` each text is one."""
        places = np.arange(m + n)
        numbers = places
        if units is not None:
            _, numbers = np.unique(units, return_inverse=True)
        return cls(numbers.astype(np.int64), places < m)

    def counts(self) -> tuple[int, int]:
        """The number of units on each side."""
        units_of_first = np.unique(self.units[self.first])
        units_of_second = np.unique(self.units[~self.first])
        return len(units_of_first), len(units_of_second)

    def fewest(self) -> int:
        """The number of units of the smaller side; of the only one where the other is empty."""
        return min(count for count in self.counts() if count)

    def shuffled(self, random: np.random.Generator) -> BoolArray:
        """Which texts are in the first sample by chance, (n,): whole units trade places.

        A unit with texts on both sides swaps its two parts or not. Either sample keeps two texts.
        """
        shares = self._shares()
        is_one_sided = (shares == 0) | (shares == 1)
        one_sided = shares[is_one_sided]
        while True:
            swaps = random.random(len(shares)) < 0.5
            # One-sided units are permuted, which keeps the number of units on either side.
            swaps[is_one_sided] = one_sided != random.permutation(one_sided)
            members: BoolArray = self.first ^ swaps[self.units]
            if 2 <= members.sum() <= len(members) - 2:
                return members

    def groups(self, most: int = GROUPS) -> IntArray:
        """Random groups of whole units for the jackknife, (n,), with as many units of each side as can be."""
        shares = self._shares()
        unit_count = len(shares)
        group_count = min(most, unit_count)
        # In order of their sides, and by chance within a side, units are dealt out like cards.
        by_chance = np.random.default_rng(0).random(unit_count)
        order = np.lexsort((by_chance, shares))
        group_of_unit = np.empty(unit_count, np.int64)
        group_of_unit[order] = np.arange(unit_count) % group_count
        return group_of_unit[self.units]

    def _shares(self) -> FloatArray:
        """The share of the texts of each unit that is in the first sample, (units,)."""
        sizes = np.bincount(self.units)
        shares: FloatArray = np.bincount(self.units, self.first) / sizes
        return shares


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
    return float(positive.mean()) if len(positive) else 1.0


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

    The kernel is computed once. With w the 0/1 membership of a permuted sample, all three sums of the
    estimate follow from w'Kw and w'K1, so all permutations are a few matrix products. It takes 13·(m + n)²
    bytes. Pairs of texts of one unit do not count, on either side or across.
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

    # A constant drops out of the estimate; without it single precision is exact enough.
    constant = kernel.sum() / max(np.count_nonzero(is_counted), 1)
    kernel -= is_counted * constant
    by_chance = _permuted(
        kernel=kernel.astype(np.float32),
        sides=sides,
        permutations=permutations,
        seed=seed,
    )
    # Permutations that change nothing give the same value up to the rounding of single precision.
    is_below = by_chance < value - _SINGLE_ROUNDING
    # Counted as not below, so that values that are NaN make p larger and not smaller.
    reached = int((~is_below).sum())
    return MmdTest(
        value=value,
        interval=interval,
        biased=biased,
        # The measured sides are one of the permutations, so p is never 0 (Phipson and Smyth 2010).
        p=(1 + reached) / (1 + permutations),
        chance=float(np.quantile(by_chance, 0.95)),
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
            return float(middle(remaining)) if len(remaining) else math.nan

        value = float(middle(values))
        return Figure(value, jackknife(value, measure, sides), len(values))

    return figure(np.mean), figure(np.median)


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


def jackknife(
    value: float,
    measure: Callable[[BoolArray], float],
    sides: Sides,
    *,
    groups: int = GROUPS,
    low: float = 0.0,
    high: float = math.inf,
    besides: float = 0.0,
) -> Interval:
    """The interval around a value from leaving out each group of units once; `measure` takes what is kept.

    `besides` is added to the variance. Unknown below 5 units per side, and if leaving out changes nothing.
    """
    from scipy.stats import t

    if sides.fewest() < FEWEST:
        return UNKNOWN
    group_of_text = sides.groups(groups)
    count = int(group_of_text.max()) + 1
    without = np.array([measure(group_of_text != group) for group in range(count)])
    squares = float(((without - without.mean()) ** 2).sum())
    # Values without a group hardly differ, as they share all other groups: hence count − 1 in the numerator.
    variance = (count - 1) / count * squares
    least = _ROUNDING * max(1.0, abs(value))
    # A NaN is not above the least either: what cannot be computed without a group has no interval.
    if not math.sqrt(variance) > least:
        return UNKNOWN
    freedom = min(count, sides.fewest()) - 1
    half_width = float(t.ppf(0.975, freedom)) * math.sqrt(variance + besides)
    return max(low, value - half_width), min(high, value + half_width)


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
            return float(sums[np.ix_(rows, columns)].sum() / pairs) if pairs else math.nan

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


def _permuted(
    kernel: Block,
    sides: Sides,
    permutations: int,
    seed: int,
) -> FloatArray:
    """The estimate for random memberships, (permutations,); the kernel is centred, and 0 within units."""
    from scipy.sparse import csr_array

    random = np.random.default_rng(seed)
    n = len(kernel)
    row_sums = kernel.sum(axis=1, dtype=np.float64)
    total = float(row_sums.sum())
    unit_sizes = np.bincount(sides.units)[:, None]
    units_by_texts = csr_array((np.ones(n), (sides.units, np.arange(n))))

    estimates = np.empty(permutations)
    for start in range(0, permutations, BLOCK):
        block_size = min(BLOCK, permutations - start)
        drawn = [sides.shuffled(random) for _ in range(block_size)]
        members = np.stack(drawn, axis=1).astype(np.float32)  # (n, block)
        # With w a column of members: w'Kw, and w'K1, in double precision as they are nearly equal.
        within_first = np.einsum(
            "ip,ip->p",
            members,
            kernel @ members,
            dtype=np.float64,
        )
        from_first = row_sums @ members
        across = from_first - within_first
        within_second = total - 2 * from_first + within_first

        first_sizes = units_by_texts @ members  # (units, block)
        second_sizes = unit_sizes - first_sizes
        first_pairs = _pairs_between(first_sizes, first_sizes)
        second_pairs = _pairs_between(second_sizes, second_sizes)
        pairs_across = _pairs_between(first_sizes, second_sizes)
        with np.errstate(divide="ignore", invalid="ignore"):
            similar = within_first / first_pairs + within_second / second_pairs
            estimates[start : start + block_size] = similar - 2 * across / pairs_across
    return estimates


def _pairs_between(sizes: FloatArray, other_sizes: FloatArray) -> FloatArray:
    """How many pairs of texts of different units two sides make, (block,), from their units' sizes."""
    all_pairs = sizes.sum(axis=0) * other_sizes.sum(axis=0)
    pairs_within_units = (sizes * other_sizes).sum(axis=0)
    pairs: FloatArray = all_pairs - pairs_within_units
    return pairs
