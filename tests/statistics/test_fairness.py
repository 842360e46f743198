"""Rates, ratio and differences against numbers worked by hand, SciPy and statsmodels."""

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats
from statsmodels.stats.proportion import confint_proportions_2indep

from psycheck.statistics.group_rates import (
    Rate,
    group_difference,
    paired_difference,
    rate_difference,
    score_shift,
)
from psycheck.statistics.intervals import wilson
from psycheck.statistics.miss_ratio import fnr_ratio

NAN = math.nan


def test_a_rate_has_the_interval_of_wilson_and_a_rate_of_nothing_is_no_number() -> None:
    assert (Rate(3, 4).value, Rate(3, 4).interval) == (0.75, wilson(3, 4))
    assert math.isnan(Rate(0, 0).value)
    assert math.isnan(Rate(0, 0).interval[0])


def test_the_ratio_is_the_lower_by_the_higher_rate_and_names_the_group_missed_less() -> None:
    found = fnr_ratio(40, 100, 10, 100, names=("men", "women"))
    assert found.value == pytest.approx(0.25)
    assert found.favoured == "women"
    # Katz: exp(ln 0.25 ± 1.96 √(1/10 − 1/100 + 1/40 − 1/100))
    half = 1.959963984540054 * math.sqrt(0.105)
    assert found.interval == pytest.approx((0.25 * math.exp(-half), 0.25 * math.exp(half)))
    assert found.n == 200
    p = rate_difference(40, 100, 10, 100).p
    assert p == pytest.approx(stats.fisher_exact(np.array([[40, 60], [10, 90]])).pvalue)


def test_the_interval_of_the_ratio_is_that_of_scipy() -> None:
    ours = fnr_ratio(12, 80, 30, 90)
    theirs = stats.contingency.relative_risk(12, 80, 30, 90).confidence_interval(0.95)
    assert ours.interval == pytest.approx((theirs.low, theirs.high))


def test_swapping_the_groups_changes_only_the_name() -> None:
    one = fnr_ratio(40, 100, 10, 100, names=("x", "y"))
    other = fnr_ratio(10, 100, 40, 100, names=("y", "x"))
    assert one == other


def test_the_interval_of_pairs_counts_what_both_share() -> None:
    # 100 positives; 30 missed in the first wording, 20 in the second, 18 in both.
    found = fnr_ratio(30, 100, 20, 100, both=18, names=("female", "male"))
    half = 1.959963984540054 * math.sqrt((30 + 20 - 36) / (30 * 20))
    assert found.value == pytest.approx(2 / 3)
    assert found.favoured == "male"
    assert found.interval == pytest.approx((2 / 3 * math.exp(-half), 2 / 3 * math.exp(half)))
    apart = fnr_ratio(30, 100, 20, 100)
    assert apart.interval[1] - apart.interval[0] > found.interval[1] - found.interval[0]


@pytest.mark.parametrize(
    ("cells", "value", "favoured"),
    [
        ((0, 10, 0, 20), 1.0, ""),
        ((0, 10, 5, 10), 0.0, "a"),
        ((5, 10, 0, 10), 0.0, "b"),
        ((3, 10, 6, 20), 1.0, ""),
    ],
)
def test_empty_cells_have_a_defined_ratio_and_an_interval_with_a_width(
    cells: tuple[int, int, int, int], value: float, favoured: str
) -> None:
    found = fnr_ratio(*cells)
    assert (found.value, found.favoured) == (value, favoured)
    low, high = found.interval
    assert 0 <= low < high < math.inf
    assert low <= value <= high


def test_where_nearly_all_are_missed_the_ratio_has_no_interval() -> None:
    # The log interval covers 90 % there (docs/benchmarks/validity.md).
    for cells in ((10, 10, 20, 20), (37, 40, 30, 60), (30, 60, 37, 40)):
        assert all(map(math.isnan, fnr_ratio(*cells).interval))
    assert fnr_ratio(36, 40, 30, 60).interval[0] > 0


@pytest.mark.parametrize("both", [None, 0])
def test_pairs_without_any_discordant_pair_have_a_width(both: int | None) -> None:
    low, high = fnr_ratio(0, 30, 0, 30, both=both).interval
    assert low < 1 < high
    low, high = fnr_ratio(10, 30, 10, 30, both=10).interval
    assert low < 1 < high


def test_without_positives_there_is_no_ratio() -> None:
    found = fnr_ratio(0, 0, 3, 10)
    assert math.isnan(found.value)
    assert math.isnan(rate_difference(0, 0, 3, 10).p)
    assert found.favoured == ""


@pytest.mark.parametrize(
    ("cells", "both"), [((5, 4, 0, 4), None), ((2, 4, 2, 5), 1), ((2, 4, 1, 4), 2), ((4, 4, 3, 4), 2)]
)
def test_counts_that_cannot_be_are_refused(cells: tuple[int, int, int, int], both: int | None) -> None:
    with pytest.raises(ValueError, match=r"misses|pairs"):
        fnr_ratio(*cells, both=both)


@given(st.data())
def test_the_ratio_lies_in_its_interval_and_between_0_and_1(data: st.DataObject) -> None:
    n, m = data.draw(st.integers(1, 60)), data.draw(st.integers(1, 60))
    found = fnr_ratio(data.draw(st.integers(0, n)), n, data.draw(st.integers(0, m)), m)
    assert 0 <= found.value <= 1
    low, high = found.interval
    assert math.isnan(high) or low <= found.value <= high


