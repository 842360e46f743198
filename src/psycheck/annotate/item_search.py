"""The texts of a project as its owner searches them: by id, label, annotator, and how they stand."""

from dataclasses import dataclass
from typing import Final, Literal, get_args

from sqlalchemy import ColumnElement, Connection, Select, exists, func, select

from psycheck.annotate.answered_items import answered_items
from psycheck.annotate.database import Database
from psycheck.annotate.exchanged_records import Answered
from psycheck.annotate.flagged import FLAGGED
from psycheck.annotate.membership import (
    OWNS,
    Person,
    record,
    role_in,
    stored_task,
)
from psycheck.annotate.open_places import move_to_front
from psycheck.annotate.refusals import NotFound
from psycheck.annotate.tables import (
    CLAIMED,
    LIVE,
    assignment,
    item,
    judgement,
    member,
    person,
    standing,
)

State = Literal[
    "",
    "open",
    "complete",
    "conflict",
    "resolved",
    "flagged",
    "stuck",
    "closed",
]
STATES: Final[tuple[State, ...]] = get_args(State)
PAGE: Final = 50  # texts per page


@dataclass(frozen=True, slots=True)
class Search:
    """What to look for ("": anything); `after` is the number of the last text shown before."""

    id: str = ""
    label: str = ""
    annotator: str = ""
    state: State = ""
    after: int = 0


@dataclass(frozen=True, slots=True)
class Listed:
    """A text of a list: its number, id and queue, its answers, and how it stands."""

    number: int
    id: str
    queue: str
    answered: int
    open: int
    conflict: str | None
    flagged: bool
    stuck: bool
    closed: bool


def search_items(db: Database, who: Person, project_id: int, search: Search) -> list[Listed]:
    """The texts to annotate that a search finds, by number, one page of them and one more; for the owner."""
    with db.read() as connection:
        role_in(connection, who, project_id, *OWNS)
        query = (
            select(item, FLAGGED.label("flagged"), STUCK.label("stuck"))
            .where(
                item.c.project == project_id,
                item.c.kind == "item",
                item.c.id > search.after,
            )
            .order_by(item.c.id)
            # One more than a page holds tells whether there is another page.
            .limit(PAGE + 1)
        )
        rows = connection.execute(_narrowed(query, search)).all()
    return [
        Listed(
            number=row.id,
            id=row.name,
            queue=row.queue,
            answered=row.answered,
            open=row.open,
            conflict=row.conflict,
            flagged=bool(row.flagged),
            stuck=bool(row.stuck),
            closed=row.closed,
        )
        for row in rows
    ]


def stuck_items(db: Database, who: Person, project_id: int) -> int:
    """How many texts wait for answers although nobody is left who may give them; for the owner."""
    with db.read() as connection:
        role_in(connection, who, project_id, *OWNS)
        query = select(item.c.id).where(item.c.project == project_id, item.c.kind == "item", STUCK)
        return len(connection.scalars(query).all())


def item_with_answers(db: Database, who: Person, project_id: int, item_id: int) -> tuple[Listed, Answered]:
    """One text with all that was said of it, for the owner."""
    # By the search itself, so that a text's page and the list never disagree.
    listed = search_items(db, who, project_id, Search(after=item_id - 1))
    if not listed or listed[0].number != item_id:
        raise NotFound("there is no such text", code="item.unknown")

    # The owner decides about flags, and must see what was flagged.
    for answered in answered_items(db, who, project_id, flagged=True, item_id=item_id):
        return listed[0], answered
    with db.read() as connection:
        row = connection.execute(select(item.c.text).where(item.c.id == item_id)).one()
    return listed[0], Answered(
        item=listed[0].id,
        text=db.opened(row.text),
        name=listed[0].id,
        queue=listed[0].queue,
    )


def free_item(db: Database, who: Person, project_id: int, item_id: int) -> None:
    """Offer a text again to those who skipped it, for the owner."""
    with db.write() as connection:
        _owned_item(connection, who, project_id, item_id)
        # Void skips count no longer as seen: everybody may get the text again.
        skipped = (assignment.c.item == item_id) & (assignment.c.state == "skipped")
        connection.execute(assignment.update().where(skipped).values(state="void"))
        move_to_front(connection, project_id, item_id)
        record(connection, project_id, who.id, "freed", item=item_id)


