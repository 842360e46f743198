import math
from itertools import combinations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from sklearn.decomposition import PCA

from psycheck.statistics.classification import FloatArray
from psycheck.statistics.word_association import (
    associations,
    carriers,
    cosines,
    direct_bias,
    highest_cosine,
    norm_distances,
    paired_axis,
    random_shares,
    unit,
    weat,
    words_interval,
)

# Three pairs in three dimensions whose differences are (2, 0, 0), (2, 0, 0) and (0, 1, 0).
FEMALE = np.array([[1.0, 0, 0], [1, 1, 0], [0, 1, 1]])
MALE = np.array([[-1.0, 0, 0], [-1, 1, 0], [0, 0, 1]])
# Their cosines with the first axis are 0.6, −1, 0 and 1/3.
WORDS = np.array([[3.0, 4, 0], [-1, 0, 0], [0, 0, 5], [1, 2, 2]])


def some(seed: int, *shape: int) -> FloatArray:
    return np.random.default_rng(seed).standard_normal(shape)


def test_direct_bias_worked_by_hand_in_three_dimensions() -> None:
    axis = paired_axis(FEMALE, MALE)
    # The sum of d d' is diag(8, 1, 0).
    np.testing.assert_allclose(axis.vector, [1, 0, 0], atol=1e-12)
    np.testing.assert_allclose(axis.shares, [8 / 9, 1 / 9, 0], atol=1e-12)
    assert axis.agreeing == 2
    values = cosines(WORDS, axis.vector)
    np.testing.assert_allclose(values, [0.6, -1, 0, 1 / 3], atol=1e-12)
    assert direct_bias(values) == pytest.approx((0.6 + 1 + 0 + 1 / 3) / 4)
    assert direct_bias(values, strictness=2) == pytest.approx((0.36 + 1 + 0 + 1 / 9) / 4)
    assert values.mean() == pytest.approx(-1 / 60)


def test_centring_on_the_mean_difference_removes_what_the_pairs_share() -> None:
    # Centred on (4/3, 1/3, 0) all three differences lie on the line of (2, −1, 0).
    axis = paired_axis(FEMALE, MALE, centring="differences")
    np.testing.assert_allclose(axis.vector, np.array([2, -1, 0]) / math.sqrt(5), atol=1e-12)
    np.testing.assert_allclose(axis.shares, [1, 0, 0], atol=1e-12)


def test_direct_bias_against_an_independent_computation() -> None:
    first, second, words = some(0, 10, 25), some(1, 10, 25), some(2, 40, 25)
    spread = np.zeros((25, 25))
    for one, other in zip(first, second, strict=True):
        spread += np.outer(one - other, one - other)
    values, vectors = np.linalg.eigh(spread)
    direction = vectors[:, -1]
    wanted = np.mean([abs(w @ direction) / math.sqrt(w @ w) for w in words])
    axis = paired_axis(first, second)
    assert direct_bias(cosines(words, axis.vector)) == pytest.approx(wanted)
    np.testing.assert_allclose(axis.shares, values[::-1][:10] / values.sum(), atol=1e-12)


def test_pairs_are_centred_as_bolukbasi_does() -> None:
    """Both words of each pair less their mean, in one matrix, through scikit-learn's PCA."""
    first, second = some(3, 10, 30) + 0.7, some(4, 10, 30)
    middle = (first + second) / 2
    fitted = PCA(n_components=10).fit(np.concatenate([first - middle, second - middle]))
    axis = paired_axis(first, second)
    assert abs(axis.vector @ fitted.components_[0]) == pytest.approx(1)
    np.testing.assert_allclose(axis.shares, fitted.explained_variance_ratio_, atol=1e-12)
    bare = PCA(n_components=9).fit(first - second)
    literal = paired_axis(first, second, centring="differences")
    assert abs(literal.vector @ bare.components_[0]) == pytest.approx(1)
    np.testing.assert_allclose(literal.shares[:9], bare.explained_variance_ratio_, atol=1e-12)


@given(st.integers(0, 10_000))
def test_the_first_group_is_the_positive_side(seed: int) -> None:
    first, second = some(seed, 6, 8), some(seed + 1, 6, 8)
    axis, other = paired_axis(first, second), paired_axis(second, first)
    assert ((first - second) @ axis.vector).sum() >= 0
    np.testing.assert_allclose(axis.vector, -other.vector, atol=1e-9)
    assert np.linalg.norm(axis.vector) == pytest.approx(1)
    assert axis.shares.sum() == pytest.approx(1)


def test_pairs_without_a_difference_have_no_axis() -> None:
    assert np.isnan(paired_axis(MALE, MALE).vector).all()
    assert paired_axis(MALE, MALE).agreeing == 0


def test_random_pairs_share_no_direction() -> None:
    shares = random_shares(some(7, 300, 100), 10, draws=50)
    assert shares.shape == (10,)
    assert 0.1 < shares[0] < 0.2
    assert shares.sum() == pytest.approx(1)


@pytest.mark.parametrize("pool", [np.ones((0, 4)), np.ones((1, 4)), np.ones((5, 4))])
def test_without_two_different_random_words_their_shares_are_not_known(pool: FloatArray) -> None:
    shares = random_shares(pool, 3, draws=5)
    assert shares.shape == (3,)
    assert np.isnan(shares).all()


