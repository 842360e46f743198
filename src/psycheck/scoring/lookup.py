"""Find the rows of keys in a table, thousands at a time: open addressing in NumPy."""

import numpy as np
from numpy.typing import NDArray

from psycheck.core.arrays import BoolArray

Keys = NDArray[np.uint64]
"""One row per key, (n, 1) or (n, 2); the first column is spread evenly, as hashes are."""
Rows = NDArray[np.int64]

_EMPTY = -1  # a slot without a row; also the row of a key that is not in the table
_FIRST_SIZE = 1 << 16
_LARGE = 1 << 22  # slots; a larger table doubles, to save memory, and a smaller one grows fourfold
_PIECE = 1 << 13  # keys at once: these fit into the processor's cache


class Lookup:
    """Finds the rows of keys in a table that only grows; takes 8 to 16 bytes per row once it is large.

    It does not hold the keys: every call takes the table's keys by row. A key is looked for from the slot
    that its first bits name to the next empty one (linear probing); at least half of the slots are empty.
    """

    def __init__(self) -> None:
        self._slots = np.full(_FIRST_SIZE, _EMPTY, np.int32)
        self._count = 0

    def add(self, rows: Rows, keys: Keys) -> Rows:
        """Enter rows of the table; returns those whose key is at an earlier row, where it will be found."""
        self._count += len(rows)
        if 2 * self._count > len(self._slots):
            self._grow(keys)

        repeated = []
        for piece in _pieces(rows):
            repeated.append(self._place(piece, keys))
        return np.concatenate(repeated) if repeated else rows

    def find(self, wanted_keys: Keys, keys: Keys) -> Rows:
        """The rows of keys, (n,); -1 for keys that are not in the table."""
        row_of_key = np.full(len(wanted_keys), _EMPTY, np.int64)
        pending = np.arange(len(wanted_keys))
        slots = self._first_slots(wanted_keys)
        while len(pending):
            # An empty slot ends the search: the key is not in the table.
            rows = self._slots[slots]
            occupied = rows >= 0
            pending = pending[occupied]
            slots = slots[occupied]
            rows = rows[occupied]

            # The slot holds the key itself, or another one that was there first.
            same = _equal(keys[rows], wanted_keys[pending])
            row_of_key[pending[same]] = rows[same]

            different = ~same
            pending = pending[different]
            slots = self._next_slots(slots[different])
        return row_of_key

    def _grow(self, keys: Keys) -> None:
        """Make room for twice the number of rows, and enter those that are in the table again."""
        occupied = self._slots >= 0
        entered_rows = self._slots[occupied].astype(np.int64)

        size = len(self._slots)
        while size < 2 * self._count:
            growth = 4 if size < _LARGE else 2
            size *= growth

        self._slots = np.full(size, _EMPTY, np.int32)
        for piece in _pieces(entered_rows):
            self._place(piece, keys)

    def _place(self, rows: Rows, keys: Keys) -> Rows:
        """Give each row a slot; returns the rows whose key has one already."""
        row_keys = keys[rows]
        slots = self._first_slots(row_keys)
        repeated = []
        while len(rows):
            is_free = self._slots[slots] < 0
            free_slots = slots[is_free]
            # Where several rows take the same slot, NumPy keeps the last; the others try again.
            self._slots[free_slots] = rows[is_free]
            occupants = self._slots[slots]

            unplaced = occupants != rows
            occupants = occupants[unplaced]
            rows = rows[unplaced]
            row_keys = row_keys[unplaced]
            slots = slots[unplaced]

            same = _equal(keys[occupants], row_keys)
            if same.any():
                repeated.append(rows[same])
                different = ~same
                rows = rows[different]
                row_keys = row_keys[different]
                slots = slots[different]
            slots = self._next_slots(slots)
        return np.concatenate(repeated) if repeated else rows

    def _first_slots(self, keys: Keys) -> Rows:
        """Where the search for each key begins, (n,)."""
        # The number of slots is a power of 2, so a mask does what a remainder would.
        mask = np.uint64(len(self._slots) - 1)
        first_bits = keys[:, 0] & mask
        return first_bits.astype(np.int64)

    def _next_slots(self, slots: Rows) -> Rows:
        """The slots behind these; the first one comes after the last."""
        mask = len(self._slots) - 1
        return (slots + 1) & mask


def _pieces(rows: Rows) -> list[Rows]:
    starts = range(0, len(rows), _PIECE)
    return [rows[start : start + _PIECE] for start in starts]


def _equal(left: Keys, right: Keys) -> BoolArray:
    """Which keys are the same, (n,)."""
    # Column by column: comparing whole rows would make a table of (n, 2) first.
    same: BoolArray = left[:, 0] == right[:, 0]
    has_second_half = left.shape[1] > 1
    if has_second_half:
        second_halves = left[:, 1] == right[:, 1]
        same &= second_halves
    return same
