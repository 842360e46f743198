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
    with db.write() as connection:
        check_owner(connection, who, project_id)
        of_project = item.c.project == project_id
        ids = list(connection.scalars(select(item.c.id).where(of_project, item.c.id.in_(list(item_ids)))))
        if not ids:
            raise NotFound("there is no such text", code="item.unknown")
        _erase(connection, who, project_id, ids)
    db.scrub()
    return len(ids)


def erase_text(db: Database, who: Person | None, project_id: int, name: str) -> int:
    """Erase the text of an id in all queues of a project; returns how many items that were."""
    with db.read() as connection:
        check_owner(connection, who, project_id)
        same_name = select(item.c.id).where(item.c.project == project_id, item.c.name == name)
        ids = list(connection.scalars(same_name))
    return erase_items(db, who, project_id, ids)


def erase_author(db: Database, who: Person | None, project_id: int, author: str) -> int:
    """Erase all texts of an author in a project; returns how many items that were."""
    with db.read() as connection:
        check_owner(connection, who, project_id)
        rows = connection.execute(select(item.c.id, item.c.about).where(item.c.project == project_id))
        # Authors may be encrypted: only here can they be compared.
        ids = [row.id for row in rows if json.loads(db.opened(row.about)).get("author") == author]
    if not ids:
        raise NotFound("there is no text of this author", code="author.unknown")
    return erase_items(db, who, project_id, ids)


def _erase(connection: Connection, who: Person | None, project_id: int, item_ids: Sequence[int]) -> None:
    """Delete items with their answers, and take them out of batches and of the trail."""
    lock_members(connection, project_id)
    for start in range(0, len(item_ids), _PIECE):
        ids = item_ids[start : start + _PIECE]
        about_them = assignment.c.item.in_(ids)
        assignment_ids = list(connection.scalars(select(assignment.c.id).where(about_them)))

        _shrink_batches(connection, assignment_ids)
        forgotten: dict[str, Any] = {"item": None, "assignment": None, "detail": json.dumps({"erased": True})}
        connection.execute(update(event).where(event.c.item.in_(ids)).values(forgotten))
        connection.execute(update(event).where(event.c.assignment.in_(assignment_ids)).values(forgotten))

        for source in (ANNOTATED, CORRECTED):
            erase_answers(connection, source, assignment_ids)
        for source in (RESOLVED, KNOWN):
            erase_answers(connection, source, ids)
        for table in _ABOUT_ITEMS:
            connection.execute(delete(table).where(table.c.item.in_(ids)))
        connection.execute(delete(assignment).where(about_them))
        connection.execute(delete(item).where(item.c.id.in_(ids)))

    record(connection, project_id, who.id if who else None, "erased", detail={"texts": len(item_ids)})


def _shrink_batches(connection: Connection, assignment_ids: Sequence[int]) -> None:
    """Take erased answers out of the size of their batches."""
    erased_in_batch = connection.execute(
        select(assignment.c.batch, func.count().label("answers"))
        .where(
            assignment.c.id.in_(assignment_ids), assignment.c.batch.is_not(None), assignment.c.state == "done"
        )
        .group_by(assignment.c.batch)
    ).all()
    for row in erased_in_batch:
        smaller = update(batch).where(batch.c.id == row.batch).values(size=batch.c.size - row.answers)
        connection.execute(smaller)


# Every table that refers to an item or an assignment is dealt with above; a new one must be, too.
ERASED_FROM: Final = frozenset(
    table.name
    for table in metadata.sorted_tables
    if {key.column.table.name for key in table.foreign_keys} & {"item", "assignment"}
)
