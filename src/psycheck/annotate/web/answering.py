"""Forms with answers: what a person chose on a page becomes Answers, and the other way round."""

import json
from collections.abc import Mapping
from typing import Any, Final

from psycheck.annotate.annotator_answers import STATUSES, Answers, Span, Status
from psycheck.annotate.project import Task
from psycheck.annotate.web.access import Visit
from psycheck.annotate.web.keywords import symptoms_named
from psycheck.annotate.web.pages import readable
from psycheck.core.errors import BadInput, explained

_MARKS: Final = {"yes": 1, "no": 0}
_UNANSWERED: Final = -1  # is refused when the answers are checked


def read_answers(visit: Visit, task: Task, queue: str) -> Answers:
    """The answers in a form; the store checks that they fit the task."""
    if task.project.task == "conditions":
        return _read_conditions(visit, task.labels(queue))
    return _read_symptoms(visit, task.labels(queue))


def choices(answers: Answers | None, task: Task) -> dict[str, str]:
    """What a form shows as chosen: the status of each symptom marked 1, or yes and no of conditions."""
    if answers is None:
        return {}
    if task.project.task == "symptoms":
        positive = [label for label, mark in answers.marks.items() if mark]
        return {label: answers.status.get(label, "present") for label in positive}
    return {label: "yes" if mark else "no" for label, mark in answers.marks.items()}


def asked(task: Task, queue: str, text: str = "") -> dict[str, Any]:
    """What the form of a queue asks about: symptoms, those that the text may name, or labels with titles."""
    symptoms = task.symptoms(queue)
    return {
        "task": task.project.task,
        "project": task.project,
        "queue": queue,
        "symptoms": symptoms,
        "hits": symptoms_named(text, symptoms) if symptoms else frozenset(),
        "labels": [(name, readable(name)) for name in task.labels(queue)],
    }


def titles(task: Task) -> dict[str, str]:
    """The titles of all labels of a project."""
    if task.project.task == "conditions":
        return {name: readable(name) for name in task.project.labels}
    return {symptom.name: symptom.title for symptom in task.diseases.symptom}


def queue_title(task: Task, queue: str) -> str:
    """The name of a queue as people read it."""
    if task.project.task == "symptoms":
        return str(task.diseases.disease[queue])
    return "Posts"


def spoken(answers: Answers, label_titles: Mapping[str, str]) -> str:
    """Marks in words: "Depressed mood, Sleep disturbance (uncertain)", or "None of the labels"."""
    phrases = []
    for label, mark in answers.marks.items():
        if not mark:
            continue
        title = label_titles.get(label, label)
        is_uncertain = answers.status.get(label) == "uncertain"
        phrases.append(f"{title} (uncertain)" if is_uncertain else title)
    return ", ".join(phrases) or "None of the labels"


def spans_json(answers: Answers | None) -> list[dict[str, Any]]:
    """Spans as the page's script reads them."""
    if answers is None:
        return []
    return [{"label": span.label, "start": span.start, "end": span.stop} for span in answers.spans]


def _read_conditions(visit: Visit, labels: tuple[str, ...]) -> Answers:
    """Yes or no for each label, evidence for those with yes, and the flag for identifying details."""
    marks = {label: _MARKS.get(visit.field(f"label-{label}"), _UNANSWERED) for label in labels}
    # A label that was changed to no may still have evidence in the form.
    spans = [span for span in _read_spans(visit.field("spans")) if marks.get(span.label) == 1]
    return Answers(
        marks=marks,
        spans=tuple(spans),
        identifying=visit.field("identifying") == "1",
    )


def _read_symptoms(visit: Visit, labels: tuple[str, ...]) -> Answers:
    """The symptoms that were chosen, each with its status."""
    relevant = {str(name) for name in visit.form.getlist("relevant")}
    status = {name: _read_status(visit.field(f"status-{name}")) for name in relevant}

    # A name that is not a label stays, so that it is refused when the answers are checked.
    marks = dict.fromkeys(relevant, 1)
    marks |= {label: int(label in relevant) for label in labels}
    return Answers(marks=marks, status=status)


def _read_status(value: str) -> Status:
    for status in STATUSES:
        if status == value:
            return status
    raise BadInput(
        "the status of a symptom is missing",
        code="form.missing-status",
        allowed=" or ".join(STATUSES),
    )


def _read_spans(value: str) -> tuple[Span, ...]:
    """The spans that the page's script put into the form as JSON."""
    with explained(
        "the marked evidence cannot be read",
        ValueError,
        TypeError,
        LookupError,
        RecursionError,
        code="form.bad-spans",
    ):
        records = json.loads(value or "[]")
        return tuple(
            Span(
                label=str(record["label"]),
                start=int(record["start"]),
                stop=int(record["end"]),
            )
            for record in records
        )
