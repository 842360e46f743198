"""Find the rows of keys in a table, thousands at a time: open addressing in NumPy."""

import numpy as np
from numpy.typing import NDArray

Keys = NDArray[np.uint64]
"""One row per key, (n, 1) or (n, 2); the first column is spread evenly, as hashes are."""

_FIRST = 1 << 16
_LARGE = 1 << 22
_PIECE = 1 << 13  # keys at once: these fit into the processor's cache


class Lookup:
    """Finds the rows of keys in a table that only grows; takes 8 to 16 bytes per row once it is large.

    It does not hold the keys: every call takes the table's keys by row.
    """

    def __init__(self) -> None:
        self._slots = np.full(_FIRST, -1, np.int32)
        self._count = 0

    def add(self, rows: NDArray[np.int64], keys: Keys) -> NDArray[np.int64]:
        """Enter rows of the table; returns those whose key is at an earlier row, where it will be found."""
        self._count += len(rows)
        size = len(self._slots)
        if 2 * self._count > size:
            entered = self._slots[self._slots >= 0].astype(np.int64)
            while size < 2 * self._count:
                size *= 4 if size < _LARGE else 2
            self._slots = np.full(size, -1, np.int32)
            for start in range(0, len(entered), _PIECE):
                self._place(entered[start : start + _PIECE], keys)
        placed = [self._place(rows[start : start + _PIECE], keys) for start in range(0, len(rows), _PIECE)]
        return np.concatenate(placed) if placed else rows

    def find(self, wanted: Keys, keys: Keys) -> NDArray[np.int64]:
        """The rows of keys, (n,); -1 for keys that are not in the table."""
        found = np.full(len(wanted), -1, np.int64)
        mask = np.uint64(len(self._slots) - 1)
        asking = np.arange(len(wanted))
        at = (wanted[:, 0] & mask).astype(np.int64)
        while len(asking):
            rows = self._slots[at]
            taken = rows >= 0
            asking, at, rows = asking[taken], at[taken], rows[taken]
            same = _equal(keys[rows], wanted[asking])
            found[asking[same]] = rows[same]
            asking, at = asking[~same], self._next(at[~same])
        return found

    def _place(self, rows: NDArray[np.int64], keys: Keys) -> NDArray[np.int64]:
        mine = keys[rows]
        at = (mine[:, 0] & np.uint64(len(self._slots) - 1)).astype(np.int64)
        repeated = []
        while len(rows):
            there = self._slots[at]
            free = there < 0
            self._slots[at[free]] = rows[free]  # of several that want one slot, the last stays
            there = self._slots[at]
            left = there != rows
            rows, mine, at = rows[left], mine[left], at[left]
            same = _equal(keys[there[left]], mine)
            if same.any():
                repeated.append(rows[same])
                rows, mine, at = rows[~same], mine[~same], at[~same]
            at = self._next(at)
        return np.concatenate(repeated) if repeated else rows

    def _next(self, at: NDArray[np.int64]) -> NDArray[np.int64]:
        return (at + 1) & (len(self._slots) - 1)


def _equal(some: Keys, others: Keys) -> NDArray[np.bool_]:
    """Which keys are the same, (n,)."""
    same: NDArray[np.bool_] = some[:, 0] == others[:, 0]
    if some.shape[1] > 1:
        same &= some[:, 1] == others[:, 1]
    return same
