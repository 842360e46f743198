"""Inspection: a reviewer answers a sample of each batch of an annotator's work, blind (PsySym 3.3).

The reviewer sees what the annotator said of a text only after their own answer. A sample that guessing might
have passed decides nothing: it grows until it does, or until the whole batch was inspected.
"""

import math
import time
from dataclasses import dataclass
from typing import Any, Final, Literal

from sqlalchemy import Connection, Row, select

from psycheck.annotate.annotator_answers import (
    CORRECTED,
    Answers,
    answers_of,
    check_answers,
    erase_answers,
    store_answers,
    stored_answers,
)
from psycheck.annotate.batches import (
    answers_in,
    close_batches_of,
    draw_sample,
)
from psycheck.annotate.database import Database
from psycheck.annotate.flagged import decide_flag, is_flagged
from psycheck.annotate.membership import (
    INSPECTS,
    OWNS,
    Person,
    lock_members,
    record,
    refuse_ended,
    role_in,
    stored_task,
)
from psycheck.annotate.open_places import reopen
from psycheck.annotate.project import Inspection as InspectionSettings
from psycheck.annotate.refusals import NotFound, Outdated
from psycheck.annotate.skill import LUCK, Skill, skill_of
from psycheck.annotate.tables import assignment, batch, item, person

_Outcome = Literal["accepted", "rejected"]
_FEWEST: Final = 10  # inspected answers from which a low score counts


@dataclass(frozen=True, slots=True)
class Batch:
    """A batch of one annotator's answers."""

    id: int
    queue: str
    annotator: str
    state: Literal["filling", "waiting", "accepted", "rejected"]
    size: int
    score: float | None
    made: float


@dataclass(frozen=True, slots=True)
class Inspected:
    """An answer drawn for inspection; `corrected` is what the reviewer said of the text, None until then.

    `given` is what the annotator said: None until the reviewer has answered.
    """

    assignment: int
    text: str
    given: Answers | None
    corrected: Answers | None
    flagged: bool = False


def batches(
    db: Database,
    who: Person,
    project_id: int,
    state: Literal["waiting", "accepted", "rejected"] = "waiting",
) -> list[Batch]:
    """The batches of a project in a state, the oldest first; a reviewer's own work is not among them."""
    with db.read() as connection:
        role_in(connection, who, project_id, *INSPECTS)
        rows = connection.execute(
            select(batch, person.c.name)
            .join(person, person.c.id == batch.c.person)
            .where(
                batch.c.project == project_id,
                batch.c.state == state,
                batch.c.person != who.id,
            )
            .order_by(batch.c.id)
        )
        return [_as_batch(row, row.name) for row in rows]


def inspected(db: Database, who: Person, batch_id: int) -> tuple[Batch, list[Inspected]]:
    """A batch and its sample, for a reviewer."""
    with db.read() as connection:
        row = _batch_to_inspect(connection, who, batch_id)
        annotator = _name_of(connection, row.person)
        sample = _sample(connection, batch_id)
        sample_ids = [drawn.id for drawn in sample]
        answers = answers_of(connection, sample_ids)
        corrections = stored_answers(connection, CORRECTED, sample_ids)

        inspected_answers = []
        for drawn in sample:
            corrected = corrections.get(drawn.id)
            inspected_answers.append(
                Inspected(
                    assignment=drawn.id,
                    text=db.opened(drawn.text),
                    # Blind: what the annotator said is not even handed to the page.
                    given=None if corrected is None else answers[drawn.id],
                    corrected=corrected,
                    flagged=corrected is not None and is_flagged(connection, drawn.item),
                )
            )
    return _as_batch(row, annotator), inspected_answers


def correct(db: Database, who: Person, assignment_id: int, answers: Answers) -> None:
    """Say what is right for the text of an answer drawn for inspection."""
    with db.write() as connection:
        row = connection.execute(
            select(assignment).where(assignment.c.id == assignment_id, assignment.c.inspected)
        ).first()
        if row is None:
            raise NotFound(
                "there is no such answer to inspect",
                code="inspection.unknown-answer",
            )

        batch_row = _batch_to_inspect(connection, who, row.batch, lock=True)
        # After the lock: another reviewer may have finished the batch a moment ago.
        _refuse_inspected(batch_row)

        # Spans of the reviewer must lie inside the text as well.
        sealed_text = connection.scalar(select(item.c.text).where(item.c.id == row.item)) or ""
        task = stored_task(connection, row.project)
        refuse_ended(task)
        check_answers(task, row.queue, answers, len(db.opened(sealed_text)))

        # A reviewer may think again until the batch is finished: the last correction counts.
        erase_answers(connection, CORRECTED, [assignment_id])
        store_answers(connection, CORRECTED, assignment_id, answers)
        # Who inspects blind does not know of an annotator's flag, and so does not clear it.
        if answers.identifying:
            decide_flag(connection, row.item, identifying=True)
        record(
            connection,
            row.project,
            who.id,
            "corrected",
            item=row.item,
            assignment=assignment_id,
            detail=answers.as_dict(),
        )


