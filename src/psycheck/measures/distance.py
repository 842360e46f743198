"""Distances between two samples: word distributions and clouds of vectors.

JSD compares counts; MMD and the 1-Wasserstein distance compare vectors, (m, d) and (n, d). Intervals are 95 %
intervals of a delete-a-group jackknife: each sample is cut into groups, each group is left out once, and the
spread of the results is the error. Unlike the bootstrap it repeats no text, which would make two samples look
further apart than they are. Below 5 texts per side, or if all values are equal, there is no interval.
"""

import math
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from psycheck.measures.bootstrap import percentiles
from psycheck.measures.classification import FloatArray, IntArray
from psycheck.measures.intervals import UNKNOWN, Z95, Interval, median_interval

GROUPS = 20
FEWEST = 5  # texts per side; the spread of fewer is meaningless
PAIRS = 1_000
PERMUTATIONS = 1_000
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
    `chance` is the 95th percentile of the permuted values, `bandwidth` the sigma of the kernel. The interval
    holds for samples that were drawn apart: a text that is in both pulls the value below 0, the interval too.
    """

    value: float
    interval: Interval
    biased: float
    p: float
    chance: float
    bandwidth: float


def jensen_shannon(first: FloatArray, second: FloatArray, *, smoothing: float = 1.0) -> float:
    """Jensen–Shannon divergence, base 2 (0 to 1), of two smoothed count vectors (v,) (ANGST 4.1).

    `smoothing` is added to each count (1 is Laplace's), so that a word that one side lacks has a probability.
    """
    p, q = (counts + smoothing for counts in (first, second))
    p, q = p / p.sum(), q / q.sum()
    middle = (p + q) / 2
    gained = 0.0
    for side in (p, q):
        there = side > 0
        gained += float((side[there] * np.log2(side[there] / middle[there])).sum())
    return min(1.0, max(0.0, gained / 2))


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


def rbf(first: FloatArray, second: FloatArray, bandwidth: float) -> FloatArray:
    """The kernel exp(−‖x − y‖² / 2σ²) of all pairs, (m, n)."""
    squared = first @ second.T
    squared *= -2
    squared += (first**2).sum(axis=1)[:, None]
    squared += (second**2).sum(axis=1)
    np.maximum(squared, 0.0, out=squared)
    squared *= -1 / (2 * bandwidth**2)
    np.exp(squared, out=squared)
    return squared


def mmd_test(
    first: FloatArray,
    second: FloatArray,
    *,
    bandwidth: float | None = None,
    permutations: int = PERMUTATIONS,
    seed: int = 0,
) -> MmdTest:
    """Unbiased squared MMD (Gretton et al. 2012, eq. 3) with a permutation p-value, vectors (m, d), (n, d).

    The kernel is computed once. With w the 0/1 membership of a permuted sample, all three sums of the
    estimate follow from w'Kw and w'K1, so all permutations are a few matrix products. It takes 12·(m + n)²
    bytes.
    """
    m, n = len(first), len(second)
    if m < 2 or n < 2:
        return MmdTest(math.nan, UNKNOWN, math.nan, math.nan, math.nan, math.nan)
    sigma = median_bandwidth(first, second, seed=seed) if bandwidth is None else bandwidth
    pooled = np.concatenate([first, second])
    kernel = rbf(pooled, pooled, sigma)
    np.fill_diagonal(kernel, 0.0)
    value, interval = _unbiased(kernel, m)
    # Over all pairs, a text with itself (1 on the emptied diagonal) among them.
    ours, theirs, cross = kernel[:m, :m].sum() + m, kernel[m:, m:].sum() + n, kernel[:m, m:].sum()
    biased = max(0.0, float(ours / m**2 + theirs / n**2 - 2 * cross / (m * n)))
    # A constant off the diagonal drops out of the estimate; without it single precision is exact enough.
    kernel -= kernel.sum() / ((m + n) * (m + n - 1))
    np.fill_diagonal(kernel, 0.0)
    drawn = _permuted(kernel.astype(np.float32), m, permutations, seed)
    # Equal samples give every permutation the same value up to rounding: that is no evidence of a difference.
    reached = int((drawn >= value - 1e-9).sum())
    chance = float(np.quantile(drawn, 0.95)) if permutations else math.nan
    p = (1 + reached) / (1 + permutations) if permutations else math.nan
    return MmdTest(value, interval, biased, p, chance, sigma)


def pair_mmd(
    first: FloatArray, second: FloatArray, *, bandwidth: float, pairs: int = PAIRS, seed: int = 0
) -> tuple[Figure, Figure]:
    """Mean and median squared MMD of two single texts, 2 − 2k(x, y), over random distinct pairs (ANGST A.2).

    It also grows with the spread within each sample, so it is above 0 for a sample against itself; the
    unbiased estimate takes that off. At most m·n distinct pairs exist.
    """
    m, n = len(first), len(second)
    random = np.random.default_rng(seed)
    drawn = random.choice(m * n, size=min(pairs, m * n), replace=False)
    squared = ((first[drawn // n] - second[drawn % n]) ** 2).sum(axis=1)
    values = 2 - 2 * np.exp(-squared / (2 * bandwidth**2))
    mean = float(values.mean())
    few = min(m, n) < FEWEST
    half = math.nan if few else Z95 * float(values.std(ddof=1)) / math.sqrt(len(values))
    around = UNKNOWN if few or half <= _ROUNDING else (mean - half, mean + half)
    middle = UNKNOWN if few else median_interval(values)
    return Figure(mean, around, len(values)), Figure(float(np.median(values)), middle, len(values))


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
    first: FloatArray, second: FloatArray, *, size: int = 300, repeats: int = 10, seed: int = 0
) -> tuple[Figure, float]:
    """Exact distance on `repeats` samples of at most `size` texts per side, and the same by chance: means.

    In many dimensions samples of the same source are far from 0 apart; that is the distance by chance, from
    mixing both sides. The interval is the spread over repeats, `n` the size of both samples together. A
    sample takes at most four fifths of the smaller side, so that repeats differ.
    """
    least = min(len(first), len(second))
    if least < 2:
        return Figure(math.nan, UNKNOWN, 2 * least), math.nan
    size = min(size, max(2, least * 4 // 5))
    pooled = np.concatenate([first, second])
    values, chance = [], []
    for repeat in range(repeats):
        # The same draw on both sides: a sample against itself is 0.
        here, there = (
            np.random.default_rng((seed, repeat)).choice(len(side), size, replace=False)
            for side in (first, second)
        )
        values.append(exact_wasserstein(first[here], second[there]))
        mixed = np.random.default_rng((seed, repeat, 1)).permutation(len(pooled))[: 2 * size]
        chance.append(exact_wasserstein(pooled[mixed[:size]], pooled[mixed[size:]]))
    drawn = np.array(values)
    # Few texts are drawn repeatedly: agreement between the draws is not certainty.
    spread = percentiles(drawn) if least >= FEWEST and np.ptp(drawn) > _ROUNDING else UNKNOWN
    return Figure(float(drawn.mean()), spread, 2 * size), float(np.mean(chance))


def directions(dimensions: int, count: int, seed: int = 0) -> FloatArray:
    """Random directions, (d, count), each of length 1."""
    drawn = np.random.default_rng(seed).standard_normal((dimensions, count))
    out: FloatArray = drawn / np.linalg.norm(drawn, axis=0)
    return out


def sliced_wasserstein(first: FloatArray, second: FloatArray, *, slices: int = 50, seed: int = 0) -> Figure:
    """Mean 1-Wasserstein distance over random directions, of all texts, with its jackknife interval."""
    from scipy.stats import wasserstein_distance

    n = len(first) + len(second)
    if len(first) < 2 or len(second) < 2:
        return Figure(math.nan, UNKNOWN, n)
    along = directions(first.shape[1], slices, seed)
    ours, theirs = first @ along, second @ along

    def mean(here: FloatArray, there: FloatArray) -> float:
        return float(np.mean([wasserstein_distance(a, b) for a, b in zip(here.T, there.T, strict=True)]))

    value = mean(ours, theirs)
    interval = jackknife(
        value,
        left_out(len(ours), lambda keep: mean(ours[keep], theirs), groups=10),
        left_out(len(theirs), lambda keep: mean(ours, theirs[keep]), groups=10),
    )
    # The mean of rounding errors is not a distance.
    return Figure(value if value > _ROUNDING else 0.0, interval, n)


def left_out(n: int, measure: Callable[[NDArray[np.bool_]], float], *, groups: int = GROUPS) -> FloatArray:
    """A measure with each group of one side left out once; `measure` takes what is kept, (n,)."""
    member = group_of(n, groups)
    return np.array([measure(member != group) for group in np.unique(member)])


def group_of(n: int, groups: int = GROUPS, seed: int = 0) -> IntArray:
    """Random groups of similar size for the jackknife, (n,)."""
    out: IntArray = np.random.default_rng(seed).permutation(np.arange(n) % min(groups, n))
    return out


def jackknife(value: float, *sides: FloatArray, low: float = 0.0, high: float = math.inf) -> Interval:
    """The interval around a value from its leave-one-group-out values, one array for each side.

    Unknown below 5 values per side, and if leaving out changes nothing.
    """
    from scipy.stats import t

    if any(len(side) < FEWEST or np.isnan(side).any() for side in sides):
        return UNKNOWN
    variance = sum((len(side) - 1) / len(side) * float(((side - side.mean()) ** 2).sum()) for side in sides)
    if math.sqrt(variance) <= _ROUNDING * max(1.0, abs(value)):
        return UNKNOWN
    half = float(t.ppf(0.975, min(len(side) for side in sides) - 1)) * math.sqrt(variance)
    return max(low, value - half), min(high, value + half)


def _unbiased(kernel: FloatArray, m: int) -> tuple[float, Interval]:
    """The estimate and its interval from a kernel with an empty diagonal; the first m rows are one side."""
    n = len(kernel) - m
    member = np.concatenate([group_of(m), GROUPS + group_of(n)])
    groups = np.zeros((len(member), 2 * GROUPS))
    groups[np.arange(len(member)), member] = 1.0
    sums, sizes = groups.T @ (kernel @ groups), groups.sum(axis=0)

    def estimate(keep: NDArray[np.bool_]) -> float:
        ours, theirs = keep.copy(), keep.copy()
        ours[GROUPS:] = theirs[:GROUPS] = False
        a, b = sizes[ours].sum(), sizes[theirs].sum()
        if a < 2 or b < 2:
            return math.nan
        within = sums[np.ix_(ours, ours)].sum() / (a * (a - 1)) + sums[np.ix_(theirs, theirs)].sum() / (
            b * (b - 1)
        )
        return float(within - 2 * sums[np.ix_(ours, theirs)].sum() / (a * b))

    there = sizes > 0
    value = estimate(there)
    without = np.array([estimate(there & (np.arange(2 * GROUPS) != g)) for g in np.flatnonzero(there)])
    split = int(there[:GROUPS].sum())
    if np.isnan(without).any():
        return value, UNKNOWN
    return value, jackknife(value, without[:split], without[split:], low=-math.inf)


def _permuted(kernel: Block, m: int, permutations: int, seed: int) -> FloatArray:
    """The estimate for random memberships, (permutations,); the kernel is centred and has no diagonal."""
    total = len(kernel)
    n = total - m
    random = np.random.default_rng(seed)
    rows = kernel.sum(axis=1, dtype=np.float64)
    whole = float(rows.sum())
    out = np.empty(permutations)
    for start in range(0, permutations, BLOCK):
        count = min(BLOCK, permutations - start)
        member = np.zeros((total, count), dtype=np.float32)
        for column in range(count):
            member[random.permutation(total)[:m], column] = 1.0
        ours = np.einsum("ip,ip->p", member, kernel @ member, dtype=np.float64)
        touched = rows @ member
        cross = touched - ours
        theirs = whole - 2 * touched + ours
        out[start : start + count] = ours / (m * (m - 1)) + theirs / (n * (n - 1)) - 2 * cross / (m * n)
    return out
