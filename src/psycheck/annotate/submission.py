"""What a person does with an item: submit, skip, look back, undo. Each is one transaction."""

import time
from dataclasses import dataclass
from typing import Any, Final

from sqlalchemy import Connection, Row, select

from psycheck.annotate.adjudication import note_conflict
from psycheck.annotate.answers import Answers, answers_of, check_answers, erase_answers, store_answers
from psycheck.annotate.database import Database
from psycheck.annotate.inspection import close_if_full, open_batch, remove_from_batch
from psycheck.annotate.membership import ANNOTATES, Person, record, role_in, stored_task
from psycheck.annotate.places import reopen, take_place
from psycheck.annotate.project import Task
from psycheck.annotate.queue import Assignment, expiry, shown
from psycheck.annotate.refusals import NotAllowed, NotFound, Outdated
from psycheck.annotate.screening import end_of_test
from psycheck.annotate.standing import count_answer, standing_of, update_standing
from psycheck.annotate.tables import assignment, batch, item, member, resolution
from psycheck.errors import BadInput

_MEMBER: Final = [column for column in member.c if column.name not in ("project", "person")]
_LONGEST: Final = 4 * 3_600.0  # seconds on one item; more is a page left open


@dataclass(frozen=True, slots=True)
class Submitted:
    """What an answer led to: the end of the queue's screening test, or nothing as it was `repeated`."""

    screened: bool = False
    repeated: bool = False


def submit(db: Database, who: Person, of: int, answers: Answers, *, seconds: float, token: str) -> Submitted:
    """Store the answers to an assignment, also to revise them while that is allowed.

    `token` is the client's name for this submission: sent again, it is acknowledged again and changes
    nothing. When this returns, the answers are on the disk.
    """
    if not 8 <= len(token) <= 80:
        raise BadInput("a submission needs a token", allowed="8 to 80 characters", key="token")
    with db.write() as connection:
        row = _own(connection, who, of)
        if row.state == "done" and row.token == token:
            return Submitted(repeated=True)
        if row.state == "skipped":
            raise Outdated("this item was skipped", do="undo the skip first")
        _refuse_settled(connection, row)
        task = stored_task(connection, row.project)
        check_answers(task, row.queue, answers, len(db.opened(row.text)))
        took, first = min(max(seconds, 0.0), _LONGEST), row.state == "claimed"
        if not first:
            erase_answers(connection, of)
        store_answers(connection, of, answers)
        values = {"token": token, "identifying": answers.identifying, "seconds": (row.seconds or 0) + took}
        screened = False
        if first:
            screened = _end(connection, task, row, state="done", **values)
        else:
            connection.execute(assignment.update().where(assignment.c.id == of).values(values))
            if row.kind == "item":
                note_conflict(connection, task, row.item)
        what, detail = "answered" if first else "revised", {**answers.as_dict(), "seconds": took}
        record(connection, row.project, who.id, what, item=row.item, assignment=of, detail=detail)
        return Submitted(screened)


def skip(db: Database, who: Person, of: int) -> Submitted:
    """Give an item back without an answer and without penalty; it goes to somebody else."""
    with db.write() as connection:
        row = _own(connection, who, of)
        if row.state == "skipped":
            return Submitted(repeated=True)
        if row.state != "claimed":
            raise Outdated("this item is answered already", do="undo the answer first")
        screened = _end(connection, stored_task(connection, row.project), row, state="skipped")
        if row.kind == "item":
            reopen(connection, row.project, [row.item])
        record(connection, row.project, who.id, "skipped", item=row.item, assignment=of)
        return Submitted(screened)


def undo(db: Database, who: Person, of: int, queue: str) -> Assignment | None:
    """Take back a person's last answer or skip in a queue, which opens the item again; None without one."""
    with db.write() as connection:
        role_in(connection, who, of, *ANNOTATES, lock=True)
        last = _earlier(connection, who, of, queue)
        if last is None:
            return None
        row = _own(connection, who, last)
        _refuse_settled(connection, row)
        task = stored_task(connection, of)
        where = standing_of(connection, who.id, task, queue)
        before = answers_of(connection, [row.id]).get(row.id)
        if row.state == "skipped":
            if row.kind == "item" and take_place(connection, [row.item], wait=True) is None:
                raise Outdated("this item has gone to somebody else")
            update_standing(connection, where, skipped=where.skipped - 1)
        else:
            erase_answers(connection, row.id)
            fewer = {"done": where.done - 1, "seconds": where.seconds - (row.seconds or 0)}
            update_standing(connection, where, **fewer)
            if row.kind == "item":
                remove_from_batch(connection, row)
                fewer_answers = {"answered": item.c.answered - 1, "conflict": None}
                connection.execute(item.update().where(item.c.id == row.item).values(fewer_answers))
        claimed = {"state": "claimed", "expires": expiry(task), "ended": None, "token": None, "batch": None}
        connection.execute(assignment.update().where(assignment.c.id == row.id).values(claimed))
        record(connection, of, who.id, "undone", item=row.item, assignment=row.id)
        return shown(db, connection, row.id, before)


