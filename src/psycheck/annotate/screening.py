"""The screening test of a queue: items with known labels, a pass mark, and the reasons afterwards."""

from dataclasses import dataclass
from typing import Any, Final, Literal

from sqlalchemy import Connection, Row, exists, select

from psycheck.annotate.answers import Answers, answers_of, marks_of
from psycheck.annotate.database import Database
from psycheck.annotate.membership import ANNOTATES, Person, record, role_in, stored_task
from psycheck.annotate.project import Task
from psycheck.annotate.refusals import NotFound, Outdated
from psycheck.annotate.scores import f_score
from psycheck.annotate.standing import standing_of, update_standing
from psycheck.annotate.tables import HAS_PLACE, LIVE, assignment, gold, item, reason

LEAST_ANSWERED: Final = 0.5  # of the test items: others may be skipped without penalty


@dataclass(frozen=True, slots=True)
class ScreenedItem:
    """A test item after the test: text, what was answered (None: skipped), what was expected, and why."""

    text: str
    given: Answers | None
    expected: Answers
    why: str


@dataclass(frozen=True, slots=True)
class ScreeningResult:
    """How a screening test stands or ended; `items` are shown only once it has ended."""

    state: Literal["open", "passed", "failed"]
    score: float | None
    pass_mark: float
    tries_left: int
    items: tuple[ScreenedItem, ...] = ()


def screening_result(db: Database, who: Person, of: int, queue: str) -> ScreeningResult:
    """The result of a person's own test in a queue, with reasons."""
    with db.write(durable=False) as connection:  # a standing may be made
        role_in(connection, who, of, *ANNOTATES, lock=True)
        task = stored_task(connection, of)
        if queue not in task.queues:
            raise NotFound("there is no such queue")
        where = standing_of(connection, who.id, task, queue)
        rows = _taken(connection, who.id, of, queue) if where.screening != "open" else []
        ids = [row.id for row in rows]
        given = answers_of(connection, ids)
        expected = marks_of(connection, gold, "item", [row.item for row in rows])
        items = tuple(
            ScreenedItem(
                db.opened(row.text),
                given.get(row.id),
                expected[row.item],
                db.opened(row.why) if row.why else "",
            )
            for row in rows
        )
    left = max(0, task.project.screening.tries - where.tries)
    return ScreeningResult(where.screening, where.score, task.project.screening.pass_mark, left, items)


def retake(db: Database, who: Person, of: int, queue: str) -> None:
    """Begin a failed test again, where tries are left; the answers of the last one leave only the trail."""
    with db.write() as connection:
        role_in(connection, who, of, *ANNOTATES, lock=True)
        task = stored_task(connection, of)
        where = standing_of(connection, who.id, task, queue)
        if where.screening != "failed":
            raise Outdated("the test cannot be taken again: it is open or was passed")
        if where.tries >= task.project.screening.tries:
            raise Outdated("no tries are left for this test", do="ask the owner of the project")
        ids = [row.id for row in _taken(connection, who.id, of, queue)]
        connection.execute(assignment.update().where(assignment.c.id.in_(ids)).values(state="void"))
        update_standing(connection, where, screening="open")
        record(connection, of, who.id, "retook the test", detail={"queue": queue})


def end_of_test(connection: Connection, task: Task, person: int, queue: str) -> bool:
    """Score a test when its last item is answered or skipped; returns whether that is so."""
    theirs = exists().where(
        assignment.c.item == item.c.id,
        assignment.c.person == person,
        LIVE,
        assignment.c.state.in_(("done", "skipped")),
    )
    left = select(item.c.id).where(
        item.c.project == task.id, item.c.queue == queue, item.c.kind == "screening", HAS_PLACE, ~theirs
    )
    if connection.scalar(left.limit(1)) is not None:
        return False
    rows = _taken(connection, person, task.id, queue)
    given = answers_of(connection, [row.id for row in rows])
    expected = marks_of(connection, gold, "item", [row.item for row in rows])
    pairs = [(given[row.id].marks, expected[row.item].marks) for row in rows if row.id in given]
    enough = len(pairs) >= LEAST_ANSWERED * len(rows)
    score = f_score(pairs) if enough else 0.0
    passed = enough and score >= task.project.screening.pass_mark
    where = standing_of(connection, person, task, queue)
    state = "passed" if passed else "failed"
    update_standing(connection, where, screening=state, score=score, tries=where.tries + 1)
    detail = {"queue": queue, "score": score, "state": state, "answered": len(pairs), "items": len(rows)}
    record(connection, task.id, person, "ended the test", detail=detail)
    return True


def _taken(connection: Connection, person: int, of: int, queue: str) -> list[Row[Any]]:
    """The test items that a person answered or skipped in the present try."""
    return list(
        connection.execute(
            select(assignment.c.id, assignment.c.item, item.c.text, reason.c.why)
            .join(item, item.c.id == assignment.c.item)
            .outerjoin(reason, reason.c.item == item.c.id)
            .where(
                assignment.c.person == person,
                assignment.c.project == of,
                assignment.c.queue == queue,
                assignment.c.kind == "screening",
                assignment.c.state.in_(("done", "skipped")),
            )
            .order_by(item.c.position)
        )
    )
