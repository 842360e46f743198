"""Forms with answers: what a person chose on a page becomes Answers, and the other way round."""

import json
from collections.abc import Mapping
from typing import Any

from psycheck.annotate.answers import STATUSES, Answers, Span, Status
from psycheck.annotate.project import Task
from psycheck.annotate.web.access import Visit
from psycheck.annotate.web.keywords import symptoms_named
from psycheck.annotate.web.pages import readable
from psycheck.errors import BadInput, explained

_MARKS = {"yes": 1, "no": 0}


def read_answers(visit: Visit, task: Task, queue: str) -> Answers:
    """The answers in a form; the store checks that they fit the task."""
    labels = task.labels(queue)
    if task.project.task == "conditions":
        marks = {label: _MARKS.get(visit.field(f"label-{label}"), -1) for label in labels}
        yes = {label for label, mark in marks.items() if mark == 1}
        spans = tuple(span for span in _spans(visit.field("spans")) if span.label in yes)
        return Answers(marks, spans=spans, identifying=visit.field("identifying") == "1")
    relevant = {str(name) for name in visit.form.getlist("relevant")}
    status: dict[str, Status] = {}
    for name in relevant:
        given = next((one for one in STATUSES if one == visit.field(f"status-{name}")), None)
        if given is None:
            raise BadInput("the status of a symptom is missing", allowed=" or ".join(STATUSES))
        status[name] = given
    marks = {label: int(label in relevant) for label in labels}
    return Answers({**dict.fromkeys(relevant, 1), **marks}, status)


def choices(answers: Answers | None, task: Task) -> dict[str, str]:
    """What a form shows as chosen: the status of each symptom marked 1, or yes and no of conditions."""
    if answers is None:
        return {}
    if task.project.task == "symptoms":
        return {label: answers.status.get(label, "present") for label, mark in answers.marks.items() if mark}
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
    return {one.name: one.title for one in task.diseases.symptom}


def queue_title(task: Task, queue: str) -> str:
    """The name of a queue as people read it."""
    return str(task.diseases.disease[queue]) if task.project.task == "symptoms" else "Posts"


def spoken(marks: Mapping[str, int], status: Mapping[str, str], named: Mapping[str, str]) -> str:
    """Marks in words: "Depressed mood, Sleep disturbance (uncertain)", or "None of the labels"."""
    yes = [label for label, mark in marks.items() if mark]
    said = [named.get(one, one) + (" (uncertain)" if status.get(one) == "uncertain" else "") for one in yes]
    return ", ".join(said) or "None of the labels"


def spans_json(answers: Answers | None) -> list[dict[str, Any]]:
    """Spans as the page's script reads them."""
    return (
        [{"label": one.label, "start": one.start, "end": one.stop} for one in answers.spans]
        if answers
        else []
    )


def _spans(value: str) -> tuple[Span, ...]:
    with explained("the marked evidence cannot be read", ValueError, TypeError, LookupError, RecursionError):
        found = json.loads(value or "[]")
        return tuple(Span(str(one["label"]), int(one["start"]), int(one["end"])) for one in found)
