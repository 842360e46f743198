"""Records of Label Studio and Argilla, both ways.

Label Studio counts characters as JavaScript does (an emoji is two), psycheck and Argilla as Python does.
Both leave out who was not asked about what: `asked` keeps the labels that an annotator saw, so that a label
which was not asked about does not become a 0. Without it, all labels that occur in the file were asked.
"""

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any
from uuid import NAMESPACE_URL, uuid5
from xml.etree import ElementTree as Xml

from psycheck.errors import BadInput, explained

LABELS, UNCERTAIN, SPANS = "labels", "uncertain", "spans"
_MISSHAPEN = (TypeError, AttributeError, ValueError, KeyError)


@dataclass(frozen=True, slots=True)
class Span:
    """A passage that is evidence for a label: its characters from `start` up to `end`."""

    label: str
    start: int
    end: int


@dataclass(frozen=True, slots=True)
class Answer:
    """What one annotator said about one item: each label that was asked, 1 or 0, which of them are uncertain.

    `time` is when (ISO), `seconds` how long it took.
    """

    annotator: str
    values: Mapping[str, int]
    uncertain: frozenset[str] = frozenset()
    spans: tuple[Span, ...] = ()
    time: str = ""
    seconds: float | None = None


@dataclass(frozen=True, slots=True)
class Answered:
    """An item with all that was said about it."""

    item: str
    text: str
    answers: tuple[Answer, ...] = ()


Found = tuple[Answered, list[list[str] | None]]
"""An item, and the labels that each of its annotators was asked about, None where the file does not say."""


def to_label_studio(every: Iterable[Answered]) -> Iterator[dict[str, Any]]:
    """Tasks with annotations, for a project with the set-up of `label_studio_setup`."""
    for one in every:
        places = _units(one.text)
        yield {
            "data": {"text": one.text, "item": one.item},
            "annotations": [
                {
                    "completed_by": {"email": answer.annotator},
                    "created_at": answer.time,
                    "lead_time": answer.seconds,
                    "result": [
                        _choices(LABELS, [name for name, value in answer.values.items() if value]),
                        _choices(UNCERTAIN, sorted(answer.uncertain)),
                        *(_passage(span, one.text, places) for span in answer.spans),
                    ],
                    "meta": {"asked": list(answer.values)},
                }
                for answer in one.answers
            ],
        }


def label_studio_setup(labels: Sequence[str]) -> str:
    """The labelling set-up of a Label Studio project that shows these tasks."""
    view = Xml.Element("View")
    Xml.SubElement(view, "Text", name="text", value="$text")
    for name, kind, part in (
        (LABELS, "Choices", "Choice"),
        (UNCERTAIN, "Choices", "Choice"),
        (SPANS, "Labels", "Label"),
    ):
        control = Xml.SubElement(view, kind, {"name": name, "toName": "text", "choice": "multiple"})
        for label in labels:
            Xml.SubElement(control, part, value=label)
    Xml.indent(view)
    return Xml.tostring(view, encoding="unicode") + "\n"


def from_label_studio(tasks: Sequence[Any], text: str = "text") -> list[Answered]:
    """Read exported tasks; `text` is the field of `data` that holds the text.

    Any choices and labels of any control count, except for those of a control called "uncertain".
    """
    return _asked(list(_read(tasks, "task", text, _task)))


def _task(number: int, task: Any, field: str) -> Found:
    where = f"task {number}"
    data = _part(task, "data", dict, where)
    text = _part(data, field, str, f"{where}, data")
    offsets = _points(text)
    answers, asked = [], list[list[str] | None]()
    for one in _part(task, "annotations", list, where, []):
        if not isinstance(one, dict) or one.get("was_cancelled"):
            continue
        given, uncertain, spans = set[str](), set[str](), list[Span]()
        for part in _part(one, "result", list, where):
            value = _part(part, "value", dict, f"{where}, result")
            names = [str(name) for name in value.get("choices") or value.get("labels") or ()]
            if "choices" in value:
                (uncertain if part.get("from_name") == UNCERTAIN else given).update(names)
            elif "start" in value and "end" in value:
                start, end = (offsets.get(value[key], -1) for key in ("start", "end"))
                if not 0 <= start < end:
                    raise BadInput("a span lies outside its text", where=where, allowed="0 up to its length")
                spans += [Span(name, start, end) for name in names]
        who = one.get("completed_by", "")
        name = str(who.get("email") or who.get("id", "")) if isinstance(who, dict) else str(who)
        seconds = one.get("lead_time")
        given |= {span.label for span in spans}
        answers.append(
            Answer(
                name or "unknown",
                dict.fromkeys(sorted(given), 1),
                frozenset(uncertain),
                tuple(spans),
                str(one.get("created_at") or ""),
                float(seconds) if isinstance(seconds, int | float) else None,
            )
        )
        meta = one.get("meta")
        asked.append(meta.get("asked") if isinstance(meta, dict) else None)
    item = str(data.get("item") or task.get("id") or number)
    return Answered(item, text, tuple(answers)), asked


