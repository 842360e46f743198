"""Routes of reviewers, who inspect samples of batches, and of adjudicators, who resolve conflicts."""

from typing import Any, Final

from fastapi import APIRouter
from markupsafe import Markup
from starlette.responses import Response

from psycheck.annotate.adjudication import conflict, conflicts, resolve
from psycheck.annotate.answers import Answers
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
from psycheck.annotate.refusals import NotFound, Outdated
from psycheck.annotate.web.access import Admitted, Number, Visit
from psycheck.annotate.web.answering import asked, choices, queue_title, read_answers, spoken, titles
from psycheck.annotate.web.respond import go, page, problem

router = APIRouter()
_MOST_SHOWN: Final = 50


@router.get("/p/{project}/batches")
def all_batches(visit: Admitted) -> Response:
    """The batches that wait for inspection, and those that were inspected."""
    task = visit.task()
    waiting = _batches(visit, "waiting")
    past = [*_batches(visit, "rejected"), *_batches(visit, "accepted")]
    queues = {one: queue_title(task, one) for one in task.queues}
    return page(visit, "batches", project=task.project, waiting=waiting, past=past, queues=queues)


@router.post("/p/{project}/batches")
def close(visit: Admitted) -> Response:
    """Close the batches that are not full, so that they can be inspected."""
    close_batches(visit.db, visit.person, visit.member.project)
    return go(f"/p/{visit.member.name}/batches")


@router.get("/p/{project}/batches/{batch}")
def one_batch(visit: Admitted, batch: Number) -> Response:
    """The sample of a batch, with forms to correct it."""
    return _batch(visit, batch)


@router.post("/p/{project}/batches/{batch}/{assignment}")
def correct_one(visit: Admitted, batch: Number, assignment: Number) -> Response:
    """Save what one inspected answer should have been."""
    task, (known, sample) = visit.task(), _inspected(visit, batch)
    if assignment not in {one.assignment for one in sample}:
        raise NotFound("there is no such page")
    correct(visit.db, visit.person, assignment, read_answers(visit, task, known.queue))
    left = [one.assignment for one in sample if one.corrected is None and one.assignment != assignment]
    return go(f"/p/{visit.member.name}/batches/{batch}#{f'a{left[0]}' if left else 'finish'}")


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
        return _batch(visit, batch, status=error.status, problem=problem(error))
    return go(f"/p/{visit.member.name}/batches")


@router.get("/p/{project}/conflicts")
def open_conflicts(visit: Admitted) -> Response:
    """The items in conflict."""
    found = conflicts(visit.db, visit.person, visit.member.project, most=_MOST_SHOWN + 1)
    done = conflicts(visit.db, visit.person, visit.member.project, state="resolved", most=_MOST_SHOWN)
    more = len(found) > _MOST_SHOWN
    return page(
        visit, "conflicts", project=visit.task().project, conflicts=found[:_MOST_SHOWN], more=more, done=done
    )


@router.get("/p/{project}/conflicts/{item}")
def one_conflict(visit: Admitted, item: Number) -> Response:
    """An item in conflict with the answers, without names, and the form of the adjudicator."""
    task, found = visit.task(), conflict(visit.db, visit.person, item)
    if found.project != task.id:
        raise NotFound("there is no such page")
    named = titles(task)
    labels = [name for name in task.labels(found.queue) if any(one.marks.get(name) for one in found.given)]
    return page(
        visit,
        "conflict",
        **asked(task, found.queue, found.text),
        item=item,
        text=found.text,
        names=[f"Annotator {letter}" for letter, _ in zip("ABCDEFGHIJ", found.given, strict=False)],
        rows=[(named[name], [_said(one, name) for one in found.given]) for name in labels],
        chosen=choices(found.resolved or _agreed(found.given), task),
    )


@router.post("/p/{project}/conflicts/{item}")
def resolve_one(visit: Admitted, item: Number) -> Response:
    """Save the adjudicated answer and go to the next conflict."""
    task, found = visit.task(), conflict(visit.db, visit.person, item)
    if found.project != task.id:
        raise NotFound("there is no such page")
    resolve(visit.db, visit.person, item, read_answers(visit, task, found.queue))
    left = conflicts(visit.db, visit.person, visit.member.project, most=1)
    return go(f"/p/{visit.member.name}/conflicts{f'/{left[0]}' if left else ''}")


def _batches(visit: Visit, state: Any) -> list[Batch]:
    return batches(visit.db, visit.person, visit.member.project, state)


def _inspected(visit: Visit, batch: int) -> tuple[Batch, list[Inspected]]:
    """A batch of this project, not of another one that the person reviews too."""
    known = inspected(visit.db, visit.person, batch)
    if batch not in {one.id for one in _batches(visit, known[0].state)}:
        raise NotFound("there is no such page")
    return known


def _batch(visit: Visit, batch: int, status: int = 200, **parts: object) -> Response:
    task, (known, sample) = visit.task(), _inspected(visit, batch)
    named = titles(task)
    samples = [
        {
            "assignment": one.assignment,
            "text": marked(one.text, one.given),
            "given": spoken(one.given.marks, one.given.status, named),
            "identifying": one.given.identifying,
            "chosen": choices(one.corrected or one.given, task),
            "inspected": one.corrected is not None,
        }
        for one in sample
    ]
    return page(
        visit,
        "batch",
        status=status,
        **asked(task, known.queue),
        batch=known,
        samples=samples,
        left=sum(one.corrected is None for one in sample),
        may_reject=visit.member.role == "owner",
        **parts,
    )


def marked(text: str, answers: Answers) -> Markup:
    """A text with its evidence spans marked; where spans overlap, their union is."""
    parts, at = [], 0
    for span in sorted(answers.spans, key=lambda one: one.start):
        start = max(span.start, at)
        if span.stop > start:
            parts += [
                Markup.escape(text[at:start]),
                Markup("<mark>{}</mark>").format(text[start : span.stop]),
            ]
            at = span.stop
    return Markup("").join([*parts, Markup.escape(text[at:])])


def _said(answers: Answers, label: str) -> str:
    if not answers.marks.get(label):
        return "no"
    return answers.status.get(label, "yes")


def _agreed(given: tuple[Answers, ...]) -> Answers | None:
    """What all annotators marked: the adjudicator decides on the rest, and for conditions on everything."""
    if not given or not any(one.status for one in given):
        return None
    common = {name: int(all(one.marks.get(name) for one in given)) for name in given[0].marks}
    return Answers(common, {name: "present" for name, mark in common.items() if mark})
