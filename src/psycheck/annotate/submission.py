"""What a person does with an item: submit, skip, look back, undo. Each is one transaction."""

import time
from dataclasses import dataclass
from typing import Any, Final, Literal

from sqlalchemy import Connection, Row, select

from psycheck.annotate.adjudication import note_conflict
from psycheck.annotate.annotator_answers import (
    ANNOTATED,
    Answers,
    check_answers,
    erase_answers,
    store_answers,
)
from psycheck.annotate.batches import close_if_full, open_batch, remove_from_batch
from psycheck.annotate.database import Database
from psycheck.annotate.member_state import count_answer, standing_of, update_standing
from psycheck.annotate.membership import (
    ANNOTATES,
    Person,
    record,
    refuse_ended,
    refuse_other_roles,
    refuse_paused,
    role_in,
    stored_task,
)
from psycheck.annotate.open_places import reopen, take_place
from psycheck.annotate.project import Task
from psycheck.annotate.queue import Assignment, expiry, own_answers, show_assignment
from psycheck.annotate.refusals import NotFound, Outdated
from psycheck.annotate.screening import end_of_test
from psycheck.annotate.tables import assignment, batch, item, member, resolution
from psycheck.core.errors import BadInput

# The columns of a membership that an assignment does not have itself.
_MEMBER_COLUMNS: Final = [column for column in member.c if column.name not in ("project", "person")]
_LONGEST: Final = 4 * 3_600.0  # seconds on one item; more is a page left open
_SHORTEST_TOKEN: Final = 8
_LONGEST_TOKEN: Final = 80


@dataclass(frozen=True, slots=True)
class Submitted:
    """What an answer led to: the end of the queue's screening test, or nothing as it was `repeated`."""

    screened: bool = False
    repeated: bool = False


def submit(
    db: Database,
    who: Person,
    assignment_id: int,
    answers: Answers,
    *,
    seconds: float,
    token: str,
) -> Submitted:
    """Store the answers to an assignment, also to revise them while that is allowed.

    `token` is the client's name for this submission: sent again, it is acknowledged again and changes
    nothing. When this returns, the answers are on the disk.
    """
    if not _SHORTEST_TOKEN <= len(token) <= _LONGEST_TOKEN:
        raise BadInput(
            "a submission needs a token",
            code="submission.bad-token",
            allowed=f"{_SHORTEST_TOKEN} to {_LONGEST_TOKEN} characters",
            key="token",
        )

    with db.write() as connection:
        row = _own_assignment(connection, who, assignment_id)
        if row.state == "done" and row.token == token:
            return Submitted(repeated=True)
        if row.state == "skipped":
            raise Outdated("this item was skipped", code="submission.skipped", do="undo the skip first")
        _refuse_settled(connection, row)

        task = stored_task(connection, row.project)
        check_answers(task, row.queue, answers, len(db.opened(row.text)))

        # The browser measures: a wrong clock must not spoil the mean.
        seconds = min(max(seconds, 0.0), _LONGEST)
        values = {
            "token": token,
            "identifying": answers.identifying,
            "confidence": answers.confidence,
            "comment": db.sealed(answers.comment) if answers.comment else None,
            # Time on a revision counts, too.
            "seconds": (row.seconds or 0) + seconds,
            "version": task.version,
        }
        is_first_answer = row.state == "claimed"
        if is_first_answer:
            store_answers(connection, ANNOTATED, assignment_id, answers)
            screened = _end_claim(connection, task, row, state="done", **values)
        else:
            _revise(connection, task, row, answers, values)
            screened = False

        record(
            connection,
            row.project,
            who.id,
            "answered" if is_first_answer else "revised",
            item=row.item,
            assignment=assignment_id,
            detail={**answers.as_dict(), "seconds": seconds},
        )
        return Submitted(screened)


