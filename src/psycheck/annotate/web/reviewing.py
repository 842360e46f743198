"""Pages of reviewers, who inspect samples of batches, and of adjudicators, who resolve conflicts."""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any, Final, Literal

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
from psycheck.annotate.refusals import Outdated
from psycheck.annotate.web.access import Visit, no_page
from psycheck.annotate.web.answering import (
    LabelRow,
    form_parts,
    label_rows,
    marked,
    queue_title,
    read_answers,
    spoken,
    titles,
)
from psycheck.annotate.web.respond import go, page, problem
from psycheck.annotate.web.texts import Texts

_MOST_SHOWN: Final = 50
_LETTERS: Final = "ABCDEFGHIJKLMNOPQRSTUVWXYZ"


def all_batches(visit: Visit) -> Response:
    """The batches that wait for inspection, and those that were inspected."""
    task = visit.task()
    return page(
        visit,
        "batches",
        project=task.project,
        waiting=_batches(visit, "waiting"),
        past=[*_batches(visit, "rejected"), *_batches(visit, "accepted")],
        queues={queue: queue_title(task, queue, visit.words) for queue in task.queues},
    )


def close(visit: Visit) -> Response:
    """Close the batches that are not full, so that they can be inspected."""
    close_batches(visit.db, visit.person, visit.member.project)
    return go(f"/p/{visit.member.name}/batches")


def one_batch(visit: Visit, batch: int) -> Response:
    """A batch: which of its sampled texts are inspected, and then how the answers compare."""
    return _batch_page(visit, batch)


def one_answer(visit: Visit, batch: int, assignment: int) -> Response:
    """A sampled text, to be answered by the reviewer, who does not see what the annotator said."""
    return _answer_page(visit, batch, assignment)


def correct_one(visit: Visit, batch: int, assignment: int) -> Response:
    """Save what is right for a sampled text, and go to the next one."""
    shown_batch, sample = _inspected(visit, batch)
    # A reviewer corrects what was drawn, and nothing that they picked themselves.
    if assignment not in {drawn.assignment for drawn in sample}:
        raise no_page()
    correct(visit.db, visit.person, assignment, read_answers(visit, visit.task(), shown_batch.queue))

    uncorrected = [drawn.assignment for drawn in sample if drawn.corrected is None]
    left = [assignment_id for assignment_id in uncorrected if assignment_id != assignment]
    address = f"/p/{visit.member.name}/batches/{batch}"
    return go(f"{address}/{left[0]}" if left else f"{address}#finish")


def finish(visit: Visit, batch: int) -> Response:
    """Score a batch by the corrections, or reject it without a score."""
    _inspected(visit, batch)
    try:
        if visit.field("decision") == "reject":
            reject(visit.db, visit.person, batch)
        elif finish_inspection(visit.db, visit.person, batch).state == "waiting":
            return _batch_page(visit, batch, done=visit.words("batch.drew_more"))
    except Outdated as error:
        return _batch_page(visit, batch, status=error.status, problem=problem(visit, error))
    return go(f"/p/{visit.member.name}/batches")


def open_conflicts(visit: Visit) -> Response:
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


def one_conflict(visit: Visit, item: int) -> Response:
    """An item in conflict with the answers, without names, and the form of the adjudicator."""
    task = visit.task()
    item_in_conflict = _conflict(visit, item)
    all_answers = item_in_conflict.given
    names = [visit.words("conflict.annotator", letter=letter) for letter in _LETTERS[: len(all_answers)]]

    prefilled = item_in_conflict.resolved or _agreed(all_answers)
    if prefilled is not None:
        prefilled = replace(prefilled, identifying=item_in_conflict.flagged)
    rows = label_rows(task, item_in_conflict.queue)
    return page(
        visit,
        "conflict",
        **{
            **form_parts(visit, task, item_in_conflict.queue, item_in_conflict.text, prefilled),
            "identifying": item_in_conflict.flagged,
        },
        item=item,
        names=names,
        rows=_compared(visit, all_answers, rows),
        evidence=_evidence_of(names, all_answers, rows, item_in_conflict.text),
    )


def resolve_one(visit: Visit, item: int) -> Response:
    """Save the adjudicated answer and go to the next conflict."""
    item_in_conflict = _conflict(visit, item)
    answers = read_answers(visit, visit.task(), item_in_conflict.queue)
    resolve(visit.db, visit.person, item, answers)

    address = f"/p/{visit.member.name}/conflicts"
    # One is enough to know where to go next.
    left = conflicts(visit.db, visit.person, visit.member.project, most=1)
    return go(f"{address}/{left[0]}" if left else address)


def _batches(visit: Visit, state: Literal["waiting", "accepted", "rejected"]) -> list[Batch]:
    return batches(visit.db, visit.person, visit.member.project, state)


def _inspected(visit: Visit, batch_id: int) -> tuple[Batch, list[Inspected]]:
    """A batch of this project, not of another one that the person reviews too, and its sample."""
    batch, sample = inspected(visit.db, visit.person, batch_id)
    state: Any = batch.state
    # Somebody may review in several projects: the address must fit this one.
    if batch_id not in {project_batch.id for project_batch in _batches(visit, state)}:
        raise no_page()
    return batch, sample


