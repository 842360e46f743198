"""Adjudication: items whose annotators disagree go to an adjudicator, who sees the answers without names."""

from dataclasses import dataclass
from typing import Any, Literal

from sqlalchemy import Connection, Row, delete, func, select

from psycheck.annotate.answers import Answers, answers_of, check_answers, marks_of, store_marks
from psycheck.annotate.database import Database
from psycheck.annotate.membership import (
    ADJUDICATES,
    OWNS,
    Person,
    lock_members,
    record,
    role_in,
    stored_task,
)
from psycheck.annotate.places import reopen
from psycheck.annotate.project import Task
from psycheck.annotate.refusals import NotFound
from psycheck.annotate.tables import LIVE, assignment, item, judgement, resolution


@dataclass(frozen=True, slots=True)
class Conflict:
    """An item in conflict: the answers that were given, in no order that tells whose they are."""

    item: int
    project: int
    queue: str
    text: str
    state: Literal["open", "resolved"]
    given: tuple[Answers, ...]
    resolved: Answers | None


def conflicts(
    db: Database, who: Person, of: int, *, state: Literal["open", "resolved"] = "open", most: int = 50
) -> list[int]:
    """The items of a project in conflict, the oldest first."""
    with db.read() as connection:
        role_in(connection, who, of, *ADJUDICATES)
        wanted = select(item.c.id).where(item.c.project == of, item.c.conflict == state)
        return list(connection.scalars(wanted.order_by(item.c.id).limit(most)))


def conflict(db: Database, who: Person, of: int) -> Conflict:
    """One item in conflict, for an adjudicator."""
    with db.read() as connection:
        row = _in_conflict(connection, who, of)
        given = sorted(answers_of(connection, _answered(connection, of)).values(), key=repr)
        resolved = marks_of(connection, resolution, "item", [of]).get(of)
        return Conflict(of, row.project, row.queue, db.opened(row.text), row.conflict, tuple(given), resolved)


def resolve(db: Database, who: Person, of: int, answers: Answers) -> None:
    """Say what is right for an item in conflict; a later resolution replaces an earlier one."""
    with db.write() as connection:
        row = _in_conflict(connection, who, of, lock=True)
        check_answers(stored_task(connection, row.project), row.queue, answers, len(db.opened(row.text)))
        connection.execute(delete(resolution).where(resolution.c.item == of))
        store_marks(connection, resolution, "item", of, answers)
        connection.execute(item.update().where(item.c.id == of).values(conflict="resolved"))
        record(connection, row.project, who.id, "resolved", item=of, detail=answers.as_dict())


def _in_conflict(connection: Connection, who: Person, of: int, *, lock: bool = False) -> Row[Any]:
    """The row of an item in conflict, for an adjudicator."""
    wanted = select(item).where(item.c.id == of, item.c.conflict.is_not(None))
    row = connection.execute(wanted.with_for_update() if lock else wanted).first()
    if row is None:
        raise NotFound("there is no such conflict")
    role_in(connection, who, row.project, *ADJUDICATES)
    return row


def requeue(db: Database, who: Person, project: int, of: int) -> int:
    """Void all answers to an item and ask for new ones, for the owner; returns how many there were."""
    with db.write() as connection:
        row = connection.execute(select(item).where(item.c.id == of, item.c.kind == "item")).first()
        if row is None or row.project != project:
            raise NotFound("there is no such item")
        role_in(connection, who, row.project, *OWNS)
        lock_members(connection, row.project)
        mine = (assignment.c.item == of, assignment.c.state == "done", LIVE)
        ids = list(connection.scalars(select(assignment.c.id).where(*mine).with_for_update()))
        connection.execute(assignment.update().where(assignment.c.id.in_(ids)).values(state="void"))
        reopen(connection, row.project, [of] * len(ids), answered=True)
        connection.execute(delete(resolution).where(resolution.c.item == of))
        connection.execute(item.update().where(item.c.id == of).values(conflict=None))
        record(connection, row.project, who.id, "requeued", item=of, detail={"answers": len(ids)})
        return len(ids)


def note_conflict(connection: Connection, task: Task, of: int, more: int = 0) -> None:
    """Count `more` answers to an item; when its last has come, mark it if marks or status differ.

    The update holds the item's lock, so that whoever comes last sees all answers.
    """
    counted = item.update().where(item.c.id == of).values(answered=item.c.answered + more)
    if (connection.scalar(counted.returning(item.c.answered)) or 0) < task.project.annotators_per_item:
        return
    differing = (
        select(judgement.c.label)
        .join(assignment, assignment.c.id == judgement.c.assignment)
        .where(assignment.c.item == of, assignment.c.state == "done", LIVE)
        .group_by(judgement.c.label)
        .having(
            (func.min(judgement.c.value) != func.max(judgement.c.value))
            | (func.min(judgement.c.status) != func.max(judgement.c.status))
        )
    )
    state = "open" if connection.execute(differing.limit(1)).first() is not None else None
    connection.execute(item.update().where(item.c.id == of).values(conflict=state))


def _answered(connection: Connection, of: int) -> list[int]:
    wanted = select(assignment.c.id).where(assignment.c.item == of, assignment.c.state == "done", LIVE)
    return list(connection.scalars(wanted))