def skip(db: Database, who: Person, assignment_id: int) -> Submitted:
    """Give an item back without an answer and without penalty; it goes to somebody else."""
    with db.write() as connection:
        row = _own_assignment(connection, who, assignment_id)
        if row.state == "skipped":
            return Submitted(repeated=True)
        if row.state != "claimed":
            raise Outdated(
                "this item is answered already",
                code="submission.answered",
                do="undo the answer first",
            )

        task = stored_task(connection, row.project)
        # Counted like an answer: breaks and the cap are about what was read.
        screened = _end_claim(connection, task, row, state="skipped")
        if row.kind == "item":
            reopen(connection, row.project, [row.item])

        record(connection, row.project, who.id, "skipped", item=row.item, assignment=assignment_id)
        return Submitted(screened)


def undo(db: Database, who: Person, project_id: int, queue: str) -> Assignment | None:
    """Take back a person's last answer or skip in a queue, which opens the item again; None without one."""
    with db.write() as connection:
        role_in(connection, who, project_id, *ANNOTATES, lock=True)
        last_id = _last_ended(connection, who, project_id, queue)
        if last_id is None:
            return None

        row = _own_assignment(connection, who, last_id)
        _refuse_settled(connection, row)
        task = stored_task(connection, project_id)
        # Read before they are erased: the form shows them again.
        undone_answers = own_answers(db, connection, row)

        if row.state == "skipped":
            _undo_skip(connection, task, row)
        else:
            _undo_answer(connection, task, row)

        connection.execute(
            assignment.update()
            .where(assignment.c.id == row.id)
            .values(state="claimed", expires=expiry(task), ended=None, token=None, batch=None)
        )
        record(connection, project_id, who.id, "undone", item=row.item, assignment=row.id)
        return show_assignment(db, connection, row.id, undone_answers)


def previous(
    db: Database,
    who: Person,
    project_id: int,
    queue: str,
    before: int | None = None,
) -> Assignment | None:
    """A person's own last answer in a queue, or the one before the assignment `before`; nothing changes."""
    with db.read() as connection:
        # Who is paused may still look at the answers given before.
        role_in(connection, who, project_id, *ANNOTATES, even_paused=True)
        assignment_id = _last_ended(connection, who, project_id, queue, before)
        if assignment_id is None:
            return None
        return show_assignment(db, connection, assignment_id)


def _own_assignment(
    connection: Connection,
    who: Person,
    assignment_id: int,
) -> Row[Any]:
    """A person's own assignment with its text and their membership, both locked; others do not exist."""
    same_member = (member.c.project == assignment.c.project) & (member.c.person == assignment.c.person)
    query = (
        select(assignment, item.c.text, *_MEMBER_COLUMNS)
        .join(item, item.c.id == assignment.c.item)
        .join(member, same_member)
        .where(assignment.c.id == assignment_id, assignment.c.person == who.id)
    )
    row = connection.execute(query.with_for_update(of=[member, assignment])).first()
    if row is None:
        raise NotFound("there is no such assignment", code="assignment.unknown")
    # Somebody may have another role by now than when they took the item.
    refuse_other_roles(row.role, ANNOTATES)
    if row.state == "void":
        raise Outdated(
            "this item was given back to the queue",
            code="assignment.given-back",
            do="go on with the next one",
        )
    if row.paused:
        refuse_paused()
    refuse_ended(stored_task(connection, row.project))
    return row


def _revise(
    connection: Connection,
    task: Task,
    row: Row[Any],
    answers: Answers,
    values: dict[str, Any],
) -> None:
    """Replace the answers of an assignment that is done."""
    erase_answers(connection, ANNOTATED, [row.id])
    store_answers(connection, ANNOTATED, row.id, answers)
    connection.execute(assignment.update().where(assignment.c.id == row.id).values(values))
    if row.kind == "item":
        note_conflict(connection, task, row.item)


