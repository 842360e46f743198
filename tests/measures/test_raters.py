"""Agreement between raters: published values, Fleiss' kappa of statsmodels, and how often intervals cover."""

import math

import numpy as np
import pytest
from statsmodels.stats.inter_rater import aggregate_raters, fleiss_kappa

from psycheck.measures.clustered import Clusters
from psycheck.measures.raters import alpha_interval, krippendorff_alpha, majority_share

NAN = math.nan


def test_the_published_example_of_two_observers() -> None:
    # Krippendorff (2011), Computing Krippendorff's Alpha-Reliability, section A: 0.095.
    meg, owen = [0, 1, 0, 0, 0, 0, 0, 0, 0, 0], [1, 1, 1, 0, 0, 1, 0, 1, 0, 0]
    assert krippendorff_alpha(np.column_stack([meg, owen]))[0] == pytest.approx(0.095, abs=5e-4)


def test_without_gaps_it_is_fleiss_kappa_corrected_for_few_votes() -> None:
    votes = np.random.default_rng(1).random((60, 4)) < np.linspace(0.1, 0.9, 60)[:, None]
    kappa = fleiss_kappa(aggregate_raters(votes.astype(int))[0])
    assert krippendorff_alpha(votes)[0] == pytest.approx(1 - (1 - kappa) * (240 - 1) / 240)


def test_a_text_with_one_vote_says_nothing_about_agreement() -> None:
    votes = np.array([[1, 1, NAN], [0, NAN, 0], [1, 0, 1], [NAN, 1, NAN], [NAN, NAN, NAN]])
    # Three texts count, 7 votes: 4 of 1, 3 of 0. Do = 2·2·1/2 / 7, De = 2·4·3 / (7·6).
    value, influence = krippendorff_alpha(votes)
    assert value == pytest.approx(1 - (2 / 7) / (24 / 42))
    assert influence[3:].tolist() == [0, 0]
    np.testing.assert_allclose(majority_share(votes), np.array([1, 1, 2 / 3, 1, NAN]))


def test_unanimous_votes_have_no_alpha_and_no_interval() -> None:
    assert math.isnan(krippendorff_alpha(np.ones((30, 3)))[0])
    assert np.isnan(alpha_interval(np.ones((30, 3)), Clusters.single(30))).all()


def test_the_influence_of_a_text_is_what_leaving_it_out_changes() -> None:
    votes = (np.random.default_rng(2).random((400, 3)) < 0.3).astype(float)
    value, influence = krippendorff_alpha(votes)
    without = [krippendorff_alpha(np.delete(votes, i, axis=0))[0] for i in range(20)]
    np.testing.assert_allclose(influence[:20], value - np.array(without), atol=2e-4)


def test_intervals_cover_the_alpha_of_all_texts() -> None:
    random = np.random.default_rng(3)
    # Three raters see a hidden label, each wrong in 15 %: the agreement of a large population is the truth.
    hidden = random.random(100_000) < 0.3
    votes = np.where(random.random((100_000, 3)) < 0.15, ~hidden[:, None], hidden[:, None]).astype(float)
    truth = krippendorff_alpha(votes)[0]
    draws = [votes[random.integers(0, len(votes), 150)] for _ in range(400)]
    ends = np.array([alpha_interval(drawn, Clusters.single(150)) for drawn in draws])
    assert np.mean((ends[:, 0] <= truth) & (truth <= ends[:, 1])) >= 0.93
    # Ten copies of each text are one text: as unknown as before.
    single = alpha_interval(draws[0], Clusters.single(150))
    copied = alpha_interval(np.repeat(draws[0], 10, axis=0), Clusters.of(np.repeat(np.arange(150), 10)))
    np.testing.assert_allclose(copied, single, atol=0.02)
