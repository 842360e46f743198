"""Scoring once: distinct items, minus those in the store, by size, each batch committed before the next.

A failure that may pass (a time-out, a rate limit) is waited for and never halves a batch. A batch that fails
for another reason is halved until the items at fault stand alone. An item that fails is not stored, so the
next run tries it again.

The fingerprint of a Python model does not cover the files that its code reads, so a few stored scores are
computed anew; if they changed, all stored scores of the model are dropped.
"""

import time
import warnings
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import partial
from itertools import islice, repeat

import numpy as np

from psycheck.errors import ModelFailure, PsycheckError, PsycheckWarning, counted
from psycheck.model import FloatArray, Item, Model, Replying, sizes_of
from psycheck.models.output import checked_scores
from psycheck.models.python_object import PythonModel
from psycheck.scoring.asking import ask_each
from psycheck.scoring.limits import (
    NO_LIMITS,
    Allowance,
    Limits,
    cost_of,
    refuse_excess,
    refuse_remote,
    to_ask,
)
from psycheck.scoring.patience import Sleep, patiently
from psycheck.scoring.tally import Tally
from psycheck.scoring.view import RememberedScores, Todo, reason_of, unknown

BUDGET = 64 * 2**20  # bytes of text held at once
_AT_ONCE = 4096  # items taken from an audit at once
_EMPTY = 150  # bytes that a text takes besides its letters: the string, its hash and its place in tables
BATCH = 1024  # items per batch for a model that does not say what it prefers
_SAMPLE = 16  # items of all sizes that a model must fail on before it counts as broken
_PROBE = 8  # stored items of all sizes whose scores are checked
_CLAIMED, _MOST_CLAIMED = 1.0, 64  # about how many seconds of work a process claims at once, and batches
_POLL = 0.2  # seconds between looks at what other processes have claimed
_SAME = 1e-4  # scores that differ by less are the same: padding and threads move the last digits


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
    limits: Limits = NO_LIMITS,
    say: Callable[[str], None] = lambda note: None,
    tallies: dict[str, Tally] | None = None,
) -> dict[str, Tally]:
    """Score what the audits ask for with every model; `pieces` are consumed in bounded chunks.

    If a model replies in words, they are all gathered first: what asking will take is told (`say`), and must
    be within the limits, before anything is sent. `tallies` are those of an earlier call in the same run,
    which are continued; if stored scores were checked then, they are not checked again.
    """
    tallies = {model.name: Tally() for model, _ in scores} if tallies is None else tallies
    started = time.monotonic()
    sent = sum(tally.requests for tally in tallies.values())
    left = None if limits.max_requests is None else limits.max_requests - sent
    spent = {model.name: cost_of(model, tallies[model.name]) or 0.0 for model, _ in scores}
    cost_left = None if limits.max_cost is None else max(limits.max_cost - sum(spent.values()), 0.0)
    chunks, allowance = gather(pieces), Allowance(left, limits.max_cost, spent)
    if any(isinstance(model, Replying) or getattr(model, "remote", "") for model, _ in scores):
        chunks = iter(gathered := list(chunks))
        foretell(scores, gathered, replace(limits, max_requests=left, max_cost=cost_left), say)
    for share, asked, items in chunks:
        for model, view in scores:
            begun = time.monotonic()
            todo, tally = unknown(view, items), tallies[model.name]
            tally.asked += asked
            if isinstance(model, PythonModel) and todo.met and not tally.checked:
                todo = _probed(model, view, items, todo, tally, sleep)
            tally.distinct += len(todo.items) + len(todo.met)
            tally.remembered += len(todo.met)
            planned = int((tally.scored + len(todo.items)) / max(share, 1e-9)) + tally.remembered
            report = partial(_report, progress, model.name, tally, planned, started)
            work = _Work(model, view, tally, allowance, sleep, report)
            with view.claims():
                for batch in _batches(work, todo):
                    _score_batch(work, batch)
                    report()
            if isinstance(model, Replying):
                _review(work, [*todo.met, *todo.items], limits)
            tally.seconds += time.monotonic() - begun
    return tallies


