"""Adjudication: items whose annotators disagree go to an adjudicator, who sees the answers without names."""

from dataclasses import dataclass
from typing import Any, Literal

from sqlalchemy import Connection, Row, Select, func, select

from psycheck.annotate.annotator_answers import (
    RESOLVED,
    Answers,
    answers_of,
    check_answers,
    erase_answers,
    store_answers,
    stored_answers,
)
from psycheck.annotate.database import Database
from psycheck.annotate.flagged import decide_flag, is_flagged
from psycheck.annotate.membership import (
    ADJUDICATES,
    OWNS,
    Person,
    lock_members,
    record,
    refuse_ended,
    role_in,
    stored_task,
)
from psycheck.annotate.open_places import reopen
from psycheck.annotate.project import Task
from psycheck.annotate.refusals import NotFound
from psycheck.annotate.tables import LIVE, assignment, item, judgement


@dataclass(frozen=True, slots=True)
class Conflict:
    """An item in conflict: the answers that were given, in no order that tells whose they are.

    `flagged` says whether the item counts as holding identifying details.
    """

    item: int
    project: int
    queue: str
    text: str
    state: Literal["open", "resolved"]
    given: tuple[Answers, ...]
    resolved: Answers | None
    flagged: bool


def conflicts(
    db: Database,
    who: Person,
    project_id: int,
    *,
    state: Literal["open", "resolved"] = "open",
    most: int = 50,
) -> list[int]:
    """The items of a project in conflict, the oldest first."""
    with db.read() as connection:
        role_in(connection, who, project_id, *ADJUDICATES)
        query = (
            select(item.c.id)
            .where(item.c.project == project_id, item.c.conflict == state)
            .order_by(item.c.id)
            .limit(most)
        )
        return list(connection.scalars(query))


def conflict(db: Database, who: Person, item_id: int) -> Conflict:
    """One item in conflict, for an adjudicator."""
    with db.read() as connection:
        row = _item_in_conflict(connection, who, item_id)
        # Without names from here on: what is not read cannot be shown by mistake.
        answers = answers_of(connection, connection.scalars(_done_assignments(item_id)))
        resolutions = stored_answers(connection, RESOLVED, [item_id])
        flagged = is_flagged(connection, item_id)

    return Conflict(
        item=item_id,
        project=row.project,
        queue=row.queue,
        text=db.opened(row.text),
        state=row.conflict,
        # Sorted by content: the order of the answers would tell whose they are.
        given=tuple(sorted(answers.values(), key=repr)),
        resolved=resolutions.get(item_id),
        flagged=flagged,
    )


def resolve(db: Database, who: Person, item_id: int, answers: Answers) -> None:
    """Say what is right for an item in conflict; a later resolution replaces an earlier one."""
    with db.write() as connection:
        row = _item_in_conflict(connection, who, item_id, lock=True)
        task = stored_task(connection, row.project)
        refuse_ended(task)
        # Spans are checked against the text as it is, not as the browser had it.
        check_answers(task, row.queue, answers, len(db.opened(row.text)))

        erase_answers(connection, RESOLVED, [item_id])
        store_answers(connection, RESOLVED, item_id, answers)
        # The adjudicator saw whether annotators flagged the text: either answer decides.
        decide_flag(connection, item_id, identifying=answers.identifying)
        _set_conflict(connection, item_id, "resolved")
        record(connection, row.project, who.id, "resolved", item=item_id, detail=answers.as_dict())


def requeue(db: Database, who: Person, project_id: int, item_id: int) -> int:
    """Void all answers to an item and ask for new ones, for the owner; returns how many there were."""
    with db.write() as connection:
        row = connection.execute(select(item).where(item.c.id == item_id, item.c.kind == "item")).first()
        # An item of another project gets the same words: nobody learns which numbers exist.
        if row is None or row.project != project_id:
            raise NotFound("there is no such item", code="item.unknown")
        # Checked in the transaction that does the work, so that no page can forget it.
        role_in(connection, who, project_id, *OWNS)
        lock_members(connection, project_id)

        void_ids = list(connection.scalars(_done_assignments(item_id).with_for_update()))
        connection.execute(assignment.update().where(assignment.c.id.in_(void_ids)).values(state="void"))
        # Each voided answer gives one place back.
        reopen(connection, project_id, [item_id] * len(void_ids), answered=True)

        erase_answers(connection, RESOLVED, [item_id])
        _set_conflict(connection, item_id, None)
        record(connection, project_id, who.id, "requeued", item=item_id, detail={"answers": len(void_ids)})
        return len(void_ids)


def note_conflict(connection: Connection, task: Task, item_id: int, more: int = 0) -> None:
    """Count `more` answers to an item; when its last has come, mark it if marks or status differ.

    The update holds the item's lock, so that whoever comes last sees all answers.
    """
    count = (
        item.update()
        .where(item.c.id == item_id)
        .values(answered=item.c.answered + more)
        .returning(item.c.answered)
    )
    answered = connection.scalar(count) or 0
    # A conflict is decided once: not before everybody has answered.
    if answered < task.project.annotators_per_item:
        return

    # NULL statuses are passed over by MIN and MAX: only two people who both gave one can differ in it.
    differing_labels = (
        select(judgement.c.label)
        .join(assignment, assignment.c.id == judgement.c.assignment)
        .where(assignment.c.item == item_id, assignment.c.state == "done", LIVE)
        .group_by(judgement.c.label)
        .having(
            (func.min(judgement.c.value) != func.max(judgement.c.value))
            | (func.min(judgement.c.status) != func.max(judgement.c.status))
        )
    )
    # One label is enough, so the database may stop at the first.
    differs = connection.execute(differing_labels.limit(1)).first() is not None
    _set_conflict(connection, item_id, "open" if differs else None)


def _item_in_conflict(
    connection: Connection,
    who: Person,
    item_id: int,
    *,
    lock: bool = False,
) -> Row[Any]:
    """The row of an item in conflict, for an adjudicator."""
    query = select(item).where(item.c.id == item_id, item.c.conflict.is_not(None))
    if lock:
        query = query.with_for_update()

    row = connection.execute(query).first()
    if row is None:
        raise NotFound("there is no such conflict", code="conflict.unknown")
    role_in(connection, who, row.project, *ADJUDICATES)
    return row


def _set_conflict(connection: Connection, item_id: int, state: str | None) -> None:
    connection.execute(item.update().where(item.c.id == item_id).values(conflict=state))


def _done_assignments(item_id: int) -> Select[Any]:
    """The assignments that hold an answer to an item."""
    return select(assignment.c.id).where(
        assignment.c.item == item_id,
        assignment.c.state == "done",
        LIVE,
    )
