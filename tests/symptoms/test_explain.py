"""Symptoms of authors from tagged posts: what counts, what is covered, and where it lies in time."""

import numpy as np
import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st

from psycheck.symptoms.explanation import (
    COLUMNS,
    MOST_IDS,
    Explaining,
    explain_posts,
    likely_time,
    other_statements,
    post_weights,
    statements_by_author,
    symptoms_of,
)
from refusals import refused
from tagged import DAY, GRAPH, START, posts_of

POSTS = posts_of(
    [
        ("1", "a", START, (0.9, 0.0, 0.0)),
        ("2", "a", START + 2 * DAY, (0.6, 0.5, 0.49)),
        ("3", "b", START, (0.1, 0.2, 0.3)),
        ("4", "a", START + 4 * DAY, (0.0, 0.0, 0.0)),
    ]
)


def test_symptoms_count_from_the_threshold_on_with_their_posts_and_times() -> None:
    found = explain_posts(POSTS, GRAPH, Explaining()).mentions
    low, tired = found.iter_rows(named=True)
    assert (low["author"], low["symptom"], low["posts"], low["ids"]) == ("a", "low", 2, ["1", "2"])
    assert low["share"] == pytest.approx(2 / 3)
    assert (low["weight"], low["first"], low["last"]) == (pytest.approx(0.9), START, START + 2 * DAY)
    assert (tired["symptom"], tired["ids"]) == ("tired", ["2"])  # 0.5 counts, 0.49 does not


def test_a_symptom_of_too_few_posts_is_not_found() -> None:
    explained = explain_posts(POSTS, GRAPH, Explaining(min_posts=2))
    assert explained.mentions["symptom"].to_list() == ["low"]
    assert explained.marks["symptom"].unique().to_list() == ["low"]


def test_conditions_are_ranked_by_the_share_of_their_symptoms() -> None:
    coverage = explain_posts(POSTS, GRAPH, Explaining()).coverage.filter(author="a")
    assert coverage.select("condition", "found", "typical", "rank").rows() == [
        ("gloom", 2, 2, 1),
        ("dread", 1, 2, 2),
    ]
    assert coverage["weight"].to_list() == pytest.approx([(0.9 + 0.5) / 2, 0.5 / 2])


def test_an_author_without_symptoms_is_there_with_none() -> None:
    people = explain_posts(POSTS, GRAPH, Explaining()).people
    assert people.select("author", "posts", "symptoms").rows() == [("a", 3, 2), ("b", 1, 0)]


