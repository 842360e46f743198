"""The scores of one model, looked up by item: what the store holds, and what is scored from now on."""

from collections import Counter
from collections.abc import Sequence
from pathlib import Path
from traceback import extract_tb
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from psycheck.errors import ModelFailure, PsycheckError
from psycheck.model import FloatArray, IntArray, Item, Model, Reply, Replying, Windowed, sizes_of
from psycheck.models.output import checked_scores
from psycheck.scoring.index import Keys, Lookup
from psycheck.scoring.store import WHOLE, Batch, Store


class RememberedScores:
    """One model's scores, looked up by item (a text, or anything else with a digest and a size).

    `names` are the labels under which an audit knows the columns. An item is found by its hash among those of
    all items that the store holds for the model; what this run has met (`meet`) is also found by Python's own
    hash, which costs a tenth. Takes about 70 bytes of memory per item.
    """

    def __init__(self, store: Store, model: Model, names: tuple[str, ...]) -> None:
        self._windowed = model if isinstance(model, Windowed) else None
        self._reader = model if isinstance(model, Replying) else None
        self.model = model.name
        self.labels = names
        self.reads_all = self._windowed is None
        self.exclusive = bool(getattr(model, "exclusive", False))
        self.thresholds: FloatArray | None = getattr(model, "thresholds", None)
        self.number = store.enter(model)
        self.digests, self.claims = store.digests, store.claims
        self.complaints: Counter[str] = Counter()  # why items could not be scored
        self.news = False  # whether others have added something since `unknown`
        self._store = store
        self._last = 0
        self._count = 0
        # One row at least, so that row -1, an item that is not known, can be looked up.
        self._items = np.zeros((1, 2), np.uint64)
        self._scores = np.zeros((1, len(names)))
        self._read = np.zeros(1, np.int32)
        self._marks = np.zeros((1, 1), np.uint64)
        self._by_hash = Lookup()
        self._listed = 0
        self._by_mark = Lookup()
        self._met = 0
        self._shared: set[int] = set()  # marks that two items have in common
        self.refresh()
        self._first = self._last  # what came later is of this run, or of another one beside it

    def __len__(self) -> int:
        """How many items have scores."""
        return self._count

    def refresh(self) -> None:
        """Load what other processes have added since."""
        for row, batch in self._store.batches(self.number, self._last):
            self._last = row
            self._take(batch)
            self.news = True

    def claim(
        self, items: Sequence[Item], hashes: Keys, left: IntArray, most: int
    ) -> tuple[IntArray, IntArray, int]:
        """Claim up to `most` items of `left`; returns these, those left, and how many others have stored."""
        with self._store.transaction():
            self.refresh()
            claimed = self._store.claimed(self.number)
            window, later = np.split(left, [most + len(claimed)])
            # Without news, whatever is left is still unknown, and the index need not be built.
            rows = self.find(hashes[window]) if self.news else np.full(len(window), -1)
            free = (rows < 0) & ~np.isin(hashes[window, 0], claimed)
            free &= np.cumsum(free) <= most
            self._store.claim(self.number, hashes[window[free]])
        stored = rows >= 0
        met = self.meet([items[i] for i in window[stored].tolist()], rows[stored])
        return window[free], np.concatenate([window[~(free | stored)], later]), len(met)

    def add(
        self, items: Sequence[Item], answers: FloatArray | Sequence[Reply], hashes: Keys | None = None
    ) -> None:
        """Commit a batch of scores, or of replies to read them from; its items are found from now on."""
        cut = np.full(len(items), WHOLE, np.int32)
        if self._windowed:
            read = self._windowed.read(items)
            cut = np.where(read >= sizes_of(items), WHOLE, read).astype(np.int32)
        hashes = self.digests(items) if hashes is None else np.ascontiguousarray(hashes)
        scored = isinstance(answers, np.ndarray)
        scores = np.ascontiguousarray(answers if scored else np.zeros((len(items), 0)), np.float64)
        batch = Batch(hashes, scores, cut, () if scored else tuple(answers))
        with self._store.transaction():
            self.refresh()  # what others added comes before
            self._last = self._store.add(self.number, batch)
        rows = self._take(batch)
        if scored:
            self._enter(_marks(items), rows)
        else:  # some may have had a reply before
            self.meet(items, rows)

    def find(self, wanted: Keys) -> NDArray[np.int64]:
        """The rows of items, (n,), by their hashes, (n, 2); -1 where they are not known."""
        if self._listed < self._count:  # only now: a run that asks once never needs it
            self._by_hash.add(np.arange(self._listed, self._count), self._items)
            self._listed = self._count
        return self._by_hash.find(wanted, self._items)

    def meet(self, items: Sequence[Item], rows: NDArray[np.int64]) -> list[Item]:
        """Find items at these rows by Python's hash from now on, so that judging need not hash them again.

        Returns those that this run meets for the first time.
        """
        marks = _marks(items)
        new = self._by_mark.find(marks, self._marks) != rows
        self._enter(marks[new], rows[new])
        return [items[i] for i in np.flatnonzero(new).tolist()]

    def forget(self) -> int:
        """Drop all scores that the store held when this run began; returns their number."""
        dropped = self._store.drop(self.number, self._first)
        self._shared.clear()
        self._by_hash, self._by_mark = Lookup(), Lookup()
        self._first = self._last = self._count = self._listed = self._met = 0
        self.refresh()
        return dropped

    def of(self, items: Sequence[Item]) -> FloatArray:
        """The scores, (n, k); NaN where there is none."""
        rows = self._rows(items)
        return np.where(rows[:, None] >= 0, self._scores[rows], np.nan)

    def read(self, items: Sequence[Item]) -> IntArray:
        """How many characters were read, (n,)."""
        sizes = sizes_of(items)
        if not self._windowed:
            return sizes
        rows = self._rows(items)
        return np.where((rows >= 0) & (self._read[rows] != WHOLE), self._read[rows], sizes).astype(np.int64)

    def replies(self, items: Sequence[Item]) -> list[Reply | None]:
        """What the model replied about items, as the store holds it; None where it holds nothing."""
        keys = [key.tobytes() for key in self.digests(items)]
        held: dict[bytes, Reply | None] = dict.fromkeys(keys)
        for _, batch in self._store.batches(self.number, 0) if self._reader else ():
            marks = [key.tobytes() for key in batch.items[: len(batch.replies)]]
            pairs = zip(marks, batch.replies, strict=True)
            held.update((key, reply) for key, reply in pairs if key in held)
        return [held[key] for key in keys]

    def unanswered(self, items: Sequence[Item]) -> IntArray:
        """How many labels the answer to each item leaves open, (n,); 0 where the store has no answer."""
        rows = self._rows(items)
        return np.where(rows >= 0, np.isnan(self._scores[rows]).sum(axis=1), 0).astype(np.int64)

    @property
    def hard(self) -> bool:
        """True if the model replies in words and every score is 0 or 1: these rank nothing."""
        scores = self._scores[: self._count]
        return self._reader is not None and bool(np.isin(scores[~np.isnan(scores)], (0.0, 1.0)).all())

    def usage(self, items: Sequence[Item]) -> dict[str, int]:
        """Requests and tokens that the stored replies to some items took, whichever run asked for them."""
        wanted, found = set(map(tuple, self.digests(items).tolist())), Counter[str]()
        for _, batch in self._store.batches(self.number):
            for key, reply in zip(batch.items.tolist() if batch.replies else (), batch.replies, strict=True):
                if tuple(key) in wanted:
                    found["requests"] += 1 + len(reply.others)
                    found["prompt_tokens"] += reply.prompt_tokens or 0
                    found["completion_tokens"] += reply.completion_tokens or 0
        return dict(found)

    def _rows(self, items: Sequence[Item]) -> NDArray[np.int64]:
        marks = _marks(items)
        rows = self._by_mark.find(marks, self._marks)
        if self._shared:
            rows[np.isin(marks[:, 0], np.fromiter(self._shared, np.uint64))] = -1
        missing = np.flatnonzero(rows < 0)
        if len(missing) and (self._shared or self._met < self._count):
            rows[missing] = self.find(self.digests([items[i] for i in missing.tolist()]))
        return rows

    def _take(self, batch: Batch) -> NDArray[np.int64]:
        """Append a batch to the tables; returns its rows."""
        if not batch.replies:
            return self._append(batch, batch.scores)
        scores, rows = self._read_replies(batch.replies), self.find(batch.items)
        old, new = np.flatnonzero(rows >= 0), np.flatnonzero(rows < 0)
        self._scores[rows[old]] = scores[old]  # a later reply takes the place of an earlier one
        rows[new] = self._append(Batch(batch.items[new], scores[new], batch.read[new]), scores[new])
        return rows

    def _append(self, batch: Batch, scores: FloatArray) -> NDArray[np.int64]:
        start, end = self._count, self._count + len(batch.items)
        if end > len(self._read):  # room for a quarter more, so that appending stays cheap
            for name in ("_items", "_scores", "_read", "_marks"):
                table = getattr(self, name)
                table.resize((end + end // 4, *table.shape[1:]), refcheck=False)
        self._items[start:end], self._scores[start:end] = batch.items, scores
        self._read[start:end] = batch.read
        self._count = end
        return np.arange(start, end)

    def _read_replies(self, replies: Sequence[Reply]) -> FloatArray:
        """The scores of replies, (n, k), as the model reads them today."""
        if self._reader is None:
            return np.full((len(replies), len(self.labels)), np.nan)
        try:
            rows = [self._reader.read_reply(reply) for reply in replies]
        except Exception as error:
            raise ModelFailure(
                f"model '{self.model}' cannot read one of its replies: {reason_of(error)}",
                allowed="NaN for each label that a reply does not answer",
                do="mend its read_reply and run the same command again; the replies are stored",
            ) from error
        return checked_scores(np.stack(rows), len(replies), self._reader.labels, model=self.model)

    def _enter(self, marks: Keys, rows: NDArray[np.int64]) -> None:
        """Find rows by their marks from now on; marks that two items share are set apart."""
        self._marks[rows] = marks
        again = self._by_mark.add(rows, self._marks)
        self._shared.update(self._marks[again, 0].tolist())
        self._met += len(rows)


class Todo(NamedTuple):
    """Items to score, their hashes, (n, 2), and stored items met just now."""

    items: list[Item]
    hashes: Keys
    met: Sequence[Item] = ()

    def take(self, rows: NDArray[np.int64]) -> "Todo":
        """Some of them, in this order."""
        return Todo(list(map(self.items.__getitem__, rows.tolist())), self.hashes.take(rows, axis=0))


def unknown(view: RememberedScores, items: list[Item]) -> Todo:
    """What the store does not hold; what it holds is found by Python's hash from now on."""
    view.refresh()
    hashes = view.digests(items)
    rows, view.news = view.find(hashes), False
    known = rows >= 0
    if not known.any():
        return Todo(items, hashes)
    met = view.meet([items[i] for i in np.flatnonzero(known).tolist()], rows[known])
    return Todo(items, hashes).take(np.flatnonzero(~known))._replace(met=met)


def reason_of(error: BaseException) -> str:
    """The kind of an error and where it was raised; a message that is not ours may quote a text."""
    if isinstance(error, PsycheckError):
        return error.what
    frames = extract_tb(error.__traceback__)
    place = f"{Path(frames[-1].filename).name}:{frames[-1].lineno}" if frames else "unknown place"
    return f"{type(error).__name__} at {place}"


def _marks(items: Sequence[Item]) -> Keys:
    """Python's own hashes of items, (n, 1); they are valid in this process only."""
    return np.fromiter(map(hash, items), np.int64, len(items)).view(np.uint64)[:, None]
