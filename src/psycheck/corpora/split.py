"""Splits of a corpus that share no author and no group, keep the labels' shares, or follow time."""

import math
from collections.abc import Mapping, Sequence
from dataclasses import replace
from hashlib import blake2b
from itertools import pairwise

import numpy as np
import polars as pl

from psycheck.core.arrays import FloatArray, IntArray
from psycheck.core.corpus import GROUP, Corpus
from psycheck.core.errors import BadInput, nearest

AUTHOR, TIME = "author", "time"
_NO_SPLIT = -1


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
    _refuse_shares(shares)
    total = sum(shares.values())
    split_shares = np.array([share / total for share in shares.values()])

    if by is None:
        by = [AUTHOR] if AUTHOR in corpus.table else []
    units = _units(corpus, [name for name in by if name != TIME])

    if TIME in by:
        positions = _splits_in_time(corpus, units, split_shares)
    else:
        labels = corpus.labels if stratify is None else stratify
        positions = _stratified_splits(
            units=units,
            quantities=_balanced_quantities(corpus, labels),
            split_shares=split_shares,
            random_keys=_random_keys(corpus, units, seed),
        )

    names: dict[int, str | None] = dict(enumerate(shares))
    names[_NO_SPLIT] = None
    splits = [names[position] for position in positions.tolist()]
    column = pl.Series("split", splits, dtype=pl.String)
    return replace(corpus, table=corpus.table.with_columns(column))


def _refuse_shares(shares: Mapping[str, float]) -> None:
    usable = all(0 < share < math.inf for share in shares.values())
    if len(shares) < 2 or not usable:
        raise BadInput(
            "the shares of the splits are not usable",
            code="split.bad-shares",
            allowed="two splits or more, each with a share above 0",
        )


def linked(n: int, pairs: Sequence[tuple[int, int]]) -> IntArray:
    """The group of each of `n` things, (n,): a pair puts two of them, and all linked to either, into one."""
    # Imported here: most who import this room split nothing.
    from scipy.sparse import csr_array
    from scipy.sparse.csgraph import connected_components

    # The reshape is for an empty list, which has no second dimension of its own.
    first, second = np.array(pairs, dtype=np.int64).reshape(-1, 2).T
    ones = np.ones(len(first), dtype=np.int8)
    links = csr_array((ones, (first, second)), shape=(n, n))
    _, components = connected_components(links, directed=False)
    groups: IntArray = components.astype(np.int64)
    return groups


def _units(corpus: Corpus, by: Sequence[str]) -> IntArray:
    """The number of the unit of each text, (n,): texts linked by an author or group."""
    pairs: list[tuple[int, int]] = []
    for name in by:
        column = AUTHOR if name == AUTHOR else GROUP + name
        if column not in corpus.table.columns:
            raise _cannot_split_by(name, corpus)

        # Each text is linked to the first one of the same author or group: n links join what all pairs would.
        first_text: dict[str, int] = {}
        for position, member in enumerate(corpus.strings(column)):
            if member is not None:
                first = first_text.setdefault(member, position)
                pairs.append((first, position))
    return linked(len(corpus), pairs)


def _cannot_split_by(name: str, corpus: Corpus) -> BadInput:
    roles = [role for role in (AUTHOR, TIME) if role in corpus.table.columns]
    return BadInput(
        what=f"corpus '{corpus.name}' cannot be split by '{name}'",
        code="split.unknown-column",
        allowed=nearest(name, [*corpus.groups, *roles]),
        do="name the column (`author` or `groups`)",
    )


def _balanced_quantities(corpus: Corpus, labels: Sequence[str]) -> FloatArray:
    """What is balanced, (n, 1 + 2k): each text, and for each label what is annotated 1 and 0."""
    targets = corpus.targets(labels)
    texts = np.ones(len(corpus))
    # A text that is not annotated (NaN) adds to neither class: both zeros, not one of them.
    positives = np.nan_to_num(targets)
    negatives = np.nan_to_num(1 - targets)
    return np.column_stack([texts, positives, negatives])


