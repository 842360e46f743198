"""Items into a project: from any corpus, in one transaction."""

import json
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from random import Random
from tempfile import TemporaryDirectory
from typing import Any, Final

from sqlalchemy import Connection, select

from psycheck.annotate.database import Database
from psycheck.annotate.membership import OWNS, Person, check_owner, record, role_in, stored_task
from psycheck.annotate.places import FRESH
from psycheck.annotate.project import Task
from psycheck.annotate.tables import gold, item, project, reason
from psycheck.corpora.columns import Columns, assign
from psycheck.corpora.read import read_corpus
from psycheck.corpora.tables import FORMATS, read_table
from psycheck.corpus import PLAIN, Corpus
from psycheck.errors import BadInput, PsycheckError, nearest

KINDS: Final = ("item", "screening", "gold")
MOST_ITEMS: Final = 500_000
LONGEST_TEXT: Final = 50_000  # characters
LARGEST_UPLOAD: Final = 64_000_000  # bytes
UNCERTAIN: Final = "uncertain"  # the label of gold items whose symptoms are uncertain
WHY: Final = "why"  # the column with reasons for gold labels
_QUEUES: Final = ("queue", "disease")  # groups that name the queue of an item
_PIECE: Final = 1_000


@dataclass(frozen=True, slots=True)
class Imported:
    """What an import did: items added, known before (same id and queue), and of queues that are not asked."""

    added: int
    known: int
    elsewhere: int


def import_corpus(
    db: Database,
    who: Person | None,
    of: int,
    corpus: Corpus,
    *,
    kind: str = "item",
    queue: str | None = None,
    reasons: Mapping[str, str] | None = None,
) -> Imported:
    """Add the texts of a corpus to a project, for its owner; the command line imports without a person.

    Without `queue`, the groups `queue` or `disease` of a corpus name each item's. Items for screening and
    hidden gold need 0 or 1 for every label of their queue; `reasons` by text are shown after the test.
    """
    if len(corpus) > MOST_ITEMS:
        raise BadInput(f"more than {MOST_ITEMS:,} texts at once", do="import the corpus in parts")
    if kind not in KINDS:
        raise BadInput(f"unknown kind '{kind}'", allowed=", ".join(KINDS), key="kind")
    _check_texts(corpus, reasons or {})
    with db.write() as connection:
        check_owner(connection, who, of)
        task = stored_task(connection, of)
        queues = _queues(task, corpus, queue)
        marks = None if kind == "item" else _gold(task, corpus, queues)
        place = project.update().where(project.c.id == of).values(positions=project.c.positions + len(corpus))
        last = connection.scalar(place.returning(project.c.positions)) or 0
        positions = list(range(last - len(corpus) + 1, last + 1))
        if kind == "item":
            Random(last).shuffle(positions)
        known = _known(connection, of)
        _refuse_other_texts(db, connection, corpus, queues, known)
        rows = [
            (number, row)
            for number, row in enumerate(_rows(db, task, corpus, queues, kind, positions))
            if row["queue"] is not None and (row["queue"], row["name"]) not in known
        ]
        added = _added(connection, [row for _, row in rows])
        if marks is not None:
            texts = corpus.texts
            _store_gold(
                connection, [(one, marks[number]) for one, (number, _) in zip(added, rows, strict=True)]
            )
            why = [
                {"item": one, "why": db.sealed(text)}
                for one, (number, _) in zip(added, rows, strict=True)
                if (text := (reasons or {}).get(texts[number], ""))
            ]
            if why:
                connection.execute(reason.insert(), why)
        elsewhere = sum(one is None for one in queues)
        detail = {"kind": kind, "added": len(added)}
        record(connection, of, who.id if who else None, "imported", detail=detail)
    return Imported(len(added), len(corpus) - len(added) - elsewhere, elsewhere)


