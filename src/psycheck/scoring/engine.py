"""The engine seam: distinct items in, answers committed in bounded batches, progress and limits out.

`score_once` decides what must be scored: the distinct items of all audits, minus those that the store holds.
An `Engine` scores them and commits each batch before the next. The local engine (`local.py`) does it in this
process; another engine, such as one for a cluster, is found by its name and changes nothing else.
"""

import time
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import replace
from itertools import islice, repeat
from typing import Any, Protocol

import numpy as np

from psycheck.core.errors import BadInput
from psycheck.core.item import Item, sizes_of
from psycheck.core.model import Model, Replying, capabilities_of
from psycheck.core.progress import Progress, silent
from psycheck.core.registry import ENGINES
from psycheck.models.opening import spec_of
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
from psycheck.scoring.recheck import changed_since_stored
from psycheck.scoring.remembered import RememberedScores
from psycheck.scoring.retries import Sleep
from psycheck.scoring.tally import Tally
from psycheck.scoring.task import ScoringTask, in_batches
from psycheck.scoring.todo import Todo, unknown

LOCAL = "local"

_CHUNK_BYTES = 64 * 2**20  # bytes of text held at once
_ITEMS_AT_ONCE = 4096  # items taken from an audit at once
_BYTES_PER_ITEM = 150  # what a text takes besides its letters: the string, its hash, its place in tables


Piece = tuple[float, Iterable[Item]]
"""Some items, and the share of all items that has been asked for after these."""
Scored = tuple[Model, RememberedScores]
"""A model, and where its answers are kept."""


class Engine(Protocol):
    """Scores items and commits their answers; what a `psycheck.engines` entry point names makes one."""

    def score(self, task: ScoringTask, todo: Todo, /) -> None:
        """Score items that the store lacks, and commit each batch (`task.view.add`) before the next.

        Items that cannot be scored are counted in the tally and are not stored, so the next run tries them
        again. A killed process loses at most one batch.
        """


def open_engine(spec: str = LOCAL) -> Engine:
    """The engine of this name, or of a spec with an address or options, such as "ray://HOST:PORT?actors=8"."""
    name = engine_name(spec)
    made: Any = ENGINES.get(name)
    engine: Engine
    if hasattr(made, "of_spec"):
        engine = made.of_spec(spec)
    elif spec == name:
        engine = made()
    else:
        raise BadInput(
            f"the engine '{name}' takes no options",
            code="engine.no-options",
            key="engine",
            allowed=name,
        )
    return engine


def engine_name(spec: str) -> str:
    """The name of the engine of a spec: what stands before an address or options."""
    head, _, _ = spec.partition("?")
    name, _, _ = head.partition("://")
    return name


def gather(pieces: Iterable[Piece], chunk_bytes: int = _CHUNK_BYTES) -> Iterator[Chunk]:
    """Distinct items in chunks of about `chunk_bytes`, with the share done and the number asked for.

    An item may come again in a later chunk: by then the store knows it.
    """
    distinct: dict[Item, None] = {}
    requested = 0
    size = 0
    share = 0.0
    for share, items in pieces:
        stream = iter(items)
        while items_at_once := list(islice(stream, _ITEMS_AT_ONCE)):
            requested += len(items_at_once)
            before = len(distinct)
            distinct.update(zip(items_at_once, repeat(None)))

            # Repeats take no room; new items are assumed to be as long as these are on average.
            total_size = int(sizes_of(items_at_once).sum())
            mean_size = total_size // len(items_at_once)
            new_items = len(distinct) - before
            size += new_items * (_BYTES_PER_ITEM + mean_size)
            if size > chunk_bytes:
                yield share, requested, list(distinct)
                distinct = {}
                requested = 0
                size = 0

    if distinct or requested:
        yield share, requested, list(distinct)


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
    if any(_may_be_refused(model) for model, _ in scores):
        gathered = list(chunks)
        foretell(scores, gathered, remaining, say)
        chunks = iter(gathered)

    for share, requested, items in chunks:
        for model, view in scores:
            tally = tallies[model.name]
            begun = time.monotonic()
            todo = _todo(model, view, items, tally, sleep)
            tally.asked += requested
            planned = _planned(tally, todo, share)

            task = ScoringTask(
                model=model,
                spec=spec_of(model),
                view=view,
                tally=tally,
                allowance=allowance,
                sleep=sleep,
                limits=limits,
                report=_reporter(progress, model.name, tally, planned, started),
            )
            engine.score(task, todo)
            if isinstance(model, Replying):
                all_items = [*todo.met, *todo.items]
                _settle_replies(task, model, all_items, limits)
            tally.seconds += time.monotonic() - begun
    return tallies


