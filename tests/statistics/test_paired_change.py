"""Whether a figure is worse than before by more than a tolerance."""

import numpy as np
import pytest
from scipy import stats
from sklearn.metrics import (
    accuracy_score,
    average_precision_score,
    balanced_accuracy_score,
    f1_score,
    precision_score,
    recall_score,
    roc_auc_score,
)

from psycheck.statistics.clustered import Clusters
from psycheck.statistics.paired_change import (
    LABEL_FIGURES,
    label_estimate,
    mean_estimate,
    paired_change,
    share_estimate,
)

RIGHT = np.ones(100)


def _with_errors(count: int) -> np.ndarray:
    right = RIGHT.copy()
    right[:count] = 0
    return right


def test_lost_answers_are_judged_by_the_sign_test() -> None:
    # Six texts are newly wrong and none is newly right: 1 / 2^6 by the sign test. Student's test is smaller.
    now = share_estimate(_with_errors(6))
    change = paired_change(share_estimate(RIGHT), now, Clusters.single(100))
    assert (change.before, change.now) == (1.0, 0.94)
    assert change.loss == pytest.approx(0.06)
    assert change.p_worse == pytest.approx(1 / 64)


def test_a_tolerance_makes_the_same_loss_acceptable() -> None:
    now = share_estimate(_with_errors(6))
    change = paired_change(share_estimate(RIGHT), now, Clusters.single(100), tolerance=0.05)
    # Student alone: (0.06 − 0.05) over the standard error of a share of 6 %.
    assert change.p_worse > stats.t.sf(0.01 / np.sqrt(0.06 * 0.94 / 99), 99)
    assert change.p_worse > 0.3


def test_the_same_answers_are_no_loss() -> None:
    same = share_estimate(_with_errors(6))
    change = paired_change(same, same, Clusters.single(100))
    assert (change.loss, change.p_worse) == (0.0, 1.0)


def test_a_gain_is_never_a_loss() -> None:
    change = paired_change(share_estimate(_with_errors(50)), share_estimate(RIGHT), Clusters.single(100))
    assert (change.loss, change.p_worse) == (-0.5, 1.0)


def test_a_figure_that_should_be_small_is_worse_when_it_grows() -> None:
    errors_before = np.zeros(100)
    errors_now = np.r_[np.ones(6), np.zeros(94)]
    change = paired_change(
        mean_estimate(errors_before), mean_estimate(errors_now), Clusters.single(100), larger_is_better=False
    )
    assert change.loss == pytest.approx(0.06)
    assert change.p_worse == pytest.approx(1 / 2**6)


def test_losses_of_a_single_author_prove_nothing() -> None:
    clusters = Clusters.of(np.arange(100) // 10)
    change = paired_change(share_estimate(RIGHT), share_estimate(_with_errors(10)), clusters)
    assert change.p_worse == 0.5
    assert change.units == 10


def test_without_annotations_of_both_classes_nothing_is_claimed() -> None:
    positive = np.ones(20, bool)
    figure = label_estimate("auc", positive, np.linspace(0, 1, 20), positive)
    change = paired_change(figure, figure, Clusters.single(20))
    assert np.isnan(change.p_worse)


REFERENCES = {
    "accuracy": lambda y, s, d: accuracy_score(y, d),
    "precision": lambda y, s, d: precision_score(y, d),
    "recall": lambda y, s, d: recall_score(y, d),
    "f1": lambda y, s, d: f1_score(y, d),
    "macro_f1": lambda y, s, d: f1_score(y, d, average="macro"),
    "hard_auc": lambda y, s, d: balanced_accuracy_score(y, d),
    "auc": lambda y, s, d: roc_auc_score(y, s),
    "average_precision": lambda y, s, d: average_precision_score(y, s),
}


@pytest.mark.parametrize("name", LABEL_FIGURES)
def test_figures_and_influences_agree_with_leaving_texts_out(name: str) -> None:
    random = np.random.default_rng(5)
    positive = random.random(400) < 0.3
    scores = np.clip(0.3 * positive + random.random(400) * 0.7, 0, 1)
    decided = scores >= 0.5
    figure = label_estimate(name, positive, scores, decided)
    assert figure.value == pytest.approx(REFERENCES[name](positive, scores, decided))
    assert figure.influence.sum() == pytest.approx(0.0, abs=1e-9)

    without = np.arange(400) != 7
    left_out = REFERENCES[name](positive[without], scores[without], decided[without])
    assert figure.value - left_out == pytest.approx(figure.influence[7], abs=2e-4)