def _end_claim(
    connection: Connection,
    task: Task,
    row: Row[Any],
    *,
    state: Literal["done", "skipped"],
    **values: Any,
) -> bool:
    """End a claim, answered or skipped, and count it; returns whether it ended a screening test."""
    now = time.time()
    answered = state == "done"
    labelled = answered and row.kind == "item"
    standing_row = standing_of(connection, row.person, task, row.queue)

    batch_id = None
    batch_size = 0
    if labelled:
        batch_id, batch_size = open_batch(connection, task, standing_row)

    connection.execute(
        assignment.update()
        .where(assignment.c.id == row.id)
        .values({**values, "state": state, "ended": now, "batch": batch_id})
    )
    _count_in_standing(
        connection, standing_row, row.kind, answered=answered, seconds=values.get("seconds", 0.0)
    )
    count_answer(connection, task, row, now)

    if labelled:
        close_if_full(connection, task, standing_row, batch_id, batch_size)
        # The item comes last: everybody locks items after all other rows.
        note_conflict(connection, task, row.item, more=1)

    # Only a test ends by itself.
    if row.kind != "screening":
        return False
    return end_of_test(connection, task, row.person, row.queue)


def _count_in_standing(
    connection: Connection,
    standing_row: Row[Any],
    kind: str,
    *,
    answered: bool,
    seconds: float,
) -> None:
    """Count an answer or a skip; `since_gold` counts the answers since the last gold item."""
    counts: dict[str, Any] = {"seconds": standing_row.seconds + seconds}
    if answered:
        counts["done"] = standing_row.done + 1
    else:
        counts["skipped"] = standing_row.skipped + 1

    if kind == "gold":
        counts["since_gold"] = 0
    elif kind == "item" and answered:
        counts["since_gold"] = standing_row.since_gold + 1
    update_standing(connection, standing_row, **counts)


def _undo_skip(connection: Connection, task: Task, row: Row[Any]) -> None:
    """Take a place of the skipped item again, if it has one."""
    standing_row = standing_of(connection, row.person, task, row.queue)
    if row.kind == "item" and take_place(connection, [row.item], wait=True) is None:
        raise Outdated("this item has gone to somebody else", code="assignment.gone")
    update_standing(connection, standing_row, skipped=standing_row.skipped - 1)


def _undo_answer(connection: Connection, task: Task, row: Row[Any]) -> None:
    """Erase an answer and take it out of all counts."""
    standing_row = standing_of(connection, row.person, task, row.queue)
    erase_answers(connection, ANNOTATED, [row.id])
    update_standing(
        connection,
        standing_row,
        done=standing_row.done - 1,
        seconds=standing_row.seconds - (row.seconds or 0),
    )
    if row.kind == "item":
        remove_from_batch(connection, row)
        connection.execute(
            item.update().where(item.c.id == row.item).values(answered=item.c.answered - 1, conflict=None)
        )


def _refuse_settled(connection: Connection, row: Row[Any]) -> None:
    """Refuse to change an answer that others have built on."""
    if row.state == "claimed":
        return

    if row.kind == "screening":
        task = stored_task(connection, row.project)
        standing_row = standing_of(connection, row.person, task, row.queue)
        if standing_row.screening != "open":
            raise Outdated("the screening test has ended", code="screening.ended")

    batch_state = None
    if row.batch:
        batch_state = connection.scalar(select(batch.c.state).where(batch.c.id == row.batch))
    batch_is_closed = batch_state is not None and batch_state != "filling"

    resolved_item = connection.scalar(select(resolution.c.item).where(resolution.c.item == row.item).limit(1))
    # A changed answer would leave the score or the decision about something else.
    if batch_is_closed or resolved_item is not None:
        raise Outdated(
            "this answer waits for inspection, or was inspected or resolved",
            code="submission.settled",
        )


def _last_ended(
    connection: Connection,
    who: Person,
    project_id: int,
    queue: str,
    before: int | None = None,
) -> int | None:
    """The assignment that a person answered or skipped last in a queue, or last before another one."""
    in_queue = (
        assignment.c.person == who.id,
        assignment.c.project == project_id,
        assignment.c.queue == queue,
    )
    query = select(assignment.c.id).where(*in_queue, assignment.c.state.in_(("done", "skipped")))

    # By time and not by number: an item that was undone has an older number.
    if before is not None:
        ended = connection.scalar(select(assignment.c.ended).where(*in_queue, assignment.c.id == before))
        if ended is not None:
            query = query.where(assignment.c.ended < ended)

    last_id: int | None = connection.scalar(query.order_by(assignment.c.ended.desc()).limit(1))
    return last_id
