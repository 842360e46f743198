"""What an annotator says of an item: a mark per label, its status, evidence spans, identifying details."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass, field, replace
from typing import Any, Final, Literal

from sqlalchemy import Connection, Table, delete, select

from psycheck.annotate.project import Task
from psycheck.annotate.tables import assignment, judgement, span
from psycheck.core.errors import BadInput, nearest

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


def check_answers(task: Task, queue: str, answers: Answers, text_length: int) -> None:
    """Refuse answers that are incomplete, about other labels, or outside a text of this length."""
    labels = task.labels(queue)
    _refuse_unknown_labels(answers, labels)
    _refuse_missing_marks(answers, labels)

    positive_labels = {label for label, mark in answers.marks.items() if mark}
    # Only symptoms have a status: conditions are present or not.
    labels_with_status = positive_labels if task.project.task == "symptoms" else set()
    _refuse_wrong_status(answers, labels_with_status)
    _refuse_wrong_spans(answers, positive_labels, text_length)


def _refuse_unknown_labels(answers: Answers, labels: Sequence[str]) -> None:
    span_labels = [evidence.label for evidence in answers.spans]
    for label in (*answers.marks, *answers.status, *span_labels):
        if label not in labels:
            raise BadInput(
                "an answer is about a label that this queue does not ask",
                code="answers.unknown-label",
                allowed=nearest(label, labels),
            )


def _refuse_missing_marks(answers: Answers, labels: Sequence[str]) -> None:
    for label in labels:
        if answers.marks.get(label) not in (0, 1):
            raise BadInput(
                f"'{label}' is not answered",
                code="answers.missing-mark",
                allowed="0 or 1 for every label",
            )


def _refuse_wrong_status(answers: Answers, labels_with_status: set[str]) -> None:
    complete = set(answers.status) == labels_with_status
    valid = set(answers.status.values()) <= set(STATUSES)
    if not complete or not valid:
        raise BadInput(
            "the status does not fit the marks",
            code="answers.wrong-status",
            allowed="present or uncertain for each symptom marked 1; none for conditions",
        )


def _refuse_wrong_spans(answers: Answers, positive_labels: set[str], text_length: int) -> None:
    if len(answers.spans) > _MOST_SPANS:
        raise BadInput(
            "there are too many spans",
            code="answers.too-many-spans",
            allowed=f"at most {_MOST_SPANS}",
        )

    for evidence in answers.spans:
        inside = 0 <= evidence.start < evidence.stop <= text_length
        if not inside or evidence.label not in positive_labels:
            raise BadInput(
                f"a span of '{evidence.label}' does not fit",
                code="answers.wrong-span",
                allowed="characters of the text, for a label answered with 1",
            )


def store_answers(connection: Connection, assignment_id: int, answers: Answers) -> None:
    """Store the answers of an assignment that has none."""
    store_marks(connection, judgement, "assignment", assignment_id, answers)
    if answers.spans:
        rows = [{"assignment": assignment_id, **asdict(evidence)} for evidence in answers.spans]
        connection.execute(span.insert(), rows)


def erase_answers(connection: Connection, assignment_id: int) -> None:
    """Remove the answers of an assignment; the trail keeps them."""
    connection.execute(delete(judgement).where(judgement.c.assignment == assignment_id))
    connection.execute(delete(span).where(span.c.assignment == assignment_id))


def store_marks(
    connection: Connection,
    table: Table,
    key: str,
    key_id: int,
    answers: Answers,
) -> None:
    """Write the marks and status of `answers` to a table with one row per label.

    `key` is the table's column that refers to an item or an assignment, `key_id` its value.
    """
    rows = [
        {key: key_id, "label": label, "value": mark, "status": answers.status.get(label)}
        for label, mark in answers.marks.items()
    ]
    connection.execute(table.insert(), rows)


def answers_of(connection: Connection, assignments: Iterable[int]) -> dict[int, Answers]:
    """The answers of assignments that have some, by assignment."""
    assignment_ids = list(assignments)
    marks = marks_of(connection, judgement, "assignment", assignment_ids)

    spans: dict[int, list[Span]] = {}
    rows = connection.execute(select(span).where(span.c.assignment.in_(assignment_ids)).order_by(span.c.id))
    for row in rows:
        evidence = Span(label=row.label, start=row.start, stop=row.stop)
        spans.setdefault(row.assignment, []).append(evidence)

    flagged = set(
        connection.scalars(
            select(assignment.c.id).where(assignment.c.id.in_(assignment_ids), assignment.c.identifying)
        )
    )

    return {
        assignment_id: replace(
            answers,
            spans=tuple(spans.get(assignment_id, ())),
            identifying=assignment_id in flagged,
        )
        for assignment_id, answers in marks.items()
    }


def marks_of(
    connection: Connection,
    table: Table,
    key: str,
    key_ids: Iterable[int],
) -> dict[int, Answers]:
    """Marks and status from a table with one row per label, by what the column `key` refers to."""
    marks: dict[int, dict[str, int]] = {}
    status: dict[int, dict[str, Any]] = {}

    rows = connection.execute(select(table).where(table.c[key].in_(list(key_ids)))).mappings()
    for row in rows:
        key_id = row[key]
        label = row["label"]
        marks.setdefault(key_id, {})[label] = row["value"]
        if row["status"] is not None:
            status.setdefault(key_id, {})[label] = row["status"]

    return {
        key_id: Answers(marks=label_marks, status=status.get(key_id, {}))
        for key_id, label_marks in marks.items()
    }
