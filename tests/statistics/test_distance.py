import math
from itertools import combinations

import numpy as np
import ot
import pytest
from numpy.typing import NDArray
from scipy.optimize import linear_sum_assignment
from scipy.spatial.distance import cdist, jensenshannon, pdist
from scipy.stats import kstest, sem, t, wasserstein_distance
from sklearn.metrics.pairwise import rbf_kernel

from psycheck.statistics import distance
from psycheck.statistics.intervals import UNKNOWN

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


def test_jsd_by_hand() -> None:
    # Laplace turns 3, 1 and 1, 3 into 2/3, 1/3 and 1/3, 2/3; their mean 1/2, 1/2 has an entropy of 1 bit.
    entropy = -(2 / 3 * math.log2(2 / 3) + 1 / 3 * math.log2(1 / 3))
    assert distance.jensen_shannon(np.array([3.0, 1]), np.array([1.0, 3])) == pytest.approx(1 - entropy)


def test_jsd_without_a_common_word_is_1_and_smoothing_lowers_it() -> None:
    ours, theirs = np.array([5.0, 0]), np.array([0.0, 5])
    assert distance.jensen_shannon(ours, theirs, smoothing=0) == 1
    assert distance.jensen_shannon(ours, theirs) < 1


def test_jsd_is_the_square_of_scipys_distance_and_symmetric() -> None:
    ours, theirs = np.random.default_rng(0).poisson(3, (2, 50)).astype(float)
    value = distance.jensen_shannon(ours, theirs)
    assert value == pytest.approx(jensenshannon(ours + 1, theirs + 1, base=2) ** 2)
    assert value == pytest.approx(distance.jensen_shannon(theirs, ours))
    assert distance.jensen_shannon(ours, ours) == 0


def test_the_bandwidth_is_the_median_distance() -> None:
    x, y = cloud(7, 1), cloud(5, 2)
    assert distance.median_bandwidth(x, y) == pytest.approx(np.median(pdist(np.concatenate([x, y]))))
    assert distance.median_bandwidth(np.ones((3, 2)), np.ones((3, 2))) == 1


def test_mmd_by_hand() -> None:
    # On a line, 0 and 0 against 1 and 1 with sigma 1: within 1 and 1, across exp(-1/2).
    x, y = np.zeros((2, 1)), np.ones((2, 1))
    found = distance.mmd_test(x, y, bandwidth=1.0, permutations=0)
    assert found.value == pytest.approx(2 - 2 * math.exp(-0.5))
    assert found.biased == pytest.approx(2 - 2 * math.exp(-0.5))


def test_mmd_is_that_of_scikit_learns_kernel_and_symmetric() -> None:
    x, y = cloud(30, 1), cloud(21, 2, 0.3)
    found = distance.mmd_test(x, y, permutations=0)
    assert found.value == pytest.approx(plain_mmd2(x, y, found.bandwidth))
    assert found.value == pytest.approx(distance.mmd_test(y, x, permutations=0).value)
    low, high = found.interval
    assert low < found.value < high


def test_a_sample_against_its_copy_is_0_and_no_evidence() -> None:
    x = cloud(40, 3)
    found = distance.mmd_test(x, x.copy(), permutations=99)
    assert found.biased == pytest.approx(0, abs=1e-12)
    assert found.value <= 0
    assert found.p == 1
    same = distance.Sides.of(40, 40, np.tile(np.arange(40), 2))
    assert distance.wasserstein(x, x.copy(), sides=same, repeats=3)[0].value == 0
    assert distance.sliced_wasserstein(x, x.copy())[0].value == 0
    assert distance.exact_wasserstein(x, x.copy()) == 0


def test_the_permutation_p_is_that_of_all_splits() -> None:
    x, y = cloud(4, 5, d=1), cloud(4, 6, 0.8, d=1)
    pooled = np.concatenate([x, y])
    sigma = distance.median_bandwidth(x, y)
    seen = plain_mmd2(x, y, sigma)
    splits = [
        plain_mmd2(pooled[list(ours)], np.delete(pooled, list(ours), axis=0), sigma)
        for ours in combinations(range(8), 4)
    ]
    exact = np.mean(np.array(splits) >= seen - 1e-12)
    assert distance.mmd_test(x, y, permutations=4_000).p == pytest.approx(exact, abs=0.03)


def test_p_is_uniform_without_a_difference_and_small_with_one() -> None:
    drawn = [
        distance.mmd_test(cloud(12, 2 * s), cloud(15, 2 * s + 1), permutations=99, seed=s).p
        for s in range(150)
    ]
    assert kstest(drawn, "uniform").pvalue > 0.01
    assert np.mean(np.array(drawn) <= 0.05) < 0.12
    assert distance.mmd_test(cloud(40, 1), cloud(40, 2, 1.0), permutations=199).p == 1 / 200


