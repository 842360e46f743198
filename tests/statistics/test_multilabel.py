import math

import numpy as np
import pytest
from sklearn import metrics
from statsmodels.stats.proportion import proportion_confint

from psycheck.statistics.clustered import Clusters
from psycheck.statistics.label_intervals import classification_intervals
from psycheck.statistics.multilabel import combinations, label_figures

NAN = math.nan
LABELS = ("depression", "anxiety")


def drawn(n: int, seed: int = 0) -> tuple[np.ndarray, np.ndarray]:
    """Annotations of three labels of different shares, and predictions that are often right, (n, 3)."""
    random = np.random.default_rng(seed)
    yes = random.random((n, 3)) < (0.5, 0.3, 0.15)
    return yes, np.where(random.random((n, 3)) < 0.75, yes, ~yes)


def test_figures_over_labels_are_scikit_learns() -> None:
    yes, called = drawn(300)
    found = label_figures(yes, called, np.ones_like(yes), Clusters.of(range(300)))
    values = {name: value.value for name, (value, _, _) in found.items()}
    assert values["hamming"] == pytest.approx(metrics.hamming_loss(yes, called))
    assert values["exact_match"] == pytest.approx(metrics.accuracy_score(yes, called))
    assert values["macro_f1_across_labels"] == pytest.approx(metrics.f1_score(yes, called, average="macro"))
    weighted = metrics.precision_recall_fscore_support(yes, called, average="weighted")
    for name, expected in zip(("precision", "recall", "f1"), weighted, strict=False):
        assert values[f"weighted_{name}_across_labels"] == pytest.approx(expected)


def test_a_mean_over_labels_rests_on_the_texts_that_enter_it() -> None:
    # 20 of 400 texts are called, all rightly: as certain as 20 of 20, not as 400 of 400.
    yes = np.zeros((400, 2), np.bool_)
    yes[:20, 0] = yes[10:40, 1] = True
    called = np.zeros_like(yes)
    called[:8, 0] = called[28:40, 1] = True
    figures = label_figures(yes, called, np.ones_like(yes), Clusters.single(400))
    value, _, interval = figures["weighted_precision_across_labels"]
    assert value.value == 1
    low, high = proportion_confint(20, 20, method="wilson")
    assert interval[0] == pytest.approx(low, abs=0.03)  # Student's quantile for 20
    assert interval[0] < low
    assert interval[1] == pytest.approx(high)


def test_the_weighted_precision_of_rare_labels_is_covered() -> None:
    random = np.random.default_rng(6)
    share = np.array([0.3, 0.1])
    precision = 0.9 / (0.9 + (1 - share) * 0.05)
    truth = float(precision @ share / share.sum())
    covered = []
    for _ in range(300):
        yes = random.random((100, 2)) < share
        called = random.random((100, 2)) < np.where(yes, 0.9, 0.05 * share)
        figures = label_figures(yes, called, np.ones_like(yes), Clusters.single(100))
        low, high = figures["weighted_precision_across_labels"][2]
        if not math.isnan(low):
            covered.append(low <= truth <= high)
    assert np.mean(covered) >= 0.92  # as if all 100 texts were called: 0.78


def test_intervals_are_as_wide_as_the_bootstrap() -> None:
    yes, called = drawn(400)
    found = label_figures(yes, called, np.ones_like(yes), Clusters.of(range(400)))
    random = np.random.default_rng(1)
    again = [random.integers(0, 400, 400) for _ in range(400)]
    ones = np.ones_like(yes)
    draws = [label_figures(yes[at], called[at], ones, Clusters.of(range(400))) for at in again]
    for name, (_, _, (low, high)) in found.items():
        spread = np.ptp(np.quantile([one[name][0].value for one in draws], (0.025, 0.975)))
        assert high - low == pytest.approx(spread, rel=0.15), name


def test_weighted_precision_has_an_interval_as_wide_as_the_bootstrap() -> None:
    yes, called = (marks[:, 1].astype(float) for marks in drawn(400))
    low, high = classification_intervals(yes, called, Clusters.of(range(400)))["weighted_precision"]
    random = np.random.default_rng(1)
    draws = []
    for _ in range(1_000):
        at = random.integers(0, 400, 400)
        draws.append(metrics.precision_score(yes[at], called[at], average="weighted"))
    assert high - low == pytest.approx(np.ptp(np.quantile(draws, (0.025, 0.975))), rel=0.15)


def test_unknown_marks_are_left_out() -> None:
    yes = np.array([[True, False], [False, True], [True, True]])
    called = np.array([[True, True], [False, True], [False, False]])
    known = np.array([[True, True], [True, True], [True, False]])
    found = label_figures(yes, called, known, Clusters.of(range(3)))
    assert (found["hamming"][0].value, found["hamming"][1]) == (2 / 5, 5)
    # The third text is not answered for both labels: of the first two, one is right throughout.
    assert (found["exact_match"][0].value, found["exact_match"][1]) == (0.5, 2)
    # Depression: 1 of 2 found, none called wrongly; anxiety: its one text found, one called wrongly.
    assert found["weighted_recall_across_labels"][0].value == pytest.approx(2 / 3)
    assert found["weighted_precision_across_labels"][0].value == pytest.approx((2 * 1 + 1 * 0.5) / 3)


def test_nothing_and_labels_without_positive_are_said() -> None:
    no = np.zeros((4, 2), bool)
    found = label_figures(no, no, no, Clusters.of(range(4)))
    assert found["hamming"][0].flags == ("no_texts",)
    assert found["weighted_f1_across_labels"][0].flags == ("labels_without_positive",)
    assert all(math.isnan(value.value) for value, _, _ in found.values())
    yes = np.array([[True, False]] * 4)
    flags = label_figures(yes, no, ~no, Clusters.of(range(4)))["weighted_precision_across_labels"][0].flags
    assert flags == ("labels_without_positive", "no_predicted_positive")


def test_combinations_are_classes_of_their_own() -> None:
    targets = np.array([[0.0, 0.0], [1.0, 0.0], [1.0, 1.0], [0.5, 1.0], [0.0, NAN]])
    decided = np.array([[0.0, 0.0], [1.0, 1.0], [1.0, 1.0], [0.0, 1.0], [0.0, 0.0]])
    found = combinations(targets, decided, LABELS)
    assert list(found) == ["none", "depression", "anxiety", "depression + anxiety"]
    both, predicted = found["depression + anxiety"]
    # A soft label of 0.5 and a missing one leave the class open.
    np.testing.assert_array_equal(both, [0, 0, 1, NAN, NAN])
    np.testing.assert_array_equal(predicted, [0, 1, 1, 0, 0])
    # Of three labels only what is annotated is listed.
    three = combinations(np.eye(3), np.eye(3), ("a", "b", "c"))
    assert list(three) == ["a", "b", "c"]
