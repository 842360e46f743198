"""The one pass over the dumps: what may be needed of each post is stored by author.

Who discloses, and who never posts where, is known only at the end. So the posts are put into files by their
author's draw, a seeded number of the name: all posts of an author lie in one file, later each file is
resolved by itself, and the authors of the first files are a random sample of all. Only hashes of names are
put aside.
"""

import json
import re
import shutil
from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from hashlib import blake2b
from pathlib import Path
from time import monotonic
from typing import IO

from psycheck.core.errors import BadInput
from psycheck.corpora.curate.disclosure import conditions, disclosed, mentions_diagnosis
from psycheck.corpora.curate.dumps import Post, Tally, posts_of
from psycheck.corpora.curate.lexicons import is_person, listed_subreddits, subreddits_of
from psycheck.corpora.curate.settings import Curating

Progress = Callable[[str, int, int, float], None]

NOT_A_PERSON = "deleted or automatic account"
GONE = "removed or empty text"
OUTSIDE = "outside the time"
ELSEWHERE = "in another subreddit"
PROFILE = "u_"
"""The one group of all personal pages, which are named after their owner."""

_MOST_FILES = 256  # all of them are open at the same time
_BYTES_PER_FILE = 8 * 2**20  # of the compressed dumps; memory is bounded by one file
_LINES_PER_WRITE = 128  # a call of the compressor for each line would take longer than compressing
_DRAW_BITS = 64
_MOST_NAMES = 200_000  # authors whose draw and hash are remembered, so that they are not computed again
_POSTS_PER_REPORT = 20_000
_READ_BYTES = 2**20
# Within a raw line, so that a post of another subreddit need not be parsed.
_SUBREDDIT = re.compile(rb'"subreddit"\s*:\s*"([^"]*)"')


@dataclass(frozen=True, slots=True)
class SpilledPost:
    """One post as it is stored; its text only where it may get into the corpus, parsed on demand.

    `draw` stands for the author inside, `who` outside (salted); `named` has a bit for each condition that the
    post discloses, `mentions` says whether it speaks of any diagnosis; `inside` says whether it is in the
    requested subreddits, `listed` in those that control authors avoid.
    """

    draw: int
    who: str
    id: str
    subreddit: str
    time: int
    words: int
    named: int
    mentions: bool
    inside: bool
    listed: bool
    place: str
    raw: bytes

    @property
    def text(self) -> str | None:
        """The text; None where it was too short, or mentions a diagnosis."""
        return json.loads(self.raw) if self.raw else None


@dataclass(frozen=True, slots=True)
class DumpTask:
    """One dump to read, and the folder to put its posts aside in, in so many files."""

    dump: Path
    how: Curating
    salt: bytes
    folder: Path
    files: int


Spread = Callable[[Sequence[DumpTask]], Iterator[tuple[int, Tally]]]
"""Reads dumps (`spill_dump`) somewhere; gives the place and the tally of each as it is done, in any order."""


