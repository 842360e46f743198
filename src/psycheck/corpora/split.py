"""Splits of a corpus that share no author and no group, keep the labels' shares, or follow time."""

import math
from collections.abc import Mapping, Sequence
from dataclasses import replace
from hashlib import blake2b
from itertools import pairwise

import numpy as np
import polars as pl
from scipy.sparse import csr_array
from scipy.sparse.csgraph import connected_components

from psycheck.corpus import GROUP, Corpus
from psycheck.errors import BadInput, nearest
from psycheck.model import FloatArray, IntArray

AUTHOR, TIME = "author", "time"


def split_corpus(
    corpus: Corpus,
    shares: Mapping[str, float],
    *,
    by: Sequence[str] | None = None,
    stratify: Sequence[str] | None = None,
    seed: int = 0,
) -> Corpus:
    """Give every text a split; `shares` are the relative sizes ({"train": 5, "dev": 1, "test": 4}).

    `by` names what no two splits may share: "author", or the name of a group; None is "author" where there is
    one. Texts linked by any of them form a unit; a text without a known author or group is a unit of its own.
    Units are assigned so that the labels of `stratify` (None: all) keep their shares, whatever the order of
    the texts. With "time" in `by` the splits follow each other in time, in the order of `shares`: a unit goes
    where most of its texts are, and its other texts have no split.
    """
    if len(shares) < 2 or not all(0 < share < math.inf for share in shares.values()):
        allowed = "two splits or more, each with a share above 0"
        raise BadInput("the shares of the splits are not usable", allowed=allowed)
    by = [AUTHOR] * (AUTHOR in corpus.table) if by is None else by
    names, total = list(shares), sum(shares.values())
    part = np.array([share / total for share in shares.values()])
    units = _units(corpus, [name for name in by if name != TIME])
    if TIME in by:
        places = _in_time(corpus, units, part)
    else:
        target = corpus.targets(corpus.labels if stratify is None else stratify)
        # What is balanced, (n, 1 + 2k): each text, and for each label what is annotated 1 and 0.
        marks = np.column_stack([np.ones(len(corpus)), np.nan_to_num(target), np.nan_to_num(1 - target)])
        places = _assigned(units, marks, part, _order(corpus, units, seed))
    split = [names[k] if k >= 0 else None for k in places.tolist()]
    return replace(corpus, table=corpus.table.with_columns(pl.Series("split", split, dtype=pl.String)))


def linked(n: int, pairs: Sequence[tuple[int, int]]) -> IntArray:
    """The group of each of `n` things, (n,): a pair puts two of them, and all linked to either, into one."""
    first, second = np.array(pairs, dtype=np.int64).reshape(-1, 2).T
    links = csr_array((np.ones(len(first), dtype=np.int8), (first, second)), shape=(n, n))
    groups: IntArray = connected_components(links, directed=False)[1].astype(np.int64)
    return groups


def _units(corpus: Corpus, by: Sequence[str]) -> IntArray:
    """The number of the unit of each text, (n,): texts linked by an author or group."""
    pairs: list[tuple[int, int]] = []
    for name in by:
        column = AUTHOR if name == AUTHOR else GROUP + name
        if column not in corpus.table.columns:
            known = [*corpus.groups, *(one for one in (AUTHOR, TIME) if one in corpus.table.columns)]
            what = f"corpus '{corpus.name}' cannot be split by '{name}'"
            raise BadInput(what, allowed=nearest(name, known), do="name the column (`author` or `groups`)")
        first: dict[str, int] = {}
        for i, member in enumerate(corpus.strings(column)):
            if member is not None:
                pairs.append((first.setdefault(member, i), i))
    return linked(len(corpus), pairs)


def _order(corpus: Corpus, units: IntArray, seed: int) -> list[str]:
    """A random key for each unit, made of the seed and its lowest text id."""
    lowest: dict[int, str] = {}
    for unit, id_ in zip(units.tolist(), corpus.ids, strict=True):
        lowest[unit] = min(id_, lowest.get(unit, id_))
    return [
        blake2b(f"{seed}\0{lowest[unit]}".encode("utf-8", "surrogatepass"), digest_size=8).hexdigest()
        for unit in range(len(lowest))
    ]


def _assigned(units: IntArray, marks: FloatArray, part: FloatArray, order: Sequence[str]) -> IntArray:
    """The split of each text, (n,): each unit, the largest first, goes where its labels are lacking."""
    held = np.zeros((len(order), marks.shape[1]))
    np.add.at(held, units, marks)
    totals = held.sum(axis=0)
    want = np.outer(part, np.where(totals > 0, totals, 1.0))
    missing = want.copy()
    split = np.zeros(len(order), dtype=np.int64)
    for unit in sorted(range(len(order)), key=lambda u: (-held[u, 0], order[u])):
        # Relative to the size a split should have, so that a small split gets its share.
        need = (missing / want) @ (held[unit] / np.maximum(totals, 1.0))
        split[unit] = int(np.argmax(need))
        missing[split[unit]] -= held[unit]
    return split[units]


def _in_time(corpus: Corpus, units: IntArray, part: FloatArray) -> IntArray:
    """The split of each text by time, (n,); -1 where a text lies outside the time of its unit's split."""
    if TIME not in corpus.table.columns or corpus.table[TIME].null_count():
        what = f"corpus '{corpus.name}' cannot be split by time"
        raise BadInput(what, allowed="a time for every text", do="name the column (`time`)")
    times = corpus.table[TIME].to_list()
    order = sorted(range(len(times)), key=lambda i: (times[i], corpus.ids[i]))
    window = np.zeros(len(times), dtype=np.int64)
    place = np.searchsorted(np.cumsum(part), np.arange(len(times)) / max(1, len(times)), side="right")
    window[order] = np.minimum(place, len(part) - 1)
    for earlier, later in pairwise(order):
        if times[earlier] == times[later]:  # texts of the same time stay together
            window[later] = window[earlier]
    counts = np.zeros((int(units.max(initial=-1)) + 1, len(part)))
    np.add.at(counts, (units, window), 1)
    home = counts.argmax(axis=1)[units]
    return np.where(home == window, window, -1)
