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
    def of(cls, m: int, n: int, units: IntArray | None = None) -> "Sides":
        """Number the units of m and n texts; without `units` each text is one."""
        every = np.arange(m + n) if units is None else np.unique(units, return_inverse=True)[1]
        return cls(every.astype(np.int64), np.arange(m + n) < m)

    def counts(self) -> tuple[int, int]:
        """The number of units on each side."""
        return len(np.unique(self.units[self.first])), len(np.unique(self.units[~self.first]))

    def fewest(self) -> int:
        """The number of units of the smaller side; of the only one where the other is empty."""
        return min(count for count in self.counts() if count)

    def shuffled(self, random: np.random.Generator) -> BoolArray:
        """Which texts are in the first sample by chance, (n,): whole units trade places.

        A unit with texts on both sides swaps its two parts or not. Either sample keeps two texts.
        """
        share = self._shares()
        whole = (share == 0) | (share == 1)
        while True:
            turned = random.random(len(share)) < 0.5
            turned[whole] = share[whole] != random.permutation(share[whole])
            drawn: BoolArray = self.first ^ turned[self.units]
            if 2 <= drawn.sum() <= len(drawn) - 2:
                return drawn

    def groups(self, most: int = GROUPS) -> IntArray:
        """Random groups of whole units for the jackknife, (n,), with as many units of each side as can be."""
        share = self._shares()
        group = np.empty(len(share), np.int64)
        order = np.lexsort((np.random.default_rng(0).random(len(share)), share))
        group[order] = np.arange(len(share)) % min(most, len(share))
        return group[self.units]

    def _shares(self) -> FloatArray:
        """The share of the texts of each unit that is in the first sample, (units,)."""
        shares: FloatArray = np.bincount(self.units, self.first) / np.bincount(self.units)
        return shares


def jensen_shannon(first: FloatArray, second: FloatArray, *, smoothing: float = 1.0) -> float:
    """Jensen–Shannon divergence, base 2 (0 to 1), of two smoothed count vectors (v,) (ANGST 4.1).

    `smoothing` is added to each count (1 is Laplace's), so that a word that one side lacks has a probability.
    """
    from scipy.spatial.distance import jensenshannon

    return min(1.0, float(jensenshannon(first + smoothing, second + smoothing, base=2)) ** 2)


def median_bandwidth(first: FloatArray, second: FloatArray, *, most: int = 2_000, seed: int = 0) -> float:
    """The median distance between the vectors of both samples together (at most `most` of them are drawn)."""
    from scipy.spatial.distance import pdist

    pooled = np.concatenate([first, second])
    if len(pooled) > most:
        pooled = pooled[np.random.default_rng(seed).choice(len(pooled), most, replace=False)]
    apart = pdist(pooled)
    middle = float(np.median(apart)) if len(apart) else 0.0
    # Samples in which most texts are equal have a median of 0: any kernel then tells the others apart.
    return middle or float(apart[apart > 0].mean() if (apart > 0).any() else 1.0)


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
    m, n = len(first), len(second)
    if m < 2 or n < 2:
        return MmdTest(math.nan, UNKNOWN, math.nan, math.nan, math.nan, math.nan)
    sigma = median_bandwidth(first, second, seed=seed) if bandwidth is None else bandwidth
    pooled = np.concatenate([first, second])
    # The kernel exp(−‖x − y‖² / 2σ²) of all pairs, in the memory of one such table.
    kernel, lengths = pooled @ pooled.T, (pooled**2).sum(axis=1)
    kernel *= -2
    kernel += lengths[:, None]
    kernel += lengths
    np.maximum(kernel, 0.0, out=kernel)
    kernel *= -1 / (2 * sigma**2)
    np.exp(kernel, out=kernel)
    biased = max(0.0, float(kernel[:m, :m].mean() + kernel[m:, m:].mean() - 2 * kernel[:m, m:].mean()))
    sides = sides or Sides.of(m, n)
    # Texts of one unit are alike whatever the sides are: such pairs are left out, a text with itself too.
    apart = sides.units[:, None] != sides.units
    kernel *= apart
    value, interval = _unbiased(kernel, sides)
    # A constant drops out of the estimate; without it single precision is exact enough.
    kernel -= apart * (kernel.sum() / max(np.count_nonzero(apart), 1))
    drawn = _permuted(kernel.astype(np.float32), sides, permutations, seed)
    # Permutations that change nothing give the same value up to the rounding of single precision.
    reached = int((~(drawn < value - 1e-6)).sum())
    chance = float(np.quantile(drawn, 0.95)) if permutations else math.nan
    p = (1 + reached) / (1 + permutations) if permutations else math.nan
    return MmdTest(value, interval, biased, p, chance, sigma)


