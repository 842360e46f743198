"""Labels out of a project: the judgement table, evidence, merged corpora, and the full trail."""

import json
import math
from collections.abc import Callable, Iterator
from dataclasses import asdict, replace
from datetime import UTC, datetime
from itertools import groupby
from pathlib import Path
from typing import Any, Final, Literal

import polars as pl
from sqlalchemy import ColumnElement, Select, select

from psycheck.annotate.annotator_agreement import Agreed, between, by_day, by_label, in_queues, pace
from psycheck.annotate.annotator_answers import Answers, answers_of
from psycheck.annotate.argilla import to_argilla
from psycheck.annotate.database import Database
from psycheck.annotate.exchanged_records import Answered, Response
from psycheck.annotate.label_studio import to_label_studio
from psycheck.annotate.membership import Person, check_owner
from psycheck.annotate.tables import assignment, event, item, judgement, person, project, resolution, span
from psycheck.core.corpus import GROUP, Corpus
from psycheck.core.errors import BadInput, nearest
from psycheck.corpora.judgements import MERGES, Merge, with_judgements
from psycheck.corpora.writing import write_corpus
from psycheck.io.writing import writing, written
from psycheck.statistics.rater_agreement import Agreement

Export = Literal["judgements", "agreement", "trail", "evidence", "label-studio", "argilla"] | Merge
EXPORTS: Final[tuple[Export, ...]] = (
    "judgements",
    "agreement",
    "trail",
    "evidence",
    "label-studio",
    "argilla",
    *MERGES,
)
# Exports that are one JSON array, with the texts; all others are JSON lines.
_ARRAYS: Final = ("label-studio", "argilla")
_PIECE: Final = 500  # answers that are read at once
_COLUMNS: Final[dict[str, Any]] = {
    "item": pl.String,
    "annotator": pl.String,
    "label": pl.String,
    "value": pl.Int64,
    "status": pl.String,
    "time": pl.String,
    "seconds": pl.Float64,
    "queue": pl.String,
}


def judgements(db: Database, who: Person | None, project_id: int) -> pl.DataFrame:
    """What annotators said of the items, in long form, without gold, tests and void answers; for the owner.

    Columns: `item`, `annotator`, `label`, `value` (0 or 1), `status`, `time`, `seconds`, and `queue`.
    """
    with db.read() as connection:
        check_owner(connection, who, project_id)
        rows = connection.execute(
            _answers(project_id, judgement.c.label, judgement.c.value, judgement.c.status)
            .join(judgement, judgement.c.assignment == assignment.c.id)
            .order_by(item.c.queue, item.c.id, assignment.c.id, judgement.c.label)
        )
        # By place, not by name: there are millions of rows in a large project.
        records = [
            (name, annotator, label, value, status, _iso(ended), seconds, queue)
            for _, name, queue, annotator, ended, seconds, label, value, status in rows
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
            (name, "adjudicator", label, value, status, None, None, queue)
            for name, label, value, status, queue in rows
        ]
    return pl.DataFrame(records, schema=_COLUMNS, orient="row")


def evidence(db: Database, who: Person | None, project_id: int) -> Iterator[dict[str, Any]]:
    """The evidence spans and the flag for identifying details, one record per answer that has any."""
    with db.read() as connection:
        check_owner(connection, who, project_id)
        rows = connection.execute(
            _answers(project_id, assignment.c.identifying, span.c.label, span.c.start, span.c.stop)
            .outerjoin(span, span.c.assignment == assignment.c.id)
            .where(assignment.c.identifying | span.c.id.is_not(None))
            .order_by(assignment.c.id, span.c.id)
        )
        records: dict[int, dict[str, Any]] = {}
        for row in rows:
            if row.id not in records:
                records[row.id] = {
                    "item": row.item,
                    "queue": row.queue,
                    "annotator": row.annotator,
                    "spans": [],
                    "identifying": bool(row.identifying),
                }
            # An answer that is only flagged has no span.
            if row.label is not None:
                marked = {"label": row.label, "start": row.start, "stop": row.stop}
                records[row.id]["spans"].append(marked)
    yield from records.values()


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
    name = _project_name(db, who, project_id)
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


def answered_items(db: Database, who: Person | None, project_id: int) -> Iterator[Answered]:
    """The items that have answers, each with all of them and its text; for the owner."""
    with db.read() as connection:
        check_owner(connection, who, project_id)
        query = _answers(project_id, item.c.id.label("item_id"), item.c.text)
        rows = connection.execute(query.order_by(item.c.queue, item.c.id, assignment.c.id)).all()

        answers: dict[int, Answers] = {}
        for start in range(0, len(rows), _PIECE):
            piece = rows[start : start + _PIECE]
            answers |= answers_of(connection, [row.id for row in piece])

    for _, item_rows in groupby(rows, key=lambda row: row.item_id):
        rows_of_item = list(item_rows)
        first = rows_of_item[0]
        responses = tuple(
            Response(
                annotator=row.annotator,
                answers=answers[row.id],
                time=_iso(row.ended),
                seconds=row.seconds,
            )
            for row in rows_of_item
        )
        # The queue in the name brings the item back to its queue when it is imported.
        name = f"{first.item}/{first.queue}" if first.queue else first.item
        yield Answered(item=name, text=db.opened(first.text), responses=responses)


