"""Each item of a project with all that annotators, reviewers and adjudicators said of it."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from itertools import groupby
from typing import Any, Final

from sqlalchemy import ColumnElement, Connection, Row, Select, select

from psycheck.annotate.annotator_answers import (
    CORRECTED,
    RESOLVED,
    Answers,
    answers_of,
    stored_answers,
)
from psycheck.annotate.database import Database
from psycheck.annotate.exchanged_records import Answered, Response
from psycheck.annotate.flagged import FLAGGED
from psycheck.annotate.membership import Person, check_owner
from psycheck.annotate.tables import assignment, item, person

ADJUDICATOR: Final = "adjudicator"
_PIECE: Final = 500  # answers that are read at once


def answered_items(
    db: Database,
    who: Person | None,
    project_id: int,
    *,
    flagged: bool = False,
    item_id: int | None = None,
) -> Iterator[Answered]:
    """The items (or one of them) that have answers, with all that was said of them; for the owner.

    What reviewers and adjudicators said comes after the annotators, under the names of these roles.
    """
    columns = (
        item.c.id.label("item_id"),
        item.c.text,
        item.c.flag,
        assignment.c.comment,
    )
    query = annotators_answers(project_id, *columns, flagged=flagged)
    if item_id is not None:
        query = query.where(item.c.id == item_id)

    with db.read() as connection:
        check_owner(connection, who, project_id)
        rows = connection.execute(query.order_by(item.c.queue, item.c.id, assignment.c.id)).all()
        all_answers = _all_answers(connection, rows)

    for _, rows_of_item in groupby(rows, key=lambda row: row.item_id):
        yield _answered(db, list(rows_of_item), all_answers)


@dataclass(frozen=True, slots=True)
class _AllAnswers:
    """What annotators and reviewers said by assignment, and adjudicators by item."""

    answers: dict[int, Answers]
    corrections: dict[int, Answers]
    decisions: dict[int, Answers]


def _all_answers(connection: Connection, rows: Sequence[Row[Any]]) -> _AllAnswers:
    """All that was said of the items of these rows."""
    all_answers = _AllAnswers(answers={}, corrections={}, decisions={})
    # A database takes a limited number of values in one statement.
    for start in range(0, len(rows), _PIECE):
        piece = rows[start : start + _PIECE]
        assignment_ids = [row.id for row in piece]
        item_ids = {row.item_id for row in piece}

        all_answers.answers.update(answers_of(connection, assignment_ids))
        all_answers.corrections.update(stored_answers(connection, CORRECTED, assignment_ids))
        all_answers.decisions.update(stored_answers(connection, RESOLVED, item_ids))
    return all_answers


def _answered(db: Database, rows: Sequence[Row[Any]], all_answers: _AllAnswers) -> Answered:
    """An item from the rows of its answers."""
    first = rows[0]
    responses = [_annotators_response(db, row, all_answers.answers[row.id]) for row in rows]

    for row in rows:
        correction = all_answers.corrections.get(row.id)
        if correction is not None:
            responses.append(Response("reviewer", correction, role="reviewer"))

    decision = all_answers.decisions.get(first.item_id)
    if decision is not None:
        # Whether a text is flagged is kept with the text, not with the decision.
        decision = replace(decision, identifying=first.flag == "flagged")
        responses.append(Response(ADJUDICATOR, decision, role="adjudicator"))

    # The queue in the id brings the item back to its queue when it is imported.
    name_and_queue = f"{first.item}/{first.queue}" if first.queue else first.item
    return Answered(
        item=name_and_queue,
        text=db.opened(first.text),
        responses=tuple(responses),
        name=first.item,
        queue=first.queue,
    )


def _annotators_response(db: Database, row: Row[Any], answers: Answers) -> Response:
    """What one annotator said, with the comment."""
    comment = db.opened(row.comment) if row.comment else ""
    return Response(
        annotator=row.annotator,
        answers=replace(answers, comment=comment),
        time=iso_time(row.ended),
        seconds=row.seconds,
    )


def annotators_answers(project_id: int, *more_columns: ColumnElement[Any], flagged: bool) -> Select[Any]:
    """The answers to annotated items of a project, with who gave them, and more columns."""
    query = (
        select(
            assignment.c.id,
            item.c.name.label("item"),
            item.c.queue,
            person.c.name.label("annotator"),
            assignment.c.ended,
            assignment.c.seconds,
            *more_columns,
        )
        .select_from(assignment)
        .join(item, item.c.id == assignment.c.item)
        .join(person, person.c.id == assignment.c.person)
        .where(
            assignment.c.project == project_id,
            assignment.c.state == "done",
            assignment.c.kind == "item",
        )
    )
    # The default leaves flagged posts out: whoever forgets to ask does no harm.
    return query if flagged else query.where(~FLAGGED)


def iso_time(seconds: float) -> str:
    """A time in seconds since 1970, as ISO 8601 in UTC."""
    return datetime.fromtimestamp(seconds, UTC).isoformat(timespec="seconds")
