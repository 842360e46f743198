"""Routes of annotators: the project's home, a disease's page, the next item, the screening test."""

import math
import time
from collections.abc import Mapping
from secrets import token_urlsafe
from typing import Annotated, Any

from fastapi import APIRouter, Query
from starlette.responses import Response

from psycheck.annotate.dashboard import OwnProgress, own_progress
from psycheck.annotate.project import Task
from psycheck.annotate.queue import Assignment, Nothing, next_item
from psycheck.annotate.refusals import Outdated
from psycheck.annotate.screening import ScreenedItem, retake, screening_result
from psycheck.annotate.submission import Submitted, previous, skip, submit, undo
from psycheck.annotate.web.access import Admitted, Visit, no_page
from psycheck.annotate.web.answering import (
    asked,
    choices,
    queue_title,
    read_answers,
    spans_json,
    spoken,
    titles,
)
from psycheck.annotate.web.respond import go, page, sentence_of
from psycheck.core.errors import BadInput

router = APIRouter()
Links = list[tuple[str, str]]  # address and text
Place = Annotated[int | None, Query(ge=0, lt=2**31)]


@router.get("/p/{project}")
def home(visit: Admitted) -> Response:
    """Instructions, worked examples, the content warning, contacts, and one's own progress."""
    task = visit.task()
    cards = []
    if visit.member.role == "annotator":
        cards = [_card(visit, task, queue) for queue in own_progress(visit.db, visit.person, task.id)]
    return page(
        visit,
        "home",
        project=task.project,
        task=task.project.task,
        queues=cards,
        titles=titles(task),
    )


@router.get("/p/{project}/about")
def disease(visit: Admitted, queue: str) -> Response:
    """A disease's page: its symptoms and their descriptions, to be read before the first sentence."""
    task = visit.task()
    if queue not in task.queues or task.project.task != "symptoms":
        raise no_page()
    begin = _work_address(visit, queue) if visit.member.role == "annotator" else ""
    return page(
        visit,
        "disease",
        title=queue_title(task, queue),
        symptoms=task.symptoms(queue),
        begin=begin,
    )


@router.get("/p/{project}/work")
def work(visit: Admitted, queue: str = "", before: Place = None) -> Response:
    """The item that is open or the next one; with `before` one's own answer before that assignment."""
    task = visit.task()
    _check_queue(task, queue)
    if before is not None:
        # 0 asks for the last answer.
        earlier = previous(visit.db, visit.person, task.id, queue, before or None)
        if earlier is not None:
            return _item_page(visit, task, queue, earlier)
    return _next_page(visit, task, queue)


@router.post("/p/{project}/work")
def answer(visit: Admitted) -> Response:
    """Save an answer, skip an item or take the last answer back; then the next item."""
    task = visit.task()
    queue = visit.field("queue")
    _check_queue(task, queue)
    action = visit.field("do")
    try:
        if action == "undo":
            undo(visit.db, visit.person, task.id, queue)
            return _onward(visit, task, queue, "Your last answer is open again.")
        submitted = _skip_or_submit(visit, task, queue)
    except Outdated as error:
        return _pause_page(
            visit,
            task,
            [(_work_address(visit, queue), "Next")],
            status=409,
            heading="This has changed meanwhile",
            sentence=sentence_of(error.what),
        )

    if submitted.screened:
        address = _screening_address(visit, queue)
        if visit.by_htmx:
            return Response(headers={"hx-redirect": address})
        return go(address)
    return _onward(visit, task, queue, "Skipped." if action == "skip" else "Saved.")


@router.get("/p/{project}/screening")
def screening(visit: Admitted, queue: str = "") -> Response:
    """The result of one's own screening test, with reasons."""
    task = visit.task()
    _check_queue(task, queue)
    result = screening_result(visit.db, visit.person, task.id, queue)
    if result.state == "open":
        return go(_work_address(visit, queue))

    label_titles = titles(task)
    return page(
        visit,
        "screening",
        project=task.project,
        queue=queue,
        result=result,
        results=[_screened(screened_item, label_titles) for screened_item in result.items],
        work=_work_address(visit, queue),
    )


@router.post("/p/{project}/screening")
def test_again(visit: Admitted) -> Response:
    """Begin a failed screening test again."""
    task = visit.task()
    queue = visit.field("queue")
    _check_queue(task, queue)
    retake(visit.db, visit.person, task.id, queue)
    return go(_work_address(visit, queue))


def _check_queue(task: Task, queue: str) -> None:
    if queue not in task.queues:
        raise no_page()


def _work_address(visit: Visit, queue: str) -> str:
    return f"/p/{visit.member.name}/work?queue={queue}"


def _screening_address(visit: Visit, queue: str) -> str:
    return f"/p/{visit.member.name}/screening?queue={queue}"


def _skip_or_submit(visit: Visit, task: Task, queue: str) -> Submitted:
    """End the assignment that the form is about."""
    unreadable = BadInput("the form cannot be read", code="form.unreadable", do="load the page again")
    try:
        assignment_id = int(visit.field("assignment"))
        seconds = float(visit.field("seconds") or 0)
    except ValueError as error:
        raise unreadable from error
    # Numbers that the database cannot store.
    if not math.isfinite(seconds) or not 0 < assignment_id < 2**31:
        raise unreadable

    if visit.field("do") == "skip":
        return skip(visit.db, visit.person, assignment_id)
    return submit(
        visit.db,
        visit.person,
        assignment_id,
        read_answers(visit, task, queue),
        seconds=seconds,
        token=visit.field("token"),
    )


