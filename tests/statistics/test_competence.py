"""Dawid and Skene's model: an independent implementation, planted competence, and what leaves it open."""

import math

import numpy as np
import pytest

from psycheck.statistics.competence import dawid_skene

NAN = math.nan
VOTES = np.array(
    [
        *([1, 1, 1, 1], [1, 1, 0, 1], [0, 0, 1, 0], [0, 0, 0, 1], [1, 1, 1, 0], [0, 1, 0, 0]),
        *([NAN, 0, 0, 1], [1, 0, 1, NAN], [0, 0, 0, 0], [1, 1, NAN, 0], [0, 0, 1, 1], [1, 1, 0, 0]),
    ]
)


def test_it_agrees_with_crowd_kit() -> None:
    # crowd-kit 1.4.2, DawidSkene(n_iter=5000, tol=1e-12), computed once in an environment of its own.
    random = np.random.default_rng(9)
    truth = random.random(60) < 0.4
    wrong = random.random((60, 4)) < np.array([0.15, 0.25, 0.3, 0.35])
    votes = np.where(wrong, ~truth[:, None], truth[:, None]).astype(float)
    votes[random.random(votes.shape) < 0.15] = NAN
    reference = [0.0168, 1, 1, 0.0402, 0.0504, 0.0168, 0.0168, 1, 1, 0.0565, 1, 1, 1, 0.0306, 1, 0.0402]
    np.testing.assert_allclose(dawid_skene(votes).chance[:16], reference, atol=1e-4)


def test_planted_competence_is_found_and_beats_the_majority() -> None:
    random = np.random.default_rng(4)
    truth = random.random(4_000) < 0.3
    sensitivity, specificity = np.array([0.95, 0.9, 0.6, 0.55, 0.6]), np.array([0.97, 0.9, 0.7, 0.65, 0.6])
    right = random.random((4_000, 5)) < np.where(truth[:, None], sensitivity, specificity)
    votes = np.where(right, truth[:, None], ~truth[:, None]).astype(float)
    votes[random.random(votes.shape) < 0.3] = NAN
    found = dawid_skene(votes)
    np.testing.assert_allclose(found.sensitivity, sensitivity, atol=0.06)
    np.testing.assert_allclose(found.specificity, specificity, atol=0.06)
    majority = np.nansum(votes - 0.5, axis=1) > 0
    assert np.mean((found.chance > 0.5) == truth) > np.mean(majority == truth) + 0.05


def test_a_text_without_a_vote_has_the_chance_of_any_text() -> None:
    found = dawid_skene(np.vstack([VOTES, np.full((1, 4), NAN)]))
    assert found.chance[-1] == pytest.approx(found.chance[:-1].mean(), abs=1e-6)
    assert math.isnan(dawid_skene([[1, NAN], [0, NAN], [1, NAN]]).sensitivity[1])
    assert np.isnan(dawid_skene([[NAN, NAN]]).chance).all()


def test_raters_who_always_agree_are_believed() -> None:
    found = dawid_skene([[1, 1, 1]] * 3 + [[0, 0, 0]] * 7)
    np.testing.assert_allclose(found.chance, [1] * 3 + [0] * 7, atol=1e-6)
    assert (found.sensitivity.tolist(), found.specificity.tolist()) == ([1, 1, 1], [1, 1, 1])
