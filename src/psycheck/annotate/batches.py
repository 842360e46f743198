"""Batches of one annotator's answers: filled answer by answer, closed when full, with a sample drawn."""

import math
import time
from secrets import SystemRandom
from typing import Any

from sqlalchemy import ColumnElement, Connection, Row, select

from psycheck.annotate.member_state import update_standing
from psycheck.annotate.project import Task
from psycheck.annotate.tables import assignment, batch, insert_row, standing


def close_batches_of(connection: Connection, task: Task, person_id: int | None = None) -> int:
    """Close the batches that are not full, of everybody or of one annotator; returns how many."""
    filling = select(batch).where(
        batch.c.project == task.id,
        batch.c.state == "filling",
        batch.c.size > 0,
    )
    if person_id is not None:
        filling = filling.where(batch.c.person == person_id)

    rows = list(connection.execute(filling.with_for_update()))
    for row in rows:
        # Nobody may add to it meanwhile: the rows are locked.
        _close(connection, task, row.id, row.size)
        connection.execute(standing.update().where(standing.c.batch == row.id).values(batch=None))
    return len(rows)


def open_batch(connection: Connection, task: Task, standing_row: Row[Any]) -> tuple[int | None, int]:
    """The annotator's open batch with room for one more answer, and its new size; None without inspection."""
    # Projects without inspection have no batches at all, not batches without a sample.
    if not task.project.inspection.share:
        return None, 0

    if standing_row.batch is not None:
        # A reviewer may have closed it since the standing was read.
        grow = (
            batch.update()
            .where(batch.c.id == standing_row.batch, batch.c.state == "filling")
            .values(size=batch.c.size + 1)
            .returning(batch.c.size)
        )
        size = connection.scalar(grow)
        if size is not None:
            return int(standing_row.batch), size

    batch_id = insert_row(
        connection,
        batch,
        project=task.id,
        person=standing_row.person,
        queue=standing_row.queue,
        size=1,
        state="filling",
        made=time.time(),
    )
    update_standing(connection, standing_row, batch=batch_id)
    return batch_id, 1


def close_if_full(
    connection: Connection,
    task: Task,
    standing_row: Row[Any],
    batch_id: int | None,
    size: int,
) -> None:
    """Close a batch that has reached its size; the next answer opens another one."""
    if batch_id is not None and size >= task.project.inspection.batch:
        _close(connection, task, batch_id, size)
        update_standing(connection, standing_row, batch=None)


def remove_from_batch(connection: Connection, assignment_row: Row[Any]) -> None:
    """Take an answer that is undone out of its batch."""
    if assignment_row.batch is not None:
        smaller = batch.update().values(size=batch.c.size - 1)
        connection.execute(smaller.where(batch.c.id == assignment_row.batch))


def _close(connection: Connection, task: Task, batch_id: int, size: int) -> None:
    """Draw the sample of a batch, rounded up, and let it wait for a reviewer."""
    draw_sample(
        connection,
        batch_id,
        math.ceil(task.project.inspection.share * size),
    )
    connection.execute(batch.update().where(batch.c.id == batch_id).values(state="waiting"))


def draw_sample(connection: Connection, batch_id: int, number: int) -> None:
    """Draw so many answers of a batch for inspection, of those that were not drawn yet."""
    not_drawn = select(assignment.c.id).where(*answers_in(batch_id), ~assignment.c.inspected)
    answer_ids = list(connection.scalars(not_drawn))

    # Not from a seed: an annotator must not be able to tell which answers are inspected.
    drawn_ids = SystemRandom().sample(answer_ids, min(len(answer_ids), number))
    connection.execute(assignment.update().where(assignment.c.id.in_(drawn_ids)).values(inspected=True))


def answers_in(batch_id: int) -> tuple[ColumnElement[bool], ...]:
    """The conditions for the answers of a batch."""
    return assignment.c.batch == batch_id, assignment.c.state == "done"
