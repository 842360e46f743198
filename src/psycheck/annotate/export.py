"""Labels out of a project: the judgement table, evidence, merged corpora, and the full trail."""

import json
import math
from collections.abc import Iterator
from dataclasses import asdict, replace
from datetime import UTC, datetime
from itertools import groupby
from pathlib import Path
from typing import Any, Final, Literal

import polars as pl
from sqlalchemy import ColumnElement, Select, select

from psycheck.annotate.agreement import Agreed, between, by_day, by_label, in_queues, pace
from psycheck.annotate.answers import Answers, answers_of
from psycheck.annotate.database import Database
from psycheck.annotate.formats import Answered, Said, to_argilla, to_label_studio
from psycheck.annotate.membership import Person, check_owner
from psycheck.annotate.tables import assignment, event, item, judgement, person, project, resolution, span
from psycheck.corpora.judgements import MERGES, Merge, with_judgements
from psycheck.corpora.write import write_corpus
from psycheck.corpus import GROUP, PLAIN, Corpus
from psycheck.errors import BadInput, nearest
from psycheck.files.write import writing, written
from psycheck.measures.raters import Agreement

Export = Literal["judgements", "agreement", "trail", "evidence", "label-studio", "argilla"] | Merge
EXPORTS: Final[tuple[Export, ...]] = (
    *("judgements", "agreement", "trail", "evidence", "label-studio", "argilla"),
    *MERGES,
)
_ARRAYS: Final = {"label-studio": to_label_studio, "argilla": to_argilla}  # one JSON array, with the texts


def judgements(db: Database, who: Person | None, of: int) -> pl.DataFrame:
    """What annotators said of the items, in long form, without gold, tests and void answers; for the owner.

    Columns: `item`, `annotator`, `label`, `value` (0 or 1), `status`, `time`, `seconds`, and `queue`.
    """
    with db.read() as connection:
        check_owner(connection, who, of)
        rows = connection.execute(
            _answers(of, judgement.c.label, judgement.c.value, judgement.c.status)
            .join(judgement, judgement.c.assignment == assignment.c.id)
            .order_by(item.c.queue, item.c.id, assignment.c.id, judgement.c.label)
        )
        return _long(
            [(name, who_, label, value, status, _iso(ended), seconds, queue)
             for _, name, queue, who_, ended, seconds, label, value, status in rows]
        )  # fmt: skip


def resolutions(db: Database, who: Person | None, of: int) -> pl.DataFrame:
    """What adjudicators said of the items in conflict, with the columns of `judgements`; for the owner."""
    with db.read() as connection:
        check_owner(connection, who, of)
        rows = connection.execute(
            select(item.c.name, resolution.c.label, resolution.c.value, resolution.c.status, item.c.queue)
            .join(item, item.c.id == resolution.c.item)
            .where(item.c.project == of)
            .order_by(item.c.queue, item.c.id, resolution.c.label)
        )
        return _long(
            [(name, "adjudicator", label, value, status, None, None, queue)
             for name, label, value, status, queue in rows]
        )  # fmt: skip


def evidence(db: Database, who: Person | None, of: int) -> Iterator[dict[str, Any]]:
    """The evidence spans and the flag for identifying details, one record per answer that has any."""
    with db.read() as connection:
        check_owner(connection, who, of)
        rows = connection.execute(
            _answers(of, assignment.c.identifying, span.c.label, span.c.start, span.c.stop)
            .outerjoin(span, span.c.assignment == assignment.c.id)
            .where(assignment.c.identifying | span.c.id.is_not(None))
            .order_by(assignment.c.id, span.c.id)
        )
        records: dict[int, dict[str, Any]] = {}
        for row in rows:
            record = records.setdefault(
                row.id,
                {"item": row.item, "queue": row.queue, "annotator": row.annotator, "spans": [],
                 "identifying": bool(row.identifying)},
            )  # fmt: skip
            if row.label is not None:
                record["spans"].append({"label": row.label, "start": row.start, "stop": row.stop})
    yield from records.values()


