"""The posts that may get into the corpus, on the disk, so that the last steps hold no more than they must."""

import sqlite3
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import NamedTuple

from psycheck.corpora.curate.spill import Kept
from psycheck.errors import StoreFailure

DISCLOSING_SIDE, CONTROL_SIDE = 1, 0
_TABLE = """CREATE TABLE posts (
 id TEXT PRIMARY KEY, draw TEXT, who TEXT, side INT, named INT, time INT, subreddit TEXT,
 term INT, pick TEXT, text TEXT) WITHOUT ROWID"""


@contextmanager
def opened_store(path: Path) -> Iterator["Posts"]:
    """An empty store that is closed at the end."""
    connection = sqlite3.connect(path, isolation_level=None)
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
            do="free space or name another folder (--out)",
        ) from error
    finally:
        connection.close()


class Row(NamedTuple):
    """One post as the last steps need it; `draw` stands for its author inside, `who` outside."""

    id: str
    draw: str
    who: str
    side: int
    named: int
    time: int
    subreddit: str
    pick: str
    text: str


class Posts:
    """A table of posts with the questions that curating asks of it."""

    def __init__(self, connection: sqlite3.Connection) -> None:
        self._rows = connection

    def add(self, posts: Iterable[tuple[Kept, int, int, bool, int]]) -> list[str]:
        """Add posts with side, conditions, term and pick; return the places of those whose id is known."""
        again = []
        self._rows.execute("BEGIN")
        for post, side, named, term, pick in posts:
            own = (post.id, _hex(post.draw), post.who, side, named, post.time, post.subreddit)
            row = (*own, int(term), _hex(pick), post.text)
            if not self._rows.execute(
                "INSERT OR IGNORE INTO posts VALUES (?,?,?,?,?,?,?,?,?,?)", row
            ).rowcount:
                again.append(post.place)
        self._rows.execute("COMMIT")
        return again

    def count(self, side: int) -> tuple[int, int]:
        """How many posts of how many authors there are on a side."""
        query = "SELECT count(*), count(DISTINCT draw) FROM posts WHERE side = ?"
        posts, authors = self._rows.execute(query, (side,)).fetchone()
        return int(posts), int(authors)

    def drop_terms(self) -> None:
        """Take away control posts that hold a listed term."""
        self._rows.execute("DELETE FROM posts WHERE side = 0 AND term = 1")

    def drop_few(self, side: int, fewest: int) -> None:
        """Take away authors with fewer posts."""
        self._rows.execute(
            "DELETE FROM posts WHERE side = ?1 AND draw IN"
            " (SELECT draw FROM posts WHERE side = ?1 GROUP BY draw HAVING count(*) < ?2)",
            (side, fewest),
        )

    def drop_late(self, side: int, most: int) -> None:
        """Take away what an author wrote after the first `most` posts."""
        self._rows.execute(
            "DELETE FROM posts WHERE side = ?1 AND id IN (SELECT id FROM (SELECT id, row_number() OVER"
            " (PARTITION BY draw ORDER BY time, id) AS place FROM posts WHERE side = ?1) WHERE place > ?2)",
            (side, most),
        )

    def by_pick(self, side: int, most: int) -> list[str]:
        """The ids of at most so many posts in the order of the draw of posts."""
        query = "SELECT id FROM posts WHERE side = ? ORDER BY pick, id LIMIT ?"
        return [id_ for (id_,) in self._rows.execute(query, (side, most))]

    def texts(self, side: int) -> Iterator[tuple[str, str]]:
        """The ids and texts of a side, one after the other."""
        yield from self._rows.execute("SELECT id, text FROM posts WHERE side = ? ORDER BY id", (side,))

    def text(self, id_: str) -> str:
        """The text of one post."""
        (text,) = self._rows.execute("SELECT text FROM posts WHERE id = ?", (id_,)).fetchone()
        return str(text)

    def drop(self, ids: Iterable[str]) -> None:
        """Take these posts away."""
        self._want(ids)
        self._rows.execute("DELETE FROM posts WHERE id IN (SELECT id FROM wanted)")

    def keep(self, side: int, ids: Iterable[str]) -> None:
        """Take all other posts of a side away."""
        self._want(ids)
        self._rows.execute("DELETE FROM posts WHERE side = ? AND id NOT IN (SELECT id FROM wanted)", (side,))

    def oldest_first(self, ids: Iterable[str]) -> list[str]:
        """Those of these ids that are there, by the time of their posts."""
        self._want(ids)
        query = "SELECT id FROM posts WHERE id IN (SELECT id FROM wanted) ORDER BY time, id"
        return [id_ for (id_,) in self._rows.execute(query)]

    def rows(self) -> Iterator[Row]:
        """All posts in the order of their draw, one after the other."""
        columns = "id, draw, who, side, named, time, subreddit, pick, text"
        for row in self._rows.execute(f"SELECT {columns} FROM posts ORDER BY pick, id"):
            yield Row(*row)

    def __len__(self) -> int:
        return int(self._rows.execute("SELECT count(*) FROM posts").fetchone()[0])

    def _want(self, ids: Iterable[str]) -> None:
        self._rows.executescript(
            "DROP TABLE IF EXISTS wanted; CREATE TEMP TABLE wanted (id TEXT PRIMARY KEY);"
        )
        self._rows.execute("BEGIN")
        self._rows.executemany("INSERT INTO wanted VALUES (?)", ((id_,) for id_ in ids))
        self._rows.execute("COMMIT")


def _hex(number: int) -> str:
    """A draw as text that sorts as the number does; SQLite's whole numbers have a sign."""
    return f"{number:016x}"
