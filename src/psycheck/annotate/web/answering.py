"""Forms with answers: what a person chose on a page becomes Answers, and the other way round."""

import itertools
import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, Final

from markupsafe import Markup

from psycheck.annotate.annotator_answers import (
    CONFIDENCES,
    LONGEST_COMMENT,
    STATUSES,
    Answers,
    Span,
    Status,
)
from psycheck.annotate.project import Task
from psycheck.annotate.web.access import Visit
from psycheck.annotate.web.keywords import symptoms_named
from psycheck.annotate.web.pages import PATTERNS, readable
from psycheck.annotate.web.texts import Texts
from psycheck.core.errors import BadInput, explained


@dataclass(frozen=True, slots=True)
class LabelRow:
    """A label of a form: name, title, the number of its colour and line, and its description or ""."""

    name: str
    title: str
    pattern: int
    description: str


_MARKS: Final = {"yes": 1, "no": 0}
_UNANSWERED: Final = -1  # is refused when the answers are checked


def read_answers(visit: Visit, task: Task, queue: str) -> Answers:
    """The answers in a form; the store checks that they fit the task."""
    labels = task.labels(queue)
    is_about_symptoms = task.project.task == "symptoms"
    answers = _read_symptoms(visit, labels) if is_about_symptoms else _read_conditions(visit, labels)
    return replace(
        answers,
        identifying=visit.field("identifying") == "1",
        confidence=_read_confidence(visit.field("confidence")),
        # Browsers send line ends as CR LF.
        comment=visit.field("comment").replace("\r\n", "\n").strip(),
    )


def choices(answers: Answers | None, task: Task) -> dict[str, str]:
    """What a form shows as chosen: the status of each symptom marked 1, or yes and no of conditions."""
    if answers is None:
        return {}
    if task.project.task == "symptoms":
        positive = [label for label, mark in answers.marks.items() if mark]
        return {label: answers.status.get(label, "present") for label in positive}
    return {label: "yes" if mark else "no" for label, mark in answers.marks.items()}


def form_parts(
    visit: Visit,
    task: Task,
    queue: str,
    text: str,
    answers: Answers | None,
) -> dict[str, Any]:
    """What the form about a text needs, whoever answers: labels, what was chosen before, the guidelines."""
    symptoms = task.symptoms(queue)
    # Owners can switch hints off: bold words may lead annotators to mark what they would not.
    hints: frozenset[str] = frozenset()
    if symptoms and task.project.page.hints:
        hints = symptoms_named(text, symptoms)
    return {
        "task": task.project.task,
        "project": task.project,
        "queue": queue,
        "text": text,
        "symptoms": symptoms,
        "hits": hints,
        "labels": label_rows(task, queue),
        "titles": titles(task),
        "chosen": choices(answers, task),
        "spans": spans_json(answers),
        "identifying": answers is not None and answers.identifying,
        "confidence": None if answers is None else answers.confidence,
        "comment": "" if answers is None else answers.comment,
        "confidences": CONFIDENCES,
        "longest_comment": LONGEST_COMMENT,
    }


def label_rows(task: Task, queue: str) -> list[LabelRow]:
    """The labels of a queue as a form lists them; each has its own colour and line for evidence."""
    all_titles = titles(task)
    return [
        LabelRow(
            name=name,
            title=all_titles[name],
            # By place and not by name, so that a label looks the same on every page.
            pattern=number % PATTERNS,
            description=task.project.descriptions.get(name, ""),
        )
        for number, name in enumerate(task.labels(queue))
    ]


def titles(task: Task) -> dict[str, str]:
    """The titles of all labels of a project."""
    if task.project.task == "conditions":
        return {name: readable(name) for name in task.project.labels}
    return {symptom.name: symptom.title for symptom in task.diseases.symptom}


def queue_title(task: Task, queue: str, words: Texts) -> str:
    """The name of a queue as people read it."""
    if task.project.task == "symptoms":
        return str(task.diseases.disease[queue])
    return words("work.posts")


def spoken(answers: Answers, label_titles: Mapping[str, str], words: Texts) -> str:
    """Marks in words: "Depressed mood, Sleep disturbance (uncertain)", or "None of the labels"."""
    phrases = []
    # In the order of the form, which people know; the database keeps none.
    for label, title in label_titles.items():
        if not answers.marks.get(label):
            continue
        is_uncertain = answers.status.get(label) == "uncertain"
        phrases.append(f"{title} ({words('label.uncertain_short')})" if is_uncertain else title)
    return ", ".join(phrases) or words("label.none")


def marked(text: str, answers: Answers, rows: Sequence[LabelRow]) -> Markup:
    """A text with its evidence, each span in the colour and line of its label; overlaps are nested."""
    pattern_of = {row.name: row.pattern for row in rows}
    # Cut where any span begins or ends: between two cuts the same labels hold throughout.
    edges = {0, len(text)}
    for span in answers.spans:
        edges |= {span.start, span.stop}

    cuts = sorted(edges)
    parts = []
    for start, stop in itertools.pairwise(cuts):
        # Escaped piece by piece: marks are the only HTML in a post.
        part = Markup.escape(text[start:stop])
        for label in dict.fromkeys(span.label for span in answers.spans if span.start <= start < span.stop):
            part = Markup('<mark class="e{}">{}</mark>').format(pattern_of.get(label, 0), part)
        parts.append(part)
    return Markup("").join(parts)


def spans_json(answers: Answers | None) -> list[dict[str, Any]]:
    """Spans as the page's script reads them."""
    if answers is None:
        return []
    return [{"label": span.label, "start": span.start, "end": span.stop} for span in answers.spans]


def _read_conditions(visit: Visit, labels: tuple[str, ...]) -> Answers:
    """Yes or no for each label, and evidence; the store refuses evidence for a label answered with no."""
    marks = {label: _MARKS.get(visit.field(f"label-{label}"), _UNANSWERED) for label in labels}
    return Answers(marks=marks, spans=_read_spans(visit.field("spans")))


def _read_confidence(value: str) -> int | None:
    """The confidence; a number that is none of the three is refused by the store."""
    if not value:
        return None
    # 0 is refused by the store, where the error is worded.
    return int(value) if value.isdecimal() and len(value) == 1 else 0


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
        # The browser is not to be trusted: whatever cannot be read is one clear error.
        records = json.loads(value or "[]")
        return tuple(
            Span(
                label=str(record["label"]),
                start=int(record["start"]),
                stop=int(record["end"]),
            )
            for record in records
        )
