"""Rows are found by their keys, whatever order they came in."""

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from psycheck.scoring.lookup import Lookup

# Few values for the first half, so that many keys want the same slot.
HALVES = st.tuples(st.integers(0, 7), st.integers(0, 2**64 - 1))


@given(st.lists(st.sets(HALVES, max_size=40), max_size=5), st.sets(HALVES, max_size=20))
def test_every_entered_key_is_found_and_no_other(
    batches: list[set[tuple[int, int]]], others: set[tuple[int, int]]
) -> None:
    lookup, keys = Lookup(), np.zeros((0, 2), np.uint64)
    known: dict[tuple[int, int], int] = {}
    for batch in batches:
        new = sorted(batch - known.keys())
        known |= {key: len(known) + k for k, key in enumerate(new)}
        keys = np.concatenate([keys, np.array(new, np.uint64).reshape(-1, 2)])
        lookup.add(np.arange(len(keys) - len(new), len(keys)), keys)
    wanted = sorted(known.keys() | others)
    found = lookup.find(np.array(wanted, np.uint64).reshape(-1, 2), keys)
    assert found.tolist() == [known.get(key, -1) for key in wanted]


def test_it_grows_far_beyond_its_first_size() -> None:
    draw = np.random.default_rng(0)
    keys = draw.integers(0, 2**64, (300_000, 1), np.uint64)
    lookup = Lookup()
    for rows in np.array_split(np.arange(200_000), 7):
        lookup.add(rows, keys)
    found = lookup.find(keys, keys)
    assert (found[:200_000] == np.arange(200_000)).all()
    assert (found[200_000:] == -1).all()


def test_a_key_that_stands_twice_is_said_and_found_where_it_stood_first() -> None:
    lookup, keys = Lookup(), np.array([[5], [6], [5], [7], [7]], np.uint64)
    assert lookup.add(np.array([0, 1]), keys).tolist() == []
    assert lookup.add(np.array([2]), keys).tolist() == [2]
    (twice,) = lookup.add(np.array([3, 4]), keys).tolist()
    assert lookup.find(np.array([[5], [7]], np.uint64), keys).tolist() == [0, 7 - twice]
