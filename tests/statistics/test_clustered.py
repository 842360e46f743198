"""Figures of texts that belong together, against hand-made numbers, the jackknife and simulation."""

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import optimize, stats
from sklearn import metrics

from psycheck.statistics import classification, intervals
from psycheck.statistics.classification import auc_influence, average_precision_influence
from psycheck.statistics.cluster_tests import groups_p, paired_p
from psycheck.statistics.clustered import (
    Clusters,
    change_interval,
    difference_interval,
    mean_interval,
    median_interval,
    ratio_interval,
    skewed_interval,
    variance,
)
from psycheck.statistics.intervals import percentiles, wilson
from psycheck.statistics.label_intervals import classification_intervals, f1_interval

TWENTY = np.repeat(np.arange(20), 10)


def test_single_texts_give_wilsons_interval() -> None:
    right = np.array([1.0] * 93 + [0.0] * 7)
    assert ratio_interval(right, np.ones(100), Clusters.single(100)) == pytest.approx(wilson(93, 100))


def test_texts_that_agree_within_authors_count_as_one_each() -> None:
    # 20 authors of 10 texts, each all right or all wrong: as uncertain as 20 texts, or a little more.
    right = np.repeat([1.0] * 12 + [0.0] * 8, 10)
    low, high = ratio_interval(right, np.ones(200), Clusters.of(TWENTY))
    alone = wilson(12, 20)
    assert low < alone[0]
    assert high > alone[1]
    assert (low, high) == pytest.approx(alone, abs=0.03)


def test_one_of_three_rates_of_authors_is_less_certain_by_student_and_by_the_choice() -> None:
    right = np.repeat([1.0, 0.0], 100)
    found = ratio_interval(right, np.ones(200), Clusters.of(TWENTY), among=3)
    # 20 authors, each all right or all wrong, count as 20 * 0.95² texts: each is left out of its own mean.
    tail = 0.05 / 2 / 3
    n = 20 * 0.95**2 * (stats.norm.ppf(tail) / stats.t.ppf(tail, 19)) ** 2
    low, high = stats.beta.ppf(tail, n / 2, n / 2 + 1), stats.beta.ppf(1 - tail, n / 2 + 1, n / 2)
    assert found == pytest.approx((low, high))


def test_one_text_that_passes_says_no_less_than_none() -> None:
    units = Clusters.of(np.repeat(np.arange(250), 4))
    none, one, two = (
        ratio_interval(np.arange(1_000) < passed, np.ones(1_000), units, among=23)[1] for passed in range(3)
    )
    # Each author counts as one text, as if all four were alike: one of 1,000 is a quarter of a text in 250.
    tail = 0.025 / 23
    n = 250 * (stats.norm.ppf(tail) / stats.t.ppf(tail, 249)) ** 2
    assert none == pytest.approx(1 - tail ** (1 / n))
    assert one == pytest.approx(stats.beta.ppf(1 - tail, n / 1000 + 1, n * 0.999))
    assert none < one < two < 0.05


def test_texts_that_vary_within_authors_count_each() -> None:
    right = np.tile([1.0] * 6 + [0.0] * 4, 20)
    low, high = ratio_interval(right, np.ones(200), Clusters.of(TWENTY))
    # No author differs from another, and all 20 show both outcomes, but four more whose ten texts are alike
    # are assumed: a design effect of 10 to the power of 4 / (19 + 4).
    n = 200 / 10 ** (4 / 23)
    assert (low, high) == pytest.approx(wilson(0.6 * n, n, stats.t.ppf(0.975, 19)))