def test_columns_of_the_timeline_are_spans_of_equal_time() -> None:
    marks = explain_posts(POSTS, GRAPH, Explaining()).marks
    assert marks.filter(symptom="low")["column"].to_list() == [0, COLUMNS // 2]


def test_without_times_the_columns_follow_the_order_of_the_posts() -> None:
    posts = posts_of([(str(k), "a", None, (0.9, 0, 0)) for k in range(4)])
    explained = explain_posts(posts, GRAPH, Explaining())
    assert explained.marks["column"].to_list() == [k * COLUMNS // 4 for k in range(4)]
    assert explained.people["untimed"].to_list() == [4]


def test_a_post_without_a_time_counts_but_is_not_on_the_axis_of_time() -> None:
    times = [START, None, START + DAY]
    posts = posts_of([(str(k), "a", time, (0.9, 0, 0)) for k, time in enumerate(times)])
    explained = explain_posts(posts, GRAPH, Explaining())
    assert explained.mentions["posts"].to_list() == [3]
    assert explained.marks["column"].to_list() == [0, COLUMNS - 1]


@pytest.mark.parametrize(("times", "unordered"), [([1, 2, 3], False), ([1, 3, 2], True), ([5], False)])
def test_posts_out_of_order_are_noticed(times: list[int], unordered: bool) -> None:
    posts = posts_of([(str(k), "a", START + t, (0.9, 0, 0)) for k, t in enumerate(times)])
    assert explain_posts(posts, GRAPH, Explaining()).people["unordered"].to_list() == [unordered]


def test_many_posts_are_summarised() -> None:
    posts = posts_of([(str(k), "a", START + k, (0.5 + k / 1e5, 0, 0)) for k in range(10_000)])
    explained = explain_posts(posts, GRAPH, Explaining())
    ids = explained.mentions["ids"][0].to_list()
    assert ids == [str(9_999 - k) for k in range(MOST_IDS)]
    assert len(explained.marks) == COLUMNS
    assert explained.marks["posts"].sum() == 10_000


@given(
    st.lists(
        st.tuples(st.sampled_from("abc"), st.none() | st.integers(START, START + 10**8), st.floats(0, 1)),
        min_size=1,
        max_size=30,
    )
)
def test_no_post_is_lost_whatever_the_times(rows: list[tuple[str, int | None, float]]) -> None:
    posts = posts_of([(str(k), author, when, (w, 0.0, 0.0)) for k, (author, when, w) in enumerate(rows)])
    explained = explain_posts(posts, GRAPH, Explaining())
    heavy = sum(np.float32(w) >= 0.5 for _, _, w in rows)
    assert explained.mentions["posts"].sum() == heavy
    assert explained.people["posts"].sum() == len(rows)
    assert explained.marks["column"].is_between(0, COLUMNS - 1).all()


def test_the_weight_of_a_post_is_that_of_its_heaviest_sentence() -> None:
    tags = pl.DataFrame(
        {"id": ["1", "1", "2"], "weight:low": [0.2, 0.8, 0.1], "weight:fear": [0.3, 0.1, 0.0]}
    )
    found = post_weights(tags.lazy(), ("low", "fear")).sort("id")
    assert found["weight:low"].to_list() == pytest.approx([0.8, 0.1])
    assert found["weight:fear"].to_list() == pytest.approx([0.3, 0.0])
    assert found["sentences"].to_list() == [2, 1]


def test_a_table_without_weights_is_not_a_tag_table() -> None:
    with refused("tags.not-a-tag-table", where="tags.parquet"):
        symptoms_of(["id", "relevance:low"], GRAPH, "tags.parquet")


def test_symptoms_that_the_graph_lacks_are_named() -> None:
    with refused("tags.unknown-symptoms", allowed="did you mean 'low'?") as error:
        symptoms_of(["id", "weight:lows", "weight:fear"], GRAPH, "tags.parquet")
    assert "1 of 2 tagged symptoms: lows" in error.value.what


def test_a_counter_is_not_a_time() -> None:
    assert [likely_time(seconds) for seconds in (None, 7, START)] == [None, None, START]


def test_what_is_denied_or_of_others_is_listed_apart() -> None:
    tags = pl.LazyFrame(
        {
            "id": ["1", "1", "2", "3"],
            "relevance:low": [0.9, 0.8, 0.9, 0.2],
            "weight:low": [0.05, 0.05, 0.9, 0.1],
            "status:low": ["denied", "present", "present", "denied"],
        }
    )
    statements = other_statements(tags, ["low", "fear"], 0.5)
    # Named in post 2, not mentioned in post 3; "present" words that the reader doubts are unclear.
    assert statements.rows() == [("1", "low", "denied"), ("1", "low", "unclear")]
    table = pl.DataFrame({"id": ["1", "2"], "author": ["a", "a"], "when": [DAY, None]})
    rows = statements_by_author(statements, table).select("author", "status", "posts", "first", "ids").rows()
    assert rows == [("a", "denied", 1, DAY, ["1"]), ("a", "unclear", 1, DAY, ["1"])]


def test_a_tag_table_without_statuses_has_no_other_statements() -> None:
    assert other_statements(pl.LazyFrame({"id": ["1"], "weight:low": [0.1]}), ["low"], 0.5).is_empty()
