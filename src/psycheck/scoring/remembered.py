"""The scores of one model, looked up by item: what the store holds, and what is scored from now on."""

from collections import Counter
from collections.abc import Iterator, Sequence
from contextlib import AbstractContextManager
from pathlib import Path
from traceback import extract_tb

import numpy as np
from numpy.typing import NDArray

from psycheck.core.arrays import BoolArray, FloatArray, IntArray
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
from psycheck.scoring.lookup import Keys
from psycheck.scoring.score_table import UNKNOWN_ROW, Rows, ScoreTable
from psycheck.scoring.store import Store
from psycheck.scoring.stored_rows import WHOLE, Batch


class RememberedScores:
    """One model's scores, looked up by item (a text, or anything else with a digest and a size).

    `names` are the labels under which an audit knows the columns. The table holds what the store holds for
    the model; an item that this run has met (`meet`) is found in it without hashing it anew.
    """

    def __init__(
        self,
        store: Store,
        model: Model,
        names: tuple[str, ...],
    ) -> None:
        self._windowed = model if isinstance(model, Windowed) else None
        self._reader = model if isinstance(model, Replying) else None
        self._explains = model if isinstance(model, Explaining) else None
        self._capabilities = capabilities_of(model)
        # Every LLM could check quotes, but only some prompts ask for them.
        self._quote_checker: QuoteChecking | None = None
        if isinstance(model, QuoteChecking) and model.checks_quotes:
            self._quote_checker = model

        self._asked_thresholds: tuple[float, ...] = ()
        self.store = store
        self.model = model.name
        self.labels = names
        self.number = store.enter(model)
        self.complaints: Counter[str] = Counter()  # why items could not be scored
        self.news = False  # whether others have added something since `unknown`

        self._last = 0  # the id of the last batch that was loaded
        self._table = ScoreTable(len(names))
        # By row: replies that are read again once the text that they quote is known.
        self._unchecked: dict[int, Reply] = {}
        self._no_answers: dict[int, NoAnswer] = {}  # by row: why a reply answers nothing
        self.refresh()
        self._first = self._last  # what came later is of this run, or of another one beside it

    def __len__(self) -> int:
        """How many items have scores."""
        return len(self._table)

    @property
    def traits(self) -> ScoreTraits:
        """How the scores become decisions."""
        thresholds = self._asked_thresholds or self._capabilities.thresholds
        replies_in_words = self._reader is not None
        return ScoreTraits(
            exclusive=self._capabilities.exclusive,
            thresholds=thresholds,
            reads_all=self._windowed is None,
            hard=replies_in_words and self._only_zeros_and_ones(),
        )

    def decide_at(self, thresholds: FloatArray) -> None:
        """Decide at thresholds that the user of the run asked for, (k,), from now on."""
        self._asked_thresholds = tuple(thresholds.tolist())

    def digests(self, items: Sequence[Item]) -> Keys:
        """The hashes of items in the store, (n, 2)."""
        return self.store.digests(items)

    def claims(self) -> AbstractContextManager[None]:
        """End the claims of this process afterwards."""
        return self.store.claims()

    def refresh(self) -> None:
        """Load what other processes have added since."""
        batches_since = self.store.batches(self.number, self._last)
        for row, batch in batches_since:
            # The row first: a batch that cannot be read is not tried again at every look.
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
            # If all that others claim were first in line, `most` would still be free behind it.
            window_size = most + len(claimed_by_others)
            window, later = np.split(left, [window_size])
            window_hashes = hashes[window]

            # Without news, whatever is left is still unknown, and the index need not be built.
            rows = np.full(len(window), UNKNOWN_ROW)
            if self.news:
                rows = self.find(window_hashes)

            is_stored = rows >= 0
            is_claimed = np.isin(window_hashes[:, 0], claimed_by_others)
            is_free = ~is_stored & ~is_claimed
            is_free &= np.cumsum(is_free) <= most
            self.store.claim(self.number, window_hashes[is_free])

        stored_places = window[is_stored].tolist()
        stored_items = [items[place] for place in stored_places]
        newly_met = self.meet(stored_items, rows[is_stored])

        still_claimed = window[~(is_free | is_stored)]
        still_left = np.concatenate([still_claimed, later])
        return window[is_free], still_left, len(newly_met)

    def add(
        self,
        items: Sequence[Item],
        answers: FloatArray | Sequence[Reply],
        hashes: Keys | None = None,
        *,
        read: IntArray | None = None,
    ) -> None:
        """Commit a batch of scores, or of replies to read them from; its items are found from now on.

        `read` is how much of each item was read, (n,), where another process has asked the model.
        """
        if hashes is None:
            hashes = self.digests(items)
        scores = np.zeros((len(items), 0))
        replies: tuple[Reply, ...] = ()
        if isinstance(answers, np.ndarray):
            scores = answers
        else:
            # Replies are stored, scores are read from them.
            replies = tuple(answers)

        # Contiguous, because the store writes and seals the bytes as they lie in memory.
        batch = Batch(
            items=np.ascontiguousarray(hashes),
            scores=np.ascontiguousarray(scores, np.float64),
            read=self._cut_at(items, read),
            replies=replies,
        )
        with self.store.transaction():
            self.refresh()  # what others added comes before
            self._last = self.store.add(self.number, batch)

        rows = self._take(batch)
        if batch.replies:
            self.meet(items, rows)  # some may have had a reply before
        else:
            self._table.mark(items, rows)

    def _cut_at(self, items: Sequence[Item], read: IntArray | None) -> NDArray[np.int32]:
        """Where the model cuts each item, (n,); `WHOLE` where it reads all of it."""
        if self._windowed is None:
            return np.full(len(items), WHOLE, np.int32)

        if read is None:
            read = self._windowed.read(items)
        is_read_whole = read >= sizes_of(items)
        cut_at = np.where(is_read_whole, WHOLE, read)
        return cut_at.astype(np.int32)

    def find(self, hashes: Keys) -> Rows:
        """The rows of items, (n,), by their hashes, (n, 2); -1 where they are not known."""
        return self._table.find(hashes)

    def meet(self, items: Sequence[Item], rows: Rows) -> list[Item]:
        """Find items at these rows by Python's hash from now on, so that judging need not hash them again.

        Returns those that this run meets for the first time.
        """
        is_new = self._table.mark_unmet(items, rows)
        new_places = np.flatnonzero(is_new).tolist()
        return [items[place] for place in new_places]

    def forget(self) -> int:
        """Drop all scores that the store held when this run began; returns their number."""
        dropped = self.store.drop(self.number, self._first)

        # What this run itself has stored is loaded again.
        self._table.clear()
        self._first = self._last = 0
        self._no_answers.clear()
        self._unchecked.clear()
        self.refresh()
        return dropped

    def of(self, items: Sequence[Item]) -> FloatArray:
        """The scores, (n, k); NaN where there is none."""
        rows = self._rows(items)
        scores = self._table.scores[rows]
        # Row -1 gave some item's scores.
        scores[rows < 0] = np.nan
        return scores

    def read(self, items: Sequence[Item]) -> IntArray:
        """How many characters were read, (n,)."""
        sizes = sizes_of(items)
        if not self._windowed:
            return sizes

        rows = self._rows(items)
        cut_at = self._table.read[rows]
        was_cut = (rows >= 0) & (cut_at != WHOLE)
        return np.where(was_cut, cut_at, sizes).astype(np.int64)

    def replies(self, items: Sequence[Item]) -> list[Reply | None]:
        """What the model replied about items, as the store holds it; None where it holds nothing."""
        hashes = self.digests(items)
        keys = [key.tobytes() for key in hashes]
        reply_by_key: dict[bytes, Reply | None] = dict.fromkeys(keys)
        # A later reply takes the place of an earlier one.
        for key, reply in self._stored_replies():
            if key in reply_by_key:
                reply_by_key[key] = reply
        return [reply_by_key[key] for key in keys]

    def unanswered(self, items: Sequence[Item]) -> IntArray:
        """How many labels the answer to each item leaves open, (n,); 0 where the store has no answer."""
        rows = self._rows(items)
        is_open = np.isnan(self._table.scores[rows])
        open_labels: IntArray = is_open.sum(axis=1, dtype=np.int64)
        open_labels[rows < 0] = 0
        return open_labels

    def no_answers(self, items: Sequence[Item]) -> Counter[NoAnswer]:
        """Why replies to some items answer no label, and how many of them."""
        reasons: Counter[NoAnswer] = Counter()
        for row in self._rows(items).tolist():
            if row in self._no_answers:
                reasons[self._no_answers[row]] += 1
        return reasons

    def all_no_answers(self) -> Counter[NoAnswer]:
        """Why stored replies answer no label, and how many of them."""
        return Counter(self._no_answers.values())

    @property
    def answers_nothing(self) -> bool:
        """True if the store holds replies of the model, and none of them answers a label."""
        return 0 < len(self) == len(self._no_answers)

    def usage(self, items: Sequence[Item]) -> dict[str, int]:
        """Requests and tokens that the stored replies to some items took, whichever run asked for them."""
        hashes = self.digests(items)
        keys = {key.tobytes() for key in hashes}
        usage = Counter[str]()
        for key, reply in self._stored_replies():
            if key not in keys:
                continue
            # Each further answer to the same prompt was a request of its own.
            usage["requests"] += 1 + len(reply.others)
            usage["prompt_tokens"] += reply.prompt_tokens or 0
            usage["completion_tokens"] += reply.completion_tokens or 0
        return dict(usage)

    def _stored_replies(self) -> Iterator[tuple[bytes, Reply]]:
        """All replies that the store holds, each with the hash of its item, the oldest first."""
        if self._reader is None:
            return
        # All at once: a query that is still open would keep the store from writing.
        stored = list(self.store.batches(self.number))
        batches = [batch for _, batch in stored if batch.replies]
        for batch in batches:
            replies_by_row = zip(batch.items, batch.replies, strict=True)
            for key, reply in replies_by_row:
                yield key.tobytes(), reply

    def _only_zeros_and_ones(self) -> bool:
        scores = self._table.scores[: len(self)]
        answered = scores[~np.isnan(scores)]
        is_hard = np.isin(answered, (0.0, 1.0))
        return bool(is_hard.all())

    def _rows(self, items: Sequence[Item]) -> Rows:
        """The rows of items, (n,), by their marks if these are certain, else by their hashes; -1: unknown."""
        rows = self._table.find_by_mark(items)
        missing = np.flatnonzero(rows < 0)
        if len(missing) and self._table.may_hold_more:
            missing_items = [items[place] for place in missing.tolist()]
            hashes = self.digests(missing_items)
            rows[missing] = self.find(hashes)

        # Quotes can be checked only now, with the texts at hand.
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
                self._table.scores[row] = self._quote_checker.read_reply_about(reply, item)

    def _take(self, batch: Batch) -> Rows:
        """Append a batch to the tables; returns its rows."""
        if not batch.replies:
            return self._table.append(batch.items, batch.scores, batch.read)

        # Here, and nowhere else, a stored reply is read; a later one takes the place of an earlier one.
        scores = self._read_replies(batch.replies)
        rows = self.find(batch.items)
        old = np.flatnonzero(rows >= 0)
        old_rows = rows[old]
        self._table.scores[old_rows] = scores[old]

        new = np.flatnonzero(rows < 0)
        rows[new] = self._table.append(batch.items[new], scores[new], batch.read[new])
        self._note_no_answers(rows, scores, batch.replies)
        if self._quote_checker is not None:
            replies_by_row = zip(rows.tolist(), batch.replies, strict=True)
            self._unchecked.update(replies_by_row)
        return rows

    def _note_no_answers(self, rows: Rows, scores: FloatArray, replies: Sequence[Reply]) -> None:
        """Remember why replies answer nothing, and forget it where a later reply answers."""
        is_answered: BoolArray = np.any(~np.isnan(scores), axis=1)
        for row, reply, answers in zip(rows.tolist(), replies, is_answered.tolist(), strict=True):
            if answers:
                self._no_answers.pop(row, None)
                continue

            no_answer = NoAnswer("unreadable")
            if self._explains is not None:
                no_answer = self._explains.why_unanswered(reply)
            # A reply may rightly leave all labels open: then there is nothing to explain.
            if no_answer.what:
                self._no_answers[row] = no_answer

    def _read_replies(self, replies: Sequence[Reply]) -> FloatArray:
        """The scores of replies, (n, k), as the model reads them today."""
        if self._reader is None:
            shape = (len(replies), len(self.labels))
            return np.full(shape, np.nan)

        try:
            scores = [self._reader.read_reply(reply) for reply in replies]
        except Exception as error:
            reason = reason_of(error)
            raise ModelFailure(
                f"model '{self.model}' cannot read one of its replies: {reason}",
                code="model.cannot-read-reply",
                allowed="NaN for each label that a reply does not answer",
                do="mend its read_reply and run the same command again; the replies are stored",
            ) from error
        return checked_scores(
            np.stack(scores),
            len(replies),
            self._reader.labels,
            model=self.model,
        )


def reason_of(error: BaseException) -> str:
    """The kind of an error and where it was raised; a message that is not ours may quote a text."""
    if isinstance(error, PsycheckError):
        return error.what

    kind = type(error).__name__
    frames = extract_tb(error.__traceback__)
    if not frames:
        return f"{kind} at unknown place"
    last_frame = frames[-1]
    file_name = Path(last_frame.filename).name
    return f"{kind} at {file_name}:{last_frame.lineno}"
