"""The queue: which item a person gets next.

Each item goes to exactly `annotators_per_item` people, never twice to one. A claim takes one of the item's
open places in one short transaction; a claim that is not answered in time gives the place back. Items that
come back (skipped, expired, rejected) go to a lane of their own that is served first. Each member keeps, per
lane, the position before which nothing is left for them: no request searches the items already passed.

A claim never waits for another one (`places.take_place`), and every answer locks its item last.
"""

import time
from contextlib import suppress
from dataclasses import dataclass
from random import uniform
from typing import Any, Final, Literal

from sqlalchemy import Connection, Integer, Row, bindparam, exists, select

from psycheck.annotate.answers import Answers, answers_of
from psycheck.annotate.database import Database
from psycheck.annotate.membership import ANNOTATES, Person, record, role_in, stored_task
from psycheck.annotate.places import FRESH, RETURNED, reopen, take_place
from psycheck.annotate.project import Task
from psycheck.annotate.refusals import NotFound
from psycheck.annotate.standing import rest, standing_of, update_standing
from psycheck.annotate.tables import CLAIMED, HAS_PLACE, LIVE, assignment, item, project
from psycheck.errors import nearest

_MOST_RELEASED: Final = 16  # expired claims given back per request
_STEP: Final = 16  # items passed before that is written down
_CANDIDATES: Final = 24  # next items to try, where others are taking the first


@dataclass(frozen=True, slots=True)
class Assignment:
    """An item given to a person; hidden gold looks like any other. `answers` are their own earlier ones."""

    id: int
    project: int
    queue: str
    text: str
    stage: Literal["screening", "annotation"]
    state: Literal["claimed", "done", "skipped"]
    expires: float
    answers: Answers | None = None


@dataclass(frozen=True, slots=True)
class Nothing:
    """Why there is no item now, and until when (seconds since 1970) where that is known."""

    reason: Literal["done", "break", "daily_cap", "paused", "screening_failed"]
    until: float | None = None


def next_item(db: Database, who: Person, of: int, queue: str | None = None) -> Assignment | Nothing:
    """The item that a person has open, or the next one; of any queue where none is named."""
    _release_expired(db, who, of)
    while True:
        with suppress(_Busy):
            return _next(db, who, of, queue)
        time.sleep(uniform(0.002, 0.02))  # let those who are faster finish


class _Busy(Exception):
    """Others are taking all the next items at this moment."""


def _next(db: Database, who: Person, of: int, queue: str | None) -> Assignment | Nothing:
    with db.write(durable=False) as connection:
        own = role_in(connection, who, of, *ANNOTATES, lock=True)
        if own.paused:
            return Nothing("paused")
        task = stored_task(connection, of)
        if (resting := rest(own, task.project.welfare, time.time())) is not None:
            return Nothing(*resting)
        if queue is not None and queue not in task.queues:
            raise NotFound("there is no such queue", allowed=nearest(queue, task.queues))
        failed = False
        for one in task.queues if queue is None else (queue,):
            found = _open_claim(connection, who, task, one)
            if found is None:
                where = standing_of(connection, who.id, task, one)
                failed |= where.screening == "failed"
                found = _claimed(connection, task, where)
            if found is not None:
                return shown(db, connection, found)
        return Nothing("screening_failed" if failed else "done")


def expiry(task: Task) -> float:
    """When a claim made now gives its place back."""
    return time.time() + 60.0 * task.project.claim_minutes


def shown(db: Database, connection: Connection, of: int, before: Answers | None = None) -> Assignment:
    """An assignment as its person sees it; `before` are the answers that they took back."""
    row = connection.execute(
        select(assignment, item.c.text)
        .join(item, item.c.id == assignment.c.item)
        .where(assignment.c.id == of)
    ).one()
    own = answers_of(connection, [of]).get(of) if row.state == "done" else before
    stage: Literal["screening", "annotation"] = "screening" if row.kind == "screening" else "annotation"
    return Assignment(of, row.project, row.queue, db.opened(row.text), stage, row.state, row.expires, own)


