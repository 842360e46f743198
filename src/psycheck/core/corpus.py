"""Texts with stable ids and what is known about them."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from hashlib import blake2b
from types import MappingProxyType
from typing import Self

import numpy as np
import polars as pl
from numpy.typing import NDArray

from psycheck.core.errors import BadInput, counted, nearest

# How the columns of labels and groups begin in the table.
LABEL = "label:"
GROUP = "group:"
PLAIN = ("author", "time", "split")
HISTORY = ("posts", "times", "post_ids")  # columns of a corpus of histories, a list for each author

_LONGEST_ID = 40  # bytes
_WORDS_OF_PROSE = 3


def showable_id(name: str) -> str:
    """The id, or a digest if it looks like prose: ids are shown on pages and in messages.

    Prose has three words of letters, or more than 40 bytes and is not one word of ASCII (a hash, a URL).
    """
    words = [word for word in name.split() if len(word) > 1]
    words_of_letters = [word for word in words if word.strip(".,;:!?'\"").isalpha()]
    is_one_ascii_word = name.isascii() and len(name.split()) == 1
    is_long = len(name.encode("utf-8", "replace")) > _LONGEST_ID and not is_one_ascii_word

    if len(words_of_letters) < _WORDS_OF_PROSE and not is_long:
        return name
    digest = blake2b(name.encode("utf-8", "surrogatepass"), digest_size=8)
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
        posts = tuple(self.posts[place] for place in places)
        times: tuple[str, ...] = ()
        ids: tuple[str, ...] = ()
        if self.times:
            times = tuple(self.times[place] for place in sorted(places))
        if self.ids:
            ids = tuple(self.ids[place] for place in places)
        return History(posts, times, ids)


@dataclass(frozen=True, slots=True)
class CorpusSource:
    """Where a corpus was read from and how, so that it can be read again.

    `path` is a file, a folder, "demo:NAME" or "NAME:PATH" of a known corpus. `columns` has what the user
    named: the column of a role ("text", "author"), or all columns of a role that has several ("labels").
    """

    path: str
    columns: Mapping[str, str | tuple[str, ...]] = field(default_factory=lambda: MappingProxyType({}))
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
    left_out: Mapping[str, int] = field(default_factory=lambda: MappingProxyType({}))
    notes: tuple[str, ...] = ()
    source: CorpusSource | None = None
    whole: "Corpus | None" = field(default=None, repr=False, compare=False)

    @classmethod
    def of(
        cls,
        name: str,
        texts: Sequence[str],
        *,
        labels: Mapping[str, Sequence[float | None]] | None = None,
        ids: Sequence[str] | None = None,
        groups: Mapping[str, Sequence[str | None]] | None = None,
        author: Sequence[str | None] | None = None,
        time: Sequence[str | None] | None = None,
        split: Sequence[str | None] | None = None,
    ) -> Self:
        """Make a corpus from plain lists; ids default to the position, from 1 (see `showable_id`)."""
        names = range(1, len(texts) + 1) if ids is None else ids
        columns = [
            pl.Series("id", [showable_id(str(name)) for name in names], pl.String),
            pl.Series("text", list(texts), pl.String),
        ]
        # Types are given, not guessed: a column of nothing but None has none.
        for role, values in zip(PLAIN, (author, time, split), strict=True):
            if values is not None:
                columns.append(pl.Series(role, list(values), pl.String))
        for label, marks in (labels or {}).items():
            numbers = [None if mark is None else float(mark) for mark in marks]
            columns.append(pl.Series(LABEL + label, numbers, pl.Float64))
        for group, members in (groups or {}).items():
            columns.append(pl.Series(GROUP + group, list(members), pl.String))

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
        columns = [column for column in self.table.columns if column.startswith(LABEL)]
        return tuple(column.removeprefix(LABEL) for column in columns)

    @property
    def groups(self) -> tuple[str, ...]:
        """The names of the group columns."""
        columns = [column for column in self.table.columns if column.startswith(GROUP)]
        return tuple(column.removeprefix(GROUP) for column in columns)

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
        columns = [self.table[column].to_list() for column in HISTORY]
        rows = zip(*columns, strict=True)
        return [History(tuple(posts), tuple(times), tuple(ids)) for posts, times, ids in rows]

    def targets(self, labels: Sequence[str] | None = None) -> NDArray[np.float64]:
        """What was annotated, (n, k) in 0..1; NaN means not annotated, never negative."""
        names = self.labels if labels is None else tuple(labels)
        targets = np.full((len(self), len(names)), np.nan)
        for position, name in enumerate(names):
            self._refuse_unknown("label", name, self.labels)
            marks = self.table[LABEL + name].cast(pl.Float64).fill_null(np.nan)
            targets[:, position] = marks.to_numpy()
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
        return self.table["fitted"].to_list() if "fitted" in self.table else self.texts

    def strings(self, column: str) -> list[str | None]:
        """What `author`, `time` or `split` says of each text; None for all where there is no such column."""
        return self.table[column].to_list() if column in self.table else [None] * len(self)

    @property
    def unit(self) -> str:
        """What texts are independent of each other by: their author where one is known, else the text."""
        has_authors = "author" in self.table and self.table["author"].drop_nulls().len() > 0
        return "author" if has_authors else "text"

    def units(self) -> NDArray[np.int64]:
        """The unit of independence of each text, (n,): its author, or the text itself where none is known."""
        # The prefixes keep an author and a text of the same characters apart.
        unit = pl.lit("t") + pl.col("text")
        if self.unit == "author":
            unit = pl.coalesce(pl.lit("a") + pl.col("author"), unit)
        ranks = self.table.select(unit.rank("dense"))[:, 0]
        return ranks.to_numpy().astype(np.int64)

    def copies(self) -> NDArray[np.int64]:
        """A number for each distinct text, (n,): copies are alike whoever posted them."""
        ranks = self.table.select(pl.col("text").rank("dense"))[:, 0]
        return ranks.to_numpy().astype(np.int64)

    def clustering(self) -> tuple[str, ...]:
        """Notes on what figures are made of: labels of 0.5, and what intervals and tests are clustered by."""
        undecided = {label: int((self.targets([label]) == 0.5).sum()) for label in self.labels}
        notes = [
            f"{self.name}: {counted(texts, 'text')} annotated 0.5 for {label}: undecided, neither 0 nor 1"
            for label, texts in undecided.items()
            if texts
        ]

        unit_count = len(np.unique(self.units()))
        if unit_count < len(self):
            counts = f"{unit_count:,} distinct of {len(self):,}"
            if self.unit == "author":
                counts = f"{self.table['author'].drop_nulls().n_unique():,} authors"
            notes.append(f"{self.name}: intervals and tests are clustered by {self.unit} ({counts})")
        return tuple(notes)

    def only(self, keep: NDArray[np.bool_] | Sequence[bool], why: str = "") -> Self:
        """The texts where `keep` is true, (n,); the others count in `left_out` under `why`, if given."""
        table = self.table.filter(pl.Series(keep, dtype=pl.Boolean))
        left_out = dict(self.left_out)
        dropped = len(self) - len(table)
        if why and dropped:
            left_out[why] = left_out.get(why, 0) + dropped
        return replace(self, table=table, left_out=left_out)

    def sample(self, most: int, seed: int = 0) -> Self:
        """At most `most` texts, drawn at random with `seed`, in the order of the corpus."""
        if len(self) <= most:
            return self
        drawn = np.random.default_rng(seed).choice(len(self), most, replace=False)
        keep = np.zeros(len(self), dtype=np.bool_)
        keep[drawn] = True
        return self.only(keep)

    def shuffled(self, seed: int = 0) -> Self:
        """The texts in a random order that depends on seed and texts alone; copies stay together."""
        seeded_texts = [f"{seed}/{text}".encode("utf-8", "surrogatepass") for text in self.texts]
        digests = [blake2b(text).digest() for text in seeded_texts]
        keys = list(zip(digests, self.ids, strict=True))
        order = sorted(range(len(self)), key=keys.__getitem__)
        return replace(self, table=self.table[order])

    def head(self, most: int) -> Self:
        """The first texts."""
        return self if most >= len(self) else replace(self, table=self.table.head(most))

    def part(self, split: str) -> Self:
        """The texts of one split; an unknown split is an error that lists the known ones."""
        splits: list[str] = []
        if "split" in self.table:
            splits = self.table["split"].unique().drop_nulls().sort().to_list()
        if split not in splits:
            raise BadInput(
                f"corpus '{self.name}' has no split '{split}'",
                code="corpus.unknown-split",
                allowed=nearest(split, splits) if splits else "a corpus with a split column",
                do="name the column that holds the splits, or leave the split out",
            )
        return replace(self, table=self.table.filter(pl.col("split") == split))

    def slices(self, size: int = 2_000) -> Iterator[Self]:
        """The corpus in pieces of at most `size` texts, so that work on it stays bounded."""
        for start in range(0, len(self), size):
            yield replace(self, table=self.table.slice(start, size))

    def fingerprint(self) -> str:
        """A name for the content, whatever file it came from: equal for equal ids, texts and annotations."""
        digest = blake2b(digest_size=16)
        for column in sorted(self.table.columns):
            digest.update(f"\x1d{column}\x1d".encode())
            cells = self.table[column]
            if cells.dtype == pl.List(pl.String):
                cells = cells.list.join("\x1f")
            values = cells.cast(pl.String).fill_null("\x00").to_list()
            digest.update("\x1e".join(values).encode("utf-8", "surrogatepass"))
        return digest.hexdigest()
