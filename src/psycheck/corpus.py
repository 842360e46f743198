"""Texts with stable ids and what is known about them."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from hashlib import blake2b
from types import MappingProxyType
from typing import Any, Self

import numpy as np
import polars as pl
from numpy.typing import NDArray

from psycheck.errors import BadInput, counted, nearest

LABEL, GROUP = "label:", "group:"
PLAIN = ("author", "time", "split")
HISTORY = ("posts", "times", "post_ids")  # columns of a corpus of histories, a list for each author


def showable_id(name: str) -> str:
    """The id, or a digest if it looks like prose: ids are shown on pages and in messages.

    Prose has three words of letters, or more than 40 bytes and is not one word of ASCII (a hash, a URL).
    """
    words = [word for word in name.split() if len(word) > 1 and word.strip(".,;:!?'\"").isalpha()]
    long = len(name.encode("utf-8", "replace")) > 40 and not (name.isascii() and len(name.split()) == 1)
    if len(words) < 3 and not long:
        return name
    return "id-" + blake2b(name.encode("utf-8", "surrogatepass"), digest_size=8).hexdigest()


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
        for part in (self.posts, self.times):
            state.update(len(part).to_bytes(8, "little"))
            for text in part:
                raw = text.encode("utf-8", "surrogatepass")
                state.update(len(raw).to_bytes(8, "little") + raw)
        return state.digest()

    @property
    def size(self) -> int:
        """The length of all posts in characters."""
        return sum(map(len, self.posts))

    def at(self, places: Sequence[int]) -> "History":
        """The posts at some places, in that order; their times stay in order."""
        times = [self.times[k] for k in sorted(places)] if self.times else ()
        ids = [self.ids[k] for k in places] if self.ids else ()
        return History(tuple(self.posts[k] for k in places), tuple(times), tuple(ids))


@dataclass(frozen=True, slots=True)
class Corpus:
    """A columnar table of texts.

    `table` has the columns `id` and `text` (strings), where known `author`, `time`, `split` (strings), one
    column `label:NAME` (0..1, null = not annotated) for each label and `group:NAME` (string) for each group.
    `left_out` counts the rows that were left out by reason; `notes` reports what was guessed when it was
    read; `called` is what a user types for it on the command line (a path, or demo:NAME). A corpus of
    histories has one row per author, and the columns of `HISTORY`; its texts are the posts of each.
    """

    name: str
    table: pl.DataFrame
    left_out: Mapping[str, int] = field(default_factory=lambda: MappingProxyType({}))
    notes: tuple[str, ...] = ()
    called: str = ""

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
        columns: dict[str, Any] = {
            "id": [showable_id(str(i)) for i in (range(1, len(texts) + 1) if ids is None else ids)],
            "text": list(texts),
        }
        for plain, values in zip(PLAIN, (author, time, split), strict=True):
            if values is not None:
                columns[plain] = list(values)
        schema: dict[str, Any] = dict.fromkeys(columns, pl.String)
        for label, marks in (labels or {}).items():
            columns[LABEL + label] = [None if mark is None else float(mark) for mark in marks]
            schema[LABEL + label] = pl.Float64
        for group, members in (groups or {}).items():
            columns[GROUP + group] = list(members)
            schema[GROUP + group] = pl.String
        table = pl.DataFrame(columns, schema=schema)
        if table["id"].n_unique() != len(table):
            raise BadInput(f"corpus '{name}' has duplicate ids", allowed="one id per text")
        return cls(name, table)

    def __len__(self) -> int:
        return len(self.table)

    @property
    def labels(self) -> tuple[str, ...]:
        """The names of the labels, in the order of the table."""
        return tuple(c.removeprefix(LABEL) for c in self.table.columns if c.startswith(LABEL))

    @property
    def groups(self) -> tuple[str, ...]:
        """The names of the group columns."""
        return tuple(c.removeprefix(GROUP) for c in self.table.columns if c.startswith(GROUP))

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
        rows = zip(*(self.table[column].to_list() for column in HISTORY), strict=True)
        return [History(tuple(posts), tuple(times), tuple(ids)) for posts, times, ids in rows]

    def targets(self, labels: Sequence[str] | None = None) -> NDArray[np.float64]:
        """What was annotated, (n, k) in 0..1; NaN means not annotated, never negative."""
        names = self.labels if labels is None else tuple(labels)
        out = np.full((len(self), len(names)), np.nan)
        for k, name in enumerate(names):
            self._refuse_unknown("label", name, self.labels)
            out[:, k] = self.table[LABEL + name].cast(pl.Float64).fill_null(np.nan).to_numpy()
        return out

    def _refuse_unknown(self, what: str, name: str, known: Sequence[str]) -> None:
        if name not in known:
            raise BadInput(f"corpus '{self.name}' has no {what} '{name}'", allowed=nearest(name, known))

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
        return "author" if "author" in self.table and self.table["author"].drop_nulls().len() else "text"

    def units(self) -> NDArray[np.int64]:
        """The unit of independence of each text, (n,): its author, or the text itself where none is known."""
        text = pl.lit("t") + pl.col("text")
        known = pl.coalesce(pl.lit("a") + pl.col("author"), text) if self.unit == "author" else text
        return self.table.select(known.rank("dense"))[:, 0].to_numpy().astype(np.int64)

    def clustering(self) -> tuple[str, ...]:
        """Notes on what figures are made of: labels of 0.5, and what intervals and tests are clustered by."""
        soft = {label: int((self.targets([label]) == 0.5).sum()) for label in self.labels}
        undecided = tuple(
            f"{self.name}: {counted(n, 'text')} annotated 0.5 for {label}: undecided, neither 0 nor 1"
            for label, n in soft.items()
            if n
        )
        units, by = len(np.unique(self.units())), self.unit
        if units == len(self):
            return undecided
        authors = self.table["author"].drop_nulls().n_unique() if by == "author" else 0
        counts = f"{authors:,} authors" if authors else f"{units:,} distinct of {len(self):,}"
        return (*undecided, f"{self.name}: intervals and tests are clustered by {by} ({counts})")

    def only(self, keep: NDArray[np.bool_] | Sequence[bool], why: str = "") -> Self:
        """The texts where `keep` is true, (n,); the others count in `left_out` under `why`, if given."""
        table = self.table.filter(pl.Series(keep, dtype=pl.Boolean))
        left_out = dict(self.left_out)
        if why and len(table) < len(self):
            left_out[why] = left_out.get(why, 0) + len(self) - len(table)
        return replace(self, table=table, left_out=left_out)

    def sample(self, most: int, seed: int = 0) -> Self:
        """At most `most` texts, drawn at random with `seed`, in the order of the corpus."""
        if len(self) <= most:
            return self
        keep = np.zeros(len(self), dtype=np.bool_)
        keep[np.random.default_rng(seed).choice(len(self), most, replace=False)] = True
        return self.only(keep)

    def shuffled(self, seed: int = 0) -> Self:
        """The texts in a random order that depends on seed and texts alone; copies stay together."""
        keys = [blake2b(f"{seed}/{text}".encode("utf-8", "surrogatepass")).digest() for text in self.texts]
        order = sorted(range(len(self)), key=list(zip(keys, self.ids, strict=True)).__getitem__)
        return replace(self, table=self.table[order])

    def head(self, most: int) -> Self:
        """The first texts."""
        return self if most >= len(self) else replace(self, table=self.table.head(most))

    def part(self, split: str) -> Self:
        """The texts of one split; an unknown split is an error that lists the known ones."""
        known = self.table["split"].unique().drop_nulls().sort().to_list() if "split" in self.table else []
        if split not in known:
            raise BadInput(
                f"corpus '{self.name}' has no split '{split}'",
                allowed=nearest(split, known) if known else "a corpus with a split column",
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
