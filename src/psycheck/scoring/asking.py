"""Asking models that reply in words: each reply is committed as it arrives.

A killed process loses only the requests under way. What failed for a reason that may pass is asked again;
what would fail for every item is raised by the model and stops the run, with the replies so far stored.
"""

import time
from collections.abc import Callable, Iterable, Iterator
from contextlib import suppress
from dataclasses import dataclass
from functools import partial
from queue import Empty, SimpleQueue
from threading import Event, Thread
from typing import Any

import numpy as np

from psycheck.errors import ModelFailure
from psycheck.model import Reply, Replying
from psycheck.scoring.limits import Allowance
from psycheck.scoring.patience import TRANSIENT, Sleep, patiently
from psycheck.scoring.tally import Tally
from psycheck.scoring.view import RememberedScores, Todo, reason_of

TOGETHER, MOST = 0.02, 64  # replies that arrive within so many seconds share a commit, up to so many

Answer = tuple[int, Reply | Exception]


def ask_each(
    model: Replying,
    view: RememberedScores,
    batch: Todo,
    tally: Tally,
    allowance: Allowance,
    sleep: Sleep,
    report: Callable[[], None],
) -> None:
    """Commit a reply for each item that gets one, and count why others get none.

    If only the smaller part of a batch never gets an answer, the run goes on without it.
    """
    todo, done = batch, 0
    # A model of another maker need not know limits: it is stopped from here.
    asks_leave = getattr(model, "asks_leave", False)
    leave: dict[str, Any] = {"allowed": partial(allowance.allows, tally)} if asks_leave else {}
    failures: list[BaseException] = []

    def ask() -> None:
        nonlocal todo, done
        if not todo.items:
            return
        lacking, may_pass = dict.fromkeys(range(len(todo.items))), list[Exception]()
        allowance.spend(model, todo.items, tally)
        try:
            for arrived in _together(model.ask(todo.items, **leave)):
                replies = {}
                for one in arrived:
                    place, answer = one if isinstance(one, tuple) and len(one) == 2 else (-1, None)
                    if place not in lacking or not isinstance(answer, Reply | Exception):
                        raise _malformed(model)
                    if isinstance(answer, TRANSIENT):
                        may_pass.append(answer)
                        continue
                    del lacking[place]
                    if isinstance(answer, Reply):
                        replies[place] = answer
                    else:
                        failures.append(answer)
                if replies:
                    some = todo.take(np.array(list(replies)))
                    view.add(some.items, list(replies.values()), some.hashes)
                    tally.count(replies.values())
                    allowance.pay(model, tally)
                    done += len(replies)
                    tally.scored += len(replies)
                report()
                if lacking and not asks_leave and allowance.cost_reached:
                    allowance.spend(model, (), tally)  # raises
        finally:
            todo = todo.take(np.array(list(lacking), np.int64))
        if may_pass:
            raise max(may_pass, key=lambda failure: getattr(failure, "after", 0.0))
        if lacking:
            raise _malformed(model)

    try:
        patiently(ask, model.name, sleep)
    except ModelFailure as error:
        if not isinstance(error.__cause__, TRANSIENT) or len(todo.items) > done:
            raise
        failures += [error.__cause__] * len(todo.items)
    view.complaints.update(map(reason_of, failures))
    tally.failed += len(failures)


def _malformed(model: Replying) -> ModelFailure:
    return ModelFailure(
        f"model '{model.name}' does not give one answer to each item",
        allowed="the place of each item with a Reply, or with the exception that stands in its way, once",
    )


@dataclass(frozen=True, slots=True)
class _End:
    """What comes after the last answer: the error that ended them, or None."""

    error: BaseException | None


def _together(answers: Iterable[Answer]) -> Iterator[list[Answer]]:
    """Answers that arrive at about the same time; none waits for the next one, which may take minutes."""
    arrived: SimpleQueue[Answer | _End] = SimpleQueue()
    enough = Event()

    def receive() -> None:
        end = _End(None)
        try:
            for answer in answers:
                arrived.put(answer)
                if enough.is_set():
                    break
        except BaseException as error:  # noqa: BLE001 - raised again where the answers are awaited
            end = _End(error)
        arrived.put(end)

    Thread(target=receive, name="replies", daemon=True).start()
    try:
        last: Answer | _End | None = None
        while not isinstance(last, _End):
            some, last = list[Answer](), arrived.get()
            until = time.monotonic() + TOGETHER
            with suppress(Empty):
                while not isinstance(last, _End):
                    some.append(last)
                    if len(some) == MOST:
                        break
                    last = arrived.get(timeout=max(0.0, until - time.monotonic()))
            yield some
        if last.error:
            raise last.error
    finally:
        enough.set()
