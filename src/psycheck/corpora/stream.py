"""The posts of a corpus of any size, one at a time, with bounded memory.

Files and dumps are read in pieces; the roles of columns are guessed from the first. Corpora that are shipped
or known, and saved dataset folders, are opened whole.
"""

import json
from array import array
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from itertools import islice
from pathlib import Path

from psycheck.corpora.arrow import parquet_pieces
from psycheck.corpora.columns import Roles, assign, split_name
from psycheck.corpora.curate.dumps import Tally, check_dump, lines_of, posts_of
from psycheck.corpora.known.open import known_name
from psycheck.corpora.open import CorpusPlan, corpus_path, open_corpus
from psycheck.corpora.read import EMPTY, cells_of, texts_of
from psycheck.corpora.tables import FORMATS, HOLDS_TEXTS, Table, format_of
from psycheck.corpus import Corpus, showable_id
from psycheck.errors import BadInput, counted
from psycheck.files.rows import separated_rows
from psycheck.files.streams import Lines, bad_file, json_values

PIECE = 1_000  # rows of a text file that are held at a time
POSTS, LETTERS = 2_000, 4_000_000  # of a piece of a corpus, at most
_DUMP = ({"id", "author", "subreddit", "created_utc"}, {"body", "selftext"})


@dataclass(frozen=True, slots=True)
class Post:
    """One text of a corpus, with its id and, where they are known, its author and time."""

    id: str
    text: str
    author: str | None = None
    time: str | None = None


def stream_posts(plan: CorpusPlan, say: Callable[[str], None] = lambda note: None) -> Iterator[Post]:
    """The posts of a corpus in order; what was guessed or left out is told to `say`.

    Of CSV, TSV, JSON lines, Parquet and dumps only a piece is held. Whether ids are unique is not checked,
    which would take memory.
    """
    path = corpus_path(plan)
    if path is None or known_name(plan.path) is not None or path.is_dir():
        yield from _opened(plan, say)
        return
    if is_dump(plan):
        yield from _dumped(path, say)
        return
    kind = format_of(path, plan.format)
    roles: Roles | None = None
    for table in parquet_pieces(path) if kind == "parquet" else _pieces(path, kind):
        if roles is None:
            roles = assign(table, plan.columns)
            for note in (*table.notes, *roles.notes):
                say(note)
        yield from _posts(table, roles, plan.split)


def stream_corpus(plan: CorpusPlan, say: Callable[[str], None] = lambda note: None) -> Iterator[Corpus]:
    """The corpus in pieces of at most 2,000 texts or 4 million letters, without labels, groups and splits.

    Ids are unique within a piece; empty texts are left out, and counted at the end.
    """
    name, piece, letters, empty, blank = plan.name or Path(plan.path).stem, list[Post](), 0, True, 0
    for post in stream_posts(plan, say):
        if not post.text.strip():
            blank += 1
            continue
        piece.append(post)
        letters, empty = letters + len(post.text), False
        if len(piece) == POSTS or letters >= LETTERS:
            yield _corpus(name, piece)
            piece, letters = [], 0
    if empty:
        what = "there are no texts in it, or none of the split"
        raise BadInput(what, where=plan.path, do="name another text column (`text`)")
    if piece:
        yield _corpus(name, piece)
    if blank:
        say(f"{counted(blank, 'row')} left out ({EMPTY})")


def _corpus(name: str, posts: Sequence[Post]) -> Corpus:
    return Corpus.of(
        name,
        [post.text for post in posts],
        ids=[post.id for post in posts],
        author=[post.author for post in posts],
        time=[post.time for post in posts],
    )


def _opened(plan: CorpusPlan, say: Callable[[str], None]) -> Iterator[Post]:
    corpus = open_corpus(plan)
    left_out = (f"{counted(rows, 'row')} left out ({why})" for why, rows in corpus.left_out.items())
    for note in (*corpus.notes, *left_out):
        say(note)
    strings = (corpus.strings(column) for column in ("author", "time"))
    for one in zip(corpus.ids, corpus.texts, *strings, strict=True):
        yield Post(*one)


