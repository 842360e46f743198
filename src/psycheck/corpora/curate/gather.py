"""Curating from beginning to end: one pass, then authors, near-duplicates, ranking, sampling, splits."""

from array import array
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime
from importlib.util import find_spec
from pathlib import Path
from time import monotonic
from types import MappingProxyType

import numpy as np
import polars as pl

from psycheck.corpora.curate.authors import Resolved, resolve
from psycheck.corpora.curate.dumps import SHOWN, Tally, check_dump
from psycheck.corpora.curate.rank import Score, joined, rankings
from psycheck.corpora.curate.settings import Curating
from psycheck.corpora.curate.spill import Progress, bits, dumps_of, salted, spill
from psycheck.corpora.curate.store import CONTROL_SIDE, DISCLOSING_SIDE, Posts, Row, opened_store
from psycheck.corpora.near import near_places
from psycheck.corpora.split import split_corpus
from psycheck.corpus import Corpus
from psycheck.errors import BadInput, MissingExtra
from psycheck.finding import Finding
from psycheck.text.clean import STEPS, settle

CLEANING = ("html", "removed", "markdown-links", "users")
"""What is done to each text that is kept (PsySym, App. B); names of users in it are dropped."""

DISCLOSING, CONTROL, BOTH = "disclosing", "control", "both"
"""The authors that a step is about."""

_SPARE = 1.25  # so many times the posts that are wanted are searched for near-duplicates at first


@dataclass(frozen=True, slots=True)
class Step:
    """The posts and authors that one step left, and ids or places of what it removed."""

    name: str
    side: str
    posts: int
    authors: int
    before: int
    counts: Mapping[str, int] = field(default_factory=dict)
    examples: tuple[str, ...] = ()

    def finding(self) -> Finding:
        """The step as a finding: `value` is the number of posts left, `n` the number before it."""
        return Finding(
            "funnel",
            float(self.posts),
            self.before,
            where={"step": self.name, "side": self.side},
            counts={
                "posts": self.posts,
                "authors": self.authors,
                "removed": self.before - self.posts,
                **self.counts,
            },
            examples=self.examples,
        )


@dataclass(frozen=True, slots=True)
class Curated:
    """A corpus and how it came about."""

    corpus: Corpus
    steps: tuple[Step, ...]
    tally: Tally
    by_condition: Mapping[str, int]


def curate(
    dumps: Sequence[str | Path],
    how: Curating,
    *,
    work: Path,
    salt: bytes,
    name: str = "curated",
    progress: Progress | None = None,
    files: int | None = None,
) -> Curated:
    """Make a corpus from dumps that are each read once; `work` is a folder for what is put aside meanwhile.

    Nothing depends on the order of the dumps or on `files`, the number of files that posts are put into.
    """
    paths = dumps_of(dumps)
    for path in paths:
        check_dump(path)
    if find_spec("rensa") is None:
        raise MissingExtra("the search for near-duplicates", "curate")
    scores = rankings(how.rank, how.nrc)
    say = progress or (lambda *_: None)
    aside, tally = spill(paths, how, salt, work, say, files)
    started = monotonic()
    with opened_store(work / "posts.sqlite") as store:
        found = resolve(aside, how, store, tally)
        say("posts put aside", found.posts["read"], found.posts["read"], monotonic() - started)
        if not found.posts["read"]:
            raise BadInput(
                "the dumps contain no usable post", where=", ".join(map(str, paths)), do=_why_none(tally)
            )
        if not found.authors["disclosing"]:
            raise BadInput(
                f"none of {found.authors['subreddits']:,} authors reports a diagnosis",
                where=f"{found.posts['subreddits']:,} posts; conditions: {', '.join(how.conditions)}",
                do="name other dumps, conditions or subreddits",
            )
        steps = [*_first_steps(tally, found)]
        _disclosing(store, how, scores, steps)
        if not store.count(DISCLOSING_SIDE)[0]:
            raise BadInput(
                f"no post of the {found.authors['disclosing']:,} disclosing authors is left",
                where="; ".join(
                    f"{step.name}: {step.posts:,} posts" for step in steps if step.side != CONTROL
                ),
                do="lower --min-words or --min-posts, or add dumps",
            )
        if how.controls:
            _controls(store, how, found, steps)
        corpus = _corpus(store, how, salt, name, steps)
    return Curated(corpus, tuple(steps), tally, dict(found.by_condition))


