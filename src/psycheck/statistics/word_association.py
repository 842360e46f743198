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
from psycheck.statistics.clustered import FEWEST, Clusters, mean_interval, skewed_interval
from psycheck.statistics.intervals import UNKNOWN, Interval, percentiles

Centring = Literal["pairs", "differences"]
LISTS = 10_000
BLOCK = 5_000_000  # similarities at once


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
class ListTest:
    """A mean over a list against random lists of equal size: p, and the mean and 95 % range of the latter."""

    p: float
    chance: float
    spread: Interval
    lists: int


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
    out: FloatArray = np.divide(vectors, lengths, out=np.full(vectors.shape, np.nan), where=lengths > 0)
    return out


def highest_cosine(vectors: FloatArray, known: FloatArray, starts: NDArray[np.int64]) -> FloatArray:
    """The highest cosine similarity of n vectors, (n, d), to any of each group of known ones, (n, groups).

    The known vectors (m, d) are in order of their groups, which begin at `starts`. A row of zeros is 0.
    """
    near = np.nan_to_num(unit(vectors)) @ np.nan_to_num(unit(known)).T
    return np.asarray(np.maximum.reduceat(near, starts, axis=1))


def paired_axis(first: FloatArray, second: FloatArray, *, centring: Centring = "pairs") -> Axis:
    """The first principal component of the pairs' differences, both (k, d) (section 2.1.1).

    "pairs" centres each pair on its own mean, as Bolukbasi et al. (2016) do: the components are those of the
    differences about 0. "differences" centres the differences on their mean, as a PCA routine does when it is
    fed with them; that removes what all pairs have in common, and is there for comparison.
    """
    apart = first - second
    centred = apart - apart.mean(axis=0) if centring == "differences" else apart
    _, lengths, directions = np.linalg.svd(centred, full_matrices=False)
    total = float((lengths**2).sum())
    if total <= 0 or not math.isfinite(total):
        return Axis(np.full(first.shape[1], np.nan), np.full(len(lengths), np.nan), 0)
    along = apart @ directions[0]
    sign = -1.0 if along.sum() < 0 else 1.0
    return Axis(sign * directions[0], lengths**2 / total, int((sign * along > 0).sum()))


def random_shares(pool: FloatArray, pairs: int, *, draws: int = 200, seed: int = 0) -> FloatArray:
    """Mean shares of variance of pairs of random words from a pool, (k,): what the figure shows by chance.

    NaN where the pool, (m, d), has no two words that differ.
    """
    random = np.random.default_rng(seed)
    kept = []
    for _ in range(draws if len(pool) else 0):
        rows = random.choice(len(pool), size=2 * pairs, replace=len(pool) < 2 * pairs)
        shares = paired_axis(pool[rows[:pairs]], pool[rows[pairs:]]).shares
        if not np.isnan(shares).any():
            kept.append(shares)
    return np.mean(kept, axis=0) if kept else np.full(min(pairs, pool.shape[1]), np.nan)


def cosines(vectors: FloatArray, direction: FloatArray) -> FloatArray:
    """Cosine of each row with a direction, (n,); NaN for a word without a vector."""
    found: FloatArray = unit(vectors) @ (direction / np.linalg.norm(direction))
    return found


def direct_bias(values: FloatArray, *, strictness: float = 1.0) -> float:
    """Mean of |cos|^c over the words of a list (section 2.1.1; Bolukbasi et al. 2016, 5.2); c is 1."""
    return float(np.mean(np.abs(values) ** strictness)) if len(values) else math.nan


def words_interval(values: FloatArray) -> Interval:
    """The interval of a mean over words; NaN below 15 words."""
    return mean_interval(values, Clusters.single(len(values)))