def test_a_vector_of_zeros_points_nowhere() -> None:
    assert np.isnan(unit(np.zeros((1, 3)))).all()
    assert math.isnan(cosines(np.zeros((1, 3)), np.array([1.0, 0, 0]))[0])
    assert math.isnan(direct_bias(np.zeros(0)))


def test_the_interval_of_a_mean_over_few_words_covers_it() -> None:
    random = np.random.default_rng(0)
    drawn = [words_interval(np.abs(random.standard_normal(15))) for _ in range(400)]
    truth = math.sqrt(2 / math.pi)
    assert np.mean([low <= truth <= high for low, high in drawn]) >= 0.93  # the bootstrap: 0.90
    assert all(math.isnan(end) for end in words_interval(np.arange(14.0)))


def test_weat_worked_by_hand() -> None:
    a, b = np.array([[2.0, 0]]), np.array([[0.0, 3]])
    x, y = np.array([[1.0, 0], [0.8, 0.6]]), np.array([[0.0, 1], [0.6, 0.8]])
    np.testing.assert_allclose(associations(x, a, b), [1, 0.2])
    found = weat(x, y, a, b)
    # s is 1, 0.2, −1, −0.2: gap 1.2, sd √(2.08 / 3); of the six partitions one reaches the gap, two its size.
    assert found.effect == pytest.approx(1.2 / math.sqrt(2.08 / 3))
    assert (found.p, found.p_two_sided) == pytest.approx((1 / 6, 2 / 6))
    assert found.exact


def test_weat_against_loops_over_the_published_formula() -> None:
    x, y, a, b = some(1, 5, 12) + 0.4, some(2, 5, 12), some(3, 6, 12) + 0.4, some(4, 7, 12)

    def cosine(one: FloatArray, other: FloatArray) -> float:
        return float(one @ other / math.sqrt((one @ one) * (other @ other)))

    def s(w: FloatArray) -> float:
        return sum(cosine(w, v) for v in a) / len(a) - sum(cosine(w, v) for v in b) / len(b)

    values = [s(w) for w in [*x, *y]]
    mean_x, mean_y, mean = sum(values[:5]) / 5, sum(values[5:]) / 5, sum(values) / 10
    deviation = math.sqrt(sum((value - mean) ** 2 for value in values) / 9)
    sums = [sum(values[i] for i in chosen) for chosen in combinations(range(10), 5)]
    found = weat(x, y, a, b)
    assert found.effect == pytest.approx((mean_x - mean_y) / deviation)
    assert found.p == pytest.approx(np.mean([one >= sum(values[:5]) - 1e-12 for one in sums]))
    sampled = [weat(x, y, a, b, permutations=250, seed=k) for k in range(20)]
    assert not sampled[0].exact
    assert np.mean([one.p for one in sampled]) == pytest.approx(found.p, abs=0.03)
    assert all(math.isnan(end) for end in found.interval)


def test_the_interval_of_weat_is_a_jackknife_with_15_words_or_more_on_each_side() -> None:
    x, y, a, b = some(1, 15, 12) + 0.4, some(2, 25, 12), some(3, 6, 12) + 0.4, some(4, 7, 12)
    found = weat(x, y, a, b, permutations=1)
    left = [weat(np.delete(x, i, 0), y, a, b, permutations=1).effect for i in range(15)]
    left += [weat(x, np.delete(y, i, 0), a, b, permutations=1).effect for i in range(25)]
    error = math.sqrt(sum((one - np.mean(left)) ** 2 for one in left))
    # Student's quantile is 2.02 to 2.09; Hall's end may lie further out.
    for side, end in zip((-1, 1), found.interval, strict=True):
        assert 2.0 < side * (end - found.effect) / error < 3.0
    assert all(math.isnan(end) for end in weat(x[:14], y, a, b, permutations=1).interval)


def test_weat_is_bounded_and_turns_with_its_sides() -> None:
    a, b = np.array([[1.0, 0]]), np.array([[0.0, 1]])
    x, y = np.tile(a, (8, 1)), np.tile(b, (8, 1))
    # All of x at one place, all of y at another: the largest d there is.
    assert weat(x, y, a, b, permutations=50).effect == pytest.approx(2 * math.sqrt(15 / 16))
    assert weat(y, x, a, b, permutations=50).effect == pytest.approx(-2 * math.sqrt(15 / 16))
    assert math.isnan(weat(x[:1], y, a, b).effect)
    assert math.isnan(weat(x, x, a, b, permutations=50).effect)


def test_relative_norm_distance_worked_by_hand() -> None:
    a, b = np.array([[4.0, 0]]), np.array([[0.0, 1]])
    words = np.array([[1.0, 0], [0, 7], [1, 1]])
    np.testing.assert_allclose(norm_distances(words, a, b), [math.sqrt(2), -math.sqrt(2), 0], atol=1e-12)


def test_the_words_that_carry_most_come_first() -> None:
    assert carriers(np.array([0.1, -0.5, 0.3]), 2) == (1, 2)


def test_the_highest_similarity_to_each_group() -> None:
    known = np.array([[1.0, 0], [0, 2], [-1, 0]])  # groups: the first two, and the last
    near = highest_cosine(np.array([[3.0, 4], [0, 0]]), known, np.array([0, 2]))
    np.testing.assert_allclose(near, np.array([[0.8, -0.6], [0, 0]]))
