import math

import numpy as np
import pytest
from sklearn.metrics import brier_score_loss, f1_score, log_loss, roc_auc_score

from psycheck.training.dev_figures import figures, format_figure


def test_one_label_agrees_with_scikit_learn() -> None:
    draw = np.random.default_rng(1)
    y = draw.integers(0, 2, 60).astype(float)
    p = np.clip(y * 0.3 + draw.random(60) * 0.7, 0, 1)
    found = figures(y[:, None], p[:, None], ("low",))
    assert found["auc"] == pytest.approx(roc_auc_score(y, p))
    assert found["brier"] == pytest.approx(brier_score_loss(y, p))
    assert found["loss"] == pytest.approx(log_loss(y, p))
    assert found["macro_f1"] == pytest.approx(f1_score(y, p >= 0.5, average="macro"))
    assert found["n"] == 60


def test_several_labels_are_averaged_over_what_is_annotated() -> None:
    targets = np.array([[1, np.nan], [0, 1], [1, 0]])
    scores = np.array([[0.9, 0.9], [0.2, 0.8], [0.3, 0.6]])
    found = figures(targets, scores, ("low", "worry"))
    # low: 1 hit, 1 miss, 1 right no -> accuracy 2/3, F1 2/3; worry: 1 hit, 1 false alarm -> 1/2, 2/3.
    assert found["accuracy:low"] == pytest.approx(2 / 3)
    assert found["accuracy:worry"] == 0.5
    assert found["accuracy"] == pytest.approx(7 / 12)
    assert found["f1"] == pytest.approx(2 / 3)


def test_one_class_has_no_auc() -> None:
    found = figures(np.array([[1.0], [1.0]]), np.array([[0.9], [0.2]]), ("low",))
    assert math.isnan(found["auc"])
    assert found["recall"] == 0.5


def test_what_cannot_be_computed_is_nan_as_in_an_audit_and_says_why() -> None:
    none_decided = figures(np.array([[1.0], [0.0]]), np.array([[0.4], [0.2]]), ("low",))
    assert math.isnan(none_decided["precision"])
    assert (none_decided["recall"], none_decided["f1"]) == (0.0, 0.0)
    assert format_figure(none_decided, "precision") == "– (no text scores 0.5 or more)"
    none_annotated = figures(np.array([[0.0], [0.0]]), np.array([[0.9], [0.2]]), ("low",))
    assert (
        format_figure(none_annotated, "recall")
        == format_figure(none_annotated, "f1")
        == "– (no text is annotated 1)"
    )
    assert format_figure(none_annotated, "precision") == "0.000"  # one alarm, and it is false
    all_annotated = figures(np.array([[1.0], [1.0]]), np.array([[0.9], [0.2]]), ("low",))
    assert (
        format_figure(all_annotated, "macro_f1")
        == format_figure(all_annotated, "auc")
        == "– (all texts are annotated 1)"
    )
    assert format_figure(all_annotated, "n") == "2"


def test_a_label_says_its_own_reason() -> None:
    targets = np.array([[1.0, 0.0], [0.0, 1.0]])
    found = figures(targets, np.array([[0.9, 0.1], [0.1, 0.2]]), ("low", "worry"))
    assert format_figure(found, "precision:worry") == "– (no text scores 0.5 or more)"
    assert (format_figure(found, "precision:low"), format_figure(found, "precision")) == ("1.000", "1.000")
