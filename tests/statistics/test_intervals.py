import math

import numpy as np
import pytest
from scipy.stats import binom, binomtest
from statsmodels.stats.proportion import proportion_confint

from psycheck.statistics.intervals import exact, median_interval, wilson


@pytest.mark.parametrize(("passed", "n"), [(186, 200), (0, 10), (57, 57), (5, 12), (33, 100), (3.6, 7.5)])
def test_wilson_agrees_with_statsmodels(passed: float, n: float) -> None:
    expected = proportion_confint(passed, n, method="wilson")
    assert wilson(passed, n) == pytest.approx(expected, abs=1e-9)


def test_wilson_worked_by_hand() -> None:
    # 8 of 10: (0.8 + 0.19207 ± 1.96 √(0.016 + 0.0096036)) / 1.38415
    low, high = wilson(8, 10)
    assert low == pytest.approx(0.4902, abs=5e-5)
    # Two failed, so the upper end is that of Poisson counts: 1 − χ²(5 %, 4) / 2 / 10 = 1 − 0.7107 / 20.
    assert high == pytest.approx(0.9645, abs=5e-5)


def test_wilson_of_nothing_is_nan() -> None:
    assert all(map(math.isnan, wilson(0, 0)))


def test_median_interval_takes_the_tabulated_order_statistics() -> None:
    # For n = 20 tables give the 6th and the 15th value (coverage 95.86 %), for n = 6 the ends.
    assert median_interval(np.arange(1.0, 21.0)) == (6.0, 15.0)
    assert median_interval([3.0, 1.0, 2.0, 6.0, 5.0, 4.0]) == (1.0, 6.0)
    inside = 1 - 2 * binomtest(5, 20, 0.5, alternative="less").pvalue
    assert inside == pytest.approx(0.9586, abs=5e-5)


def test_median_interval_needs_six_values() -> None:
    assert all(map(math.isnan, median_interval([1.0, 2.0, 3.0, 4.0, 5.0])))
    assert all(map(math.isnan, median_interval([])))


@pytest.mark.parametrize(("passed", "n"), [(0, 10), (7, 10), (10, 10), (296, 300)])
def test_one_of_three_rates_has_the_exact_interval_at_a_third_of_the_level(passed: int, n: int) -> None:
    reference = binomtest(passed, n).proportion_ci(1 - 0.05 / 3, method="exact")
    assert exact(passed / n, n, 3) == pytest.approx(reference)


def test_one_of_three_rates_worked_by_hand() -> None:
    # None of 10 passes: (1 - high) ** 10 is the tail, 0.05 / 2 / 3.
    assert exact(0.0, 10, 3) == pytest.approx((0.0, 1 - (0.05 / 6) ** 0.1))


@pytest.mark.parametrize("n", [60, 300])
@pytest.mark.parametrize("rate", [0.5, 0.9, 0.98, 0.995])
def test_the_lowest_of_23_rates_is_below_its_true_value_in_at_most_2_5_percent(n: int, rate: float) -> None:
    below = [k for k in range(n + 1) if exact(k / n, n, 23)[1] < rate]
    assert 23 * sum(float(binom.pmf(k, n, rate)) for k in below) <= 0.025
