"""Several rates beside each other: which may be the worst, and which gaps are not ruled out."""

import math

import numpy as np
import pytest
from scipy import stats

from psycheck.statistics.clustered import Clusters
from psycheck.statistics.comparisons import (
    group_gaps,
    largest_gap_not_ruled_out,
    largest_gap_quantile,
    may_be_worst,
)
from psycheck.statistics.intervals import exact


def test_a_check_that_clearly_loses_more_stands_alone() -> None:
    losses = np.zeros((3, 300))
    losses[0, :150] = 1
    losses[1, 150:170] = 1
    losses[2, 170:190] = 1
    assert may_be_worst(losses, Clusters.single(300)).tolist() == [True, False, False]


def test_equal_checks_may_all_be_the_worst() -> None:
    losses = np.random.default_rng(0).random((20, 300)) < 0.2
    assert may_be_worst(losses, Clusters.single(300)).all()


def test_untested_texts_do_not_count() -> None:
    losses = np.full((2, 200), np.nan)
    losses[0, :100] = 1.0 * (np.arange(100) < 60)
    losses[1] = 1.0 * (np.arange(200) < 60)
    assert may_be_worst(losses, Clusters.single(200)).tolist() == [True, False]


def test_the_quantile_of_two_figures_is_that_of_a_two_sided_test() -> None:
    errors = np.random.default_rng(1).standard_normal((2, 400))
    assert largest_gap_quantile(errors) == pytest.approx(stats.t.ppf(0.975, 399), abs=0.12)


def test_the_quantile_of_many_figures_is_that_of_the_studentised_range() -> None:
    errors = np.random.default_rng(2).standard_normal((20, 4_000))
    tukey = stats.studentized_range.ppf(0.95, 20, 4_000) / math.sqrt(2)
    assert largest_gap_quantile(errors) == pytest.approx(tukey, abs=0.15)


def test_gaps_of_three_groups_hold_together() -> None:
    names = np.repeat(np.arange(3), 100)
    right = np.r_[np.arange(100) < 90, np.arange(100) < 80, np.arange(100) < 70]
    groups = [(right & (names == group), names == group) for group in range(3)]
    gaps = list(group_gaps(groups, Clusters.single(300)))
    assert [(gap.first, gap.second) for gap in gaps] == [(0, 1), (0, 2), (1, 2)]
    assert [gap.value for gap in gaps] == pytest.approx([0.1, 0.2, 0.1])

    # Exact intervals of the rates at the level of one in three pairs, added as Newcombe does.
    first_low, first_high = exact(0.9, 100, 3)
    third_low, third_high = exact(0.7, 100, 3)
    low = 0.2 - math.hypot(0.9 - first_low, third_high - 0.7)
    high = 0.2 + math.hypot(first_high - 0.9, 0.7 - third_low)
    assert gaps[1].interval == pytest.approx((low, high))

    widest = largest_gap_not_ruled_out(groups, Clusters.single(300))
    assert widest is not None
    assert (widest.first, widest.second) == (0, 2)
    assert widest.not_ruled_out == pytest.approx(high)


def test_without_texts_in_a_group_no_gap_is_bounded() -> None:
    groups = [(np.ones(50), np.ones(50)), (np.zeros(50), np.zeros(50))]
    assert largest_gap_not_ruled_out(groups, Clusters.single(50)) is None