def agreed(db: Database, who: Person | None, project_id: int) -> Iterator[dict[str, Any]]:
    """The agreement by label, by day and of every two annotators, and how long each takes."""
    table = in_queues(judgements(db, who, project_id))
    for agreement in by_label(table):
        yield {"of": "label", **_agreement_record(agreement)}
    for day, agreement in by_day(table):
        yield {"of": "day", "day": day, **_agreement_record(agreement)}
    for pair in between(table):
        yield {"of": "pair", "first": pair.first, "second": pair.second, "kappa": _figure(pair.kappa)}
    for annotator_pace in pace(table):
        yield {"of": "annotator", **asdict(annotator_pace)}


def merged(db: Database, who: Person | None, project_id: int, how: Merge) -> Corpus:
    """The items that have answers as a corpus, with one merged value per label; for the owner."""
    table = judgements(db, who, project_id)
    items = items_of(db, who, project_id)
    judged_ids = set(table["item"])
    judged_items = items.only([item_id in judged_ids for item_id in items.ids])

    corpus = with_judgements(judged_items, table, how, resolutions(db, who, project_id))
    return replace(corpus, name=f"{items.name}-{how}")


def exported(db: Database, who: Person | None, project_id: int, what: str) -> tuple[str, bytes]:
    """A file to download: its name, made of the project's, and its content (JSON lines)."""
    name = _project_name(db, who, project_id)
    extension = "json" if what in _ARRAYS else "jsonl"
    content = "".join(_content(db, who, project_id, what))
    return f"{name}-{what}.{extension}", content.encode("utf-8")


def write_export(db: Database, project_id: int, what: str, path: Path) -> int:
    """Write an export, a corpus or a judgement table by the file's extension; returns the number of rows."""
    if what in MERGES:
        corpus = merged(db, None, project_id, what)
        write_corpus(corpus, path)
        return len(corpus)

    if what not in EXPORTS:
        raise BadInput(
            f"unknown export '{what}'",
            code="export.unknown",
            allowed=nearest(what, EXPORTS),
            key="what",
        )
    extensions = _extensions(what)
    if path.suffix not in extensions:
        raise BadInput(
            f"cannot write this to '{path.suffix}' files",
            code="export.unknown-extension",
            where=str(path),
            allowed=", ".join(extensions),
        )

    with writing(path), written(path) as part:
        if path.suffix in (".csv", ".parquet"):
            return _write_table(judgements(db, None, project_id), part, path.suffix)
        return _write_json(_content(db, None, project_id, what), part)


def _extensions(what: str) -> tuple[str, ...]:
    """The files that an export can be written to."""
    if what == "judgements":
        return (".csv", ".jsonl", ".parquet")
    if what in _ARRAYS:
        return (".json",)
    return (".jsonl",)


def _write_table(table: pl.DataFrame, path: Path, extension: str) -> int:
    if extension == ".csv":
        table.write_csv(path)
    else:
        table.write_parquet(path)
    return table.height


def _write_json(pieces: Iterator[str], path: Path) -> int:
    """Write pieces of JSON, and return how many of them are records."""
    records = 0
    with path.open("w", encoding="utf-8") as file:
        for piece in pieces:
            file.write(piece)
            if piece.startswith("{"):
                records += 1
    return records


def _content(db: Database, who: Person | None, project_id: int, what: str) -> Iterator[str]:
    """The records as JSON, each a piece by itself: one per line, or all in one array."""
    if what in _ARRAYS:
        yield "["
        separator = ""
        for record in _records(db, who, project_id, what):
            yield separator
            yield json.dumps(record, ensure_ascii=False)
            separator = ",\n"
        yield "]\n"
        return

    for record in _records(db, who, project_id, what):
        yield json.dumps(record, ensure_ascii=False)
        yield "\n"


def _records(db: Database, who: Person | None, project_id: int, what: str) -> Iterator[dict[str, Any]]:
    if what in MERGES:
        return merged(db, who, project_id, what).table.iter_rows(named=True)
    if what not in _RECORDS:
        raise BadInput("there is no such export", code="export.unknown", allowed=nearest(what, EXPORTS))
    return _RECORDS[what](db, who, project_id)


# How the records of each export that is not a merged corpus are made.
_RECORDS: Final[dict[str, Callable[[Database, Person | None, int], Iterator[dict[str, Any]]]]] = {
    "trail": trail,
    "evidence": evidence,
    "agreement": agreed,
    "judgements": lambda db, who, project_id: judgements(db, who, project_id).iter_rows(named=True),
    "label-studio": lambda db, who, project_id: to_label_studio(answered_items(db, who, project_id)),
    "argilla": lambda db, who, project_id: to_argilla(answered_items(db, who, project_id)),
}


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


def _project_name(db: Database, who: Person | None, project_id: int) -> str:
    """The name of a project, for its owner."""
    with db.read() as connection:
        check_owner(connection, who, project_id)
        name: str = connection.execute(select(project.c.name).where(project.c.id == project_id)).scalar_one()
    return name


def _answers(project_id: int, *more_columns: ColumnElement[Any]) -> Select[Any]:
    """The answers to annotated items of a project, with who gave them, and more columns."""
    return (
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


def _iso(seconds: float) -> str:
    return datetime.fromtimestamp(seconds, UTC).isoformat(timespec="seconds")
