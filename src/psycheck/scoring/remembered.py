"""The scores of one model, looked up by item: what the store holds, and what is scored from now on."""

from collections import Counter
from collections.abc import Sequence
from contextlib import AbstractContextManager
from pathlib import Path
from traceback import extract_tb
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from psycheck.core.arrays import FloatArray, IntArray
from psycheck.core.audit import ScoreTraits
from psycheck.core.errors import ModelFailure, PsycheckError
from psycheck.core.item import Item, sizes_of
from psycheck.core.model import (
    Explaining,
    Model,
    NoAnswer,
    QuoteChecking,
    Reply,
    Replying,
    Windowed,
    capabilities_of,
)
from psycheck.models.output import checked_scores
from psycheck.scoring.lookup import Keys, Lookup
from psycheck.scoring.store import Store
from psycheck.scoring.stored_rows import WHOLE, Batch

Rows = NDArray[np.int64]


class RememberedScores:
    """One model's scores, looked up by item (a text, or anything else with a digest and a size).

    `names` are the labels under which an audit knows the columns. An item is found by its hash among those of
    all items that the store holds for the model; what this run has met (`meet`) is also found by Python's own
    hash (its mark), which costs a tenth. Takes about 70 bytes of memory per item.
    """

    def __init__(self, store: Store, model: Model, names: tuple[str, ...]) -> None:
        self._windowed = model if isinstance(model, Windowed) else None
        self._reader = model if isinstance(model, Replying) else None
        self._capabilities = capabilities_of(model)
        checks_quotes = isinstance(model, QuoteChecking) and model.checks_quotes
        self._quote_checker = model if isinstance(model, QuoteChecking) and checks_quotes else None
        self._explains = model if isinstance(model, Explaining) else None
        self._dev_thresholds: tuple[float, ...] = ()
        self.store = store
        self.model = model.name
        self.labels = names
        self.number = store.enter(model)
        self.complaints: Counter[str] = Counter()  # why items could not be scored
        self.news = False  # whether others have added something since `unknown`

        self._last = 0  # the id of the last batch that was loaded
        self._count = 0
        # One row at least, so that row -1, an item that is not known, can be looked up.
        self._items = np.zeros((1, 2), np.uint64)
        self._scores = np.zeros((1, len(names)))
        self._read = np.zeros(1, np.int32)
        # By row: replies that are read again once the text that they quote is known.
        self._unchecked: dict[int, Reply] = {}
        self._no_answers: dict[int, NoAnswer] = {}  # by row: why a reply answers nothing
        self._marks = np.zeros((1, 1), np.uint64)
        self._by_hash = Lookup()
        self._listed = 0  # rows that `_by_hash` lists
        self._by_mark = Lookup()
        self._met = 0  # rows that `_by_mark` lists
        self._ambiguous: set[int] = set()  # marks that two items have in common
        self.refresh()
        self._first = self._last  # what came later is of this run, or of another one beside it

    def __len__(self) -> int:
        """How many items have scores."""
        return self._count

    @property
    def traits(self) -> ScoreTraits:
        """How the scores become decisions."""
        return ScoreTraits(
            exclusive=self._capabilities.exclusive,
            thresholds=self._dev_thresholds or self._capabilities.thresholds,
            reads_all=self._windowed is None,
            hard=self._reader is not None and self._only_zeros_and_ones(),
        )

    def decide_at(self, thresholds: FloatArray) -> None:
        """Decide at thresholds that were chosen on dev, (k,), from now on."""
        self._dev_thresholds = tuple(thresholds.tolist())

    def digests(self, items: Sequence[Item]) -> Keys:
        """The hashes of items in the store, (n, 2)."""
        return self.store.digests(items)

    def claims(self) -> AbstractContextManager[None]:
        """End the claims of this process afterwards."""
        return self.store.claims()

    def refresh(self) -> None:
        """Load what other processes have added since."""
        for row, batch in self.store.batches(self.number, self._last):
            self._last = row
            self._take(batch)
            self.news = True

    def claim(
        self, items: Sequence[Item], hashes: Keys, left: IntArray, most: int
    ) -> tuple[IntArray, IntArray, int]:
        """Claim up to `most` items of `left`; returns these, those left, and how many others have stored."""
        with self.store.transaction():
            self.refresh()
            claimed_by_others = self.store.claimed(self.number)
            window, later = np.split(left, [most + len(claimed_by_others)])

            # Without news, whatever is left is still unknown, and the index need not be built.
            rows = self.find(hashes[window]) if self.news else np.full(len(window), -1)
            is_stored = rows >= 0
            is_free = ~is_stored & ~np.isin(hashes[window, 0], claimed_by_others)
            is_free &= np.cumsum(is_free) <= most
            self.store.claim(self.number, hashes[window[is_free]])

        stored_items = [items[place] for place in window[is_stored].tolist()]
        newly_met = self.meet(stored_items, rows[is_stored])
        still_left = np.concatenate([window[~(is_free | is_stored)], later])
        return window[is_free], still_left, len(newly_met)

    def add(
        self, items: Sequence[Item], answers: FloatArray | Sequence[Reply], hashes: Keys | None = None
    ) -> None:
        """Commit a batch of scores, or of replies to read them from; its items are found from now on."""
        keys = self.digests(items) if hashes is None else np.ascontiguousarray(hashes)
        if isinstance(answers, np.ndarray):
            batch = Batch(keys, np.ascontiguousarray(answers, np.float64), self._cut_at(items))
        else:
            # Replies are stored, scores are read from them.
            batch = Batch(keys, np.zeros((len(items), 0)), self._cut_at(items), tuple(answers))

        with self.store.transaction():
            self.refresh()  # what others added comes before
            self._last = self.store.add(self.number, batch)

        rows = self._take(batch)
        if batch.replies:
            self.meet(items, rows)  # some may have had a reply before
        else:
            self._enter(_marks(items), rows)

    def _cut_at(self, items: Sequence[Item]) -> NDArray[np.int32]:
        """Where the model cuts each item, (n,); `WHOLE` where it reads all of it."""
        if self._windowed is None:
            return np.full(len(items), WHOLE, np.int32)
        read = self._windowed.read(items)
        return np.where(read >= sizes_of(items), WHOLE, read).astype(np.int32)

    def find(self, hashes: Keys) -> Rows:
        """The rows of items, (n,), by their hashes, (n, 2); -1 where they are not known."""
        if self._listed < self._count:  # only now: a run that asks once never needs it
            self._by_hash.add(np.arange(self._listed, self._count), self._items)
            self._listed = self._count
        return self._by_hash.find(hashes, self._items)

    def meet(self, items: Sequence[Item], rows: Rows) -> list[Item]:
        """Find items at these rows by Python's hash from now on, so that judging need not hash them again.

        Returns those that this run meets for the first time.
        """
        marks = _marks(items)
        is_new = self._by_mark.find(marks, self._marks) != rows
        self._enter(marks[is_new], rows[is_new])
        return [items[place] for place in np.flatnonzero(is_new).tolist()]

    def forget(self) -> int:
        """Drop all scores that the store held when this run began; returns their number."""
        dropped = self.store.drop(self.number, self._first)

        self._ambiguous.clear()
        self._by_hash = Lookup()
        self._by_mark = Lookup()
        self._first = self._last = 0
        self._count = self._listed = self._met = 0
        self._no_answers.clear()
        self._unchecked.clear()
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
        was_cut = (rows >= 0) & (self._read[rows] != WHOLE)
        return np.where(was_cut, self._read[rows], sizes).astype(np.int64)

    def replies(self, items: Sequence[Item]) -> list[Reply | None]:
        """What the model replied about items, as the store holds it; None where it holds nothing."""
        keys = [key.tobytes() for key in self.digests(items)]
        reply_by_key: dict[bytes, Reply | None] = dict.fromkeys(keys)
        for batch in self._reply_batches():
            for key, reply in zip(batch.items, batch.replies, strict=True):
                if key.tobytes() in reply_by_key:
                    reply_by_key[key.tobytes()] = reply  # a later reply takes the place of an earlier one
        return [reply_by_key[key] for key in keys]

    def unanswered(self, items: Sequence[Item]) -> IntArray:
        """How many labels the answer to each item leaves open, (n,); 0 where the store has no answer."""
        rows = self._rows(items)
        open_labels = np.isnan(self._scores[rows]).sum(axis=1)
        return np.where(rows >= 0, open_labels, 0).astype(np.int64)

    def no_answers(self, items: Sequence[Item]) -> Counter[NoAnswer]:
        """Why replies to some items answer no label, and how many of them."""
        rows = self._rows(items).tolist()
        return Counter(self._no_answers[row] for row in rows if row in self._no_answers)

    def all_no_answers(self) -> Counter[NoAnswer]:
        """Why stored replies answer no label, and how many of them."""
        return Counter(self._no_answers.values())

    @property
    def answers_nothing(self) -> bool:
        """True if the store holds replies of the model, and none of them answers a label."""
        return 0 < self._count == len(self._no_answers)

    def usage(self, items: Sequence[Item]) -> dict[str, int]:
        """Requests and tokens that the stored replies to some items took, whichever run asked for them."""
        keys = set(map(tuple, self.digests(items).tolist()))
        usage = Counter[str]()
        for batch in self._reply_batches():
            for key, reply in zip(batch.items.tolist(), batch.replies, strict=True):
                if tuple(key) in keys:
                    usage["requests"] += 1 + len(reply.others)
                    usage["prompt_tokens"] += reply.prompt_tokens or 0
                    usage["completion_tokens"] += reply.completion_tokens or 0
        return dict(usage)

    def _reply_batches(self) -> list[Batch]:
        """The stored batches that hold replies, the oldest first."""
        if self._reader is None:
            return []
        return [batch for _, batch in self.store.batches(self.number) if batch.replies]

    def _only_zeros_and_ones(self) -> bool:
        scores = self._scores[: self._count]
        answered = scores[~np.isnan(scores)]
        return bool(np.isin(answered, (0.0, 1.0)).all())

    def _rows(self, items: Sequence[Item]) -> Rows:
        """The rows of items, (n,), by their marks if these are certain, else by their hashes; -1: unknown."""
        marks = _marks(items)
        rows = self._by_mark.find(marks, self._marks)
        if self._ambiguous:
            rows[np.isin(marks[:, 0], np.fromiter(self._ambiguous, np.uint64))] = -1

        missing = np.flatnonzero(rows < 0)
        may_be_stored = self._ambiguous or self._met < self._count
        if len(missing) and may_be_stored:
            rows[missing] = self.find(self.digests([items[place] for place in missing.tolist()]))
        if self._unchecked:
            self._check_quotes(items, rows)
        return rows

    def _check_quotes(self, items: Sequence[Item], rows: Rows) -> None:
        """Read replies together with their texts, each once: the store holds no texts."""
        if self._quote_checker is None:
            return
        for item, row in zip(items, rows.tolist(), strict=True):
            reply = self._unchecked.pop(row, None)
            if reply is not None:
                self._scores[row] = self._quote_checker.read_reply_about(reply, item)

    def _take(self, batch: Batch) -> Rows:
        """Append a batch to the tables; returns its rows."""
        if not batch.replies:
            return self._append(batch, batch.scores)

        # Here, and nowhere else, a stored reply is read; a later one takes the place of an earlier one.
        scores = self._read_replies(batch.replies)
        rows = self.find(batch.items)
        old = np.flatnonzero(rows >= 0)
        new = np.flatnonzero(rows < 0)
        self._scores[rows[old]] = scores[old]
        rows[new] = self._append(Batch(batch.items[new], scores[new], batch.read[new]), scores[new])
        self._note_no_answers(rows, scores, batch.replies)
        if self._quote_checker is not None:
            self._unchecked.update(zip(rows.tolist(), batch.replies, strict=True))
        return rows

    def _note_no_answers(self, rows: Rows, scores: FloatArray, replies: Sequence[Reply]) -> None:
        """Remember why replies answer nothing, and forget it where a later reply answers."""
        for row, reply, answer in zip(rows.tolist(), replies, scores, strict=True):
            if not np.isnan(answer).all():
                self._no_answers.pop(row, None)
            elif self._explains is None:
                self._no_answers[row] = NoAnswer("unreadable")
            elif (no_answer := self._explains.why_unanswered(reply)).what:
                self._no_answers[row] = no_answer

    def _append(self, batch: Batch, scores: FloatArray) -> Rows:
        start = self._count
        end = start + len(batch.items)
        if end > len(self._read):
            # Room for a quarter more, so that appending stays cheap.
            for table in (self._items, self._scores, self._read, self._marks):
                table.resize((end + end // 4, *table.shape[1:]), refcheck=False)

        self._items[start:end] = batch.items
        self._scores[start:end] = scores
        self._read[start:end] = batch.read
        self._count = end
        return np.arange(start, end)

    def _read_replies(self, replies: Sequence[Reply]) -> FloatArray:
        """The scores of replies, (n, k), as the model reads them today."""
        if self._reader is None:
            return np.full((len(replies), len(self.labels)), np.nan)
        try:
            scores = [self._reader.read_reply(reply) for reply in replies]
        except Exception as error:
            raise ModelFailure(
                f"model '{self.model}' cannot read one of its replies: {reason_of(error)}",
                code="model.cannot-read-reply",
                allowed="NaN for each label that a reply does not answer",
                do="mend its read_reply and run the same command again; the replies are stored",
            ) from error
        return checked_scores(np.stack(scores), len(replies), self._reader.labels, model=self.model)

    def _enter(self, marks: Keys, rows: Rows) -> None:
        """Find rows by their marks from now on; marks that two items share are set apart."""
        self._marks[rows] = marks
        repeated = self._by_mark.add(rows, self._marks)
        self._ambiguous.update(self._marks[repeated, 0].tolist())
        self._met += len(rows)


class Todo(NamedTuple):
    """Items to score, their hashes, (n, 2), and stored items met just now."""

    items: list[Item]
    hashes: Keys
    met: Sequence[Item] = ()

    def take(self, rows: Rows) -> "Todo":
        """The items at these rows, in this order."""
        items = list(map(self.items.__getitem__, rows.tolist()))
        return Todo(items, self.hashes.take(rows, axis=0))


def unknown(view: RememberedScores, items: list[Item]) -> Todo:
    """What the store does not hold; what it holds is found by Python's hash from now on."""
    view.refresh()
    hashes = view.digests(items)
    rows = view.find(hashes)
    view.news = False

    is_stored = rows >= 0
    if not is_stored.any():
        return Todo(items, hashes)

    stored_items = [items[place] for place in np.flatnonzero(is_stored).tolist()]
    newly_met = view.meet(stored_items, rows[is_stored])
    return Todo(items, hashes).take(np.flatnonzero(~is_stored))._replace(met=newly_met)


def reason_of(error: BaseException) -> str:
    """The kind of an error and where it was raised; a message that is not ours may quote a text."""
    if isinstance(error, PsycheckError):
        return error.what
    frames = extract_tb(error.__traceback__)
    if not frames:
        return f"{type(error).__name__} at unknown place"
    return f"{type(error).__name__} at {Path(frames[-1].filename).name}:{frames[-1].lineno}"


def _marks(items: Sequence[Item]) -> Keys:
    """Python's own hashes of items, (n, 1); they are valid in this process only."""
    return np.fromiter(map(hash, items), np.int64, len(items)).view(np.uint64)[:, None]
