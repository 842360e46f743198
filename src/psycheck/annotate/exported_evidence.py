"""Evidence and flags out of a project: what each person marked, and what of it stands."""

from collections.abc import Iterator
from dataclasses import asdict
from typing import Any

from sqlalchemy import select

from psycheck.annotate.annotator_answers import Span
from psycheck.annotate.answered_items import ADJUDICATOR, answered_items
from psycheck.annotate.database import Database
from psycheck.annotate.evidence_agreement import merged_spans
from psycheck.annotate.exchanged_records import Answered, Response
from psycheck.annotate.flagged import FLAGGED
from psycheck.annotate.membership import Person, check_owner
from psycheck.annotate.tables import assignment, item, person


def evidence(
    db: Database,
    who: Person | None,
    project_id: int,
    *,
    flagged: bool = False,
) -> Iterator[dict[str, Any]]:
    """Spans, flags, confidence and comments, one record per answer that has any; for the owner.

    What adjudicators and reviewers marked comes under these names.
    """
    for answered in answered_items(db, who, project_id, flagged=flagged):
        for response in answered.responses:
            record = _evidence_record(answered, response)
            if record is not None:
                yield record


def _evidence_record(answered: Answered, response: Response) -> dict[str, Any] | None:
    """What an answer has besides labels; None if it has nothing."""
    answers = response.answers
    # Most answers are labels alone: a record for each would bury those with evidence.
    has_any = answers.spans or answers.identifying or answers.comment or answers.confidence
    if not has_any:
        return None
    return {
        "item": answered.name,
        "queue": answered.queue,
        "annotator": response.annotator,
        # Offsets and no words: whoever has the texts can cut them out.
        "spans": [asdict(span) for span in answers.spans],
        "identifying": answers.identifying,
        "confidence": answers.confidence,
        "comment": answers.comment,
    }


def gold_evidence(
    db: Database,
    who: Person | None,
    project_id: int,
    *,
    flagged: bool = False,
) -> Iterator[dict[str, Any]]:
    """The evidence that stands, one record per text and label: the adjudicator's, else the majority's.

    The majority are at least half of the annotators who answered yes, character by character.
    """
    for answered in answered_items(db, who, project_id, flagged=flagged):
        for label, spans, source in standing_spans(answered):
            yield {
                "item": answered.name,
                "queue": answered.queue,
                "label": label,
                "spans": [{"start": span.start, "stop": span.stop} for span in spans],
                "by": source,
            }


def standing_spans(answered: Answered) -> Iterator[tuple[str, list[Span], str]]:
    """The spans of an item that stand, by label, and whether the adjudicator or the majority marked them."""
    # The adjudicator saw what everybody marked, so nobody else is asked any more.
    resolved = answered.answers_by(ADJUDICATOR)
    sources = resolved or answered.answers_by("annotator")
    # Sorted, so that the same answers give the same file.
    labels = sorted({span.label for answers in sources for span in answers.spans})
    for label in labels:
        spans = merged_spans(len(answered.text), label, sources)
        if spans:
            yield label, spans, ADJUDICATOR if resolved else "majority"


def flagged_items(db: Database, who: Person | None, project_id: int) -> Iterator[dict[str, Any]]:
    """The posts that count as holding identifying details, without their texts; for the owner."""
    with db.read() as connection:
        check_owner(connection, who, project_id)
        flagging = (
            select(assignment.c.item, person.c.name)
            .join(person, person.c.id == assignment.c.person)
            .where(assignment.c.project == project_id, assignment.c.state == "done", assignment.c.identifying)
            .order_by(person.c.name)
        )
        # In one query for all texts: a query per text would take long where many are flagged.
        names: dict[int, list[str]] = {}
        for item_id, name in connection.execute(flagging):
            names.setdefault(item_id, []).append(name)

        rows = connection.execute(
            select(item.c.id, item.c.name, item.c.queue, item.c.flag)
            .where(item.c.project == project_id, FLAGGED)
            .order_by(item.c.id)
        ).all()
    for row in rows:
        yield {
            "number": row.id,
            "item": row.name,
            "queue": row.queue,
            "flagged_by": names.get(row.id, []),
            "decided": row.flag == "flagged",
        }
