"""Items with answers that were given in Label Studio or Argilla, into a project."""

import json
import time
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, Final

from sqlalchemy import Connection, select

from psycheck.annotate.adjudication import note_conflict
from psycheck.annotate.annotator_answers import ANNOTATED, Answers, check_answers, store_answers
from psycheck.annotate.argilla import from_argilla
from psycheck.annotate.database import Database
from psycheck.annotate.exchanged_records import Answered, Response
from psycheck.annotate.label_studio import from_label_studio
from psycheck.annotate.membership import Person, check_owner, record, stored_task
from psycheck.annotate.project import Task
from psycheck.annotate.tables import LIVE, assignment, insert_row, item, member, person
from psycheck.annotate.transfer import import_corpus, known_items
from psycheck.core.corpus import Corpus
from psycheck.core.errors import UNREADABLE, BadInput, check_size, explained, nearest

READERS: Final[Mapping[str, Callable[[Sequence[Any]], list[Answered]]]] = {
    "label-studio": from_label_studio,
    "argilla": from_argilla,
}
LARGEST: Final = 1.0  # GB of JSON
_LONGEST_NAME: Final = 200


@dataclass(frozen=True, slots=True)
class Carried:
    """Items and answers that were added; answers to items that have enough, or were there, are left out."""

    items: int
    answers: int
    left_out: int


@dataclass(frozen=True, slots=True)
class _Placed:
    """An item with its responses, and the queue that it belongs to."""

    item: str
    text: str
    responses: tuple[Response, ...]
    queue: str


def read_answered(path: Path, program: str) -> list[Answered]:
    """Read what Label Studio or Argilla exported: a JSON array, or a record per line."""
    if program not in READERS:
        raise BadInput(
            f"unknown program '{program}'",
            code="exchange.unknown-program",
            allowed=nearest(program, READERS),
            key="answers",
        )

    with explained(
        f"this is not an export of {program}",
        *UNREADABLE,
        code="exchange.unreadable",
        where=str(path),
        allowed="a JSON array of records, or one per line",
    ):
        check_size(path.stat().st_size, str(path), LARGEST)
        # Exports that were opened and saved on Windows begin with a mark of byte order.
        text = path.read_text("utf-8-sig")
        if text.lstrip().startswith("["):
            records = json.loads(text)
        else:
            records = [json.loads(line) for line in text.splitlines()]

    try:
        return READERS[program](records)
    except BadInput as error:
        # The reader knows the record, and only we know the file.
        error.where = f"{path}, {error.where}"
        raise


def import_answers(
    db: Database,
    who: Person | None,
    project_id: int,
    answered_items: Sequence[Answered],
    *,
    queue: str | None = None,
) -> Carried:
    """Add items and their answers to a project, for its owner; the command line does so without a person.

    An item that psycheck exported, NAME/QUEUE, goes back to its queue. Annotators are known by "imported:"
    and their name: they cannot log in, and are paused. An item that has all its answers takes no more.
    """
    with db.read() as connection:
        check_owner(connection, who, project_id)
        task = stored_task(connection, project_id)

    placed_items = [_place(task, answered, queue) for answered in answered_items]
    # All checks come before the first row: an import stops as a whole or not at all.
    _refuse_shared_ids(placed_items)
    _refuse_wrong_answers(task, placed_items)

    added = _import_items(db, who, project_id, placed_items)
    stored = _import_responses(db, task, placed_items)
    responses = sum(len(placed.responses) for placed in placed_items)
    return Carried(items=added, answers=stored, left_out=responses - stored)


def _place(task: Task, answered: Answered, queue: str | None) -> _Placed:
    """The item with its queue: the named one, that of its id (NAME/QUEUE), or the only one."""
    # From the right: names may hold slashes, queues cannot.
    name, _, name_queue = answered.item.rpartition("/")
    item_name = answered.item

    if task.project.task == "conditions":
        item_queue = ""
    elif queue is None and name and name_queue in task.queues:
        item_name = name
        item_queue = name_queue
    elif queue is None and len(task.queues) == 1:
        item_queue = task.queues[0]
    elif queue is not None and queue in task.queues:
        item_queue = queue
    else:
        unknown = "nothing tells which queue the records belong to"
        raise BadInput(
            unknown if queue is None else f"no queue '{queue}'",
            code="import.no-queue" if queue is None else "import.unknown-queue",
            key="queue",
            allowed=", ".join(task.queues),
            do="name the `queue`",
        )
    return _Placed(item=item_name, text=answered.text, responses=answered.responses, queue=item_queue)


def _refuse_shared_ids(placed_items: Iterable[_Placed]) -> None:
    """Refuse two texts under one id, in any queues: the answers to one would go to the other."""
    texts: dict[str, str] = {}
    for number, placed in enumerate(placed_items, 1):
        first_text = texts.setdefault(placed.item, placed.text)
        if first_text != placed.text:
            raise BadInput(
                "an earlier record has the same id and another text",
                code="import.duplicate-ids",
                where=f"record {number}",
                do="give the records ids of their own (`item`)",
            )