def _random_keys(corpus: Corpus, units: IntArray, seed: int) -> list[str]:
    """A random key for each unit, made of the seed and its lowest text id."""
    # From ids, not from row numbers: the same texts in another order are split the same way.
    lowest_id: dict[int, str] = {}
    for unit, id_ in zip(units.tolist(), corpus.ids, strict=True):
        lowest_id[unit] = min(id_, lowest_id.get(unit, id_))

    seeded_ids = [f"{seed}\0{lowest_id[unit]}" for unit in range(len(lowest_id))]
    encoded = [seeded_id.encode("utf-8", "surrogatepass") for seeded_id in seeded_ids]
    return [blake2b(seeded_id, digest_size=8).hexdigest() for seeded_id in encoded]


def _stratified_splits(
    units: IntArray,
    quantities: FloatArray,
    split_shares: FloatArray,
    random_keys: Sequence[str],
) -> IntArray:
    """The split of each text, (n,): each unit, the largest first, goes where its labels are lacking."""
    unit_quantities = np.zeros((len(random_keys), quantities.shape[1]))
    np.add.at(unit_quantities, units, quantities)
    totals = unit_quantities.sum(axis=0)

    # A label that no text has would divide by zero below; 1 in its place has no effect.
    nonzero_totals = np.where(totals > 0, totals, 1.0)
    intended = np.outer(split_shares, nonzero_totals)
    missing = intended.copy()
    split_of_unit = np.zeros(len(random_keys), dtype=np.int64)

    def size_then_chance(unit: int) -> tuple[float, str]:
        return -unit_quantities[unit, 0], random_keys[unit]

    # The largest first, while every split still has room: small units fill what is left evenly.
    for unit in sorted(range(len(random_keys)), key=size_then_chance):
        # Relative to the size a split should have, so that a small split gets its share, and to how common
        # a label is, so that a rare one counts as much as a frequent one.
        share_missing = missing / intended
        share_in_unit = unit_quantities[unit] / np.maximum(totals, 1.0)
        need = share_missing @ share_in_unit
        neediest = int(np.argmax(need))
        split_of_unit[unit] = neediest
        missing[neediest] -= unit_quantities[unit]
    return split_of_unit[units]


def _splits_in_time(corpus: Corpus, units: IntArray, split_shares: FloatArray) -> IntArray:
    """The split of each text by time, (n,); -1 where a text lies outside the time of its unit's split."""
    if TIME not in corpus.table.columns or corpus.table[TIME].null_count():
        raise BadInput(
            what=f"corpus '{corpus.name}' cannot be split by time",
            code="split.no-times",
            allowed="a time for every text",
            do="name the column (`time`)",
        )
    window = _time_windows(corpus, split_shares)

    # A unit goes into the window that has most of its texts; its texts in other windows have no split.
    unit_count = int(units.max(initial=-1)) + 1
    texts_in_window = np.zeros((unit_count, len(split_shares)))
    np.add.at(texts_in_window, (units, window), 1)
    window_of_unit = texts_in_window.argmax(axis=1)
    return np.where(window_of_unit[units] == window, window, _NO_SPLIT)


def _time_windows(corpus: Corpus, split_shares: FloatArray) -> IntArray:
    """The window of each text, (n,): the earliest texts are in 0; texts of the same time stay together."""
    times = corpus.table[TIME].to_list()
    ids = corpus.ids
    # By id where the times are equal, so that the order of the rows does not matter.
    in_order = sorted(range(len(times)), key=lambda position: (times[position], ids[position]))

    share_before = np.arange(len(times)) / max(1, len(times))
    rank = np.searchsorted(np.cumsum(split_shares), share_before, side="right")
    window = np.zeros(len(times), dtype=np.int64)
    # The shares may add up to a little less than 1.
    window[in_order] = np.minimum(rank, len(split_shares) - 1)

    # A boundary may fall among texts of one time; none of them may be in the "future" of the others.
    for earlier, later in pairwise(in_order):
        if times[earlier] == times[later]:
            window[later] = window[earlier]
    return window
