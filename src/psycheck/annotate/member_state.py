"""Where a member stands: in a queue, with the screening test, and with breaks and the daily cap."""

from datetime import UTC, datetime
from typing import Any, Final, Literal

from sqlalchemy import Connection, Row, select

from psycheck.annotate.project import Task, Welfare
from psycheck.annotate.tables import HAS_PLACE, item, member, standing

DAY: Final = 86_400  # seconds


def standing_of(connection: Connection, person_id: int, task: Task, queue: str) -> Row[Any]:
    """A member's standing in a queue, made at first sight; without test items the test counts as passed.

    The caller holds the lock of the member's row.
    """
    stored = select(standing).where(
        standing.c.project == task.id,
        standing.c.person == person_id,
        standing.c.queue == queue,
    )
    row = connection.execute(stored).first()
    if row is not None:
        return row

    connection.execute(
        standing.insert().values(
            project=task.id,
            person=person_id,
            queue=queue,
            screening=first_state(connection, task, queue),
        )
    )
    # Read again: the database fills in the counters.
    return connection.execute(stored).one()


def first_state(connection: Connection, task: Task, queue: str) -> Literal["open", "passed"]:
    """How everybody begins in a queue: with its test, if it has one."""
    test_item = connection.scalar(
        select(item.c.id)
        .where(
            item.c.project == task.id,
            item.c.queue == queue,
            item.c.kind == "screening",
            HAS_PLACE,
        )
        .limit(1)
    )
    return "passed" if test_item is None else "open"


def update_standing(connection: Connection, standing_row: Row[Any], **values: object) -> None:
    """Change a member's standing in a queue."""
    connection.execute(
        standing.update()
        .where(
            standing.c.project == standing_row.project,
            standing.c.person == standing_row.person,
            standing.c.queue == standing_row.queue,
        )
        .values(values)
    )


def required_rest(
    member_row: Row[Any],
    welfare: Welfare,
    now: float,
) -> tuple[Literal["break", "daily_cap"], float] | None:
    """Why a member must rest now, and until when; days are those of UTC."""
    # The cap comes first: a break is over in minutes, the day is not.
    read_today = answers_today(member_row, now)
    if welfare.daily_cap and read_today >= welfare.daily_cap:
        next_midnight = (now // DAY + 1) * DAY
        return "daily_cap", next_midnight

    if now < member_row.rests_until:
        return "break", member_row.rests_until
    return None


def count_answer(connection: Connection, task: Task, member_row: Row[Any], now: float) -> None:
    """Count an item that a member has read; a break begins after `break_after` items without one.

    `member_row` has all columns of the member's row; the caller holds its lock.
    """
    welfare = task.project.welfare
    break_seconds = 60.0 * welfare.break_minutes

    # Who was away for as long as a break lasts has had one.
    had_break = now - member_row.last >= break_seconds
    since_break = 1 if had_break else member_row.since_break + 1

    rests_until = member_row.rests_until
    if welfare.break_after and since_break >= welfare.break_after:
        since_break = 0
        rests_until = now + break_seconds

    connection.execute(
        member.update()
        .where(member.c.project == task.id, member.c.person == member_row.person)
        .values(
            day=day_of(now),
            today=answers_today(member_row, now) + 1,
            since_break=since_break,
            last=now,
            rests_until=rests_until,
        )
    )


def answers_today(member_row: Row[Any], now: float) -> int:
    """How many items a member has read today; the stored count may be of an earlier day."""
    return int(member_row.today) if member_row.day == day_of(now) else 0


def day_of(now: float) -> str:
    """The day (UTC) of a time in seconds since 1970, in ISO form."""
    return datetime.fromtimestamp(now, UTC).date().isoformat()
