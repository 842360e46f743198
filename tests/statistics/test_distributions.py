"""scipy.stats is the reference for what takes its place."""

import math

import numpy as np
import pytest
from scipy import stats

from psycheck.statistics.distributions import (
    average_ranks,
    fisher_p,
    normal_tail,
    range_quantile,
    student_tail,
    wilcoxon_p,
)


@pytest.mark.parametrize("most", [4, 40, 4_000])
def test_fishers_test_is_that_of_scipy(most: int) -> None:
    random = np.random.default_rng(most)
    for _ in range(60):
        table = random.integers(1, most, (2, 2))
        assert fisher_p(table) == pytest.approx(stats.fisher_exact(table).pvalue, rel=1e-9)


def test_fishers_test_worked_by_hand() -> None:
    # Tea or milk first: 1 + 16 + 16 + 1 of 70 tables are at most as likely as 3 of 4 right.
    assert fisher_p(np.array([[3, 1], [1, 3]])) == pytest.approx(34 / 70)


@pytest.mark.parametrize("n", [9, 50, 51, 300])
def test_wilcoxons_test_is_that_of_scipy_with_ties_and_zeros(n: int) -> None:
    moves = np.random.default_rng(n).normal(0.1, 1, n).round(1)
    assert wilcoxon_p(moves) == pytest.approx(stats.wilcoxon(moves).pvalue, rel=1e-12)


def test_equal_values_share_the_mean_of_their_ranks() -> None:
    assert average_ranks(np.array([5.0, 1.0, 5.0, 9.0])).tolist() == [2.5, 1.0, 2.5, 4.0]


@pytest.mark.parametrize("count", [2, 3, 23, 100])
def test_the_quantile_of_a_range_is_tukeys(count: int) -> None:
    expected = stats.studentized_range.ppf(0.95, count, math.inf)
    assert range_quantile(0.95, count) == pytest.approx(expected, abs=1e-9)


def test_tails_are_those_of_scipy() -> None:
    assert normal_tail(1.7) == pytest.approx(stats.norm.sf(1.7), rel=1e-14)
    assert student_tail(2.5, 7.3) == pytest.approx(stats.t.sf(2.5, 7.3), rel=1e-14)