def test_too_few_texts_give_no_value() -> None:
    assert math.isnan(distance.mmd_test(cloud(1, 1), cloud(5, 2)).value)
    assert math.isnan(distance.wasserstein(cloud(1, 1), cloud(5, 2))[0].value)
    assert math.isnan(distance.sliced_wasserstein(cloud(1, 1), cloud(5, 2))[0].value)


def test_pairs_are_distinct_and_each_is_2_minus_2k() -> None:
    x, y = np.array([[0.0], [2.0]]), np.array([[1.0]])
    mean, median = distance.pair_mmd(x, y, bandwidth=1.0)
    assert mean.n == median.n == 2
    assert mean.value == median.value == pytest.approx(2 - 2 * math.exp(-0.5))


def test_exact_wasserstein_is_the_best_assignment() -> None:
    x, y = cloud(20, 1), cloud(20, 2, 0.5)
    cost = cdist(x, y)
    best = cost[linear_sum_assignment(cost)].mean()
    assert distance.exact_wasserstein(x, y) == pytest.approx(best)
    assert distance.exact_wasserstein(y, x) == pytest.approx(best)


def test_exact_wasserstein_on_a_line_is_scipys() -> None:
    x, y = cloud(30, 1, d=1), cloud(17, 2, 0.5, d=1)
    assert distance.exact_wasserstein(x, y) == pytest.approx(wasserstein_distance(x[:, 0], y[:, 0]))


def test_a_shift_moves_wasserstein_by_its_length_and_above_chance() -> None:
    x = cloud(100, 1)
    same_units = distance.Sides.of(100, 100, np.tile(np.arange(100), 2))
    shifted, _ = distance.wasserstein(x, x + 10, sides=same_units, size=40, repeats=5)
    assert shifted.value == pytest.approx(20)  # 10 in each of 4
    found, _ = distance.wasserstein(x, cloud(100, 2, 10.0), size=40, repeats=5)
    assert found.value == pytest.approx(20, abs=0.5)
    assert found.n == 2 * 40
    assert found.interval is None
    same, chance = distance.wasserstein(cloud(100, 1), cloud(100, 2), size=40, repeats=5)
    assert same.value == pytest.approx(chance, rel=0.15)


def test_sliced_wasserstein_is_pots() -> None:
    x, y = cloud(40, 1), cloud(25, 2, 0.5)
    found, _ = distance.sliced_wasserstein(x, y, slices=30, seed=7)
    along = distance.directions(4, 30, 7)
    assert found.value == pytest.approx(ot.sliced.sliced_wasserstein_distance(x, y, projections=along, p=1))
    assert distance.sliced_wasserstein(y, x, slices=30, seed=7)[0].value == pytest.approx(found.value)
    assert found.interval is not None
    assert found.interval[0] < found.value < found.interval[1]


def test_the_jackknife_of_a_mean_is_its_standard_error() -> None:
    values = cloud(20, 4, 5.0, d=1)[:, 0]
    side = distance.Sides.of(20, 0)
    low, high = distance.jackknife(float(values.mean()), lambda keep: float(values[keep].mean()), side)
    assert (high - low) / 2 == pytest.approx(t.ppf(0.975, 19) * sem(values))


def test_the_interval_of_the_mmd_holds_0_for_samples_of_one_source() -> None:
    drawn = [distance.mmd_test(cloud(40, 2 * s), cloud(40, 2 * s + 1), permutations=0) for s in range(100)]
    assert np.mean([test.interval[0] <= 0 <= test.interval[1] for test in drawn]) >= 0.95


def test_four_texts_a_side_or_no_spread_give_no_interval() -> None:
    few = cloud(4, 1), cloud(9, 2)
    assert all(math.isnan(distance.mmd_test(*few, permutations=0).interval[k]) for k in (0, 1))
    assert distance.sliced_wasserstein(*few)[0].interval is UNKNOWN
    assert distance.pair_mmd(*few, bandwidth=1.0)[0].interval is UNKNOWN
    assert math.isnan(distance.jackknife(0.5, lambda keep: 0.5, distance.Sides.of(9, 0))[0])
    five = cloud(5, 1), cloud(9, 2)
    assert not math.isnan(distance.mmd_test(*five, permutations=0).interval[0])
    assert distance.sliced_wasserstein(*five)[0].interval is not UNKNOWN


def by_author(authors: int, texts: int, seed: int) -> tuple[Cloud, distance.Sides]:
    """Two samples of the same source: authors, each with a place of its own, are on one side each."""
    random = np.random.default_rng(seed)
    places = np.repeat(2 * random.standard_normal((2 * authors, 3)), texts, axis=0)
    vectors = places + random.standard_normal(places.shape)
    return vectors, distance.Sides.of(
        authors * texts, authors * texts, np.repeat(np.arange(2 * authors), texts)
    )


