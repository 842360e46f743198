"""Association of words with two groups: Direct Bias, WEAT, relative norm distance.

Vectors are rows, (n, d). A word without a vector is a row of NaN, which the caller leaves out. The first
group is the positive side of all measures.
"""

import math
from dataclasses import dataclass
from itertools import combinations
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from psycheck.statistics.classification import FloatArray, IntArray
from psycheck.statistics.clustered import (
    FEWEST,
    Clusters,
    mean_interval,
    skewed_interval,
)
from psycheck.statistics.intervals import UNKNOWN, Interval

Centring = Literal["pairs", "differences"]
PARTITIONS = 10_000
TIE = 1e-12  # values that differ by no more are equal up to rounding


@dataclass(frozen=True, slots=True)
class Axis:
    """A direction of unit length, (d,), from the second group to the first.

    `shares` (k,) are the shares of variance of all principal components, largest first; `agreeing` counts the
    pairs whose own difference points the same way.
    """

    vector: FloatArray
    shares: FloatArray
    agreeing: int


@dataclass(frozen=True, slots=True)
class Weat:
    """The effect size d of WEAT or SEAT, its interval over words, and how often chance gives as much.

    `p` is one-sided as published (Caliskan et al. 2017), `p_two_sided` asks for either direction; `exact`
    says whether all partitions were tried.
    """

    effect: float
    interval: Interval
    p: float
    p_two_sided: float
    exact: bool


def unit(vectors: FloatArray) -> FloatArray:
    """Rows scaled to length 1, (n, d); NaN for a row of zeros, which points nowhere."""
    lengths = np.linalg.norm(vectors, axis=1, keepdims=True)
    nowhere = np.full(vectors.shape, np.nan)
    scaled: FloatArray = np.divide(
        vectors,
        lengths,
        out=nowhere,
        where=lengths > 0,
    )
    return scaled


def highest_cosine(
    vectors: FloatArray,
    references: FloatArray,
    starts: NDArray[np.int64],
) -> FloatArray:
    """The highest cosine similarity of n vectors, (n, d), to any of each group of references, (n, groups).

    The references (m, d) are in order of their groups, which begin at `starts`. A row of zeros is 0.
    """
    units = np.nan_to_num(unit(vectors))
    reference_units = np.nan_to_num(unit(references))
    similarities = units @ reference_units.T
    return np.asarray(np.maximum.reduceat(similarities, starts, axis=1))


def paired_axis(
    first: FloatArray,
    second: FloatArray,
    *,
    centring: Centring = "pairs",
) -> Axis:
    """The first principal component of the pairs' differences, both (k, d) (section 2.1.1).

    "pairs" centres each pair on its own mean, as Bolukbasi et al. (2016) do: the components are those of the
    differences about 0. "differences" centres the differences on their mean, as a PCA routine does when it is
    fed with them; that removes what all pairs have in common, and is there for comparison.
    """
    differences = first - second
    centred = differences
    if centring == "differences":
        centred = differences - differences.mean(axis=0)
    _, singular_values, directions = np.linalg.svd(centred, full_matrices=False)
    variances = singular_values**2
    total = float(variances.sum())
    if total <= 0 or not math.isfinite(total):
        no_direction = np.full(first.shape[1], np.nan)
        no_shares = np.full(len(singular_values), np.nan)
        return Axis(no_direction, no_shares, 0)

    # The sign of a component is arbitrary; it is set so that most of the differences point along it.
    along = differences @ directions[0]
    sign = -1.0 if along.sum() < 0 else 1.0
    agreeing = int((sign * along > 0).sum())
    return Axis(sign * directions[0], variances / total, agreeing)


def random_shares(
    pool: FloatArray,
    pairs: int,
    *,
    draws: int = 200,
    seed: int = 0,
) -> FloatArray:
    """Mean shares of variance of pairs of random words from a pool, (k,): what the figure shows by chance.

    NaN where the pool, (m, d), has no two words that differ.
    """
    unknown = np.full(min(pairs, pool.shape[1]), np.nan)
    if not len(pool):
        return unknown

    random = np.random.default_rng(seed)
    is_small = len(pool) < 2 * pairs
    defined_shares = []
    for _ in range(draws):
        rows = random.choice(len(pool), size=2 * pairs, replace=is_small)
        first = pool[rows[:pairs]]
        second = pool[rows[pairs:]]
        shares = paired_axis(first, second).shares
        # A draw of equal words has no variance to share out.
        if not np.isnan(shares).any():
            defined_shares.append(shares)
    if not defined_shares:
        return unknown
    mean_shares: FloatArray = np.mean(defined_shares, axis=0)
    return mean_shares


def cosines(vectors: FloatArray, direction: FloatArray) -> FloatArray:
    """Cosine of each row of (n, d) with a direction (d,), (n,); NaN for a word without a vector."""
    unit_direction = direction / np.linalg.norm(direction)
    projections: FloatArray = unit(vectors) @ unit_direction
    return projections


def direct_bias(
    values: FloatArray,
    *,
    strictness: float = 1.0,
) -> float:
    """Mean of |cos|^c over the words of a list (section 2.1.1; Bolukbasi et al. 2016, 5.2); c is 1."""
    if not len(values):
        return math.nan
    return float(np.mean(np.abs(values) ** strictness))


