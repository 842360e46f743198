"""Labels that do not fit the symptoms: evidence and scores worked out by hand."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from sklearn.metrics import roc_auc_score

from psycheck.knowledge.explain import Explaining
from psycheck.knowledge.suspects import PRIOR, UNLABELLED, WITHOUT, evidence_of, rank_suspects
from tagged import GRAPH, posts_of


def test_evidence_is_the_mean_weight_and_shared_symptoms_count_less() -> None:
    rows = [
        ("1", "a", None, (0.8, 0.0, 0.4)),
        ("2", "a", None, (0.0, 0.6, 0.0)),
        ("3", "b", None, (0.0, 0.0, 0.0)),
    ]
    found = evidence_of(posts_of(rows), GRAPH, Explaining())
    # 0.4 is below the threshold. Means over the three posts of both authors: 0.8 / 3 and 0.6 / 3.
    low, tired = ((total + PRIOR * total / 3) / (2 + PRIOR) for total in (0.8, 0.6))
    assert found["gloom"][0] == pytest.approx((low + tired / 2) / 1.5)
    assert found["dread"][0] == pytest.approx((tired / 2) / 1.5)
    assert 0 < found["gloom"][1] < found["gloom"][0]


def test_a_single_post_tells_less_than_many() -> None:
    rows = [("0", "one", None, (1.0, 0, 0)), *((str(k), "ten", None, (1.0, 0, 0)) for k in range(1, 11))]
    rows += [(str(k), "none", None, (0.0, 0, 0)) for k in range(11, 30)]
    one, ten, none = evidence_of(posts_of(rows), GRAPH, Explaining())["gloom"]
    assert ten > one > none


def test_scores_are_the_share_of_the_other_side_that_fits_as_well() -> None:
    evidence = {"gloom": np.array([0.1, 0.5, 0.6, 0.0, 0.2, 0.55])}
    labels = {"gloom": np.array([1.0, 1, 1, 0, 0, 0])}
    ranked = rank_suspects(list("abcdef"), evidence, labels)
    scores = dict(ranked.select("author", "score").rows())
    # a: 0.2 and 0.55 of three are at least 0.1; f: 0.1 and 0.5 of three are at most 0.55.
    assert scores["a"] == scores["f"] == pytest.approx(2.5 / 4)
    assert scores["c"] == scores["d"] == pytest.approx(0.5 / 4)
    assert ranked["rank"].to_list() == [1, 2, 3, 4, 5, 6]
    kinds = dict(ranked.select("author", "kind").rows())
    assert (kinds["a"], kinds["f"]) == (WITHOUT, UNLABELLED)


def test_what_nobody_annotated_or_decided_is_no_suspect() -> None:
    ranked = rank_suspects(["a", "b"], {"gloom": np.array([0.1, 0.9])}, {"gloom": np.array([np.nan, 0.5])})
    assert ranked.is_empty()
    assert {"author", "label", "annotated", "kind", "score", "evidence", "rank"} == set(ranked.columns)


def test_with_one_side_alone_no_score_is_extreme_and_the_least_evidence_comes_first() -> None:
    ranked = rank_suspects(list("abc"), {"gloom": np.array([0.5, 0.0, 0.2])}, {"gloom": np.ones(3)})
    assert ranked["score"].to_list() == [0.5, 0.5, 0.5]
    assert ranked["author"].to_list() == ["b", "c", "a"]


@given(
    st.lists(st.tuples(st.integers(0, 20), st.sampled_from([0.0, 1.0])), min_size=2, max_size=40).filter(
        lambda rows: len({label for _, label in rows}) == 2
    )
)
def test_the_mean_score_of_a_side_is_one_minus_auc(rows: list[tuple[int, float]]) -> None:
    evidence, labels = np.array([row[0] for row in rows]) / 20, np.array([row[1] for row in rows])
    ranked = rank_suspects([str(k) for k in range(len(rows))], {"gloom": evidence}, {"gloom": labels})
    ones, zeros = int(labels.sum()), int((1 - labels).sum())
    same = np.mean([[a == b for b in evidence[labels == 0]] for a in evidence[labels == 1]])
    expected = 1 - roc_auc_score(labels, evidence) + same / 2  # ties fit the other side
    for side, others in ((1, zeros), (0, ones)):
        mean = ranked.filter(annotated=side)["score"].mean()
        assert mean == pytest.approx((expected * others + 0.5) / (others + 1))
