import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from sklearn import metrics

from psycheck.statistics import classification as measure
from psycheck.statistics.classification import Confusion, FloatArray

NAN = math.nan


def case(seed: int, n: int = 300, levels: int = 20) -> tuple[FloatArray, FloatArray]:
    """Targets and scores with many ties."""
    random = np.random.default_rng(seed)
    targets = (random.random(n) < 0.3).astype(np.float64)
    scores = np.round(np.clip(0.3 * targets + 0.7 * random.random(n), 0, 1) * levels) / levels
    return targets, scores


def test_confusion_worked_by_hand() -> None:
    targets = np.array([1, 1, 1, 0, 0, 0, 0], dtype=np.float64)
    scores = np.array([0.9, 0.5, 0.2, 0.7, 0.1, 0.4, 0.49])
    c = measure.confusion(targets, scores)
    assert c == Confusion(tp=2, fp=1, fn=1, tn=3)
    assert measure.accuracy(c).value == pytest.approx(5 / 7)
    assert measure.precision(c).value == pytest.approx(2 / 3)
    assert measure.recall(c).value == pytest.approx(2 / 3)
    assert measure.f1(c).value == pytest.approx(2 / 3)
    # F1 of class 0 is 2·3 / (2·3 + 1 + 1) = 3/4.
    assert measure.macro_f1(c).value == pytest.approx((2 / 3 + 3 / 4) / 2)
    assert measure.weighted_f1(c).value == pytest.approx((3 * 2 / 3 + 4 * 3 / 4) / 7)


@pytest.mark.parametrize("seed", range(4))
def test_agrees_with_scikit_learn(seed: int) -> None:
    targets, scores = case(seed)
    predicted = (scores >= 0.5).astype(int)
    c = measure.confusion(targets, scores)
    assert measure.accuracy(c).value == pytest.approx(metrics.accuracy_score(targets, predicted))
    assert measure.precision(c).value == pytest.approx(metrics.precision_score(targets, predicted))
    assert measure.recall(c).value == pytest.approx(metrics.recall_score(targets, predicted))
    assert measure.f1(c).value == pytest.approx(metrics.f1_score(targets, predicted))
    macro = metrics.f1_score(targets, predicted, average="macro")
    assert measure.macro_f1(c).value == pytest.approx(macro)
    weighted = metrics.f1_score(targets, predicted, average="weighted")
    assert measure.weighted_f1(c).value == pytest.approx(weighted)
    assert measure.auc(targets, scores).value == pytest.approx(metrics.roc_auc_score(targets, scores))
    average = metrics.average_precision_score(targets, scores)
    assert measure.average_precision(targets, scores).value == pytest.approx(average)
    # App. A of DECK gives 0/1 predictions to both functions.
    assert measure.hard_brier(c).value == pytest.approx(metrics.brier_score_loss(targets, predicted))
    assert measure.hard_auc(c).value == pytest.approx(metrics.roc_auc_score(targets, predicted))


@given(st.lists(st.tuples(st.booleans(), st.integers(0, 4)), min_size=2, max_size=30))
def test_ranking_measures_agree_with_scikit_learn_on_any_ties(rows: list[tuple[bool, int]]) -> None:
    targets = np.array([float(yes) for yes, _ in rows])
    scores = np.array([level / 4 for _, level in rows])
    if len(set(targets)) == 1:
        assert math.isnan(measure.auc(targets, scores).value)
        assert measure.average_precision(targets, scores).flags == ("one_class",)
        return
    assert measure.auc(targets, scores).value == pytest.approx(metrics.roc_auc_score(targets, scores))
    average = metrics.average_precision_score(targets, scores)
    assert measure.average_precision(targets, scores).value == pytest.approx(average)


def test_auc_counts_a_tie_as_half() -> None:
    # Pairs (1 against 0): 0.8 > 0.3, 0.8 > 0.5, 0.5 > 0.3, 0.5 = 0.5 → 3.5 of 4.
    targets, scores = np.array([1.0, 1.0, 0.0, 0.0]), np.array([0.8, 0.5, 0.3, 0.5])
    assert measure.auc(targets, scores).value == 3.5 / 4


