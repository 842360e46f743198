"""The threshold chosen on dev, by hand and against scikit-learn."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn.metrics import f1_score

from psycheck.statistics.thresholds import best_threshold


def test_the_cut_lies_midway_between_the_scores_that_it_parts() -> None:
    targets = np.array([0.0, 0.0, 1.0, 1.0])
    scores = np.array([0.1, 0.6, 0.7, 0.9])
    assert best_threshold(targets, scores) == pytest.approx(0.65)


def test_of_equal_cuts_the_nearest_to_a_half_is_taken() -> None:
    assert best_threshold(np.array([0.0, 1.0]), np.array([0.1, 0.95])) == 0.5
    # Both cuts leave one text wrong: 0.2 finds both positives, 0.75 spares both negatives.
    targets, scores = np.array([0.0, 1.0, 0.0, 1.0]), np.array([0.1, 0.3, 0.6, 0.9])
    assert best_threshold(targets, scores) == pytest.approx(0.75)


def test_what_is_not_annotated_or_not_answered_has_no_say() -> None:
    targets = np.array([0.0, 0.0, 1.0, 1.0, np.nan, 1.0])
    scores = np.array([0.1, 0.6, 0.7, 0.9, 0.2, np.nan])
    assert best_threshold(targets, scores) == pytest.approx(0.65)


def test_a_label_of_one_half_has_no_say() -> None:
    targets = np.array([0.0, 0.0, 1.0, 1.0, 0.5, 0.5, 0.5])
    scores = np.array([0.1, 0.6, 0.7, 0.9, 0.2, 0.2, 0.2])
    assert best_threshold(targets, scores) == pytest.approx(0.65)


def test_one_class_leaves_a_half() -> None:
    assert best_threshold(np.ones(3), np.array([0.1, 0.2, 0.3])) == 0.5
    assert best_threshold(np.zeros(0), np.zeros(0)) == 0.5


@settings(max_examples=25, deadline=None)
@given(
    st.lists(st.tuples(st.booleans(), st.integers(0, 20)), min_size=2, max_size=25).filter(
        lambda rows: 0 < sum(yes for yes, _ in rows) < len(rows)
    )
)
def test_no_other_cut_has_a_higher_macro_f1(rows: list[tuple[bool, int]]) -> None:
    targets = np.array([float(yes) for yes, _ in rows])
    scores = np.array([score / 20 for _, score in rows])

    def macro(cut: float) -> float:
        return float(f1_score(targets, scores >= cut, average="macro", zero_division=0))

    found = macro(best_threshold(targets, scores))
    assert found == pytest.approx(max(macro(cut) for cut in {*scores.tolist(), 1.1}))
