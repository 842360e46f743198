"""Whether a model is of any use: ranking, balanced accuracy, decisions that hardly vary."""

import math

import numpy as np
import pytest
from scipy import stats
from sklearn.metrics import balanced_accuracy_score, roc_auc_score

from psycheck.statistics.clustered import Clusters
from psycheck.statistics.usefulness import (
    auc_against_chance,
    balanced_accuracy_against_chance,
    constancy,
    usefulness,
)


def _texts(positives: int, negatives: int) -> np.ndarray:
    return np.arange(positives + negatives) < positives


def _called(hits: int, positives: int, false_alarms: int, negatives: int) -> np.ndarray:
    called = np.zeros(positives + negatives, bool)
    called[:hits] = True
    called[positives : positives + false_alarms] = True
    return called


def test_one_for_599_of_600_texts_is_near_constant() -> None:
    called = np.ones(600, bool)
    called[0] = False
    found = constancy(_texts(240, 360), called, Clusters.single(600))
    assert (found.decision, found.verdict, found.n) == (1, "near-constant", 600)
    assert found.share == pytest.approx(599 / 600)
    assert found.annotated == pytest.approx(0.4)
    assert found.informedness == pytest.approx(-1 / 240)


def test_a_sound_screener_of_a_rare_condition_is_not_near_constant() -> None:
    # Sensitivity 0.8 and specificity 0.95 at 1 %: 94 % of the decisions are 0, and rightly so.
    found = constancy(_texts(20, 1_980), _called(16, 20, 99, 1_980), Clusters.single(2_000))
    assert found.share == pytest.approx(1_885 / 2_000)
    assert found.informedness == pytest.approx(0.75)
    assert found.verdict == "varied"


def test_with_three_texts_of_the_rarer_class_nothing_is_said() -> None:
    found = constancy(_texts(3, 197), _called(0, 3, 1, 197), Clusters.single(200))
    assert found.verdict == "undecided"


def test_without_a_second_class_nothing_is_said() -> None:
    found = constancy(_texts(200, 0), _called(199, 200, 0, 0), Clusters.single(200))
    assert found.verdict == "undecided"
    assert math.isnan(found.informedness)


def test_decisions_that_vary_and_are_blind_are_not_near_constant() -> None:
    found = constancy(_texts(100, 100), _called(30, 100, 30, 100), Clusters.single(200))
    assert found.verdict == "varied"


@pytest.mark.parametrize(
    ("called", "shift", "fault"),
    [("rare", 1.5, "threshold"), ("rare", 0.0, "both"), ("often", 0.0, "ranking"), ("often", 1.5, "")],
)
def test_the_fault_is_the_threshold_the_ranking_or_both(called: str, shift: float, fault: str) -> None:
    random = np.random.default_rng(3)
    targets = _texts(200, 200).astype(float)
    scores = 1 / (1 + np.exp(-random.normal(shift * targets, 1.0)))
    threshold = 0.99 if called == "rare" else 0.6
    decided = (scores >= threshold).astype(float)
    assert usefulness(targets, scores, decided, Clusters.single(400)).fault == fault


def test_unknown_targets_scores_and_decisions_do_not_count() -> None:
    targets = np.array([1.0, 0.0, np.nan, 0.5, 1.0, 0.0])
    scores = np.array([0.9, 0.1, 0.9, 0.9, np.nan, 0.2])
    decided = np.array([1.0, 0.0, 1.0, 1.0, np.nan, 0.0])
    found = usefulness(targets, scores, decided, Clusters.single(6))
    assert found.constancy.n == 3
    assert (found.auc.value, found.balanced_accuracy.value) == (1.0, 1.0)


def test_figures_and_tests_agree_with_scikit_learn_and_scipy() -> None:
    random = np.random.default_rng(4)
    positive = random.random(300) < 0.3
    scores = random.random(300) + 0.15 * positive
    called = scores > 0.6
    units = Clusters.single(300)
    auc = auc_against_chance(positive, scores, units)
    assert auc.value == pytest.approx(roc_auc_score(positive, scores))
    assert auc.p == pytest.approx(stats.mannwhitneyu(scores[positive], scores[~positive]).pvalue)

    balanced = balanced_accuracy_against_chance(positive, called, units)
    assert balanced.value == pytest.approx(balanced_accuracy_score(positive, called))
    of_positive = [np.sum(positive & called), np.sum(positive & ~called)]
    of_negative = [np.sum(~positive & called), np.sum(~positive & ~called)]
    assert balanced.p == pytest.approx(stats.fisher_exact(np.array([of_positive, of_negative])).pvalue)
    assert balanced.interval[0] < balanced.value < balanced.interval[1]


def test_an_inverted_model_is_below_chance() -> None:
    random = np.random.default_rng(6)
    positive = random.random(400) < 0.5
    scores = random.random(400) - 0.4 * positive
    authors = Clusters.of(np.arange(400) // 4)
    auc = auc_against_chance(positive, scores, authors)
    assert auc.is_below
    assert not auc.is_above
