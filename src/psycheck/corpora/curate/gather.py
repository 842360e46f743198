"""Curating from beginning to end: one pass, then authors, near-duplicates, ranking, sampling, splits."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from importlib.util import find_spec
from pathlib import Path
from sqlite3 import Row
from time import monotonic

import polars as pl

from psycheck.core.corpus import Corpus
from psycheck.core.errors import BadInput, MissingExtra
from psycheck.corpora.curate.dumps import Tally, check_dump
from psycheck.corpora.curate.funnel import BOTH, Funnel, Step, knows_languages
from psycheck.corpora.curate.lexicons import rankings
from psycheck.corpora.curate.posts_on_disk import CONTROL, DISCLOSING, Posts, Resolved, opened_store, resolve
from psycheck.corpora.curate.settings import Curating
from psycheck.corpora.curate.spill import Progress, Spread, conditions_of_mask, dumps_of, salted, spill
from psycheck.corpora.split import split_corpus
from psycheck.text.clean import STEPS, settle

__all__ = ["CLEANING", "Curated", "Step", "curate", "knows_languages"]

CLEANING = ("html", "removed", "markdown-links", "users")
"""What is done to each text that is kept (PsySym, App. B); names of users in it are dropped."""


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
    spread: Spread | None = None,
) -> Curated:
    """Make a corpus from dumps that are each read once; `work` is a folder for what is put aside meanwhile.

    Nothing depends on the order of the dumps or on `files`, the number of files that posts are put into;
    `spread` reads dumps beside each other.
    """
    # Whatever can be refused is refused now: reading the dumps may take hours.
    paths = dumps_of(dumps)
    for path in paths:
        check_dump(path)
    if find_spec("rensa") is None:
        raise MissingExtra("the search for near-duplicates", "curate")
    scores = rankings(how.rank, how.nrc, score_by=how.score_by)
    report = progress or (lambda *_: None)

    spilled, tally = spill(
        dumps=paths,
        how=how,
        salt=salt,
        work=work,
        progress=report,
        files=files,
        spread=spread,
    )
    started = monotonic()
    with opened_store(work / "posts.sqlite") as store:
        resolved = resolve(
            files=spilled,
            how=how,
            store=store,
            tally=tally,
        )
        posts_read = resolved.posts["read"]
        report(
            "posts put aside",
            posts_read,
            posts_read,
            monotonic() - started,
        )
        _refuse_no_posts(paths, tally, resolved)
        _refuse_no_disclosures(how, resolved)

        funnel = Funnel(
            store=store,
            how=how,
            steps=[*_first_steps(tally, resolved)],
        )
        funnel.take_disclosing(scores)
        _refuse_no_disclosing_post_left(funnel, resolved)
        # After the disclosing side: there are to be as many control posts as posts of disclosing authors.
        if how.controls:
            funnel.take_controls(resolved)
        corpus, last_steps = _split_corpus(
            store=store,
            how=how,
            name=name,
            salt=salt,
        )
    return Curated(
        corpus=corpus,
        steps=(*funnel.steps, *last_steps),
        tally=tally,
        by_condition=dict(resolved.by_condition),
    )


def _refuse_no_posts(paths: Sequence[Path], tally: Tally, resolved: Resolved) -> None:
    if resolved.posts["read"]:
        return
    reasons = ", ".join(f"{why} {lines:,}" for why, lines in tally.left_out.most_common())
    raise BadInput(
        what="the dumps contain no usable post",
        code="curate.no-posts",
        where=", ".join(map(str, paths)),
        do=f"check the dumps and the options; {tally.lines:,} lines were read: {reasons or 'all blank'}",
    )


def _refuse_no_disclosures(how: Curating, resolved: Resolved) -> None:
    if resolved.authors["disclosing"]:
        return
    raise BadInput(
        what=f"none of {resolved.authors['subreddits']:,} authors reports a diagnosis",
        code="curate.no-disclosures",
        where=f"{resolved.posts['subreddits']:,} posts; conditions: {', '.join(how.conditions)}",
        do="name other dumps, conditions or subreddits",
    )


def _refuse_no_disclosing_post_left(funnel: Funnel, resolved: Resolved) -> None:
    posts_left, _ = funnel.store.count(DISCLOSING)
    if posts_left:
        return
    raise BadInput(
        what=f"no post of the {resolved.authors['disclosing']:,} disclosing authors is left",
        code="curate.no-disclosing-posts",
        where="; ".join(f"{step.name}: {step.posts:,} posts" for step in funnel.steps),
        do="lower `min_words` or `min_posts`, or add dumps",
    )


def _first_steps(tally: Tally, resolved: Resolved) -> Iterator[Step]:
    """The steps that are decided while the dumps are read and the authors resolved."""
    posts = resolved.posts
    authors = resolved.authors
    places_of_faults = []
    for why, places in sorted(tally.places.items()):
        places_of_faults += [f"{place} ({why})" for place in places]
    yield Step(
        name="posts",
        side=BOTH,
        posts=posts["read"],
        authors=authors["read"],
        before=tally.lines,
        counts=dict(tally.left_out),
        examples=tuple(places_of_faults),
    )
    yield Step(
        name="subreddits",
        side=BOTH,
        posts=posts["subreddits"],
        authors=authors["subreddits"],
        before=posts["read"],
    )

    authors_by_condition = {}
    for condition, count in sorted(resolved.by_condition.items()):
        authors_by_condition[f"authors_{condition}"] = count
    yield Step(
        name="disclosing",
        side=DISCLOSING,
        posts=posts["disclosing"],
        authors=authors["disclosing"],
        before=posts["subreddits"],
        counts={
            "reports": posts["reports"],
            "authors_other_condition": authors["other_condition"],
            **authors_by_condition,
        },
    )
    # The posts that report the diagnosis go: a classifier would learn the pattern that made the label.
    yield Step(
        name="no_reports",
        side=DISCLOSING,
        posts=posts["disclosing"] - posts["reports"] - posts["mentions"],
        authors=authors["disclosing"],
        before=posts["disclosing"],
        counts={"mentions": posts["mentions"]},
    )


def _split_corpus(
    store: Posts,
    how: Curating,
    name: str,
    salt: bytes,
) -> tuple[Corpus, list[Step]]:
    """The corpus of what is left in the store, cleaned, labelled and split, and the steps of splitting."""
    rows = [*store.rows()]
    corpus = _labelled_corpus(
        store=store,
        rows=rows,
        how=how,
        name=name,
    )
    split = split_corpus(
        corpus=corpus,
        shares=how.split,
        by=how.split_by,
        stratify=corpus.labels,
        seed=how.seed,
    )

    # Until here authors are known by their draw, which the seed and the name give; outside only by a hash.
    hash_of_draw = {row["draw"]: row["who"] for row in rows}
    author_hash = pl.col("author").replace_strict(hash_of_draw, return_dtype=pl.String)
    table = split.table.with_columns(author_hash)
    # The id of a post leads to the post on the web, and from there to its author.
    if how.hash_ids:
        hashed_ids = [salted(id_, salt) for id_ in split.ids]
        table = table.with_columns(pl.Series("id", hashed_ids))

    # Splits by time leave out what lies outside the time of its author's split.
    in_a_split = table.filter(pl.col("split").is_not_null())

    steps = [_split_step("split", in_a_split, before=len(rows))]
    for part in how.split:
        part_table = in_a_split.filter(pl.col("split") == part)
        steps.append(_split_step(part, part_table, before=len(in_a_split)))
    return replace(split, table=in_a_split, left_out={}), steps


def _labelled_corpus(
    store: Posts,
    rows: Sequence[Row],
    how: Curating,
    name: str,
) -> Corpus:
    """The cleaned texts of these rows of the store, without those of which nothing is left."""
    cleaning = [STEPS[step] for step in CLEANING]
    kept_rows = []
    texts = []
    for row in rows:
        text, *_ = settle(store.text(row["id"]), cleaning)
        if text is not None:
            kept_rows.append(row)
            texts.append(text)

    # One label per condition: somebody may report several.
    labels = {}
    for condition in how.conditions:
        labels[condition] = [_mark(row["side"], row["named"], condition) for row in kept_rows]
    return Corpus.of(
        name=name,
        texts=texts,
        ids=[row["id"] for row in kept_rows],
        author=[row["draw"] for row in kept_rows],
        time=[_iso_time(row["time"]) for row in kept_rows],
        groups={"subreddit": [row["subreddit"] for row in kept_rows]},
        labels=labels,
    )


def _split_step(name: str, table: pl.DataFrame, *, before: int) -> Step:
    return Step(
        name=name,
        side=BOTH,
        posts=len(table),
        authors=table["author"].n_unique(),
        before=before,
    )


def _iso_time(seconds: int) -> str:
    return datetime.fromtimestamp(seconds, UTC).strftime("%Y-%m-%dT%H:%M:%SZ")


def _mark(side: str, named: int, condition: str) -> float | None:
    """1 where the author reports the condition, 0 for a control; other conditions are not annotated."""
    if side == CONTROL:
        return 0.0
    # Who does not report a condition may still have it: not annotated, not 0.
    if condition in conditions_of_mask(named):
        return 1.0
    return None
