"""The engine seam: distinct items in, answers committed in bounded batches, progress and limits out.

`score_once` decides what must be scored: the distinct items of all audits, minus those that the store holds.
An `Engine` scores them and commits each batch before the next. The local engine (`local.py`) does it in this
process; another engine, such as one for a cluster, is found by its name and changes nothing else.
"""

import time
import warnings
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import partial
from itertools import islice, repeat
from typing import Protocol

import numpy as np

from psycheck.core.arrays import FloatArray
from psycheck.core.errors import PsycheckError, PsycheckWarning, counted
from psycheck.core.item import Item, sizes_of
from psycheck.core.model import Model, Replying, capabilities_of
from psycheck.core.progress import Progress, silent
from psycheck.core.registry import ENGINES
from psycheck.scoring.asking import ask_each
from psycheck.scoring.limits import (
    NO_LIMITS,
    Allowance,
    Chunk,
    Limits,
    cost_of,
    refuse_excess,
    refuse_remote,
    to_ask,
)
from psycheck.scoring.remembered import RememberedScores, Todo, reason_of, unknown
from psycheck.scoring.retries import Sleep, patiently
from psycheck.scoring.tally import Tally

LOCAL = "local"
BATCH = 1024  # items per batch for a model that does not say what it prefers

_CHUNK_BYTES = 64 * 2**20  # bytes of text held at once
_ITEMS_AT_ONCE = 4096  # items taken from an audit at once
_BYTES_PER_ITEM = 150  # what a text takes besides its letters: the string, its hash, its place in tables
_RECHECKED = 8  # stored items of all sizes whose scores are computed anew
_SAME = 1e-4  # scores that differ by less are the same: padding and threads move the last digits


Piece = tuple[float, Iterable[Item]]
"""Some items, and the share of all items that has been asked for after these."""
Scored = tuple[Model, RememberedScores]
"""A model, and where its answers are kept."""


@dataclass(frozen=True, slots=True)
class ScoringTask:
    """Scoring with one model: where its answers go, and what is counted and reported meanwhile.

    `allowance` is what may still be sent to models that reply in words; `report` is called after each batch.
    """

    model: Model
    view: RememberedScores
    tally: Tally
    allowance: Allowance
    sleep: Sleep
    report: Callable[[], None]

    @property
    def batch_size(self) -> int:
        """How many items the model likes at once."""
        return capabilities_of(self.model).batch or BATCH


class Engine(Protocol):
    """Scores items and commits their answers; what a `psycheck.engines` entry point names makes one."""

    def score(self, task: ScoringTask, todo: Todo, /) -> None:
        """Score items that the store lacks, and commit each batch (`task.view.add`) before the next.

        Items that cannot be scored are counted in the tally and are not stored, so the next run tries them
        again. A killed process loses at most one batch.
        """


def open_engine(name: str = LOCAL) -> Engine:
    """The engine of this name."""
    engine: Engine = ENGINES.get(name)()
    return engine


def gather(pieces: Iterable[Piece], chunk_bytes: int = _CHUNK_BYTES) -> Iterator[Chunk]:
    """Distinct items in chunks of about `chunk_bytes`, with the share done and the number asked for.

    An item may come again in a later chunk: by then the store knows it.
    """
    distinct: dict[Item, None] = {}
    asked = 0
    size = 0
    share = 0.0
    for share, items in pieces:
        stream = iter(items)
        while items_at_once := list(islice(stream, _ITEMS_AT_ONCE)):
            asked += len(items_at_once)
            before = len(distinct)
            distinct.update(zip(items_at_once, repeat(None)))

            # Repeats take no room; new items are assumed to be as long as these are on average.
            mean_size = int(sizes_of(items_at_once).sum()) // len(items_at_once)
            size += (len(distinct) - before) * (_BYTES_PER_ITEM + mean_size)
            if size > chunk_bytes:
                yield share, asked, list(distinct)
                distinct = {}
                asked = 0
                size = 0

    if distinct or asked:
        yield share, asked, list(distinct)


def score_once(
    scores: Sequence[Scored],
    pieces: Iterable[Piece],
    progress: Progress = silent,
    sleep: Sleep = time.sleep,
    limits: Limits = NO_LIMITS,
    say: Callable[[str], None] = lambda note: None,
    tallies: dict[str, Tally] | None = None,
    engine: Engine | None = None,
) -> dict[str, Tally]:
    """Score what the audits ask for with every model; `pieces` are consumed in bounded chunks.

    If a model replies in words, they are all gathered first: what asking will take is told (`say`), and must
    be within the limits, before anything is sent. `tallies` are those of an earlier call in the same run,
    which are continued; if stored scores were checked then, they are not checked again.
    """
    engine = engine or open_engine()
    if tallies is None:
        tallies = {model.name: Tally() for model, _ in scores}
    started = time.monotonic()

    remaining, allowance = _remaining(scores, limits, tallies)
    chunks = gather(pieces)
    if any(isinstance(model, Replying) or capabilities_of(model).remote for model, _ in scores):
        gathered = list(chunks)
        foretell(scores, gathered, remaining, say)
        chunks = iter(gathered)

    for share, asked, items in chunks:
        for model, view in scores:
            tally = tallies[model.name]
            begun = time.monotonic()
            todo = _todo(model, view, items, tally, sleep)
            tally.asked += asked

            planned = int((tally.scored + len(todo.items)) / max(share, 1e-9)) + tally.remembered

            def report(name: str = model.name, tally: Tally = tally, planned: int = planned) -> None:
                # Another process may have scored some: these count as remembered, not as done here.
                progress(name, tally.scored, planned - tally.remembered, time.monotonic() - started)

            task = ScoringTask(model, view, tally, allowance, sleep, report)
            engine.score(task, todo)
            if isinstance(model, Replying):
                if limits.ask_again:
                    _ask_again(task, model, [*todo.met, *todo.items])
                _count_unreadable(task, [*todo.met, *todo.items])
            tally.seconds += time.monotonic() - begun
    return tallies


