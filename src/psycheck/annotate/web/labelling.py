"""Routes of annotators: the project's home, a disease's page, the next item, the screening test."""

import math
import time
from secrets import token_urlsafe
from typing import Annotated, Any

from fastapi import APIRouter, Query
from starlette.responses import Response

from psycheck.annotate.progress import OwnProgress, own_progress
from psycheck.annotate.project import Task
from psycheck.annotate.queue import Assignment, Nothing, next_item
from psycheck.annotate.refusals import NotFound, Outdated
from psycheck.annotate.screening import retake, screening_result
from psycheck.annotate.submission import Submitted, previous, skip, submit, undo
from psycheck.annotate.web.access import Admitted, Visit
from psycheck.annotate.web.answering import (
    asked,
    choices,
    queue_title,
    read_answers,
    spans_json,
    spoken,
    titles,
)
from psycheck.annotate.web.respond import go, page
from psycheck.errors import BadInput

router = APIRouter()
Place = Annotated[int | None, Query(ge=0, lt=2**31)]


@router.get("/p/{project}")
def home(visit: Admitted) -> Response:
    """Instructions, worked examples, the content warning, contacts, and one's own progress."""
    task = visit.task()
    queues = []
    if visit.member.role == "annotator":
        queues = [_card(visit, task, one) for one in own_progress(visit.db, visit.person, task.id)]
    return page(
        visit, "home", project=task.project, task=task.project.task, queues=queues, titles=titles(task)
    )


@router.get("/p/{project}/about")
def disease(visit: Admitted, queue: str) -> Response:
    """A disease's page: its symptoms and their descriptions, to be read before the first sentence."""
    task = visit.task()
    if queue not in task.queues or task.project.task != "symptoms":
        raise NotFound("there is no such page")
    begin = _work(visit, queue) if visit.member.role == "annotator" else ""
    return page(visit, "disease", title=queue_title(task, queue), symptoms=task.symptoms(queue), begin=begin)


@router.get("/p/{project}/work")
def work(visit: Admitted, queue: str = "", before: Place = None) -> Response:
    """The item that is open or the next one; with `before` one's own answer before that assignment."""
    task = visit.task()
    if before is not None:
        earlier = previous(visit.db, visit.person, task.id, _queue(task, queue), before or None)
        if earlier is not None:
            return _shown(visit, task, queue, earlier)
    return _shown(visit, task, queue, next_item(visit.db, visit.person, task.id, _queue(task, queue)))


@router.post("/p/{project}/work")
def answer(visit: Admitted) -> Response:
    """Save an answer, skip an item or take the last answer back; then the next item."""
    task, queue = visit.task(), visit.field("queue")
    _queue(task, queue)
    try:
        if visit.field("do") == "undo":
            undo(visit.db, visit.person, task.id, queue)
            return _onward(visit, task, queue, "Your last answer is open again.")
        done = _end(visit, task, queue)
    except Outdated as error:
        parts = {
            "heading": "This has changed meanwhile",
            "sentences": [f"{error.what[:1].upper()}{error.what[1:]}."],
        }
        return _paused(visit, task, [(_work(visit, queue), "Next")], 409, **parts)
    if done.screened:
        address = f"/p/{visit.member.name}/screening?queue={queue}"
        return Response(headers={"hx-redirect": address}) if visit.by_htmx else go(address)
    return _onward(visit, task, queue, "Saved." if visit.field("do") != "skip" else "Skipped.")


@router.get("/p/{project}/screening")
def screening(visit: Admitted, queue: str = "") -> Response:
    """The result of one's own screening test, with reasons."""
    task = visit.task()
    result = screening_result(visit.db, visit.person, task.id, _queue(task, queue))
    if result.state == "open":
        return go(_work(visit, queue))
    named = titles(task)
    results = [
        {
            "text": one.text,
            "expected": spoken(one.expected.marks, one.expected.status, named),
            "given": spoken(one.given.marks, one.given.status, named) if one.given else "skipped",
            "right": one.given is not None and dict(one.given.marks) == dict(one.expected.marks),
            "why": one.why,
        }
        for one in result.items
    ]
    return page(
        visit,
        "screening",
        project=task.project,
        queue=queue,
        result=result,
        results=results,
        work=_work(visit, queue),
    )


@router.post("/p/{project}/screening")
def test_again(visit: Admitted) -> Response:
    """Begin a failed screening test again."""
    task, queue = visit.task(), visit.field("queue")
    retake(visit.db, visit.person, task.id, _queue(task, queue))
    return go(_work(visit, queue))


def _queue(task: Task, queue: str) -> str:
    if queue not in task.queues:
        raise NotFound("there is no such page")
    return queue


def _work(visit: Visit, queue: str) -> str:
    return f"/p/{visit.member.name}/work?queue={queue}"


