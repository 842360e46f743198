"""The posts that may get into the corpus, on the disk, so that the last steps hold no more than they must.

Authors are resolved one file at a time: who discloses, who may be a control, and whose posts go on.
"""

import json
import sqlite3
from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from itertools import islice
from pathlib import Path

from psycheck.corpora.curate.dumps import Tally
from psycheck.corpora.curate.lexicons import holds_term, words_in
from psycheck.corpora.curate.settings import Curating
from psycheck.corpora.curate.spill import Kept, bits, drawn, mask, put_aside
from psycheck.errors import StoreFailure

DISCLOSING, CONTROL = "disclosing", "control"
DUPLICATE = "duplicate id"
_TABLE = """CREATE TABLE posts (
 id TEXT PRIMARY KEY, draw TEXT, who TEXT, side TEXT, named INT, time INT, subreddit TEXT,
 term INT, pick TEXT, text TEXT) WITHOUT ROWID"""

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
        # The file is thrown away after a crash, so nothing is gained by waiting for the disk.
        connection.executescript("PRAGMA journal_mode=OFF; PRAGMA synchronous=OFF; PRAGMA cache_size=-65536;")
        connection.execute(_TABLE)
        yield Posts(connection)
    except sqlite3.OperationalError as error:
        raise StoreFailure(
            f"the posts cannot be stored ({error})",
            where=str(path.parent),
            allowed="a folder with free space that you may write to",
            do="free space or name another folder (`out`)",
        ) from error
    finally:
        connection.close()


class Posts:
    """A table of posts with the questions that curating asks of it."""

    def __init__(self, connection: sqlite3.Connection) -> None:
        self._rows = connection

    def add(self, posts: Iterable[tuple[Kept, str, int, bool, int]]) -> list[str]:
        """Add posts with side, conditions, term and pick; return the places of those whose id is known."""
        again = []
        self._rows.execute("BEGIN")
        for post, side, named, term, pick in posts:
            own = (post.id, _hex(post.draw), post.who, side, named, post.time, post.subreddit)
            row = (*own, int(term), _hex(pick), post.text)
            query = "INSERT OR IGNORE INTO posts VALUES (?,?,?,?,?,?,?,?,?,?)"
            if not self._rows.execute(query, row).rowcount:
                again.append(post.place)
        self._rows.execute("COMMIT")
        return again

    def count(self, side: str) -> tuple[int, int]:
        """How many posts of how many authors there are on a side."""
        query = "SELECT count(*), count(DISTINCT draw) FROM posts WHERE side = ?"
        posts, authors = self._rows.execute(query, (side,)).fetchone()
        return int(posts), int(authors)

    def remove(self, side: str, which: str, value: int | list[str]) -> None:
        """Take posts of a side away: "terms", "few", "late", "ids" or all "others" (see above)."""
        bound = json.dumps(value) if isinstance(value, list) else value
        self._rows.execute(f"DELETE FROM posts WHERE side = ?1 AND {_REMOVED[which]}", (side, bound))

    def by_pick(self, side: str, most: int, fits: Callable[[str, str], bool] | None = None) -> list[str]:
        """The ids of the first posts, at most so many, in the order of their draw; `fits`: by id and text."""
        # The text is read only where it is asked for, and no further than enough posts fit.
        ids = self._rows.execute("SELECT id FROM posts WHERE side = ? ORDER BY pick, id", (side,))
        return list(islice((id_ for (id_,) in ids if fits is None or fits(id_, self.text(id_))), most))

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


def resolve(files: Sequence[Path], how: Curating, store: Posts, tally: Tally) -> Resolved:
    """Put the posts of disclosing authors and of drawn control authors into the store, and count the rest.

    Files come in rising order of draws, so that the control authors with the lowest draws, a random sample,
    are complete when enough were met; after that no control's text is looked at.
    """
    done = Resolved()
    wanted = mask(how.conditions)
    holds = holds_term()
    for path in files:
        authors = _authors(path, how, tally)
        sides = {draw: _side(authors[draw], how, wanted, done) for draw in sorted(authors)}
        if set(sides.values()) <= {None}:
            continue
        again = store.add(
            (
                post,
                side,
                authors[post.draw].named_inside & wanted,
                side == CONTROL and holds(words_in(post.text or "")),
                drawn(how.seed, post.id),
            )
            for post in _distinct(path)
            if post.raw and (side := sides[post.draw]) is not None and (post.inside or side == CONTROL)
        )
        for place in again:
            tally.fault(DUPLICATE, place)
    return done


def _side(author: _Author, how: Curating, wanted: int, done: Resolved) -> str | None:
    """On which side an author stands, None for neither; every step on the way is counted."""
    done.count("read", author.posts)
    if author.inside:
        done.count("subreddits", author.inside)
    if author.named_inside & wanted:
        done.count("disclosing", author.inside)
        done.posts["reports"] += author.reports
        done.posts["mentions"] += author.mentions
        done.by_condition.update(bits(author.named_inside & wanted))
        return DISCLOSING
    if author.named:
        done.count("other_condition", author.posts)
        return None
    if not how.controls or author.listed:
        return None
    done.count("never_listed", author.posts)
    # The patterns of reports miss some: whoever mentions a diagnosis of a condition at all is not a control.
    if author.mentioning:
        return None
    done.count("no_mentions", author.posts)
    if author.long < how.min_posts:
        return None
    done.count("control_long", author.long)
    return CONTROL if done.authors["control_long"] <= how.control_authors else None


def _authors(path: Path, how: Curating, tally: Tally) -> dict[int, _Author]:
    authors: dict[int, _Author] = defaultdict(_Author)
    for post in _distinct(path, tally):
        author = authors[post.draw]
        author.posts += 1
        author.long += post.words >= how.min_words and not post.mentions
        author.named |= post.named
        author.listed |= post.listed
        author.mentioning |= post.mentions
        if post.inside:
            author.inside += 1
            author.reports += post.named != 0
            author.mentions += post.mentions and not post.named
            author.named_inside |= post.named
    return authors


def _distinct(path: Path, tally: Tally | None = None) -> Iterator[Kept]:
    """The posts of a file, the first of each id; further ones are counted where there is a tally."""
    met: set[str] = set()
    for post in put_aside(path):
        if post.id not in met:
            met.add(post.id)
            yield post
        elif tally is not None:
            tally.fault(DUPLICATE, post.place)
