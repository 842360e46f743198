"""Labels that do not fit the symptoms: evidence and scores worked out by hand."""

import numpy as np
import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st
from sklearn.metrics import roc_auc_score

from psycheck.core.arrays import FloatArray
from psycheck.symptoms.suspects import (
    PRIOR,
    UNLABELLED,
    WITHOUT,
    ConditionEvidence,
    evidence_of,
    rank_suspects,
    scored_with_evidence,
    scored_with_words,
)
from tagged import GRAPH, posts_of


def evidence(gloom: list[float], unexplained: list[float] | None = None) -> ConditionEvidence:
    whole = np.array(gloom)[:, None]
    return ConditionEvidence(
        ("gloom",), whole, whole if unexplained is None else np.array(unexplained)[:, None]
    )


def labels(*values: float) -> dict[str, FloatArray]:
    return {"gloom": np.array(values)}


def test_evidence_is_the_mean_weight_and_shared_symptoms_count_less() -> None:
    rows = [
        ("1", "a", None, (0.8, 0.0, 0.0)),
        ("2", "a", None, (0.0, 0.6, 0.0)),
        ("3", "b", None, (0.0, 0.0, 0.0)),
    ]
    found = evidence_of(posts_of(rows), GRAPH, {})
    # Means over the three posts of both authors: 0.8 / 3 and 0.6 / 3; "tired" belongs to two conditions.
    low, tired = ((total + PRIOR * total / 3) / (2 + PRIOR) for total in (0.8, 0.6))
    assert found.conditions == ("gloom", "dread")
    assert found.whole[0] == pytest.approx([(low + tired / 2) / 1.5, (tired / 2) / 1.5])
    assert found.unexplained == pytest.approx(found.whole)


def test_what_an_annotated_condition_explains_is_no_evidence_of_another() -> None:
    rows = [("1", "a", None, (0.8, 0.6, 0.4)), ("2", "b", None, (0.0, 0.0, 0.0))]
    found = evidence_of(posts_of(rows), GRAPH, {"gloom": np.array([1.0, 0.0])})
    # "tired" belongs to gloom, which author a is annotated with: it counts as on average, 0.3.
    fear = (0.4 + PRIOR * 0.2) / (1 + PRIOR)
    assert found.unexplained[0, 1] == pytest.approx((0.3 / 2 + fear) / 1.5)
    assert found.unexplained[1] == pytest.approx(found.whole[1])


def test_a_single_post_tells_less_than_many() -> None:
    rows = [("0", "one", None, (1.0, 0.0, 0.0))]
    rows += [(str(k), "ten", None, (1.0, 0.0, 0.0)) for k in range(1, 11)]
    rows += [(str(k), "none", None, (0.0, 0.0, 0.0)) for k in range(11, 30)]
    one, ten, none = evidence_of(posts_of(rows), GRAPH, {}).whole[:, 0]
    assert ten > one > none


def test_scores_are_the_share_of_the_other_side_that_fits_as_well() -> None:
    ranked = rank_suspects(
        list("abcdef"), evidence([0.1, 0.5, 0.6, 0.0, 0.2, 0.55]), labels(1, 1, 1, 0, 0, 0)
    )
    scores = dict(ranked.select("author", "score").rows())
    # a: 0.2 and 0.55 of three are at least 0.1; f: 0.1 and 0.5 of three are at most 0.55.
    assert scores["a"] == scores["f"] == pytest.approx(2.5 / 4)
    assert scores["c"] == scores["d"] == pytest.approx(0.5 / 4)
    assert ranked["rank"].to_list() == [1, 2, 3, 4, 5, 6]
    kinds = dict(ranked.select("author", "kind").rows())
    assert (kinds["a"], kinds["f"]) == (WITHOUT, UNLABELLED)


def test_only_unexplained_evidence_speaks_against_a_label_of_0() -> None:
    found = evidence([0.5, 0.6, 0.9, 0.9], unexplained=[0.5, 0.6, 0.9, 0.1])
    scores = dict(rank_suspects(list("abcd"), found, labels(1, 1, 0, 0)).select("author", "score").rows())
    assert scores["c"] == pytest.approx(2.5 / 3)
    assert scores["d"] == pytest.approx(0.5 / 3)


def test_of_several_missing_conditions_the_one_that_fits_best_is_suspect() -> None:
    whole = np.array([[0.4, 0.4], [0.4, 0.0], [0.0, 0.2]])
    annotated = {"gloom": np.array([0.0, 1.0, 0.0]), "dread": np.array([0.0, 0.0, 1.0])}
    ranked = rank_suspects(list("abc"), ConditionEvidence(("gloom", "dread"), whole, whole), annotated)
    own = ranked.filter(author="a").select("label", "score").rows()
    # Twice the evidence of those annotated with dread, as much as those annotated with gloom.
    assert own == [("dread", 0.75), ("gloom", None)]
    assert ranked["score"].is_null().to_list() == [False] * 5 + [True]


