"""Labels out of a project: the judgement table, evidence, merged corpora, and the full trail.

Posts that are flagged for identifying details are left out of everything that names or quotes them, unless
the caller asks for them (`flagged`).
"""

import json
import math
from collections.abc import Iterator
from dataclasses import asdict, replace
from datetime import UTC, datetime
from itertools import groupby
from typing import Any, Final

import polars as pl
from sqlalchemy import ColumnElement, Select, select

from psycheck.annotate.annotator_agreement import (
    Agreed,
    between,
    by_day,
    by_label,
    by_version,
    in_queues,
    pace,
)
from psycheck.annotate.annotator_answers import CORRECTED, RESOLVED, Answers, Span, answers_of, stored_answers
from psycheck.annotate.database import Database
from psycheck.annotate.evidence_agreement import MarkedText, evidence_agreement, merged_spans
from psycheck.annotate.exchanged_records import Answered, Response
from psycheck.annotate.flagged import FLAGGED
from psycheck.annotate.membership import Person, check_owner
from psycheck.annotate.tables import assignment, event, item, judgement, person, project, resolution
from psycheck.core.corpus import GROUP, Corpus
from psycheck.corpora.judgements import Merge, with_judgements
from psycheck.statistics.rater_agreement import Agreement

_PIECE: Final = 500  # answers that are read at once
_ADJUDICATOR: Final = "adjudicator"
_COLUMNS: Final[dict[str, Any]] = {
    "item": pl.String,
    "annotator": pl.String,
    "label": pl.String,
    "value": pl.Int64,
    "status": pl.String,
    "time": pl.String,
    "seconds": pl.Float64,
    "queue": pl.String,
    "version": pl.Int64,
    "confidence": pl.Int64,
}


def judgements(
    db: Database,
    who: Person | None,
    project_id: int,
    *,
    flagged: bool = False,
) -> pl.DataFrame:
    """What annotators said of the items, in long form, without gold, tests and void answers; for the owner.

    Columns: `item`, `annotator`, `label`, `value` (0 or 1), `status`, `time`, `seconds`, `queue`, `version`
    (of the project) and `confidence`.
    """
    columns = (
        judgement.c.label,
        judgement.c.value,
        judgement.c.status,
        assignment.c.version,
        assignment.c.confidence,
    )
    with db.read() as connection:
        check_owner(connection, who, project_id)
        rows = connection.execute(
            _answers(project_id, *columns, flagged=flagged)
            .join(judgement, judgement.c.assignment == assignment.c.id)
            .order_by(item.c.queue, item.c.id, assignment.c.id, judgement.c.label)
        )
        # By place, not by name: there are millions of rows in a large project.
        records = [
            (name, annotator, label, value, status, _iso(ended), seconds, queue, version, confidence)
            for _, name, queue, annotator, ended, seconds, label, value, status, version, confidence in rows
        ]
    return pl.DataFrame(records, schema=_COLUMNS, orient="row")


