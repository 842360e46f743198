"""The posts that may get into the corpus, on the disk, so that the last steps hold no more than they must.

Authors are resolved one file at a time: who discloses, who may be a control, and whose posts go on.
"""

import json
import sqlite3
from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from itertools import islice
from pathlib import Path

from psycheck.core.errors import StoreFailure
from psycheck.corpora.curate.dumps import Tally
from psycheck.corpora.curate.lexicons import holds_term, words_in
from psycheck.corpora.curate.settings import Curating
from psycheck.corpora.curate.spill import (
    SpilledPost,
    conditions_of_mask,
    draw_of,
    mask_of_conditions,
    spilled_posts,
)

DISCLOSING = "disclosing"
CONTROL = "control"
DUPLICATE = "duplicate id"
# Without a row id, rows lie in the order of their ids, which is how texts are asked for.
_TABLE = """CREATE TABLE posts (
 id TEXT PRIMARY KEY, draw TEXT, who TEXT, side TEXT, named INT, time INT, subreddit TEXT,
 term INT, pick TEXT, text TEXT) WITHOUT ROWID"""

# The file is thrown away after a crash, so nothing is gained by waiting for the disk.
_PRAGMAS = "PRAGMA journal_mode=OFF; PRAGMA synchronous=OFF; PRAGMA cache_size=-65536;"

# Which posts of the side ?1 to take away: control posts that hold a listed term, those of authors with fewer
# than ?2, what an author wrote after the first ?2, those whose ids are in the list ?2, and all but those.
_REMOVED = {
    "terms": "term = ?2",
    "few": "draw IN (SELECT draw FROM posts WHERE side = ?1 GROUP BY draw HAVING count(*) < ?2)",
    "late": "id IN (SELECT id FROM (SELECT id, row_number() OVER (PARTITION BY draw ORDER BY time, id)"
    " AS place FROM posts WHERE side = ?1) WHERE place > ?2)",
    "ids": "id IN (SELECT value FROM json_each(?2))",
    "others": "id NOT IN (SELECT value FROM json_each(?2))",
}


@contextmanager
def opened_store(path: Path) -> Iterator["Posts"]:
    """An empty store that is closed at the end."""
    connection = sqlite3.connect(path, isolation_level=None)
    connection.row_factory = sqlite3.Row
    try:
        connection.executescript(_PRAGMAS)
        connection.execute(_TABLE)
        yield Posts(connection)
    except sqlite3.OperationalError as error:
        raise StoreFailure(
            what=f"the posts cannot be stored ({error})",
            code="curate.posts-not-stored",
            where=str(path.parent),
            allowed="a folder with free space that you may write to",
            do="free space or name another folder (`out`)",
        ) from error
    finally:
        connection.close()


@dataclass(frozen=True, slots=True)
class Candidate:
    """A post that may get into the corpus.

    `named` has a bit for each requested condition that its author discloses; `has_term` says whether it holds
    a term that control posts must not; `pick` orders samples of posts.
    """

    post: SpilledPost
    side: str
    named: int
    has_term: bool
    pick: int


