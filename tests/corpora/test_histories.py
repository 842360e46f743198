import time
from typing import Any

from hypothesis import given
from hypothesis import strategies as st

from psycheck.core.corpus import Corpus, History
from psycheck.core.item import Composed, digest_of
from psycheck.core.model import Capabilities
from psycheck.corpora.posting_histories import against_controls, as_taken, by_author
from refusals import refused


class Reads:
    name, labels, fingerprint = "reads", ("low",), "reads"

    def __init__(self, takes: Any) -> None:
        self.capabilities = Capabilities(takes=takes)


def test_posts_are_in_time_order_and_authors_in_that_of_the_corpus() -> None:
    posts = Corpus.of(
        "posts",
        ["c", "x", "a", "b"],
        author=["ann", "bob", "ann", "ann"],
        time=["2021-03-01", None, "2020-12-31T23:00:00Z", "1609459200"],  # 2021-01-01
        labels={"low": [None, 0, 1, 1]},
    )
    ann, bob = by_author(posts).items
    assert ann == History(("a", "b", "c"), ("2020-12-31T23:00:00Z", "1609459200", "2021-03-01"))
    assert isinstance(ann, History)
    assert ann.ids == ("3", "4", "1")
    assert isinstance(ann, Composed)
    assert bob == History(("x",), ("",))
    assert by_author(posts).ids == ["ann", "bob"]
    assert by_author(posts).targets().tolist() == [[1.0], [0.0]]
    assert by_author(by_author(posts)).fingerprint() == by_author(posts).fingerprint()


def test_one_odd_time_keeps_the_order_of_the_corpus_for_that_author_alone() -> None:
    posts = Corpus.of(
        "posts",
        ["a2", "a1", "b2", "b1"],
        author=["ann", "ann", "bob", "bob"],
        time=["2021", "spring", "1700000000", "1600000000"],
    )
    grouped = by_author(posts)
    assert [history.posts for history in grouped.items] == [("a2", "a1"), ("b1", "b2")]  # type: ignore[union-attr]
    assert grouped.notes[-1] == (
        "1 author without a readable time for every post; the order is that of the corpus"
    )


def test_only_the_earliest_posts_count_and_empty_ones_do_not() -> None:
    posts = Corpus.of("posts", ["", "b", "c", " \n"], author=["ann", "ann", "ann", "bob"])
    grouped = by_author(posts, most=1)
    assert [history.posts for history in grouped.items] == [("b",), ()]  # type: ignore[union-attr]
    assert "1 author wrote more than 1 posts; the earliest count" in grouped.notes
    assert "1 author wrote no post that has a text" in grouped.notes


def test_posts_without_an_author_are_left_out_and_counted() -> None:
    posts = Corpus.of("posts", ["a", "b"], author=["ann", None])
    assert by_author(posts).left_out == {"posts without an author": 1}
    with refused("histories.no-authors"):
        by_author(Corpus.of("posts", ["a"]))


def test_labels_and_groups_of_posts_become_those_of_the_author() -> None:
    posts = Corpus.of(
        "posts",
        ["a", "b", "c", "d"],
        author=["ann", "ann", "bob", "bob"],
        labels={"low": [0, 1, 0, 0]},
        groups={"gender": ["f", None, "m", "m"], "topic": ["x", "y", "y", "x"]},
    )
    grouped = by_author(posts)
    assert grouped.targets().tolist() == [[1.0], [0.0]]
    assert "1 author whose posts differ in a label; the highest counts" in grouped.notes
    assert grouped.groups == ("gender",)
    assert grouped.group("gender") == ["f", "m"]


def test_an_author_in_two_splits_is_refused() -> None:
    posts = Corpus.of("posts", ["a", "b"], author=["ann", "ann"], split=["train", "test"])
    with refused("histories.mixed-splits", what="1 author"):
        by_author(posts)


def test_fifty_thousand_posts_and_one_of_a_megabyte_take_seconds() -> None:
    texts = [f"post {k}" for k in range(50_000)] + ["long " * 200_000]
    times = [str(1_600_000_000 - k) for k in range(50_000)] + ["1"]
    posts = Corpus.of("posts", texts, author=["ann"] * len(texts), time=times)
    began = time.monotonic()
    (history,) = by_author(posts).items
    assert isinstance(history, History)
    assert history.posts[1] == "post 49999"
    assert len(history.posts) == 256
    assert history.size > 1_000_000
    assert len(history.digest) == 16
    assert time.monotonic() - began < 5


@given(st.lists(st.text(max_size=4), max_size=4), st.lists(st.text(max_size=4), max_size=4))
def test_digests_are_equal_for_equal_posts_alone(some: list[str], others: list[str]) -> None:
    one, two = History(tuple(some)), History(tuple(others))
    assert (one.digest == two.digest) == (some == others)
    assert digest_of(one) != digest_of("".join(some))
    assert History(tuple(some), ids=("1",)) == one


def test_posts_that_change_places_keep_the_times_in_order() -> None:
    history = History(("a", "b", "c"), ("1", "2", "3"), ("x", "y", "z"))
    assert history.at([2, 0]) == History(("c", "a"), ("1", "3"))
    assert history.at([2, 0]).ids == ("z", "x")


def test_models_get_what_they_take() -> None:
    posts = Corpus.of("posts", ["a", "b"], author=["ann", "ann"])
    (texts,), (histories,) = as_taken([posts], [Reads("texts")]), as_taken([posts], [Reads("histories")])
    assert texts.items == ["a", "b"]
    assert histories.items == [History(("a", "b"), ("", ""))]
    with refused("histories.mixed-models", what="'reads'"):
        as_taken([posts], [Reads("texts"), Reads("histories")])
    with refused("histories.model-of-texts"):
        as_taken([histories], [Reads("texts")])
    with refused("histories.unknown-input", what="'history'"):
        as_taken([posts], [Reads("history")])


def test_each_condition_is_told_from_authors_without_any() -> None:
    people = Corpus.of("people", list("abcd"), labels={"low": [1, 0, 0, None], "fear": [0, 1, 0, 1]})
    masked = against_controls(people)
    assert masked.table["label:low"].to_list() == [1.0, None, 0.0, None]
    assert masked.table["label:fear"].to_list() == [None, 1.0, 0.0, 1.0]


def test_a_group_that_is_known_of_few_authors_stays() -> None:
    texts = ["a", "b", "c", "d", "e", "f"]
    corpus = Corpus.of(
        "posts",
        texts,
        author=["x", "x", "y", "y", "z", "z"],
        groups={"gender": ["f", "f", None, None, None, None], "topic": ["1", "2", "1", "3", "2", "3"]},
    )
    found = by_author(corpus)
    assert found.groups == ("gender",)
    assert found.group("gender") == ["f", None, None]