def resolutions(db: Database, who: Person | None, project_id: int) -> pl.DataFrame:
    """What adjudicators said of the items in conflict, with the columns of `judgements`; for the owner."""
    with db.read() as connection:
        check_owner(connection, who, project_id)
        rows = connection.execute(
            select(item.c.name, resolution.c.label, resolution.c.value, resolution.c.status, item.c.queue)
            .join(item, item.c.id == resolution.c.item)
            .where(item.c.project == project_id)
            .order_by(item.c.queue, item.c.id, resolution.c.label)
        )
        records = [
            (name, _ADJUDICATOR, label, value, status, None, None, queue, None, None)
            for name, label, value, status, queue in rows
        ]
    return pl.DataFrame(records, schema=_COLUMNS, orient="row")


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
    has_any = answers.spans or answers.identifying or answers.comment or answers.confidence
    if not has_any:
        return None
    return {
        "item": answered.name,
        "queue": answered.queue,
        "annotator": response.annotator,
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
    resolved = answered.answers_by(_ADJUDICATOR)
    sources = resolved or answered.answers_by("annotator")
    labels = sorted({span.label for answers in sources for span in answers.spans})
    for label in labels:
        spans = merged_spans(len(answered.text), label, sources)
        if spans:
            yield label, spans, _ADJUDICATOR if resolved else "majority"


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


def trail(db: Database, who: Person | None, project_id: int) -> Iterator[dict[str, Any]]:
    """Every event of a project in order; answers with their spans and flags, but no texts."""
    with db.read() as connection:
        check_owner(connection, who, project_id)
        rows = connection.execution_options(yield_per=2_000).execute(
            select(event, person.c.name.label("who"), item.c.name.label("item_name"), item.c.queue)
            .outerjoin(person, person.c.id == event.c.person)
            .outerjoin(item, item.c.id == event.c.item)
            .where(event.c.project == project_id)
            .order_by(event.c.id)
        )
        for row in rows:
            yield {
                "event": row.id,
                "time": _iso(row.time),
                "what": row.what,
                "person": row.who,
                "item": row.item_name,
                "queue": row.queue,
                "assignment": row.assignment,
                **json.loads(row.detail),
            }


def items_of(db: Database, who: Person | None, project_id: int, queue: str | None = None) -> Corpus:
    """The items of a project as a corpus, as they were imported, with the group `queue`; for the owner.

    An item that is in several queues occurs once.
    """
    name = project_name(db, who, project_id)
    query = select(item).where(item.c.project == project_id, item.c.kind == "item")
    if queue is not None:
        query = query.where(item.c.queue == queue)
    with db.read() as connection:
        all_rows = connection.execute(query.order_by(item.c.id)).all()

    row_of_item: dict[str, Any] = {}
    for row in all_rows:
        row_of_item.setdefault(row.name, row)
    rows = list(row_of_item.values())

    about = [json.loads(db.opened(row.about)) for row in rows]
    columns = _columns_about(about)
    return Corpus.of(
        name,
        [db.opened(row.text) for row in rows],
        ids=list(row_of_item),
        groups={key.removeprefix(GROUP): columns[key] for key in columns if key.startswith(GROUP)},
        author=columns.get("author"),
        time=columns.get("time"),
        split=columns.get("split"),
    )


def _columns_about(about: list[dict[str, str]]) -> dict[str, list[str | None]]:
    """The columns of what is stored about each item; a column that no item has is left out."""
    keys: set[str] = set()
    for about_item in about:
        keys.update(about_item)
    return {key: [about_item.get(key) for about_item in about] for key in sorted(keys)}


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
    with db.read() as connection:
        check_owner(connection, who, project_id)
        columns = (item.c.id.label("item_id"), item.c.text, item.c.flag, assignment.c.comment)
        query = _answers(project_id, *columns, flagged=flagged)
        if item_id is not None:
            query = query.where(item.c.id == item_id)
        rows = connection.execute(query.order_by(item.c.queue, item.c.id, assignment.c.id)).all()

        answers: dict[int, Answers] = {}
        corrections: dict[int, Answers] = {}
        decisions: dict[int, Answers] = {}
        for start in range(0, len(rows), _PIECE):
            piece = rows[start : start + _PIECE]
            assignment_ids = [row.id for row in piece]
            answers |= answers_of(connection, assignment_ids)
            corrections |= stored_answers(connection, CORRECTED, assignment_ids)
            decisions |= stored_answers(connection, RESOLVED, {row.item_id for row in piece})

    for number, item_rows in groupby(rows, key=lambda row: row.item_id):
        rows_of_item = list(item_rows)
        first = rows_of_item[0]
        responses = []
        for row in rows_of_item:
            given = replace(answers[row.id], comment=db.opened(row.comment) if row.comment else "")
            responses.append(Response(row.annotator, given, _iso(row.ended), row.seconds))

        reviewed = [corrections[row.id] for row in rows_of_item if row.id in corrections]
        responses += [Response("reviewer", correction, role="reviewer") for correction in reviewed]
        if number in decisions:
            decision = replace(decisions[number], identifying=first.flag == "flagged")
            responses.append(Response(_ADJUDICATOR, decision, role="adjudicator"))

        # The queue in the id brings the item back to its queue when it is imported.
        id_ = f"{first.item}/{first.queue}" if first.queue else first.item
        yield Answered(
            item=id_,
            text=db.opened(first.text),
            responses=tuple(responses),
            name=first.item,
            queue=first.queue,
        )


def agreed(db: Database, who: Person | None, project_id: int) -> Iterator[dict[str, Any]]:
    """The agreement by label, evidence, day, version and pair of annotators, and how long each takes.

    Flagged posts count: no figure quotes them.
    """
    table = in_queues(judgements(db, who, project_id, flagged=True))
    for agreement in by_label(table):
        yield {"of": "label", **_agreement_record(agreement)}
    for on_evidence in evidence_agreement(marked_texts(db, who, project_id)):
        yield {
            "of": "evidence",
            "label": on_evidence.label,
            "f1": _figure(on_evidence.f1),
            "alpha": _figure(on_evidence.alpha),
        }
    for day, agreement in by_day(table):
        yield {"of": "day", "day": day, **_agreement_record(agreement)}
    for version, agreement in by_version(table):
        yield {"of": "version", "version": version, **_agreement_record(agreement)}
    for pair in between(table):
        yield {"of": "pair", "first": pair.first, "second": pair.second, "kappa": _figure(pair.kappa)}
    for annotator_pace in pace(table):
        yield {"of": "annotator", **asdict(annotator_pace)}


def marked_texts(db: Database, who: Person | None, project_id: int) -> Iterator[MarkedText]:
    """Each text with what its annotators said, for the agreement on evidence."""
    for answered in answered_items(db, who, project_id, flagged=True):
        yield MarkedText(length=len(answered.text), answers=answered.answers_by("annotator"))


def merged(
    db: Database,
    who: Person | None,
    project_id: int,
    how: Merge,
    *,
    flagged: bool = False,
) -> Corpus:
    """The items that have answers as a corpus, with one merged value per label; for the owner."""
    table = judgements(db, who, project_id, flagged=flagged)
    items = items_of(db, who, project_id)
    judged_ids = set(table["item"])
    judged_items = items.only([item_id in judged_ids for item_id in items.ids])

    decisions = resolutions(db, who, project_id)
    decisions = decisions.filter(pl.col("item").is_in(judged_ids))
    corpus = with_judgements(judged_items, table, how, decisions)
    return replace(corpus, name=f"{items.name}-{how}")


def _agreement_record(agreement: Agreed) -> dict[str, Any]:
    return {
        "label": agreement.label,
        "alpha": _figure(agreement.alpha),
        "fleiss_kappa": _figure(agreement.fleiss),
        "agreement": _figure(agreement.percent),
        "share": agreement.share,
        "annotators": agreement.annotators,
    }


def _figure(agreement: Agreement) -> dict[str, Any]:
    """A figure with its interval for JSON."""
    low, high = agreement.interval
    return {
        "value": _or_null(agreement.value),
        "low": _or_null(low),
        "high": _or_null(high),
        "n": agreement.n,
    }


def _or_null(value: float) -> float | None:
    """A number for JSON, which has no NaN."""
    return None if math.isnan(value) else value


def project_name(db: Database, who: Person | None, project_id: int) -> str:
    """The name of a project, for its owner."""
    with db.read() as connection:
        check_owner(connection, who, project_id)
        name: str = connection.execute(select(project.c.name).where(project.c.id == project_id)).scalar_one()
    return name


def _answers(project_id: int, *more_columns: ColumnElement[Any], flagged: bool) -> Select[Any]:
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
    return query if flagged else query.where(~FLAGGED)


def _iso(seconds: float) -> str:
    return datetime.fromtimestamp(seconds, UTC).isoformat(timespec="seconds")