def reasons_in(path: Path, columns: Columns | None = None, format: str | None = None) -> dict[str, str]:
    """The reasons for gold labels by text, from the column `why` of a file: corpora have no long columns."""
    table = read_table(path, format)
    if WHY not in table.columns:
        return {}
    texts = table.columns[assign(table, columns or Columns()).text]
    return {str(text): str(why) for text, why in zip(texts, table.columns[WHY], strict=True) if why}


def columns_for(
    db: Database, of: int, kind: str, path: Path, columns: Columns, format: str | None = None
) -> Columns:
    """The columns of a file for a project: `queue` or `disease` is a group; its labels are known by name.

    A test seldom has both answers to every label, and a column of zeros is not guessed to be a label.
    """
    with db.read() as connection:
        task = stored_task(connection, of)
    table = read_table(path, format)
    asked = {UNCERTAIN, *(label for queue in task.queues for label in task.labels(queue))}
    labels = tuple(name for name in table.columns if name in asked and kind != "item")
    columns = replace(columns, labels=columns.labels or labels)
    groups, named = assign(table, columns).groups, {getattr(columns, role) for role in PLAIN}
    queues = (name for name in _QUEUES if name in table.columns and name not in {*groups, *named})
    return replace(columns, groups=(*groups, *queues))


def import_upload(
    db: Database,
    who: Person,
    of: int,
    name: str,
    content: bytes,
    *,
    kind: str = "item",
    queue: str | None = None,
) -> Imported:
    """Import a file that a browser sent; of its name only the extension counts."""
    if len(content) > LARGEST_UPLOAD:
        raise BadInput("the file is too large", allowed=f"at most {LARGEST_UPLOAD // 1_000_000} MB")
    extension = next((one for one in FORMATS if name.casefold().endswith(one)), None)
    if extension is None:
        raise BadInput("this kind of file cannot be imported", allowed=", ".join(FORMATS))
    with db.read() as connection:
        role_in(connection, who, of, *OWNS)
    with TemporaryDirectory(prefix="psycheck-") as folder:  # for its owner alone
        place = Path(folder) / f"upload{extension}"
        with place.open("wb") as file:
            file.write(content)
        try:
            columns = columns_for(db, of, kind, place, Columns())
            corpus, reasons = read_corpus(place, columns), reasons_in(place, columns)
        except PsycheckError as error:
            for part in ("what", "where", "allowed", "do"):
                setattr(error, part, getattr(error, part).replace(f"{folder}/", ""))
            raise
    return import_corpus(db, who, of, corpus, kind=kind, queue=queue, reasons=reasons)


def _check_texts(corpus: Corpus, reasons: Mapping[str, str]) -> None:
    for number, (name, text) in enumerate(zip(corpus.ids, corpus.texts, strict=True), 1):
        if len(text) > LONGEST_TEXT:
            allowed = f"at most {LONGEST_TEXT:,} characters"
            raise BadInput("a text is too long to annotate", where=f"text {number}", allowed=allowed)
        if any("\x00" in part for part in (name, text, reasons.get(text, ""))):
            what, do = "a text, its id or its reason holds a NUL character", "clean the corpus first"
            raise BadInput(what, where=f"text {number}", do=do)


def _queues(task: Task, corpus: Corpus, queue: str | None) -> list[str | None]:
    """The queue of each text; None where the corpus names one that the project does not ask."""
    if task.project.task == "conditions":
        return [""] * len(corpus)
    if queue is not None:
        if queue not in task.queues:
            raise BadInput(f"there is no queue '{queue}'", allowed=nearest(queue, task.queues), key="queue")
        return [queue] * len(corpus)
    named = next((name for name in _QUEUES if name in corpus.groups), None)
    if named is None and len(task.queues) == 1:
        return [task.queues[0]] * len(corpus)
    if named is None:
        do = "name the `queue`, or add a column called 'queue' or 'disease'"
        raise BadInput("nothing tells which queue the texts belong to", allowed=", ".join(task.queues), do=do)
    found = [one if one in task.queues else None for one in corpus.group(named)]
    if corpus.table.height and not any(found):
        what = f"no text has a {named} that this project asks about"
        raise BadInput(what, allowed=", ".join(task.queues))
    return found