def _open_claim(connection: Connection, who: Person, task: Task, queue: str) -> int | None:
    """The item that a person has open in a queue, with its time renewed; one taken back comes first."""
    found: int | None = connection.scalar(
        select(assignment.c.id)
        .where(
            assignment.c.person == who.id,
            assignment.c.project == task.id,
            assignment.c.queue == queue,
            CLAIMED,
        )
        .order_by(assignment.c.expires.desc())
        .limit(1)
    )
    if found is not None:
        renewed = assignment.update().where(assignment.c.id == found).values(expires=expiry(task))
        connection.execute(renewed)
    return found


def _claimed(connection: Connection, task: Task, where: Row[Any]) -> int | None:
    """Claim the next item of a queue; only an annotated item gives one of its places."""
    found = _candidates(connection, task, where)
    if not found:
        return None
    kind = found[0].kind
    one = take_place(connection, [row.id for row in found]) if kind == "item" else found[0].id
    if one is None:
        raise _Busy
    made = connection.execute(
        assignment.insert().values(
            project=task.id,
            item=one,
            person=where.person,
            queue=where.queue,
            kind=kind,
            state="claimed",
            expires=expiry(task),
            inspected=False,
        )
    ).inserted_primary_key
    return None if made is None else int(made[0])


def _candidates(connection: Connection, task: Task, where: Row[Any]) -> list[Row[Any]]:
    """The next items for a person in a queue: of the test, a hidden gold item, returned ones, fresh ones."""
    if where.screening == "failed":
        return []
    if where.screening == "open":
        return _unseen(connection, where, "screening", 1)
    every = task.project.gold.every
    if every and where.since_gold >= every and (gold := _unseen(connection, where, "gold", 1)):
        return gold
    # Read before the search: what is added meanwhile has a later position.
    counters = select(project.c.returns, project.c.positions).where(project.c.id == task.id)
    returns, positions = connection.execute(counters).one()
    for lane, column, last in ((RETURNED, "returned_upto", returns), (FRESH, "fresh_upto", positions)):
        upto = getattr(where, column)
        found = _unseen(connection, where, "item", _CANDIDATES, lane, upto) if upto < last else []
        passed = found[0].position - 1 if found else last
        if passed >= upto + (_STEP if found else 1):
            update_standing(connection, where, **{column: passed})
        if found:
            return found
    return []


def _unseen(
    connection: Connection, where: Row[Any], kind: str, most: int, lane: int = FRESH, upto: int = 0
) -> list[Row[Any]]:
    """Items of a queue and lane after a position that have open places and are not this person's."""
    values = {"of": where.project, "who": where.person, "queue": where.queue}
    return list(
        connection.execute(_UNSEEN, {**values, "kind": kind, "lane": lane, "upto": upto, "most": most})
    )


# Made once: to make it takes longer than to run it.
_UNSEEN: Final = (
    select(item.c.id, item.c.kind, item.c.position)
    .where(
        item.c.project == bindparam("of"),
        item.c.queue == bindparam("queue"),
        item.c.kind == bindparam("kind"),
        item.c.lane == bindparam("lane"),
        item.c.position > bindparam("upto"),
        HAS_PLACE,
        ~exists().where(
            assignment.c.item == item.c.id,
            assignment.c.person == bindparam("who"),
            LIVE,
        ),
    )
    .order_by(item.c.position)
    .limit(bindparam("most", type_=Integer))
)


def _release_expired(db: Database, who: Person, of: int) -> None:
    """Give back the places of claims whose time is over; a person's own last until somebody needs them."""
    late = (
        select(assignment.c.id, assignment.c.item, assignment.c.kind)
        .where(
            assignment.c.project == of,
            CLAIMED,
            assignment.c.expires < time.time(),
            assignment.c.person != who.id,
        )
        .order_by(assignment.c.expires)
        .limit(_MOST_RELEASED)
    )
    with db.read() as connection:
        if connection.execute(late.limit(1)).first() is None:
            return
    with db.write() as connection:
        rows = list(connection.execute(late.with_for_update(skip_locked=True)))
        ids = [row.id for row in rows]
        connection.execute(assignment.update().where(assignment.c.id.in_(ids)).values(state="void"))
        reopen(connection, of, [row.item for row in rows if row.kind == "item"])
        for row in rows:
            record(connection, of, None, "expired", item=row.item, assignment=row.id)
