"""Erase texts, or all texts of an author, with everything that was said of them, down to the database file.

What stays: that something was imported, answered or decided, by whom and when, without saying of which text.
Backups that were made before still hold the texts.
"""

import json
from collections.abc import Iterable, Sequence
from typing import Any, Final

from sqlalchemy import Connection, Table, delete, func, select, update

from psycheck.annotate.annotator_answers import ANNOTATED, CORRECTED, KNOWN, RESOLVED, erase_answers
from psycheck.annotate.database import Database
from psycheck.annotate.membership import Person, check_owner, lock_members, record
from psycheck.annotate.refusals import NotFound
from psycheck.annotate.tables import (
    assignment,
    batch,
    event,
    item,
    metadata,
    reason,
    suggestion,
)

_PIECE: Final = 500  # items per statement
_ABOUT_ITEMS: Final[tuple[Table, ...]] = (reason, suggestion)


def erase_items(db: Database, who: Person | None, project_id: int, item_ids: Iterable[int]) -> int:
    """Erase items by number, for the owner of their project; returns how many there were."""
    of_project = item.c.project == project_id
    with db.write() as connection:
        check_owner(connection, who, project_id)
        existing = select(item.c.id).where(of_project, item.c.id.in_(list(item_ids)))
        existing_ids = list(connection.scalars(existing))
        if not existing_ids:
            raise NotFound("there is no such text", code="item.unknown")

        _erase(connection, who, project_id, existing_ids)

    # After the transaction: what was deleted is still in the file.
    db.scrub()
    return len(existing_ids)


def erase_text(db: Database, who: Person | None, project_id: int, name: str) -> int:
    """Erase the text of an id in all queues of a project; returns how many items that were."""
    with db.read() as connection:
        check_owner(connection, who, project_id)
        same_name = select(item.c.id).where(item.c.project == project_id, item.c.name == name)
        item_ids = list(connection.scalars(same_name))
    return erase_items(db, who, project_id, item_ids)


def erase_author(db: Database, who: Person | None, project_id: int, author: str) -> int:
    """Erase all texts of an author in a project; returns how many items that were."""
    item_ids = []
    with db.read() as connection:
        check_owner(connection, who, project_id)
        rows = connection.execute(select(item.c.id, item.c.about).where(item.c.project == project_id))
        # Authors may be encrypted: only here can they be compared.
        for row in rows:
            about = json.loads(db.opened(row.about))
            if about.get("author") == author:
                item_ids.append(row.id)

    if not item_ids:
        raise NotFound("there is no text of this author", code="author.unknown")
    return erase_items(db, who, project_id, item_ids)


def _erase(connection: Connection, who: Person | None, project_id: int, item_ids: Sequence[int]) -> None:
    """Delete items with their answers, and take them out of batches and of the trail."""
    lock_members(connection, project_id)

    # A database takes a limited number of values in one statement.
    for start in range(0, len(item_ids), _PIECE):
        piece = item_ids[start : start + _PIECE]
        about_them = select(assignment.c.id).where(assignment.c.item.in_(piece))
        assignment_ids = list(connection.scalars(about_them))

        _shrink_batches(connection, assignment_ids)
        _forget_in_trail(connection, piece, assignment_ids)
        _delete_items(connection, piece, assignment_ids)

    eraser = who.id if who else None
    record(connection, project_id, eraser, "erased", detail={"texts": len(item_ids)})


def _forget_in_trail(
    connection: Connection,
    item_ids: Sequence[int],
    assignment_ids: Sequence[int],
) -> None:
    """Leave in the trail that something was done, and not to which text or with which answer."""
    forgotten: dict[str, Any] = {
        "item": None,
        "assignment": None,
        "detail": json.dumps({"erased": True}),
    }
    of_items = event.c.item.in_(item_ids)
    of_assignments = event.c.assignment.in_(assignment_ids)
    connection.execute(update(event).where(of_items).values(forgotten))
    connection.execute(update(event).where(of_assignments).values(forgotten))


def _delete_items(
    connection: Connection,
    item_ids: Sequence[int],
    assignment_ids: Sequence[int],
) -> None:
    """Delete items and all rows that refer to them, those that refer to others first."""
    for source in (ANNOTATED, CORRECTED):
        erase_answers(connection, source, assignment_ids)
    for source in (RESOLVED, KNOWN):
        erase_answers(connection, source, item_ids)
    for table in _ABOUT_ITEMS:
        connection.execute(delete(table).where(table.c.item.in_(item_ids)))

    connection.execute(delete(assignment).where(assignment.c.item.in_(item_ids)))
    connection.execute(delete(item).where(item.c.id.in_(item_ids)))


def _shrink_batches(connection: Connection, assignment_ids: Sequence[int]) -> None:
    """Take erased answers out of the size of their batches."""
    erased_answers = (
        select(assignment.c.batch, func.count().label("answers"))
        .where(
            assignment.c.id.in_(assignment_ids),
            assignment.c.batch.is_not(None),
            assignment.c.state == "done",
        )
        .group_by(assignment.c.batch)
    )
    for row in connection.execute(erased_answers).all():
        size = batch.c.size - row.answers
        connection.execute(update(batch).where(batch.c.id == row.batch).values(size=size))


# Every table that refers to an item or an assignment is dealt with above; a new one must be, too.
ERASED_FROM: Final = frozenset(
    table.name
    for table in metadata.sorted_tables
    if {key.column.table.name for key in table.foreign_keys} & {"item", "assignment"}
)