def _first_steps(tally: Tally, found: Resolved) -> Iterable[Step]:
    places = tuple(f"{place} ({why})" for why, some in sorted(tally.places.items()) for place in some)
    read, inside = found.posts["read"], found.posts["subreddits"]
    yield Step("posts", BOTH, read, found.authors["read"], tally.lines, dict(tally.left_out), places)
    yield Step("subreddits", BOTH, inside, found.authors["subreddits"], read)
    counts = {"reports": found.posts["reports"], "authors_other_condition": found.authors["other_condition"]}
    named = {f"authors_{name}": count for name, count in sorted(found.by_condition.items())}
    own = found.posts["disclosing"], found.authors["disclosing"]
    yield Step("disclosing", DISCLOSING, *own, inside, {**counts, **named})
    yield Step("no_reports", DISCLOSING, own[0] - counts["reports"], own[1], own[0])


def _disclosing(store: Posts, how: Curating, scores: Sequence[Score], steps: list[Step]) -> None:
    """Leave those posts of disclosing authors in the store that get into the corpus."""
    side = DISCLOSING_SIDE
    _step(store, side, "min_words", steps)
    store.drop_few(side, how.min_posts)
    _step(store, side, "min_posts", steps)
    store.drop_late(side, how.most_posts)
    _step(store, side, "most_posts", steps)
    ranked = _ranked(store, scores)
    pool, copies = _searched(store, lambda size: ranked[:size], how.top_k or len(ranked), how)
    store.drop(copies)
    _step(store, side, "near_duplicates", steps, {"looked_through": len(pool)}, tuple(copies[:SHOWN]))
    if how.top_k:
        gone = set(copies)
        store.keep(side, [id_ for id_ in pool if id_ not in gone][: how.top_k])
    _step(store, side, "top_k", steps)
    if how.sample:
        store.keep(side, store.by_pick(side, how.sample))
        _step(store, side, "sample", steps)


def _controls(store: Posts, how: Curating, found: Resolved, steps: list[Step]) -> None:
    """Leave those posts of control authors in the store that get into the corpus."""
    side = CONTROL_SIDE
    read = found.posts["read"]
    for name, before in (("never_listed", read), ("control_long", found.posts["never_listed"])):
        steps.append(Step(name, CONTROL, found.posts[name], found.authors[name], before))
    _step(store, side, "control_authors", steps)
    store.drop_terms()
    _step(store, side, "no_terms", steps)
    store.drop_few(side, how.min_posts)
    _step(store, side, "min_posts", steps)
    store.drop_late(side, how.most_posts)
    left = _step(store, side, "most_posts", steps)
    if not left:
        raise BadInput(
            "no control post is left",
            where=f"{found.authors['never_listed']:,} authors never post in the listed subreddits",
            do="lower --min-posts or --min-words, or name dumps of other subreddits as well",
        )
    kept = [id_ for id_, _ in store.texts(DISCLOSING_SIDE)]
    most = how.control_posts or len(kept)
    pool, copies = _searched(store, lambda size: store.by_pick(side, size), most, how, kept)
    store.drop(copies)
    _step(store, side, "near_duplicates", steps, {"looked_through": len(pool)}, tuple(copies[:SHOWN]))
    store.keep(side, store.by_pick(side, most))
    _step(store, side, "sample", steps)


def _step(
    store: Posts,
    side: int,
    name: str,
    steps: list[Step],
    counts: Mapping[str, int] = MappingProxyType({}),
    examples: tuple[str, ...] = (),
) -> int:
    """Write down what a step has left in the store."""
    posts, authors = store.count(side)
    whose = DISCLOSING if side == DISCLOSING_SIDE else CONTROL
    before = next(step.posts for step in reversed(steps) if step.side == whose)
    steps.append(Step(name, whose, posts, authors, before, counts, examples))
    return posts


