"""Scoring once: distinct items, minus those in the store, by size, each batch committed before the next.

A failure that may pass (a time-out, a rate limit) is waited for and never halves a batch. A batch that fails
for another reason is halved until the items at fault stand alone. An item that fails is not stored, so the
next run tries it again.

The fingerprint of a Python model does not cover the files that its code reads, so a few stored scores are
computed anew; if they changed, all stored scores of the model are dropped.
"""

import random
import sys
import time
import warnings
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import redirect_stdout
from dataclasses import dataclass
from functools import partial
from itertools import count, islice, repeat
from typing import NamedTuple, TypeVar

import numpy as np
from numpy.typing import NDArray

from psycheck.errors import ModelFailure, PsycheckError, PsycheckWarning, TransientFailure, counted
from psycheck.model import FloatArray, Item, Model, Reply, Replying, sizes_of
from psycheck.models.output import checked_scores
from psycheck.models.python_object import PythonModel
from psycheck.scoring.index import Keys
from psycheck.scoring.view import RememberedScores, reason_of

BUDGET = 64 * 2**20  # bytes of text held at once
_AT_ONCE = 4096  # items taken from an audit at once
_EMPTY = 150  # bytes that a text takes besides its letters: the string, its hash and its place in tables
BATCH = 1024  # items per batch for a model that does not say what it prefers
TRANSIENT = (TransientFailure, TimeoutError, ConnectionError)
RETRIES = 6  # waits of about 1, 2, 4 … 32 seconds: more than the minute over which servers count requests
_LONGEST_WAIT = 120.0  # seconds, whatever a server asks for
_SAMPLE = 16  # items of all sizes that a model must fail on before it counts as broken
_PROBE = 8  # stored items of all sizes whose scores are checked
_CLAIMED, _MOST_CLAIMED = 1.0, 64  # about how many seconds of work a process claims at once, and batches
_POLL = 0.2  # seconds between looks at what other processes have claimed
_SAME = 1e-4  # scores that differ by less are the same: padding and threads move the last digits

Sleep = Callable[[float], None]
T = TypeVar("T")


@dataclass(slots=True)
class Tally:
    """What became of the items that the audits asked for.

    `checked` stored scores were computed anew; where these had changed, `dropped` stored scores were removed.
    """

    asked: int = 0
    distinct: int = 0
    remembered: int = 0
    scored: int = 0
    failed: int = 0
    checked: int = 0
    dropped: int = 0
    seconds: float = 0.0


Progress = Callable[[str, int, int, float], None]
"""Called after every batch: the model, the number done, the number in all, the seconds since the start."""
Piece = tuple[float, Iterable[Item]]
"""Some items, and the share of all items that has been asked for after these."""


def silent(model: str, done: int, total: int, seconds: float, /) -> None:
    """Show no progress."""


