from dataclasses import replace

import numpy as np
import pytest

from psycheck.core.corpus import Corpus, showable_id
from refusals import refused

CORPUS = Corpus.of(
    "posts",
    ["one", "two", "three"],
    labels={"depression": [1, None, 0.25], "anxiety": [0, 1, None]},
    split=["train", "test", "test"],
    groups={"gender": ["f", None, "m"]},
)


def test_an_absent_label_is_unknown_and_never_negative() -> None:
    np.testing.assert_array_equal(CORPUS.targets(), [[1, 0], [np.nan, 1], [0.25, np.nan]])


def test_labels_keep_their_order_and_can_be_chosen() -> None:
    assert CORPUS.labels == ("depression", "anxiety")
    np.testing.assert_array_equal(CORPUS.targets(["anxiety"])[:, 0], [0, 1, np.nan])


def test_an_unknown_label_is_answered_with_the_nearest() -> None:
    with refused("corpus.unknown-label", allowed="'depression'"):
        CORPUS.targets(["depresion"])


def test_a_split_is_a_corpus_of_its_own() -> None:
    assert CORPUS.part("test").ids == ["2", "3"]
    with refused("corpus.unknown-split", allowed="test") as caught:
        CORPUS.part("dev")
    assert "'dev'" in caught.value.what


def test_slices_hold_every_text_once_and_in_order() -> None:
    assert [part.ids for part in CORPUS.slices(2)] == [["1", "2"], ["3"]]


def test_the_fingerprint_follows_the_content_alone() -> None:
    same = replace(CORPUS, name="other name", notes=("read from another file",))
    assert same.fingerprint() == CORPUS.fingerprint()
    assert (
        Corpus.of("posts", ["one", "two", "three!"]).fingerprint()
        != Corpus.of("posts", ["one", "two", "three"]).fingerprint()
    )
    assert Corpus.of("x", ["ab", "c"]).fingerprint() != Corpus.of("x", ["a", "bc"]).fingerprint()


def test_repeated_ids_are_refused() -> None:
    with refused("corpus.duplicate-ids"):
        Corpus.of("x", ["a", "b"], ids=["1", "1"])


def test_a_note_says_what_intervals_are_clustered_by() -> None:
    texts = ["one", "two", "two", "three"]
    by_author = Corpus.of("posts", texts, author=["a", "b", "b", None])
    assert by_author.clustering() == ("posts: intervals and tests are clustered by author (2 authors)",)
    repeats = Corpus.of("posts", texts).clustering()
    assert repeats == ("posts: intervals and tests are clustered by text (3 distinct of 4)",)
    assert Corpus.of("posts", ["one", "two"]).clustering() == ()


def test_a_note_counts_the_labels_of_exactly_one_half() -> None:
    posts = Corpus.of("posts", ["one", "two"], labels={"low": [0.5, 0.49], "fear": [1, None]})
    assert posts.clustering() == ("posts: 1 text annotated 0.5 for low: undecided, neither 0 nor 1",)


@pytest.mark.parametrize(
    "name",
    [
        *("17", "t3_abc", "P 12 a", "ward 3, bed 2", "2020-01-01 10:00 UTC", "Anna Müller", "a" * 64),
        "https://example.org/r/topic/comments/abc123/a-long-title-of-a-post/",
    ],
)
def test_an_ordinary_id_stays(name: str) -> None:
    assert showable_id(name) == name


@pytest.mark.parametrize(
    "prose",
    [
        "i want to leave",
        "Nobody came. Again, nobody came!",
        "昨日はとても疲れていて何もする気になれませんでした",
        "ssssooooooooooooo tiredddddddddddddddddddddd",
    ],
)
def test_an_id_that_looks_like_prose_is_a_digest(prose: str) -> None:
    corpus = Corpus.of("posts", ["one", "two"], ids=[prose, "2"])
    assert corpus.ids[1] == "2"
    assert corpus.ids[0].startswith("id-")
    assert len(corpus.ids[0]) == 19
    assert showable_id(prose + "!") != showable_id(prose) == showable_id(showable_id(prose))