def test_what_nobody_annotated_or_decided_is_no_suspect() -> None:
    ranked = rank_suspects(["a", "b"], evidence([0.1, 0.9]), labels(np.nan, 0.5))
    assert ranked.is_empty()
    assert set(ranked.columns) == {"author", "label", "annotated", "kind", "score", "evidence", "rank"}
    assert rank_suspects(["a"], evidence([0.1]), {}).is_empty()


def test_with_one_side_alone_no_score_is_extreme_and_the_least_evidence_comes_first() -> None:
    ranked = rank_suspects(list("abc"), evidence([0.5, 0.0, 0.2]), labels(1, 1, 1))
    assert ranked["score"].to_list() == [0.5, 0.5, 0.5]
    assert ranked["author"].to_list() == ["b", "c", "a"]


@given(
    st.lists(st.tuples(st.integers(0, 20), st.sampled_from([0.0, 1.0])), min_size=2, max_size=40).filter(
        lambda rows: len({label for _, label in rows}) == 2
    )
)
def test_the_mean_score_of_a_side_follows_from_the_auc(rows: list[tuple[int, float]]) -> None:
    values, marks = np.array([row[0] for row in rows]) / 20, np.array([row[1] for row in rows])
    ranked = rank_suspects([str(k) for k in range(len(rows))], evidence(list(values)), labels(*marks))
    same = np.mean([[a == b for b in values[marks == 0]] for a in values[marks == 1]])
    expected = 1 - roc_auc_score(marks, values) + same / 2  # ties fit the other side
    for side in (1, 0):
        others = int((marks != side).sum())
        mean = ranked.filter(annotated=side)["score"].mean()
        assert mean == pytest.approx((expected * others + 0.5) / (others + 1))


def coverage(found: list[int]) -> pl.DataFrame:
    authors = list("abcdef")[: len(found)]
    return pl.DataFrame({"author": authors, "condition": "gloom", "found": found})


def scores_of(found: list[int]) -> dict[str, float | None]:
    ranked = rank_suspects(list("abcd"), evidence([0.1, 0.5, 0.6, 0.0]), labels(1, 1, 0, 0))
    return dict(scored_with_evidence(ranked, coverage(found)).select("author", "score").rows())


def test_a_label_of_0_is_suspect_only_if_the_author_names_a_symptom() -> None:
    scores = scores_of([2, 2, 1, 0])
    assert scores["c"] is not None
    assert scores["d"] is None


def test_a_label_of_1_is_suspect_only_where_most_others_with_it_name_symptoms() -> None:
    assert scores_of([2, 2, 0, 0])["a"] is not None
    # One of two is not most: the reader may be what fails.
    assert scores_of([0, 2, 0, 0])["a"] is None


def test_without_any_evidence_nobody_is_suspect() -> None:
    assert set(scores_of([0, 0, 0, 0]).values()) == {None}


def ranked_annotations(rows: list[tuple[str, int, float | None]]) -> pl.DataFrame:
    authors, annotated, scores = zip(*rows, strict=True)
    return pl.DataFrame(
        {"author": authors, "label": "gloom", "annotated": annotated, "score": scores},
        schema_overrides={"score": pl.Float64},
    ).with_columns(rank=pl.int_range(1, pl.len() + 1))


def test_the_odds_of_symptoms_and_words_are_multiplied() -> None:
    ranked = ranked_annotations([("a", 0, 0.8), ("b", 0, 0.5)])
    scored = scored_with_words(ranked, {"gloom": np.array([0.2, 0.9])}, ["a", "b"])
    # a: 4 × 1/4 = 1, so 0.5. b: 1 × 9, so 0.9.
    assert scored["author"].to_list() == ["b", "a"]
    assert scored["score"].to_list() == pytest.approx([0.9, 0.5])
    assert scored["rank"].to_list() == [1, 2]


def test_words_alone_make_a_label_of_1_suspect_and_none_of_0() -> None:
    ranked = ranked_annotations([("a", 1, None), ("b", 0, None), ("c", 1, None)])
    scored = scored_with_words(ranked, {"gloom": np.array([0.8, 0.9, 0.4])}, ["a", "b", "c"])
    assert dict(scored.select("author", "score").iter_rows()) == {
        "a": pytest.approx(0.8),
        "b": None,
        "c": None,
    }


def test_without_words_the_symptoms_decide_as_before() -> None:
    ranked = ranked_annotations([("a", 1, 0.7), ("b", 0, None)])
    assert scored_with_words(ranked, {}, ["a", "b"]).equals(ranked)
