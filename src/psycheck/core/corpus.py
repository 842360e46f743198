"""Texts with stable ids and what is known about them."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from hashlib import blake2b
from types import MappingProxyType
from typing import Any, Self

import numpy as np
import polars as pl

from psycheck.core.arrays import BoolArray, FloatArray, IntArray
from psycheck.core.errors import BadInput, counted, nearest

Strings = Sequence[str | None]
"""One string per text, None where nothing is known."""
Marks = Sequence[float | None]
"""One annotation per text in 0..1, None where it was not annotated."""

# How the columns of labels and groups begin in the table.
LABEL = "label:"
GROUP = "group:"
PLAIN = ("author", "time", "split")
HISTORY = ("posts", "times", "post_ids")  # columns of a corpus of histories, a list for each author

_LONGEST_ID = 40  # bytes
_WORDS_OF_PROSE = 3
_UNDECIDED = 0.5  # annotators saw the text and could not say
# The columns of a table are joined by characters that texts do not hold, so that no two tables look alike.
_BETWEEN_COLUMNS = "\x1d"
_BETWEEN_ROWS = "\x1e"
_BETWEEN_POSTS = "\x1f"
_NULL = "\x00"


def _nothing() -> Mapping[str, Any]:
    """An empty mapping that nobody can change: corpora share it."""
    return MappingProxyType({})


def showable_id(name: str) -> str:
    """The id, or a digest if it looks like prose: ids are shown on pages and in messages.

    Prose has three words of letters, or more than 40 bytes and is not one word of ASCII (a hash, a URL).
    """
    words = name.split()
    bare_words = [word.strip(".,;:!?'\"") for word in words if len(word) > 1]
    words_of_letters = [word for word in bare_words if word.isalpha()]

    # Counted in bytes: scripts without spaces between words say more in fewer characters.
    length = len(name.encode("utf-8", "replace"))
    is_one_ascii_word = name.isascii() and len(words) == 1
    is_long = length > _LONGEST_ID and not is_one_ascii_word

    if len(words_of_letters) < _WORDS_OF_PROSE and not is_long:
        return name
    encoded = name.encode("utf-8", "surrogatepass")
    digest = blake2b(encoded, digest_size=8)
    return f"id-{digest.hexdigest()}"


@dataclass(frozen=True, slots=True)
class History:
    """The posts of one author, the earliest first: what a model that takes histories scores.

    `times` and `ids` have one entry per post; a time is "" where none is known. Histories of the same posts
    and times are equal, whatever their ids.
    """

    posts: tuple[str, ...]
    times: tuple[str, ...] = ()
    ids: tuple[str, ...] = field(default=(), compare=False)

    @property
    def digest(self) -> bytes:
        """A hash of posts and times, 16 bytes; no text has the same one."""
        state = blake2b(digest_size=16, person=b"history")
        for strings in (self.posts, self.times):
            # Lengths stand before what they count, so that no two histories give the same bytes.
            state.update(len(strings).to_bytes(8, "little"))
            for string in strings:
                encoded = string.encode("utf-8", "surrogatepass")
                state.update(len(encoded).to_bytes(8, "little"))
                state.update(encoded)
        return state.digest()

    @property
    def size(self) -> int:
        """The length of all posts in characters."""
        return sum(map(len, self.posts))

    def at(self, places: Sequence[int]) -> "History":
        """The posts at some places, in that order; their times stay in order."""
        return History(
            posts=_strings_at(self.posts, places),
            # Posts may trade places; the days on which something was posted do not.
            times=_strings_at(self.times, sorted(places)),
            ids=_strings_at(self.ids, places),
        )


def _strings_at(strings: Sequence[str], places: Sequence[int]) -> tuple[str, ...]:
    """The strings at some places; none at all if there are no strings to choose from."""
    if not strings:
        return ()
    return tuple(strings[place] for place in places)


@dataclass(frozen=True, slots=True)
class CorpusSource:
    """Where a corpus was read from and how, so that it can be read again.

    `path` is a file, a folder, "demo:NAME" or "NAME:PATH" of a known corpus. `columns` has what the user
    named: the column of a role ("text", "author"), or all columns of a role that has several ("labels").
    """

    path: str
    columns: Mapping[str, str | tuple[str, ...]] = field(default_factory=_nothing)
    split: str | None = None
    format: str | None = None


@dataclass(frozen=True, slots=True)
class Corpus:
    """A columnar table of texts.

    `table` has the columns `id` and `text` (strings), where known `author`, `time`, `split` (strings), one
    column `label:NAME` (0..1, null = not annotated) for each label and `group:NAME` (string) for each group.
    `left_out` counts the rows that were left out by reason; `notes` reports what was guessed when it was
    read; `source` is where it was read from, None for one that was made in memory. `whole` is the corpus
    with all its splits where this one holds those that are judged: cautions need all of them. A corpus of
    histories has one row per author, and the columns of `HISTORY`; its texts are the posts of each.
    """

    name: str
    table: pl.DataFrame
    left_out: Mapping[str, int] = field(default_factory=_nothing)
    notes: tuple[str, ...] = ()
    source: CorpusSource | None = None
    whole: "Corpus | None" = field(default=None, repr=False, compare=False)

    @classmethod
    def of(
        cls,
        name: str,
        texts: Sequence[str],
        *,
        labels: Mapping[str, Marks] | None = None,
        ids: Sequence[str] | None = None,
        groups: Mapping[str, Strings] | None = None,
        author: Strings | None = None,
        time: Strings | None = None,
        split: Strings | None = None,
    ) -> Self:
        """Make a corpus from plain lists; ids default to the position, from 1 (see `showable_id`)."""
        if ids is None:
            ids = [str(position) for position in range(1, len(texts) + 1)]
        shown_ids = [showable_id(str(name)) for name in ids]
        strings: dict[str, Strings] = {"id": shown_ids, "text": texts}

        plain_columns = zip(PLAIN, (author, time, split), strict=True)
        for role, values in plain_columns:
            if values is not None:
                strings[role] = values

        # Types are stated, not guessed: a column of nothing but None has none.
        columns = [_string_column(name, values) for name, values in strings.items()]
        for label, marks in (labels or {}).items():
            columns.append(_number_column(LABEL + label, marks))
        for group, members in (groups or {}).items():
            columns.append(_string_column(GROUP + group, members))

        table = pl.DataFrame(columns)
        if table["id"].n_unique() != len(table):
            raise BadInput(
                f"corpus '{name}' has duplicate ids",
                code="corpus.duplicate-ids",
                allowed="one id per text",
            )
        return cls(name, table)

    def __len__(self) -> int:
        return len(self.table)

    @property
    def labels(self) -> tuple[str, ...]:
        """The names of the labels, in the order of the table."""
        return self._names_after(LABEL)

    @property
    def groups(self) -> tuple[str, ...]:
        """The names of the group columns."""
        return self._names_after(GROUP)

    def _names_after(self, prefix: str) -> tuple[str, ...]:
        """What the columns with a prefix are called without it."""
        columns = [column for column in self.table.columns if column.startswith(prefix)]
        return tuple(column.removeprefix(prefix) for column in columns)

    @property
    def ids(self) -> list[str]:
        """The ids, in order."""
        return self.table["id"].to_list()

    @property
    def texts(self) -> list[str]:
        """The texts, in order."""
        return self.table["text"].to_list()

    @property
    def histories(self) -> bool:
        """Whether each row is an author with all posts, and not one text."""
        return HISTORY[0] in self.table

    @property
    def items(self) -> list[str] | list[History]:
        """What a model scores, in order: the texts, or the histories."""
        if not self.histories:
            return self.texts
        # Tuples, because a history is looked up by its hash.
        lists_of_authors = self.table.select(HISTORY).iter_rows()
        return [History(*map(tuple, lists)) for lists in lists_of_authors]

    def targets(self, labels: Sequence[str] | None = None) -> FloatArray:
        """What was annotated, (n, k) in 0..1; NaN means not annotated, never negative."""
        names = self.labels if labels is None else tuple(labels)
        shape = (len(self), len(names))
        targets = np.full(shape, np.nan)

        for position, name in enumerate(names):
            self._refuse_unknown("label", name, self.labels)
            marks = self.table[LABEL + name]
            known_marks = marks.cast(pl.Float64).fill_null(np.nan)
            targets[:, position] = known_marks.to_numpy()
        return targets

    def _refuse_unknown(self, what: str, name: str, names: Sequence[str]) -> None:
        if name not in names:
            raise BadInput(
                f"corpus '{self.name}' has no {what} '{name}'",
                code=f"corpus.unknown-{what}",
                allowed=nearest(name, names),
            )

    def group(self, name: str) -> list[str | None]:
        """The group that each text belongs to; None where it is not known."""
        self._refuse_unknown("group", name, self.groups)
        return self.table[GROUP + name].to_list()

    @property
    def fitted(self) -> list[str]:
        """The texts, shortened where `fit` had to make room for an added sentence."""
        if "fitted" not in self.table:
            return self.texts
        return self.table["fitted"].to_list()

    def strings(self, column: str) -> list[str | None]:
        """What `author`, `time` or `split` says of each text; None for all where there is no such column."""
        if column not in self.table:
            return [None] * len(self)
        return self.table[column].to_list()

    @property
    def unit(self) -> str:
        """What texts are independent of each other by: their author where one is known, else the text."""
        if "author" not in self.table:
            return "text"
        unknown_authors = self.table["author"].null_count()
        if unknown_authors < len(self):
            return "author"
        return "text"

    def units(self) -> IntArray:
        """The unit of independence of each text, (n,): its author, or the text itself where none is known."""
        # The prefixes keep an author and a text of the same characters apart.
        unit = pl.lit("t") + pl.col("text")
        if self.unit == "author":
            author = pl.lit("a") + pl.col("author")
            unit = pl.coalesce(author, unit)

        ranks = self.table.select(rank=unit.rank("dense"))
        return ranks["rank"].to_numpy().astype(np.int64)

    def copies(self) -> IntArray:
        """A number for each distinct text, (n,): copies are alike whoever posted them."""
        ranks = self.table.select(pl.col("text").rank("dense"))[:, 0]
        return ranks.to_numpy().astype(np.int64)

    def clustering(self) -> tuple[str, ...]:
        """Notes on what figures are made of: labels of 0.5, and what intervals and tests are clustered by."""
        notes = []
        for label in self.labels:
            undecided = self.targets([label]) == _UNDECIDED
            if undecided.any():
                texts = counted(int(undecided.sum()), "text")
                notes.append(f"{self.name}: {texts} annotated 0.5 for {label}: undecided, neither 0 nor 1")

        # Where each text is a unit of its own, there is nothing to tell.
        unit_count = len(np.unique(self.units()))
        if unit_count < len(self):
            counts = f"{unit_count:,} distinct of {len(self):,}"
            if self.unit == "author":
                authors = self.table["author"].drop_nulls()
                counts = f"{authors.n_unique():,} authors"
            notes.append(f"{self.name}: intervals and tests are clustered by {self.unit} ({counts})")
        return tuple(notes)

    def only(self, keep: BoolArray | Sequence[bool], why: str = "") -> Self:
        """The texts where `keep` is true, (n,); the others count in `left_out` under `why`, if given."""
        mask = pl.Series(keep, dtype=pl.Boolean)
        table = self.table.filter(mask)

        left_out = dict(self.left_out)
        dropped = len(self) - len(table)
        if why and dropped:
            left_out[why] = left_out.get(why, 0) + dropped
        return replace(self, table=table, left_out=left_out)

    def sample(self, most: int, seed: int = 0) -> Self:
        """At most `most` texts, drawn at random with `seed`, in the order of the corpus."""
        if len(self) <= most:
            return self
        rng = np.random.default_rng(seed)
        drawn = rng.choice(len(self), most, replace=False)

        # A mask, not the drawn positions: the order of the corpus stays.
        keep = np.zeros(len(self), dtype=np.bool_)
        keep[drawn] = True
        return self.only(keep)

    def shuffled(self, seed: int = 0) -> Self:
        """The texts in a random order that depends on seed and texts alone; copies stay together."""
        digests = []
        for text in self.texts:
            seeded_text = f"{seed}/{text}".encode("utf-8", "surrogatepass")
            digests.append(blake2b(seeded_text).digest())

        # The id decides among copies, so that the order of the file never does.
        keys = list(zip(digests, self.ids, strict=True))
        order = sorted(range(len(self)), key=keys.__getitem__)
        return replace(self, table=self.table[order])

    def head(self, most: int) -> Self:
        """The first texts."""
        if most >= len(self):
            return self
        return replace(self, table=self.table.head(most))

    def part(self, split: str) -> Self:
        """The texts of one split; an unknown split is an error that lists the known ones."""
        splits = self._splits()
        if split not in splits:
            allowed = "a corpus with a split column"
            if splits:
                allowed = nearest(split, splits)
            raise BadInput(
                f"corpus '{self.name}' has no split '{split}'",
                code="corpus.unknown-split",
                allowed=allowed,
                do="name the column that holds the splits, or leave the split out",
            )

        is_of_split = pl.col("split") == split
        return replace(self, table=self.table.filter(is_of_split))

    def _splits(self) -> list[str]:
        """The names of the splits, sorted; none where there is no such column."""
        if "split" not in self.table:
            return []
        names = self.table["split"].unique()
        return names.drop_nulls().sort().to_list()

    def slices(self, size: int = 2_000) -> Iterator[Self]:
        """The corpus in pieces of at most `size` texts, so that work on it stays bounded."""
        for start in range(0, len(self), size):
            piece = self.table.slice(start, size)
            yield replace(self, table=piece)

    def fingerprint(self) -> str:
        """A name for the content, whatever file it came from: equal for equal ids, texts and annotations."""
        digest = blake2b(digest_size=16)
        for column in sorted(self.table.columns):
            heading = f"{_BETWEEN_COLUMNS}{column}{_BETWEEN_COLUMNS}"
            digest.update(heading.encode())

            cells = self.table[column]
            if cells.dtype == pl.List(pl.String):
                cells = cells.list.join(_BETWEEN_POSTS)
            strings = cells.cast(pl.String).fill_null(_NULL)
            content = _BETWEEN_ROWS.join(strings.to_list())
            digest.update(content.encode("utf-8", "surrogatepass"))
        return digest.hexdigest()


def _string_column(name: str, values: Strings) -> pl.Series:
    return pl.Series(name, list(values), pl.String)


def _number_column(name: str, values: Marks) -> pl.Series:
    numbers = [None if value is None else float(value) for value in values]
    return pl.Series(name, numbers, pl.Float64)