class Posts:
    """A table of posts with the questions that curating asks of it."""

    def __init__(self, connection: sqlite3.Connection) -> None:
        self._rows = connection

    def add(self, candidates: Iterable[Candidate]) -> list[str]:
        """Add posts; return the places of those whose id is there already."""
        # One transaction for a file: one for each row would take many times as long.
        repeated_places = []
        self._rows.execute("BEGIN")
        for candidate in candidates:
            post = candidate.post
            row = (
                post.id,
                _hex(post.draw),
                post.who,
                candidate.side,
                candidate.named,
                post.time,
                post.subreddit,
                int(candidate.has_term),
                _hex(candidate.pick),
                post.text,
            )
            inserted = self._rows.execute("INSERT OR IGNORE INTO posts VALUES (?,?,?,?,?,?,?,?,?,?)", row)
            if not inserted.rowcount:
                repeated_places.append(post.place)
        self._rows.execute("COMMIT")
        return repeated_places

    def count(self, side: str) -> tuple[int, int]:
        """How many posts of how many authors there are on a side."""
        query = "SELECT count(*), count(DISTINCT draw) FROM posts WHERE side = ?"
        posts, authors = self._rows.execute(query, (side,)).fetchone()
        return int(posts), int(authors)

    def remove(self, side: str, which: str, value: int | list[str]) -> None:
        """Take posts of a side away: "terms", "few", "late", "ids" or all "others" (see above)."""
        # A list goes in as one JSON value, because SQLite limits the number of parameters.
        bound = json.dumps(value) if isinstance(value, list) else value
        self._rows.execute(f"DELETE FROM posts WHERE side = ?1 AND {_REMOVED[which]}", (side, bound))

    def by_pick(self, side: str, most: int, fits: Callable[[str, str], bool] | None = None) -> list[str]:
        """The ids of the first posts, at most so many, in the order of their draw; `fits`: by id and text."""
        rows = self._rows.execute("SELECT id FROM posts WHERE side = ? ORDER BY pick, id", (side,))
        ids = (id_ for (id_,) in rows)
        if fits is not None:
            # The text is read only where it is asked for, and no further than enough posts fit.
            ids = (id_ for id_ in ids if fits(id_, self.text(id_)))
        return list(islice(ids, most))

    def texts(self, side: str) -> Iterator[tuple[str, str]]:
        """The ids and texts of a side, one after the other."""
        yield from self._rows.execute("SELECT id, text FROM posts WHERE side = ? ORDER BY id", (side,))

    def text(self, id_: str) -> str:
        """The text of one post."""
        (text,) = self._rows.execute("SELECT text FROM posts WHERE id = ?", (id_,)).fetchone()
        return str(text)

    def oldest_first(self, ids: Sequence[str]) -> list[str]:
        """Those of these ids that are there, by the time of their posts."""
        query = "SELECT id FROM posts WHERE id IN (SELECT value FROM json_each(?)) ORDER BY time, id"
        return [id_ for (id_,) in self._rows.execute(query, (json.dumps(ids),))]

    def rows(self) -> Iterator[sqlite3.Row]:
        """All posts in the order of their draw; `draw` stands for the author inside, `who` outside."""
        yield from self._rows.execute(
            "SELECT id, draw, who, side, named, time, subreddit FROM posts ORDER BY pick, id"
        )


def _hex(number: int) -> str:
    """A draw as text that sorts as the number does; SQLite's whole numbers have a sign."""
    return f"{number:016x}"


@dataclass(slots=True)
class _Author:
    """What is known of one author after all their posts: counts of posts, and what any of them shows."""

    posts: int = 0
    inside: int = 0
    long: int = 0
    reports: int = 0
    mentions: int = 0
    mentioning: bool = False
    named: int = 0
    named_inside: int = 0
    listed: bool = False

    def add(self, post: SpilledPost, *, min_words: int) -> None:
        """Take one more post into account."""
        self.posts += 1
        # As many as have a text in the store, which is what `min_posts` counts for controls.
        if post.words >= min_words and not post.mentions:
            self.long += 1
        self.named |= post.named
        self.listed |= post.listed
        self.mentioning |= post.mentions
        if post.inside:
            self.inside += 1
            self.named_inside |= post.named
            if post.named:
                self.reports += 1
            elif post.mentions:
                self.mentions += 1


@dataclass(slots=True)
class Resolved:
    """How many posts and authors there are at the steps that are decided before a text is looked at."""

    posts: Counter[str] = field(default_factory=Counter)
    authors: Counter[str] = field(default_factory=Counter)
    by_condition: Counter[str] = field(default_factory=Counter)

    def count(self, step: str, posts: int) -> None:
        """Count one author with so many posts at a step."""
        self.posts[step] += posts
        self.authors[step] += 1


