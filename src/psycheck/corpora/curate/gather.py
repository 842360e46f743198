"""Curating from beginning to end: one pass, then authors, near-duplicates, ranking, sampling, splits."""

from array import array
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime
from importlib.util import find_spec
from itertools import pairwise
from pathlib import Path
from time import monotonic

import numpy as np
import polars as pl

from psycheck.corpora.curate.dumps import SHOWN, Tally, check_dump
from psycheck.corpora.curate.lexicons import Score, joined, rankings
from psycheck.corpora.curate.settings import Curating
from psycheck.corpora.curate.spill import Progress, bits, dumps_of, salted, spill
from psycheck.corpora.curate.store import CONTROL, DISCLOSING, Posts, Resolved, opened_store, resolve
from psycheck.corpora.near import near_places
from psycheck.corpora.split import split_corpus
from psycheck.corpus import Corpus
from psycheck.errors import BadInput, MissingExtra
from psycheck.finding import Finding
from psycheck.text.clean import STEPS, only_english, settle

CLEANING = ("html", "removed", "markdown-links", "users")
"""What is done to each text that is kept (PsySym, App. B); names of users in it are dropped."""

BOTH = "both"
"""The side of a step that is about all authors."""

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
        where = {"step": self.name, "side": self.side}
        counts = {"posts": self.posts, "authors": self.authors, "removed": self.before - self.posts}
        counts |= self.counts
        return Finding("funnel", float(self.posts), self.before, None, where, counts, self.examples)


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
            faults = ", ".join(f"{why} {n:,}" for why, n in tally.left_out.most_common()) or "all blank"
            do = f"check the dumps and the options; {tally.lines:,} lines were read: {faults}"
            raise BadInput("the dumps contain no usable post", where=", ".join(map(str, paths)), do=do)
        if not found.authors["disclosing"]:
            what = f"none of {found.authors['subreddits']:,} authors reports a diagnosis"
            where = f"{found.posts['subreddits']:,} posts; conditions: {', '.join(how.conditions)}"
            raise BadInput(what, where=where, do="name other dumps, conditions or subreddits")
        funnel = _Funnel(store, how, [*_first_steps(tally, found)])
        funnel.take_disclosing(scores)
        if not store.count(DISCLOSING)[0]:
            what = f"no post of the {found.authors['disclosing']:,} disclosing authors is left"
            where = "; ".join(f"{step.name}: {step.posts:,} posts" for step in funnel.steps)
            raise BadInput(what, where=where, do="lower `min_words` or `min_posts`, or add dumps")
        if how.controls:
            funnel.take_controls(found)
        corpus = funnel.corpus(name, salt)
    return Curated(corpus, tuple(funnel.steps), tally, dict(found.by_condition))


def knows_languages() -> bool:
    """Whether the library that tells languages apart is installed; without it any language is taken."""
    return find_spec("py3langid") is not None


def _first_steps(tally: Tally, found: Resolved) -> Iterator[Step]:
    places = tuple(f"{place} ({why})" for why, some in sorted(tally.places.items()) for place in some)
    read, inside = found.posts["read"], found.posts["subreddits"]
    yield Step("posts", BOTH, read, found.authors["read"], tally.lines, dict(tally.left_out), places)
    yield Step("subreddits", BOTH, inside, found.authors["subreddits"], read)
    counts = {"reports": found.posts["reports"], "authors_other_condition": found.authors["other_condition"]}
    named = {f"authors_{name}": count for name, count in sorted(found.by_condition.items())}
    own = found.posts["disclosing"], found.authors["disclosing"]
    yield Step("disclosing", DISCLOSING, *own, inside, {**counts, **named})
    mentions = found.posts["mentions"]
    left = own[0] - counts["reports"] - mentions
    yield Step("no_reports", DISCLOSING, left, own[1], own[0], {"mentions": mentions})


