"""The scores of one model, looked up by text: what the store holds, and what is scored from now on."""

from collections.abc import Sequence
from pathlib import Path
from traceback import extract_tb

import numpy as np
from numpy.typing import NDArray

from psycheck.model import FloatArray, IntArray, Model, Windowed, digests_of
from psycheck.scoring.index import Lookup
from psycheck.scoring.store import WHOLE, Batch, Store


class RememberedScores:
    """One model's scores, looked up by text.

    `names` are the labels by which an audit knows the columns. A text is known by its hash among those of all
    that the store holds of the model; what this run has met (`meet`) is also known by Python's own hash of a
    text, which costs a tenth. About 70 bytes of memory a text.
    """

    def __init__(
        self, store: Store, model: Model, names: tuple[str, ...], *, windowed: bool | None = None
    ) -> None:
        self._windowed = isinstance(model, Windowed) if windowed is None else windowed
        self.model = model.name
        self.labels = names
        self.number = store.enter(model)
        self.complaints: dict[str, int] = {}
        self._store = store
        self._last = 0
        self._own: set[int] = set()
        self._count = 0
        self._texts = np.zeros((0, 2), np.uint64)
        self._scores = np.zeros((0, len(names)))
        self._read = np.zeros(0, np.int32)
        self._marks = np.zeros((0, 1), np.uint64)
        self._by_text = Lookup()
        self._listed = 0
        self._by_mark = Lookup()
        self._met = 0
        self._shared: set[int] = set()  # marks that two texts have in common
        self.refresh()

    def __len__(self) -> int:
        """How many texts are remembered."""
        return self._count

    def refresh(self) -> None:
        """Take in what other processes have added since."""
        for row, batch in self._store.batches(self.number, self._last):
            self._last = row
            if row not in self._own:
                self._take(batch)

    def add(
        self,
        texts: Sequence[str],
        scores: FloatArray,
        read: IntArray | None,
        hashes: NDArray[np.uint64] | None = None,
    ) -> None:
        """Commit a batch, and know its texts from now on."""
        batch = batch_of(texts, scores, read, hashes)
        self._own.add(self._store.add(self.number, batch))
        self._enter(_marks(texts), self._take(batch))

    def find(self, wanted: NDArray[np.uint64]) -> NDArray[np.int64]:
        """The rows at which texts stand, (n,), by their hashes, (n, 2); -1 where they are not known."""
        if self._listed < self._count:  # only now: a run that asks once never needs it
            self._by_text.add(np.arange(self._listed, self._count), self._texts)
            self._listed = self._count
        return self._by_text.find(wanted, self._texts)

    def meet(self, texts: Sequence[str], rows: NDArray[np.int64]) -> None:
        """Know texts at some rows by Python's hash of them, so that judging need not compute the store's."""
        marks = _marks(texts)
        new = self._by_mark.find(marks, self._marks) != rows
        self._enter(marks[new], rows[new])

    def of(self, texts: Sequence[str]) -> FloatArray:
        """The scores, (n, k); NaN where there is none."""
        rows = self._rows(texts)
        known = rows >= 0
        if known.all():
            return self._scores[rows]
        out = np.full((len(texts), len(self.labels)), np.nan)
        out[known] = self._scores[rows[known]]
        return out

    def read(self, texts: Sequence[str]) -> IntArray:
        """How many characters were read, (n,)."""
        lengths = np.fromiter(map(len, texts), np.int64, len(texts))
        if not self._windowed:
            return lengths
        rows = self._rows(texts)
        read = np.where(rows >= 0, self._read[rows], WHOLE) if self._count else np.full(len(texts), WHOLE)
        return np.where(read == WHOLE, lengths, read).astype(np.int64)

    def complain(self, error: BaseException) -> None:
        """Count why a text could not be scored: the kind of error and its place, never its words."""
        frames = extract_tb(error.__traceback__)
        place = f"{Path(frames[-1].filename).name}:{frames[-1].lineno}" if frames else "unknown place"
        reason = f"{type(error).__name__} at {place}"
        self.complaints[reason] = self.complaints.get(reason, 0) + 1

    def _rows(self, texts: Sequence[str]) -> NDArray[np.int64]:
        marks = _marks(texts)
        rows = self._by_mark.find(marks, self._marks)
        if self._shared:
            rows[np.isin(marks[:, 0], np.fromiter(self._shared, np.uint64))] = -1
        missing = np.flatnonzero(rows < 0)
        if len(missing) and (self._shared or self._met < self._count):
            rows[missing] = self.find(digests_of([texts[i] for i in missing.tolist()]))
        return rows

    def _take(self, batch: Batch) -> NDArray[np.int64]:
        """Put a batch behind the others; returns the rows at which it stands."""
        start, end = self._count, self._count + len(batch.texts)
        if end > len(self._read):
            self._make_room(end)
        self._texts[start:end], self._scores[start:end] = batch.texts, batch.scores
        self._read[start:end] = batch.read
        self._count = end
        return np.arange(start, end)

    def _enter(self, marks: NDArray[np.uint64], rows: NDArray[np.int64]) -> None:
        """Know rows by their marks, and which marks do not tell texts apart."""
        self._marks[rows] = marks
        again = self._by_mark.add(rows, self._marks)
        self._shared.update(self._marks[again, 0].tolist())
        self._met += len(rows)

    def _make_room(self, rows: int) -> None:
        """A quarter more than asked for: growing by shares keeps the cost of a text the same."""
        room = rows + rows // 4
        for name in ("_texts", "_scores", "_read", "_marks"):
            table = getattr(self, name)
            table.resize((room, *table.shape[1:]), refcheck=False)


def batch_of(
    texts: Sequence[str], scores: FloatArray, read: IntArray | None, hashes: NDArray[np.uint64] | None
) -> Batch:
    """A batch as the store keeps it."""
    cut = np.full(len(texts), WHOLE, np.int32)
    if read is not None:
        lengths = np.fromiter(map(len, texts), np.int64, len(texts))
        cut = np.where(read >= lengths, WHOLE, read).astype(np.int32)
    hashes = digests_of(texts) if hashes is None else np.ascontiguousarray(hashes)
    return Batch(hashes, np.ascontiguousarray(scores, np.float64), cut)


def _marks(texts: Sequence[str]) -> NDArray[np.uint64]:
    """Python's own hashes of texts, (n, 1); they hold for this process only."""
    return np.fromiter(map(hash, texts), np.int64, len(texts)).view(np.uint64)[:, None]
