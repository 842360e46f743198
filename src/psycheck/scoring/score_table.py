"""The scores of items in memory, and where each item's row is: by its hash, or by Python's own."""

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from psycheck.core.arrays import BoolArray, FloatArray
from psycheck.core.item import Item
from psycheck.scoring.lookup import Keys, Lookup

Rows = NDArray[np.int64]
UNKNOWN_ROW = -1  # of an item that is not in the table


class ScoreTable:
    """Scores (rows, k) and how much of each item was read, (rows,), of items that are only ever added.

    An item is found by its hash in the store; what this run has met is also found by Python's own hash (its
    mark), which costs a tenth. Takes about 70 bytes of memory per item.
    """

    def __init__(self, labels: int) -> None:
        # One row at least, so that row -1, an item that is not known, can be looked up.
        self.scores = np.zeros((1, labels))
        self.read = np.zeros(1, np.int32)
        self._items = np.zeros((1, 2), np.uint64)
        self._marks = np.zeros((1, 1), np.uint64)
        self.clear()

    def __len__(self) -> int:
        """How many rows are in use; the tables have room for more."""
        return self._count

    def clear(self) -> None:
        """Forget all items; the room for their rows is used again."""
        self._count = 0
        self._by_hash = Lookup()
        self._listed = 0  # rows that `_by_hash` lists
        self._by_mark = Lookup()
        self._met = 0  # rows that `_by_mark` lists
        self._ambiguous: set[int] = set()  # marks that two items have in common

    @property
    def may_hold_more(self) -> bool:
        """Whether an item without a certain mark may be in the table: not all rows are found by marks."""
        return bool(self._ambiguous) or self._met < self._count

    def append(self, items: Keys, scores: FloatArray, read: NDArray[np.int32]) -> Rows:
        """Put items, by their hashes (n, 2), behind the last row; returns their rows."""
        start = self._count
        end = start + len(items)
        if end > len(self.read):
            # Room for a quarter more, so that appending stays cheap.
            room = end + end // 4
            tables = (self._items, self.scores, self.read, self._marks)
            for table in tables:
                _, *row_shape = table.shape
                table.resize((room, *row_shape), refcheck=False)

        self._items[start:end] = items
        self.scores[start:end] = scores
        self.read[start:end] = read
        self._count = end
        return np.arange(start, end)

    def find(self, hashes: Keys) -> Rows:
        """The rows of items, (n,), by their hashes, (n, 2); -1 where they are not known."""
        if self._listed < self._count:  # only now: a run that asks once never needs it
            unlisted_rows = np.arange(self._listed, self._count)
            self._by_hash.add(unlisted_rows, self._items)
            self._listed = self._count
        return self._by_hash.find(hashes, self._items)

    def find_by_mark(self, items: Sequence[Item]) -> Rows:
        """The rows of items, (n,), by Python's hash; -1 where they are not met or it is not certain."""
        marks = _marks(items)
        rows = self._by_mark.find(marks, self._marks)
        # Two items in some billions share a mark; then only the hash tells which of them it is.
        if self._ambiguous:
            ambiguous_marks = np.fromiter(self._ambiguous, np.uint64)
            is_ambiguous = np.isin(marks[:, 0], ambiguous_marks)
            rows[is_ambiguous] = UNKNOWN_ROW
        return rows

    def mark(self, items: Sequence[Item], rows: Rows) -> None:
        """Find new rows by Python's hash from now on."""
        self._enter(_marks(items), rows)

    def mark_unmet(self, items: Sequence[Item], rows: Rows) -> BoolArray:
        """Find rows by Python's hash from now on; returns which of them were not met before, (n,)."""
        marks = _marks(items)
        met_rows = self._by_mark.find(marks, self._marks)
        is_new: BoolArray = met_rows != rows
        self._enter(marks[is_new], rows[is_new])
        return is_new

    def _enter(self, marks: Keys, rows: Rows) -> None:
        """Find rows by their marks; marks that two items share are set apart."""
        self._marks[rows] = marks
        repeated = self._by_mark.add(rows, self._marks)
        shared_marks = self._marks[repeated, 0]
        self._ambiguous.update(shared_marks.tolist())
        self._met += len(rows)


def _marks(items: Sequence[Item]) -> Keys:
    """Python's own hashes of items, (n, 1); they are valid in this process only."""
    signed_hashes = np.fromiter(map(hash, items), np.int64, len(items))
    marks = signed_hashes.view(np.uint64)
    return marks.reshape(-1, 1)
