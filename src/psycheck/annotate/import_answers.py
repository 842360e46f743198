"""Items with answers that were given in Label Studio or Argilla, into a project."""

import json
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from operator import itemgetter
from pathlib import Path
from typing import Any, Final

from sqlalchemy import Connection, select

from psycheck.annotate.adjudication import note_conflict
from psycheck.annotate.answers import Answers, check_answers, store_answers
from psycheck.annotate.database import Database
from psycheck.annotate.formats import Answered, Said, from_argilla, from_label_studio
from psycheck.annotate.membership import Person, check_owner, record, stored_task
from psycheck.annotate.project import Task
from psycheck.annotate.tables import LIVE, assignment, item, member, person
from psycheck.annotate.transfer import import_corpus
from psycheck.corpus import Corpus
from psycheck.errors import UNREADABLE, BadInput, check_size, explained, nearest

READERS: Final[Mapping[str, Callable[[Sequence[Any]], list[Answered]]]] = {
    "label-studio": from_label_studio,
    "argilla": from_argilla,
}
LARGEST: Final = 1.0  # GB of JSON


@dataclass(frozen=True, slots=True)
class Carried:
    """Items and answers that were added; answers to items that have enough, or were there, are left out."""

    items: int
    answers: int
    left_out: int


def read_answered(path: Path, program: str) -> list[Answered]:
    """Read what Label Studio or Argilla exported: a JSON array, or a record per line."""
    if program not in READERS:
        raise BadInput(f"unknown program '{program}'", allowed=nearest(program, READERS), key="answers")
    what, allowed = f"this is no export of {program}", "a JSON array of records, or one per line"
    with explained(what, *UNREADABLE, RecursionError, where=str(path), allowed=allowed):
        check_size(path.stat().st_size, str(path), LARGEST)
        text = path.read_text("utf-8-sig")
        whole = json.loads(text) if text.lstrip()[:1] == "[" else [*map(json.loads, text.splitlines())]
    try:
        return READERS[program](whole)
    except BadInput as error:
        error.where = f"{path}, {error.where}"
        raise


def import_answers(
    db: Database, who: Person | None, of: int, every: Sequence[Answered], *, queue: str | None = None
) -> Carried:
    """Add items and their answers to a project, for its owner; the command line does so without a person.

    An item that psycheck exported, NAME/QUEUE, goes back to its queue. Annotators are known by "imported:"
    and their name: they cannot log in, and are paused. An item that has all its answers takes no more.
    """
    with db.read() as connection:
        check_owner(connection, who, of)
        task = stored_task(connection, of)
    placed = [_placed(task, one, queue) for one in every]
    texts: dict[tuple[str, str], str] = {}
    for number, (one, where) in enumerate(placed, 1):
        if texts.setdefault((where, one.item), one.text) != one.text:
            what = "an earlier record has the same id and another text"
            raise BadInput(what, where=f"record {number}", do="give the records ids of their own (`item`)")
        for said in one.said:
            try:
                check_answers(task, where, _as_asked(task, said), len(one.text))
            except BadInput as error:
                error.where = f"record {number}"
                raise
    added = 0
    for where in dict.fromkeys(where for _, where in placed):
        mine = {one.item: one.text for one, at in placed if at == where}
        corpus = Corpus.of("imported", list(mine.values()), ids=list(mine))
        added += import_corpus(db, who, of, corpus, queue=where or None).added
    with db.write() as connection:
        people = _people(connection, of, {said.annotator for one, _ in placed for said in one.said})
        rows = connection.execute(select(item.c.queue, item.c.name, item.c.id).where(item.c.project == of))
        known = {(row.queue, row.name): row.id for row in rows}
        numbered = sorted(
            ((known[where, one.item], where, one.said) for one, where in placed), key=itemgetter(0)
        )
        taken = sum(
            _answer(connection, task, number, where, people[said.annotator], said)
            for number, where, every_answer in sorted(numbered, key=itemgetter(0))  # as all lock items
            for said in every_answer
        )
    given = sum(len(one.said) for one in every)
    return Carried(added, taken, given - taken)


def _placed(task: Task, one: Answered, queue: str | None) -> tuple[Answered, str]:
    """The item and its queue."""
    if task.project.task == "conditions":
        return one, ""
    name, _, where = one.item.rpartition("/")
    if queue is None and name and where in task.queues:
        return replace(one, item=name), where
    if queue is None and len(task.queues) == 1:
        return one, task.queues[0]
    if queue not in task.queues:
        what = "nothing tells which queue the records belong to" if queue is None else f"no queue '{queue}'"
        raise BadInput(what, key="queue", allowed=", ".join(task.queues), do="name the `queue`")
    return one, str(queue)


def _as_asked(task: Task, said: Said) -> Answers:
    """The answers as this kind of project asks for them: a status for symptoms, none for conditions."""
    if task.project.task == "conditions":
        return replace(said.answers, status={})
    found = {
        name: said.answers.status.get(name, "present") for name, mark in said.answers.marks.items() if mark
    }
    return replace(said.answers, status=found)


def _people(connection: Connection, of: int, names: set[str]) -> dict[str, int]:
    """The accounts of annotators from elsewhere, made where they are missing."""
    out = {}
    for name in sorted(names):
        own = f"imported:{name}"[:200]
        found = connection.scalar(select(person.c.id).where(person.c.name == own))
        if found is None:
            made = connection.execute(
                person.insert().values(name=own, password="", owner=False, made=time.time())
            )
            found = (made.inserted_primary_key or (0,))[0]
        here = select(member.c.person).where(member.c.project == of, member.c.person == found)
        if connection.scalar(here) is None:
            role = {"project": of, "person": found, "role": "annotator", "paused": True}
            connection.execute(member.insert().values(role))
        out[name] = int(found)
    return out


def _answer(connection: Connection, task: Task, one: int, queue: str, who: int, said: Said) -> bool:
    """Store one answer, if the item still needs one and this person gave none."""
    before = select(assignment.c.id).where(assignment.c.item == one, assignment.c.person == who, LIVE)
    if connection.scalar(before) is not None:
        return False
    place = item.update().where(item.c.id == one, item.c.open > 0).values(open=item.c.open - 1)
    if not connection.execute(place).rowcount:
        return False
    answers = _as_asked(task, said)
    made = connection.execute(
        assignment.insert().values(
            project=task.id,
            item=one,
            person=who,
            queue=queue,
            kind="item",
            state="done",
            expires=0.0,
            ended=_seconds(said.time),
            seconds=said.seconds or 0.0,
            identifying=answers.identifying,
            inspected=False,
        )
    ).inserted_primary_key
    number = int((made or (0,))[0])
    store_answers(connection, number, answers)
    note_conflict(connection, task, one, 1)
    record(connection, task.id, who, "imported", item=one, assignment=number, detail=answers.as_dict())
    return True


def _seconds(when: str) -> float:
    """A time in seconds since 1970; now where it is missing or no time."""
    try:
        found = datetime.fromisoformat(when)
    except ValueError:
        return time.time()
    return (found if found.tzinfo else found.replace(tzinfo=UTC)).timestamp()