def resolve(
    files: Sequence[Path],
    how: Curating,
    store: Posts,
    tally: Tally,
) -> Resolved:
    """Put the posts of disclosing authors and of drawn control authors into the store, and count the rest.

    Files come in rising order of draws, so that the control authors with the lowest draws, a random sample,
    are complete when enough were met; after that no control's text is looked at.
    """
    resolved = Resolved()
    requested = mask_of_conditions(how.conditions)
    for path in files:
        authors = _authors(path, how, tally)
        side_of_author: dict[int, str] = {}
        named_by_author: dict[int, int] = {}
        # By draw, not in the order of the dumps: the first control authors are a random sample.
        for draw in sorted(authors):
            side = _side(
                author=authors[draw],
                how=how,
                requested=requested,
                resolved=resolved,
            )
            if side is not None:
                side_of_author[draw] = side
                named_by_author[draw] = authors[draw].named_inside & requested
        if not side_of_author:
            continue

        candidates = _candidates(
            path=path,
            side_of_author=side_of_author,
            named_by_author=named_by_author,
            seed=how.seed,
        )
        for place in store.add(candidates):
            tally.fault(DUPLICATE, place)
    return resolved


def _candidates(
    path: Path,
    side_of_author: Mapping[int, str],
    named_by_author: Mapping[int, int],
    seed: int,
) -> Iterator[Candidate]:
    """The posts of a file that may get into the corpus; authors are known by their draw."""
    has_listed_term = holds_term()
    for post in _distinct_posts(path):
        side = side_of_author.get(post.draw)
        if not post.raw or side is None:
            continue
        # Of disclosing authors, only posts in the requested subreddits.
        if side == DISCLOSING and not post.inside:
            continue

        # Terms are looked for in control posts only, which must not hold any.
        has_term = side == CONTROL and has_listed_term(words_in(post.text or ""))
        yield Candidate(
            post=post,
            side=side,
            named=named_by_author[post.draw],
            has_term=has_term,
            pick=draw_of(seed, post.id),
        )


def _side(
    author: _Author,
    how: Curating,
    requested: int,
    resolved: Resolved,
) -> str | None:
    """On which side an author stands, None for neither; every step on the way is counted."""
    resolved.count("read", author.posts)
    if author.inside:
        resolved.count("subreddits", author.inside)

    disclosed_conditions = author.named_inside & requested
    if disclosed_conditions:
        resolved.count("disclosing", author.inside)
        resolved.posts["reports"] += author.reports
        resolved.posts["mentions"] += author.mentions
        resolved.by_condition.update(conditions_of_mask(disclosed_conditions))
        return DISCLOSING
    # A condition that was not asked for, or reported elsewhere: neither disclosing nor a control.
    if author.named:
        resolved.count("other_condition", author.posts)
        return None

    # The order of the next tests is that of the steps in the funnel.
    if not how.controls or author.listed:
        return None
    resolved.count("never_listed", author.posts)
    # The patterns of reports miss some: whoever mentions a diagnosis of a condition at all is not a control.
    if author.mentioning:
        return None
    resolved.count("no_mentions", author.posts)
    if author.long < how.min_posts:
        return None
    resolved.count("control_long", author.long)

    # Authors come in the order of their draws, so the first ones are the sample.
    is_in_sample = resolved.authors["control_long"] <= how.control_authors
    return CONTROL if is_in_sample else None


def _authors(path: Path, how: Curating, tally: Tally) -> dict[int, _Author]:
    """The authors of a file by their draw; posts whose id repeats are counted as faults."""
    authors: dict[int, _Author] = defaultdict(_Author)
    for post in _distinct_posts(path, tally):
        authors[post.draw].add(post, min_words=how.min_words)
    return authors


def _distinct_posts(path: Path, tally: Tally | None = None) -> Iterator[SpilledPost]:
    """The posts of a file, the first of each id; further ones are counted where there is a tally."""
    seen_ids: set[str] = set()
    for post in spilled_posts(path):
        if post.id not in seen_ids:
            seen_ids.add(post.id)
            yield post
        elif tally is not None:
            tally.fault(DUPLICATE, post.place)
