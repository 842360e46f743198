"""Inspection: a reviewer checks a sample of each batch of an annotator's work (PsySym 3.3)."""

import math
import time
from dataclasses import dataclass
from secrets import SystemRandom
from typing import Any, Literal

from sqlalchemy import Connection, Row, delete, select

from psycheck.annotate.answers import Answers, answers_of, check_answers, marks_of, store_marks
from psycheck.annotate.database import Database
from psycheck.annotate.membership import (
    INSPECTS,
    OWNS,
    Person,
    lock_members,
    record,
    role_in,
    stored_task,
)
from psycheck.annotate.places import reopen
from psycheck.annotate.project import Task
from psycheck.annotate.refusals import NotFound, Outdated
from psycheck.annotate.scores import f_score
from psycheck.annotate.standing import update_standing
from psycheck.annotate.tables import assignment, batch, correction, item, person, standing

_Ended = Literal["accepted", "rejected"]


@dataclass(frozen=True, slots=True)
class Batch:
    """A batch of one annotator's answers."""

    id: int
    queue: str
    annotator: str
    state: Literal["filling", "waiting", "accepted", "rejected"]
    size: int
    score: float | None
    made: float


@dataclass(frozen=True, slots=True)
class Inspected:
    """An answer drawn for inspection; `corrected` is what the reviewer said of it, None until then."""

    assignment: int
    text: str
    given: Answers
    corrected: Answers | None


def batches(
    db: Database, who: Person, of: int, state: Literal["waiting", "accepted", "rejected"] = "waiting"
) -> list[Batch]:
    """The batches of a project in a state, the oldest first; a reviewer's own work is not among them."""
    with db.read() as connection:
        role_in(connection, who, of, *INSPECTS)
        rows = connection.execute(
            select(batch, person.c.name)
            .join(person, person.c.id == batch.c.person)
            .where(batch.c.project == of, batch.c.state == state, batch.c.person != who.id)
            .order_by(batch.c.id)
        )
        return [Batch(row.id, row.queue, row.name, row.state, row.size, row.score, row.made) for row in rows]


def inspected(db: Database, who: Person, of: int) -> tuple[Batch, list[Inspected]]:
    """A batch and its sample, for a reviewer."""
    with db.read() as connection:
        row = _batch(connection, who, of)
        name = connection.scalar(select(person.c.name).where(person.c.id == row.person))
        sample = _sample(connection, of)
        given = answers_of(connection, [one.id for one in sample])
        corrected = marks_of(connection, correction, "assignment", [one.id for one in sample])
        shown = [
            Inspected(one.id, db.opened(one.text), given[one.id], corrected.get(one.id)) for one in sample
        ]
    return Batch(row.id, row.queue, str(name), row.state, row.size, row.score, row.made), shown


def correct(db: Database, who: Person, of: int, answers: Answers) -> None:
    """Say what an inspected answer should have been; the same marks mean that it was right."""
    with db.write() as connection:
        row = connection.execute(
            select(assignment).where(assignment.c.id == of, assignment.c.inspected)
        ).first()
        if row is None:
            raise NotFound("there is no such answer to inspect")
        waiting = _batch(connection, who, row.batch, lock=True)
        if waiting.state != "waiting":
            raise Outdated("this batch has been inspected already")
        text = db.opened(connection.scalar(select(item.c.text).where(item.c.id == row.item)) or "")
        check_answers(stored_task(connection, row.project), row.queue, answers, len(text))
        connection.execute(delete(correction).where(correction.c.assignment == of))
        store_marks(connection, correction, "assignment", of, answers)
        record(
            connection, row.project, who.id, "corrected", item=row.item, assignment=of,
            detail=answers.as_dict(),
        )  # fmt: skip


def finish_inspection(db: Database, who: Person, of: int) -> Batch:
    """Score a batch by the corrections; below the mark it is void and all of it goes back to the queue."""
    with db.write() as connection:
        row = _batch(connection, who, of, lock=True)
        if row.state != "waiting":
            raise Outdated("this batch has been inspected already")
        sample = [one.id for one in _sample(connection, of)]
        given, right = answers_of(connection, sample), marks_of(connection, correction, "assignment", sample)
        if missing := len(sample) - len(right):
            raise Outdated(f"{missing} of the {len(sample)} sampled answers are not inspected yet")
        task = stored_task(connection, row.project)
        score = f_score((given[one].marks, right[one].marks) for one in sample)
        state: _Ended = "accepted" if score >= task.project.inspection.reject_below else "rejected"
        _end(connection, who, row, state, score)
        name = connection.scalar(select(person.c.name).where(person.c.id == row.person))
    return Batch(row.id, row.queue, str(name), state, row.size, score, row.made)


