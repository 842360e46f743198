"""The one pass over the dumps: what may be needed of each post is stored by author.

Who discloses, and who never posts where, is known only at the end. So the posts are put into files by their
author's draw, a seeded number of the name: all posts of an author lie in one file, later each file is
resolved by itself, and the authors of the first files are a random sample of all. Only hashes of names are
put aside.
"""

import json
import re
from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack
from dataclasses import dataclass
from hashlib import blake2b
from pathlib import Path
from time import monotonic
from typing import IO

from psycheck.corpora.curate.disclosure import conditions, disclosed, mentions_diagnosis
from psycheck.corpora.curate.dumps import Post, Tally, posts_of
from psycheck.corpora.curate.lexicons import is_person, listed_subreddits, subreddits_of
from psycheck.corpora.curate.settings import Curating
from psycheck.errors import BadInput

Progress = Callable[[str, int, int, float], None]

NOT_A_PERSON, GONE, OUTSIDE = "deleted or automatic account", "removed or empty text", "outside the time"
ELSEWHERE = "in another subreddit"
PROFILE = "u_"
"""The one group of all personal pages, which are named after their owner."""

_MOST_FILES = 256
_BYTES_A_FILE = 8 * 2**20
_HELD = 128
_DRAW_BITS = 64
_MOST_NAMES = 200_000
_EVERY = 20_000


@dataclass(frozen=True, slots=True)
class Kept:
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


def spill(
    dumps: Sequence[Path], how: Curating, salt: bytes, work: Path, progress: Progress, files: int | None
) -> tuple[list[Path], Tally]:
    """Read every dump once, and put its posts aside in `work`; the files come in rising order of draws."""
    from zstandard import ZstdCompressor

    tally = Tally()
    size = sum(path.stat().st_size for path in dumps)
    count = files or min(_MOST_FILES, max(4, size // _BYTES_A_FILE))
    paths = [work / f"posts-{k:03}.zst" for k in range(count)]
    held: list[list[str]] = [[] for _ in paths]
    started = monotonic()
    with ExitStack() as stack:
        outs: list[IO[bytes]] = [
            stack.enter_context(ZstdCompressor(level=1).stream_writer(path.open("wb"))) for path in paths
        ]
        for path in dumps:
            keep = _keeper(path, how, salt, tally)
            for n, post in enumerate(posts_of(path, tally, _elsewhere(how, tally))):
                if n % _EVERY == 0:
                    progress("reading", tally.read, size, monotonic() - started)
                if (found := keep(post)) is not None:
                    k = found[0] * count >> _DRAW_BITS
                    held[k].append(found[1])
                    if len(held[k]) >= _HELD:
                        outs[k].write(_encoded(held[k]))
                        held[k].clear()
        for out, mine in zip(outs, held, strict=True):
            out.write(_encoded(mine))
    return paths, tally


def put_aside(path: Path) -> Iterator[Kept]:
    """The posts of one file that `spill` wrote, in the order of the dumps."""
    from zstandard import ZstdDecompressor

    with path.open("rb") as file, ZstdDecompressor().stream_reader(file) as unpacked:
        rest = b""
        while chunk := unpacked.read(2**20):
            *lines, rest = (rest + chunk).split(b"\n")
            for line in lines:
                # JSON escapes tabs, so that the first one stands between the two parts.
                head, _, text = line.partition(b"\t")
                yield Kept(*[*json.loads(head), text])


def bits(named: int) -> list[str]:
    """The conditions of a bit mask."""
    return [name for k, name in enumerate(conditions()) if named >> k & 1]


def mask(names: Sequence[str]) -> int:
    """The bit mask of conditions."""
    return sum(1 << k for k, name in enumerate(conditions()) if name in names)


def salted(name: str, salt: bytes) -> str:
    """The public hash of a name, which cannot be undone without the salt."""
    return blake2b(name.encode("utf-8", "replace"), key=salt, digest_size=10).hexdigest()


def drawn(seed: int, name: str) -> int:
    """A number for a name that looks random, depends on nothing but the seed, and orders samples."""
    return int.from_bytes(
        blake2b(f"{seed}\0{name}".encode("utf-8", "replace"), digest_size=8).digest(), "big"
    )


def _keeper(path: Path, how: Curating, salt: bytes, tally: Tally) -> Callable[[Post], tuple[int, str] | None]:
    """A function from a post to its author's draw and the line to put aside, or None to leave it out."""
    scope = subreddits_of(how.subreddits)
    listed = listed_subreddits() | scope
    person, begin, end, shortest = is_person(), how.begin, how.end, how.min_words
    names: dict[str, tuple[int, str]] = {}
    dumps = json.dumps

    def keep(post: Post) -> tuple[int, str] | None:
        name, subreddit = post.author.lower(), post.subreddit.lower()
        known = names.get(name)
        inside = not scope or subreddit in scope
        if known is None and not person(name):
            why = NOT_A_PERSON
        elif not post.text:
            why = GONE
        elif not begin <= post.time < end:
            why = OUTSIDE
        elif not inside and not how.controls:
            why = ELSEWHERE
        else:
            if known is None:
                if len(names) >= _MOST_NAMES:
                    names.clear()
                known = names[name] = drawn(how.seed, name), salted(name, salt)
            words = len(post.text.split())
            named = mask(tuple(found)) if (found := disclosed(post.text)) else 0
            mentions = named != 0 or mentions_diagnosis(post.text)
            group = PROFILE if subreddit.startswith(PROFILE) else post.subreddit
            place = f"{path.name}:{post.line}"
            about = named, mentions, inside, subreddit in listed
            line = dumps((*known, post.id, group, post.time, words, *about, place), ensure_ascii=False)
            whole = words >= shortest and not mentions
            return known[0], f"{line}\t{dumps(post.text, ensure_ascii=False)}" if whole else line
        tally.left_out[why] += 1
        return None

    return keep


def _elsewhere(how: Curating, tally: Tally) -> Callable[[bytes], bool] | None:
    """A quick test on a raw line: whether it names no subreddit that matters and need not be parsed."""
    scope = {name.encode() for name in subreddits_of(how.subreddits)}
    if not scope or how.controls:
        return None
    named = re.compile(rb'"subreddit"\s*:\s*"([^"]*)"').findall

    def elsewhere(line: bytes) -> bool:
        # A cross-post holds the post it came from, so that a line may name several.
        found = named(line)
        if not found or any(name.lower() in scope for name in found):
            return False
        tally.left_out[ELSEWHERE] += 1
        return True

    return elsewhere


def _encoded(lines: list[str]) -> bytes:
    """Lines as bytes; half a surrogate pair, which JSON allows and UTF-8 does not, becomes a "?"."""
    return "".join(f"{line}\n" for line in lines).encode("utf-8", "replace")


def dumps_of(paths: Sequence[str | Path]) -> list[Path]:
    """The dumps in the order of their names, so that the order of the arguments does not matter."""
    distinct = {Path(path).resolve(): Path(path) for path in paths}
    found = sorted(distinct.values(), key=lambda path: (path.name, str(path)))
    if not found:
        raise BadInput("no dump given", do="psycheck curate DUMP… --out FOLDER")
    return found
