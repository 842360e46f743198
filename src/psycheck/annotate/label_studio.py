"""Tasks of Label Studio, both ways.

Label Studio counts characters as JavaScript does (an emoji is two), psycheck as Python does.
"""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import accumulate
from typing import Any
from xml.etree import ElementTree as Xml

from psycheck.annotate.annotator_answers import Span
from psycheck.annotate.exchanged_records import (
    DECIDERS,
    IDENTIFYING,
    LABELS,
    SPANS,
    UNCERTAIN,
    YES,
    Answered,
    RawItem,
    RawResponse,
    Response,
    as_span,
    as_text,
    choices_of,
    raw_response,
    read_items,
)


def to_label_studio(items: Iterable[Answered]) -> Iterator[dict[str, Any]]:
    """Tasks with annotations, for a project with the set-up of `label_studio_setup`."""
    for item in items:
        # Once per text: every span of every annotator uses the same offsets.
        units = _utf16_offsets(item.text)
        yield {
            "data": {"text": item.text, "item": item.item},
            "annotations": [_annotation(response, item.text, units) for response in item.responses],
        }


def label_studio_setup(labels: Sequence[str]) -> str:
    """The labelling set-up of a Label Studio project that shows these tasks."""
    view = Xml.Element("View")
    Xml.SubElement(view, "Text", name="text", value="$text")

    # Names of controls are what the reader looks for: both sides use the constants.
    _add_control(view, "Choices", "Choice", LABELS, labels)
    _add_control(view, "Choices", "Choice", UNCERTAIN, labels)
    _add_control(view, "Choices", "Choice", IDENTIFYING, [YES])
    _add_control(view, "Labels", "Label", SPANS, labels)

    Xml.indent(view)
    return Xml.tostring(view, encoding="unicode") + "\n"


def from_label_studio(tasks: Sequence[Any], text: str = "text") -> list[Answered]:
    """Read exported tasks; `text` is the field of `data` that holds the text.

    Choices and labels of any control are labels, except for those of "uncertain" and "identifying".
    """

    def read_task(number: int, task: Any) -> RawItem:
        return _read_task(number, task, text)

    return read_items(tasks, "task", read_task)


def _annotation(response: Response, text: str, units: Sequence[int]) -> dict[str, Any]:
    """One annotator's response to a text, whose characters are at these UTF-16 offsets."""
    choices = choices_of(response.answers)
    results = [
        *(_choices_result(control, names) for control, names in choices.items()),
        *(_span_result(span, text, units) for span in response.answers.spans),
    ]
    # Label Studio takes no annotators whom it does not know, and keeps no `meta` but that of results.
    results[0]["meta"] = {
        "annotator": response.annotator,
        "role": response.role,
        "asked": list(response.answers.marks),
        "time": response.time,
    }
    return {"lead_time": response.seconds, "result": results}


def _choices_result(control: str, names: list[str]) -> dict[str, Any]:
    return {
        "from_name": control,
        "to_name": "text",
        "type": "choices",
        "value": {"choices": names},
    }


def _span_result(span: Span, text: str, units: Sequence[int]) -> dict[str, Any]:
    return {
        "from_name": SPANS,
        "to_name": "text",
        "type": "labels",
        "value": {
            "start": units[span.start],
            "end": units[span.stop],
            "text": text[span.start : span.stop],
            "labels": [span.label],
        },
    }


def _add_control(
    view: Xml.Element,
    control_tag: str,
    value_tag: str,
    name: str,
    values: Sequence[str],
) -> None:
    # Posts may be about several labels; without "multiple" Label Studio allows one.
    attributes = {"name": name, "toName": "text", "choice": "multiple"}
    control = Xml.SubElement(view, control_tag, attributes)
    for value in values:
        Xml.SubElement(control, value_tag, value=value)


def _read_task(number: int, task: Any, text_field: str) -> RawItem:
    """A task with its annotations; `number` names it where it has no name."""
    data = task["data"]
    text = as_text(data[text_field])
    # A span that cuts an emoji in two has no offset here, and is refused as misshapen.
    character_at = {unit: character for character, unit in enumerate(_utf16_offsets(text))}

    annotations = task.get("annotations") or ()
    responses = [
        _read_annotation(annotation, text, character_at)
        for annotation in annotations
        if not annotation.get("was_cancelled") and not _is_decision(annotation)
    ]
    # Ours first: Label Studio gives tasks new numbers.
    name = data.get("item") or task.get("id") or number
    return RawItem(item=str(name), text=text, responses=tuple(responses))


def _is_decision(annotation: Any) -> bool:
    """Whether an annotation that psycheck wrote is of a reviewer or adjudicator."""
    return _meta(annotation).get("role") in DECIDERS


def _meta(annotation: Any) -> Mapping[str, Any]:
    """What psycheck says of an annotation that it wrote, in the first result; empty for others."""
    # The first result alone has it; an annotation without results has none.
    for result in annotation["result"][:1]:
        meta = result.get("meta")
        if isinstance(meta, dict):
            return meta
    return {}


def _read_annotation(annotation: Any, text: str, character_at: Mapping[int, int]) -> RawResponse:
    """One annotator's response; `character_at` turns a UTF-16 offset into that of a character."""
    choices: dict[str, set[str]] = {}
    spans: list[Span] = []
    for part in annotation["result"]:
        value = part["value"]
        if "choices" in value:
            control = str(part.get("from_name", LABELS))
            names = {as_text(name) for name in value["choices"]}
            # Label Studio writes a part per region: the same control can occur several times.
            choices.setdefault(control, set()).update(names)
        elif "start" in value and "labels" in value:
            start = character_at[value["start"]]
            stop = character_at[value["end"]]
            spans += [as_span(name, start, stop, text) for name in value["labels"]]

    meta = _meta(annotation)
    return raw_response(
        annotator=_annotator(meta.get("annotator") or annotation.get("completed_by", "")),
        choices=choices,
        spans=spans,
        labels_shown=meta.get("asked"),
        time=meta.get("time") or annotation.get("created_at"),
        seconds=annotation.get("lead_time"),
    )


def _annotator(completed_by: Any) -> str:
    """The name of an annotator, whom an export names by an id or describes by a record."""
    name = completed_by
    if isinstance(completed_by, dict):
        name = completed_by.get("email") or completed_by.get("id")
    return str(name or "unknown")


def _utf16_offsets(text: str) -> list[int]:
    """The offset of each character, and of the end, in UTF-16 units."""
    units = (2 if character > "\uffff" else 1 for character in text)
    return [0, *accumulate(units)]
