"""Routes of reviewers, who inspect samples of batches, and of adjudicators, who resolve conflicts."""

from collections.abc import Mapping, Sequence
from typing import Any, Final, Literal

from fastapi import APIRouter
from markupsafe import Markup
from starlette.responses import Response

from psycheck.annotate.adjudication import Conflict, conflict, conflicts, resolve
from psycheck.annotate.annotator_answers import Answers
from psycheck.annotate.inspection import (
    Batch,
    Inspected,
    batches,
    close_batches,
    correct,
    finish_inspection,
    inspected,
    reject,
)
from psycheck.annotate.project import Task
from psycheck.annotate.refusals import Outdated
from psycheck.annotate.web.access import Admitted, Number, Visit, no_page
from psycheck.annotate.web.answering import asked, choices, queue_title, read_answers, spoken, titles
from psycheck.annotate.web.respond import go, page, problem

router = APIRouter()
_MOST_SHOWN: Final = 50


@router.get("/p/{project}/batches")
def all_batches(visit: Admitted) -> Response:
    """The batches that wait for inspection, and those that were inspected."""
    task = visit.task()
    return page(
        visit,
        "batches",
        project=task.project,
        waiting=_batches(visit, "waiting"),
        past=[*_batches(visit, "rejected"), *_batches(visit, "accepted")],
        queues={queue: queue_title(task, queue) for queue in task.queues},
    )


@router.post("/p/{project}/batches")
def close(visit: Admitted) -> Response:
    """Close the batches that are not full, so that they can be inspected."""
    close_batches(visit.db, visit.person, visit.member.project)
    return go(f"/p/{visit.member.name}/batches")


@router.get("/p/{project}/batches/{batch}")
def one_batch(visit: Admitted, batch: Number) -> Response:
    """The sample of a batch, with forms to correct it."""
    return _batch_page(visit, batch)


@router.post("/p/{project}/batches/{batch}/{assignment}")
def correct_one(visit: Admitted, batch: Number, assignment: Number) -> Response:
    """Save what one inspected answer should have been, and go to the next one."""
    batch_shown, sample = _inspected(visit, batch)
    if assignment not in {answer.assignment for answer in sample}:
        raise no_page()
    correct(visit.db, visit.person, assignment, read_answers(visit, visit.task(), batch_shown.queue))

    uncorrected = [answer.assignment for answer in sample if answer.corrected is None]
    left = [assignment_id for assignment_id in uncorrected if assignment_id != assignment]
    anchor = f"a{left[0]}" if left else "finish"
    return go(f"/p/{visit.member.name}/batches/{batch}#{anchor}")


@router.post("/p/{project}/batches/{batch}")
def finish(visit: Admitted, batch: Number) -> Response:
    """Score a batch by the corrections, or reject it without a score."""
    _inspected(visit, batch)
    try:
        if visit.field("decision") == "reject":
            reject(visit.db, visit.person, batch)
        else:
            finish_inspection(visit.db, visit.person, batch)
    except Outdated as error:
        return _batch_page(visit, batch, status=error.status, problem=problem(error))
    return go(f"/p/{visit.member.name}/batches")


@router.get("/p/{project}/conflicts")
def open_conflicts(visit: Admitted) -> Response:
    """The items in conflict."""
    project_id = visit.member.project
    # One more than the page shows tells whether there are more.
    unresolved = conflicts(visit.db, visit.person, project_id, most=_MOST_SHOWN + 1)
    resolved = conflicts(visit.db, visit.person, project_id, state="resolved", most=_MOST_SHOWN)
    return page(
        visit,
        "conflicts",
        project=visit.task().project,
        conflicts=unresolved[:_MOST_SHOWN],
        more=len(unresolved) > _MOST_SHOWN,
        done=resolved,
    )


