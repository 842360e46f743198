"""What somebody says of an item: a mark per label, its status, evidence, identifying details, confidence."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass, field, replace
from typing import Any, Final, Literal

from sqlalchemy import Connection, Table, delete, select

from psycheck.annotate.project import Task
from psycheck.annotate.tables import (
    assignment,
    correction,
    correction_span,
    gold,
    judgement,
    resolution,
    resolution_span,
    span,
)
from psycheck.core.errors import BadInput, nearest

Status = Literal["present", "uncertain"]
STATUSES: Final[tuple[Status, ...]] = ("present", "uncertain")
CONFIDENCES: Final = (1, 2, 3)  # unsure, fairly sure, sure
LONGEST_COMMENT: Final = 1_000  # characters
_MOST_SPANS: Final = 200


@dataclass(frozen=True, slots=True)
class Span:
    """Evidence for a label: the characters from `start` up to `stop` of the text."""

    label: str
    start: int
    stop: int


@dataclass(frozen=True, slots=True)
class Answers:
    """The answers to one item: 1 or 0 per label, the status of each symptom marked 1, spans, a flag.

    `confidence` (1 to 3) and `comment` are optional.
    """

    marks: Mapping[str, int]
    status: Mapping[str, Status] = field(default_factory=dict)
    spans: tuple[Span, ...] = ()
    identifying: bool = False
    confidence: int | None = None
    comment: str = ""

    def as_dict(self) -> dict[str, Any]:
        """The answers as the trail keeps them, without texts: a comment may quote the post."""
        return asdict(replace(self, comment=""))


@dataclass(frozen=True, slots=True)
class Source:
    """Where answers are stored: a row per label, evidence, and the column `key` of both that refers."""

    marks: Table
    spans: Table | None
    key: str


ANNOTATED: Final = Source(marks=judgement, spans=span, key="assignment")
CORRECTED: Final = Source(marks=correction, spans=correction_span, key="assignment")
RESOLVED: Final = Source(marks=resolution, spans=resolution_span, key="item")
KNOWN: Final = Source(marks=gold, spans=None, key="item")


def check_answers(task: Task, queue: str, answers: Answers, text_length: int) -> None:
    """Refuse answers that are incomplete, about other labels, or outside a text of this length."""
    labels = task.labels(queue)
    _refuse_unknown_labels(answers, labels)
    _refuse_missing_marks(answers, labels)

    positive_labels = {label for label, mark in answers.marks.items() if mark}
    # Only symptoms have a status: conditions are present or not.
    labels_with_status = positive_labels if task.project.task == "symptoms" else set()
    _refuse_wrong_status(answers, labels_with_status)
    # Evidence for a label that was answered no would be lost without a word.
    _refuse_wrong_spans(answers, positive_labels, text_length)
    _refuse_wrong_remarks(answers)


def _refuse_unknown_labels(answers: Answers, labels: Sequence[str]) -> None:
    span_labels = [evidence.label for evidence in answers.spans]
    # Forms can be forged, and imported files come from other projects.
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
    # Exactly these: a status of an unmarked symptom would count in no figure.
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
        # Empty spans would be evidence of nothing, and break the merging by characters.
        inside = 0 <= evidence.start < evidence.stop <= text_length
        if not inside or evidence.label not in positive_labels:
            raise BadInput(
                f"words marked for '{evidence.label}', answered no, or outside the text",
                code="answers.wrong-span",
                allowed="characters of the text, for a label answered with 1",
                do="answer yes, or remove the marked words",
            )


def _refuse_wrong_remarks(answers: Answers) -> None:
    if answers.confidence not in (None, *CONFIDENCES):
        raise BadInput(
            "there is no such confidence",
            code="answers.wrong-confidence",
            allowed=", ".join(map(str, CONFIDENCES)),
        )
    # PostgreSQL cannot store a NUL.
    if len(answers.comment) > LONGEST_COMMENT or "\x00" in answers.comment:
        raise BadInput(
            "this comment cannot be stored",
            code="answers.wrong-comment",
            allowed=f"at most {LONGEST_COMMENT:,} characters, without NUL",
        )


def store_answers(connection: Connection, source: Source, key_id: int, answers: Answers) -> None:
    """Store marks, status and spans of an assignment or item that has none there."""
    key = source.key
    mark_rows = [
        {key: key_id, "label": label, "value": mark, "status": answers.status.get(label)}
        for label, mark in answers.marks.items()
    ]
    connection.execute(source.marks.insert(), mark_rows)

    # An INSERT without rows would insert one of defaults.
    if source.spans is not None and answers.spans:
        span_rows = [{key: key_id, **asdict(evidence)} for evidence in answers.spans]
        connection.execute(source.spans.insert(), span_rows)


def erase_answers(connection: Connection, source: Source, key_ids: Sequence[int]) -> None:
    """Remove the answers of assignments or items; the trail keeps them."""
    for table in (source.marks, source.spans):
        if table is not None:
            connection.execute(delete(table).where(table.c[source.key].in_(key_ids)))


def answers_of(connection: Connection, assignments: Iterable[int]) -> dict[int, Answers]:
    """The answers of assignments that have some, by assignment, with the flag and the confidence.

    A comment is encrypted: whoever shows it opens it (`assignment.comment`).
    """
    assignment_ids = list(assignments)
    answers = stored_answers(connection, ANNOTATED, assignment_ids)
    rows = connection.execute(
        select(assignment.c.id, assignment.c.identifying, assignment.c.confidence).where(
            assignment.c.id.in_(assignment_ids)
        )
    )
    for row in rows:
        if row.id in answers:
            answers[row.id] = replace(
                answers[row.id],
                identifying=bool(row.identifying),
                confidence=row.confidence,
            )
    return answers


def stored_answers(connection: Connection, source: Source, key_ids: Iterable[int]) -> dict[int, Answers]:
    """Marks, status and spans, by the assignment or item that they are about."""
    ids = list(key_ids)
    marks: dict[int, dict[str, int]] = {}
    status: dict[int, dict[str, Any]] = {}
    mark_rows = connection.execute(select(source.marks).where(source.marks.c[source.key].in_(ids))).mappings()
    for row in mark_rows:
        key_id = row[source.key]
        label = row["label"]
        marks.setdefault(key_id, {})[label] = row["value"]
        # A missing key, not a None: projects without a status have an empty mapping.
        if row["status"] is not None:
            status.setdefault(key_id, {})[label] = row["status"]

    spans = _stored_spans(connection, source, ids)
    return {
        key_id: Answers(
            marks=label_marks,
            status=status.get(key_id, {}),
            spans=tuple(spans.get(key_id, ())),
        )
        for key_id, label_marks in marks.items()
    }


def _stored_spans(connection: Connection, source: Source, ids: Sequence[int]) -> dict[int, list[Span]]:
    """The spans by the assignment or item that they are about."""
    spans: dict[int, list[Span]] = {}
    table = source.spans
    # Gold items have labels only: what must be marked in them, nobody said.
    if table is None:
        return spans

    rows = connection.execute(select(table).where(table.c[source.key].in_(ids)).order_by(table.c.id))
    for row in rows.mappings():
        evidence = Span(label=row["label"], start=row["start"], stop=row["stop"])
        spans.setdefault(row[source.key], []).append(evidence)
    return spans
