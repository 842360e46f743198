"""Records of Argilla, both ways."""

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any
from uuid import NAMESPACE_URL, uuid5

from psycheck.annotate.annotator_answers import Span
from psycheck.annotate.exchanged_records import (
    DECIDERS,
    IDENTIFYING,
    NO,
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


def to_argilla(items: Iterable[Answered]) -> Iterator[dict[str, Any]]:
    """Records with responses to "labels", "uncertain" and "spans" where there are any, and to "identifying".

    Argilla refuses empty lists: who found no label has answered "identifying" all the same. It knows
    annotators by a UUID; `metadata.annotators` keeps their names in the order of the responses.
    """
    for item in items:
        yield {
            "id": item.item,
            "fields": {"text": item.text},
            "metadata": {
                "annotators": [response.annotator for response in item.responses],
                "roles": [response.role for response in item.responses],
                "status": [bool(response.answers.status) for response in item.responses],
                "asked": [list(response.answers.marks) for response in item.responses],
                "time": [response.time for response in item.responses],
                "seconds": [response.seconds for response in item.responses],
            },
            "suggestions": {},
            "responses": _responses_by_question(item.responses),
            "vectors": {},
        }


def from_argilla(records: Sequence[Any], text: str = "text") -> list[Answered]:
    """Read records as `dataset.records.to_json` writes them; `text` is the field that holds the text.

    Answers to any question that are labels or spans count, except for "uncertain" and "identifying".
    """

    def read_record(number: int, record: Any) -> RawItem:
        return _read_record(number, record, text)

    return read_items(records, "record", read_record)


def _responses_by_question(responses: Sequence[Response]) -> dict[str, list[dict[str, Any]]]:
    """What each annotator answered to each question."""
    questions: dict[str, list[dict[str, Any]]] = {}
    for response, user_id in zip(responses, _user_ids(responses), strict=True):
        spans = [
            {"start": span.start, "end": span.stop, "label": span.label} for span in response.answers.spans
        ]
        # First the question that everybody answers: it keeps the responses in the order of the metadata.
        values: dict[str, Any] = {IDENTIFYING: [YES if response.answers.identifying else NO]}
        values |= {name: value for name, value in choices_of(response.answers).items() if name != IDENTIFYING}
        values[SPANS] = spans
        for question, value in values.items():
            if not value:
                continue
            questions.setdefault(question, []).append({"value": value, "user_id": user_id})
    return questions


def _user_ids(responses: Sequence[Response]) -> Iterator[str]:
    """The UUID of each response: the same for everything that an annotator answers."""
    occurrences: Counter[str] = Counter()
    for response in responses:
        user = f"{response.role}/{response.annotator}"
        occurrences[user] += 1
        # Reviewers go without names and may answer a text once for each annotator whose batch they inspect,
        # but Argilla takes one response per user.
        if occurrences[user] > 1:
            user += f"/{occurrences[user]}"
        yield str(uuid5(NAMESPACE_URL, f"psycheck/{user}"))


def _read_record(number: int, record: Any, text_field: str) -> RawItem:
    """A record with its responses; `number` names it where it has no id."""
    text = as_text(record["fields"][text_field])

    # The file has the users of each question: we want the questions of each user.
    values_of_user: dict[str, dict[str, Any]] = {}
    for question, responses in (record.get("responses") or {}).items():
        for response in responses or ():
            user_id = as_text(response["user_id"])
            values_of_user.setdefault(user_id, {})[str(question)] = response["value"]

    metadata = record.get("metadata") or {}
    # Reviewers and adjudicators are left out: what they said is no annotator's answer.
    raw_responses = []
    for place, (user_id, values) in enumerate(values_of_user.items()):
        about = _metadata_of_user(metadata, place, len(values_of_user))
        if about.get("roles") in DECIDERS:
            continue
        raw_responses.append(_read_response(user_id, values, about, text))

    name = record.get("id") or number
    return RawItem(item=str(name), text=text, responses=tuple(raw_responses))


def _metadata_of_user(metadata: Any, place: int, users: int) -> dict[str, Any]:
    """What the lists that `to_argilla` adds to a record say about one of its users."""
    # A list of another length belongs to another set of users.
    return {
        key: metadata[key][place]
        for key in ("annotators", "roles", "status", "asked", "time", "seconds")
        if len(metadata.get(key, ())) == users
    }


def _read_response(
    user_id: str,
    values: Mapping[str, Any],
    about: Mapping[str, Any],
    text: str,
) -> RawResponse:
    """One user's response from the values by question, and what the record's metadata say about it."""
    choices: dict[str, set[str]] = {}
    spans: list[Span] = []
    for question, value in values.items():
        parts = value if isinstance(value, list) else [value]
        span_parts = [part for part in parts if isinstance(part, dict)]
        spans += [as_span(part["label"], part["start"], part["end"], text) for part in span_parts]

        # A question without any part was answered too: with no label.
        if len(span_parts) < len(parts) or not parts:
            choices[question] = {part for part in parts if isinstance(part, str)}

    # Nobody is uncertain: the question was asked, and its empty answer left out.
    if about.get("status"):
        choices.setdefault(UNCERTAIN, set())
    return raw_response(
        annotator=str(about.get("annotators") or user_id),
        choices=choices,
        spans=spans,
        labels_shown=about.get("asked"),
        time=about.get("time"),
        seconds=about.get("seconds"),
    )
