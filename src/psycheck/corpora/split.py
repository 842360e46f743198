"""Splits of a corpus that share no author and no group, keep the labels' shares, or follow time."""

import math
from collections.abc import Mapping, Sequence
from dataclasses import replace
from hashlib import blake2b
from itertools import pairwise

import numpy as np
import polars as pl

from psycheck.corpus import GROUP, Corpus
from psycheck.errors import BadInput, nearest
from psycheck.model import FloatArray, IntArray

AUTHOR, TIME = "author", "time"


def split_corpus(
    corpus: Corpus,
    shares: Mapping[str, float],
    *,
    by: Sequence[str] = (AUTHOR,),
    stratify: Sequence[str] | None = None,
    seed: int = 0,
) -> Corpus:
    """Give every text a split; `shares` says how large each should be ({"train": 5, "dev": 1, "test": 4}).

    `by` names what no two splits may share: "author", or the name of a group; texts joined through any of
    them stay together, and one whose author or group is not known stands for itself. Units are dealt out so
    that the labels of `stratify` (all, where None) keep their shares; the result does not depend on the order
    of the texts. With "time" in `by` the splits follow each other in time, in the order of `shares`: a unit
    goes where most of its texts are, and its other texts, which would break the order, have no split.
    """
    total = _total(shares)
    names = list(shares)
    part = np.array([shares[name] / total for name in names])
    units = _units(corpus, [name for name in by if name != TIME])
    if TIME in by:
        chosen = _in_time(corpus, units, part)
    else:
        marks = _marks(corpus, corpus.labels if stratify is None else stratify)
        chosen = _dealt(units, marks, part, _order(corpus, units, seed))
    split = [names[k] if k >= 0 else None for k in chosen.tolist()]
    return replace(corpus, table=corpus.table.with_columns(pl.Series("split", split, dtype=pl.String)))


def _total(shares: Mapping[str, float]) -> float:
    if len(shares) < 2 or not all(0 < share < math.inf for share in shares.values()):
        raise BadInput(
            "these are no shares of splits", allowed="two splits or more, each with a share above 0"
        )
    return sum(shares.values())


def _units(corpus: Corpus, by: Sequence[str]) -> IntArray:
    """The number of the unit of each text, (n,): texts that share an author or group, or by others."""
    parent = list(range(len(corpus)))

    def root(i: int) -> int:
        while parent[i] != i:
            parent[i] = parent[parent[i]]
            i = parent[i]
        return i

    for name in by:
        first: dict[str, int] = {}
        for i, member in enumerate(_members(corpus, name)):
            if member is not None:
                parent[root(i)] = root(first.setdefault(member, i))
    roots = np.array([root(i) for i in range(len(corpus))], dtype=np.int64)
    return np.unique(roots, return_inverse=True)[1].astype(np.int64)


def _members(corpus: Corpus, name: str) -> list[str | None]:
    column = AUTHOR if name == AUTHOR else GROUP + name
    if column not in corpus.table.columns:
        known = [*corpus.groups, *(one for one in (AUTHOR, TIME) if one in corpus.table.columns)]
        raise BadInput(
            f"corpus '{corpus.name}' cannot be split by '{name}'",
            allowed=nearest(name, known),
            do="name the column: --author or --group",
        )
    members: list[str | None] = corpus.table[column].to_list()
    return members


def _marks(corpus: Corpus, labels: Sequence[str]) -> FloatArray:
    """What is kept in share, (n, 1 + 2k): each text, and for each label what is annotated 1 and 0."""
    target = corpus.targets(labels)
    return np.column_stack([np.ones(len(corpus)), np.nan_to_num(target), np.nan_to_num(1 - target)])


def _order(corpus: Corpus, units: IntArray, seed: int) -> list[str]:
    """A draw for each unit by its lowest text id, so that neither the order of texts nor a salt matters."""
    lowest: dict[int, str] = {}
    for unit, id_ in zip(units.tolist(), corpus.ids, strict=True):
        if unit not in lowest or id_ < lowest[unit]:
            lowest[unit] = id_
    return [
        blake2b(f"{seed}\0{lowest[unit]}".encode("utf-8", "surrogatepass"), digest_size=8).hexdigest()
        for unit in range(len(lowest))
    ]


def _dealt(units: IntArray, marks: FloatArray, part: FloatArray, order: Sequence[str]) -> IntArray:
    """The split of each text, (n,): units, the largest first, go where what they bring is missed most."""
    held = np.zeros((len(order), marks.shape[1]))
    np.add.at(held, units, marks)
    totals = held.sum(axis=0)
    want = np.outer(part, np.where(totals > 0, totals, 1.0))
    missing = want.copy()
    chosen = np.zeros(len(order), dtype=np.int64)
    for unit in sorted(range(len(order)), key=lambda u: (-held[u, 0], order[u])):
        # What is missed counts in relation to what a split should hold, so that a small one is not starved.
        need = (missing / want) @ (held[unit] / np.maximum(totals, 1.0))
        chosen[unit] = int(np.argmax(need))
        missing[chosen[unit]] -= held[unit]
    return chosen[units]


def _in_time(corpus: Corpus, units: IntArray, part: FloatArray) -> IntArray:
    """The split of each text by time, (n,); -1 where a text lies outside the time of its unit's split."""
    if TIME not in corpus.table.columns or corpus.table[TIME].null_count():
        raise BadInput(
            f"corpus '{corpus.name}' cannot be split by time",
            allowed="a time for every text",
            do="name the column: --time",
        )
    times = corpus.table[TIME].to_list()
    order = sorted(range(len(times)), key=lambda i: (times[i], corpus.ids[i]))
    window = np.zeros(len(times), dtype=np.int64)
    place = np.searchsorted(np.cumsum(part), np.arange(len(times)) / max(1, len(times)), side="right")
    window[order] = np.minimum(place, len(part) - 1)
    for earlier, later in pairwise(order):
        if times[earlier] == times[later]:  # one moment is never cut
            window[later] = window[earlier]
    counts = np.zeros((int(units.max(initial=-1)) + 1, len(part)))
    np.add.at(counts, (units, window), 1)
    home = counts.argmax(axis=1)[units]
    return np.where(home == window, window, -1)
