"""Agreement between raters: published values, Fleiss' kappa of statsmodels, and how often intervals cover."""

import math

import numpy as np
import pytest
from nltk.metrics.agreement import AnnotationTask
from scipy import stats
from statsmodels.stats import inter_rater
from statsmodels.stats.inter_rater import aggregate_raters

from psycheck.statistics.clustered import Clusters
from psycheck.statistics.rater_agreement import (
    Level,
    alpha,
    alpha_interval,
    fleiss_kappa,
    krippendorff_alpha,
    majority_share,
    percent_agreement,
)

NAN = math.nan


def test_the_published_example_of_two_observers() -> None:
    # Krippendorff (2011), Computing Krippendorff's Alpha-Reliability, section A: 0.095.
    meg, owen = [0, 1, 0, 0, 0, 0, 0, 0, 0, 0], [1, 1, 1, 0, 0, 1, 0, 1, 0, 0]
    assert krippendorff_alpha(np.column_stack([meg, owen]))[0] == pytest.approx(0.095, abs=5e-4)


def test_without_gaps_it_is_fleiss_kappa_corrected_for_few_votes() -> None:
    votes = np.random.default_rng(1).random((60, 4)) < np.linspace(0.1, 0.9, 60)[:, None]
    kappa = inter_rater.fleiss_kappa(aggregate_raters(votes.astype(int))[0])
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


# Krippendorff (2011), section C: four observers, twelve units, missing ratings.
OBSERVERS = np.array(
    [
        [1, 2, 3, 3, 2, 1, 4, 1, 2, NAN, NAN, NAN],
        [1, 2, 3, 3, 2, 2, 4, 1, 2, 5, NAN, 3],
        [NAN, 3, 3, 3, 2, 3, 4, 2, 2, 5, 1, NAN],
        [1, 2, 3, 3, 2, 4, 4, 1, 2, 5, 1, NAN],
    ]
).T


@pytest.mark.parametrize(
    ("level", "published"), [("nominal", 0.743), ("ordinal", 0.815), ("interval", 0.849)]
)
def test_the_published_example_with_missing_ratings(level: Level, published: float) -> None:
    found = alpha(OBSERVERS, level)
    assert found.value == pytest.approx(published, abs=5e-4)
    assert found.n == 11  # one unit was rated once
    assert np.isnan(found.interval).all()  # too few units


def test_alpha_is_that_of_nltk_without_and_with_gaps() -> None:
    random = np.random.default_rng(6)
    votes = np.where(
        random.random((40, 3)) < 0.3, random.integers(0, 3, (40, 3)), random.integers(0, 3, (40, 1))
    )
    for gaps in (0.0, 0.2):
        ratings = np.where(random.random(votes.shape) < gaps, np.nan, votes)
        given = [(f"r{r}", str(i), int(ratings[i, r])) for i, r in np.argwhere(~np.isnan(ratings))]
        assert alpha(ratings).value == pytest.approx(AnnotationTask(data=given).alpha())


def test_fleiss_kappa_and_agreement_are_those_of_statsmodels() -> None:
    random = np.random.default_rng(7)
    votes = np.where(
        random.random((80, 4)) < 0.4, random.integers(0, 3, (80, 4)), random.integers(0, 3, (80, 1))
    )
    table = aggregate_raters(votes)[0]
    assert fleiss_kappa(votes).value == pytest.approx(inter_rater.fleiss_kappa(table))
    # By hand: 3 of 3, 1 of 3 and 1 of 1 pairs are the same; the single rating has no pair.
    ratings = np.array([[1, 1, 1], [0, 1, 1], [0, 0, NAN], [1, NAN, NAN]])
    assert percent_agreement(ratings).value == pytest.approx((1 + 1 / 3 + 1) / 3)


@pytest.mark.parametrize("figure", [alpha, fleiss_kappa, percent_agreement])
def test_the_bootstrap_covers_where_it_gives_an_interval(figure: object) -> None:
    assert callable(figure)
    random = np.random.default_rng(8)
    hidden = random.random(100_000) < 0.2
    votes = np.where(random.random((100_000, 3)) < 0.1, ~hidden[:, None], hidden[:, None]).astype(float)
    truth = figure(votes).value
    ends = np.array([figure(votes[random.integers(0, len(votes), 150)]).interval for _ in range(300)])
    assert np.mean((ends[:, 0] <= truth) & (truth <= ends[:, 1])) >= 0.92  # 95 % less 3 standard errors
    # Ten copies of each text by one author are one text.
    some = votes[:150]
    copied = figure(np.repeat(some, 10, axis=0), clusters=Clusters.of(np.repeat(np.arange(150), 10)))
    np.testing.assert_allclose(copied.interval, figure(some).interval, atol=0.02)


def test_the_interval_of_few_clusters_is_from_leaving_each_out() -> None:
    random = np.random.default_rng(3)
    cluster = np.repeat(np.arange(24), 5)
    trait = random.standard_normal(24)[cluster] + random.standard_normal(120)
    votes = (trait[:, None] + random.standard_normal((120, 3)) > 0).astype(float)
    without = np.array([alpha(votes[cluster != left_out]).value for left_out in range(24)])
    low, high = alpha(votes, clusters=Clusters.of(cluster)).interval
    # The jackknife's error: at least as wide as Student's interval with all degrees of freedom.
    error = math.sqrt(23 / 24 * float(np.sum((without - without.mean()) ** 2)))
    assert high - low >= 2 * stats.t.ppf(0.975, 23) * error * 0.999
    assert high - low <= 3 * stats.t.ppf(0.975, 23) * error


def test_alpha_of_20_unequal_clusters_is_covered() -> None:
    random = np.random.default_rng(4)
    texts = random.standard_normal(50_000)
    truth = alpha((texts[:, None] + random.standard_normal((50_000, 3)) > 0).astype(float)).value
    covered = []
    for _ in range(200):
        sizes = random.lognormal(0, 1, 20)
        cluster = random.choice(20, 150, p=sizes / sizes.sum())
        trait = np.sqrt(0.5) * (random.standard_normal(20)[cluster] + random.standard_normal(150))
        votes = (trait[:, None] + random.standard_normal((150, 3)) > 0).astype(float)
        low, high = alpha(votes, clusters=Clusters.of(cluster)).interval
        if not math.isnan(low):
            covered.append(low <= truth <= high)
    assert len(covered) > 150
    assert np.mean(covered) >= 0.92  # the bootstrap: 0.83 to 0.94


def test_a_rare_rating_gives_no_interval() -> None:
    votes = np.zeros((500, 3))
    votes[:10, 0] = 1
    assert np.isnan(alpha(votes).interval).all()
    assert math.isnan(alpha(np.ones((50, 3))).value)
    assert alpha(np.full((5, 3), NAN)).n == 0
