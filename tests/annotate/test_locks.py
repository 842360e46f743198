"""People who change the same rows wait for each other in one order, so that no deadlock turns them away."""

import threading
import time
from collections.abc import Callable, Sequence
from secrets import token_hex

import numpy as np
import pytest
from sqlalchemy import select

from annotators import CONDITIONS, Team, answer, given, marks, team
from psycheck.annotate.adjudication import requeue
from psycheck.annotate.database import Database
from psycheck.annotate.inspection import close_batches
from psycheck.annotate.order import order_items
from psycheck.annotate.queue import Assignment, next_item
from psycheck.annotate.refusals import Refusal
from psycheck.annotate.submission import skip, submit, undo
from psycheck.annotate.tables import item

SECONDS = 2.5  # PostgreSQL looks for a deadlock after one


def at_once(works: Sequence[Callable[[], object]]) -> list[BaseException]:
    """Repeat each work in a thread of its own; the errors that are no refusal of the project's rules."""
    until, wrong = time.monotonic() + SECONDS, list[BaseException]()

    def repeated(work: Callable[[], object]) -> None:
        while time.monotonic() < until and not wrong:
            try:
                work()
            except Refusal:
                pass
            except BaseException as error:  # noqa: BLE001 - shown by the test
                wrong.append(error)

    threads = [threading.Thread(target=repeated, args=(work,)) for work in works]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    return wrong


def filled(db: Database, n: int, more: str = "") -> Team:
    ours = team(db, more=f"[inspection]\nshare = 1.0\nbatch = 1000\n{more}")
    ours.fill(n)
    return ours


@pytest.mark.parametrize("url", ["postgresql"], indirect=True)
def test_closing_batches_and_undoing_answers_do_not_wait_for_each_other(db: Database) -> None:
    ours = filled(db, 200)
    people = [ours.add(f"a{k}") for k in range(3)]

    def works(who: int) -> Callable[[], object]:
        def again() -> None:
            answer(db, people[who], ours.project, marks(1))
            undo(db, people[who], ours.project, "")

        return again

    assert at_once([*map(works, range(3)), lambda: close_batches(db, ours.owner, ours.project)]) == []


@pytest.mark.parametrize("url", ["postgresql"], indirect=True)
def test_requeueing_and_skipping_one_item_do_not_wait_for_each_other(db: Database) -> None:
    ours = team(db, CONDITIONS.replace("annotators_per_item = 2", "annotators_per_item = 9"))
    ours.fill(1)
    people = [ours.add(f"a{k}") for k in range(6)]
    with db.read() as connection:
        one = connection.scalar(select(item.c.id)) or 0

    def works(who: int) -> Callable[[], object]:
        def again() -> None:
            found = next_item(db, people[who], ours.project)
            if isinstance(found, Assignment) and who % 2:
                submit(db, people[who], found.id, marks(1), seconds=1, token=token_hex(8))
            elif isinstance(found, Assignment):
                skip(db, people[who], found.id)
            if not who % 2:
                undo(db, people[who], ours.project, "")

        return again

    assert at_once([*map(works, range(6)), lambda: requeue(db, ours.owner, ours.project, one)]) == []


@pytest.mark.parametrize("url", ["postgresql"], indirect=True)
def test_ordering_items_and_answering_them_do_not_wait_for_each_other(db: Database) -> None:
    ours = filled(db, 60, '[order]\nhow = "unsure"\n')
    people = [ours.add(f"a{k}") for k in range(3)]
    ids, draws = [f"p{k}" for k in range(60)], np.random.default_rng(0)

    def works(who: int) -> Callable[[], object]:
        def again() -> None:
            answer(db, people[who], ours.project, marks(1))
            undo(db, people[who], ours.project, "")
            skip(db, people[who], given(db, people[who], ours.project).id)
            undo(db, people[who], ours.project, "")

        return again

    def ordering() -> None:
        scores = {"m": (("depression", "anxiety"), draws.random((60, 2)))}
        order_items(db, None, ours.project, ids, scores)

    assert at_once([*map(works, range(3)), ordering]) == []
