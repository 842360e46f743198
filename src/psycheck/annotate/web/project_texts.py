"""Pages of owners: the texts of a project, searched and filtered, and what can be done with each."""

from dataclasses import asdict
from typing import Any, Final
from urllib.parse import urlencode

from starlette.responses import Response

from psycheck.annotate.adjudication import requeue
from psycheck.annotate.erasure import erase_author, erase_items
from psycheck.annotate.exchanged_records import Response as Answer
from psycheck.annotate.flagged import set_flag
from psycheck.annotate.item_search import (
    PAGE,
    STATES,
    Search,
    close_item,
    free_item,
    item_with_answers,
    search_items,
)
from psycheck.annotate.membership import members
from psycheck.annotate.project import Task
from psycheck.annotate.web.access import Visit, no_page
from psycheck.annotate.web.answering import LabelRow, label_rows, marked, queue_title, spoken, titles
from psycheck.annotate.web.respond import go, page, problem
from psycheck.core.errors import PsycheckError

_SURE: Final = "yes"  # what a form must say before something is erased


def all_texts(visit: Visit) -> Response:
    """The texts of a project, searched by id and filtered by label, annotator and state."""
    return _list_page(visit)


def one_text(visit: Visit, item: int) -> Response:
    """A text with all that was said of it."""
    return _text_page(visit, item)


def change_text(visit: Visit, item: int) -> Response:
    """Ask again about a text, free, close, open, flag or erase it."""
    db, who, project_id = visit.db, visit.person, visit.member.project
    match visit.field("do"):
        case "requeue":
            requeue(db, who, project_id, item)
        case "free":
            free_item(db, who, project_id, item)
        case "close" | "open" as action:
            close_item(db, who, project_id, item, closed=action == "close")
        case "flag" | "clear" as action:
            set_flag(db, who, project_id, item, identifying=action == "flag")
        case "erase":
            if visit.field("sure") != _SURE:
                return _text_page(visit, item, status=400, problem=_not_sure(visit))
            # The text's page is gone with the text.
            erase_items(db, who, project_id, [item])
            return go(f"/p/{visit.member.name}/texts")
        case _:
            raise no_page()
    return go(f"/p/{visit.member.name}/texts/{item}")


def erase_an_author(visit: Visit) -> Response:
    """Erase all texts of an author."""
    if visit.field("sure") != _SURE:
        return _list_page(visit, status=400, problem=_not_sure(visit))
    try:
        texts = erase_author(visit.db, visit.person, visit.member.project, visit.field("author"))
    except PsycheckError as error:
        return _list_page(visit, status=getattr(error, "status", 400), problem=problem(visit, error))
    return _list_page(visit, done=visit.words.counted("texts.erased", texts))


def _not_sure(visit: Visit) -> dict[str, Any]:
    return {"what": visit.words("texts.not_sure"), "parts": []}


def _list_page(visit: Visit, status: int = 200, **parts: Any) -> Response:
    """The list of texts that the search in the address finds."""
    task = visit.task()
    state: Any = visit.query("state")
    # Only a forged address: the form offers these states alone.
    if state not in STATES:
        raise no_page()
    search = Search(
        id=visit.query("id"),
        label=visit.query("label"),
        annotator=visit.query("annotator"),
        state=state,
        after=visit.query_number("after") or 0,
    )
    listed_texts = search_items(visit.db, visit.person, task.id, search)
    onward = ""
    if len(listed_texts) > PAGE:
        # By the number of the last text, not by pages: texts that are erased meanwhile shift nothing.
        onward = "?" + urlencode({**asdict(search), "after": listed_texts[PAGE - 1].number})

    # Whoever has left is not offered: their answers are found by text.
    everybody = members(visit.db, visit.person, task.id)
    return page(
        visit,
        "texts",
        status=status,
        project=task.project,
        search=search,
        listed_texts=listed_texts[:PAGE],
        onward=onward,
        states=STATES,
        label_titles=titles(task),
        queues={queue: queue_title(task, queue, visit.words) for queue in task.queues},
        annotators=[member.name for member in everybody if member.role == "annotator"],
        **{"done": "", **parts},
    )


def _text_page(visit: Visit, item_id: int, status: int = 200, **parts: Any) -> Response:
    """The page of a text."""
    task = visit.task()
    listed, answered = item_with_answers(visit.db, visit.person, task.id, item_id)
    rows = label_rows(task, listed.queue)
    return page(
        visit,
        "text",
        status=status,
        project=task.project,
        listed=listed,
        queue_title=queue_title(task, listed.queue, visit.words),
        text=answered.text,
        answers=[_shown_answer(visit, task, rows, answered.text, answer) for answer in answered.responses],
        **parts,
    )


def _shown_answer(
    visit: Visit,
    task: Task,
    rows: list[LabelRow],
    text: str,
    answer: Answer,
) -> dict[str, Any]:
    """What one person said of a text, with the evidence marked in it."""
    answers = answer.answers
    words = visit.words
    return {
        "who": answer.annotator if answer.role == "annotator" else words(f"role.{answer.role}"),
        "labels": spoken(answers, titles(task), words),
        "marked": marked(text, answers, rows) if answers.spans else "",
        "identifying": answers.identifying,
        "confidence": answers.confidence,
        "comment": answers.comment,
    }
