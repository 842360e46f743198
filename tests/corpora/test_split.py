"""Splits: who stays together, what keeps its share, what follows what."""

from itertools import pairwise
from random import Random

from hypothesis import given, settings
from hypothesis import strategies as st

from psycheck.core.corpus import Corpus
from psycheck.corpora.split import split_corpus
from refusals import refused

SHARES = {"train": 5.0, "dev": 1.0, "test": 4.0}


def made(authors: list[str | None], **more: list[str | None]) -> Corpus:
    labels = {"depression": [float(k % 3 == 0) for k in range(len(authors))]}
    texts = [f"text {k}" for k in range(len(authors))]
    time = [f"2020-01-01T{k // 60:02}:{k % 60:02}:00Z" for k in range(len(authors))]
    return Corpus.of("made", texts, labels=labels, author=authors, time=time, groups=more)


def sizes(corpus: Corpus) -> dict[str, int]:
    return {part: corpus.table["split"].to_list().count(part) for part in SHARES}


def shared(corpus: Corpus, column: str) -> bool:
    held = corpus.table.drop_nulls(["split", column]).group_by(column).n_unique()
    return bool((held["split"] > 1).any())


def test_equal_authors_are_dealt_out_as_five_to_one_to_four() -> None:
    corpus = split_corpus(made([f"a{k // 2}" for k in range(200)]), SHARES, stratify=())
    assert sizes(corpus) == {"train": 100, "dev": 20, "test": 80}
    assert not shared(corpus, "author")


def test_labels_keep_their_shares() -> None:
    authors = [f"a{k // 3}" for k in range(900)]
    texts = [f"text {k}" for k in range(900)]
    # One author in ten is annotated 1: 30 of 300.
    corpus = Corpus.of(
        "rare", texts, author=authors, labels={"rare": [float(k // 3 % 10 == 0) for k in range(900)]}
    )
    done = split_corpus(corpus, SHARES)
    found = {part: done.part(part).targets().sum() for part in SHARES}
    assert found == {"train": 45, "dev": 9, "test": 36}
    assert sizes(done) == {"train": 450, "dev": 90, "test": 360}


def test_groups_join_authors_that_share_one() -> None:
    threads: list[str | None] = [f"t{k // 5}" for k in range(300)]
    authors: list[str | None] = [f"a{k // 3}" for k in range(300)]
    corpus = split_corpus(made(authors, thread=threads), SHARES, by=("author", "thread"))
    assert not shared(corpus, "author")
    assert not shared(corpus, "group:thread")


def test_a_text_without_an_author_stands_for_itself() -> None:
    corpus = split_corpus(made([None] * 100), SHARES, stratify=())
    assert sizes(corpus) == {"train": 50, "dev": 10, "test": 40}


def test_splits_by_time_follow_each_other() -> None:
    corpus = split_corpus(made([f"a{k % 7}" for k in range(200)]), SHARES, by=("time",))
    assert sizes(corpus) == {"train": 100, "dev": 20, "test": 80}
    ends = [corpus.part(part).table["time"].to_list() for part in SHARES]
    assert all(max(earlier) < min(later) for earlier, later in pairwise(ends))


def test_author_and_time_hold_together_and_what_breaks_the_order_has_no_split() -> None:
    # The last author also wrote the very first text, which lies in the time of train.
    corpus = made(["z", *(f"a{k // 2}" for k in range(98)), "z", "z"])
    done = split_corpus(corpus, SHARES, by=("author", "time"))
    assert done.table["split"].to_list()[0] is None
    assert done.table["split"].to_list()[-1] == "test"
    assert not shared(done, "author")
    ends = [done.part(part).table["time"].to_list() for part in SHARES]
    assert all(max(earlier) < min(later) for earlier, later in pairwise(ends))


def test_the_seed_changes_who_is_where_and_nothing_else() -> None:
    corpus = made([f"a{k // 2}" for k in range(200)])
    one, same, other = (split_corpus(corpus, SHARES, seed=seed) for seed in (1, 1, 2))
    assert one.table.equals(same.table)
    assert not one.table.equals(other.table)
    assert sizes(one) == sizes(other)


@settings(deadline=None)
@given(
    st.lists(st.integers(0, 8), min_size=1, max_size=40), st.integers(0, 5), st.randoms(use_true_random=False)
)
def test_neither_order_nor_chance_moves_a_text(members: list[int], seed: int, random: Random) -> None:
    corpus = made([f"a{k}" for k in members])
    done = split_corpus(corpus, SHARES, seed=seed)
    order = list(range(len(members)))
    random.shuffle(order)
    again = split_corpus(Corpus("made", corpus.table[order]), SHARES, seed=seed)
    assert again.table.sort("id").equals(done.table.sort("id"))
    assert not shared(done, "author")
    assert done.table["split"].null_count() == 0


def test_what_cannot_be_split_by_is_named() -> None:
    corpus = made(["a", "b"])
    with refused("split.unknown-column", what="'thread'"):
        split_corpus(corpus, SHARES, by=("thread",))
    with refused("split.bad-shares"):
        split_corpus(corpus, {"train": 1.0, "test": 0.0})
    with refused("split.no-times"):
        split_corpus(Corpus.of("c", ["x"], author=["a"]), SHARES, by=("time",))
