"""What the dashboard shows: how far each queue and each annotator is, and what waits for whom."""

import time
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Literal

from sqlalchemy import Integer, case, cast, func, select

from psycheck.annotate.database import Database
from psycheck.annotate.membership import ANNOTATES, OWNS, Person, role_in, stored_task
from psycheck.annotate.standing import day_of, first_state
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


def progress(db: Database, who: Person, of: int) -> Progress:
    """How far a project is; for its owner."""
    with db.read() as connection:
        role_in(connection, who, of, *OWNS)
        k = stored_task(connection, of).project.annotators_per_item
        full = item.c.answered >= k
        queues = connection.execute(
            select(
                item.c.queue,
                func.count(),
                func.sum(case((full, 1), else_=0)),
                func.sum(item.c.answered),
                func.sum(case((item.c.conflict == "open", 1), else_=0)),
                func.sum(case((item.c.conflict == "resolved", 1), else_=0)),
                func.min(case((full, None), else_=item.c.made)),
            )
            .where(item.c.project == of, item.c.kind == "item")
            .group_by(item.c.queue)
            .order_by(item.c.queue)
        )
        now = time.time()
        rows = tuple(
            QueueProgress(
                name, items, complete, answers, k * items, open_, resolved, now - made if made else None
            )
            for name, items, complete, answers, open_, resolved, made in queues
        )
        annotators = connection.execute(
            select(standing, person.c.name, member.c.paused, member.c.last)
            .join(person, person.c.id == standing.c.person)
            .join(member, (member.c.project == standing.c.project) & (member.c.person == standing.c.person))
            .where(standing.c.project == of)
            .order_by(person.c.name, standing.c.queue)
        )
        people = tuple(
            AnnotatorProgress(
                person=row.person,
                name=row.name,
                paused=row.paused,
                queue=row.queue,
                screening=row.screening,
                score=row.score,
                done=row.done,
                skipped=row.skipped,
                seconds=row.seconds / row.done if row.done else None,
                last=row.last,
            )
            for row in annotators
        )
        states = select(batch.c.state, func.count()).where(batch.c.project == of).group_by(batch.c.state)
        batches = {row[0]: row[1] for row in connection.execute(states)}
        days_since = assignment.c.ended / 86_400
        # PostgreSQL would round, and SQLite need not have floor.
        day = func.floor(days_since) if db.locks_rows else cast(days_since, Integer)
        by_day = (
            select(day, func.count())
            .where(assignment.c.project == of, assignment.c.state == "done", assignment.c.kind == "item")
            .group_by(day)
            .order_by(day)
        )
        days = {day_of(int(one) * 86_400): n for one, n in connection.execute(by_day)}
    return Progress(rows, people, batches, days)


def own_progress(db: Database, who: Person, of: int) -> list[OwnProgress]:
    """How far an annotator is in each queue."""
    with db.read() as connection:
        own = role_in(connection, who, of, *ANNOTATES)
        task = stored_task(connection, of)
        today = own.today if own.day == day_of(time.time()) else 0
        mine = select(standing).where(standing.c.project == of, standing.c.person == who.id)
        found = {row.queue: (row.screening, row.done, row.skipped) for row in connection.execute(mine)}
        begin = {
            queue: (first_state(connection, task, queue), 0, 0) for queue in task.queues if queue not in found
        }
    cap = task.project.welfare.daily_cap
    return [OwnProgress(queue, *(found | begin)[queue], today, cap) for queue in task.queues]
