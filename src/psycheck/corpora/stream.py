"""The posts of a corpus of any size, one at a time, with bounded memory.

Files and dumps are read in pieces; the roles of columns are guessed from the first. Corpora that are shipped
or known, and saved dataset folders, are opened whole.
"""

import json
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path

from psycheck.core.corpus import Corpus, showable_id
from psycheck.core.errors import BadInput, counted
from psycheck.corpora.columns import Roles, assign, split_name
from psycheck.corpora.curate.dumps import Tally, check_dump, lines_of, posts_of
from psycheck.corpora.known.opening import known_name
from psycheck.corpora.opening import CorpusPlan, corpus_path, open_corpus
from psycheck.corpora.reading import EMPTY, cells_of, empty_id, texts_of
from psycheck.io.formats import JSON_LINES
from psycheck.io.streams import bad_file
from psycheck.io.tables import Table, format_by_ending, table_pieces

# The most posts and characters of a piece of a corpus: long posts fill the memory before many do.
POSTS = 2_000
LETTERS = 4_000_000

# The keys of a post or comment in the archives: all of these, and one of the others.
_DUMP_KEYS = {"id", "author", "subreddit", "created_utc"}
_DUMP_TEXT_KEYS = {"body", "selftext"}

Say = Callable[[str], None]


def _silent(note: str) -> None:
    """Report nothing."""


@dataclass(frozen=True, slots=True)
class Post:
    """One text of a corpus, with its id and, where they are known, its author and time."""

    id: str
    text: str
    author: str | None = None
    time: str | None = None


def stream_posts(plan: CorpusPlan, say: Say = _silent) -> Iterator[Post]:
    """The posts of a corpus in order; what was guessed or left out is reported to `say`.

    Of files and dumps only a piece is in memory. Whether ids are unique is not checked, which would take
    memory.
    """
    path = corpus_path(plan)
    if path is None or known_name(plan.path) is not None or path.is_dir():
        yield from _posts_of_opened(plan, say)
    elif is_dump(plan):
        yield from _posts_of_dump(path, say)
    else:
        yield from _posts_of_file(path, plan, say)


def stream_corpus(plan: CorpusPlan, say: Say = _silent) -> Iterator[Corpus]:
    """The corpus in pieces of at most 2,000 texts or 4 million letters, without labels, groups and splits.

    Ids are unique within a piece; empty texts are left out, and counted at the end.
    """
    name = plan.name or Path(plan.path).stem
    piece: list[Post] = []
    letters = 0
    texts = 0
    blank = 0

    for post in stream_posts(plan, say):
        if not post.text.strip():
            blank += 1
            continue
        texts += 1
        letters += len(post.text)
        piece.append(post)
        if len(piece) == POSTS or letters >= LETTERS:
            yield _corpus(name, piece)
            piece = []
            letters = 0

    if not texts:
        raise BadInput(
            what="there are no texts in it, or none of the split",
            code="corpus.no-texts",
            where=plan.path,
            do="name another text column (`text`)",
        )
    if piece:
        yield _corpus(name, piece)
    if blank:
        say(f"{counted(blank, 'row')} left out ({EMPTY})")


def _corpus(name: str, posts: Sequence[Post]) -> Corpus:
    return Corpus.of(
        name=name,
        texts=[post.text for post in posts],
        ids=[post.id for post in posts],
        author=[post.author for post in posts],
        time=[post.time for post in posts],
    )


def _posts_of_opened(plan: CorpusPlan, say: Say) -> Iterator[Post]:
    """The posts of a corpus that is opened whole."""
    corpus = open_corpus(plan)
    for note in corpus.notes:
        say(note)
    for reason, rows in corpus.left_out.items():
        say(f"{counted(rows, 'row')} left out ({reason})")

    posts = zip(
        corpus.ids,
        corpus.texts,
        corpus.strings("author"),
        corpus.strings("time"),
        strict=True,
    )
    for id_, text, author, time in posts:
        yield Post(
            id=id_,
            text=text,
            author=author,
            time=time,
        )


def is_dump(plan: CorpusPlan) -> bool:
    """Whether the first line is a post or a comment as the archives hold them, with the author's name."""
    path = corpus_path(plan)
    if path is None or not path.is_file():
        return False

    # The archives are JSON lines, but their names end in .zst alone, or in anything.
    format = format_by_ending(path.name)
    if format is not None and format.name != JSON_LINES.name:
        return False

    try:
        first_line = next(lines_of(path, Tally()), None)
        first = json.loads(first_line or b"{}")
    except (BadInput, ValueError, RecursionError):
        return False  # reported when it is read
    return (
        isinstance(first, dict)
        and first.keys() >= _DUMP_KEYS
        and not first.keys().isdisjoint(_DUMP_TEXT_KEYS)
    )


def _posts_of_dump(path: Path, say: Say) -> Iterator[Post]:
    check_dump(path)
    tally = Tally()
    for post in posts_of(path, tally):
        time = datetime.fromtimestamp(post.time, UTC).isoformat(timespec="seconds")
        yield Post(
            id=post.id,
            text=post.text,
            author=post.author,
            time=time,
        )
    for reason, count in sorted(tally.left_out.items()):
        say(f"left out: {count:,} ({reason})")


def _posts_of_file(path: Path, plan: CorpusPlan, say: Say) -> Iterator[Post]:
    roles: Roles | None = None
    for table in table_pieces(path, plan.format):
        # Later pieces are read like the first: a role never changes within a file.
        if roles is None:
            roles = assign(table, plan.columns)
            for note in (*table.notes, *roles.notes):
                say(note)
            if plan.split is not None and "split" not in roles.plain:
                raise bad_file(
                    path=table.path,
                    what="no column holds the splits",
                    code="corpus.no-split-column",
                    do="name it (`columns.split`)",
                )
        yield from _posts_of_table(table, roles, plan.split)


def _posts_of_table(table: Table, roles: Roles, split: str | None) -> Iterator[Post]:
    unknown: list[str | None] = [None] * len(table)
    ids = cells_of(table, roles.id)
    authors = cells_of(table, roles.plain.get("author")) or unknown
    times = cells_of(table, roles.plain.get("time")) or unknown
    splits = cells_of(table, roles.plain.get("split")) or unknown

    for index, text in enumerate(texts_of(table, roles.text)):
        # "val" and "validation" are both "dev", in the file as in the option.
        if split is not None:
            split_of_text = split_name(splits[index] or "")
            if split_of_text != split_name(split):
                continue

        # Without an id column, texts are numbered over all pieces.
        id_ = str(table.before + index + 1) if ids is None else ids[index]
        if id_ is None:
            raise empty_id(table, index, roles.id)
        yield Post(
            id=showable_id(id_),
            text=text,
            author=authors[index],
            time=times[index],
        )
