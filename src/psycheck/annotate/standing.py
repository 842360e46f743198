"""Where a member stands: in a queue, with the screening test, and with breaks and the daily cap."""

from datetime import UTC, datetime
from typing import Any, Literal

from sqlalchemy import Connection, Row, select

from psycheck.annotate.project import Task, Welfare
from psycheck.annotate.tables import HAS_PLACE, item, member, standing


def standing_of(connection: Connection, person: int, task: Task, queue: str) -> Row[Any]:
    """A member's standing in a queue, made at first sight; without test items the test counts as passed.

    The caller holds the lock of the member's row.
    """
    wanted = select(standing).where(
        standing.c.project == task.id, standing.c.person == person, standing.c.queue == queue
    )
    row = connection.execute(wanted).first()
    if row is not None:
        return row
    state = first_state(connection, task, queue)
    connection.execute(standing.insert().values(project=task.id, person=person, queue=queue, screening=state))
    return connection.execute(wanted).one()


def first_state(connection: Connection, task: Task, queue: str) -> Literal["open", "passed"]:
    """How everybody begins in a queue: with its test, if it has one."""
    test = select(item.c.id).where(
        item.c.project == task.id, item.c.queue == queue, item.c.kind == "screening", HAS_PLACE
    )
    return "passed" if connection.scalar(test.limit(1)) is None else "open"


def update_standing(connection: Connection, where: Row[Any], **values: object) -> None:
    """Change a member's standing in a queue."""
    connection.execute(
        standing.update()
        .where(
            standing.c.project == where.project,
            standing.c.person == where.person,
            standing.c.queue == where.queue,
        )
        .values(values)
    )


def rest(own: Row[Any], welfare: Welfare, now: float) -> tuple[Literal["break", "daily_cap"], float] | None:
    """Why a member must rest now, and until when; days are those of UTC."""
    if welfare.daily_cap and own.day == day_of(now) and own.today >= welfare.daily_cap:
        return "daily_cap", (now // 86_400 + 1) * 86_400
    if now < own.rests_until:
        return "break", own.rests_until
    return None


def count_answer(connection: Connection, task: Task, own: Row[Any], now: float) -> None:
    """Count an item that a member has read; a break begins after `break_after` items without one.

    `own` is the member's row, or one with all its columns; the caller holds its lock.
    """
    welfare, pause = task.project.welfare, 60.0 * task.project.welfare.break_minutes
    since = 1 if now - own.last >= pause else own.since_break + 1
    due = bool(welfare.break_after) and since >= welfare.break_after
    connection.execute(
        member.update()
        .where(member.c.project == task.id, member.c.person == own.person)
        .values(
            day=day_of(now),
            today=own.today + 1 if own.day == day_of(now) else 1,
            since_break=0 if due else since,
            last=now,
            rests_until=now + pause if due else own.rests_until,
        )
    )


def day_of(now: float) -> str:
    """The day of a time in seconds, as in UTC."""
    return datetime.fromtimestamp(now, UTC).date().isoformat()
