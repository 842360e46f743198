"""Dumps of posts and comments as their archives hold them: lines of JSON, read once, with bounded memory.

Fields as in the Pushshift dumps: `id`, `author`, `subreddit`, `created_utc`, and `body` of a comment or
`title` and `selftext` of a post. The time is in seconds; milliseconds and ISO dates are read too. A line that
cannot be used is counted with its number and never stops the work; a truncated or damaged file does.
"""

import json
from collections import Counter
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from psycheck.errors import BadInput, check_piece
from psycheck.files.streams import COMPRESSIONS, DAMAGED, MAGIC, decompressed

LONGEST = 8 * 2**20
"""The longest line that is read, in bytes; a longer one is passed over without being held."""

WINDOW = 2**31  # the dumps are compressed with --long=31
SHOWN = 20
HOPELESS = 1_000

BAD_JSON, NOT_UTF8, TOO_LONG, NO_FIELD = "not JSON", "not UTF-8", "line too long", "a field is missing"
ODD_TIME = "created_utc is not a time"
GONE = ("[removed]", "[deleted]")
_FAULTS = (BAD_JSON, NOT_UTF8, TOO_LONG, NO_FIELD, ODD_TIME)
_LAST_SECOND = 253_402_300_799  # of the year 9999
_MILLISECONDS = range(10**12, 10**13)  # 13 digits: 2001 to 2286
_CHUNK = 2**20
# A zstd block of 4 bytes can stand for 128 KiB, so that this much input gives 128 MiB at most.
_ZSTD_INPUT = 4096


@dataclass(frozen=True, slots=True)
class Post:
    """One post or comment of a dump."""

    id: str
    author: str
    subreddit: str
    time: int
    text: str
    line: int


@dataclass(slots=True)
class Tally:
    """Counts of the lines of all dumps, and of those that are not posts by reason, with places.

    `read` counts the bytes of the files as they lie on the disk, for progress.
    """

    lines: int = 0
    read: int = 0
    left_out: Counter[str] = field(default_factory=Counter)
    places: dict[str, list[str]] = field(default_factory=dict)
    in_a_row: int = 0

    def fault(self, why: str, place: str) -> None:
        """Count a line or a post that is left out; the first places of each reason are kept."""
        self.left_out[why] += 1
        places = self.places.setdefault(why, [])
        if len(places) < SHOWN:
            places.append(place)


def posts_of(path: Path, tally: Tally, skip: Callable[[bytes], bool] | None = None) -> Iterator[Post]:
    """The posts of one dump, in order; lines that are not posts are counted in `tally`.

    A line for which `skip` is true is not even parsed; `skip` counts what it passes over.
    """
    tally.in_a_row = 0
    for number, line in enumerate(lines_of(path, tally), start=1):
        tally.lines += 1
        if line is not None and (not line or line.isspace()):
            continue
        if line is not None and skip is not None and skip(line):
            tally.in_a_row = 0
            continue
        post = TOO_LONG if line is None else _post(line, number)
        if isinstance(post, Post):
            tally.in_a_row = 0
            yield post
            continue
        tally.fault(post, f"{path.name}:{number}")
        tally.in_a_row += 1
        if tally.in_a_row == HOPELESS:
            found = ", ".join(f"{why} {tally.left_out[why]:,}" for why in _FAULTS if tally.left_out[why])
            raise BadInput(
                f"{HOPELESS:,} lines in a row are not posts ({found})",
                where=f"{path}, lines {number - HOPELESS + 1} to {number}",
                allowed="one JSON object per line, UTF-8, with id, author, subreddit, body or selftext, and"
                " created_utc in seconds or milliseconds, or as an ISO date",
                do="check that this is a dump of posts or comments",
            )