def gather(pieces: Iterable[Piece], budget: int = BUDGET) -> Iterator[tuple[float, int, list[Item]]]:
    """Distinct items in chunks of about `budget` bytes, with the share done and the number asked for.

    An item may come again in a later chunk: by then the store knows it.
    """
    fresh: dict[Item, None] = {}
    asked = size = 0
    share = 0.0
    for share, items in pieces:
        stream = iter(items)
        while some := list(islice(stream, _AT_ONCE)):
            asked += len(some)
            before = len(fresh)
            fresh.update(zip(some, repeat(None)))
            # Repeats take no room; new items are assumed to be as long as these are on average.
            size += (len(fresh) - before) * (_EMPTY + int(sizes_of(some).sum()) // len(some))
            if size > budget:
                yield share, asked, list(fresh)
                fresh = {}
                asked = size = 0
    if fresh or asked:
        yield share, asked, list(fresh)


def score_once(
    scores: Sequence[tuple[Model, RememberedScores]],
    pieces: Iterable[Piece],
    progress: Progress = silent,
    sleep: Sleep = time.sleep,
    tallies: dict[str, Tally] | None = None,
) -> dict[str, Tally]:
    """Score what the audits ask for with every model; `pieces` are consumed in bounded chunks.

    `tallies` are those of an earlier call in the same run, which are continued; if stored scores were checked
    then, they are not checked again.
    """
    continued = tallies is not None
    tallies = {model.name: Tally() for model, _ in scores} if tallies is None else tallies
    started = time.monotonic()
    for share, asked, items in gather(pieces):
        for model, view in scores:
            begun = time.monotonic()
            todo, tally = unknown(view, items), tallies[model.name]
            tally.asked += asked
            if isinstance(model, PythonModel) and todo.met and not (continued and tally.checked):
                todo = _probed(model, view, items, todo, tally, sleep)
            tally.distinct += len(todo.items) + len(todo.met)
            tally.remembered += len(todo.met)
            planned = int((tally.scored + len(todo.items)) / max(share, 1e-9)) + tally.remembered
            with view.claims():
                for batch in _batches(model, view, todo, tally, sleep):
                    _score_batch(model, view, batch, tally, sleep)
                    left = planned - tally.remembered  # others may have scored some
                    progress(model.name, tally.scored, left, time.monotonic() - started)
            tally.seconds += time.monotonic() - begun
    return tallies


def patiently(call: Callable[[], T], name: str, sleep: Sleep = time.sleep) -> T:
    """Call a model; if it fails for a reason that may pass, wait and call again, up to RETRIES times."""
    for retry in count():
        try:
            with redirect_stdout(sys.stderr):  # what a model prints is not our output
                return call()
        except TRANSIENT as error:
            if retry == RETRIES:
                raise ModelFailure(
                    f"model '{name}' does not answer: {reason_of(error)}, {RETRIES + 1} times in a row",
                    do="run the same command again later to resume; everything scored so far is kept",
                ) from error
            wait = 2**retry * random.uniform(0.5, 1.5)
            sleep(min(_LONGEST_WAIT, max(wait, getattr(error, "after", 0.0))))
    raise AssertionError  # the loop has no other end


class _Todo(NamedTuple):
    """Items to score, their hashes, (n, 2), and stored items met just now."""

    items: list[Item]
    hashes: Keys
    met: Sequence[Item] = ()

    def take(self, rows: NDArray[np.int64]) -> "_Todo":
        """Some of them, in this order."""
        return _Todo(list(map(self.items.__getitem__, rows.tolist())), self.hashes[rows])


def unknown(view: RememberedScores, items: list[Item]) -> _Todo:
    """What the store does not hold; what it holds is found by Python's hash from now on."""
    view.refresh()
    hashes = view.digests(items)
    rows = view.find(hashes)
    met = view.meet([items[i] for i in np.flatnonzero(rows >= 0).tolist()], rows[rows >= 0])
    return _Todo(items, hashes).take(np.flatnonzero(rows < 0))._replace(met=met)


def _probed(
    model: Model, view: RememberedScores, items: list[Item], todo: _Todo, tally: Tally, sleep: Sleep
) -> _Todo:
    """Compute a few stored scores anew; if they changed, drop what is stored and list the items again.

    A model that never gives the same score twice has changed if the store is much further off than that.
    """
    sample = of_all_sizes(todo.met, _PROBE)
    size = getattr(model, "batch", None) or BATCH

    def anew() -> FloatArray:
        parts = [sample[start : start + size] for start in range(0, len(sample), size)]
        return np.concatenate([patiently(partial(model.score, part), model.name, sleep) for part in parts])

    try:
        now = anew()
        gap = _gap(now, view.of(sample))
        changed = gap > _SAME and gap > 4 * _gap(now, anew())
    except (PsycheckError, KeyboardInterrupt, MemoryError):
        raise
    except (Exception, SystemExit) as error:  # noqa: BLE001 - a user's model may raise anything
        note = f"model '{model.name}': its stored scores could not be checked: {reason_of(error)}"
        warnings.warn(note, PsycheckWarning, stacklevel=2)
        return todo
    tally.checked += len(sample)
    if not changed:
        return todo
    dropped = view.forget()
    tally.dropped += dropped
    note = (
        f"model '{model.name}' gives other scores than before (by up to {min(gap, 1.0):.2g}): "
        f"{counted(dropped, 'stored score')} dropped, every text is scored again"
    )
    warnings.warn(note, PsycheckWarning, stacklevel=2)
    return unknown(view, items)


def of_all_sizes(items: Sequence[Item], most: int) -> list[Item]:
    """A few items, always the same, from the shortest to the longest."""
    places = np.unique(np.linspace(0, len(items) - 1, most).astype(np.int64))
    return [items[i] for i in np.argsort(sizes_of(items), kind="stable")[places].tolist()]


def _gap(some: FloatArray, others: FloatArray) -> float:
    """The largest difference of scores, (n, k); infinite where only one is NaN."""
    off = np.where(np.isnan(some) & np.isnan(others), 0.0, np.abs(some - others))
    return float(np.where(np.isnan(off), np.inf, off).max())


def _batches(
    model: Model, view: RememberedScores, todo: _Todo, tally: Tally, sleep: Sleep
) -> Iterator[_Todo]:
    """Longest first, so that a batch too large for the memory shows at once and padding stays small.

    If the model fails on the whole first batch and has scored nothing before, a sample of all sizes comes
    next; if it fails on these too, the run stops. What other processes have claimed comes last.
    """
    usual = getattr(model, "batch", None) or BATCH
    order = np.argsort(-sizes_of(todo.items), kind="stable")
    sample, many = 0, 1
    while len(order):
        size, before, begun = sample or usual, len(order), time.monotonic()
        mine, order, met = view.claim(todo.items, todo.hashes, order, sample or many * usual)
        tally.remembered += met
        if not len(mine):
            if len(order) == before:
                sleep(_POLL)
            continue
        for start in range(0, len(mine), size):
            yield todo.take(mine[start : start + size])
        rate = len(mine) / size / (time.monotonic() - begun + 1e-9)  # batches per second
        many = int(min(_MOST_CLAIMED, 1 + _CLAIMED * rate))
        if len(view) or not view.complaints:
            sample = 0
        elif sample or not len(order):
            raise ModelFailure(
                f"model '{model.name}' fails on every text: {'; '.join(view.complaints)}",
                do="call its score on one short text in a Python shell",
            )
        else:
            places = np.unique(np.linspace(0, len(order) - 1, _SAMPLE).astype(np.int64))
            order = np.concatenate([order[places], np.delete(order, places)])
            sample = len(places)


def _score_batch(model: Model, view: RememberedScores, batch: _Todo, tally: Tally, sleep: Sleep) -> None:
    """Score and commit a batch, and count the items that have scores and those that could not be scored."""
    if missing := getattr(model, "missing", None):
        lacking = set(missing(batch.items))
        tally.failed += len(lacking)
        batch = batch.take(np.flatnonzero([item not in lacking for item in batch.items]))
    if not batch.items:
        return
    try:
        done = len(batch.items)
        if isinstance(model, Replying):
            done = _ask(model, view, batch, sleep)
        else:
            values = patiently(lambda: model.score(batch.items), model.name, sleep)
            values = checked_scores(values, done, model.labels, model=model.name)
            view.add(batch.items, values, batch.hashes)
        tally.scored += done
        tally.failed += len(batch.items) - done
    except (PsycheckError, KeyboardInterrupt, MemoryError):
        raise
    except (Exception, SystemExit) as error:  # noqa: BLE001 - a user's model may raise anything
        if len(batch.items) == 1:
            view.complaints[reason_of(error)] += 1
            tally.failed += 1
            return
        rest = unknown(view, batch.items)  # some may have got a reply before the failure
        tally.scored += len(batch.items) - len(rest.items)
        for rows in np.array_split(np.arange(len(rest.items)), [len(rest.items) // 2]):
            _score_batch(model, view, rest.take(rows), tally, sleep)


def _ask(model: Replying, view: RememberedScores, batch: _Todo, sleep: Sleep) -> int:
    """Commit a reply for each item that gets one, and count why others get none; returns how many got one.

    Replies are committed as they come: one that arrived is never asked for again because another failed.
    """
    todo = batch
    done = 0

    def ask() -> None:
        nonlocal todo, done
        answers = list(model.ask(todo.items))
        if len(answers) != len(todo.items) or not all(isinstance(a, Reply | Exception) for a in answers):
            raise ModelFailure(
                f"model '{model.name}' returned {len(answers)} answers to {len(todo.items)} items",
                allowed="a Reply, or the exception that stands in its way, for each item",
            )
        replies = {i: answer for i, answer in enumerate(answers) if isinstance(answer, Reply)}
        if replies:
            some = todo.take(np.array(list(replies)))
            view.add(some.items, list(replies.values()), some.hashes)
            done += len(replies)
        failures = {i: answer for i, answer in enumerate(answers) if isinstance(answer, Exception)}
        again = {i: failure for i, failure in failures.items() if isinstance(failure, TRANSIENT)}
        view.complaints.update(reason_of(failures[i]) for i in failures if i not in again)
        todo = todo.take(np.array(list(again), np.int64))
        if again:
            raise next(iter(again.values()))

    patiently(ask, model.name, sleep)
    return done
