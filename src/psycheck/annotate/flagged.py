"""Posts that hold identifying details: flagged by annotators, decided by other roles."""

from typing import Final, Literal

from sqlalchemy import ColumnElement, Connection, exists, func, select

from psycheck.annotate.database import Database
from psycheck.annotate.membership import OWNS, Person, record, role_in
from psycheck.annotate.refusals import NotFound
from psycheck.annotate.tables import assignment, item

Decision = Literal["flagged", "cleared"]

# A subquery on assignments of its own: a query that joins assignments, too, asks about others.
_answer: Final = assignment.alias("flagging_answer")
_SAID_BY_AN_ANNOTATOR: Final = (
    exists()
    .where(
        _answer.c.item == item.c.id,
        _answer.c.state == "done",
        _answer.c.identifying,
    )
    .correlate(item)
)
# A decision counts; without one, a single annotator who flags a post is enough.
# `coalesce`, because what is not null can also be negated.
FLAGGED: Final[ColumnElement[bool]] = (func.coalesce(item.c.flag, "") == "flagged") | (
    item.c.flag.is_(None) & _SAID_BY_AN_ANNOTATOR
)


def is_flagged(connection: Connection, item_id: int) -> bool:
    """Whether an item counts as holding identifying details."""
    return connection.scalar(select(item.c.id).where(item.c.id == item_id, FLAGGED)) is not None


def decide_flag(connection: Connection, item_id: int, *, identifying: bool) -> None:
    """Store the flag of an item as somebody who decides set it; no decision where nobody flagged it."""
    decision: Decision | None = None
    if identifying:
        decision = "flagged"
    elif is_flagged(connection, item_id):
        decision = "cleared"

    if decision is not None:
        connection.execute(item.update().where(item.c.id == item_id).values(flag=decision))


def set_flag(
    db: Database,
    who: Person,
    project_id: int,
    item_id: int,
    *,
    identifying: bool,
) -> None:
    """Flag a post or clear its flag, for the owner of the project."""
    with db.write() as connection:
        role_in(connection, who, project_id, *OWNS)
        same_project = select(item.c.id).where(item.c.id == item_id, item.c.project == project_id)
        if connection.scalar(same_project) is None:
            raise NotFound("there is no such item", code="item.unknown")

        decide_flag(connection, item_id, identifying=identifying)
        what = "flagged" if identifying else "cleared the flag"
        record(connection, project_id, who.id, what, item=item_id)
