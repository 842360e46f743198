"""Labels out of a project: the judgement table, merged corpora, and the full trail.

Posts that are flagged for identifying details are left out of everything that names or quotes them, unless
the caller asks for them (`flagged`).
"""

import json
from collections.abc import Iterator
from dataclasses import replace
from typing import Any, Final

import polars as pl
from sqlalchemy import select

from psycheck.annotate.answered_items import (
    ADJUDICATOR,
    annotators_answers,
    iso_time,
)
from psycheck.annotate.database import Database
from psycheck.annotate.membership import Person, check_owner
from psycheck.annotate.tables import (
    assignment,
    event,
    item,
    judgement,
    person,
    project,
    resolution,
)
from psycheck.core.corpus import GROUP, Corpus
from psycheck.corpora.judgements import Merge, with_judgements

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
            annotators_answers(project_id, *columns, flagged=flagged)
            .join(judgement, judgement.c.assignment == assignment.c.id)
            # A fixed order: the same project exports the same bytes, and files can be compared.
            .order_by(item.c.queue, item.c.id, assignment.c.id, judgement.c.label)
        )
        # By place, not by name: there are millions of rows in a large project.
        records = [
            (
                name,
                annotator,
                label,
                value,
                status,
                iso_time(ended),
                seconds,
                queue,
                version,
                confidence,
            )
            for _, name, queue, annotator, ended, seconds, label, value, status, version, confidence in rows
        ]
    return pl.DataFrame(records, schema=_COLUMNS, orient="row")


def resolutions(db: Database, who: Person | None, project_id: int) -> pl.DataFrame:
    """What adjudicators said of the items in conflict, with the columns of `judgements`; for the owner."""
    with db.read() as connection:
        check_owner(connection, who, project_id)
        rows = connection.execute(
            select(
                item.c.name,
                resolution.c.label,
                resolution.c.value,
                resolution.c.status,
                item.c.queue,
            )
            .join(item, item.c.id == resolution.c.item)
            .where(item.c.project == project_id)
            .order_by(item.c.queue, item.c.id, resolution.c.label)
        )
        records = [
            (
                name,
                ADJUDICATOR,
                label,
                value,
                status,
                None,
                None,
                queue,
                None,
                None,
            )
            for name, label, value, status, queue in rows
        ]
    return pl.DataFrame(records, schema=_COLUMNS, orient="row")


def trail(db: Database, who: Person | None, project_id: int) -> Iterator[dict[str, Any]]:
    """Every event of a project in order; answers with their spans and flags, but no texts."""
    with db.read() as connection:
        check_owner(connection, who, project_id)
        # An event per answer: read in pieces, a long trail never is in memory whole.
        rows = connection.execution_options(yield_per=2_000).execute(
            select(
                event,
                person.c.name.label("who"),
                item.c.name.label("item_name"),
                item.c.queue,
            )
            # Outer joins: the command line has no person, and many events no item.
            .outerjoin(person, person.c.id == event.c.person)
            .outerjoin(item, item.c.id == event.c.item)
            .where(event.c.project == project_id)
            .order_by(event.c.id)
        )
        for row in rows:
            yield {
                "event": row.id,
                "time": iso_time(row.time),
                "what": row.what,
                "person": row.who,
                "item": row.item_name,
                "queue": row.queue,
                "assignment": row.assignment,
                **json.loads(row.detail),
            }


def items_of(
    db: Database,
    who: Person | None,
    project_id: int,
    queue: str | None = None,
) -> Corpus:
    """The items of a project as a corpus, as they were imported, with the group `queue`; for the owner.

    An item that is in several queues occurs once.
    """
    name = project_name(db, who, project_id)
    query = select(item).where(item.c.project == project_id, item.c.kind == "item")
    if queue is not None:
        query = query.where(item.c.queue == queue)
    with db.read() as connection:
        all_rows = connection.execute(query.order_by(item.c.id)).all()

    # The first queue's row stands for all: text and columns are the same in each.
    row_of_item: dict[str, Any] = {}
    for row in all_rows:
        row_of_item.setdefault(row.name, row)
    rows = list(row_of_item.values())

    # One JSON per item and not columns: each corpus brings groups of its own.
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


def _columns_about(
    about: list[dict[str, str]],
) -> dict[str, list[str | None]]:
    """The columns of what is stored about each item; a column that no item has is left out."""
    # An item that was added later may have a column that the first ones lack.
    keys: set[str] = set()
    for about_item in about:
        keys.update(about_item)
    return {key: [about_item.get(key) for about_item in about] for key in sorted(keys)}


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
    # Texts without any answer would be rows of missing labels, and training would drop them anyway.
    judged_ids = set(table["item"])
    judged_items = items.only([item_id in judged_ids for item_id in items.ids])

    decisions = resolutions(db, who, project_id)
    # Decisions about flagged texts are left out with their texts.
    decisions = decisions.filter(pl.col("item").is_in(judged_ids))
    corpus = with_judgements(judged_items, table, how, decisions)
    return replace(corpus, name=f"{items.name}-{how}")


def project_name(db: Database, who: Person | None, project_id: int) -> str:
    """The name of a project, for its owner."""
    with db.read() as connection:
        check_owner(connection, who, project_id)
        name: str = connection.execute(select(project.c.name).where(project.c.id == project_id)).scalar_one()
    return name
