"""Random lists of words that are as much alike as the words of a list: what a list is compared with.

The words of a topic resemble each other, so that their mean varies more than that of unrelated words. A
random list is a random word and its nearest neighbours, moved so that its words are as much alike as those of
the list: a list that is tighter than any topic of the pool would otherwise stand out for that alone.
"""

import math
from dataclasses import dataclass

import numpy as np
from scipy.sparse import csr_array

from psycheck.statistics.classification import FloatArray, IntArray
from psycheck.statistics.intervals import UNKNOWN, Interval, percentiles
from psycheck.statistics.word_association import unit

LISTS = 10_000
BLOCK = 5_000_000  # similarities at once
TIE = 1e-12  # values that differ by no more are equal up to rounding


@dataclass(frozen=True, slots=True)
class RandomTopics:
    """Random lists of a pool of words, by index (k, n), and by how much each is stretched, (k,) each.

    `apart` stretches the distance of the mean of a list from that of the pool, `spread` the distances of its
    words from their mean.
    """

    lists: IntArray
    apart: FloatArray
    spread: FloatArray

    def values(self, of_pool: FloatArray) -> FloatArray:
        """The values of the stretched lists, (k, n), of a figure that is linear in the vectors, (m,)."""
        chosen = of_pool[self.lists]
        means = chosen.mean(axis=1, keepdims=True)
        centre = of_pool.mean() if len(of_pool) else 0.0
        moved_means = centre + self.apart[:, None] * (means - centre)
        values: FloatArray = moved_means + self.spread[:, None] * (chosen - means)
        return values


@dataclass(frozen=True, slots=True)
class ListTest:
    """A mean over a list against random lists of equal size: p, and the mean and 95 % range of the latter."""

    p: float
    chance: float
    spread: Interval
    lists: int


def neighbourhoods(
    pool: FloatArray,
    size: int,
    *,
    lists: int = LISTS,
    seed: int = 0,
) -> IntArray:
    """Random topics, (k, size): a random word of a pool, (m, d), and its nearest neighbours, by index.

    The words of a topic resemble each other, so their mean varies far more than that of unrelated words. No
    word is the seed of two lists: there are at most m of them. A topic takes up to half of a small pool.
    """
    units = unit(pool).astype(np.float32)
    word_count = len(units)
    seeds = np.random.default_rng(seed).permutation(word_count)[:lists]
    size = max(1, min(size, word_count // 2))
    # Similarities are computed for as many seeds at once as fit into memory.
    step = max(1, BLOCK // max(word_count, 1))

    topics = [np.empty((0, size), np.intp)]
    for start in range(0, len(seeds), step):
        block = seeds[start : start + step]
        similarities = units[block] @ units.T
        # A partition and no sort: the order within a topic does not matter, and there are 10,000 of them.
        nearest = np.argpartition(-similarities, size - 1, axis=1)[:, :size]
        topics.append(nearest)
    return np.concatenate(topics)


def as_tight(
    lists: IntArray,
    pool: FloatArray,
    words: FloatArray,
) -> RandomTopics:
    """Random lists of a pool, (m, d), stretched to be as tight as some words, (n, d).

    Words that are less alike than those of most random lists are compared with the lists as they are: their
    mean varies less, so that the test is cautious.
    """
    units = unit(pool)
    count, size = lists.shape
    as_they_are = RandomTopics(lists, np.ones(count), np.ones(count))
    if not count:
        return as_they_are

    centre = units.mean(axis=0)
    places = (np.repeat(np.arange(count), size), lists.ravel())
    members = csr_array((np.ones(lists.size), places), shape=(count, len(units)))
    means = np.asarray(members @ units, np.float64) / size
    apart, spread = _tightness(means, centre)
    word_apart, word_spread = _tightness(unit(words).mean(axis=0, keepdims=True), centre)
    if word_apart[0] <= np.median(apart):
        return as_they_are
    return RandomTopics(
        lists=lists,
        apart=_ratio(word_apart[0], apart),
        spread=_ratio(word_spread[0], spread),
    )


def _tightness(means: FloatArray, centre: FloatArray) -> tuple[FloatArray, FloatArray]:
    """How far the means of lists, (k, d), are from a centre, and their words from the means, (k,) each."""
    apart = np.linalg.norm(means - centre, axis=1)
    # Words have length 1: what the square of the mean lacks is their variance.
    variance = np.maximum(1 - (means**2).sum(axis=1), 0.0)
    return apart, np.sqrt(variance)


def _ratio(numerator: float, denominators: FloatArray) -> FloatArray:
    """The factor that takes each value, (k,), to another; 1 where it is 0, which no factor moves."""
    factors = np.ones(len(denominators))
    return np.divide(
        numerator,
        denominators,
        out=factors,
        where=denominators > TIE,
    )


def list_test(
    measured: float,
    drawn: FloatArray,
    *,
    two_sided: bool = False,
) -> ListTest:
    """The mean of a list against the means of random lists, (k,).

    One-sided asks how often a random list reaches the mean, two-sided how often one lies as far from the mean
    of the random lists.
    """
    lists = len(drawn)
    if not lists:
        return ListTest(
            p=math.nan,
            chance=math.nan,
            spread=UNKNOWN,
            lists=0,
        )
    chance = float(drawn.mean())
    # A difference within rounding is a tie, and a tie counts as reached.
    if two_sided:
        is_reached = np.abs(drawn - chance) >= abs(measured - chance) - TIE
    else:
        is_reached = drawn >= measured - TIE
    # The measured list is itself one that might have been drawn, so that p is never 0.
    p = (1 + int(is_reached.sum())) / (1 + lists)
    return ListTest(
        p=p,
        chance=chance,
        spread=percentiles(drawn),
        lists=lists,
    )