def is_dump(plan: CorpusPlan) -> bool:
    """Whether the first line is a post or a comment as the archives hold them, with the author's name."""
    path = corpus_path(plan)
    if path is None or not path.is_file() or FORMATS.get(path.suffix.lower(), "jsonl") != "jsonl":
        return False
    try:
        first = json.loads(next(lines_of(path, Tally()), None) or b"{}")
    except (BadInput, ValueError, RecursionError):
        return False  # reported when it is read
    always, either = _DUMP
    return isinstance(first, dict) and always <= first.keys() and bool(either & first.keys())


def _dumped(path: Path, say: Callable[[str], None]) -> Iterator[Post]:
    check_dump(path)
    tally = Tally()
    for post in posts_of(path, tally):
        time = datetime.fromtimestamp(post.time, UTC).isoformat(timespec="seconds")
        yield Post(post.id, post.text, post.author, time)
    for why, count in sorted(tally.left_out.items()):
        say(f"left out: {count:,} ({why})")


def _posts(table: Table, roles: Roles, split: str | None) -> Iterator[Post]:
    ids = cells_of(table, roles.id)
    strings = [cells_of(table, roles.plain.get(role)) for role in ("author", "time", "split")]
    author, time, splits = (column or [None] * len(table) for column in strings)
    if split is not None and "split" not in roles.plain:
        raise bad_file(table.path, "no column holds the splits", do="name it (`columns.split`)")
    for i, text in enumerate(texts_of(table, roles.text)):
        if split is not None and split_name(splits[i] or "") != split_name(split):
            continue
        name = str(table.before + i + 1) if ids is None else ids[i]
        if name is None:
            do = "correct it, name another id column (`id=COLUMN`), or number the rows (`id=none`)"
            raise BadInput("the id is empty", where=table.where(i, roles.id), do=do)
        yield Post(showable_id(name), text, author[i], time[i])


def _pieces(path: Path, kind: str) -> Iterator[Table]:
    """The pieces of a text file; a TSV file whose first piece is not quoted is read without quotes."""
    if kind == "jsonl":
        pieces = _json_pieces(path)
    elif kind == "csv":
        pieces = _separated_pieces(path, ",", quoted=True)
    else:
        try:
            next(_separated_pieces(path, "\t", quoted=True), None)
            quoted = True
        except BadInput:
            quoted = False
        pieces = _separated_pieces(path, "\t", quoted=quoted)
    first = next(pieces, None)
    if first is None or not len(first):
        what = "the file is empty" if first is None else "there are columns but no rows"
        raise bad_file(path, what, do=HOLDS_TEXTS)
    yield first
    yield from pieces


def _separated_pieces(path: Path, delimiter: str, *, quoted: bool) -> Iterator[Table]:
    lines = Lines(path, row=0, kept=False)
    rows = separated_rows(lines, delimiter, quoted=quoted)
    names = next(rows, None)
    before = 0
    while names is not None:
        starts, held = array("q"), list[list[str]]()
        for row in islice(rows, PIECE):
            held.append(row)
            starts.append(lines.start)
        if not held and before:
            return
        cells = zip(*held, strict=True) if held else [()] * len(names)
        yield Table(path, dict(zip(names, cells, strict=True)), starts, before=before)
        before += max(len(held), 1)


def _json_pieces(path: Path) -> Iterator[Table]:
    lines = Lines(path, row=1, kept=False)
    values = json_values(lines)
    names: dict[str, None] = {}  # of all pieces so far: a later row may leave a column out
    before = 0
    while True:
        starts, held = array("q"), list[dict[str, object]]()
        for row in islice(values, PIECE):
            held.append(row)
            starts.append(lines.line)
            names.update(dict.fromkeys(row))
        if not held:
            return
        yield Table(path, {name: [row.get(name) for row in held] for name in names}, starts, before=before)
        before += len(held)