def _may_be_refused(model: Model) -> bool:
    """Whether limits apply to a model: it replies in words, or texts leave the machine."""
    if isinstance(model, Replying):
        return True
    host = capabilities_of(model).remote
    return host != ""


def _remaining(
    scores: Sequence[Scored], limits: Limits, tallies: dict[str, Tally]
) -> tuple[Limits, Allowance]:
    """What is left of the limits after earlier calls of the same run, and the allowance made of it."""
    sent = sum(tally.requests for tally in tallies.values())
    requests_left = None
    if limits.max_requests is not None:
        requests_left = limits.max_requests - sent

    costs = {}
    for model, _ in scores:
        cost = cost_of(model, tallies[model.name])
        costs[model.name] = cost or 0.0  # None where a model has no price
    cost_left = None
    if limits.max_cost is not None:
        cost_left = max(limits.max_cost - sum(costs.values()), 0.0)

    remaining = replace(
        limits,
        max_requests=requests_left,
        max_cost=cost_left,
    )
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
    if not replying:
        return

    gathered = list(chunks)
    plans = []
    for model, view in replying:
        items = to_ask(view, gathered, limits)
        plans.append((model, items))
    for note in refuse_excess(plans, limits):
        say(note)


def _todo(
    model: Model,
    view: RememberedScores,
    items: list[Item],
    tally: Tally,
    sleep: Sleep,
) -> Todo:
    """The items that the store lacks, counted; where a model needs it, stored scores are checked first."""
    todo = unknown(view, items)
    wants_checks = capabilities_of(model).recheck
    needs_check = wants_checks and todo.met and not tally.checked
    if needs_check and changed_since_stored(model, view, todo.met, tally, sleep):
        # The stored scores were dropped, so nothing of them is known any more.
        todo = unknown(view, items)

    tally.distinct += len(todo.items) + len(todo.met)
    tally.remembered += len(todo.met)
    return todo


def _planned(tally: Tally, todo: Todo, share: float) -> int:
    """About how many items the whole run will meet: so far, and at the same rate in what is to come."""
    scored_by_now = tally.scored + len(todo.items)
    scored_in_the_end = scored_by_now / max(share, 1e-9)
    return int(scored_in_the_end) + tally.remembered


def _reporter(
    progress: Progress, name: str, tally: Tally, planned: int, started: float
) -> Callable[[], None]:
    """A function that reports the progress of one model."""

    def report() -> None:
        # Another process may have scored some: these count as remembered, not as done here.
        to_score = planned - tally.remembered
        seconds = time.monotonic() - started
        progress(name, tally.scored, to_score, seconds)

    return report


def _settle_replies(task: ScoringTask, model: Replying, items: list[Item], limits: Limits) -> None:
    """Ask again where the limits say so, then count what no reply answers, and what the replies cost."""
    if limits.ask_again:
        _ask_again(task, model, items)

    task.tally.count_unanswered(task.view.no_answers(items))
    task.tally.cost = cost_of(model, task.tally)


def _ask_again(task: ScoringTask, model: Replying, items: list[Item]) -> None:
    """Ask once more about items whose stored reply leaves a label unanswered, as far as the limits allow."""
    places = np.flatnonzero(task.view.unanswered(items))
    unanswered = [items[place] for place in places.tolist()]
    most = task.allowance.most(model, unanswered)
    affordable = unanswered[:most]

    for batch in in_batches(affordable, task.batch_size):
        todo = Todo(list(batch), task.view.digests(batch))
        # These items have a reply, the new one or the old one: only the requests are new.
        ask_each(task, model, todo, counts_as_scored=False)