def _remaining(
    scores: Sequence[Scored], limits: Limits, tallies: dict[str, Tally]
) -> tuple[Limits, Allowance]:
    """What is left of the limits after earlier calls of the same run, and the allowance made of it."""
    sent = sum(tally.requests for tally in tallies.values())
    costs = {model.name: cost_of(model, tallies[model.name]) or 0.0 for model, _ in scores}

    requests_left = None if limits.max_requests is None else limits.max_requests - sent
    cost_left = None if limits.max_cost is None else max(limits.max_cost - sum(costs.values()), 0.0)
    remaining = replace(limits, max_requests=requests_left, max_cost=cost_left)
    return remaining, Allowance(requests_left, limits.max_cost, costs)


def foretell(
    scores: Sequence[Scored],
    chunks: Iterable[Chunk],
    limits: Limits,
    say: Callable[[str], None],
) -> None:
    """Tell what models that reply in words will take for the items of chunks, or refuse to send them."""
    refuse_remote([model for model, _ in scores], limits)
    replying = [(model, view) for model, view in scores if isinstance(model, Replying)]
    gathered = list(chunks) if replying else []
    plans = [(model, to_ask(view, gathered, limits)) for model, view in replying]
    for note in refuse_excess(plans, limits):
        say(note)


def _todo(model: Model, view: RememberedScores, items: list[Item], tally: Tally, sleep: Sleep) -> Todo:
    """The items that the store lacks, counted; where a model needs it, stored scores are checked first."""
    todo = unknown(view, items)
    needs_check = capabilities_of(model).recheck and todo.met and not tally.checked
    if needs_check and _changed_since_stored(model, view, todo.met, tally, sleep):
        todo = unknown(view, items)
    tally.distinct += len(todo.items) + len(todo.met)
    tally.remembered += len(todo.met)
    return todo


def _changed_since_stored(
    model: Model, view: RememberedScores, stored: Sequence[Item], tally: Tally, sleep: Sleep
) -> bool:
    """Compute a few stored scores anew; if they changed, drop all that is stored and return True.

    A model that never gives the same score twice has changed if the store is much further off than that.
    """
    sample = of_all_sizes(stored, _RECHECKED)
    size = capabilities_of(model).batch or BATCH

    def computed_anew() -> FloatArray:
        batches = [sample[start : start + size] for start in range(0, len(sample), size)]
        parts = [patiently(partial(model.score, batch), model.name, sleep) for batch in batches]
        return np.concatenate(parts)

    try:
        scores = computed_anew()
        gap = _largest_gap(scores, view.of(sample))
        changed = gap > _SAME and gap > 4 * _largest_gap(scores, computed_anew())
    except (PsycheckError, KeyboardInterrupt, MemoryError):
        raise
    except (Exception, SystemExit) as error:  # noqa: BLE001 - a user's model may raise anything
        note = f"model '{model.name}': its stored scores could not be checked: {reason_of(error)}"
        warnings.warn(note, PsycheckWarning, stacklevel=2)
        return False

    tally.checked += len(sample)
    if not changed:
        return False

    dropped = view.forget()
    tally.dropped += dropped
    note = (
        f"model '{model.name}' gives other scores than before (by up to {min(gap, 1.0):.2g}): "
        f"{counted(dropped, 'stored score')} dropped, every text is scored again"
    )
    warnings.warn(note, PsycheckWarning, stacklevel=2)
    return True


def of_all_sizes(items: Sequence[Item], most: int) -> list[Item]:
    """A few items, always the same, from the shortest to the longest."""
    by_size = np.argsort(sizes_of(items), kind="stable")
    places = np.unique(np.linspace(0, len(items) - 1, most).astype(np.int64))
    return [items[place] for place in by_size[places].tolist()]


def _largest_gap(scores: FloatArray, stored: FloatArray) -> float:
    """The largest difference of scores, (n, k); infinite where only one is NaN."""
    neither = np.isnan(scores) & np.isnan(stored)
    gaps = np.where(neither, 0.0, np.abs(scores - stored))
    return float(np.where(np.isnan(gaps), np.inf, gaps).max())


def _ask_again(task: ScoringTask, model: Replying, items: list[Item]) -> None:
    """Ask once more about items whose stored reply leaves a label unanswered, as far as the limits allow."""
    unanswered = [items[place] for place in np.flatnonzero(task.view.unanswered(items)).tolist()]
    affordable = unanswered[: task.allowance.most(model, unanswered)]

    for start in range(0, len(affordable), task.batch_size):
        batch = affordable[start : start + task.batch_size]
        ask_each(
            model,
            task.view,
            Todo(batch, task.view.digests(batch)),
            task.tally,
            task.allowance,
            task.sleep,
            task.report,
            # These items have a reply, the new one or the old one: only the requests are new.
            counts_as_scored=False,
        )


def _count_unreadable(task: ScoringTask, items: list[Item]) -> None:
    """Count the replies that answer no label, and what the replies have cost."""
    answers_nothing = task.view.unanswered(items) == len(task.view.labels)
    task.tally.unreadable += int(answers_nothing.sum())
    task.tally.cost = cost_of(task.model, task.tally)