def test_one_error_of_an_author_does_not_collapse_the_interval() -> None:
    right = np.ones(160)
    right[3] = 0
    low, high = ratio_interval(right, np.ones(160), Clusters.of(np.arange(160) // 4))
    # As uncertain as 40 authors, of whom one errs in a quarter of his texts.
    assert (low, high) == pytest.approx(wilson(39.75, 40, stats.t.ppf(0.975, 39)))
    assert low > 0.88


def test_copies_of_several_authors_are_alike_in_two_ways() -> None:
    # Three authors and three texts. Influence 1 and -1; the first text has two authors, the second one two.
    influence = np.array([1.0, 1.0, -1.0, -1.0, 2.0])
    authors = np.array([0, 1, 1, 2, 0])
    texts = np.array([0, 0, 1, 1, 2])
    clusters = Clusters.of(authors, texts)

    def left_out(codes: np.ndarray) -> float:
        sums = np.bincount(codes, influence)
        return float(np.sum((sums / (1 - np.bincount(codes) / 5)) ** 2))

    # Every text of an author is another: together they part all five.
    expected = left_out(authors) + left_out(texts) - left_out(np.arange(5))
    assert variance(influence, clusters) == pytest.approx(max(expected, left_out(authors), left_out(texts)))
    assert clusters.equal(np.ones(5)) == pytest.approx(25 / (9 + 9 - 5))


def test_copies_by_one_author_are_alike_in_one_way() -> None:
    clusters = Clusters.of(np.array([0, 0, 1, 1]), np.array([0, 0, 1, 2]))
    assert clusters.copies is None


def test_copies_of_several_authors_widen_an_interval() -> None:
    random = np.random.default_rng(2)
    copied = np.arange(600) % 12
    authors = random.permutation(600) // 5
    right = (copied % 3 > 0).astype(float)
    by_author = ratio_interval(right, np.ones(600), Clusters.of(authors))
    by_both = ratio_interval(right, np.ones(600), Clusters.of(authors, copied))
    assert by_both[1] - by_both[0] > 3 * (by_author[1] - by_author[0])


def test_an_interval_at_the_end_counts_authors() -> None:
    low, high = ratio_interval(np.ones(200), np.ones(200), Clusters.of(TWENTY))
    assert high == 1
    t = 2.093024054408263  # Student, 19 degrees of freedom
    assert low == pytest.approx(20 / (20 + t**2))


def test_below_fifteen_authors_there_is_no_interval() -> None:
    assert all(map(math.isnan, ratio_interval(np.ones(140), np.ones(140), Clusters.of(TWENTY[:140]))))


def test_the_variance_is_that_of_leaving_clusters_out() -> None:
    random = np.random.default_rng(1)
    names = random.integers(0, 12, 90)
    below = random.integers(0, 3, 90).astype(float)
    above = below * random.random(90)
    value = above.sum() / below.sum()
    left_out = [above[names != g].sum() / below[names != g].sum() for g in range(12)]
    found = variance((above - value * below) / below.sum(), Clusters.of(names), below)
    assert found == pytest.approx(float(np.sum((np.array(left_out) - value) ** 2)))


def test_f1_rises_with_the_share_of_hits_among_hits_and_errors() -> None:
    hits, wrong = np.array([1.0] * 30 + [0.0] * 70), np.array([0.0] * 30 + [1.0] * 20 + [0.0] * 50)
    low, high = f1_interval(hits, wrong, Clusters.single(100))
    ends = wilson(30, 50)
    assert (low, high) == pytest.approx((2 * ends[0] / (1 + ends[0]), 2 * ends[1] / (1 + ends[1])))


@given(st.lists(st.tuples(st.booleans(), st.integers(0, 5)), min_size=6, max_size=40))
def test_influences_are_the_slopes_of_weighted_figures(rows: list[tuple[bool, int]]) -> None:
    y = np.array([yes for yes, _ in rows])
    scores = np.array([score for _, score in rows], float)
    if y.all() or not y.any():
        return
    step = 1e-6
    for influence, figure in (
        (auc_influence(y, scores), metrics.roc_auc_score),
        (average_precision_influence(y, scores), metrics.average_precision_score),
    ):
        assert influence[0] == pytest.approx(figure(y, scores))
        for i in range(len(y)):
            heavier = np.ones(len(y))
            heavier[i] += step
            slope = (figure(y, scores, sample_weight=heavier) - influence[0]) / step
            assert influence[1][i] == pytest.approx(slope, abs=1e-4)


def test_single_texts_agree_with_the_bootstrap() -> None:
    random = np.random.default_rng(99)
    y = (random.random(200) < 0.4).astype(np.float64)
    scores = np.clip(np.floor(100 * (0.25 * y + 0.75 * random.random(200))) / 100, 0.01, 0.99)
    drawn: dict[str, list[float]] = {}
    for _ in range(400):
        at = random.integers(0, 200, 200)
        c = classification.confusion(y[at], scores[at])
        for name in ("accuracy", "precision", "recall", "f1", "macro_f1", "weighted_f1", "hard_auc"):
            drawn.setdefault(name, []).append(getattr(classification, name)(c).value)
        drawn.setdefault("auc", []).append(float(metrics.roc_auc_score(y[at], scores[at])))
        average = float(metrics.average_precision_score(y[at], scores[at]))
        drawn.setdefault("average_precision", []).append(average)
        drawn.setdefault("brier", []).append(float(np.mean((y[at] - scores[at]) ** 2)))
    found = classification_intervals(y, scores, Clusters.single(200))
    for name, values in drawn.items():
        low, high = percentiles(np.array(values))
        # 400 plain resamples place an end to about a tenth of the width.
        assert found[name] == pytest.approx((low, high), abs=0.25 * (high - low)), name


def test_pairs_are_turned_by_author() -> None:
    # Ten authors differ, nine of them one way: 2 × (C(10,0) + C(10,1)) / 2^10.
    differences = np.repeat([1.0] * 9 + [-1.0] + [0.0] * 10, 10)
    assert paired_p(differences, Clusters.of(TWENTY)) == pytest.approx(22 / 1024)
    assert paired_p(np.zeros(200), Clusters.of(TWENTY)) == 1


def test_a_dialect_by_author_is_no_difference_of_texts() -> None:
    random = np.random.default_rng(5)
    alarms = []
    for _ in range(100):
        own = random.random(40)
        dialect = (random.permutation(40) < 20)[np.repeat(np.arange(40), 20)]
        decided = (random.random(800) < np.repeat(own, 20)).astype(float)
        clusters = Clusters.of(np.repeat(np.arange(40), 20))
        alarms.append(groups_p(decided, np.ones(800), dialect, clusters) < 0.05)
    assert sum(alarms) <= 10  # 5 expected; P(more than 10) is 1 %
    planted = np.where(dialect, own[np.repeat(np.arange(40), 20)] ** 4, 0.9)
    decided = (random.random(800) < planted).astype(float)
    assert groups_p(decided, np.ones(800), dialect, clusters) < 0.01


def test_copies_in_both_groups_are_one_text() -> None:
    decided = np.repeat([1.0] * 21 + [0.0] * 21, 2)
    first = np.tile([True, False], 42)
    assert groups_p(decided, np.ones(84), first, Clusters.of(np.repeat(np.arange(42), 2))) == 1
    low, high = difference_interval(
        (decided * first, first), (decided * ~first, ~first), Clusters.of(np.repeat(np.arange(42), 2))
    )
    assert low == pytest.approx(-high)


def test_groups_that_share_their_authors_may_differ_wholly_or_by_a_small_side() -> None:
    authors = Clusters.of(np.repeat(np.arange(40), 10))
    first = np.tile([True, False], 200)
    assert groups_p(first, np.ones(400), first, authors) < 1e-6  # all of one group, none of the other
    random, alarms = np.random.default_rng(5), 0
    for _ in range(200):
        few = np.zeros(400, bool)
        few[random.choice(400, 20, replace=False)] = True
        rates = random.beta(0.4, 3.6, 40)[authors.codes]
        alarms += groups_p(random.random(400) < rates, np.ones(400), few, authors) < 0.05
    assert alarms <= 16  # 10 expected, 3.1 the standard deviation; 27 around the rates of each group


def test_intervals_hold_the_truth_often_enough() -> None:
    random = np.random.default_rng(11)
    names = np.repeat(np.arange(50), 8)
    held: dict[str, list[bool]] = {}
    for _ in range(200):
        own = np.repeat(random.normal(0, 0.7, 50), 8)
        y = (random.random(400) < 0.4).astype(float)
        logit = 1.5 * (y - 0.5) + own + random.normal(0, 0.7, 400)
        found = classification_intervals(y, 1 / (1 + np.exp(-logit)), Clusters.of(names))
        # P(score >= 0.5 | y) = Φ(±0.75 / sqrt(0.98)) = 0.7757.
        held.setdefault("recall", []).append(found["recall"][0] <= 0.7757 <= found["recall"][1])
        held.setdefault("accuracy", []).append(found["accuracy"][0] <= 0.7757 <= found["accuracy"][1])
        # P(positive above negative) = Φ(1.5 / sqrt(2 × 0.98)) = 0.8580.
        held.setdefault("auc", []).append(found["auc"][0] <= 0.8580 <= found["auc"][1])
    assert {name: np.mean(each) >= 0.91 for name, each in held.items()} == dict.fromkeys(held, True)


def test_a_figure_that_cannot_be_has_no_interval() -> None:
    nothing = np.full(20, np.nan)
    assert classification_intervals(nothing, nothing, Clusters.single(20)) == {}
    negatives = classification_intervals(np.zeros(20), np.linspace(0, 1, 20), Clusters.single(20))
    assert not {"f1", "auc", "macro_f1"} & set(negatives)


def test_marks_of_one_text_are_one_text() -> None:
    """20 texts with four marks each, all right in ten of them and all wrong in the others.

    Each text moves the rate by 0.025, by 0.025 / 0.95 when left out: as much as 0.25 / (20 × 0.0263²) = 18.05
    single texts would; t(19) is 2.0930.
    """
    right = np.repeat([4.0, 0.0], 10)
    found = ratio_interval(right, np.full(20, 4.0), Clusters.single(20))
    assert found == pytest.approx(wilson(9.025, 18.05, 2.0930), abs=1e-4)


def test_a_few_large_movers_widen_a_mean_on_their_side() -> None:
    """Four of 40 texts move by 1, one by 0.5: Hall's transformation is solved by SciPy, Student's by hand."""
    values = np.concatenate([np.ones(4), [0.5], np.zeros(35)])
    parts = (values - values.mean()) / 39
    error, skewness = np.sqrt(np.sum(parts**2)), np.sum(parts**3) / np.sum(parts**2) ** 1.5
    freedom = 2 * np.sum(parts**2) ** 2 / np.sum(parts**4) - 1
    student = stats.t.ppf(0.975, freedom)
    d = optimize.brentq(
        lambda d: d + skewness * d**2 / 3 + skewness**2 * d**3 / 27 + skewness / 6 + student, -50, 0
    )
    low, high = mean_interval(values, Clusters.single(40))
    assert low == pytest.approx(values.mean() - student * error)
    assert high == pytest.approx(values.mean() - d * error)
    assert high - values.mean() > 1.5 * (values.mean() - low)


def test_four_texts_that_move_have_no_interval() -> None:
    values = np.zeros(60)
    values[:4] = 0.1
    assert np.isnan(mean_interval(values, Clusters.single(60))).all()
    values[4] = 0.1
    assert mean_interval(values, Clusters.single(60), low=0.0)[0] >= 0


def test_authors_of_unequal_size_count_as_fewer() -> None:
    """One author wrote half of the texts of 20: Kish's number is 380² / (190² + 19 × 100) = 3.8."""
    names = np.concatenate([np.zeros(190, int), np.repeat(np.arange(1, 20), 10)])
    values = np.random.default_rng(1).random(380)
    assert np.isnan(mean_interval(values, Clusters.of(names))).all()
    assert not np.isnan(mean_interval(values, Clusters.single(380))).any()


def test_nearly_perfect_models_have_no_interval_of_their_change() -> None:
    influence = np.linspace(-0.01, 0.01, 40)
    assert np.isnan(change_interval(0.992, 0.998, influence, Clusters.single(40))).all()
    found = change_interval(0.98, 0.998, influence, Clusters.single(40))
    assert found == pytest.approx(skewed_interval(0.018, influence, Clusters.single(40)))


def test_a_median_of_authors_is_less_certain_than_one_of_texts() -> None:
    """Texts of an author are equally long: 40 lengths, each 10 times, are known like 40 texts."""
    sizes = np.arange(1.0, 41.0)
    single = intervals.median_interval(sizes)
    both = median_interval(np.repeat(sizes, 10), Clusters.of(np.repeat(np.arange(40), 10)))
    assert both == pytest.approx(single, abs=1)
    assert both[1] - both[0] > 10 > np.ptp(median_interval(np.repeat(sizes, 10), Clusters.single(400)))


def test_means_and_changes_hold_the_truth_often_enough() -> None:
    """A third of 30 texts moves up by 0.2 on average: a mean of 1 / 15."""
    random = np.random.default_rng(5)
    held = []
    for _ in range(300):
        moved = np.where(random.random(30) < 1 / 3, 0.4 * random.random(30), 0.0)
        low, high = mean_interval(moved, Clusters.single(30), low=0.0)
        held.append(np.isnan(low) or low <= 1 / 15 <= high)
    assert np.mean(held) >= 0.93
