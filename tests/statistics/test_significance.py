import math

import numpy as np
import pytest
from scipy import stats
from statsmodels.stats.contingency_tables import mcnemar as reference_mcnemar
from statsmodels.stats.multitest import multipletests

from psycheck.statistics import significance as sign
from psycheck.statistics.classification import BoolArray


def pairs(both: int, one: int, two: int, neither: int) -> tuple[BoolArray, BoolArray]:
    first = np.repeat([True, True, False, False], [both, one, two, neither])
    second = np.repeat([True, False, True, False], [both, one, two, neither])
    return first, second


@pytest.mark.parametrize(
    ("one", "two", "exact"), [(10, 2, True), (0, 24, True), (13, 12, False), (30, 12, False)]
)
def test_mcnemar_agrees_with_statsmodels(one: int, two: int, exact: bool) -> None:
    found = sign.mcnemar(*pairs(40, one, two, 7))
    expected = reference_mcnemar([[40, one], [two, 7]], exact=exact, correction=True)
    assert found.statistic == pytest.approx(expected.statistic)
    assert found.p == pytest.approx(expected.pvalue)
    assert (found.both, found.only_first, found.only_second, found.neither) == (40, one, two, 7)


def test_mcnemar_worked_by_hand() -> None:
    # One against five: 2 · (1 + 6) / 2⁶ = 0.21875.
    assert sign.mcnemar(*pairs(3, 1, 5, 0)).p == pytest.approx(0.21875, rel=1e-12)
    # 40 against 20: (20 − 1)² / 60.
    assert sign.mcnemar(*pairs(0, 40, 20, 0)).statistic == pytest.approx(361 / 60)


def test_mcnemar_without_a_difference_is_chance_and_without_pairs_nan() -> None:
    assert sign.mcnemar(*pairs(5, 0, 0, 5)).p == 1.0
    assert sign.mcnemar(*pairs(0, 20, 20, 0)).p == 1.0
    assert math.isnan(sign.mcnemar(*pairs(0, 0, 0, 0)).p)
    with pytest.raises(ValueError, match="equal shapes"):
        sign.mcnemar(np.array([True]), np.array([True, False]))


def test_holm_agrees_with_statsmodels_and_by_hand() -> None:
    # Sorted 0.01, 0.02, 0.04: times 3, 2, 1, never falling: 0.03, 0.04, 0.04.
    assert sign.holm([0.04, 0.01, 0.02]) == pytest.approx([0.04, 0.03, 0.04])
    p = np.random.default_rng(0).random(12) ** 2
    assert sign.holm(p) == pytest.approx(multipletests(p, method="holm")[1])


def test_holm_does_not_count_what_was_not_tested() -> None:
    found = sign.holm([0.01, math.nan, 0.04])
    assert found[[0, 2]] == pytest.approx([0.02, 0.04])
    assert math.isnan(found[1])