def _conflict(visit: Visit, item_id: int) -> Conflict:
    """An item of this project in conflict, not of another one that the person adjudicates too."""
    item_in_conflict = conflict(visit.db, visit.person, item_id)
    # Their role there does not make it an item of this page.
    if item_in_conflict.project != visit.member.project:
        raise no_page()
    return item_in_conflict


def _batch_page(visit: Visit, batch_id: int, status: int = 200, **parts: object) -> Response:
    """The page of a batch: its sampled texts, those that were inspected with both answers."""
    task = visit.task()
    batch, sample = _inspected(visit, batch_id)
    rows = label_rows(task, batch.queue)
    label_titles = titles(task)
    next_uninspected = next((drawn.assignment for drawn in sample if drawn.corrected is None), None)
    return page(
        visit,
        "batch",
        status=status,
        **{
            "project": task.project,
            "batch": batch,
            "samples": [_sample(visit, drawn, rows, label_titles) for drawn in sample],
            "left": sum(drawn.corrected is None for drawn in sample),
            "next_answer": next_uninspected,
            "may_reject": visit.member.role == "owner",
            "done": "",
            **parts,
        },
    )


def _answer_page(visit: Visit, batch_id: int, assignment_id: int) -> Response:
    """The form about a sampled text; what the reviewer said before, never what the annotator said."""
    task = visit.task()
    batch, sample = _inspected(visit, batch_id)
    # Samples are short: a search by number needs no query of its own.
    for number, drawn in enumerate(sample, 1):
        if drawn.assignment == assignment_id:
            return page(
                visit,
                "inspect",
                **form_parts(visit, task, batch.queue, drawn.text, drawn.corrected),
                batch=batch,
                number=number,
                samples=len(sample),
                assignment=assignment_id,
            )
    raise no_page()


def _sample(
    visit: Visit,
    drawn: Inspected,
    rows: Sequence[LabelRow],
    label_titles: Mapping[str, str],
) -> dict[str, Any]:
    """A sampled text, as the page of its batch shows it; both answers once it is inspected."""
    shown: dict[str, Any] = {"assignment": drawn.assignment, "inspected": drawn.corrected is not None}
    # What the annotator said stays out of the page until the reviewer has answered.
    if drawn.corrected is not None and drawn.given is not None:
        words = visit.words
        shown |= {
            "by_annotator": marked(drawn.text, drawn.given, rows),
            "by_reviewer": marked(drawn.text, drawn.corrected, rows),
            "given": spoken(drawn.given, label_titles, words),
            "right": spoken(drawn.corrected, label_titles, words),
            "agree": dict(drawn.given.marks) == dict(drawn.corrected.marks),
            "flagged": drawn.flagged,
        }
    return shown


def _compared(
    visit: Visit,
    all_answers: Sequence[Answers],
    rows: Sequence[LabelRow],
) -> list[tuple[str, list[str]]]:
    """A row per label that anybody marked, with what each annotator said, and one for the flag."""
    words = visit.words
    compared = []
    for row in rows:
        # Dozens of symptoms that nobody marked would hide the few that are in dispute.
        if any(answers.marks.get(row.name) for answers in all_answers):
            compared.append(
                (row.title, [_mark_in_words(answers, row.name, words) for answers in all_answers])
            )
    if any(answers.identifying for answers in all_answers):
        flags = [words("label.yes") if answers.identifying else words("label.no") for answers in all_answers]
        compared.append((words("work.identifying"), flags))
    return compared


def _evidence_of(
    names: Sequence[str],
    all_answers: Sequence[Answers],
    rows: Sequence[LabelRow],
    text: str,
) -> list[dict[str, Any]]:
    """What each annotator marked, so that the adjudicator can take it over."""
    # The form's own rows: the same colours beside the text and in the list.
    row_of = {row.name: row for row in rows}
    return [
        {
            "annotator": name,
            "row": row_of[span.label],
            "quote": text[span.start : span.stop],
            "span": {"label": span.label, "start": span.start, "end": span.stop},
        }
        for name, answers in zip(names, all_answers, strict=True)
        for span in answers.spans
    ]


def _mark_in_words(answers: Answers, label: str, words: Texts) -> str:
    if not answers.marks.get(label):
        return words("label.no")
    status = answers.status.get(label)
    return words("label.yes") if status is None else words(f"label.{status}")


def _agreed(all_answers: Sequence[Answers]) -> Answers | None:
    """What all annotators marked: the adjudicator decides on the rest, and for conditions on everything."""
    has_status = any(answers.status for answers in all_answers)
    # For conditions a prefilled yes would be an answer that nobody gave.
    if not has_status:
        return None

    marks = {}
    for label in all_answers[0].marks:
        marks[label] = int(all(answers.marks.get(label) for answers in all_answers))
    positive = [label for label, mark in marks.items() if mark]
    return Answers(marks, status=dict.fromkeys(positive, "present"))