def _ranked(store: Posts, scores: Sequence[Score]) -> list[str]:
    """The ids of disclosing authors' posts, the highest score first, ties by id."""
    ids, found = [], array("d")
    for id_, text in store.texts(DISCLOSING_SIDE):
        ids.append(id_)
        found.extend(score(text) for score in scores)
    table = np.frombuffer(found, dtype=np.float64).reshape(len(ids), len(scores))
    one = joined([table[:, k] for k in range(len(scores))])
    return [ids[k] for k in np.argsort(-one, kind="stable")]


def _searched(
    store: Posts, first: Callable[[int], list[str]], wanted: int, how: Curating, kept: Sequence[str] = ()
) -> tuple[list[str], list[str]]:
    """The first ids in order that were searched for near-duplicates, and those to take away.

    More than are wanted are searched, and more again where so many are taken away that too few are left: what
    was not searched never gets into the corpus.
    """
    size = int(wanted * _SPARE) + 100
    while True:
        pool = first(size)
        copies = _copies(store, pool, how, kept)
        if len(pool) < size or len(pool) - len(copies) >= wanted:
            return pool, copies
        size *= 2


def _copies(store: Posts, pool: Sequence[str], how: Curating, kept: Sequence[str] = ()) -> list[str]:
    """The ids of the pool that nearly repeat an older post of it, or one of those that are kept anyway."""
    safe = set(kept)
    ids = sorted(store.oldest_first([*kept, *pool]), key=lambda id_: id_ not in safe)
    dropped: set[int] = set()
    # The texts stay on the disk: they may be tens of thousands, and each is looked at once or twice.
    pairs = near_places(lambda k: store.text(ids[k]), len(ids), threshold=how.near, seed=how.seed)
    for a, b in pairs:
        if a not in dropped and ids[b] not in safe:
            dropped.add(b)
    return [ids[k] for k in sorted(dropped)]


def _corpus(store: Posts, how: Curating, salt: bytes, name: str, steps: list[Step]) -> Corpus:
    """The corpus of what is left in the store: cleaned, labelled, split."""
    steps_of_cleaning = [STEPS[step] for step in CLEANING]
    rows, texts = [], []
    for row in store.rows():
        text, _, _ = settle(row.text, steps_of_cleaning)
        if text is not None:
            rows.append(row._replace(text=""))
            texts.append(text)
    corpus = Corpus.of(
        name,
        texts,
        ids=[row.id for row in rows],
        author=[row.draw for row in rows],
        time=[datetime.fromtimestamp(row.time, UTC).strftime("%Y-%m-%dT%H:%M:%SZ") for row in rows],
        groups={"subreddit": [row.subreddit for row in rows]},
        labels={condition: [_mark(row, condition) for row in rows] for condition in how.conditions},
    )
    del texts
    split = split_corpus(corpus, how.split, by=how.split_by, stratify=corpus.labels, seed=how.seed)
    who = {row.draw: row.who for row in rows}
    table = split.table.with_columns(pl.col("author").replace_strict(who, return_dtype=pl.String))
    if how.hash_ids:
        table = table.with_columns(pl.Series("id", [salted(id_, salt) for id_ in split.ids]))
    cut = table.filter(pl.col("split").is_not_null())
    before = len(store)
    steps.append(Step("split", BOTH, len(cut), cut["author"].n_unique(), before))
    steps += [
        Step(part, BOTH, len(own := cut.filter(pl.col("split") == part)), own["author"].n_unique(), len(cut))
        for part in how.split
    ]
    return replace(split, table=cut, left_out={})


def _mark(row: Row, condition: str) -> float | None:
    """1 where its author reports the condition, 0 for a control; other conditions are not annotated."""
    if row.side == CONTROL_SIDE:
        return 0.0
    return 1.0 if condition in bits(row.named) else None


def _why_none(tally: Tally) -> str:
    found = ", ".join(f"{why} {count:,}" for why, count in tally.left_out.most_common())
    return f"check the dumps and the options; {tally.lines:,} lines were read: {found or 'all blank'}"
