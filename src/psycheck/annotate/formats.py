"""Records of Label Studio and Argilla, both ways.

Label Studio counts characters as JavaScript does (an emoji is two), psycheck and Argilla as Python does.
Both leave out who was not asked about what: `asked` keeps the labels that an annotator saw, so that a label
which was not asked about does not become a 0. Without it, all labels that occur in the file were asked.
"""

import math
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import accumulate
from typing import Any
from uuid import NAMESPACE_URL, uuid5
from xml.etree import ElementTree as Xml

from psycheck.annotate.answers import Answers, Span, Status
from psycheck.errors import BadInput, explained

LABELS, UNCERTAIN, IDENTIFYING, SPANS = "labels", "uncertain", "identifying", "spans"
YES = "yes"
_MISSHAPEN = (TypeError, AttributeError, ValueError, KeyError)


@dataclass(frozen=True, slots=True)
class Said:
    """What one annotator said about an item, when (ISO, "" if unknown), and how many seconds it took."""

    annotator: str
    answers: Answers
    time: str = ""
    seconds: float | None = None


@dataclass(frozen=True, slots=True)
class Answered:
    """An item with all that was said about it."""

    item: str
    text: str
    said: tuple[Said, ...] = ()


@dataclass(frozen=True, slots=True)
class _Raw:
    """One annotator's answers as a file has them; `asked` and `uncertain` are None where it does not say."""

    annotator: str
    given: frozenset[str]
    asked: tuple[str, ...] | None
    uncertain: frozenset[str] | None
    spans: tuple[Span, ...]
    identifying: bool
    time: str
    seconds: float | None


_Found = tuple[str, str, list[_Raw]]  # item, text and what was said


def to_label_studio(every: Iterable[Answered]) -> Iterator[dict[str, Any]]:
    """Tasks with annotations, for a project with the set-up of `label_studio_setup`."""
    for one in every:
        places = _units(one.text)
        yield {
            "data": {"text": one.text, "item": one.item},
            "annotations": [
                {
                    "completed_by": {"email": said.annotator},
                    "created_at": said.time,
                    "lead_time": said.seconds,
                    "result": [
                        *(_choices(name, chosen) for name, chosen in _chosen(said.answers).items()),
                        *(_passage(span, one.text, places) for span in said.answers.spans),
                    ],
                    "meta": {"asked": list(said.answers.marks)},
                }
                for said in one.said
            ],
        }


def label_studio_setup(labels: Sequence[str]) -> str:
    """The labelling set-up of a Label Studio project that shows these tasks."""
    view = Xml.Element("View")
    Xml.SubElement(view, "Text", name="text", value="$text")
    parts = {LABELS: labels, UNCERTAIN: labels, IDENTIFYING: [YES], SPANS: labels}
    for name, values in parts.items():
        kind, part = ("Labels", "Label") if name == SPANS else ("Choices", "Choice")
        control = Xml.SubElement(view, kind, {"name": name, "toName": "text", "choice": "multiple"})
        for value in values:
            Xml.SubElement(control, part, value=value)
    Xml.indent(view)
    return Xml.tostring(view, encoding="unicode") + "\n"


def from_label_studio(tasks: Sequence[Any], text: str = "text") -> list[Answered]:
    """Read exported tasks; `text` is the field of `data` that holds the text.

    Choices and labels of any control are labels, except for those of "uncertain" and "identifying".
    """
    return _answered(list(_read(tasks, "task", text, _task)))


def to_argilla(every: Iterable[Answered]) -> Iterator[dict[str, Any]]:
    """Records with responses to "labels", "uncertain", "identifying" (labels each) and "spans".

    Argilla knows annotators by a UUID; `metadata.annotators` keeps their names in the order of the responses.
    """
    for one in every:
        questions: dict[str, list[dict[str, Any]]] = {}
        for said in one.said:
            user = str(uuid5(NAMESPACE_URL, f"psycheck/{said.annotator}"))
            spans = [{"start": s.start, "end": s.stop, "label": s.label} for s in said.answers.spans]
            for question, value in {**_chosen(said.answers), SPANS: spans}.items():
                questions.setdefault(question, []).append({"value": value, "user_id": user})
        yield {
            "id": one.item,
            "fields": {"text": one.text},
            "metadata": {
                "annotators": [said.annotator for said in one.said],
                "asked": [list(said.answers.marks) for said in one.said],
                "time": [said.time for said in one.said],
                "seconds": [said.seconds for said in one.said],
            },
            "suggestions": {},
            "responses": questions,
            "vectors": {},
        }


def from_argilla(records: Sequence[Any], text: str = "text") -> list[Answered]:
    """Read records as `dataset.records.to_json` writes them; `text` is the field that holds the text.

    Answers to any question that are labels or spans count, except for "uncertain" and "identifying".
    """
    return _answered(list(_read(records, "record", text, _record)))


def _chosen(answers: Answers) -> dict[str, list[str]]:
    """The labels of each control: given, uncertain (where the status was asked), identifying."""
    chosen = {LABELS: [name for name, mark in answers.marks.items() if mark]}
    if answers.status:
        chosen[UNCERTAIN] = [name for name, status in answers.status.items() if status == "uncertain"]
    return chosen | {IDENTIFYING: [YES] * answers.identifying}