def previous(db: Database, who: Person, of: int, queue: str, before: int | None = None) -> Assignment | None:
    """A person's own last answer in a queue, or the one before the assignment `before`; nothing changes."""
    with db.read() as connection:
        role_in(connection, who, of, *ANNOTATES)
        found = _earlier(connection, who, of, queue, before)
        return None if found is None else shown(db, connection, found)


def own_assignment(db: Database, who: Person, of: int) -> Assignment:
    """One of a person's own assignments."""
    with db.read() as connection:
        return shown(db, connection, _own(connection, who, of, lock=False).id)


def _own(connection: Connection, who: Person, of: int, *, lock: bool = True) -> Row[Any]:
    """A person's own assignment with its text and their membership, both locked; others do not exist."""
    together = (member.c.project == assignment.c.project) & (member.c.person == assignment.c.person)
    wanted = (
        select(assignment, item.c.text, *_MEMBER)
        .join(item, item.c.id == assignment.c.item)
        .join(member, together)
        .where(assignment.c.id == of, assignment.c.person == who.id)
    )
    row = connection.execute(wanted.with_for_update(of=[member, assignment]) if lock else wanted).first()
    if row is None:
        raise NotFound("there is no such assignment")
    if row.role not in ANNOTATES:
        raise NotAllowed("your role in this project does not permit this", allowed=", ".join(ANNOTATES))
    if row.state == "void":
        raise Outdated("this item was given back to the queue", do="go on with the next one")
    if lock and row.paused:
        raise Outdated("the owner of the project has paused your work")
    return row


def _end(connection: Connection, task: Task, row: Row[Any], *, state: str, **values: object) -> bool:
    """End a claim, answered or skipped, and count it; returns whether it ended a screening test."""
    now, answered = time.time(), state == "done"
    where = standing_of(connection, row.person, task, row.queue)
    labelled = answered and row.kind == "item"
    batch_id, size = open_batch(connection, task, where) if labelled else (None, 0)
    ended = {**values, "state": state, "ended": now, "batch": batch_id}
    connection.execute(assignment.update().where(assignment.c.id == row.id).values(ended))
    took = values.get("seconds", 0.0)
    update_standing(
        connection,
        where,
        done=where.done + answered,
        skipped=where.skipped + (not answered),
        seconds=where.seconds + took,
        since_gold=0 if row.kind == "gold" else where.since_gold + labelled,
    )
    count_answer(connection, task, row, now)
    if labelled:
        close_if_full(connection, task, where, batch_id, size)
        note_conflict(connection, task, row.item, more=1)
    return row.kind == "screening" and end_of_test(connection, task, row.person, row.queue)


def _refuse_settled(connection: Connection, row: Row[Any]) -> None:
    """Refuse to change an answer that others have built on."""
    if row.state == "claimed":
        return
    task = stored_task(connection, row.project)
    if row.kind == "screening" and standing_of(connection, row.person, task, row.queue).screening != "open":
        raise Outdated("the screening test has ended")
    in_batch = row.batch and connection.scalar(select(batch.c.state).where(batch.c.id == row.batch))
    resolved = connection.scalar(select(resolution.c.item).where(resolution.c.item == row.item).limit(1))
    if (in_batch and in_batch != "filling") or resolved is not None:
        raise Outdated("this answer waits for inspection, or was inspected or resolved")


def _earlier(
    connection: Connection, who: Person, of: int, queue: str, before: int | None = None
) -> int | None:
    mine = (assignment.c.person == who.id, assignment.c.project == of, assignment.c.queue == queue)
    wanted = select(assignment.c.id).where(*mine, assignment.c.state.in_(("done", "skipped")))
    if before is not None:
        ended = connection.scalar(select(assignment.c.ended).where(*mine, assignment.c.id == before))
        wanted = wanted if ended is None else wanted.where(assignment.c.ended < ended)
    found: int | None = connection.scalar(wanted.order_by(assignment.c.ended.desc()).limit(1))
    return found
