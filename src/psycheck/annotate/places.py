"""The places of an item: how many annotators it still needs, and how it comes back to the queue."""

from collections import Counter
from collections.abc import Iterable
from typing import Final

from sqlalchemy import Connection, case, select

from psycheck.annotate.tables import HAS_PLACE, item, project

RETURNED: Final = 0  # the lane of items that came back, served first
FRESH: Final = 1


def take_place(connection: Connection, ids: list[int], *, wait: bool = False) -> int | None:
    """Take a place of the first of these items that nobody is taking now; None if there is no such item.

    Only with `wait`, for a single item, it waits for others: PostgreSQL keeps the locks of items that it
    tried in vain, and two people who waited while holding such locks could wait for each other.
    """
    free = select(item.c.id).where(item.c.id.in_(ids), HAS_PLACE).order_by(item.c.lane, item.c.position)
    first = free.limit(1).with_for_update(skip_locked=not wait).scalar_subquery()
    taken = item.update().where(item.c.id == first).values(open=item.c.open - 1).returning(item.c.id)
    one: int | None = connection.scalar(taken)
    return one


def reopen(connection: Connection, of: int, items: Iterable[int], *, answered: bool = False) -> None:
    """Give a place back for each of these items, with `answered` one that held an answer.

    Each item gets a new position at the end of the lane that is served first. Positions are given under the
    lock of the project, so that nobody sees a later one before an earlier one.
    """
    places = Counter(items)
    if not places:
        return
    taken = project.update().where(project.c.id == of).values(returns=project.c.returns + len(places))
    last = connection.scalar(taken.returning(project.c.returns)) or 0
    for position, (one, times) in enumerate(sorted(places.items()), last - len(places) + 1):
        values = {"open": item.c.open + times, "lane": RETURNED, "position": position}
        if answered:
            kept = case((item.c.conflict == "resolved", "resolved"), else_=None)
            values |= {"answered": item.c.answered - times, "conflict": kept}
        connection.execute(item.update().where(item.c.id == one).values(values))