def test_a_difference_of_rates_has_the_interval_of_newcombe() -> None:
    found = rate_difference(56, 70, 48, 80)
    assert found.value == pytest.approx(0.2)
    assert found.interval == pytest.approx(
        confint_proportions_2indep(56, 70, 48, 80, compare="diff", method="newcomb")
    )
    assert found.interval == pytest.approx((0.0524, 0.3339), abs=5e-5)  # Newcombe 1998, table II
    assert found.n == (70, 80)


def test_differences_between_groups_by_hand() -> None:
    truth = [1] * 10 + [1] * 10 + [0] * 5
    decided = [1] * 6 + [0] * 4 + [1] * 9 + [0] * 1 + [1, 0, 0, 0, 0]
    group = ["men"] * 10 + ["women"] * 10 + ["women"] * 5
    chance = group_difference(decided, group, "men", "women", among=np.array(truth) == 1)
    assert chance.value == pytest.approx(0.6 - 0.9)
    parity = group_difference(decided, group, "men", "women")
    assert parity.value == pytest.approx(6 / 10 - 10 / 15)
    assert parity.p == pytest.approx(stats.fisher_exact(np.array([[6, 4], [10, 5]])).pvalue)


def test_a_group_is_set_against_all_others_that_are_known() -> None:
    parity = group_difference([1, 0, 1, 1, 0], ["a", "a", "b", "c", ""], "a")
    assert parity.value == pytest.approx(0.5 - 1.0)
    assert parity.n == (2, 2)


def test_flips_of_answered_pairs_are_tested_by_mcnemar() -> None:
    first = [1, 1, 1, 0, 0, 1, NAN, 0]
    second = [1, 0, 0, 0, 1, 0, 1, 0]
    found = paired_difference(first, second)
    assert found.n == (7, 7)
    assert found.value == pytest.approx((3 - 1) / 7)
    assert found.p == pytest.approx(2 * stats.binom.cdf(1, 4, 0.5))


def test_a_paired_difference_by_hand() -> None:
    # a = 20 both, b = 12 first only, c = 2 second only, d = 16 neither.
    first = [1] * 20 + [1] * 12 + [0] * 2 + [0] * 16
    second = [1] * 20 + [0] * 12 + [1] * 2 + [0] * 16
    found = paired_difference(first, second)
    assert found.value == pytest.approx(0.2)
    (l1, u1), (l2, u2) = wilson(32, 50), wilson(22, 50)
    phi = (20 * 16 - 12 * 2 - 25) / math.sqrt(32 * 18 * 22 * 28)
    low = math.sqrt((0.64 - l1) ** 2 - 2 * phi * (0.64 - l1) * (u2 - 0.44) + (u2 - 0.44) ** 2)
    high = math.sqrt((u1 - 0.64) ** 2 - 2 * phi * (u1 - 0.64) * (0.44 - l2) + (0.44 - l2) ** 2)
    assert found.interval == pytest.approx((0.2 - low, 0.2 + high))
    assert found.p == pytest.approx(2 * stats.binom.cdf(2, 14, 0.5))


def test_the_paired_interval_holds_the_truth_about_95_times_in_100() -> None:
    random = np.random.default_rng(0)
    cells = np.array([0.3, 0.15, 0.05, 0.5])
    inside = 0
    for a, b, c, d in random.multinomial(60, cells, size=400):
        found = paired_difference([1] * (a + b) + [0] * (c + d), [1] * a + [0] * b + [1] * c + [0] * d)
        inside += found.interval[0] <= 0.1 <= found.interval[1]
    assert 0.92 <= inside / 400 <= 0.99


def test_a_shift_of_scores_has_a_size_and_a_direction() -> None:
    found = score_shift([0.9, 0.2, 0.5, 0.6, NAN], [0.5, 0.3, 0.4, 0.6, 0.1])
    assert found.n == 4
    assert found.size == pytest.approx((0.4 + 0.1 + 0.1 + 0.0) / 4)
    assert found.difference == pytest.approx((0.4 - 0.1 + 0.1) / 4)
    assert np.isnan(found.interval).all()  # three texts move


def test_an_even_shift_has_students_interval() -> None:
    """Eight differences of 0.3 and eight of 0.1: deviations of 0.1 each, without skewness.

    Leaving texts out, the standard error is sqrt(16 × 0.01) / 15 = 0.02667; t(15) is 2.1314.
    """
    found = score_shift([0.8] * 8 + [0.6] * 8, [0.5] * 16)
    half = 2.1314 * 0.02667
    assert found.interval == pytest.approx((0.2 - half, 0.2 + half), abs=1e-4)
    assert found.size_interval == found.interval


def test_scores_that_do_not_move_are_no_evidence() -> None:
    found = score_shift([0.3, 0.8], [0.3, 0.8])
    assert (found.size, found.difference, found.p) == (0.0, 0.0, 1.0)
    assert score_shift([], []).n == 0


def test_shapes_and_values_are_checked() -> None:
    with pytest.raises(ValueError, match="one value per text"):
        paired_difference([1, 0], [1])
    with pytest.raises(ValueError, match="1, 0 or NaN"):
        group_difference([0.5], ["a"], "a")