def _read(every: Sequence[Any], kind: str, field: str, one: Callable[..., _Found]) -> Iterator[_Found]:
    for number, whole in enumerate(every, 1):
        what, allowed = f"the {kind} is not built as it should be", "the JSON that the program exports"
        with explained(what, *_MISSHAPEN, kind=BadInput, where=f"{kind} {number}", allowed=allowed):
            yield one(number, whole, field)


def _task(number: int, task: Any, field: str) -> _Found:
    data = task["data"]
    text, found = _text(data[field]), list[_Raw]()
    points = {unit: point for point, unit in enumerate(_units(text))}
    for one in task.get("annotations") or ():
        if one.get("was_cancelled"):
            continue
        chosen, spans = dict[str, set[str]](), list[Span]()
        for part in one["result"]:
            value, control = part["value"], str(part.get("from_name", LABELS))
            if "choices" in value:
                chosen.setdefault(control, set()).update(map(_text, value["choices"]))
            elif "start" in value and "labels" in value:
                spans += [
                    _span(name, points[value["start"]], points[value["end"]], text)
                    for name in value["labels"]
                ]
        who, meta = one.get("completed_by", ""), one.get("meta") or {}
        name = who.get("email") or who.get("id") if isinstance(who, dict) else who
        taken = one.get("lead_time")
        times = str(one.get("created_at") or ""), None if taken is None else float(taken)
        found.append(_raw(str(name or "unknown"), chosen, spans, meta.get("asked"), *times))
    return str(data.get("item") or task.get("id") or number), text, found


def _record(number: int, record: Any, field: str) -> _Found:
    text, users = _text(record["fields"][field]), dict[str, dict[str, Any]]()
    for question, responses in (record.get("responses") or {}).items():
        for response in responses or ():
            users.setdefault(_text(response["user_id"]), {})[str(question)] = response["value"]
    told, found = record.get("metadata") or {}, list[_Raw]()
    for place, (user, said) in enumerate(users.items()):
        chosen, spans = dict[str, set[str]](), list[Span]()
        for question, value in said.items():
            parts = value if isinstance(value, list) else [value]
            marked = [part for part in parts if isinstance(part, dict)]
            spans += [_span(part["label"], part["start"], part["end"], text) for part in marked]
            if len(marked) < len(parts) or not parts:
                chosen[question] = {part for part in parts if isinstance(part, str)}
        name, asked, time, seconds = (
            told[key][place] if len(told.get(key, ())) == len(users) else None
            for key in ("annotators", "asked", "time", "seconds")
        )
        times = str(time or ""), None if seconds is None else float(seconds)
        found.append(_raw(str(name or user), chosen, spans, asked, *times))
    return str(record.get("id") or number), text, found


def _raw(
    annotator: str,
    chosen: Mapping[str, set[str]],
    spans: Sequence[Span],
    asked: Sequence[str] | None,
    time: str,
    seconds: float | None,
) -> _Raw:
    if seconds is not None and not 0 <= seconds < math.inf:
        raise ValueError
    given = {
        name for control, names in chosen.items() if control not in (UNCERTAIN, IDENTIFYING) for name in names
    }
    return _Raw(
        annotator,
        frozenset(given | {span.label for span in spans}),
        None if asked is None else tuple(map(_text, asked)),
        frozenset(chosen[UNCERTAIN]) if UNCERTAIN in chosen else None,
        tuple(spans),
        bool(chosen.get(IDENTIFYING)),
        time,
        seconds,
    )


def _answered(found: Sequence[_Found]) -> list[Answered]:
    """Give labels that were asked about and not chosen a 0, and each 1 its status where the file has any."""
    every = [raw for _, _, raws in found for raw in raws]
    known = sorted({name for raw in every for name in raw.given})
    graded = any(raw.uncertain is not None for raw in every)
    out = []
    for item, text, raws in found:
        said = []
        for raw in raws:
            asked = dict.fromkeys([*(known if raw.asked is None else raw.asked), *sorted(raw.given)])
            marks = {name: int(name in raw.given) for name in asked}
            unsure = raw.uncertain or frozenset()
            status: dict[str, Status] = (
                {name: "uncertain" if name in unsure else "present" for name, mark in marks.items() if mark}
                if graded
                else {}
            )
            answers = Answers(marks, status, raw.spans, raw.identifying)
            said.append(Said(raw.annotator, answers, raw.time, raw.seconds))
        out.append(Answered(item, text, tuple(said)))
    return out


def _text(value: Any) -> str:
    if not isinstance(value, str):
        raise TypeError
    return value


def _span(label: Any, start: Any, stop: Any, text: str) -> Span:
    if not (isinstance(start, int) and isinstance(stop, int) and 0 <= start < stop <= len(text)):
        raise ValueError
    return Span(_text(label), start, stop)


def _choices(name: str, chosen: list[str]) -> dict[str, Any]:
    return {"from_name": name, "to_name": "text", "type": "choices", "value": {"choices": chosen}}


def _passage(span: Span, text: str, places: Sequence[int]) -> dict[str, Any]:
    value = {
        "start": places[span.start],
        "end": places[span.stop],
        "text": text[span.start : span.stop],
        "labels": [span.label],
    }
    return {"from_name": SPANS, "to_name": "text", "type": "labels", "value": value}


def _units(text: str) -> list[int]:
    """The place of each character, and of the end, in UTF-16 units."""
    return [0, *accumulate(2 if character > "\uffff" else 1 for character in text)]