def _end(visit: Visit, task: Task, queue: str) -> Submitted:
    try:
        assignment, seconds = int(visit.field("assignment")), float(visit.field("seconds") or 0)
    except ValueError as error:
        raise BadInput("the form cannot be read", do="load the page again") from error
    if not math.isfinite(seconds) or not 0 < assignment < 2**31:
        raise BadInput("the form cannot be read", do="load the page again")
    if visit.field("do") == "skip":
        return skip(visit.db, visit.person, assignment)
    answers = read_answers(visit, task, queue)
    return submit(visit.db, visit.person, assignment, answers, seconds=seconds, token=visit.field("token"))


def _onward(visit: Visit, task: Task, queue: str, say: str) -> Response:
    """The next item: as a part of the page, or after a redirect so that loading again sends nothing twice."""
    if not visit.by_htmx:
        return go(_work(visit, queue))
    return _shown(visit, task, queue, next_item(visit.db, visit.person, task.id, queue), say)


def _shown(visit: Visit, task: Task, queue: str, found: Assignment | Nothing, say: str = "") -> Response:
    if isinstance(found, Nothing):
        return _nothing(visit, task, queue, found)
    noun = "sentence" if task.project.task == "symptoms" else "post"
    title = queue_title(task, queue)
    test = f"{title}: screening test" if found.stage == "screening" else title
    mine = _standing(visit, task, queue)
    meter, share = _meter(mine)
    return page(
        visit,
        "item" if visit.by_htmx else "work",
        **asked(task, queue, found.text),
        heading=f"{test}: your answer" if found.state != "claimed" else test,
        say=f"{say} Next {noun}." if say else "",
        meter=meter,
        share=share,
        text=found.text,
        assignment=found.id,
        token=token_urlsafe(16),
        chosen=choices(found.answers, task),
        spans=spans_json(found.answers),
        identifying=found.answers is not None and found.answers.identifying,
        revising=found.state != "claimed",
        work=f"/p/{visit.member.name}/work",
        onward=_work(visit, queue),
        back=f"{_work(visit, queue)}&before={found.id if found.state != 'claimed' else 0}"
        if mine.done
        else "",
    )


def _nothing(visit: Visit, task: Task, queue: str, found: Nothing) -> Response:
    """Why there is no item now, in kind words."""
    until = f" until {time.strftime('%H:%M', time.gmtime(found.until))} UTC" if found.until else ""
    heading, sentence = {
        "done": ("All done", "There is no text left for you in this queue. Thank you."),
        "break": (
            "Time for a break",
            f"You have read many texts in a row. Take a break{until}; step away from the screen.",
        ),
        "daily_cap": (
            "Enough for today",
            f"You have reached today's limit. You can go on tomorrow{until.replace(' until', ', after')}.",
        ),
        "paused": ("Paused", "The owner of the project has paused your work. Your answers are kept."),
        "screening_failed": ("Screening test", "You have not passed the screening test of this queue yet."),
    }[found.reason]
    ways = [(f"/p/{visit.member.name}", "Home")]
    if found.reason == "screening_failed":
        ways = [(f"/p/{visit.member.name}/screening?queue={queue}", "See the result"), *ways]
    return _paused(visit, task, ways, heading=heading, sentences=[sentence])


def _paused(
    visit: Visit, task: Task, ways: list[tuple[str, str]], status: int = 200, **parts: Any
) -> Response:
    return page(
        visit, "pause" if visit.by_htmx else "paused", status=status, project=task.project, ways=ways, **parts
    )


def _standing(visit: Visit, task: Task, queue: str) -> OwnProgress:
    return next(one for one in own_progress(visit.db, visit.person, task.id) if one.queue == queue)


def _meter(mine: OwnProgress) -> tuple[str, float]:
    """How much is done, in words and as a share of the day's cap."""
    if not mine.daily_cap:
        return f"{mine.done} done", 0.0
    return f"{mine.done} done, {mine.today} of at most {mine.daily_cap} today", mine.today / mine.daily_cap


def _card(visit: Visit, task: Task, mine: OwnProgress) -> dict[str, str]:
    """A queue on the home page: how it stands, and where to go on."""
    work, test = _work(visit, mine.queue), f"/p/{visit.member.name}/screening?queue={mine.queue}"
    about = f"/p/{visit.member.name}/about?queue={mine.queue}"
    read_first = about if task.project.task == "symptoms" and not mine.done else work
    begin = "Go on" if mine.done else "Begin"
    sentence, address, action = {
        "open": ("A short screening test comes first.", read_first, "Begin"),
        "failed": ("You have not passed the screening test.", test, "See the result"),
        "passed": (f"{mine.done} answered, {mine.skipped} skipped.", read_first, begin),
    }[mine.screening]
    more = about if task.project.task == "symptoms" and mine.done else ""
    return {
        "title": queue_title(task, mine.queue),
        "sentence": sentence,
        "address": address,
        "action": action,
        "about": more,
    }