def test_whole_authors_are_permuted() -> None:
    # Three authors of two texts a side: C(6, 3) = 20 splits of the authors, each written out.
    vectors, sides = by_author(3, 2, 1)
    x, y = vectors[:6], vectors[6:]
    sigma = distance.median_bandwidth(x, y)
    splits = [
        plain_mmd2(vectors[np.isin(sides.units, ours)], vectors[~np.isin(sides.units, ours)], sigma)
        for ours in combinations(range(6), 3)
    ]
    exact = np.mean(np.array(splits) >= plain_mmd2(x, y, sigma) - 1e-12)
    assert distance.mmd_test(x, y, sides=sides, permutations=4_000).p == pytest.approx(exact, abs=0.03)


def test_pairs_of_texts_of_one_author_do_not_count() -> None:
    # Author 1 has two texts on the first side and one on the second, the others have one text each.
    points, units = np.array([0.0, 1.0, 3.0, 0.5, 2.0])[:, None], np.array([1, 1, 2, 1, 3])
    k = np.exp(-((points - points.T) ** 2) / 2)
    by_hand = (k[0, 2] + k[1, 2]) / 2 + k[3, 4] - 2 * (k[0, 4] + k[1, 4] + k[2, 3] + k[2, 4]) / 4
    sides = distance.Sides.of(3, 2, units)
    found = distance.mmd_test(points[:3], points[3:], sides=sides, bandwidth=1.0, permutations=0)
    assert found.value == pytest.approx(by_hand)
    # All texts of a side by one author: nothing is known of other authors.
    alone = distance.Sides.of(3, 2, np.array([1, 1, 1, 2, 3]))
    none = distance.mmd_test(points[:3], points[3:], sides=alone, bandwidth=1.0, permutations=9)
    assert (math.isnan(none.value), none.p) == (True, 1.0)


def test_the_mmd_of_few_authors_who_write_alike_is_not_inflated() -> None:
    drawn = [by_author(10, 10, seed) for seed in range(60)]
    found = [distance.mmd_test(v[:100], v[100:], sides=sides, permutations=0) for v, sides in drawn]
    values = np.array([test.value for test in found])
    assert abs(values.mean()) < 3 * values.std() / np.sqrt(60)


def test_authors_on_one_side_each_are_no_evidence_and_intervals_know_it() -> None:
    chances, held, ps = [], [], []
    for seed in range(60):
        vectors, sides = by_author(12, 6, seed)
        x, y = vectors[:72], vectors[72:]
        test = distance.mmd_test(x, y, sides=sides, permutations=99)
        ps.append(test.p)
        held.append(test.interval[0] <= 0 <= test.interval[1])
        chances.append(distance.mmd_test(x, y, permutations=99).p)
    assert np.mean(np.array(chances) <= 0.05) > 0.6  # what texts that are shuffled one by one say
    assert np.mean(np.array(ps) <= 0.05) <= 0.1
    assert np.mean(held) >= 0.85


def test_an_author_on_both_sides_swaps_parts_or_stays() -> None:
    # Unit 0 has a text on either side, units 1 and 2 have two on the first, 3 and 4 on the second.
    units = np.array([0, 1, 1, 2, 2, 0, 3, 3, 4, 4])
    sides, random = distance.Sides.of(5, 5, units), np.random.default_rng(0)
    drawn = {tuple(sides.shuffled(random).tolist()) for _ in range(500)}
    assert len(drawn) == 2 * 6  # two ways for unit 0, C(4, 2) for the others
    for member in map(np.array, drawn):
        assert member[0] != member[5]
        assert member[1] == member[2]
        assert member[[1, 3, 6, 8]].sum() == 2
    assert sides.counts() == (3, 3)
    assert all(len(set(sides.groups()[units == unit])) == 1 for unit in range(5))


def test_the_interval_of_the_sliced_distance_holds_that_of_other_directions() -> None:
    # One of 50 dimensions differs: a random direction sees little of it, or much.
    x, y = cloud(200, 1, d=50), cloud(200, 2, d=50)
    y[:, 0] += 3
    exact = distance.sliced_wasserstein(x, y, slices=2_000, seed=99)[0].value
    found = [distance.sliced_wasserstein(x, y, seed=seed)[0] for seed in range(20)]
    held = [low <= exact <= high for low, high in (one.interval or UNKNOWN for one in found)]
    assert np.mean(held) >= 0.9
    assert np.std([one.value for one in found]) < 0.1 * exact
