"""Pages of annotators: the project's home, a disease's page, the next item, the screening test."""

import math
import time
from collections.abc import Mapping
from secrets import token_urlsafe
from typing import Any

from starlette.responses import Response

from psycheck.annotate.dashboard import OwnProgress, own_progress
from psycheck.annotate.order import suggestions
from psycheck.annotate.project import Task
from psycheck.annotate.queue import Assignment, Nothing, next_item
from psycheck.annotate.refusals import Outdated
from psycheck.annotate.screening import ScreenedItem, retake, screening_result
from psycheck.annotate.submission import Submitted, previous, skip, submit, undo
from psycheck.annotate.web.access import Visit, no_page
from psycheck.annotate.web.answering import form_parts, queue_title, read_answers, spoken, titles
from psycheck.annotate.web.respond import go, page, sentence_of
from psycheck.core.errors import BadInput

Links = list[tuple[str, str]]  # address and text


def home(visit: Visit) -> Response:
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


def disease(visit: Visit) -> Response:
    """A disease's page: its symptoms and their descriptions, to be read before the first sentence."""
    task = visit.task()
    queue = visit.query("queue")
    if queue not in task.queues or task.project.task != "symptoms":
        raise no_page()
    # Others may read the page, too, but have nothing to begin.
    begin = _work_address(visit, queue) if visit.member.role == "annotator" else ""
    return page(
        visit,
        "disease",
        title=queue_title(task, queue, visit.words),
        symptoms=task.symptoms(queue),
        begin=begin,
    )


def work(visit: Visit) -> Response:
    """The item that is open or the next one; with `before` one's own answer before that assignment."""
    task = visit.task()
    queue = visit.query("queue")
    before = visit.query_number("before")
    _check_queue(task, queue)
    if before is not None:
        # 0 asks for the last answer.
        earlier = previous(visit.db, visit.person, task.id, queue, before or None)
        # Without an earlier answer the next item is shown rather than an error.
        if earlier is not None:
            return _item_page(visit, task, queue, earlier)
    return _next_page(visit, task, queue)


def answer(visit: Visit) -> Response:
    """Save an answer, skip an item or take the last answer back; then the next item."""
    task = visit.task()
    queue = visit.field("queue")
    _check_queue(task, queue)
    action = visit.field("do")
    try:
        if action == "undo":
            undo(visit.db, visit.person, task.id, queue)
            return _onward(visit, task, queue, visit.words("work.reopened"))
        submitted = _skip_or_submit(visit, task, queue)
    # Not an error of the annotator: the item is gone, and the page says how to go on.
    except Outdated as error:
        return _pause_page(
            visit,
            task,
            [(_work_address(visit, queue), visit.words("work.next"))],
            status=409,
            heading=visit.words("heading.409"),
            sentence=sentence_of(visit.words.or_same(f"code.{error.code}", error.what)),
        )

    if submitted.screened:
        address = _screening_address(visit, queue)
        if visit.by_htmx:
            return Response(headers={"hx-redirect": address})
        return go(address)
    if action == "skip":
        return _onward(visit, task, queue, visit.words("work.skipped"))
    # Only now: the answer is stored, and what the model says cannot change it.
    note = _models_note(visit, task, visit.field("assignment"))
    return _onward(visit, task, queue, visit.words("work.saved"), note)


def screening(visit: Visit) -> Response:
    """The result of one's own screening test, with reasons."""
    task = visit.task()
    queue = visit.query("queue")
    _check_queue(task, queue)
    result = screening_result(visit.db, visit.person, task.id, queue)
    # A result before the end would help with the rest of the test.
    if result.state == "open":
        return go(_work_address(visit, queue))

    label_titles = titles(task)
    return page(
        visit,
        "screening",
        project=task.project,
        queue=queue,
        result=result,
        results=[_screened(visit, screened_item, label_titles) for screened_item in result.items],
        work=_work_address(visit, queue),
    )


def test_again(visit: Visit) -> Response:
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
        # The browser's clock leaves out the time in which the page was hidden.
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


def _screened(visit: Visit, screened_item: ScreenedItem, label_titles: Mapping[str, str]) -> dict[str, Any]:
    """A test item as the page of the result shows it."""
    words = visit.words
    answers = screened_item.given
    expected = screened_item.expected
    return {
        "text": screened_item.text,
        "expected": spoken(expected, label_titles, words),
        "given": words("screening.skipped") if answers is None else spoken(answers, label_titles, words),
        "right": answers is not None and dict(answers.marks) == dict(expected.marks),
        "why": screened_item.why,
    }


def _models_note(visit: Visit, task: Task, assignment_id: str) -> str:
    """What models say of the text that was just answered; empty unless the owner wants it."""
    if not task.project.page.suggestions:
        return ""
    scores_of_model = suggestions(visit.db, visit.person, int(assignment_id))
    label_titles = titles(task)
    notes = []
    for model, scores in scores_of_model.items():
        label_scores = [f"{label_titles.get(label, label)} {score:.2f}" for label, score in scores.items()]
        notes.append(visit.words("work.model_says", model=model, scores=", ".join(label_scores)))
    return " ".join(notes)