def lines_of(path: Path, tally: Tally) -> Iterator[bytes | None]:
    """The lines of a dump without their ends; None for one that is longer than `LONGEST`."""
    rest: list[bytes] = []
    held, passing, done = 0, False, 0
    try:
        for chunk in _chunks(path, tally):
            *whole, last = chunk.split(b"\n")
            for piece in whole:
                line = b"".join((*rest, piece)) if rest else piece
                yield None if passing or len(line) > LONGEST else line
                rest, held, passing = [], 0, False
                done += 1
            held += len(last)
            if passing or held > LONGEST:
                rest, passing = [], True
            elif last:
                rest.append(last)
    except (EOFError, *DAMAGED) as error:
        what, do = f"damaged after {done:,} whole lines ({error})", "copy it again"
        if isinstance(error, EOFError):
            what = f"truncated after {done:,} whole lines"
            do += " and compare its size or checksum with the source's"
        where = f"{path}, line {done + 1}"
        raise BadInput(f"the dump is {what}", where=where, do=f"{do}; nothing was written") from None
    except OSError as error:
        raise BadInput(f"the dump cannot be read ({error.strerror})", where=str(path)) from None
    if passing:
        yield None
    elif rest:
        yield b"".join(rest)


def check_dump(path: Path) -> None:
    """Refuse an unreadable file, or one whose compression does not match its extension, before any work."""
    try:
        with path.open("rb") as file:
            head = file.read(4)
    except OSError as error:
        what = f"the dump cannot be read ({error.strerror})"
        raise BadInput(what, where=str(path), allowed="files of JSON lines, plain or .gz or .zst") from None
    if not head:
        raise BadInput("the dump is empty", where=str(path))
    for suffix, compression in COMPRESSIONS.items():
        if (path.suffix == suffix) != head.startswith(MAGIC[compression]):
            named = f"named '{suffix}', but is not" if path.suffix == suffix else f"of the kind '{suffix}'"
            change = "remove the extension from" if path.suffix == suffix else f"add '{suffix}' to"
            raise BadInput(f"the dump is {named}", where=str(path), do=f"{change} its name")


def _post(line: bytes, number: int) -> Post | str:
    """The post of a line, or why it is none: a field is missing or of the wrong type."""
    try:
        raw = json.loads(line.decode("utf-8"))
        id_, author, subreddit, created = raw["id"], raw["author"], raw["subreddit"], raw["created_utc"]
        body = raw.get("body")
    except UnicodeDecodeError:
        return NOT_UTF8
    except (ValueError, RecursionError):
        return BAD_JSON
    except (KeyError, TypeError, AttributeError):
        return NO_FIELD
    kind = "t3_" if body is None else "t1_"
    if body is None:
        title, body = raw.get("title"), raw.get("selftext")
        if not isinstance(body, str):
            body = "" if isinstance(title, str) else None
        elif isinstance(title, str) and body and body not in GONE:
            body = f"{title}\n{body}"
    strings = isinstance(id_, str) and isinstance(author, str) and isinstance(subreddit, str)
    if not strings or not id_ or not isinstance(body, str) or created is None:
        return NO_FIELD
    time = created if type(created) is int and 0 <= created <= _LAST_SECOND else seconds_of(created)
    if time is None:
        return ODD_TIME
    text = "" if body in GONE else body
    return Post(id_ if id_.startswith(kind) else kind + id_, author, subreddit, time, text, number)


def seconds_of(created: Any) -> int | None:
    """The seconds of a time in another form (an ISO date without a zone is UTC); None if it is not a time."""
    if isinstance(created, bool) or not isinstance(created, int | float | str):
        return None
    try:
        time = int(created)
    except (ValueError, OverflowError):
        try:
            when = datetime.fromisoformat(str(created).strip())
            time = int((when if when.tzinfo else when.replace(tzinfo=UTC)).timestamp())
        except (ValueError, OverflowError):
            return None
    if time in _MILLISECONDS:
        time //= 1000
    return time if 0 <= time <= _LAST_SECOND else None


def _chunks(path: Path, tally: Tally) -> Iterator[bytes]:
    """The decompressed bytes in pieces of bounded size; EOFError if the end is missing."""
    before = tally.read
    with path.open("rb") as file:
        compression = COMPRESSIONS.get(path.suffix)
        for chunk in decompressed(file, compression, step=_ZSTD_INPUT, window=WINDOW, chunk=_CHUNK):
            tally.read = before + file.tell()
            yield check_piece(chunk, 0, str(path))  # read once and not kept
