"""The queue: which item a person gets next.

Each item goes to exactly `annotators_per_item` people, never twice to the same person. A claim takes one of
the item's open places in one short transaction; a claim that is not answered in time gives the place back.
Items that come back (skipped, expired, rejected) go to a separate lane that is served first. Each member
keeps, per lane, the position before which nothing is left for them: no request searches the items already
passed.

A claim never waits for another one (`open_places.take_place`), and every answer locks its item last.
"""

import time
from contextlib import suppress
from dataclasses import dataclass, replace
from random import uniform
from typing import Any, Final, Literal

from sqlalchemy import Connection, Integer, Row, bindparam, exists, select

from psycheck.annotate.annotator_answers import Answers, answers_of
from psycheck.annotate.database import Database
from psycheck.annotate.member_state import required_rest, standing_of, update_standing
from psycheck.annotate.membership import ANNOTATES, Person, record, role_in, stored_task
from psycheck.annotate.open_places import FRESH, RETURNED, reopen, take_place
from psycheck.annotate.project import Task
from psycheck.annotate.refusals import NotFound
from psycheck.annotate.tables import CLAIMED, HAS_PLACE, LIVE, assignment, insert_row, item, project
from psycheck.core.errors import nearest

_MOST_RELEASED: Final = 16  # expired claims given back per request
_STEP: Final = 16  # items passed before the new position is stored
_CANDIDATES: Final = 24  # next items to try, where others are taking the first

Stage = Literal["screening", "annotation"]


@dataclass(frozen=True, slots=True)
class Assignment:
    """An item given to a person; hidden gold looks like any other. `answers` are their own earlier ones."""

    id: int
    project: int
    queue: str
    text: str
    stage: Stage
    state: Literal["claimed", "done", "skipped"]
    expires: float
    answers: Answers | None = None


@dataclass(frozen=True, slots=True)
class Nothing:
    """Why there is no item now, and until when (seconds since 1970) where that is known."""

    reason: Literal["done", "break", "daily_cap", "paused", "ended", "screening_failed"]
    until: float | None = None


class _Busy(Exception):
    """Others are taking all the next items at this moment."""


def next_item(
    db: Database,
    who: Person,
    project_id: int,
    queue: str | None = None,
) -> Assignment | Nothing:
    """The item that a person has open, or the next one; of any queue where none is named."""
    _release_expired(db, who, project_id)

    while True:
        with suppress(_Busy):
            return _try_next_item(db, who, project_id, queue)

        # Let those who are faster finish.
        time.sleep(uniform(0.002, 0.02))


def expiry(task: Task) -> float:
    """When a claim made now gives its place back."""
    return time.time() + 60.0 * task.project.claim_minutes


def show_assignment(
    db: Database,
    connection: Connection,
    assignment_id: int,
    undone_answers: Answers | None = None,
) -> Assignment:
    """An assignment as its person sees it, with the answers that they gave or took back."""
    row = connection.execute(
        select(assignment, item.c.text)
        .join(item, item.c.id == assignment.c.item)
        .where(assignment.c.id == assignment_id)
    ).one()

    # What was taken back is shown again, so that only the slip has to be mended.
    answers = own_answers(db, connection, row) if row.state == "done" else undone_answers

    # Hidden gold must not be told apart from annotated items.
    stage: Stage = "screening" if row.kind == "screening" else "annotation"

    return Assignment(
        id=assignment_id,
        project=row.project,
        queue=row.queue,
        text=db.opened(row.text),
        stage=stage,
        state=row.state,
        expires=row.expires,
        answers=answers,
    )


def own_answers(db: Database, connection: Connection, row: Row[Any]) -> Answers | None:
    """What a person said in an assignment, with their comment; None if they have not answered it."""
    answers = answers_of(connection, [row.id]).get(row.id)
    if answers is None or not row.comment:
        return answers
    return replace(answers, comment=db.opened(row.comment))


def _try_next_item(
    db: Database,
    who: Person,
    project_id: int,
    queue: str | None,
) -> Assignment | Nothing:
    """One attempt to claim an item, in one transaction; raises _Busy where others took all candidates."""
    with db.write(durable=False) as connection:
        member_row = role_in(connection, who, project_id, *ANNOTATES, lock=True, even_paused=True)
        if member_row.paused:
            return Nothing("paused")

        # Inside the transaction: an owner may just have ended the project.
        task = stored_task(connection, project_id)
        if task.ended:
            return Nothing("ended")
        rest = required_rest(member_row, task.project.welfare, time.time())
        if rest is not None:
            reason, until = rest
            return Nothing(reason, until)

        failed_screening = False
        for name in _queues_to_search(task, queue):
            assignment_id = _renew_open_claim(connection, who, task, name)

            if assignment_id is None:
                standing_row = standing_of(connection, who.id, task, name)
                if standing_row.screening == "failed":
                    failed_screening = True
                assignment_id = _claim_next(connection, task, standing_row)

            if assignment_id is not None:
                return show_assignment(db, connection, assignment_id)

        return Nothing("screening_failed" if failed_screening else "done")


def _queues_to_search(task: Task, queue: str | None) -> tuple[str, ...]:
    """The named queue, or all of them in the order of the project file."""
    if queue is None:
        return task.queues
    if queue not in task.queues:
        raise NotFound(
            "there is no such queue",
            code="queue.unknown",
            allowed=nearest(queue, task.queues),
        )
    return (queue,)


