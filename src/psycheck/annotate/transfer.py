"""Items into a project: from any corpus, in one transaction."""

import json
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from random import Random
from typing import Any, Final

from sqlalchemy import Connection, select

from psycheck.annotate.annotator_answers import KNOWN, stored_answers
from psycheck.annotate.database import Database
from psycheck.annotate.gold_items import gold_rows, store_gold, store_reasons
from psycheck.annotate.membership import Person, check_owner, record, refuse_ended, stored_task
from psycheck.annotate.open_places import FRESH
from psycheck.annotate.project import Task
from psycheck.annotate.skill import LUCK, perfect_skill
from psycheck.annotate.tables import item, project
from psycheck.core.corpus import GROUP, PLAIN, Corpus
from psycheck.core.errors import BadInput, nearest

KINDS: Final = ("item", "screening", "gold")
MOST_ITEMS: Final = 500_000
LONGEST_TEXT: Final = 50_000  # characters
QUEUE_GROUPS: Final = ("queue", "disease")  # groups that name the queue of an item
RETRIEVED: Final = frozenset({"disease", "symptom"})  # columns of what `retrieve` writes
_PIECE: Final = 1_000  # rows per statement


@dataclass(frozen=True, slots=True)
class Imported:
    """What an import did: items added, known before (same id and queue), and of queues that are not asked."""

    added: int
    known: int
    elsewhere: int