def _screened(screened_item: ScreenedItem, label_titles: Mapping[str, str]) -> dict[str, Any]:
    """A test item as the page of the result shows it."""
    answers = screened_item.given
    expected = screened_item.expected
    return {
        "text": screened_item.text,
        "expected": spoken(expected, label_titles),
        "given": "skipped" if answers is None else spoken(answers, label_titles),
        "right": answers is not None and dict(answers.marks) == dict(expected.marks),
        "why": screened_item.why,
    }


def _onward(visit: Visit, task: Task, queue: str, message: str) -> Response:
    """The next item: as a part of the page, or after a redirect so that loading again sends nothing twice."""
    if not visit.by_htmx:
        return go(_work_address(visit, queue))
    return _next_page(visit, task, queue, message)


def _next_page(visit: Visit, task: Task, queue: str, message: str = "") -> Response:
    """The page of the next item, or of the reason why there is none."""
    upcoming = next_item(visit.db, visit.person, task.id, queue)
    if isinstance(upcoming, Nothing):
        return _nothing_page(visit, task, queue, upcoming)
    return _item_page(visit, task, queue, upcoming, message)


def _item_page(
    visit: Visit,
    task: Task,
    queue: str,
    assignment: Assignment,
    message: str = "",
) -> Response:
    """The page of an item with its form; `message` says what became of the one before."""
    noun = "sentence" if task.project.task == "symptoms" else "post"
    revising = assignment.state != "claimed"
    answers = assignment.answers
    work_address = _work_address(visit, queue)

    heading = queue_title(task, queue)
    if assignment.stage == "screening":
        heading = f"{heading}: screening test"
    if revising:
        heading = f"{heading}: your answer"

    own_queue = _own_queue(visit, task, queue)
    meter, share = _meter(own_queue)
    back = ""
    if own_queue.done:
        before = assignment.id if revising else 0
        back = f"{work_address}&before={before}"

    return page(
        visit,
        "item" if visit.by_htmx else "work",
        **asked(task, queue, assignment.text),
        heading=heading,
        say=f"{message} Next {noun}." if message else "",
        meter=meter,
        share=share,
        text=assignment.text,
        assignment=assignment.id,
        token=token_urlsafe(16),
        chosen=choices(answers, task),
        spans=spans_json(answers),
        identifying=answers is not None and answers.identifying,
        revising=revising,
        work=f"/p/{visit.member.name}/work",
        onward=work_address,
        back=back,
    )


def _nothing_page(visit: Visit, task: Task, queue: str, nothing: Nothing) -> Response:
    """Why there is no item now, in kind words."""
    clock = f"{time.strftime('%H:%M', time.gmtime(nothing.until))} UTC" if nothing.until else ""
    until = f" until {clock}" if clock else ""
    after = f", after {clock}" if clock else ""
    heading, sentence = {
        "done": ("All done", "There is no text left for you in this queue. Thank you."),
        "break": (
            "Time for a break",
            f"You have read many texts in a row. Take a break{until}; step away from the screen.",
        ),
        "daily_cap": (
            "Enough for today",
            f"You have reached today's limit. You can go on tomorrow{after}.",
        ),
        "paused": ("Paused", "The owner of the project has paused your work. Your answers are kept."),
        "screening_failed": ("Screening test", "You have not passed the screening test of this queue yet."),
    }[nothing.reason]

    links = [(f"/p/{visit.member.name}", "Home")]
    if nothing.reason == "screening_failed":
        links.insert(0, (_screening_address(visit, queue), "See the result"))
    return _pause_page(visit, task, links, heading=heading, sentence=sentence)


def _pause_page(
    visit: Visit,
    task: Task,
    links: Links,
    *,
    status: int = 200,
    heading: str,
    sentence: str,
) -> Response:
    """A page without an item, with links to go on."""
    return page(
        visit,
        "pause" if visit.by_htmx else "paused",
        status=status,
        project=task.project,
        ways=links,
        heading=heading,
        sentences=[sentence],
    )


def _own_queue(visit: Visit, task: Task, queue: str) -> OwnProgress:
    """How far a person is in a queue."""
    own_queues = own_progress(visit.db, visit.person, task.id)
    return next(own_queue for own_queue in own_queues if own_queue.queue == queue)


def _meter(own_queue: OwnProgress) -> tuple[str, float]:
    """How much is done, in words and as a share of the day's cap."""
    done = f"{own_queue.done} done"
    if not own_queue.daily_cap:
        return done, 0.0
    today = f"{own_queue.today} of at most {own_queue.daily_cap} today"
    return f"{done}, {today}", own_queue.today / own_queue.daily_cap


def _card(visit: Visit, task: Task, own_queue: OwnProgress) -> dict[str, str]:
    """A queue on the home page: how it stands, and where to go on."""
    queue = own_queue.queue
    about = ""
    if task.project.task == "symptoms":
        about = f"/p/{visit.member.name}/about?queue={queue}"

    # The page about a disease is read before the first sentence; afterwards it is only a link.
    begun = own_queue.done > 0
    address = about if about and not begun else _work_address(visit, queue)

    if own_queue.screening == "open":
        sentence = "A short screening test comes first."
        action = "Begin"
    elif own_queue.screening == "failed":
        sentence = "You have not passed the screening test."
        action = "See the result"
        address = _screening_address(visit, queue)
    else:
        sentence = f"{own_queue.done} answered, {own_queue.skipped} skipped."
        action = "Continue" if begun else "Begin"

    return {
        "title": queue_title(task, queue),
        "sentence": sentence,
        "address": address,
        "action": action,
        "about": about if begun else "",
    }