def spill(
    dumps: Sequence[Path],
    how: Curating,
    *,
    salt: bytes,
    work: Path,
    progress: Progress,
    files: int | None,
    spread: Spread | None = None,
) -> tuple[list[Path], Tally]:
    """Read every dump once, and put its posts aside in `work`; the files come in rising order of draws.

    With `spread` dumps are read beside each other, which gives the same posts in the same order.
    """
    size = sum(path.stat().st_size for path in dumps)
    file_count = files or min(_MOST_FILES, max(4, size // _BYTES_PER_FILE))
    started = monotonic()

    def report(read: int) -> None:
        progress("reading", read, size, monotonic() - started)

    if spread is not None:
        folders = [work / f"dump-{number:05}" for number in range(len(dumps))]
        tasks = [
            DumpTask(dump, how, salt, folder, file_count) for dump, folder in zip(dumps, folders, strict=True)
        ]
        tally = _spread_out(tasks, spread, report)
        return _joined(folders, _files_in(work, file_count)), tally

    tally = Tally()
    paths = _files_in(work, file_count)
    with _writers(paths) as writers:
        for dump in dumps:
            _put_aside(dump, how, salt, writers, tally, report)
    return paths, tally


def spill_dump(task: DumpTask) -> Tally:
    """Read one dump, and put its posts aside in the folder of the task."""
    task.folder.mkdir()
    tally = Tally()
    with _writers(_files_in(task.folder, task.files)) as writers:
        _put_aside(task.dump, task.how, task.salt, writers, tally, lambda read: None)
    return tally


def _spread_out(tasks: Sequence[DumpTask], spread: Spread, report: Callable[[int], None]) -> Tally:
    """Have all dumps read, and add up what was counted in the order of the dumps."""
    tallies: dict[int, Tally] = {}
    for place, tally in spread(tasks):
        tallies[place] = tally
        report(sum(done.read for done in tallies.values()))

    total = Tally()
    for place in range(len(tasks)):
        total.add(tallies[place])
    return total


def _joined(folders: Sequence[Path], paths: Sequence[Path]) -> list[Path]:
    """The files of all dumps one after the other, file by file; those of single dumps are removed."""
    for path in paths:
        with path.open("wb") as whole:
            for folder in folders:
                part = folder / path.name
                with part.open("rb") as file:
                    shutil.copyfileobj(file, whole)
                part.unlink()
    for folder in folders:
        folder.rmdir()
    return list(paths)


def _files_in(folder: Path, count: int) -> list[Path]:
    return [folder / f"posts-{number:03}.zst" for number in range(count)]


@contextmanager
def _writers(paths: Sequence[Path]) -> Iterator[list["_LineWriter"]]:
    """An open file for each path; what they hold back is written at the end."""
    with ExitStack() as stack:
        writers = [_LineWriter(stack, path) for path in paths]
        yield writers
        for writer in writers:
            writer.flush()


def _put_aside(
    dump: Path,
    how: Curating,
    salt: bytes,
    writers: Sequence["_LineWriter"],
    tally: Tally,
    report: Callable[[int], None],
) -> None:
    """Write a line for each post of a dump that may be needed to the file of its author's draw."""
    line_maker = _LineMaker(dump.name, how, salt)
    for number, post in enumerate(posts_of(dump, tally, _elsewhere_test(how, tally))):
        if number % _POSTS_PER_REPORT == 0:
            report(tally.read)

        reason = line_maker.reason_to_leave_out(post)
        if reason:
            tally.left_out[reason] += 1
        else:
            draw, line = line_maker.draw_and_line(post)
            # The draws from 0 to 2^64 are cut into as many equal ranges as there are files.
            file_number = draw * len(writers) >> _DRAW_BITS
            writers[file_number].write(line)


class _LineWriter:
    """A compressed file of lines that writes many at a time."""

    def __init__(self, stack: ExitStack, path: Path) -> None:
        from zstandard import ZstdCompressor

        # The fastest level: the files are soon read back and deleted.
        compressor = ZstdCompressor(level=1)
        self._file: IO[bytes] = stack.enter_context(compressor.stream_writer(path.open("wb")))
        self._lines: list[str] = []

    def write(self, line: str) -> None:
        """Add a line, which has no line break."""
        self._lines.append(line)
        if len(self._lines) >= _LINES_PER_WRITE:
            self.flush()

    def flush(self) -> None:
        """Hand the lines over to the compressor."""
        text = "".join(f"{line}\n" for line in self._lines)
        # Half a surrogate pair, which JSON allows and UTF-8 does not, becomes a "?".
        self._file.write(text.encode("utf-8", "replace"))
        self._lines.clear()


def spilled_posts(path: Path) -> Iterator[SpilledPost]:
    """The posts of one file that `spill` wrote, in the order of the dumps."""
    from zstandard import ZstdDecompressor

    with (
        path.open("rb") as file,
        ZstdDecompressor().stream_reader(
            file,
            # The posts of several dumps lie in a file one after the other, each compressed by itself.
            read_across_frames=True,
        ) as unpacked,
    ):
        beginning = b""  # of a line whose end is in the next chunk
        while chunk := unpacked.read(_READ_BYTES):
            *lines, beginning = (beginning + chunk).split(b"\n")
            for line in lines:
                # JSON escapes tabs, so that the first one stands between the two parts.
                fields, _, text = line.partition(b"\t")
                values = [*json.loads(fields), text]
                yield SpilledPost(*values)


def conditions_of_mask(mask: int) -> list[str]:
    """The conditions whose bits are set."""
    return [name for bit, name in enumerate(conditions()) if mask >> bit & 1]


def mask_of_conditions(names: Sequence[str]) -> int:
    """A number with one bit set for each of these conditions."""
    return sum(1 << bit for bit, name in enumerate(conditions()) if name in names)


def salted(name: str, salt: bytes) -> str:
    """The public hash of a name, which cannot be undone without the salt."""
    return blake2b(name.encode("utf-8", "replace"), key=salt, digest_size=10).hexdigest()


def draw_of(seed: int, name: str) -> int:
    """A number for a name that looks random, depends on nothing but the seed, and orders samples."""
    key = f"{seed}\0{name}".encode("utf-8", "replace")
    return int.from_bytes(blake2b(key, digest_size=8).digest(), "big")


class _LineMaker:
    """Decides which posts of a dump are put aside, and makes the lines for them."""

    def __init__(self, dump_name: str, how: Curating, salt: bytes) -> None:
        self._dump_name = dump_name
        self._salt = salt
        self._seed = how.seed
        self._min_words = how.min_words
        self._begin = how.begin
        self._end = how.end
        self._controls = how.controls
        self._requested = subreddits_of(how.subreddits)
        self._listed = listed_subreddits() | self._requested
        self._is_person = is_person()
        self._authors: dict[str, tuple[int, str]] = {}

    def reason_to_leave_out(self, post: Post) -> str | None:
        """Why a post is not put aside; None if it is."""
        # The cheapest tests come first. A remembered author has passed the first one before.
        author = post.author.lower()
        if author not in self._authors and not self._is_person(author):
            return NOT_A_PERSON
        if not post.text:
            return GONE
        if not self._begin <= post.time < self._end:
            return OUTSIDE
        # Posts elsewhere are needed to know what control authors write.
        if not self._controls and not self._is_inside(post.subreddit.lower()):
            return ELSEWHERE
        return None

    def draw_and_line(self, post: Post) -> tuple[int, str]:
        """The draw of a post's author, and the line to put aside: the fields, a tab, and the text."""
        subreddit = post.subreddit.lower()
        words = len(post.text.split())
        names = disclosed(post.text)
        named = mask_of_conditions(tuple(names)) if names else 0
        # A disclosure mentions a diagnosis, so the loose test is needed for the others only.
        mentions = named != 0 or mentions_diagnosis(post.text)

        # A personal page is named after its owner, and the name must not be stored.
        stored_subreddit = post.subreddit
        if subreddit.startswith(PROFILE):
            stored_subreddit = PROFILE

        draw, who = self._author(post.author.lower())
        # In the order of the fields of `SpilledPost`.
        fields = (
            draw,
            who,
            post.id,
            stored_subreddit,
            post.time,
            words,
            named,
            mentions,
            self._is_inside(subreddit),
            subreddit in self._listed,
            f"{self._dump_name}:{post.line}",
        )
        line = json.dumps(fields, ensure_ascii=False)
        # The text only where it can get into the corpus.
        if words >= self._min_words and not mentions:
            line = f"{line}\t{json.dumps(post.text, ensure_ascii=False)}"
        return draw, line

    def _is_inside(self, subreddit: str) -> bool:
        """Whether a subreddit, in small letters, is among the requested ones."""
        return not self._requested or subreddit in self._requested

    def _author(self, name: str) -> tuple[int, str]:
        """The draw and the public hash of an author's name, in small letters."""
        author = self._authors.get(name)
        if author is None:
            # All at once: keeping track of which author was seen last would cost more than hashing again.
            if len(self._authors) >= _MOST_NAMES:
                self._authors.clear()
            author = draw_of(self._seed, name), salted(name, self._salt)
            self._authors[name] = author
        return author


def _elsewhere_test(how: Curating, tally: Tally) -> Callable[[bytes], bool] | None:
    """A quick test on a raw line: whether it names no requested subreddit and need not be parsed."""
    # Control authors are judged by all their posts, wherever these are.
    requested = {name.encode() for name in subreddits_of(how.subreddits)}
    if not requested or how.controls:
        return None

    def is_elsewhere(line: bytes) -> bool:
        # A cross-post holds the post it came from, so that a line may name several.
        subreddits = _SUBREDDIT.findall(line)
        if not subreddits or any(name.lower() in requested for name in subreddits):
            return False
        tally.left_out[ELSEWHERE] += 1
        return True

    return is_elsewhere


def dumps_of(paths: Sequence[str | Path]) -> list[Path]:
    """The dumps in the order of their names, so that the order of the arguments does not matter."""
    # A dump that is named twice, by a link or another path, would count each post twice.
    distinct = {Path(path).resolve(): Path(path) for path in paths}
    dumps = sorted(distinct.values(), key=lambda path: (path.name, str(path)))
    if not dumps:
        raise BadInput(
            "no dump given",
            code="curate.no-dump",
            do="psycheck curate DUMP… --out FOLDER",
        )
    return dumps
