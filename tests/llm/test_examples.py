"""Few-shot examples: which posts of the pool are shown for a post, by hand and with MiniLM."""

import stat
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from psycheck.audits.suite import read_suite
from psycheck.core.corpus import Corpus
from psycheck.corpora.writing import write_corpus
from psycheck.demo.opening import open_demo
from psycheck.llm import few_shot as module
from psycheck.llm.few_shot import Choice, ExamplePool, open_pool
from psycheck.models.cache import cache_folder
from refusals import refused

SLEEP = "cannot sleep at night since the move, lying awake until four every single day"
WORK = "my boss gave the project to someone else and nobody in the office talks to me"
FOOD = "cooking pasta with basil tonight, the kitchen smells wonderful and friends are coming"
TRAIN = "the train was late again so the whole platform stood around in the rain waiting"
POSTS = (SLEEP, WORK, FOOD, TRAIN)
Opened = Callable[..., ExamplePool]


@pytest.fixture
def pool_of(tmp_path: Path) -> Opened:
    def opened(
        posts: Sequence[str] = POSTS,
        labels: Sequence[float | None] = (1, 1, 0, 0),
        *,
        author: Sequence[str | None] | None = None,
        split: Sequence[str] | None = None,
        **choice: Any,
    ) -> ExamplePool:
        path = tmp_path / "pool.jsonl"
        marks = {"depression": list(labels)}
        write_corpus(Corpus.of("pool", posts, labels=marks, author=author, split=split), path)
        return open_pool(str(path), ["depression"], Choice(**{"encoder": "tfidf", **choice}))

    return opened


def shown(pool: ExamplePool, post: str) -> list[str]:
    return [example for example, _ in pool.examples([post])[0]]


def test_the_most_similar_posts_are_shown_with_their_labels_the_nearest_last(pool_of: Opened) -> None:
    asked = "awake at night, cannot sleep, and my boss noticed"
    # TF–IDF: the first post shares "cannot sleep at night awake", the second "my boss", the others less.
    assert pool_of().examples([asked]) == [[(WORK, {"depression": 1}), (SLEEP, {"depression": 1})]]
    assert shown(pool_of(order="similar_first"), asked) == [SLEEP, WORK]


def test_a_post_is_not_an_example_for_itself_however_it_is_written(pool_of: Opened) -> None:
    pool = pool_of(shots=4)
    assert sorted(shown(pool, SLEEP)) == sorted([WORK, FOOD, TRAIN])
    assert SLEEP not in shown(pool, SLEEP.upper() + "!!!")


def test_an_edited_post_does_not_retrieve_its_original() -> None:
    corpus = open_demo("tweets").sample(60)
    pool = ExamplePool(
        "pool", ("depression",), corpus.texts, np.zeros((60, 1), np.int64), np.full(60, -1),
        Choice(shots=59, encoder="tfidf"), None, "",
    )  # fmt: skip
    edited = 0
    for suite in ("deck", "deck-grammatical", "symptoms"):
        for check in read_suite(suite).checks:
            pairs = [(text, new.text) for text in corpus.texts for new in [check.edits[0](text)] if new.spans]
            edited += len(pairs)
            for (text, _), found in zip(pairs, pool.examples([new for _, new in pairs]), strict=True):
                assert text not in [post for post, _ in found]
    assert edited > 2_000


def test_authors_of_the_post_and_of_its_original_supply_no_example(pool_of: Opened) -> None:
    pool = pool_of(author=["ann", "ben", "ann", None], shots=4)
    assert sorted(shown(pool, SLEEP)) == sorted([WORK, TRAIN])
    assert sorted(shown(pool, SLEEP + " I feel down all the time")) == sorted([WORK, TRAIN])


def test_the_pools_other_splits_tell_who_wrote_the_asked_post(pool_of: Opened) -> None:
    pool = pool_of(author=["ann", "ben", "cleo", "ann"], split=["train", "train", "train", "test"], shots=3)
    assert sorted(shown(pool, TRAIN)) == sorted([WORK, FOOD])  # by ann, who also wrote the first
    assert sorted(shown(pool, "something else altogether")) == sorted([SLEEP, WORK, FOOD])


def test_another_corpus_may_tell_who_wrote_the_asked_post(pool_of: Opened, tmp_path: Path) -> None:
    asked = "walking the dog along the river before breakfast"
    write_corpus(Corpus.of("asked", [asked], author=["ben"]), tmp_path / "asked.jsonl")
    authors = ["ann", "ben", "cleo", "ann"]
    told = pool_of(author=authors, shots=4, authors=str(tmp_path / "asked.jsonl"))
    assert WORK not in shown(told, asked)
    untold = pool_of(author=authors, shots=4)
    assert WORK in shown(untold, asked)
    assert told.fingerprint != untold.fingerprint


def test_equal_balance_takes_the_nearest_of_each_class_in_turn(pool_of: Opened) -> None:
    near = [f"sleep {word} bed {word}{word} night {word}est so ever on it" for word in ("x", "y", "z")]
    posts, labels = [*near, "sleep q r s t u v w"], [1, 1, 1, 0]  # the last shares one word, the others three
    asked = "night after night this person looks for sleep in a bed"
    alone = [mark["depression"] for _, mark in pool_of(posts, labels, shots=2).examples([asked])[0]]
    both = pool_of(posts, labels, shots=2, balance="equal").examples([asked])[0]
    assert alone == [1, 1]
    assert sorted(mark["depression"] for _, mark in both) == [0, 1]
    three = pool_of(posts, labels, shots=3, balance="equal").examples([asked])[0]
    assert sorted(mark["depression"] for _, mark in three) == [0, 1, 1]