def reject(db: Database, who: Person, of: int) -> None:
    """Void a batch without a score and put its items back into the queue; for the owner."""
    with db.write() as connection:
        row = _batch(connection, who, of, lock=True)
        role_in(connection, who, row.project, *OWNS)
        if row.state not in ("waiting", "accepted"):
            raise Outdated("this batch is still being filled, or was rejected")
        _end(connection, who, row, "rejected", row.score)


def close_batches(db: Database, who: Person, of: int) -> int:
    """Close the batches that are not full, at the end of a project; returns how many."""
    with db.write() as connection:
        role_in(connection, who, of, *INSPECTS)
        lock_members(connection, of)
        task = stored_task(connection, of)
        filling = select(batch).where(batch.c.project == of, batch.c.state == "filling", batch.c.size > 0)
        rows = list(connection.execute(filling.with_for_update()))
        for row in rows:
            _close(connection, task, row.id, row.size)
            connection.execute(standing.update().where(standing.c.batch == row.id).values(batch=None))
        return len(rows)


def open_batch(connection: Connection, task: Task, where: Row[Any]) -> tuple[int | None, int]:
    """The annotator's open batch with room for one more answer, and its new size; None without inspection."""
    if not task.project.inspection.share:
        return None, 0
    if where.batch is not None:
        grown = batch.update().where(batch.c.id == where.batch, batch.c.state == "filling")
        size = connection.scalar(grown.values(size=batch.c.size + 1).returning(batch.c.size))
        if size is not None:
            return int(where.batch), size
    new = {"project": task.id, "person": where.person, "queue": where.queue, "size": 1}
    made = connection.execute(
        batch.insert().values(**new, state="filling", made=time.time())
    ).inserted_primary_key
    assert made is not None
    update_standing(connection, where, batch=made[0])
    return int(made[0]), 1


def close_if_full(connection: Connection, task: Task, where: Row[Any], of: int | None, size: int) -> None:
    """Close a batch that has reached its size; the next answer opens another one."""
    if of is not None and size >= task.project.inspection.batch:
        _close(connection, task, of, size)
        update_standing(connection, where, batch=None)


def remove_from_batch(connection: Connection, row: Row[Any]) -> None:
    """Take an answer that is undone out of its batch."""
    if row.batch is not None:
        connection.execute(batch.update().where(batch.c.id == row.batch).values(size=batch.c.size - 1))


def _close(connection: Connection, task: Task, of: int, size: int) -> None:
    """Draw the sample of a batch, rounded up, and let it wait for a reviewer."""
    mine = (assignment.c.batch == of, assignment.c.state == "done")
    ids = list(connection.scalars(select(assignment.c.id).where(*mine)))
    drawn = SystemRandom().sample(ids, min(len(ids), math.ceil(task.project.inspection.share * size)))
    connection.execute(assignment.update().where(assignment.c.id.in_(drawn)).values(inspected=True))
    connection.execute(batch.update().where(batch.c.id == of).values(state="waiting"))


def _batch(connection: Connection, who: Person, of: int, *, lock: bool = False) -> Row[Any]:
    wanted = select(batch).where(batch.c.id == of, batch.c.state != "filling", batch.c.person != who.id)
    row = connection.execute(wanted.with_for_update() if lock else wanted).first()
    if row is None:
        raise NotFound("there is no such batch")
    role_in(connection, who, row.project, *INSPECTS)
    return row


def _sample(connection: Connection, of: int) -> list[Row[Any]]:
    return list(
        connection.execute(
            select(assignment.c.id, item.c.text)
            .join(item, item.c.id == assignment.c.item)
            .where(assignment.c.batch == of, assignment.c.inspected)
            .order_by(assignment.c.id)
        )
    )


def _end(connection: Connection, who: Person, row: Row[Any], state: _Ended, score: float | None) -> None:
    values = {"state": state, "score": score, "reviewer": who.id, "ended": time.time()}
    connection.execute(batch.update().where(batch.c.id == row.id).values(values))
    detail = {"batch": row.id, "queue": row.queue, "annotator": row.person, "score": score}
    record(connection, row.project, who.id, state, detail=detail)
    if state == "rejected":
        mine = (assignment.c.batch == row.id, assignment.c.state == "done")
        items = list(connection.scalars(select(assignment.c.item).where(*mine)))
        connection.execute(assignment.update().where(*mine).values(state="void"))
        reopen(connection, row.project, items, answered=True)