def neighbourhoods(pool: FloatArray, size: int, *, lists: int = LISTS, seed: int = 0) -> IntArray:
    """Random topics, (k, size): a random word of a pool, (m, d), and its nearest neighbours, by index.

    The words of a topic resemble each other, so their mean varies far more than that of unrelated words. No
    word is the seed of two lists: there are at most m of them. A topic takes up to half of a small pool.
    """
    rows = unit(pool).astype(np.float32)
    seeds = np.random.default_rng(seed).permutation(len(rows))[:lists]
    size = max(1, min(size, len(rows) // 2))
    found = [np.empty((0, size), np.intp)]
    step = max(1, BLOCK // max(len(rows), 1))
    for start in range(0, len(seeds), step):
        alike = rows[seeds[start : start + step]] @ rows.T
        found.append(np.argpartition(-alike, size - 1, axis=1)[:, :size])
    return np.concatenate(found)


def list_test(measured: float, drawn: FloatArray, *, two_sided: bool = False) -> ListTest:
    """The mean of a list against the means of random lists, (k,).

    One-sided asks how often a random list reaches the mean, two-sided how often one lies as far from the mean
    of the random lists.
    """
    if not len(drawn):
        return ListTest(math.nan, math.nan, UNKNOWN, 0)
    middle = float(drawn.mean())
    # A difference within rounding is a tie, and a tie counts as reached.
    if two_sided:
        reached = np.abs(drawn - middle) >= abs(measured - middle) - 1e-12
    else:
        reached = drawn >= measured - 1e-12
    return ListTest((1 + int(reached.sum())) / (1 + len(drawn)), middle, percentiles(drawn), len(drawn))


def associations(words: FloatArray, first: FloatArray, second: FloatArray) -> FloatArray:
    """s(w, A, B) of WEAT, (n,): mean cosine with the first attributes minus that with the second."""
    found: FloatArray = unit(words) @ (unit(first).mean(axis=0) - unit(second).mean(axis=0))
    return found


def weat(
    x: FloatArray,
    y: FloatArray,
    a: FloatArray,
    b: FloatArray,
    *,
    permutations: int = LISTS,
    seed: int = 0,
) -> Weat:
    """WEAT of targets x, y and attributes a, b (Caliskan et al. 2017); SEAT where vectors are contextual.

    d = (mean s(x) − mean s(y)) / sd of s over both, with n − 1. Partitions keep the sizes of x and y; all are
    tried where there are no more than `permutations`. The interval leaves out each word once; there is none
    below 15 words on a side.
    """
    n, m = len(x), len(y)
    if n < 2 or m < 2 or not len(a) or not len(b):
        return Weat(math.nan, UNKNOWN, math.nan, math.nan, False)
    s = np.concatenate([associations(x, a, b), associations(y, a, b)])
    spread = float(s.std(ddof=1))
    gap = float(s[:n].mean() - s[n:].mean())
    random = np.random.default_rng(seed)
    exact = math.comb(n + m, n) <= permutations
    if exact:
        chosen = np.array(list(combinations(range(n + m), n)))
    else:
        chosen = np.argsort(random.random((permutations, n + m)), axis=1)[:, :n]
    sums = s[chosen].sum(axis=1)
    gaps = sums / n - (s.sum() - sums) / m
    plus = 0 if exact else 1  # a sample lacks the measured partition; it is added
    above, either = (int(found.sum()) for found in (gaps >= gap - 1e-12, np.abs(gaps) >= abs(gap) - 1e-12))
    effect, words = gap / spread if spread > 0 else math.nan, np.arange(n + m)
    interval = UNKNOWN
    if spread > 0 and min(n, m) >= FEWEST:
        less = [(words[:n] != i, words[n:] != i) for i in words]
        without = np.array(
            [(s[:n][x].mean() - s[n:][y].mean()) / s[words != i].std(ddof=1) for i, (x, y) in enumerate(less)]
        )
        influence = (without.mean() - without) * (1 - 1 / (n + m))
        interval = skewed_interval(effect, influence, Clusters.single(n + m))
    return Weat(
        effect,
        interval,
        (above + plus) / (len(gaps) + plus),
        (either + plus) / (len(gaps) + plus),
        exact,
    )


def norm_distances(words: FloatArray, first: FloatArray, second: FloatArray) -> FloatArray:
    """Relative norm distance of each word, (n,): ‖w − mean B‖ − ‖w − mean A‖, above 0 where A is nearer.

    Their mean is the RND of Garg et al. (2018), who give the sum; vectors are of unit length, as theirs.
    """
    w = unit(words)
    ours, theirs = (unit(group).mean(axis=0) for group in (first, second))
    found: FloatArray = np.linalg.norm(w - theirs, axis=1) - np.linalg.norm(w - ours, axis=1)
    return found


def carriers(values: FloatArray, most: int) -> tuple[int, ...]:
    """The indices of the words with the largest |cos|, largest first."""
    return tuple(np.argsort(-np.abs(values), kind="stable")[:most].tolist())