def _onward(visit: Visit, task: Task, queue: str, message: str, note: str = "") -> Response:
    """The next item: as a part of the page, or after a redirect so that loading again sends nothing twice."""
    if not visit.by_htmx:
        return go(_work_address(visit, queue))
    return _next_page(visit, task, queue, message, note)


def _next_page(visit: Visit, task: Task, queue: str, message: str = "", note: str = "") -> Response:
    """The page of the next item, or of the reason why there is none."""
    upcoming = next_item(visit.db, visit.person, task.id, queue)
    if isinstance(upcoming, Nothing):
        return _nothing_page(visit, task, queue, upcoming)
    return _item_page(visit, task, queue, upcoming, message, note)


def _item_page(
    visit: Visit,
    task: Task,
    queue: str,
    assignment: Assignment,
    message: str = "",
    note: str = "",
) -> Response:
    """The page of an item with its form; `message` and `note` say what became of the one before."""
    words = visit.words
    revising = assignment.state != "claimed"
    work_address = _work_address(visit, queue)

    # The heading tells a test from work, but never hidden gold from either.
    heading = queue_title(task, queue, words)
    if assignment.stage == "screening":
        heading = words("work.heading_test", queue=heading)
    if revising:
        heading = words("work.heading_revising", queue=heading)
        note = _models_note(visit, task, str(assignment.id)) if assignment.state == "done" else ""

    own_queue = _own_queue(visit, task, queue)
    back = ""
    # "Back" would lead nowhere before the first answer.
    if own_queue.done:
        before = assignment.id if revising else 0
        back = f"{work_address}&before={before}"

    next_text = words(f"work.next_{task.project.task}")
    return page(
        visit,
        "item" if visit.by_htmx else "work",
        **form_parts(visit, task, queue, assignment.text, assignment.answers),
        heading=heading,
        say=f"{message} {next_text}" if message else "",
        note=note,
        meter=_meter(visit, own_queue, task),
        # Without a cap there is nothing that the bar could be a share of.
        share=own_queue.today / own_queue.daily_cap if own_queue.daily_cap else None,
        assignment=assignment.id,
        # A name for the submission: sent twice, it counts once.
        token=token_urlsafe(16),
        revising=revising,
        work=f"/p/{visit.member.name}/work",
        onward=work_address,
        back=back,
    )


def _nothing_page(visit: Visit, task: Task, queue: str, nothing: Nothing) -> Response:
    """Why there is no item now, in kind words; the page turns the time into the reader's own."""
    words = visit.words
    links = [(f"/p/{visit.member.name}", words("nav.home"))]
    if nothing.reason == "screening_failed":
        links.insert(0, (_screening_address(visit, queue), words("home.see_result")))
    return _pause_page(
        visit,
        task,
        links,
        heading=words(f"nothing.{nothing.reason}.heading"),
        sentence=words(f"nothing.{nothing.reason}.sentence"),
        until=nothing.until,
    )


def _pause_page(
    visit: Visit,
    task: Task,
    links: Links,
    *,
    status: int = 200,
    heading: str,
    sentence: str,
    until: float | None = None,
) -> Response:
    """A page without an item, with links to go on, and until when that is so."""
    return page(
        visit,
        "pause" if visit.by_htmx else "paused",
        status=status,
        project=task.project,
        ways=links,
        heading=heading,
        sentences=[sentence],
        until=until,
        until_utc=time.strftime("%H:%M UTC", time.gmtime(until)) if until else "",
    )


def _own_queue(visit: Visit, task: Task, queue: str) -> OwnProgress:
    """How far a person is in a queue."""
    own_queues = own_progress(visit.db, visit.person, task.id)
    return next(own_queue for own_queue in own_queues if own_queue.queue == queue)


def _meter(visit: Visit, own_queue: OwnProgress, task: Task) -> str:
    """How much is done, and how many texts are left today and before the next break."""
    words = visit.words
    parts = [words.counted("work.done", own_queue.done)]
    if own_queue.daily_cap:
        # New settings may have lowered the cap below what was done today.
        left_today = max(0, own_queue.daily_cap - own_queue.today)
        parts.append(words.counted("work.left_today", left_today))
    if task.project.welfare.break_after:
        # At least one: at 0 the break would have begun.
        before_break = max(1, task.project.welfare.break_after - own_queue.since_break)
        parts.append(words.counted("work.before_break", before_break))
    return " · ".join(parts)


def _card(visit: Visit, task: Task, own_queue: OwnProgress) -> dict[str, str]:
    """A queue on the home page: how it stands, and where to go on."""
    words = visit.words
    queue = own_queue.queue
    about = ""
    if task.project.task == "symptoms":
        about = f"/p/{visit.member.name}/about?queue={queue}"

    # The page about a disease is read before the first sentence; afterwards it is only a link.
    begun = own_queue.done > 0
    address = about if about and not begun else _work_address(visit, queue)

    if own_queue.screening == "open":
        sentence = words("home.test_first")
        action = words("home.begin")
    elif own_queue.screening == "failed":
        sentence = words("home.test_failed")
        action = words("home.see_result")
        address = _screening_address(visit, queue)
    else:
        sentence = words("home.so_far", done=own_queue.done, skipped=own_queue.skipped)
        action = words("home.continue") if begun else words("home.begin")

    return {
        "title": queue_title(task, queue, words),
        "sentence": sentence,
        "address": address,
        "action": action,
        "about": about if begun else "",
    }