def trail(db: Database, who: Person | None, of: int) -> Iterator[dict[str, Any]]:
    """Every event of a project in order; answers with their spans and flags, but no texts."""
    with db.read() as connection:
        check_owner(connection, who, of)
        rows = connection.execution_options(yield_per=2_000).execute(
            select(event, person.c.name.label("who"), item.c.name.label("item_name"), item.c.queue)
            .outerjoin(person, person.c.id == event.c.person)
            .outerjoin(item, item.c.id == event.c.item)
            .where(event.c.project == of)
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


def items_of(db: Database, who: Person | None, of: int, queue: str | None = None) -> Corpus:
    """The items of a project as a corpus, as they were imported, with the group `queue`; for the owner.

    An item that is in several queues occurs once.
    """
    with db.read() as connection:
        check_owner(connection, who, of)
        name = connection.execute(select(project.c.name).where(project.c.id == of)).scalar_one()
        wanted = select(item).where(item.c.project == of, item.c.kind == "item").order_by(item.c.id)
        rows = list(connection.execute(wanted if queue is None else wanted.where(item.c.queue == queue)))
    first = {row.name: row for row in reversed(rows)}
    kept = [row for row in rows if first[row.name] is row]
    about = [json.loads(db.opened(row.about)) for row in kept]
    groups = sorted({key for one in about for key in one if key.startswith(GROUP)})
    plain: dict[str, list[str | None] | None] = {
        role: [one.get(role) for one in about] if any(role in one for one in about) else None
        for role in PLAIN
    }
    return Corpus.of(
        name,
        [db.opened(row.text) for row in kept],
        ids=[row.name for row in kept],
        groups={key.removeprefix(GROUP): [one.get(key) for one in about] for key in groups},
        author=plain["author"],
        time=plain["time"],
        split=plain["split"],
    )


def answered_items(db: Database, who: Person | None, of: int) -> Iterator[Answered]:
    """The items that have answers, each with all of them and its text; for the owner."""
    with db.read() as connection:
        check_owner(connection, who, of)
        wanted = _answers(of, item.c.id.label("of"), item.c.text)
        rows = list(connection.execute(wanted.order_by(item.c.queue, item.c.id, assignment.c.id)))
        found = dict[int, Answers]()
        for start in range(0, len(rows), _PIECE):
            found |= answers_of(connection, [row.id for row in rows[start : start + _PIECE]])
    for _, several in groupby(rows, key=lambda row: row.of):
        mine = list(several)
        name = f"{mine[0].item}/{mine[0].queue}" if mine[0].queue else mine[0].item
        said = tuple(Said(row.annotator, found[row.id], _iso(row.ended), row.seconds) for row in mine)
        yield Answered(name, db.opened(mine[0].text), said)


def agreed(db: Database, who: Person | None, of: int) -> Iterator[dict[str, Any]]:
    """The agreement by label, by day and of every two annotators, and how long each takes."""
    table = in_queues(judgements(db, who, of))
    for one in by_label(table):
        yield {"of": "label", **_agreement(one)}
    for day, one in by_day(table):
        yield {"of": "day", "day": day, **_agreement(one)}
    for pair in between(table):
        yield {"of": "pair", "first": pair.first, "second": pair.second, "kappa": _figure(pair.kappa)}
    for pace_ in pace(table):
        yield {"of": "annotator", **asdict(pace_)}


def _agreement(one: Agreed) -> dict[str, Any]:
    return {
        "label": one.label,
        "alpha": _figure(one.alpha),
        "fleiss_kappa": _figure(one.fleiss),
        "agreement": _figure(one.percent),
        "share": one.share,
        "annotators": one.annotators,
    }


def _figure(one: Agreement) -> dict[str, Any]:
    """A figure for JSON, which knows no NaN."""
    low, high = (None if math.isnan(end) else end for end in one.interval)
    return {"value": None if math.isnan(one.value) else one.value, "low": low, "high": high, "n": one.n}


def merged(db: Database, who: Person | None, of: int, how: Merge) -> Corpus:
    """The items that have answers as a corpus, with one merged value per label; for the owner."""
    found, resolved = judgements(db, who, of), resolutions(db, who, of)
    items, judged = items_of(db, who, of), set(found["item"])
    answered = items.only([one in judged for one in items.ids])
    return replace(with_judgements(answered, found, how, resolved), name=f"{items.name}-{how}")


def exported(db: Database, who: Person | None, of: int, what: str) -> tuple[str, bytes]:
    """A file to download: its name, made of the project's, and its content (JSON lines)."""
    with db.read() as connection:
        check_owner(connection, who, of)
        name = connection.execute(select(project.c.name).where(project.c.id == of)).scalar_one()
    kind = "json" if what in _ARRAYS else "jsonl"
    return f"{name}-{what}.{kind}", "".join(_content(db, who, of, what)).encode("utf-8")


def write_export(db: Database, of: int, what: str, path: Path) -> int:
    """Write an export, a corpus or a judgement table by the file's extension; returns the number of rows."""
    if what in MERGES:
        corpus = merged(db, None, of, what)
        write_corpus(corpus, path)
        return len(corpus)
    kinds = {"judgements": (".csv", ".jsonl", ".parquet"), **dict.fromkeys(_ARRAYS, (".json",))}.get(
        what, (".jsonl",)
    )
    if what not in EXPORTS:
        raise BadInput(f"unknown export '{what}'", allowed=nearest(what, EXPORTS), key="what")
    if path.suffix not in kinds:
        raise BadInput(
            f"cannot write this to '{path.suffix}' files", where=str(path), allowed=", ".join(kinds)
        )
    rows = 0
    with writing(path), written(path) as part:
        if path.suffix in (".csv", ".parquet"):
            table = judgements(db, None, of)
            rows = table.height
            table.write_csv(part) if path.suffix == ".csv" else table.write_parquet(part)
        else:
            with part.open("w", encoding="utf-8") as file:
                for piece in _content(db, None, of, what):
                    file.write(piece)
                    rows += piece.startswith("{")
    return rows


def _content(db: Database, who: Person | None, of: int, what: str) -> Iterator[str]:
    """The records as JSON, each a piece of its own: a line each, or one array."""
    array, before = what in _ARRAYS, ""
    yield "[" * array
    for one in _records(db, who, of, what):
        yield before
        yield json.dumps(one, ensure_ascii=False)
        before = ",\n" if array else "\n"
    yield "]\n" if array else before


def _records(db: Database, who: Person | None, of: int, what: str) -> Iterator[dict[str, Any]]:
    if what == "trail":
        return trail(db, who, of)
    if what == "evidence":
        return evidence(db, who, of)
    if what == "judgements":
        return judgements(db, who, of).iter_rows(named=True)
    if what == "agreement":
        return agreed(db, who, of)
    if what in _ARRAYS:
        return _ARRAYS[what](answered_items(db, who, of))
    if what in MERGES:
        return merged(db, who, of, what).table.iter_rows(named=True)
    raise BadInput("there is no such export", allowed=nearest(what, EXPORTS))


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


def _long(rows: list[tuple[Any, ...]]) -> pl.DataFrame:
    return pl.DataFrame(rows, schema=_COLUMNS, orient="row")


def _answers(of: int, *more: ColumnElement[Any]) -> Select[Any]:
    """The answers to annotated items of a project, with who gave them, and `more` columns."""
    about = item.c.name.label("item"), item.c.queue, person.c.name.label("annotator")
    return (
        select(assignment.c.id, *about, assignment.c.ended, assignment.c.seconds, *more)
        .select_from(assignment)
        .join(item, item.c.id == assignment.c.item)
        .join(person, person.c.id == assignment.c.person)
        .where(assignment.c.project == of, assignment.c.state == "done", assignment.c.kind == "item")
    )


def _iso(seconds: float) -> str:
    return datetime.fromtimestamp(seconds, UTC).isoformat(timespec="seconds")
