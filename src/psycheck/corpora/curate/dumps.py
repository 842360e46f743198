"""Dumps of posts and comments as their archives hold them: lines of JSON, read once, with bounded memory.

Fields as in the Pushshift dumps: `id`, `author`, `subreddit`, `created_utc`, and `body` of a comment or
`title` and `selftext` of a post. The time is in seconds; milliseconds and ISO dates are read too. A line that
cannot be used is counted with its number and never stops the work; a truncated or damaged file does.
"""

import json
from collections import Counter
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from psycheck.core.errors import BadInput, check_piece
from psycheck.io.streams import COMPRESSIONS, DAMAGED, MAGIC, decompressed

LONGEST = 8 * 2**20
"""The longest line that is read, in bytes; a longer one is passed over without being held."""

WINDOW = 2**31  # the dumps are compressed with --long=31
SHOWN = 20  # places of unusable lines that are kept for each reason
HOPELESS = 1_000  # unusable lines in a row after which the file is taken not to be a dump

BAD_JSON = "not JSON"
NOT_UTF8 = "not UTF-8"
TOO_LONG = "line too long"
NO_FIELD = "a field is missing"
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

    def add(self, later: "Tally") -> None:
        """Add what was counted in a later dump."""
        self.lines += later.lines
        self.read += later.read
        self.left_out.update(later.left_out)
        for why, places in later.places.items():
            known_places = self.places.setdefault(why, [])
            known_places += places[: SHOWN - len(known_places)]


def posts_of(path: Path, tally: Tally, skip: Callable[[bytes], bool] | None = None) -> Iterator[Post]:
    """The posts of one dump, in order; lines that are not posts are counted in `tally`.

    A line for which `skip` is true is not even parsed; `skip` counts what it passes over.
    """
    tally.in_a_row = 0
    for number, line in enumerate(lines_of(path, tally), start=1):
        tally.lines += 1
        if line is None:
            post: Post | str = TOO_LONG
        elif not line or line.isspace():
            continue
        elif skip is not None and skip(line):
            # A line that names a subreddit is a post, if not one of those that were asked for.
            tally.in_a_row = 0
            continue
        else:
            post = _post(line, number)

        if isinstance(post, Post):
            tally.in_a_row = 0
            yield post
        else:
            tally.fault(post, f"{path.name}:{number}")
            tally.in_a_row += 1
            if tally.in_a_row == HOPELESS:
                raise _no_dump_of_posts(path, number, tally)


def _no_dump_of_posts(path: Path, number: int, tally: Tally) -> BadInput:
    """The error for a file whose last lines, up to `number`, were all unusable."""
    faults = [why for why in _FAULTS if tally.left_out[why]]
    counts = ", ".join(f"{why} {tally.left_out[why]:,}" for why in faults)
    return BadInput(
        what=f"{HOPELESS:,} lines in a row are not posts ({counts})",
        code="dump.not-posts",
        where=f"{path}, lines {number - HOPELESS + 1} to {number}",
        allowed="one JSON object per line, UTF-8, with id, author, subreddit, body or selftext, and"
        " created_utc in seconds or milliseconds, or as an ISO date",
        do="check that this is a dump of posts or comments",
    )


def lines_of(path: Path, tally: Tally) -> Iterator[bytes | None]:
    """The lines of a dump without their ends; None for one that is longer than `LONGEST`."""
    # An error names the line after the last whole one: that is where a copy of the dump broke off.
    finished_lines = 0
    try:
        for line in _cut_into_lines(_chunks(path, tally)):
            yield line
            finished_lines += 1
    except (EOFError, *DAMAGED) as error:
        raise _damaged(path, finished_lines, error) from None
    except OSError as error:
        raise BadInput(
            f"the dump cannot be read ({error.strerror})",
            code="dump.unreadable",
            where=str(path),
        ) from None


def _cut_into_lines(chunks: Iterator[bytes]) -> Iterator[bytes | None]:
    """The lines of chunks that may end within a line; None for one that is longer than `LONGEST`."""
    # The pieces of a line that began in an earlier chunk; dropped as soon as the line is too long.
    pieces: list[bytes] = []
    held_bytes = 0
    too_long = False
    for chunk in chunks:
        *ends, beginning = chunk.split(b"\n")
        for end in ends:
            # Most lines lie within one chunk and need not be joined.
            line = b"".join((*pieces, end)) if pieces else end
            yield None if too_long or len(line) > LONGEST else line
            pieces = []
            held_bytes = 0
            too_long = False

        held_bytes += len(beginning)
        if too_long or held_bytes > LONGEST:
            pieces = []
            too_long = True
        elif beginning:
            pieces.append(beginning)

    # The last line need not end in a line break.
    if too_long:
        yield None
    elif pieces:
        yield b"".join(pieces)