def _refuse_wrong_answers(task: Task, placed_items: Iterable[_Placed]) -> None:
    """Refuse answers that do not fit the project before anything is stored."""
    for number, placed in enumerate(placed_items, 1):
        for response in placed.responses:
            try:
                check_answers(task, placed.queue, _as_asked(task, response), len(placed.text))
            except BadInput as error:
                error.where = f"record {number}"
                raise


def _as_asked(task: Task, response: Response) -> Answers:
    """The answers as this kind of project asks for them: a status for symptoms, none for conditions."""
    answers = response.answers
    if task.project.task == "conditions":
        return replace(answers, status={})

    positive = [label for label, mark in answers.marks.items() if mark]
    return replace(answers, status={label: answers.status.get(label, "present") for label in positive})


def _import_items(
    db: Database,
    who: Person | None,
    project_id: int,
    placed_items: Sequence[_Placed],
) -> int:
    """Add the texts to their queues; returns how many are new."""
    texts_of_queue: dict[str, dict[str, str]] = {}
    for placed in placed_items:
        texts_of_queue.setdefault(placed.queue, {})[placed.item] = placed.text

    added = 0
    for queue, texts in texts_of_queue.items():
        # The same way in as for any corpus, with all its limits.
        corpus = Corpus.of("imported", list(texts.values()), ids=list(texts))
        added += import_corpus(db, who, project_id, corpus, queue=queue or None).added
    return added


def _import_responses(db: Database, task: Task, placed_items: Sequence[_Placed]) -> int:
    """Store the answers; returns how many were stored."""
    # Accounts come first: answers refer to them.
    names = {response.annotator for placed in placed_items for response in placed.responses}
    stored = 0
    with db.write() as connection:
        people = _people(connection, task.id, names)
        item_ids = known_items(connection, task.id)

        def item_id_of(placed: _Placed) -> int:
            return item_ids[placed.queue, placed.item]

        # In the order of their ids: everybody locks items in this order.
        for placed in sorted(placed_items, key=item_id_of):
            for response in placed.responses:
                stored += _store_response(
                    connection,
                    task,
                    response,
                    item_id=item_id_of(placed),
                    person_id=people[response.annotator],
                    queue=placed.queue,
                )
    return stored


def _people(connection: Connection, project_id: int, names: Iterable[str]) -> dict[str, int]:
    """The accounts of annotators from elsewhere by name, made where they are missing."""
    people = {}
    for name in sorted(names):
        account = f"imported:{name}"[:_LONGEST_NAME]
        person_id = connection.scalar(select(person.c.id).where(person.c.name == account))
        if person_id is None:
            # Nobody can log in without a password.
            person_id = insert_row(
                connection, person, name=account, password="", owner=False, made=time.time()
            )

        membership = select(member.c.person).where(
            member.c.project == project_id,
            member.c.person == person_id,
        )
        if connection.scalar(membership) is None:
            connection.execute(
                member.insert().values(project=project_id, person=person_id, role="annotator", paused=True)
            )
        people[name] = int(person_id)
    return people


def _store_response(
    connection: Connection,
    task: Task,
    response: Response,
    *,
    item_id: int,
    person_id: int,
    queue: str,
) -> bool:
    """Store one answer, if the item still needs one and this person gave none."""
    earlier = select(assignment.c.id).where(
        assignment.c.item == item_id,
        assignment.c.person == person_id,
        LIVE,
    )
    # Importing a file again must count nobody twice.
    if connection.scalar(earlier) is not None:
        return False

    take_place = item.update().where(item.c.id == item_id, item.c.open > 0).values(open=item.c.open - 1)
    # One UPDATE takes the place: "exactly k" also holds against people who work meanwhile.
    if not connection.execute(take_place).rowcount:
        return False

    answers = _as_asked(task, response)
    assignment_id = insert_row(
        connection,
        assignment,
        project=task.id,
        item=item_id,
        person=person_id,
        queue=queue,
        kind="item",
        state="done",
        # A claim that is over: nothing gives its place back.
        expires=0.0,
        ended=_seconds_since_1970(response.time),
        seconds=response.seconds or 0.0,
        identifying=answers.identifying,
        inspected=False,
        version=task.version,
    )
    store_answers(connection, ANNOTATED, assignment_id, answers)
    note_conflict(connection, task, item_id, more=1)
    record(
        connection,
        task.id,
        person_id,
        "imported",
        item=item_id,
        assignment=assignment_id,
        detail=answers.as_dict(),
    )
    return True


def _seconds_since_1970(iso_time: str) -> float:
    """A time in seconds; now where it is missing or not a time, and UTC where it names no zone."""
    try:
        moment = datetime.fromisoformat(iso_time)
    except ValueError:
        return time.time()
    if moment.tzinfo is None:
        moment = moment.replace(tzinfo=UTC)
    return moment.timestamp()
