"""The screening test of a queue: items with known labels, a pass mark, and the reasons afterwards."""

from dataclasses import dataclass
from typing import Any, Final, Literal

from sqlalchemy import Connection, Row, exists, select

from psycheck.annotate.annotator_answers import KNOWN, Answers, answers_of, stored_answers
from psycheck.annotate.database import Database
from psycheck.annotate.member_state import standing_of, update_standing
from psycheck.annotate.membership import ANNOTATES, Person, record, role_in, stored_task
from psycheck.annotate.project import Task
from psycheck.annotate.refusals import NotFound, Outdated
from psycheck.annotate.skill import skill_of
from psycheck.annotate.tables import HAS_PLACE, LIVE, assignment, item, reason

ScreeningState = Literal["open", "passed", "failed"]
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
    """How a screening test stands or ended.

    `items`, with what was expected, are shown only when the test was passed or no tries are left: a retry
    has the same texts.
    """

    state: ScreeningState
    score: float | None
    pass_mark: float
    tries_left: int
    items: tuple[ScreenedItem, ...] = ()


def screening_result(db: Database, who: Person, project_id: int, queue: str) -> ScreeningResult:
    """The result of a person's own test in a queue, with reasons."""
    # A transaction that writes: the standing is made at first sight.
    with db.write(durable=False) as connection:
        role_in(connection, who, project_id, *ANNOTATES, lock=True)
        task = stored_task(connection, project_id)
        if queue not in task.queues:
            raise NotFound("there is no such queue", code="queue.unknown")

        standing_row = standing_of(connection, who.id, task, queue)
        settings = task.project.screening
        # New settings may allow fewer tries than somebody has had.
        tries_left = max(0, settings.tries - standing_row.tries)

        is_over = standing_row.screening == "passed" or (
            standing_row.screening == "failed" and not tries_left
        )
        items: tuple[ScreenedItem, ...] = ()
        if is_over:
            items = _screened_items(db, connection, who, project_id, queue)

    return ScreeningResult(
        state=standing_row.screening,
        score=standing_row.score,
        pass_mark=settings.pass_mark,
        tries_left=tries_left,
        items=items,
    )


def retake(db: Database, who: Person, project_id: int, queue: str) -> None:
    """Begin a failed test again, where tries are left; the answers of the last one leave only the trail."""
    with db.write() as connection:
        role_in(connection, who, project_id, *ANNOTATES, lock=True)
        task = stored_task(connection, project_id)
        standing_row = standing_of(connection, who.id, task, queue)
        if standing_row.screening != "failed":
            raise Outdated(
                "the test cannot be taken again: it is open or was passed",
                code="screening.not-failed",
            )
        # Checked again in the transaction: the page may be hours old.
        if standing_row.tries >= task.project.screening.tries:
            raise Outdated(
                "no tries are left for this test",
                code="screening.no-tries-left",
                do="ask the owner of the project",
            )

        ended = _ended_assignments(connection, who.id, project_id, queue)
        ended_ids = [row.id for row in ended]
        connection.execute(assignment.update().where(assignment.c.id.in_(ended_ids)).values(state="void"))
        update_standing(connection, standing_row, screening="open")
        record(connection, project_id, who.id, "retook the test", detail={"queue": queue})


def end_of_test(connection: Connection, task: Task, person_id: int, queue: str) -> bool:
    """Score a test when its last item is answered or skipped; returns whether that is so."""
    if _items_left(connection, task, person_id, queue):
        return False

    ended = _ended_assignments(connection, person_id, task.id, queue)
    answers = answers_of(connection, [row.id for row in ended])
    expected = stored_answers(connection, KNOWN, [row.item for row in ended])
    answered = [row for row in ended if row.id in answers]
    # Skipped texts do not count against anybody: skipping costs nothing.
    pairs = [(answers[row.id].marks, expected[row.item].marks) for row in answered]

    # Who skips most of a test has not shown anything: that is a failure whatever the score.
    enough_answered = len(answered) >= LEAST_ANSWERED * len(ended)
    skill = skill_of(pairs)
    score = skill.score if enough_answered else 0.0
    # Guessing reaches any mark now and then, where few texts were answered.
    passed = enough_answered and skill.is_shown and score >= task.project.screening.pass_mark
    state: ScreeningState = "passed" if passed else "failed"

    standing_row = standing_of(connection, person_id, task, queue)
    update_standing(connection, standing_row, screening=state, score=score, tries=standing_row.tries + 1)
    detail = {
        "queue": queue,
        "score": score,
        "state": state,
        "answered": len(answered),
        "items": len(ended),
    }
    record(connection, task.id, person_id, "ended the test", detail=detail)
    return True


def _screened_items(
    db: Database,
    connection: Connection,
    who: Person,
    project_id: int,
    queue: str,
) -> tuple[ScreenedItem, ...]:
    """The items of a person's last test with their answers, what was expected, and the reasons."""
    ended = _ended_assignments(connection, who.id, project_id, queue)
    answers = answers_of(connection, [row.id for row in ended])
    expected = stored_answers(connection, KNOWN, [row.item for row in ended])
    return tuple(
        ScreenedItem(
            text=db.opened(row.text),
            given=answers.get(row.id),
            expected=expected[row.item],
            why=db.opened(row.why) if row.why else "",
        )
        for row in ended
    )


def _items_left(connection: Connection, task: Task, person_id: int, queue: str) -> bool:
    """Whether a test has items that a person has neither answered nor skipped."""
    has_ended = exists().where(
        assignment.c.item == item.c.id,
        assignment.c.person == person_id,
        LIVE,
        assignment.c.state.in_(("done", "skipped")),
    )
    left = select(item.c.id).where(
        item.c.project == task.id,
        item.c.queue == queue,
        item.c.kind == "screening",
        HAS_PLACE,
        ~has_ended,
    )
    return connection.scalar(left.limit(1)) is not None


def _ended_assignments(
    connection: Connection,
    person_id: int,
    project_id: int,
    queue: str,
) -> list[Row[Any]]:
    """The test items that a person answered or skipped in the present try."""
    query = (
        select(assignment.c.id, assignment.c.item, item.c.text, reason.c.why)
        .join(item, item.c.id == assignment.c.item)
        .outerjoin(reason, reason.c.item == item.c.id)
        .where(
            assignment.c.person == person_id,
            assignment.c.project == project_id,
            assignment.c.queue == queue,
            assignment.c.kind == "screening",
            assignment.c.state.in_(("done", "skipped")),
        )
        # In the order in which the texts came, as people remember them.
        .order_by(item.c.position)
    )
    return list(connection.execute(query))
