"""What an annotator says of an item: a mark per label, its status, evidence spans, identifying details."""

from collections.abc import Iterable, Mapping
from dataclasses import asdict, dataclass, field
from typing import Any, Final, Literal

from sqlalchemy import Connection, Table, delete, select

from psycheck.annotate.project import Task
from psycheck.annotate.tables import assignment, judgement, span
from psycheck.errors import BadInput, nearest

Status = Literal["present", "uncertain"]
STATUSES: Final[tuple[Status, ...]] = ("present", "uncertain")
_MOST_SPANS: Final = 200


@dataclass(frozen=True, slots=True)
class Span:
    """Evidence for a label: the characters from `start` up to `stop` of the text."""

    label: str
    start: int
    stop: int


@dataclass(frozen=True, slots=True)
class Answers:
    """The answers to one item: 1 or 0 per label, the status of each symptom marked 1, spans, a flag."""

    marks: Mapping[str, int]
    status: Mapping[str, Status] = field(default_factory=dict)
    spans: tuple[Span, ...] = ()
    identifying: bool = False

    def as_dict(self) -> dict[str, Any]:
        """The answers as the trail keeps them, without texts."""
        return asdict(self)


def check_answers(task: Task, queue: str, answers: Answers, length: int) -> None:
    """Refuse answers that are incomplete, about other labels, or outside a text of this length."""
    labels = task.labels(queue)
    for label in (*answers.marks, *answers.status, *(one.label for one in answers.spans)):
        if label not in labels:
            raise BadInput(
                "an answer is about a label that this queue does not ask", allowed=nearest(label, labels)
            )
    if missing := [label for label in labels if answers.marks.get(label) not in (0, 1)]:
        raise BadInput(f"'{missing[0]}' is not answered", allowed="0 or 1 for every label")
    yes = {label for label, mark in answers.marks.items() if mark}
    expected = yes if task.project.task == "symptoms" else set()
    if set(answers.status) != expected or not set(answers.status.values()) <= set(STATUSES):
        allowed = "present or uncertain for each symptom marked 1; none for conditions"
        raise BadInput("the status does not fit the marks", allowed=allowed)
    if len(answers.spans) > _MOST_SPANS:
        raise BadInput("there are too many spans", allowed=f"at most {_MOST_SPANS}")
    for one in answers.spans:
        if not 0 <= one.start < one.stop <= length or one.label not in yes:
            allowed = "characters of the text, for a label answered with 1"
            raise BadInput(f"a span of '{one.label}' does not fit", allowed=allowed)


def store_answers(connection: Connection, of: int, answers: Answers) -> None:
    """Store the answers of an assignment that has none."""
    store_marks(connection, judgement, "assignment", of, answers)
    if answers.spans:
        connection.execute(span.insert(), [{"assignment": of, **asdict(one)} for one in answers.spans])


def erase_answers(connection: Connection, of: int) -> None:
    """Remove the answers of an assignment; the trail keeps them."""
    connection.execute(delete(judgement).where(judgement.c.assignment == of))
    connection.execute(delete(span).where(span.c.assignment == of))


def store_marks(connection: Connection, table: Table, key: str, of: int, answers: Answers) -> None:
    """Write the marks and status of `answers` to a table with one row per label."""
    rows = [
        {key: of, "label": label, "value": mark, "status": answers.status.get(label)}
        for label, mark in answers.marks.items()
    ]
    connection.execute(table.insert(), rows)


def answers_of(connection: Connection, assignments: Iterable[int]) -> dict[int, Answers]:
    """The answers of assignments that have some."""
    ids = list(assignments)
    found = marks_of(connection, judgement, "assignment", ids)
    spans: dict[int, list[Span]] = {}
    for row in connection.execute(select(span).where(span.c.assignment.in_(ids)).order_by(span.c.id)):
        spans.setdefault(row.assignment, []).append(Span(row.label, row.start, row.stop))
    flagged = select(assignment.c.id).where(assignment.c.id.in_(ids), assignment.c.identifying)
    flags = set(connection.scalars(flagged))
    return {
        one: Answers(marks.marks, marks.status, tuple(spans.get(one, ())), one in flags)
        for one, marks in found.items()
    }


def marks_of(connection: Connection, table: Table, key: str, of: Iterable[int]) -> dict[int, Answers]:
    """Marks and status from a table with one row per label, by what `key` refers to."""
    values: dict[int, tuple[dict[str, int], dict[str, Any]]] = {}
    for row in connection.execute(select(table).where(table.c[key].in_(list(of)))).mappings():
        marks, status = values.setdefault(row[key], ({}, {}))
        marks[row["label"]] = row["value"]
        if row["status"] is not None:
            status[row["label"]] = row["status"]
    return {one: Answers(marks, status) for one, (marks, status) in values.items()}