@dataclass(frozen=True, slots=True)
class _Funnel:
    """The posts in the store and the steps so far; what is left at the end gets into the corpus."""

    store: Posts
    how: Curating
    steps: list[Step]

    def take_disclosing(self, scores: Sequence[Score]) -> None:
        """Leave the posts of disclosing authors that get into the corpus."""
        side, how = DISCLOSING, self.how
        self._step(side, "min_words")
        self._limit_authors(side)
        ranked = self._ranked(scores)
        self._narrow(side, lambda size: ranked[:size], how.top_k or len(ranked), "top_k")
        if how.sample:
            self._step(side, "sample", "others", self.store.by_pick(side, how.sample))

    def take_controls(self, found: Resolved) -> None:
        """Leave the posts of control authors that get into the corpus."""
        side, store = CONTROL, self.store
        for before, name in pairwise(("read", "never_listed", "no_mentions", "control_long")):
            self.steps.append(
                Step(name, CONTROL, found.posts[name], found.authors[name], found.posts[before])
            )
        self._step(side, "control_authors")
        self._step(side, "no_terms", "terms", 1)
        none_left = BadInput(
            "no control post is left",
            where=f"{found.authors['never_listed']:,} authors never post in the listed subreddits",
            do="lower `min_posts` or `min_words`, or name dumps of other subreddits, in English, as well",
        )
        if not self._limit_authors(side):
            raise none_left
        kept = [id_ for id_, _ in store.texts(DISCLOSING)]
        most = self.how.control_posts or len(kept)
        other_language: set[str] = set()

        def fits(id_: str, text: str) -> bool:
            if only_english(text) is None:
                other_language.add(id_)
            return id_ not in other_language

        english = fits if knows_languages() else None
        self._narrow(
            side, lambda size: store.by_pick(side, size, english), most, "sample", kept, other_language
        )
        if not store.count(side)[0]:
            raise none_left

    def corpus(self, name: str, salt: bytes) -> Corpus:
        """The corpus of what is left in the store: cleaned, labelled, split."""
        how, cleaning = self.how, [STEPS[step] for step in CLEANING]
        stored = [*self.store.rows()]
        cleaned = ((row, settle(self.store.text(row["id"]), cleaning)[0]) for row in stored)
        kept = [(row, text) for row, text in cleaned if text is not None]
        rows = [row for row, _ in kept]
        corpus = Corpus.of(
            name,
            [text for _, text in kept],
            ids=[row["id"] for row in rows],
            author=[row["draw"] for row in rows],
            time=[datetime.fromtimestamp(row["time"], UTC).strftime("%Y-%m-%dT%H:%M:%SZ") for row in rows],
            groups={"subreddit": [row["subreddit"] for row in rows]},
            labels={one: [_mark(row["side"], row["named"], one) for row in rows] for one in how.conditions},
        )
        del kept
        split = split_corpus(corpus, how.split, by=how.split_by, stratify=corpus.labels, seed=how.seed)
        who = {row["draw"]: row["who"] for row in rows}
        table = split.table.with_columns(pl.col("author").replace_strict(who, return_dtype=pl.String))
        if how.hash_ids:
            table = table.with_columns(pl.Series("id", [salted(id_, salt) for id_ in split.ids]))
        cut = table.filter(pl.col("split").is_not_null())
        parts = {part: cut.filter(pl.col("split") == part) for part in how.split}
        self.steps.append(Step("split", BOTH, len(cut), cut["author"].n_unique(), len(stored)))
        for part, own in parts.items():
            self.steps.append(Step(part, BOTH, len(own), own["author"].n_unique(), len(cut)))
        return replace(split, table=cut, left_out={})

    def _step(self, side: str, name: str, which: str = "", value: int | list[str] = 0, **counts: int) -> int:
        """Take posts away, write down what the step has left in the store, and return the number of posts."""
        if which:
            self.store.remove(side, which, value)
        posts, authors = self.store.count(side)
        before = next(step.posts for step in reversed(self.steps) if step.side == side)
        examples = tuple(value[:SHOWN]) if isinstance(value, list) and which == "ids" else ()
        self.steps.append(Step(name, side, posts, authors, before, counts, examples))
        return posts

    def _limit_authors(self, side: str) -> int:
        """Take away authors with few posts and late posts of others, and return the number of posts left."""
        self._step(side, "min_posts", "few", self.how.min_posts)
        return self._step(side, "most_posts", "late", self.how.most_posts)

    def _ranked(self, scores: Sequence[Score]) -> list[str]:
        """The ids of disclosing authors' posts, the highest score first, ties by id."""
        ids, found = [], array("d")
        for id_, text in self.store.texts(DISCLOSING):
            ids.append(id_)
            found.extend(score(text) for score in scores)
        table = np.frombuffer(found, dtype=np.float64).reshape(len(ids), len(scores))
        return [ids[k] for k in np.argsort(-joined(list(table.T)), kind="stable")]

    def _narrow(
        self,
        side: str,
        first: Callable[[int], list[str]],
        wanted: int,
        name: str,
        kept: Sequence[str] = (),
        other_language: Collection[str] = (),
    ) -> None:
        """Take away near-duplicates and leave the first posts in order, at most as many as are wanted.

        More than are wanted are searched, and more again where so many are taken away that too few are left:
        what was not searched never gets into the corpus.
        """
        size = int(wanted * _SPARE) + 100
        while True:
            pool = first(size)
            copies = self._copies(pool, kept)
            if len(pool) < size or len(pool) - len(copies) >= wanted:
                break
            size *= 2
        if side == CONTROL and knows_languages():
            looked_at = len(pool) + len(other_language)
            self._step(side, "english", "ids", sorted(other_language), looked_through=looked_at)
        self._step(side, "near_duplicates", "ids", copies, looked_through=len(pool))
        gone = set(copies)
        self._step(side, name, "others", [id_ for id_ in pool if id_ not in gone][:wanted])

    def _copies(self, pool: Sequence[str], kept: Sequence[str]) -> list[str]:
        """The ids of the pool that nearly repeat an older post of it, or one of `kept`, which stay."""
        how, store, safe = self.how, self.store, set(kept)
        ids = sorted(store.oldest_first([*kept, *pool]), key=lambda id_: id_ not in safe)
        dropped: set[int] = set()
        # The texts stay on the disk: they may be tens of thousands, and each is looked at once or twice.
        for a, b in near_places(lambda k: store.text(ids[k]), len(ids), threshold=how.near, seed=how.seed):
            if a not in dropped and ids[b] not in safe:
                dropped.add(b)
        return [ids[k] for k in sorted(dropped)]


def _mark(side: str, named: int, condition: str) -> float | None:
    """1 where the author reports the condition, 0 for a control; other conditions are not annotated."""
    return 0.0 if side == CONTROL else 1.0 if condition in bits(named) else None