def _renew_open_claim(connection: Connection, who: Person, task: Task, queue: str) -> int | None:
    """The assignment that a person has open in a queue, with its time renewed; one taken back comes first."""
    assignment_id: int | None = connection.scalar(
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
    if assignment_id is None:
        return None

    connection.execute(
        assignment.update().where(assignment.c.id == assignment_id).values(expires=expiry(task))
    )
    return assignment_id


def _claim_next(connection: Connection, task: Task, standing_row: Row[Any]) -> int | None:
    """Claim the next item of a queue and return the assignment's id; None if nothing is left."""
    candidates = _candidates(connection, task, standing_row)
    if not candidates:
        return None

    kind = candidates[0].kind
    item_id: int | None = candidates[0].id
    if kind == "item":
        # Only an annotated item has a limited number of places: tests and gold go to everybody.
        item_id = take_place(connection, [row.id for row in candidates])
        if item_id is None:
            raise _Busy

    return insert_row(
        connection,
        assignment,
        project=task.id,
        item=item_id,
        person=standing_row.person,
        queue=standing_row.queue,
        kind=kind,
        state="claimed",
        expires=expiry(task),
        inspected=False,
    )


def _candidates(connection: Connection, task: Task, standing_row: Row[Any]) -> list[Row[Any]]:
    """The next items for a person in a queue: of the test, a hidden gold item, returned ones, fresh ones."""
    if standing_row.screening == "failed":
        return []
    # The test comes before everything else, one item at a time and the same for all.
    if standing_row.screening == "open":
        return _unseen(connection, standing_row, kind="screening", most=1)

    gold_every = task.project.gold.every
    if gold_every and standing_row.since_gold >= gold_every:
        gold = _unseen(connection, standing_row, kind="gold", most=1)
        if gold:
            return gold

    # Read before the search: what is added meanwhile has a later position.
    last_returned, last_fresh = connection.execute(
        select(project.c.returns, project.c.positions).where(project.c.id == task.id)
    ).one()

    returned = _unseen_in_lane(
        connection, standing_row, lane=RETURNED, last=last_returned, column="returned_upto"
    )
    if returned:
        return returned
    return _unseen_in_lane(connection, standing_row, lane=FRESH, last=last_fresh, column="fresh_upto")


def _unseen_in_lane(
    connection: Connection,
    standing_row: Row[Any],
    *,
    lane: int,
    last: int,
    column: str,
) -> list[Row[Any]]:
    """The next items of a lane; `column` of the standing keeps how far the person has passed it.

    `last` is the last position of the lane that was in use before the search.
    """
    passed_before = getattr(standing_row, column)
    # Nothing was added since this person saw the end: no search at all.
    if passed_before >= last:
        return []

    items = _unseen(connection, standing_row, kind="item", most=_CANDIDATES, lane=lane, after=passed_before)
    if not items:
        update_standing(connection, standing_row, **{column: last})
        return []

    # Not at each item: a write per claim would cost more than the search over a few passed items.
    passed_now = items[0].position - 1
    if passed_now >= passed_before + _STEP:
        update_standing(connection, standing_row, **{column: passed_now})
    return items


def _unseen(
    connection: Connection,
    standing_row: Row[Any],
    *,
    kind: str,
    most: int,
    lane: int = FRESH,
    after: int = 0,
) -> list[Row[Any]]:
    """Items of a queue and lane after a position that have open places and are not this person's."""
    values = {
        "project_id": standing_row.project,
        "person_id": standing_row.person,
        "queue": standing_row.queue,
        "kind": kind,
        "lane": lane,
        "after": after,
        "most": most,
    }
    return list(connection.execute(_UNSEEN, values))


# Built once: to build it takes longer than to run it.
_UNSEEN: Final = (
    select(item.c.id, item.c.kind, item.c.position)
    .where(
        item.c.project == bindparam("project_id"),
        item.c.queue == bindparam("queue"),
        item.c.kind == bindparam("kind"),
        item.c.lane == bindparam("lane"),
        item.c.position > bindparam("after"),
        HAS_PLACE,
        ~exists().where(
            assignment.c.item == item.c.id,
            assignment.c.person == bindparam("person_id"),
            LIVE,
        ),
    )
    .order_by(item.c.position)
    .limit(bindparam("most", type_=Integer))
)


def _release_expired(db: Database, who: Person, project_id: int) -> None:
    """Give back the places of claims whose time is over; a person's own last until somebody needs them."""
    expired = (
        select(assignment.c.id, assignment.c.item, assignment.c.kind)
        .where(
            assignment.c.project == project_id,
            CLAIMED,
            assignment.c.expires < time.time(),
            assignment.c.person != who.id,
        )
        .order_by(assignment.c.expires)
        .limit(_MOST_RELEASED)
    )

    # Most requests find none: they need not wait for the writers.
    with db.read() as connection:
        if connection.execute(expired.limit(1)).first() is None:
            return

    with db.write() as connection:
        claims = list(connection.execute(expired.with_for_update(skip_locked=True)))
        claim_ids = [claim.id for claim in claims]
        connection.execute(assignment.update().where(assignment.c.id.in_(claim_ids)).values(state="void"))

        reopen(connection, project_id, [claim.item for claim in claims if claim.kind == "item"])

        for claim in claims:
            record(connection, project_id, None, "expired", item=claim.item, assignment=claim.id)
