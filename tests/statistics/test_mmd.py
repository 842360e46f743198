import math
from itertools import combinations

import numpy as np
import pytest
from numpy.typing import NDArray
from scipy.spatial.distance import pdist
from scipy.stats import kstest
from sklearn.metrics.pairwise import rbf_kernel

from psycheck.statistics import distance, mmd
from psycheck.statistics.sides import Sides

Cloud = NDArray[np.float64]


def cloud(n: int, seed: int, shift: float = 0.0, d: int = 4) -> Cloud:
    return np.random.default_rng(seed).standard_normal((n, d)) + shift


def plain_mmd2(x: Cloud, y: Cloud, sigma: float) -> float:
    """The unbiased estimate, written out pair by pair with scikit-learn's kernel."""
    gamma = 1 / (2 * sigma**2)
    xx, yy, xy = rbf_kernel(x, x, gamma), rbf_kernel(y, y, gamma), rbf_kernel(x, y, gamma)
    m, n = len(x), len(y)
    own = sum(xx[i, j] for i in range(m) for j in range(m) if i != j) / (m * (m - 1))
    other = sum(yy[i, j] for i in range(n) for j in range(n) if i != j) / (n * (n - 1))
    return float(own + other - 2 * xy.mean())


def test_the_bandwidth_is_the_median_distance() -> None:
    x, y = cloud(7, 1), cloud(5, 2)
    assert mmd.median_bandwidth(x, y) == pytest.approx(np.median(pdist(np.concatenate([x, y]))))
    assert mmd.median_bandwidth(np.ones((3, 2)), np.ones((3, 2))) == 1


def test_mmd_by_hand() -> None:
    # On a line, 0 and 0 against 1 and 1 with sigma 1: within 1 and 1, across exp(-1/2).
    x, y = np.zeros((2, 1)), np.ones((2, 1))
    found = mmd.mmd_test(x, y, bandwidth=1.0, permutations=0)
    assert found.value == pytest.approx(2 - 2 * math.exp(-0.5))
    assert found.biased == pytest.approx(2 - 2 * math.exp(-0.5))


def test_mmd_is_that_of_scikit_learns_kernel_and_symmetric() -> None:
    x, y = cloud(30, 1), cloud(21, 2, 0.3)
    found = mmd.mmd_test(x, y, permutations=0)
    assert found.value == pytest.approx(plain_mmd2(x, y, found.bandwidth))
    assert found.value == pytest.approx(mmd.mmd_test(y, x, permutations=0).value)
    low, high = found.interval
    assert low < found.value < high


def test_a_sample_against_its_copy_is_0_and_no_evidence() -> None:
    x = cloud(40, 3)
    found = mmd.mmd_test(x, x.copy(), permutations=99)
    assert found.biased == pytest.approx(0, abs=1e-12)
    assert found.value <= 0
    assert found.p == 1
    same = Sides.of(40, 40, np.tile(np.arange(40), 2))
    assert distance.wasserstein(x, x.copy(), sides=same, repeats=3)[0].value == 0
    assert distance.sliced_wasserstein(x, x.copy())[0].value == 0
    assert distance.exact_wasserstein(x, x.copy()) == 0


def test_the_permutation_p_is_that_of_all_splits() -> None:
    x, y = cloud(4, 5, d=1), cloud(4, 6, 0.8, d=1)
    pooled = np.concatenate([x, y])
    sigma = mmd.median_bandwidth(x, y)
    seen = plain_mmd2(x, y, sigma)
    splits = [
        plain_mmd2(pooled[list(ours)], np.delete(pooled, list(ours), axis=0), sigma)
        for ours in combinations(range(8), 4)
    ]
    exact = np.mean(np.array(splits) >= seen - 1e-12)
    assert mmd.mmd_test(x, y, permutations=4_000).p == pytest.approx(exact, abs=0.03)


def test_p_is_uniform_without_a_difference_and_small_with_one() -> None:
    drawn = [
        mmd.mmd_test(cloud(12, 2 * s), cloud(15, 2 * s + 1), permutations=99, seed=s).p for s in range(150)
    ]
    assert kstest(drawn, "uniform").pvalue > 0.01
    assert np.mean(np.array(drawn) <= 0.05) < 0.12
    assert mmd.mmd_test(cloud(40, 1), cloud(40, 2, 1.0), permutations=199).p == 1 / 200


def test_pairs_are_distinct_and_each_is_2_minus_2k() -> None:
    x, y = np.array([[0.0], [2.0]]), np.array([[1.0]])
    mean, median = mmd.pair_mmd(x, y, bandwidth=1.0)
    assert mean.n == median.n == 2
    assert mean.value == median.value == pytest.approx(2 - 2 * math.exp(-0.5))


def test_the_interval_of_the_mmd_holds_0_for_samples_of_one_source() -> None:
    drawn = [mmd.mmd_test(cloud(40, 2 * s), cloud(40, 2 * s + 1), permutations=0) for s in range(100)]
    assert np.mean([test.interval[0] <= 0 <= test.interval[1] for test in drawn]) >= 0.95