def import_corpus(
    db: Database,
    who: Person | None,
    project_id: int,
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
    if kind not in KINDS:
        raise BadInput(
            f"unknown kind '{kind}'",
            code="import.unknown-kind",
            allowed=", ".join(KINDS),
            key="kind",
        )
    reasons = reasons or {}
    _check_texts(corpus, reasons)

    with db.write() as connection:
        check_owner(connection, who, project_id)
        task = stored_task(connection, project_id)
        refuse_ended(task)
        queues = _queue_of_each(task, corpus, queue)
        # Checked before anything is stored: a test with a gap would be half there.
        expected = None if kind == "item" else gold_rows(task, corpus, queues)
        positions = _reserve_positions(
            connection, project_id, len(corpus), shuffled=_is_shuffled(task, kind, corpus)
        )

        # Read under the project's lock, which the positions have taken.
        known = known_items(connection, project_id)
        _refuse_other_texts(db, connection, corpus, queues, known)
        new = _new_texts(corpus, queues, known)

        rows = _item_rows(db, task, corpus, queues, kind, positions)
        item_ids = _insert_items(connection, [rows[number] for number in new])
        if expected is not None:
            store_gold(connection, item_ids, [expected[number] for number in new])
            texts = corpus.texts
            store_reasons(db, connection, item_ids, [reasons.get(texts[number], "") for number in new])
        # After the insertion: a test may come in several files.
        if kind == "screening":
            _refuse_test_for_guessers(connection, task, {queues[number] for number in new})

        detail = {"kind": kind, "added": len(item_ids)}
        record(connection, project_id, who.id if who else None, "imported", detail=detail)

    elsewhere = sum(item_queue is None for item_queue in queues)
    return Imported(
        added=len(item_ids),
        known=len(corpus) - len(item_ids) - elsewhere,
        elsewhere=elsewhere,
    )


def known_items(connection: Connection, project_id: int) -> dict[tuple[str | None, str], int]:
    """The items of a project by queue and name."""
    rows = connection.execute(
        select(item.c.id, item.c.queue, item.c.name).where(item.c.project == project_id)
    )
    return {(row.queue, row.name): row.id for row in rows}


def _check_texts(corpus: Corpus, reasons: Mapping[str, str]) -> None:
    """Refuse too many texts, those that are too long, and the character that PostgreSQL cannot store."""
    if len(corpus) > MOST_ITEMS:
        raise BadInput(
            f"more than {MOST_ITEMS:,} texts at once",
            code="import.too-many-texts",
            do="import the corpus in parts",
        )
    for number, (name, text) in enumerate(zip(corpus.ids, corpus.texts, strict=True), 1):
        if len(text) > LONGEST_TEXT:
            raise BadInput(
                "a text is too long to annotate",
                code="import.text-too-long",
                where=f"text {number}",
                allowed=f"at most {LONGEST_TEXT:,} characters",
            )

        stored_strings = (name, text, reasons.get(text, ""))
        if any("\x00" in string for string in stored_strings):
            raise BadInput(
                "a text, its id or its reason holds a NUL character",
                code="import.nul-character",
                where=f"text {number}",
                do="clean the corpus first",
            )


def _queue_of_each(task: Task, corpus: Corpus, queue: str | None) -> list[str | None]:
    """The queue of each text; None where the corpus names one that the project does not ask."""
    if task.project.task == "conditions":
        return [""] * len(corpus)

    if queue is not None:
        if queue not in task.queues:
            raise BadInput(
                f"there is no queue '{queue}'",
                code="import.unknown-queue",
                allowed=nearest(queue, task.queues),
                key="queue",
            )
        return [queue] * len(corpus)

    queue_groups = [name for name in QUEUE_GROUPS if name in corpus.groups]
    if queue_groups:
        return _queues_in_group(task, corpus, queue_groups[0])
    if len(task.queues) == 1:
        return [task.queues[0]] * len(corpus)
    raise BadInput(
        "nothing tells which queue the texts belong to",
        code="import.no-queue",
        allowed=", ".join(task.queues),
        do="name the `queue`, or add a column called 'queue' or 'disease'",
    )


def _queues_in_group(task: Task, corpus: Corpus, group: str) -> list[str | None]:
    """The queue of each text as a group of the corpus names it."""
    queues = [name if name in task.queues else None for name in corpus.group(group)]
    if queues and not any(queues):
        raise BadInput(
            f"no text has a {group} that this project asks about",
            code="import.no-matching-queue",
            allowed=", ".join(task.queues),
        )
    return queues


def _is_shuffled(task: Task, kind: str, corpus: Corpus) -> bool:
    """Whether texts come in a random order; what `retrieve` wrote is in a balanced one, by symptom."""
    comes_from_retrieve = set(corpus.groups) >= RETRIEVED
    return kind == "item" and task.project.order.how != "file" and not comes_from_retrieve


def _reserve_positions(
    connection: Connection,
    project_id: int,
    number: int,
    *,
    shuffled: bool,
) -> list[int]:
    """New positions at the end of the queue, in the order of the texts or a random one."""
    reserve = (
        project.update()
        .where(project.c.id == project_id)
        .values(positions=project.c.positions + number)
        .returning(project.c.positions)
    )
    last = connection.scalar(reserve) or 0
    positions = list(range(last - number + 1, last + 1))
    if shuffled:
        # From the number of positions, so that the order can be repeated and differs from file to file.
        Random(last).shuffle(positions)
    return positions


def _new_texts(
    corpus: Corpus,
    queues: Sequence[str | None],
    known: Mapping[tuple[str | None, str], int],
) -> list[int]:
    """The numbers of the texts that belong to a queue of the project and are not in it yet."""
    new = []
    for number, key in enumerate(zip(queues, corpus.ids, strict=True)):
        queue, _ = key
        if queue is not None and key not in known:
            new.append(number)
    return new


def _item_rows(
    db: Database,
    task: Task,
    corpus: Corpus,
    queues: Sequence[str | None],
    kind: str,
    positions: Sequence[int],
) -> list[dict[str, Any]]:
    """The rows of the item table for each text."""
    # Tests and gold go to everybody: their one place is never taken.
    open_places = task.project.annotators_per_item if kind == "item" else 1
    about = {name: corpus.strings(name) for name in PLAIN}
    about |= {f"{GROUP}{name}": corpus.group(name) for name in corpus.groups}
    now = time.time()

    rows = []
    for number, (name, text) in enumerate(zip(corpus.ids, corpus.texts, strict=True)):
        about_item = {key: values[number] for key, values in about.items() if values[number]}
        rows.append(
            {
                "project": task.id,
                "queue": queues[number],
                "kind": kind,
                "name": name,
                "text": db.sealed(text),
                "about": db.sealed(json.dumps(about_item)),
                "lane": FRESH,
                "position": positions[number],
                "open": open_places,
                "made": now,
            }
        )
    return rows


def _refuse_other_texts(
    db: Database,
    connection: Connection,
    corpus: Corpus,
    queues: Sequence[str | None],
    known: Mapping[tuple[str | None, str], int],
) -> None:
    """Refuse a text under the id of another one, in any queue: exports would mix up their answers."""
    ids_and_queues = enumerate(zip(corpus.ids, queues, strict=True))
    number_of_id = {name: number for number, (name, queue) in ids_and_queues if queue is not None}
    number_of_item = {
        item_id: number_of_id[name] for (_, name), item_id in known.items() if name in number_of_id
    }
    texts = corpus.texts

    item_ids = list(number_of_item)
    for start in range(0, len(item_ids), _PIECE):
        piece = item_ids[start : start + _PIECE]
        for row in connection.execute(select(item.c.id, item.c.text).where(item.c.id.in_(piece))):
            number = number_of_item[row.id]
            if db.opened(row.text) != texts[number]:
                raise BadInput(
                    "the project has another text with the same id",
                    code="import.duplicate-ids",
                    where=f"text {number + 1}",
                    allowed="an id of its own for each text, in all files that are imported",
                    do="name the id column (`id=COLUMN`), or give the texts new ids",
                )


def _refuse_test_for_guessers(connection: Connection, task: Task, queues: set[str | None]) -> None:
    """Refuse a test that is too short or too one-sided to tell knowledge from luck."""
    for queue in queues:
        test_items = connection.scalars(
            select(item.c.id).where(
                item.c.project == task.id, item.c.queue == queue, item.c.kind == "screening"
            )
        )
        reference = stored_answers(connection, KNOWN, test_items).values()
        luck = perfect_skill(answers.marks for answers in reference).luck
        if luck > LUCK:
            raise BadInput(
                f"who guesses would answer this whole test right once in {1 / luck:,.0f} tries",
                code="import.test-too-short",
                allowed=f"once in {1 / LUCK:,.0f} tries or more rarely",
                do="add texts until each label has several of both answers; 20 texts make a good test",
            )


def _insert_items(connection: Connection, rows: Sequence[dict[str, Any]]) -> list[int]:
    """Insert items and return their ids, in the order of the rows."""
    statement = item.insert().returning(item.c.id, sort_by_parameter_order=True)
    item_ids: list[int] = []
    for start in range(0, len(rows), _PIECE):
        item_ids += connection.execute(statement, rows[start : start + _PIECE]).scalars()
    return item_ids
