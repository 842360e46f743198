import math

import numpy as np
import pytest
from sklearn import metrics
from sklearn.calibration import calibration_curve

from psycheck.statistics import calibration
from psycheck.statistics.clusters import Clusters

NAN = math.nan


def test_brier_and_log_loss_agree_with_scikit_learn() -> None:
    random = np.random.default_rng(3)
    scores = random.uniform(0.01, 0.99, 200)
    targets = (random.random(200) < scores).astype(float)
    assert calibration.brier(targets, scores) == pytest.approx(metrics.brier_score_loss(targets, scores))
    assert calibration.log_loss(targets, scores) == pytest.approx(metrics.log_loss(targets, scores))


def test_soft_targets_are_used_as_they_are() -> None:
    targets, scores = np.array([0.25, 1.0]), np.array([0.5, 0.8])
    assert calibration.brier(targets, scores) == pytest.approx((0.0625 + 0.04) / 2)
    assert calibration.log_loss(targets, scores) == pytest.approx((math.log(2) - math.log(0.8)) / 2)


def test_a_sure_mistake_costs_a_bounded_log_loss_on_both_sides() -> None:
    worst = -math.log(1e-15)
    assert calibration.log_loss(np.array([1.0]), np.array([0.0])) == pytest.approx(worst)
    assert calibration.log_loss(np.array([0.0]), np.array([1.0])) == pytest.approx(worst)
    assert calibration.log_loss(np.array([1.0]), np.array([1.0])) == 0.0


def test_expected_calibration_error_worked_by_hand() -> None:
    # Bin 1 (0 to 1/15): scores 0.02 and 0.04, one of two annotated 1: |0.03 − 0.5| = 0.47, weight 2/5.
    # Bin 15: scores 0.95, 0.97, 1.0, all annotated 1: |0.97333 − 1| = 0.02667, weight 3/5.
    targets = np.array([0.0, 1.0, 1.0, 1.0, 1.0])
    scores = np.array([0.02, 0.04, 0.95, 0.97, 1.0])
    expected = 0.4 * 0.47 + 0.6 * (1 - 2.92 / 3)
    assert calibration.expected_calibration_error(targets, scores) == pytest.approx(expected)


def test_bins_agree_with_scikit_learn() -> None:
    random = np.random.default_rng(4)
    scores = random.random(500)
    targets = (random.random(500) < scores**2).astype(float)
    shares, means = calibration_curve(targets, scores, n_bins=15)
    curve = calibration.reliability(targets, scores)
    assert [b.share for b in curve] == pytest.approx(list(shares))
    assert [b.mean_score for b in curve] == pytest.approx(list(means))
    assert sum(b.n for b in curve) == 500


def test_a_score_on_an_edge_belongs_to_the_upper_bin() -> None:
    assert calibration.bin_of(np.array([0.0, 0.2, 0.6, 14 / 15, 1.0])).tolist() == [0, 3, 9, 14, 14]


def test_missing_is_left_out_and_nothing_is_nan() -> None:
    targets, scores = np.array([1.0, NAN, 0.0]), np.array([0.8, 0.4, NAN])
    assert calibration.brier(targets, scores) == pytest.approx(0.04)
    none = np.array([NAN])
    for of in (calibration.brier, calibration.log_loss, calibration.expected_calibration_error):
        assert math.isnan(of(none, none))
    assert math.isnan(calibration.reliability(none, none)[0].share)


def test_calibrated_scores_are_within_noise_and_bad_ones_are_not() -> None:
    random = np.random.default_rng(0)
    scores = random.random(1000)
    good = (random.random(1000) < scores).astype(np.float64)
    bad = (random.random(1000) < scores**2).astype(np.float64)
    assert calibration.expected_calibration_error(good, scores) <= calibration.calibration_noise(good, scores)
    assert calibration.expected_calibration_error(bad, scores) > calibration.calibration_noise(bad, scores)


def test_a_soft_share_counts_as_it_is() -> None:
    # Ten texts of which three in ten annotators say 1, all scored 0.3: the bin from 4/15 to 1/3 is right.
    targets = np.full(10, 0.3)
    assert calibration.expected_calibration_error(targets, targets) == pytest.approx(0.0)
    (curve,) = [score_bin for score_bin in calibration.reliability(targets, targets) if score_bin.n]
    assert curve.share == pytest.approx(0.3)
    assert curve.positive == 0


def test_undecided_targets_count_as_a_half() -> None:
    targets = np.array([0.5, 0.5, 1.0, 0.0])
    scores = np.full(4, 0.5)
    assert calibration.expected_calibration_error(targets, scores) == pytest.approx(0.0)


def test_texts_of_authors_that_are_alike_make_more_noise() -> None:
    random = np.random.default_rng(1)
    authors = np.repeat(np.arange(40), 20)
    scores = np.full(800, 0.5)
    targets = np.repeat(random.random(40) < 0.5, 20).astype(np.float64)
    alone = calibration.calibration_noise(targets, scores)
    clustered = calibration.calibration_noise(targets, scores, Clusters.of(authors))
    # All texts of an author are alike: 40 authors are sqrt(20) times as noisy as 800 texts, or a bit more.
    assert clustered / alone == pytest.approx(20**0.5, rel=0.1)