def words_interval(values: FloatArray) -> Interval:
    """The interval of a mean over words; NaN below 15 words."""
    return mean_interval(values, Clusters.single(len(values)))


def associations(
    words: FloatArray,
    first: FloatArray,
    second: FloatArray,
) -> FloatArray:
    """s(w, A, B) of WEAT, (n,): mean cosine with the first attributes minus that with the second.

    Words are (n, d), attributes (a, d) and (b, d).
    """
    # A mean of cosines is the cosine with the mean of unit vectors: n products in place of n · a.
    contrast = unit(first).mean(axis=0) - unit(second).mean(axis=0)
    scores: FloatArray = unit(words) @ contrast
    return scores


def weat(
    x: FloatArray,
    y: FloatArray,
    a: FloatArray,
    b: FloatArray,
    *,
    permutations: int = PARTITIONS,
    seed: int = 0,
) -> Weat:
    """WEAT of targets x, y and attributes a, b (Caliskan et al. 2017); SEAT where vectors are contextual.

    d = (mean s(x) − mean s(y)) / sd of s over both, with n − 1. Partitions keep the sizes of x and y; all are
    tried where there are no more than `permutations`. The interval leaves out each word once; there is none
    below 15 words on a side.
    """
    n = len(x)
    m = len(y)
    if min(n, m) < 2 or not min(len(a), len(b)):
        return Weat(
            effect=math.nan,
            interval=UNKNOWN,
            p=math.nan,
            p_two_sided=math.nan,
            exact=False,
        )

    scores = np.concatenate([associations(x, a, b), associations(y, a, b)])
    spread = float(scores.std(ddof=1))
    gap = float(scores[:n].mean() - scores[n:].mean())
    # Words that are all associated alike have no effect size: it would be 0 / 0.
    effect = gap / spread if spread > 0 else math.nan
    interval = UNKNOWN
    if spread > 0 and min(n, m) >= FEWEST:
        interval = _effect_interval(effect, scores, n)

    is_exact = math.comb(n + m, n) <= permutations
    chosen = (
        _all_partitions(n + m, n)
        if is_exact
        else _random_partitions(
            total=n + m,
            n=n,
            draws=permutations,
            seed=seed,
        )
    )
    # The sum of the second part follows from that of the first.
    sums = scores[chosen].sum(axis=1)
    gaps = sums / n - (scores.sum() - sums) / m
    # A sample lacks the measured partition; it is added.
    added = 0 if is_exact else 1
    tried = len(gaps) + added
    above = int((gaps >= gap - TIE).sum())
    either_way = int((np.abs(gaps) >= abs(gap) - TIE).sum())
    return Weat(
        effect=effect,
        interval=interval,
        p=(above + added) / tried,
        p_two_sided=(either_way + added) / tried,
        exact=is_exact,
    )


def _all_partitions(total: int, n: int) -> IntArray:
    """Every choice of n words of a total, (choices, n), by index."""
    return np.array(list(combinations(range(total), n)))


def _random_partitions(
    total: int,
    n: int,
    draws: int,
    seed: int,
) -> IntArray:
    """Random choices of n words of a total, (draws, n), by index."""
    # To sort random numbers shuffles all draws at once.
    keys = np.random.default_rng(seed).random((draws, total))
    return np.argsort(keys, axis=1)[:, :n]


def _effect_interval(
    effect: float,
    scores: FloatArray,
    n: int,
) -> Interval:
    """The interval of WEAT's effect size over words, (n + m,), of which the first n are of the first target.

    The effect size is not a mean, so the influence of a word on it is found by leaving the word out.
    """
    total = len(scores)
    words = np.arange(total)
    is_first = words < n
    effects = np.empty(total)
    for left_out in words:
        remains = words != left_out
        first_mean = scores[is_first & remains].mean()
        second_mean = scores[~is_first & remains].mean()
        effects[left_out] = (first_mean - second_mean) / scores[remains].std(ddof=1)
    # The interval divides by the weight of the remaining words, as leaving a word out has done already.
    influence = (effects.mean() - effects) * (1 - 1 / total)
    return skewed_interval(effect, influence, Clusters.single(total))


def norm_distances(
    words: FloatArray,
    first: FloatArray,
    second: FloatArray,
) -> FloatArray:
    """Relative norm distance of each word, (n,): ‖w − mean B‖ − ‖w − mean A‖, above 0 where A is nearer.

    Their mean is the RND of Garg et al. (2018), who give the sum; vectors are of unit length, as theirs.
    """
    units = unit(words)
    first_mean = unit(first).mean(axis=0)
    second_mean = unit(second).mean(axis=0)
    to_first = np.linalg.norm(units - first_mean, axis=1)
    to_second = np.linalg.norm(units - second_mean, axis=1)
    distances: FloatArray = to_second - to_first
    return distances


def carriers(values: FloatArray, most: int) -> tuple[int, ...]:
    """The indices of the words with the largest |cos|, largest first."""
    # Stable: words of equal value stay in the order of the list, run after run.
    order = np.argsort(-np.abs(values), kind="stable")
    return tuple(order[:most].tolist())