@router.get("/p/{project}/conflicts/{item}")
def one_conflict(visit: Admitted, item: Number) -> Response:
    """An item in conflict with the answers, without names, and the form of the adjudicator."""
    task = visit.task()
    item_in_conflict = _conflict(visit, item)
    all_answers = item_in_conflict.given

    label_titles = titles(task)
    rows = []
    for label in task.labels(item_in_conflict.queue):
        if any(answers.marks.get(label) for answers in all_answers):
            rows.append((label_titles[label], [_mark_in_words(answers, label) for answers in all_answers]))

    return page(
        visit,
        "conflict",
        **asked(task, item_in_conflict.queue, item_in_conflict.text),
        item=item,
        text=item_in_conflict.text,
        names=[f"Annotator {letter}" for letter in "ABCDEFGHIJ"[: len(all_answers)]],
        rows=rows,
        chosen=choices(item_in_conflict.resolved or _agreed(all_answers), task),
    )


@router.post("/p/{project}/conflicts/{item}")
def resolve_one(visit: Admitted, item: Number) -> Response:
    """Save the adjudicated answer and go to the next conflict."""
    item_in_conflict = _conflict(visit, item)
    answers = read_answers(visit, visit.task(), item_in_conflict.queue)
    resolve(visit.db, visit.person, item, answers)

    address = f"/p/{visit.member.name}/conflicts"
    left = conflicts(visit.db, visit.person, visit.member.project, most=1)
    return go(f"{address}/{left[0]}" if left else address)


def marked(text: str, answers: Answers) -> Markup:
    """A text with its evidence spans marked; where spans overlap, their union is."""
    parts = []
    end = 0
    for span in sorted(answers.spans, key=lambda span: span.start):
        start = max(span.start, end)
        if span.stop > start:
            parts.append(Markup.escape(text[end:start]))
            parts.append(Markup("<mark>{}</mark>").format(text[start : span.stop]))
            end = span.stop
    parts.append(Markup.escape(text[end:]))
    return Markup("").join(parts)


def _batches(visit: Visit, state: Literal["waiting", "accepted", "rejected"]) -> list[Batch]:
    return batches(visit.db, visit.person, visit.member.project, state)


def _inspected(visit: Visit, batch_id: int) -> tuple[Batch, list[Inspected]]:
    """A batch of this project, not of another one that the person reviews too, and its sample."""
    batch, sample = inspected(visit.db, visit.person, batch_id)
    state: Any = batch.state
    if batch_id not in {project_batch.id for project_batch in _batches(visit, state)}:
        raise no_page()
    return batch, sample


def _conflict(visit: Visit, item_id: int) -> Conflict:
    """An item of this project in conflict, not of another one that the person adjudicates too."""
    item_in_conflict = conflict(visit.db, visit.person, item_id)
    if item_in_conflict.project != visit.member.project:
        raise no_page()
    return item_in_conflict


def _batch_page(visit: Visit, batch_id: int, status: int = 200, **parts: object) -> Response:
    """The page of a batch, with a form for each answer of its sample."""
    task = visit.task()
    batch, sample = _inspected(visit, batch_id)
    label_titles = titles(task)
    return page(
        visit,
        "batch",
        status=status,
        **asked(task, batch.queue),
        batch=batch,
        samples=[_sample(answer, task, label_titles) for answer in sample],
        left=sum(answer.corrected is None for answer in sample),
        may_reject=visit.member.role == "owner",
        **parts,
    )


def _sample(answer: Inspected, task: Task, label_titles: Mapping[str, str]) -> dict[str, Any]:
    """An answer drawn for inspection, as the page of its batch shows it."""
    return {
        "assignment": answer.assignment,
        "text": marked(answer.text, answer.given),
        "given": spoken(answer.given, label_titles),
        "identifying": answer.given.identifying,
        "chosen": choices(answer.corrected or answer.given, task),
        "inspected": answer.corrected is not None,
    }


def _mark_in_words(answers: Answers, label: str) -> str:
    if not answers.marks.get(label):
        return "no"
    return answers.status.get(label, "yes")


def _agreed(all_answers: Sequence[Answers]) -> Answers | None:
    """What all annotators marked: the adjudicator decides on the rest, and for conditions on everything."""
    has_status = any(answers.status for answers in all_answers)
    if not has_status:
        return None

    marks = {}
    for label in all_answers[0].marks:
        marks[label] = int(all(answers.marks.get(label) for answers in all_answers))
    positive = [label for label, mark in marks.items() if mark]
    return Answers(marks, status=dict.fromkeys(positive, "present"))