def _damaged(path: Path, finished_lines: int, error: Exception) -> BadInput:
    """The error for a dump that ends too early, or whose compression is broken, after so many lines."""
    where = f"{path}, line {finished_lines + 1}"
    if isinstance(error, EOFError):
        return BadInput(
            what=f"the dump is truncated after {finished_lines:,} whole lines",
            code="dump.truncated",
            where=where,
            do="copy it again and compare its size or checksum with the source's; nothing was written",
        )
    return BadInput(
        what=f"the dump is damaged after {finished_lines:,} whole lines ({error})",
        code="dump.damaged",
        where=where,
        do="copy it again; nothing was written",
    )


def check_dump(path: Path) -> None:
    """Refuse an unreadable file, or one whose compression does not match its extension, before any work."""
    try:
        with path.open("rb") as file:
            first_bytes = file.read(4)
    except OSError as error:
        raise BadInput(
            what=f"the dump cannot be read ({error.strerror})",
            code="dump.unreadable",
            where=str(path),
            allowed="files of JSON lines, plain or .gz or .zst",
        ) from None
    if not first_bytes:
        raise BadInput("the dump is empty", code="dump.empty", where=str(path))

    # Reading goes by the extension: under a wrong one, not a single line would be a post.
    for suffix, compression in COMPRESSIONS.items():
        has_suffix = path.suffix == suffix
        is_compressed = first_bytes.startswith(MAGIC[compression])
        if has_suffix and not is_compressed:
            raise BadInput(
                what=f"the dump is named '{suffix}', but is not",
                code="dump.wrong-extension",
                where=str(path),
                do="remove the extension from its name",
            )
        if is_compressed and not has_suffix:
            raise BadInput(
                what=f"the dump is of the kind '{suffix}'",
                code="dump.wrong-extension",
                where=str(path),
                do=f"add '{suffix}' to its name",
            )


def _post(line: bytes, number: int) -> Post | str:
    """The post of a line, or why it is none: a field is missing or of the wrong type."""
    try:
        raw = json.loads(line.decode("utf-8"))
        id_ = raw["id"]
        author = raw["author"]
        subreddit = raw["subreddit"]
        created = raw["created_utc"]
        body = raw.get("body")
    except UnicodeDecodeError:
        return NOT_UTF8
    except (ValueError, RecursionError):
        return BAD_JSON
    except (KeyError, TypeError, AttributeError):
        return NO_FIELD

    # Reddit's prefixes: t1_ for comments, which have a body, t3_ for posts.
    prefix = "t3_" if body is None else "t1_"
    text: Any = _text_of_post(raw) if body is None else body
    # Types are checked after parsing, for all fields at once: nearly every line has the right ones.
    if not all(isinstance(value, str) for value in (id_, author, subreddit, text)):
        return NO_FIELD
    if not id_ or created is None:
        return NO_FIELD

    time = seconds_of(created)
    if time is None:
        return ODD_TIME
    return Post(
        id=prefix + id_.removeprefix(prefix),
        author=author,
        subreddit=subreddit,
        time=time,
        text="" if text in GONE else text,
        line=number,
    )


def _text_of_post(raw: Mapping[str, Any]) -> str | None:
    """Title and text of a post as one text; a post without a text of its own (a link, removed) has none."""
    title = raw.get("title")
    text = raw.get("selftext")
    if not isinstance(text, str):
        return "" if isinstance(title, str) else None
    if isinstance(title, str) and text and text not in GONE:
        return f"{title}\n{text}"
    return text


def seconds_of(created: Any) -> int | None:
    """The seconds of a time in any form (an ISO date without a zone is UTC); None if it is not a time."""
    # Nearly every line of a dump has plain seconds.
    if type(created) is int and 0 <= created <= _LAST_SECOND:
        return created
    if isinstance(created, bool) or not isinstance(created, int | float | str):
        return None

    # Older dumps have the seconds as a string.
    try:
        time = int(created)
    except (ValueError, OverflowError):
        iso_seconds = _seconds_of_iso_date(str(created).strip())
        if iso_seconds is None:
            return None
        time = iso_seconds
    if time in _MILLISECONDS:
        time //= 1000
    return time if 0 <= time <= _LAST_SECOND else None


def _seconds_of_iso_date(written: str) -> int | None:
    try:
        moment = datetime.fromisoformat(written)
        if moment.tzinfo is None:
            moment = moment.replace(tzinfo=UTC)
        return int(moment.timestamp())
    except (ValueError, OverflowError):
        return None


def _chunks(path: Path, tally: Tally) -> Iterator[bytes]:
    """The decompressed bytes in pieces of bounded size; EOFError if the end is missing."""
    read_before = tally.read
    with path.open("rb") as file:
        chunks = decompressed(
            file=file,
            compression=COMPRESSIONS.get(path.suffix),
            step=_ZSTD_INPUT,
            window=WINDOW,
            chunk=_CHUNK,
        )
        for chunk in chunks:
            tally.read = read_before + file.tell()
            yield check_piece(chunk, 0, str(path))  # read once and not kept