def finish_inspection(db: Database, who: Person, batch_id: int) -> Batch:
    """Score a batch by the inspected answers, or draw more of them where guessing might have done as well.

    Below the mark the batch is void and all of it goes back to the queue.
    """
    with db.write() as connection:
        row = _batch_to_inspect(connection, who, batch_id, lock=True)
        _refuse_inspected(row)

        task = stored_task(connection, row.project)
        skill, inspected_answers = _skill(connection, batch_id)
        # None: neither good nor bad enough to tell from luck.
        outcome = _outcome(skill, inspected_answers, row.size, task.project.inspection)
        score = None
        if outcome is None:
            draw_sample(
                connection,
                batch_id,
                math.ceil(task.project.inspection.share * row.size),
            )
            record(
                connection,
                row.project,
                who.id,
                "drew more",
                detail={"batch": batch_id},
            )
        else:
            score = skill.score
            _end_batch(connection, who, row, outcome, score)
        annotator = _name_of(connection, row.person)

    return Batch(
        id=row.id,
        queue=row.queue,
        annotator=annotator,
        state=outcome or "waiting",
        size=row.size,
        score=score,
        made=row.made,
    )


def reject(db: Database, who: Person, batch_id: int) -> None:
    """Void a batch without a score and put its items back into the queue; for the owner."""
    with db.write() as connection:
        row = _batch_to_inspect(connection, who, batch_id, lock=True)
        role_in(connection, who, row.project, *OWNS)
        # An accepted batch can still be taken back: drift may show only later.
        if row.state not in ("waiting", "accepted"):
            raise Outdated(
                "this batch is still being filled, or was rejected",
                code="inspection.not-rejectable",
            )
        _end_batch(connection, who, row, "rejected", row.score)


def close_batches(db: Database, who: Person, project_id: int) -> int:
    """Close the batches that are not full, at the end of a project; returns how many."""
    with db.write() as connection:
        role_in(connection, who, project_id, *INSPECTS)
        lock_members(connection, project_id)
        task = stored_task(connection, project_id)

        return close_batches_of(connection, task)


def _batch_to_inspect(
    connection: Connection,
    who: Person,
    batch_id: int,
    *,
    lock: bool = False,
) -> Row[Any]:
    """The row of a batch that is closed, for a reviewer; nobody inspects their own work."""
    query = select(batch).where(
        batch.c.id == batch_id,
        batch.c.state != "filling",
        batch.c.person != who.id,
    )
    if lock:
        query = query.with_for_update()

    row = connection.execute(query).first()
    if row is None:
        raise NotFound("there is no such batch", code="batch.unknown")
    role_in(connection, who, row.project, *INSPECTS)
    return row


def _refuse_inspected(batch_row: Row[Any]) -> None:
    if batch_row.state != "waiting":
        raise Outdated("this batch has been inspected already", code="batch.inspected")


def _sample(connection: Connection, batch_id: int) -> list[Row[Any]]:
    """The assignments of a batch that were drawn for inspection, with their texts."""
    query = (
        select(assignment.c.id, assignment.c.item, item.c.text)
        .join(item, item.c.id == assignment.c.item)
        .where(assignment.c.batch == batch_id, assignment.c.inspected)
        .order_by(assignment.c.id)
    )
    return list(connection.execute(query))


def _skill(connection: Connection, batch_id: int) -> tuple[Skill, int]:
    """The skill that the inspected answers show, and how many they are; all must be inspected."""
    sample_ids = [drawn.id for drawn in _sample(connection, batch_id)]
    answers = answers_of(connection, sample_ids)
    corrections = stored_answers(connection, CORRECTED, sample_ids)

    # A score of half a sample would reward inspecting only what is easy.
    missing = len(sample_ids) - len(corrections)
    if missing:
        raise Outdated(
            f"{missing} of the {len(sample_ids)} sampled answers are not inspected yet",
            code="inspection.incomplete",
        )
    pairs = [(answers[drawn_id].marks, corrections[drawn_id].marks) for drawn_id in sample_ids]
    return skill_of(pairs), len(sample_ids)


def _outcome(
    skill: Skill,
    inspected_answers: int,
    size: int,
    settings: InspectionSettings,
) -> _Outcome | None:
    """What the inspected answers of a batch of this size decide; None if nothing yet."""
    is_good = skill.score >= settings.reject_below
    if inspected_answers >= size:
        return "accepted" if is_good else "rejected"

    # A growing sample is looked at several times, and guessing has a chance each time.
    looks = math.ceil(1 / settings.share)
    if is_good:
        return "accepted" if skill.luck <= LUCK / looks else None
    # One wrong mark among five says little.
    return "rejected" if inspected_answers >= _FEWEST else None


def _end_batch(
    connection: Connection,
    who: Person,
    row: Row[Any],
    outcome: _Outcome,
    score: float | None,
) -> None:
    """Store the outcome of a batch; the items of a rejected one go back to the queue."""
    connection.execute(
        batch.update()
        .where(batch.c.id == row.id)
        .values(state=outcome, score=score, reviewer=who.id, ended=time.time())
    )
    detail = {
        "batch": row.id,
        "queue": row.queue,
        "annotator": row.person,
        "score": score,
    }
    record(connection, row.project, who.id, outcome, detail=detail)

    if outcome == "rejected":
        done = answers_in(row.id)
        item_ids = list(connection.scalars(select(assignment.c.item).where(*done)))
        # Void, not deleted: the trail and the figures of the annotator keep them.
        connection.execute(assignment.update().where(*done).values(state="void"))
        reopen(connection, row.project, item_ids, answered=True)


def _name_of(connection: Connection, person_id: int) -> str:
    return str(connection.scalar(select(person.c.name).where(person.c.id == person_id)))


def _as_batch(row: Row[Any], annotator: str) -> Batch:
    return Batch(
        id=row.id,
        queue=row.queue,
        annotator=annotator,
        state=row.state,
        size=row.size,
        score=row.score,
        made=row.made,
    )