def _gold(task: Task, corpus: Corpus, queues: Sequence[str | None]) -> list[list[dict[str, Any]]]:
    """The rows of the gold table for each text, without its item."""
    columns = {label: corpus.targets([label])[:, 0].tolist() for label in corpus.labels}
    unsure = columns.get(UNCERTAIN, [0.0] * len(corpus))
    found: list[list[dict[str, Any]]] = []
    for number, queue in enumerate(queues):
        rows = []
        for label in task.labels(queue) if queue is not None else ():
            value = columns[label][number] if label in columns else None
            if value not in (0.0, 1.0):
                where = f"text {number + 1}, label '{label}'"
                do = "annotate every label of the queue in the file that holds the gold items"
                raise BadInput("a gold label is missing", where=where, allowed="0 or 1", do=do)
            status = None
            if value and task.project.task == "symptoms":
                status = "uncertain" if unsure[number] > 0.5 else "present"
            rows.append({"label": label, "value": int(value), "status": status})
        found.append(rows)
    return found


def _rows(
    db: Database,
    task: Task,
    corpus: Corpus,
    queues: Sequence[str | None],
    kind: str,
    positions: Sequence[int],
) -> list[dict[str, Any]]:
    open_places = task.project.annotators_per_item if kind == "item" else 1
    about = {name: corpus.strings(name) for name in PLAIN} | {
        f"group:{name}": corpus.group(name) for name in corpus.groups
    }
    now = time.time()
    return [
        {
            "project": task.id,
            "queue": queues[number],
            "kind": kind,
            "name": name,
            "text": db.sealed(text),
            "about": db.sealed(json.dumps({key: of[number] for key, of in about.items() if of[number]})),
            "lane": FRESH,
            "position": positions[number],
            "open": open_places,
            "made": now,
        }
        for number, (name, text) in enumerate(zip(corpus.ids, corpus.texts, strict=True))
    ]


def _known(connection: Connection, of: int) -> dict[tuple[str | None, str], int]:
    rows = connection.execute(select(item.c.id, item.c.queue, item.c.name).where(item.c.project == of))
    return {(row.queue, row.name): row.id for row in rows}


def _refuse_other_texts(
    db: Database,
    connection: Connection,
    corpus: Corpus,
    queues: Sequence[str | None],
    known: Mapping[tuple[str | None, str], int],
) -> None:
    """Refuse a text under the id of another one: it would be lost, and its answers go to the other text."""
    keys, texts = zip(queues, corpus.ids, strict=True), corpus.texts
    again = {known[key]: number for number, key in enumerate(keys) if key in known}
    ids = list(again)
    for start in range(0, len(ids), _PIECE):
        wanted = select(item.c.id, item.c.text).where(item.c.id.in_(ids[start : start + _PIECE]))
        for row in connection.execute(wanted):
            if db.opened(row.text) != texts[number := again[row.id]]:
                raise BadInput(
                    "the project has another text with the same id",
                    where=f"text {number + 1}",
                    allowed="an id of its own for each text, in all files that are imported",
                    do="name the id column (`id=COLUMN`), or give the texts new ids",
                )


def _added(connection: Connection, rows: list[dict[str, Any]]) -> list[int]:
    """The ids of new items, in the order of the rows."""
    found: list[int] = []
    for start in range(0, len(rows), _PIECE):
        piece = rows[start : start + _PIECE]
        made = connection.execute(item.insert().returning(item.c.id, sort_by_parameter_order=True), piece)
        found += made.scalars()
    return found


def _store_gold(connection: Connection, pairs: Sequence[tuple[int, list[dict[str, Any]]]]) -> None:
    rows = [{"item": one, **row} for one, marks in pairs for row in marks]
    if rows:
        connection.execute(gold.insert(), rows)
