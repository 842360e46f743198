"""Tests where several texts belong together: whole clusters turn their sign or trade groups."""

import math
from collections.abc import Callable
from functools import lru_cache

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy import special

from psycheck.statistics.clusters import (
    BoolArray,
    Clusters,
    FloatArray,
    spread_of,
    variance,
)

EXACT_UP_TO = 14  # clusters that differ
FEW = 5  # cases in a group: below, its own variance says little
SHUFFLES = 2_000  # draws at once
BLOCKS = 20  # of draws, at most
ENOUGH = 20  # draws as far as the data end it
SHUFFLED = 2_000  # clusters; beyond, Student's t replaces shuffling
_TIE = 1e-12

Draw = Callable[[int], FloatArray]
"""A block of draws by its number: how far apart each is."""


def paired_p(
    differences: ArrayLike,
    clusters: Clusters,
    *,
    seed: int = 0,
) -> float:
    """Whether differences within pairs, (n,), are centred at 0: the signs of whole clusters are turned.

    Exact up to 14 clusters that differ at all, else by random turns; beyond `SHUFFLED` by Student's t. Copies
    that reach across clusters must pass Student's test with their variance, too.
    """
    moves = np.asarray(differences, np.float64)
    sums = clusters.sums(moves)
    sums = sums[sums != 0]
    if not len(sums):
        return 1.0
    p = _signs_p(sums, seed)
    if clusters.copies is None:
        return p

    spread = spread_of(moves, clusters)
    return max(p, _student_p(float(moves.sum()), spread.variance, spread.decisive))


def all_signs(count: int) -> FloatArray:
    """Every choice of signs, 1 or -1, for as many clusters, (2 ** clusters, clusters)."""
    places = np.arange(count)
    numbers = np.arange(2**count)
    # The binary digits of the numbers from 0 up are all choices of one of two.
    digits = (numbers[:, None] >> places) & 1
    return np.where(digits == 1, -1.0, 1.0)


def _signs_p(sums: FloatArray, seed: int) -> float:
    """How often random signs of sums, (clusters,), are as far from 0 as the data."""
    reached = abs(float(sums.sum()))
    if len(sums) <= EXACT_UP_TO:
        distances = np.abs(all_signs(len(sums)) @ sums)
        # Sums in another order differ by rounding: an equal one must count.
        return float(np.mean(distances >= reached - 1e-9))
    if len(sums) > SHUFFLED:
        from scipy import stats

        return float(stats.ttest_1samp(sums, 0.0).pvalue)

    random = np.random.default_rng(seed)

    def turned(block: int) -> FloatArray:
        size = SHUFFLES, len(sums)
        signs = random.choice((-1.0, 1.0), size)
        distances: FloatArray = np.abs(signs @ sums)
        return distances

    return _share_as_far(turned, reached)


def groups_p(
    above: ArrayLike,
    below: ArrayLike,
    first: BoolArray,
    clusters: Clusters,
    *,
    seed: int = 0,
) -> float:
    """Whether a proportion differs between two groups, all (n,); `first` marks the texts of the first.

    Where every cluster lies in one group, the groups of clusters are shuffled, and the difference is divided
    by its error in every shuffle (Chung and Romano 2013): authors of one text do not vary as those of fifty
    do. Else, and with more clusters than `SHUFFLED`, it is set against its error by Student's t.
    """
    bottom = np.asarray(below, np.float64)
    used = bottom > 0
    top = np.asarray(above, np.float64)[used]
    bottom = bottom[used]
    is_first = np.asarray(first)[used]
    clusters = clusters.at(used)
    if is_first.all() or not is_first.any():
        return math.nan

    sizes = clusters.sums(np.ones(len(top)))
    firsts = clusters.sums(is_first.astype(np.float64))
    is_mixed = (firsts > 0) & (firsts < sizes)
    if is_mixed.any() or clusters.count > SHUFFLED:
        return _difference_p(
            top=top,
            bottom=bottom,
            is_first=is_first,
            clusters=clusters,
        )

    tops = clusters.sums(top)
    bottoms = clusters.sums(bottom)
    p = _shuffled_p(
        tops=tops,
        bottoms=bottoms,
        is_first=firsts > 0,
        seed=seed,
    )
    if clusters.copies is None:
        return p
    return max(
        p,
        _difference_p(
            top=top,
            bottom=bottom,
            is_first=is_first,
            clusters=clusters,
        ),
    )


def _shuffled_p(
    tops: FloatArray,
    bottoms: FloatArray,
    is_first: BoolArray,
    seed: int,
) -> float:
    """How often shuffled groups of clusters are as many errors apart as the data, (clusters,) each."""
    sums = _sums_of_clusters(tops, bottoms)
    membership = is_first.astype(np.uint8)

    def apart(block: int) -> FloatArray:
        groups = np.unpackbits(
            _shuffled_groups(membership.tobytes(), seed, block),
            axis=1,
            count=len(membership),
        )
        return _errors_apart(groups, sums)

    reached = float(_errors_apart(membership[None], sums)[0])
    return _share_as_far(apart, reached)