def to_argilla(every: Iterable[Answered]) -> Iterator[dict[str, Any]]:
    """Records with responses to the questions "labels", "uncertain" (several labels each) and "spans".

    Argilla knows annotators by a UUID; `metadata.annotators` keeps their names in the order of the responses.
    """
    for one in every:
        questions: dict[str, list[dict[str, Any]]] = {LABELS: [], UNCERTAIN: [], SPANS: []}
        for answer in one.answers:
            values = {
                LABELS: [name for name, value in answer.values.items() if value],
                UNCERTAIN: sorted(answer.uncertain),
                SPANS: [{"start": s.start, "end": s.end, "label": s.label} for s in answer.spans],
            }
            for question, value in values.items():
                user = str(uuid5(NAMESPACE_URL, f"psycheck/{answer.annotator}"))
                questions[question].append({"value": value, "user_id": user})
        yield {
            "id": one.item,
            "fields": {"text": one.text},
            "metadata": {
                "annotators": [answer.annotator for answer in one.answers],
                "asked": [",".join(answer.values) for answer in one.answers],
                "time": [answer.time for answer in one.answers],
                "seconds": [answer.seconds for answer in one.answers],
            },
            "suggestions": {},
            "responses": questions,
            "vectors": {},
        }


def from_argilla(records: Sequence[Any], text: str = "text") -> list[Answered]:
    """Read records as `dataset.records.to_json` writes them; `text` is the field that holds the text.

    Any question whose answers are labels or spans counts, except for one called "uncertain".
    """
    return _asked(list(_read(records, "record", text, _record)))


def _record(number: int, record: Any, field: str) -> Found:
    where = f"record {number}"
    text = _part(_part(record, "fields", dict, where), field, str, f"{where}, fields")
    users: dict[str, dict[str, Any]] = {}
    for question, responses in (_part(record, "responses", dict, where, {}) or {}).items():
        for response in responses or ():
            own = users.setdefault(str(_part(response, "user_id", object, where)), {})
            own[question] = _part(response, "value", object, where)
    extra = record.get("metadata") or {}
    told: dict[str, list[Any]] = {
        key: value
        if isinstance(value := extra.get(key), list) and len(value) == len(users)
        else [None] * len(users)
        for key in ("annotators", "asked", "time", "seconds")
    }
    answers, asked = [], list[list[str] | None]()
    for place, (user, said) in enumerate(users.items()):
        spans: list[Span] = []
        given: set[str] = set()
        for question, value in said.items():
            for part in value if isinstance(value, list) else [value]:
                if isinstance(part, dict) and {"start", "end", "label"} <= part.keys():
                    if not 0 <= part["start"] < part["end"] <= len(text):
                        raise BadInput(
                            "a span lies outside its text", where=where, allowed="0 up to its length"
                        )
                    spans.append(Span(str(part["label"]), part["start"], part["end"]))
                elif question != UNCERTAIN and isinstance(part, str):
                    given.add(part)
        uncertain = frozenset(str(name) for name in said.get(UNCERTAIN) or ())
        given |= {span.label for span in spans}
        answers.append(
            Answer(
                told["annotators"][place] or user,
                dict.fromkeys(sorted(given), 1),
                uncertain,
                tuple(spans),
                told["time"][place] or "",
                told["seconds"][place],
            )
        )
        names = told["asked"][place]
        asked.append(names.split(",") if names else None)
    return Answered(str(record.get("id") or number), text, tuple(answers)), asked


def _read(
    every: Sequence[Any], kind: str, field: str, one: Callable[[int, Any, str], Found]
) -> Iterator[Found]:
    for number, whole in enumerate(every, 1):
        what, allowed = f"the {kind} is not built as it should be", "the JSON that the program exports"
        with explained(what, *_MISSHAPEN, kind=BadInput, where=f"{kind} {number}", allowed=allowed):
            yield one(number, whole, field)


def _asked(found: Sequence[Found]) -> list[Answered]:
    """Give every label that an annotator was asked about, and did not mark, a 0."""
    known = sorted({name for one, _ in found for answer in one.answers for name in answer.values})
    out = []
    for one, asked in found:
        answers = tuple(
            Answer(
                answer.annotator,
                {
                    name: answer.values.get(name, 0)
                    for name in dict.fromkeys([*(names or known), *answer.values])
                },
                answer.uncertain & answer.values.keys(),
                answer.spans,
                answer.time,
                answer.seconds,
            )
            for answer, names in zip(one.answers, asked, strict=True)
        )
        out.append(Answered(one.item, one.text, answers))
    return out


def _part(whole: Any, key: str, kind: type, where: str, default: Any = None) -> Any:
    """What stands under a key, of the kind that it must be."""
    value = whole.get(key, default) if isinstance(whole, dict) else None
    if not isinstance(value, kind) or value is None:
        raise BadInput(
            f"'{key}' is missing or is not what it should be", where=where, allowed=f"a record with '{key}'"
        )
    return value


def _choices(name: str, chosen: list[str]) -> dict[str, Any]:
    return {"from_name": name, "to_name": "text", "type": "choices", "value": {"choices": chosen}}


def _passage(span: Span, text: str, places: Sequence[int]) -> dict[str, Any]:
    value = {
        "start": places[span.start],
        "end": places[span.end],
        "text": text[span.start : span.end],
        "labels": [span.label],
    }
    return {"from_name": SPANS, "to_name": "text", "type": "labels", "value": value}


def _units(text: str) -> list[int]:
    """The place of each character, and of the end, in UTF-16 units."""
    places = [0]
    for character in text:
        places.append(places[-1] + (2 if character > "\uffff" else 1))
    return places


def _points(text: str) -> dict[int, int]:
    """From UTF-16 units to characters."""
    return {unit: point for point, unit in enumerate(_units(text))}