def pair_mmd(
    first: FloatArray, second: FloatArray, *, bandwidth: float, sides: Sides | None = None, seed: int = 0
) -> tuple[Figure, Figure]:
    """Mean and median squared MMD of two single texts, 2 − 2k(x, y), over random distinct pairs (ANGST A.2).

    It also grows with the spread within each sample, so it is above 0 for a sample against itself; the
    unbiased estimate takes that off. At most m·n distinct pairs exist.
    """
    m, n = len(first), len(second)
    sides = sides or Sides.of(m, n)
    random = np.random.default_rng(seed)
    drawn = random.choice(m * n, size=min(PAIRS, m * n), replace=False)
    squared = ((first[drawn // n] - second[drawn % n]) ** 2).sum(axis=1)
    values = 2 - 2 * np.exp(-squared / (2 * bandwidth**2))

    def figure(middle: Callable[[FloatArray], float]) -> Figure:
        def of(keep: BoolArray) -> float:
            kept = values[keep[:m][drawn // n] & keep[m:][drawn % n]]
            return float(middle(kept)) if len(kept) else math.nan

        value = float(middle(values))
        return Figure(value, jackknife(value, of, sides), len(values))

    return figure(np.mean), figure(np.median)


def exact_wasserstein(first: FloatArray, second: FloatArray) -> float:
    """Exact 1-Wasserstein distance of two clouds, Euclidean cost (DECK 4.2); needs POT.

    Time grows with the cube of the number of texts: a few hundred per side take a moment, 5,000 take minutes.
    """
    import ot

    cost = np.sqrt(
        np.maximum((first**2).sum(axis=1)[:, None] + (second**2).sum(axis=1) - 2 * (first @ second.T), 0.0)
    )
    # Roots of rounding errors are not distances.
    cost[cost < 1e-7] = 0.0
    return float(ot.emd2([], [], cost, numItermax=2_000_000))


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
        order = np.argsort(random.permutation(int(sides.units.max()) + 1)[sides.units], kind="stable")
        for member, drawn in ((sides.first, values), (sides.shuffled(random), chance)):
            here, there = order[member[order]][:size], order[~member[order]][:size]
            drawn.append(exact_wasserstein(pooled[here], pooled[there]))
    return Figure(float(np.mean(values)), None, 2 * size), float(np.mean(chance))


def directions(dimensions: int, count: int, seed: int = 0) -> FloatArray:
    """Random directions, (d, count), each of length 1."""
    drawn = np.random.default_rng(seed).standard_normal((dimensions, count))
    out: FloatArray = drawn / np.linalg.norm(drawn, axis=0)
    return out


def sliced_wasserstein(
    first: FloatArray, second: FloatArray, *, sides: Sides | None = None, slices: int = 200, seed: int = 0
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

    def each(here: BoolArray, there: BoolArray) -> FloatArray:
        weights = here / here.sum() - there / there.sum()
        areas: FloatArray = np.abs(np.cumsum(weights[order], axis=0)[:-1] * gaps).sum(axis=0)
        return areas

    drawn = each(sides.first, ~sides.first)
    value, error = float(drawn.mean()), float(drawn.var(ddof=1)) / slices

    def mean(keep: BoolArray) -> float:
        return float(each(keep & sides.first, keep & ~sides.first).mean())

    interval = jackknife(value, mean, sides, groups=10, besides=error)
    random = np.random.default_rng(seed)
    shuffled = [sides.shuffled(random) for _ in range(SHUFFLES)]
    chance = float(np.mean([each(member, ~member).mean() for member in shuffled]))
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
    member = sides.groups(groups)
    count = int(member.max()) + 1
    without = np.array([measure(member != group) for group in range(count)])
    variance = (count - 1) / count * float(((without - without.mean()) ** 2).sum())
    if not math.sqrt(variance) > _ROUNDING * max(1.0, abs(value)):  # nor if a value is NaN
        return UNKNOWN
    half = float(t.ppf(0.975, min(count, sides.fewest()) - 1)) * math.sqrt(variance + besides)
    return max(low, value - half), min(high, value + half)


def _unbiased(kernel: FloatArray, sides: Sides) -> tuple[float, Interval]:
    """The estimate and its interval from a kernel that is 0 for pairs within a unit."""
    member = sides.groups()
    places = np.unique(member, return_index=True)[1]  # one text of each group
    count = len(places)
    parts = np.zeros((len(member), 2 * count))
    parts[np.arange(len(member)), member + count * ~sides.first] = 1.0
    sums, sizes = parts.T @ (kernel @ parts), parts.sum(axis=0)
    group = member[np.unique(sides.units, return_index=True)[1]]
    first, second = (np.bincount(sides.units, side) for side in (sides.first, ~sides.first))
    alike = [np.bincount(group, pairs) for pairs in (first * first, second * second, first * second)]

    def estimate(keep: BoolArray) -> float:
        kept, none = keep[places], np.zeros(count, np.bool_)
        ours, theirs = np.concatenate([kept, none]), np.concatenate([none, kept])
        total = 0.0
        for one, other, same, weight in zip(
            (ours, theirs, ours), (ours, theirs, theirs), alike, (1, 1, -2), strict=True
        ):
            pairs = sizes[one].sum() * sizes[other].sum() - same[kept].sum()
            total += weight * sums[np.ix_(one, other)].sum() / pairs if pairs else math.nan
        return float(total)

    value = estimate(np.ones(len(member), np.bool_))
    return value, jackknife(value, estimate, sides, low=-math.inf)


def _permuted(kernel: Block, sides: Sides, permutations: int, seed: int) -> FloatArray:
    """The estimate for random memberships, (permutations,); the kernel is centred, and 0 within units."""
    from scipy.sparse import csr_array

    random = np.random.default_rng(seed)
    rows = kernel.sum(axis=1, dtype=np.float64)
    whole = float(rows.sum())
    sizes = np.bincount(sides.units)[:, None]
    of = csr_array((np.ones(len(kernel)), (sides.units, np.arange(len(kernel)))))
    out = np.empty(permutations)
    for start in range(0, permutations, BLOCK):
        drawn = [sides.shuffled(random) for _ in range(min(BLOCK, permutations - start))]
        member = np.stack(drawn, axis=1).astype(np.float32)
        ours = np.einsum("ip,ip->p", member, kernel @ member, dtype=np.float64)
        touched = rows @ member
        first = of @ member
        second = sizes - first
        m, n = first.sum(axis=0), second.sum(axis=0)
        with np.errstate(divide="ignore", invalid="ignore"):
            out[start : start + len(drawn)] = (
                ours / (m * m - (first**2).sum(axis=0))
                + (whole - 2 * touched + ours) / (n * n - (second**2).sum(axis=0))
                - 2 * (touched - ours) / (m * n - (first * second).sum(axis=0))
            )
    return out
