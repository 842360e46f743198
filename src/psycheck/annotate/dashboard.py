"""What the dashboard shows: how far each queue and each annotator is, and what waits for whom."""

import time
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Literal

from sqlalchemy import Connection, Integer, case, cast, func, select

from psycheck.annotate.database import Database
from psycheck.annotate.member_state import DAY, answers_today, day_of, first_state
from psycheck.annotate.membership import ANNOTATES, OWNS, Person, role_in, stored_task
from psycheck.annotate.tables import assignment, batch, item, member, person, standing


@dataclass(frozen=True, slots=True)
class QueueProgress:
    """One queue: its items, how many are complete, answers given and needed, conflicts, and its age.

    `oldest` is the number of seconds that the oldest incomplete item has waited; None if all are complete.
    """

    queue: str
    items: int
    complete: int
    answers: int
    needed: int
    conflicts: int
    resolved: int
    oldest: float | None


@dataclass(frozen=True, slots=True)
class AnnotatorProgress:
    """One annotator in one queue: `seconds` is the mean time per answer, `score` that of the last test."""

    person: int
    name: str
    paused: bool
    has_left: bool
    queue: str
    screening: Literal["open", "passed", "failed"]
    score: float | None
    done: int
    skipped: int
    seconds: float | None
    last: float


@dataclass(frozen=True, slots=True)
class Progress:
    """A project as its owner sees it."""

    queues: tuple[QueueProgress, ...]
    annotators: tuple[AnnotatorProgress, ...]
    batches: Mapping[str, int]  # by state
    days: Mapping[str, int]  # answers by day (UTC)


@dataclass(frozen=True, slots=True)
class OwnProgress:
    """A queue as an annotator sees it; counts are their own."""

    queue: str
    screening: Literal["open", "passed", "failed"]
    done: int
    skipped: int
    today: int
    daily_cap: int
    since_break: int


def progress(db: Database, who: Person, project_id: int) -> Progress:
    """How far a project is; for its owner."""
    with db.read() as connection:
        role_in(connection, who, project_id, *OWNS)
        # From the newest settings: how many answers complete an item may have changed.
        per_item = stored_task(connection, project_id).project.annotators_per_item
        return Progress(
            queues=_queue_progress(connection, project_id, per_item),
            annotators=_annotator_progress(connection, project_id),
            batches=_batches_by_state(connection, project_id),
            days=_answers_by_day(db, connection, project_id),
        )


def own_progress(db: Database, who: Person, project_id: int) -> list[OwnProgress]:
    """How far an annotator is in each queue."""
    with db.read() as connection:
        member_row = role_in(connection, who, project_id, *ANNOTATES, even_paused=True)
        task = stored_task(connection, project_id)
        # The cap counts over all queues together, so each of them shows the same number.
        today = answers_today(member_row, time.time())
        daily_cap = task.project.welfare.daily_cap

        own_standings = connection.execute(
            select(standing).where(standing.c.project == project_id, standing.c.person == who.id)
        )
        standing_in = {row.queue: row for row in own_standings}

        own_queues = []
        for queue in task.queues:
            row = standing_in.get(queue)
            # Nothing is stored of a queue before its first item.
            screening = first_state(connection, task, queue) if row is None else row.screening
            own_queues.append(
                OwnProgress(
                    queue=queue,
                    screening=screening,
                    done=0 if row is None else row.done,
                    skipped=0 if row is None else row.skipped,
                    today=today,
                    daily_cap=daily_cap,
                    since_break=member_row.since_break,
                )
            )
    return own_queues


def _queue_progress(
    connection: Connection,
    project_id: int,
    per_item: int,
) -> tuple[QueueProgress, ...]:
    """Each queue of a project whose items need `per_item` answers."""
    is_complete = item.c.answered >= per_item
    rows = connection.execute(
        select(
            item.c.queue,
            func.count().label("items"),
            func.sum(case((is_complete, 1), else_=0)).label("complete"),
            func.sum(item.c.answered).label("answers"),
            func.sum(case((item.c.conflict == "open", 1), else_=0)).label("conflicts"),
            func.sum(case((item.c.conflict == "resolved", 1), else_=0)).label("resolved"),
            # MIN passes over NULL: only items that still wait count.
            func.min(case((is_complete, None), else_=item.c.made)).label("oldest_made"),
        )
        .where(item.c.project == project_id, item.c.kind == "item")
        .group_by(item.c.queue)
        .order_by(item.c.queue)
    )
    # One moment for all queues, so that their ages can be compared.
    now = time.time()
    return tuple(
        QueueProgress(
            queue=row.queue,
            items=row.items,
            complete=row.complete,
            answers=row.answers,
            needed=per_item * row.items,
            conflicts=row.conflicts,
            resolved=row.resolved,
            oldest=now - row.oldest_made if row.oldest_made else None,
        )
        for row in rows
    )


def _annotator_progress(connection: Connection, project_id: int) -> tuple[AnnotatorProgress, ...]:
    """Each annotator in each queue that they have entered."""
    same_member = (member.c.project == standing.c.project) & (member.c.person == standing.c.person)
    rows = connection.execute(
        select(standing, person.c.name, member.c.paused, member.c.last)
        .join(person, person.c.id == standing.c.person)
        # Who has left the project is not a member any more, but did this work.
        .outerjoin(member, same_member)
        .where(standing.c.project == project_id)
        .order_by(person.c.name, standing.c.queue)
    )
    return tuple(
        AnnotatorProgress(
            person=row.person,
            name=row.name,
            paused=bool(row.paused),
            has_left=row.paused is None,
            queue=row.queue,
            screening=row.screening,
            score=row.score,
            done=row.done,
            skipped=row.skipped,
            seconds=row.seconds / row.done if row.done else None,
            last=row.last or 0.0,
        )
        for row in rows
    )


def _batches_by_state(connection: Connection, project_id: int) -> dict[str, int]:
    rows = connection.execute(
        select(batch.c.state, func.count().label("batches"))
        .where(batch.c.project == project_id)
        .group_by(batch.c.state)
    )
    return {row.state: row.batches for row in rows}


def _answers_by_day(db: Database, connection: Connection, project_id: int) -> dict[str, int]:
    """How many answers to annotated items were given on each day, in order."""
    days_since_1970 = assignment.c.ended / DAY
    # PostgreSQL's cast would round, and SQLite need not have floor.
    day = func.floor(days_since_1970) if db.locks_rows else cast(days_since_1970, Integer)

    rows = connection.execute(
        select(day.label("day"), func.count().label("answers"))
        .where(
            assignment.c.project == project_id,
            assignment.c.state == "done",
            assignment.c.kind == "item",
        )
        .group_by(day)
        .order_by(day)
    )
    return {day_of(int(row.day) * DAY): row.answers for row in rows}