def test_random_order_depends_on_the_post_and_the_seed_and_nothing_else(pool_of: Opened) -> None:
    pools = [pool_of(shots=4, order="random", seed=seed) for seed in range(12)]
    orders = [tuple(shown(pool, "rain tonight")) for pool in pools]
    assert len({tuple(sorted(order)) for order in orders}) == 1
    assert len(set(orders)) > 3
    again = pool_of(shots=4, order="random", seed=5)
    assert again.examples(["something else", "rain tonight"])[1] == pools[5].examples(["rain tonight"])[0]


def test_posts_without_a_clear_label_are_no_examples(pool_of: Opened) -> None:
    pool = pool_of(labels=(1, 0.5, None, 0.2), shots=2)
    assert len(pool.examples(["anything"])[0]) == 2
    assert pool.marks[:, 0].tolist() == [1, 0]
    assert "2 posts of the pool lack a label or have no words: never examples" in pool.notes


def test_a_pool_with_too_few_posts_or_without_the_label_is_refused(pool_of: Opened) -> None:
    with refused("pool.too-small", allowed="2") as caught:
        pool_of(labels=(1, None, None, None))
    assert "1 post annotated for depression" in caught.value.what
    with refused("pool.unknown-label", where="demo:tweets") as caught:
        open_pool("demo:tweets", ["stress"], Choice(encoder="tfidf"))
    assert "'stress'" in caught.value.what


def test_a_pool_that_holds_the_test_posts_is_refused_and_a_few_are_noted(pool_of: Opened) -> None:
    pool = pool_of()
    others = [f"post number {number}" for number in range(19)]
    assert pool.check("test", others) == []
    note = "the pool 'pool' holds 1 of the 20 posts of 'test'; none of these is an example for itself"
    assert pool.check("test", [*others, SLEEP.title()]) == [note]
    with refused("pool.holds-judged-posts") as caught:
        pool.check("test", [*others[:-1], SLEEP, WORK])
    assert "2 of the 20 posts of 'test'" in caught.value.what
    assert SLEEP not in str(caught.value)
    held_out = pool_of(split=["train", "train", "test", "test"])
    assert held_out.check("test", [FOOD, TRAIN]) == []


def test_blocks_do_not_change_what_is_found(pool_of: Opened, monkeypatch: pytest.MonkeyPatch) -> None:
    whole = pool_of(shots=3).examples([*POSTS, "sleep", "rain", "pasta"])
    monkeypatch.setattr(module, "CELLS", 1)
    assert pool_of(shots=3).examples([*POSTS, "sleep", "rain", "pasta"]) == whole


def test_the_fingerprint_changes_with_what_decides_the_examples(pool_of: Opened) -> None:
    changed: list[dict[str, Any]] = [{}, {"shots": 3}, {"order": "similar_first"}, {"balance": "equal"}]
    prints = {pool_of(**choice).fingerprint for choice in [*changed, {"encoder": "minilm"}]}
    prints |= {pool_of(labels=(1, 1, 0, 1)).fingerprint, pool_of(author=["a", "b", "c", "d"]).fingerprint}
    assert len(prints) == 7
    assert pool_of(seed=1).fingerprint == pool_of(seed=2).fingerprint  # no part of it is random


def test_minilm_finds_the_same_meaning_in_other_words_and_keeps_its_vectors(pool_of: Opened) -> None:
    pool = pool_of(encoder="minilm", shots=1)
    assert shown(pool, "insomnia is wearing me out") == [SLEEP]
    assert shown(pool, "preparing an Italian dinner") == [FOOD]
    [kept] = (cache_folder() / "examples").iterdir()
    assert np.load(kept).shape == (4, 384)
    assert stat.S_IMODE(kept.stat().st_mode) == 0o600
    swapped = np.load(kept)[[2, 1, 0, 3]]
    np.save(kept, swapped)  # what is kept is what is used
    assert shown(pool_of(encoder="minilm", shots=1), "insomnia is wearing me out") == [FOOD]
    kept.write_bytes(b"damaged")
    assert shown(pool_of(encoder="minilm", shots=1), "insomnia is wearing me out") == [SLEEP]


def test_the_index_agrees_with_plain_cosines(pool_of: Opened) -> None:
    corpus = open_demo("forum", "train").sample(40)
    pool = pool_of(corpus.texts, [float(number % 2) for number in range(40)], encoder="minilm", shots=3)
    asked = open_demo("tweets").sample(5).texts
    vectors, questions = pool.encoder.encode(corpus.texts), pool.encoder.encode(asked)  # type: ignore[union-attr]  # minilm
    cosines = questions @ vectors.T  # MiniLM's vectors have length 1
    for post, row in zip(asked, cosines, strict=True):
        assert shown(pool, post) == [corpus.texts[i] for i in np.argsort(-row)[:3][::-1]]