def close_item(
    db: Database,
    who: Person,
    project_id: int,
    item_id: int,
    *,
    closed: bool,
) -> None:
    """Ask nobody else about a text, or open it again, for the owner."""
    with db.write() as connection:
        _owned_item(connection, who, project_id, item_id)
        places = 0
        if not closed:
            task = stored_task(connection, project_id)
            # Claims count, too: whoever has the text open may still answer.
            answered_or_open = select(func.count()).where(
                assignment.c.item == item_id,
                LIVE,
                (assignment.c.state == "done") | CLAIMED,
            )
            occupied = connection.scalar(answered_or_open) or 0
            places = max(0, task.project.annotators_per_item - occupied)
        connection.execute(item.update().where(item.c.id == item_id).values(closed=closed, open=places))
        if not closed:
            move_to_front(connection, project_id, item_id)
        record(
            connection,
            project_id,
            who.id,
            "closed" if closed else "opened again",
            item=item_id,
        )


def _owned_item(connection: Connection, who: Person, project_id: int, item_id: int) -> None:
    role_in(connection, who, project_id, *OWNS)
    same_project = select(item.c.id).where(
        item.c.id == item_id,
        item.c.project == project_id,
        item.c.kind == "item",
    )
    if connection.scalar(same_project) is None:
        raise NotFound("there is no such text", code="item.unknown")


# Subqueries on tables of their own: a query that joins assignments, too, asks about others.
_seen: Final = assignment.alias("seen")
_skipped: Final = assignment.alias("skipped")
_SKIPPED: Final = exists().where(_skipped.c.item == item.c.id, _skipped.c.state == "skipped").correlate(item)
_HAS_SEEN_IT: Final = (
    exists()
    .where(
        _seen.c.item == item.c.id,
        _seen.c.person == member.c.person,
        _seen.c.state != "void",
    )
    .correlate(item, member)
)
_FAILED_THE_TEST: Final = (
    exists()
    .where(
        standing.c.project == member.c.project,
        standing.c.person == member.c.person,
        standing.c.queue == item.c.queue,
        standing.c.screening == "failed",
    )
    .correlate(item, member)
)
_SOMEBODY_LEFT: Final = (
    exists()
    .where(
        member.c.project == item.c.project,
        member.c.role == "annotator",
        ~member.c.paused,
        ~_HAS_SEEN_IT,
        ~_FAILED_THE_TEST,
    )
    .correlate(item)
)
STUCK: Final[ColumnElement[bool]] = (item.c.open > 0) & _SKIPPED & ~_SOMEBODY_LEFT


def _narrowed(query: Select[tuple[object, ...]], search: Search) -> Select[tuple[object, ...]]:
    """The query with the conditions of a search."""
    conditions: list[ColumnElement[bool]] = []
    if search.id:
        # PostgreSQL cannot compare a NUL, and "%" in an id is no wildcard.
        conditions.append(item.c.name.contains(search.id.replace("\x00", "\ufffd"), autoescape=True))
    if search.label:
        is_marked = (judgement.c.label == search.label) & (judgement.c.value == 1)
        # Subqueries and not joins: a text with several answers would be listed several times.
        marked = select(assignment.c.item).join(judgement, judgement.c.assignment == assignment.c.id)
        conditions.append(item.c.id.in_(marked.where(is_marked, assignment.c.state == "done")))
    if search.annotator:
        by_name = person.c.name == search.annotator.replace("\x00", "\ufffd")
        answered = select(assignment.c.item).join(person, person.c.id == assignment.c.person)
        conditions.append(item.c.id.in_(answered.where(by_name, assignment.c.state.in_(("done", "skipped")))))
    if search.state:
        conditions.append(_STANDS[search.state])
    return query.where(*conditions)


_STANDS: Final[dict[str, ColumnElement[bool]]] = {
    "open": item.c.open > 0,
    "complete": (item.c.open == 0) & ~item.c.closed & (item.c.answered > 0),
    "conflict": item.c.conflict == "open",
    "resolved": item.c.conflict == "resolved",
    "flagged": FLAGGED,
    "stuck": STUCK,
    "closed": item.c.closed,
}