def by_author(authors: int, texts: int, seed: int) -> tuple[Cloud, Sides]:
    """Two samples of the same source: authors, each with a place of its own, are on one side each."""
    random = np.random.default_rng(seed)
    places = np.repeat(2 * random.standard_normal((2 * authors, 3)), texts, axis=0)
    vectors = places + random.standard_normal(places.shape)
    return vectors, Sides.of(authors * texts, authors * texts, np.repeat(np.arange(2 * authors), texts))


def studentised(kernel: Cloud, is_first: NDArray[np.bool_]) -> float:
    """The estimate of authors who count once over its error, term by term, from the kernel of their means."""
    count = len(kernel)
    rows = np.array([np.delete(kernel[k], k).mean() for k in range(count)])
    weights = np.where(is_first, 1 / is_first.sum(), -1 / (~is_first).sum())
    terms = [
        weights[a] * weights[b] * (kernel[a, b] - rows[a] - rows[b] + rows.mean())
        for a in range(count)
        for b in range(count)
        if a != b
    ]
    return float(sum(terms) / math.sqrt(2 * sum(term**2 for term in terms)))


def test_whole_authors_are_permuted() -> None:
    # Three authors a side, of one text on the first and four on the second: C(6, 3) = 20 splits, written out.
    posts = np.array([1, 1, 1, 4, 4, 4])
    units = np.repeat(np.arange(6), posts)
    vectors = cloud(15, 3, d=3) + np.repeat(cloud(6, 4, d=3), posts, axis=0)
    x, y = vectors[:3], vectors[3:]
    sigma = mmd.median_bandwidth(x, y)
    kernel = rbf_kernel(vectors, vectors, 1 / (2 * sigma**2))
    of_authors = np.array(
        [[kernel[np.ix_(units == a, units == b)].mean() for b in range(6)] for a in range(6)]
    )

    seen = studentised(of_authors, np.arange(6) < 3)
    splits = [studentised(of_authors, np.isin(np.arange(6), split)) for split in combinations(range(6), 3)]
    exact = np.mean(np.array(splits) >= seen - 1e-12)
    found = mmd.mmd_test(x, y, sides=Sides.of(3, 12, units), permutations=4_000)
    assert found.p == pytest.approx(exact, abs=0.03)


def test_authors_who_write_unequally_much_are_no_difference() -> None:
    # 20 authors of one text against 20 of 20: authors who trade places with their texts alarm in a quarter.
    posts = np.repeat([1, 20], 20)
    units = np.repeat(np.arange(40), posts)
    sides = Sides.of(20, 400, units)
    alarms = 0
    for seed in range(100):
        vectors = 0.3 * cloud(40, seed, d=8)[units] + cloud(420, 1_000 + seed, d=8)
        alarms += mmd.mmd_test(vectors[:20], vectors[20:], sides=sides, permutations=99, seed=seed).p <= 0.05
    assert alarms <= 11  # 5 % of 100, and two and a half standard errors

    apart = vectors + np.where(sides.first, 0.0, 0.8)[:, None]
    assert mmd.mmd_test(apart[:20], apart[20:], sides=sides, permutations=99).p == 0.01


def test_pairs_of_texts_of_one_author_do_not_count() -> None:
    # Author 1 has two texts on the first side and one on the second, the others have one text each.
    points, units = np.array([0.0, 1.0, 3.0, 0.5, 2.0])[:, None], np.array([1, 1, 2, 1, 3])
    k = np.exp(-((points - points.T) ** 2) / 2)
    by_hand = (k[0, 2] + k[1, 2]) / 2 + k[3, 4] - 2 * (k[0, 4] + k[1, 4] + k[2, 3] + k[2, 4]) / 4
    sides = Sides.of(3, 2, units)
    found = mmd.mmd_test(points[:3], points[3:], sides=sides, bandwidth=1.0, permutations=0)
    assert found.value == pytest.approx(by_hand)
    # All texts of a side by one author: nothing is known of other authors.
    alone = Sides.of(3, 2, np.array([1, 1, 1, 2, 3]))
    none = mmd.mmd_test(points[:3], points[3:], sides=alone, bandwidth=1.0, permutations=9)
    assert (math.isnan(none.value), none.p) == (True, 1.0)


def test_the_mmd_of_few_authors_who_write_alike_is_not_inflated() -> None:
    drawn = [by_author(10, 10, seed) for seed in range(60)]
    found = [mmd.mmd_test(v[:100], v[100:], sides=sides, permutations=0) for v, sides in drawn]
    values = np.array([test.value for test in found])
    assert abs(values.mean()) < 3 * values.std() / np.sqrt(60)


def test_authors_on_one_side_each_are_no_evidence_and_intervals_know_it() -> None:
    chances, held, ps = [], [], []
    for seed in range(60):
        vectors, sides = by_author(12, 6, seed)
        x, y = vectors[:72], vectors[72:]
        test = mmd.mmd_test(x, y, sides=sides, permutations=99)
        ps.append(test.p)
        held.append(test.interval[0] <= 0 <= test.interval[1])
        chances.append(mmd.mmd_test(x, y, permutations=99).p)
    assert np.mean(np.array(chances) <= 0.05) > 0.6  # what texts that are shuffled one by one say
    assert np.mean(np.array(ps) <= 0.05) <= 0.1
    assert np.mean(held) >= 0.85