def foretell(
    scores: Sequence[tuple[Model, RememberedScores]],
    chunks: Iterable[tuple[float, int, list[Item]]],
    limits: Limits,
    say: Callable[[str], None],
) -> None:
    """Tell what models that reply in words will take for the items of chunks, or refuse to send them."""
    refuse_remote([model for model, _ in scores], limits)
    kept = list(chunks) if any(isinstance(model, Replying) for model, _ in scores) else []
    plans = [(model, to_ask(view, kept, limits)) for model, view in scores if isinstance(model, Replying)]
    for note in refuse_excess(plans, limits):
        say(note)


def _report(progress: Progress, name: str, tally: Tally, planned: int, started: float) -> None:
    # Others may have scored some.
    progress(name, tally.scored, planned - tally.remembered, time.monotonic() - started)


@dataclass(frozen=True, slots=True)
class _Work:
    """Scoring with one model: where its answers go, and what is counted and told meanwhile."""

    model: Model
    view: RememberedScores
    tally: Tally
    allowance: Allowance
    sleep: Sleep
    report: Callable[[], None]


def _probed(
    model: Model, view: RememberedScores, items: list[Item], todo: Todo, tally: Tally, sleep: Sleep
) -> Todo:
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


def _batches(work: _Work, todo: Todo) -> Iterator[Todo]:
    """Longest first, so that a batch too large for the memory shows at once and padding stays small.

    If the model fails on the whole first batch and has scored nothing before, a sample of all sizes comes
    next; if it fails on these too, the run stops. What other processes have claimed comes last.
    """
    model, view = work.model, work.view
    usual = getattr(model, "batch", None) or BATCH
    order = np.argsort(-sizes_of(todo.items), kind="stable")
    sample, many = 0, 1
    while len(order):
        size, before, begun = sample or usual, len(order), time.monotonic()
        mine, order, met = view.claim(todo.items, todo.hashes, order, sample or many * usual)
        work.tally.remembered += met
        if not len(mine):
            if len(order) == before:
                work.sleep(_POLL)
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


def _score_batch(work: _Work, batch: Todo) -> None:
    """Score and commit a batch, and count the items that have scores and those that could not be scored."""
    model, view, tally = work.model, work.view, work.tally
    if missing := getattr(model, "missing", None):
        lacking = set(missing(batch.items))
        tally.failed += len(lacking)
        batch = batch.take(np.flatnonzero([item not in lacking for item in batch.items]))
    if not batch.items:
        return
    try:
        if isinstance(model, Replying):
            ask_each(model, view, batch, tally, work.allowance, work.sleep, work.report)
            return
        values = patiently(lambda: model.score(batch.items), model.name, work.sleep)
        values = checked_scores(values, len(batch.items), model.labels, model=model.name)
        view.add(batch.items, values, batch.hashes)
        tally.scored += len(batch.items)
    except (PsycheckError, KeyboardInterrupt, MemoryError):
        raise
    except (Exception, SystemExit) as error:  # noqa: BLE001 - a user's model may raise anything
        rest = unknown(view, batch.items)  # some may have got a reply before the failure
        if rest.items and len(batch.items) == 1:
            view.complaints[reason_of(error)] += 1
            tally.failed += 1
            return
        for rows in np.array_split(np.arange(len(rest.items)), [len(rest.items) // 2]):
            _score_batch(work, rest.take(rows))


def _review(work: _Work, items: list[Item], limits: Limits) -> None:
    """Ask once more where a reply leaves a label unanswered, if so wished; count replies that answer none."""
    model, view, tally = work.model, work.view, work.tally
    if limits.ask_again and isinstance(model, Replying):
        again = [items[i] for i in np.flatnonzero(view.unanswered(items)).tolist()]
        again = again[: work.allowance.most(model, again)]
        before, failed = tally.scored, tally.failed
        size = getattr(model, "batch", None) or BATCH
        for start in range(0, len(again), size):
            some = again[start : start + size]
            ask_each(
                model, view, Todo(some, view.digests(some)), tally, work.allowance, work.sleep, work.report
            )
        tally.scored, tally.failed = before, failed  # they have a reply, the new one or the old one
    tally.unreadable += int((view.unanswered(items) == len(view.labels)).sum())
    tally.cost = cost_of(model, tally)