@pytest.mark.parametrize("levels", [3, 30, 100_000])
@pytest.mark.parametrize("n", [5, 80])
def test_mann_whitney_agrees_with_scipy(levels: int, n: int) -> None:
    random = np.random.default_rng(levels)
    a, b = random.integers(0, levels, n), random.integers(levels // 10, levels, 60)
    found = sign.mann_whitney(a, b)
    expected = stats.mannwhitneyu(a, b)
    assert (found.u, found.p) == pytest.approx((expected.statistic, expected.pvalue))
    wins = np.mean(np.sign(a[:, None] - b[None, :]))
    assert found.effect == pytest.approx(wins)


def test_mann_whitney_worked_by_hand() -> None:
    # Of 9 pairs, a is above in 5 (3 > 2; 5 > 2, 4; 6 > 2, 4) and nowhere else; exact two-sided p = 1.
    found = sign.mann_whitney([3, 5, 6], [2, 4, 7])
    assert (found.u, found.n) == (5.0, (3, 3))
    assert found.effect == pytest.approx(1 / 9)
    assert found.p == 1.0


def test_effect_interval_covers_as_often_as_it_says() -> None:
    # a ~ N(0.5, 1), b ~ N(0, 1): P(a > b) = Φ(0.5 / √2), effect 2 P − 1.
    truth = 2 * stats.norm.cdf(0.5 / math.sqrt(2)) - 1
    random = np.random.default_rng(2)
    ends = [
        sign.mann_whitney(random.normal(0.5, 1, 40), random.normal(0, 1, 60)).interval for _ in range(400)
    ]
    covered = np.mean([low <= truth <= high for low, high in ends])
    assert 0.92 <= covered <= 0.98


def test_mann_whitney_says_nothing_without_values() -> None:
    assert math.isnan(sign.mann_whitney([], [1, 2]).p)
    apart = sign.mann_whitney([5, 6, 7], [1, 2, 3])
    assert apart.effect == 1.0
    assert math.isnan(apart.interval[0])
    assert sign.mann_whitney([2, 2], [2, 2, 2]).p == 1.0
    assert sign.mann_whitney([1, math.nan], [2]).n == (1, 1)


def test_pearson_agrees_with_scipy_and_by_hand() -> None:
    x, y = [1.0, 2.0, 3.0, 4.0], [1.0, 3.0, 2.0, 4.0]
    found = sign.pearson(x, y)
    assert found.r == pytest.approx(0.8)  # Σ(x − x̄)(y − ȳ) = 4, both sums of squares 5
    expected = stats.pearsonr(x, y)
    assert found.p == pytest.approx(expected.pvalue)
    assert found.interval == pytest.approx(tuple(expected.confidence_interval()))


def test_pearson_is_nan_below_three_pairs_and_without_spread() -> None:
    assert math.isnan(sign.pearson([1, 2], [2, 1]).r)
    assert math.isnan(sign.pearson([1, 2, 3], [5, 5, 5]).r)
    assert sign.pearson([1, 2, 3], [1, 2, 4]).interval == (-1.0, 1.0)


def test_t_tests_agree_with_scipy() -> None:
    random = np.random.default_rng(6)
    x, y = random.normal(0, 1, 12), random.normal(0.5, 2, 12)
    assert sign.t_test(x, y, paired=True) == pytest.approx(stats.ttest_rel(x, y).pvalue)
    expected = stats.ttest_ind(x, y[:9], equal_var=False)
    assert sign.t_test(x, y[:9], paired=False) == pytest.approx(expected.pvalue)


def test_paired_t_worked_by_hand() -> None:
    # Differences 1, 2, 3: mean 2, error 1/√3, t = 2√3; for 2 degrees of freedom p = 1 − t / √(t² + 2).
    assert sign.t_test([2, 4, 6], [1, 2, 3], paired=True) == pytest.approx(1 - math.sqrt(12 / 14))


def test_t_test_is_nan_below_two_values_and_without_spread() -> None:
    assert math.isnan(sign.t_test([1], [2], paired=True))
    assert math.isnan(sign.t_test([1, 2], [2, 3], paired=True))
    assert math.isnan(sign.t_test([1, 1], [2, 2], paired=False))


def test_pairs_of_models_on_one_corpus_are_independent() -> None:
    x, y = [0.1, 0.4, 0.2, 0.9, 0.5], [0.2, 0.3, 0.1, 0.8, 0.9]
    crossed = sign.crossed_pearson(x, y, list("abcde"), ["posts"] * 5)
    assert crossed == sign.pearson(x, y)


def test_models_and_corpora_that_repeat_widen_the_interval_of_a_correlation() -> None:
    random = np.random.default_rng(8)
    of_model, of_corpus = random.standard_normal((2, 10)), random.standard_normal((2, 5))
    models, corpora = np.repeat(np.arange(10), 5), np.tile(np.arange(5), 10)
    x = of_model[0][models] + of_corpus[0][corpora] + 0.3 * random.standard_normal(50)
    y = of_model[1][models] + of_corpus[1][corpora] + 0.3 * random.standard_normal(50)
    crossed, independent = sign.crossed_pearson(x, y, models, corpora), sign.pearson(x, y)
    assert crossed.r == independent.r
    assert crossed.interval[0] < independent.interval[0]
    assert crossed.interval[1] > independent.interval[1]
    assert crossed.p > independent.p