def test_soft_targets_are_halved_and_one_half_is_left_out() -> None:
    targets, scores = np.array([0.5, 0.49, 0.9, 0.0]), np.array([0.5, 0.5, 0.1, 0.1])
    assert measure.confusion(targets, scores) == Confusion(tp=0, fp=1, fn=1, tn=1)


def test_missing_targets_and_scores_are_left_out() -> None:
    targets, scores = np.array([1.0, NAN, 0.0, 1.0]), np.array([0.9, 0.9, 0.1, NAN])
    assert measure.confusion(targets, scores) == Confusion(tp=1, fp=0, fn=0, tn=1)
    assert measure.auc(targets, scores).value == 1.0


def test_no_predicted_positive_is_said_not_zeroed() -> None:
    c = Confusion(tp=0, fp=0, fn=3, tn=5)
    assert math.isnan(measure.precision(c).value)
    assert measure.precision(c).flags == ("no_predicted_positive",)
    assert measure.f1(c) == measure.Measured(0.0, ("no_predicted_positive",))
    assert measure.recall(c).value == 0.0


def test_one_class_is_said() -> None:
    negatives = Confusion(tp=0, fp=2, fn=0, tn=8)
    assert measure.accuracy(negatives) == measure.Measured(0.8)
    assert math.isnan(measure.recall(negatives).value)
    assert "no_positive" in measure.f1(negatives).flags
    positives = Confusion(tp=4, fp=0, fn=1, tn=0)
    assert measure.recall(positives) == measure.Measured(0.8, ("one_class",))
    for c in (negatives, positives):
        for of in (measure.macro_f1, measure.weighted_f1, measure.hard_auc):
            assert math.isnan(of(c).value)
            assert of(c).flags == ("one_class",)


def test_nothing_to_measure_is_said() -> None:
    none = np.array([NAN, NAN])
    c = measure.confusion(none, none)
    for measured in (
        measure.accuracy(c),
        measure.precision(c),
        measure.f1(c),
        measure.macro_f1(c),
        measure.hard_brier(c),
        measure.auc(none, none),
    ):
        assert math.isnan(measured.value)
        assert measured.flags == ("no_texts",)


def test_weighted_precision_is_scikit_learns() -> None:
    c = Confusion(tp=30, fp=5, fn=10, tn=55)
    truth, predicted = [1] * 40 + [0] * 60, [1] * 30 + [0] * 10 + [1] * 5 + [0] * 55
    expected = metrics.precision_score(truth, predicted, average="weighted")
    assert measure.weighted_precision(c).value == pytest.approx(expected)
    # A class that is never predicted has no precision, and so has the mean.
    assert measure.weighted_precision(Confusion(4, 6, 0, 0)).flags == ("one_prediction",)


def test_mcc_is_scikit_learns() -> None:
    c = Confusion(tp=30, fp=5, fn=10, tn=55)
    truth = [1] * 40 + [0] * 60
    predicted = [1] * 30 + [0] * 10 + [1] * 5 + [0] * 55
    assert measure.mcc(c).value == pytest.approx(metrics.matthews_corrcoef(truth, predicted))


@pytest.mark.parametrize(
    ("c", "flags"),
    [
        (Confusion(0, 0, 0, 0), ("no_texts",)),
        (Confusion(3, 0, 1, 0), ("one_class",)),
        (Confusion(0, 0, 2, 3), ("one_prediction",)),
        (Confusion(2, 3, 0, 0), ("one_prediction",)),
    ],
)
def test_mcc_is_unknown_where_a_class_or_a_prediction_never_occurs(
    c: Confusion, flags: tuple[str, ...]
) -> None:
    found = measure.mcc(c)
    assert np.isnan(found.value)
    assert found.flags == flags
