"""The places of an item: how many annotators it still needs, and how it comes back to the queue."""

from collections import Counter
from collections.abc import Iterable
from typing import Any, Final

from sqlalchemy import Connection, case, select

from psycheck.annotate.tables import HAS_PLACE, item, project

# Lanes of the queue: the lower one is served first.
RETURNED: Final = 0
FRESH: Final = 1


def take_place(connection: Connection, item_ids: list[int], *, wait: bool = False) -> int | None:
    """Take a place of the first of these items that nobody is taking now; None if there is no such item.

    Only with `wait`, for a single item, it waits for others: PostgreSQL keeps the locks of items that it
    tried in vain, and two people who waited while holding such locks could wait for each other.
    """
    first_free = (
        select(item.c.id)
        .where(item.c.id.in_(item_ids), HAS_PLACE)
        .order_by(item.c.lane, item.c.position)
        .limit(1)
        .with_for_update(skip_locked=not wait)
    )
    take = (
        item.update()
        .where(item.c.id == first_free.scalar_subquery())
        .values(open=item.c.open - 1)
        .returning(item.c.id)
    )
    item_id: int | None = connection.scalar(take)
    return item_id


def reopen(
    connection: Connection,
    project_id: int,
    item_ids: Iterable[int],
    *,
    answered: bool = False,
) -> None:
    """Give a place back for each of these items, with `answered` one that held an answer.

    Each item gets a new position at the end of the lane that is served first. An item that occurs several
    times gets as many places back.
    """
    places_of_item = Counter(item_ids)
    if not places_of_item:
        return

    position = _reserve_positions(connection, project_id, len(places_of_item))

    # In the order of their ids: everybody locks items in this order.
    for item_id, places in sorted(places_of_item.items()):
        values: dict[str, Any] = {
            "open": case((item.c.closed, 0), else_=item.c.open + places),
            "lane": RETURNED,
            "position": position,
        }
        if answered:
            values["answered"] = item.c.answered - places
            # With an answer less, an open conflict is over; what an adjudicator resolved stays.
            values["conflict"] = case((item.c.conflict == "resolved", "resolved"), else_=None)
        connection.execute(item.update().where(item.c.id == item_id).values(values))
        position += 1


def move_to_front(connection: Connection, project_id: int, item_id: int) -> None:
    """Put an item at the end of the lane that is served first, where nobody has passed it yet."""
    position = _reserve_positions(connection, project_id, 1)
    connection.execute(item.update().where(item.c.id == item_id).values(lane=RETURNED, position=position))


def _reserve_positions(connection: Connection, project_id: int, number: int) -> int:
    """The first of `number` new positions in the lane of returned items.

    The update locks the project, so that nobody sees a later position before an earlier one.
    """
    reserve = (
        project.update()
        .where(project.c.id == project_id)
        .values(returns=project.c.returns + number)
        .returning(project.c.returns)
    )
    last = connection.scalar(reserve) or 0
    return last - number + 1
