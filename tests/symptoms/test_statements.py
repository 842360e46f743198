"""How much a sentence counts as evidence of a symptom, and when a symptom may be named."""

from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from psycheck.symptoms.statements import (
    NAMED,
    OTHER,
    STATUSES,
    Tags,
    from_thresholds,
    read_naming,
    thresholds_of,
    weighted,
)

TAGS = Tags(
    relevance=np.array([[0.8, 0.5], [0.8, 0.5]]),
    present=np.full((2, 2), np.nan),
    uncertain=np.array([0.25, np.nan]),
    status=np.zeros((2, 2), np.int8),
    own=np.array([True, False]),
    thresholds=np.array([0.5, 0.5]),
)


def test_formula_one_multiplies_relevance_status_and_subject() -> None:
    assert weighted(TAGS) == pytest.approx(np.array([[0.8 * 0.75 * 0.9, 0.3375], [0.08, 0.05]]))
    assert weighted(TAGS, subject=False) == pytest.approx(np.array([[0.6, 0.375], [0.8, 0.5]]))
    assert weighted(TAGS, status=False) == pytest.approx(np.array([[0.72, 0.45], [0.08, 0.05]]))
    assert weighted(TAGS, status=False, subject=False) == pytest.approx(TAGS.relevance)


def test_a_model_that_knows_what_is_present_in_the_writer_gives_its_probability() -> None:
    tags = replace(TAGS, present=np.array([[0.7, np.nan], [0.1, np.nan]]))
    assert weighted(tags) == pytest.approx(np.array([[0.7, 0.3375], [0.1, 0.05]]))
    assert weighted(tags, subject=False) == pytest.approx(np.array([[0.6, 0.375], [0.8, 0.5]]))


def test_what_the_text_denies_counts_a_tenth_unless_the_status_is_switched_off() -> None:
    denied = np.full((2, 2), STATUSES.index("denied"), np.int8)
    tags = replace(TAGS, status=denied)
    assert weighted(tags) == pytest.approx(np.array([[0.054, 0.03375], [0.008, 0.005]]))
    assert weighted(tags, status=False) == pytest.approx(np.array([[0.72, 0.45], [0.08, 0.05]]))
    # A model of what is present is told by the text, too.
    present = np.full((2, 2), 0.7)
    assert weighted(replace(tags, present=present)) == pytest.approx(np.full((2, 2), 0.07))


def test_what_the_text_says_of_others_counts_a_tenth_of_what_is_present() -> None:
    tags = replace(TAGS, present=np.full((2, 2), 0.7), status=np.full((2, 2), OTHER, np.int8))
    assert weighted(tags) == pytest.approx(np.full((2, 2), 0.07))
    # The formula has a factor of its own for others: it is not applied twice.
    assert weighted(replace(tags, present=TAGS.present))[0, 0] == pytest.approx(0.8 * 0.75 * 0.9)


def test_the_threshold_of_a_symptom_becomes_one_half() -> None:
    probabilities = np.array([[0.8, 0.8], [0.9, 0.3]])
    moved = from_thresholds(probabilities, np.array([0.8, np.nan]))
    # Odds of 9 against odds of 4 at the threshold: 9/4, a probability of 9/13.
    assert moved[:, 0] == pytest.approx([0.5, 9 / 13])
    # Without a threshold a symptom is never named, however sure the model is.
    assert moved[:, 1] == pytest.approx([0.49, 0.3])


@given(
    p=st.floats(0, 1, allow_subnormal=False),
    q=st.floats(0, 1, allow_subnormal=False),
    threshold=st.floats(0.01, 0.99),
)
def test_moving_keeps_the_order_and_who_is_named(p: float, q: float, threshold: float) -> None:
    moved = from_thresholds(np.array([[p], [q]]), np.array([threshold]))[:, 0]
    assert ((moved >= 0) & (moved <= 1)).all()
    assert p > q or moved[0] <= moved[1] + 1e-12
    if abs(p - threshold) > 1e-9:
        assert (moved[0] >= NAMED) == (p >= threshold)


def test_a_card_says_what_may_be_named(tmp_path: Path) -> None:
    card = tmp_path / "card.toml"
    card.write_text(
        "[thresholds]\nlow = 0.7\n"
        '[measured]\nprecision = 0.8\nrecall = 0.6\nsentences = 200\nsource = "sentences of posts"\n'
    )
    naming = read_naming(card)
    assert naming is not None
    assert (naming.precision, naming.recall, naming.sentences) == (0.8, 0.6, 200)
    thresholds = thresholds_of(naming, ["low", "tired"])
    assert thresholds[0] == 0.7
    assert np.isnan(thresholds[1])
    assert thresholds_of(None, ["low", "tired"]).tolist() == [0.5, 0.5]
