"""Cohen's kappa against scikit-learn, its influence values against leaving texts out, its interval."""

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from sklearn.metrics import cohen_kappa_score
from statsmodels.stats.inter_rater import cohens_kappa

from psycheck.statistics.clustered import Clusters
from psycheck.statistics.model_agreement import cohen_kappa, kappa_interval

DECISIONS = st.lists(st.tuples(st.booleans(), st.booleans()), min_size=2, max_size=60)


@given(DECISIONS)
def test_kappa_agrees_with_scikit_learn(pairs: list[tuple[bool, bool]]) -> None:
    first, second = np.array(pairs).T
    value, influence = cohen_kappa(first, second)
    if len({one for pair in pairs for one in pair}) == 1:
        assert math.isnan(value)
    else:
        assert value == pytest.approx(cohen_kappa_score(first, second))
        assert influence.sum() == pytest.approx(0, abs=1e-9)


def test_kappa_by_hand() -> None:
    # 20 and 15 texts alike, 5 and 10 apart: agreement 0.7, by chance 0.5 (Cohen 1960, form of the example).
    first = np.repeat([1, 1, 0, 0], [20, 5, 10, 15])
    second = np.repeat([1, 0, 1, 0], [20, 5, 10, 15])
    assert cohen_kappa(first, second)[0] == pytest.approx(0.4)


def test_the_influence_of_texts_gives_the_variance_of_statsmodels() -> None:
    random = np.random.default_rng(4)
    first = random.random(4000) < 0.3
    second = np.where(random.random(4000) < 0.8, first, ~first)
    table = [[np.sum((first == a) & (second == b)) for b in (0, 1)] for a in (0, 1)]
    _, influence = cohen_kappa(first, second)
    assert np.sum(influence**2) == pytest.approx(cohens_kappa(np.array(table)).var_kappa, rel=0.01)


def test_equal_models_have_an_interval_with_a_width_that_ends_at_1() -> None:
    decided = np.arange(100) % 2
    low, high = kappa_interval(decided, decided, Clusters.single(100))
    assert 0.8 < low < 1.0 == high


def test_texts_of_few_authors_widen_the_interval() -> None:
    random = np.random.default_rng(0)
    author = np.repeat(np.arange(30), 20)
    trait = random.normal(size=30)[author]
    first, second = (trait + random.normal(size=(2, 600)) * 0.7) > 0
    alone, alike = (kappa_interval(first, second, c) for c in (Clusters.single(600), Clusters.of(author)))
    assert alike[1] - alike[0] > 1.2 * (alone[1] - alone[0])


def test_no_interval_below_15_clusters_and_shapes_must_fit() -> None:
    decided = np.arange(14) % 2
    assert all(map(math.isnan, kappa_interval(decided, 1 - decided, Clusters.single(14))))
    with pytest.raises(ValueError, match="equal shapes"):
        cohen_kappa([1, 0], [1])