@lru_cache(maxsize=BLOCKS)
def _shuffled_groups(membership: bytes, seed: int, block: int) -> NDArray[np.uint8]:
    """A block of shuffled memberships, (draws, clusters / 8), one bit each.

    Kept, because the same groups are compared by one feature after another, and drawing them is most of it.
    """
    random = np.random.default_rng((seed, block))
    copies = np.tile(np.frombuffer(membership, np.uint8), (SHUFFLES, 1))
    groups = random.permuted(copies, axis=1)
    return np.packbits(groups, axis=1)


def _sums_of_clusters(tops: FloatArray, bottoms: FloatArray) -> FloatArray:
    """What is summed up over the clusters of a group, (clusters, 6): see `_rate_and_variance`."""
    columns = (bottoms, tops, tops**2, tops * bottoms, bottoms**2, np.ones(len(tops)))
    return np.column_stack(columns)


def _errors_apart(groups: NDArray[np.uint8], sums: FloatArray) -> FloatArray:
    """The difference of two proportions over its error, (draws,), for memberships (draws, clusters)."""
    total = sums.sum(axis=0)
    common = float(total[1] / total[0])
    least = max(common * (1 - common), 0.0)
    # All sums of all draws in one product; what is not in the first group is in the second.
    of_first = groups.astype(np.float64) @ sums
    first_rate, first_variance = _rate_and_variance(of_first, least)
    second_rate, second_variance = _rate_and_variance(total - of_first, least)

    gap = np.abs(first_rate - second_rate)
    error = np.sqrt(first_variance + second_variance)
    with np.errstate(invalid="ignore", divide="ignore"):
        apart = gap / error
    # Groups that do not vary are infinitely far apart, or not at all.
    return np.where(gap < _TIE, 0.0, apart)


def _rate_and_variance(sums: FloatArray, least: float) -> tuple[FloatArray, FloatArray]:
    """The proportion in a group of clusters and its variance, (draws,) each; `least` is that of one text."""
    totals, tops, squares_of_tops, products, squares_of_bottoms, counts = sums.T
    rates = tops / totals
    # Σ (top − rate · bottom)², multiplied out so that all draws are one matrix product.
    squares = squares_of_tops - 2 * rates * products + rates**2 * squares_of_bottoms
    correction = counts / np.maximum(counts - 1, 1)
    variances = squares * correction / totals**2
    # A small group without a case does not vary at all: at least as much as independent texts do.
    return rates, np.maximum(variances, least / totals)


def _difference_p(
    top: FloatArray,
    bottom: FloatArray,
    is_first: BoolArray,
    clusters: Clusters,
) -> float:
    """The difference of two proportions against its variance between clusters, by Student's t."""
    first_total = float(bottom[is_first].sum())
    second_total = float(bottom[~is_first].sum())
    first_rate = float(top[is_first].sum()) / first_total
    second_rate = float(top[~is_first].sum()) / second_total
    weights = np.where(is_first, 1 / first_total, -1 / second_total)
    rate = np.where(is_first, first_rate, second_rate)
    influence = weights * (top - rate * bottom)
    spread = variance(influence, clusters, np.abs(weights) * bottom)

    if _has_few_cases(top, bottom, is_first):
        # Around its own rate a group with few cases hardly varies: at least as much as independent texts do.
        common = top - top.sum() / bottom.sum() * bottom
        spread = max(spread, float(np.mean(common**2) * np.sum(weights**2)))

    difference = first_rate - second_rate
    if difference == 0 or not spread > 0:
        return 1.0
    # The smaller group limits how well the error of the difference is known.
    of_first = clusters.at(is_first)
    of_second = clusters.at(~is_first)
    equal = min(_equal_clusters(of_first), _equal_clusters(of_second))
    return _student_p(difference, spread, equal)


def _equal_clusters(clusters: Clusters) -> float:
    """How many clusters of equal size these are worth, every text counted the same."""
    return clusters.equal(np.ones(len(clusters.codes)))


def _has_few_cases(
    top: FloatArray,
    bottom: FloatArray,
    is_first: BoolArray,
) -> bool:
    """Whether every text is a case or none, and a group has fewer than `FEW` cases, or non-cases."""
    is_case = top == bottom
    is_no_case = top == 0
    if not (is_case | is_no_case).all():
        return False
    non_cases = bottom - top
    fewest_cases = min(top[is_first].sum(), top[~is_first].sum())
    fewest_non_cases = min(non_cases[is_first].sum(), non_cases[~is_first].sum())
    return bool(min(fewest_cases, fewest_non_cases) < FEW)


def _student_p(
    difference: float,
    spread: float,
    equal: float,
) -> float:
    """The two-sided p-value of a difference with this variance, from clusters of equal size."""
    if not spread > 0:
        return 1.0
    t = abs(difference) / math.sqrt(spread)
    freedom = max(equal - 1, 1.0)
    return 2 * float(special.stdtr(freedom, -t))


def _share_as_far(
    draw: Draw,
    reached: float,
) -> float:
    """The share of draws as far as the data, drawn in blocks until enough are (Besag and Clifford 1991)."""
    count = 0
    total = 0
    for block in range(BLOCKS):
        distances = draw(block)
        count += int(np.sum(distances >= reached - _TIE))
        total += len(distances)
        if count >= ENOUGH:
            break
    return (1 + count) / (1 + total)
