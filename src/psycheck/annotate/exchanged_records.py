"""Answers as other annotation programs exchange them; `label_studio` and `argilla` read and write them.

Both programs leave out who was not asked about what: `asked` keeps the labels that an annotator saw, so that
a label which was not asked about does not become a 0. Without it, all labels of the file were asked.
"""

import math
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final, Literal

from psycheck.annotate.annotator_answers import Answers, Span, Status
from psycheck.core.errors import BadInput, explained

# The names of the controls (Label Studio) and questions (Argilla) that psycheck writes.
LABELS: Final = "labels"
UNCERTAIN: Final = "uncertain"
IDENTIFYING: Final = "identifying"
SPANS: Final = "spans"
YES: Final = "yes"
NO: Final = "no"
# Who says what stands; not annotators, so that their answers are not imported as such.
Decider = Literal["reviewer", "adjudicator"]
DECIDERS: Final[tuple[Decider, ...]] = ("reviewer", "adjudicator")

# What reading a record that is not built as it should be can raise.
_MISSHAPEN: Final = (TypeError, AttributeError, ValueError, KeyError)


@dataclass(frozen=True, slots=True)
class Response:
    """One person's answers to an item, when (ISO, "" if unknown), and how many seconds they took.

    Reviewers and adjudicators go without their names: `annotator` is their role.
    """

    annotator: str
    answers: Answers
    time: str = ""
    seconds: float | None = None
    role: Decider | Literal["annotator"] = "annotator"


@dataclass(frozen=True, slots=True)
class Answered:
    """An item with all responses to it; `name` and `queue` make up the id `item` of an item of ours."""

    item: str
    text: str
    responses: tuple[Response, ...] = ()
    name: str = ""
    queue: str = ""

    def answers_by(self, role: Decider | Literal["annotator"]) -> tuple[Answers, ...]:
        """What everybody in a role said."""
        return tuple(response.answers for response in self.responses if response.role == role)


@dataclass(frozen=True, slots=True)
class RawResponse:
    """One annotator's answers as a file has them.

    `labels_shown` and `uncertain` are None where the file does not say.
    """

    annotator: str
    chosen: frozenset[str]
    labels_shown: tuple[str, ...] | None
    uncertain: frozenset[str] | None
    spans: tuple[Span, ...]
    identifying: bool
    time: str
    seconds: float | None


@dataclass(frozen=True, slots=True)
class RawItem:
    """An item with its responses as a file has them."""

    item: str
    text: str
    responses: tuple[RawResponse, ...]


def read_items(
    records: Sequence[Any],
    kind: str,
    read_record: Callable[[int, Any], RawItem],
) -> list[Answered]:
    """Read the records of a file, each by `read_record`; an error names the number of the record."""
    return _complete(list(_read_each(records, kind, read_record)))


def raw_response(
    *,
    annotator: str,
    choices: Mapping[str, set[str]],
    spans: Sequence[Span],
    labels_shown: Sequence[Any] | None,
    time: Any,
    seconds: Any,
) -> RawResponse:
    """A response from the labels chosen in each control or question of a file, and its spans."""
    seconds_taken = None if seconds is None else float(seconds)
    if seconds_taken is not None and not 0 <= seconds_taken < math.inf:
        raise ValueError

    # Choices of any control are labels, except for those of the two that say something about labels.
    chosen = {span.label for span in spans}
    for control, names in choices.items():
        if control not in (UNCERTAIN, IDENTIFYING):
            chosen |= names

    uncertain = choices.get(UNCERTAIN)
    return RawResponse(
        annotator=annotator,
        chosen=frozenset(chosen),
        labels_shown=None if labels_shown is None else tuple(as_text(name) for name in labels_shown),
        uncertain=None if uncertain is None else frozenset(uncertain),
        spans=tuple(spans),
        identifying=bool(choices.get(IDENTIFYING, set()) - {NO}),
        time=str(time or ""),
        seconds=seconds_taken,
    )


def choices_of(answers: Answers) -> dict[str, list[str]]:
    """The labels of each control: marked 1, uncertain (where the status was asked), identifying."""
    choices = {LABELS: [name for name, mark in answers.marks.items() if mark]}
    if answers.status:
        choices[UNCERTAIN] = [name for name, status in answers.status.items() if status == "uncertain"]
    choices[IDENTIFYING] = [YES] if answers.identifying else []
    return choices


def as_text(value: Any) -> str:
    """The value, which must be a string."""
    if not isinstance(value, str):
        raise TypeError
    return value


def as_span(label: Any, start: Any, stop: Any, text: str) -> Span:
    """A span, which must lie inside the text."""
    if not isinstance(start, int) or not isinstance(stop, int):
        raise ValueError
    if not 0 <= start < stop <= len(text):
        raise ValueError
    return Span(label=as_text(label), start=start, stop=stop)


def _read_each(
    records: Sequence[Any],
    kind: str,
    read_record: Callable[[int, Any], RawItem],
) -> Iterator[RawItem]:
    for number, record in enumerate(records, 1):
        with explained(
            f"the {kind} is not built as it should be",
            *_MISSHAPEN,
            kind=BadInput,
            code="exchange.misshapen-record",
            where=f"{kind} {number}",
            allowed="the JSON that the program exports",
        ):
            yield read_record(number, record)


def _complete(items: Sequence[RawItem]) -> list[Answered]:
    """Give labels that were asked about and not chosen a 0, and each 1 its status where the file has any."""
    all_labels: set[str] = set()
    has_status = False
    for item in items:
        for response in item.responses:
            all_labels |= response.chosen
            has_status = has_status or response.uncertain is not None

    # Only after all records are read is it known which labels the file asks about.
    labels = sorted(all_labels)
    return [
        Answered(
            item=item.item,
            text=item.text,
            responses=tuple(_completed(response, labels, has_status) for response in item.responses),
        )
        for item in items
    ]


def _completed(response: RawResponse, all_labels: Sequence[str], has_status: bool) -> Response:
    """A response with a mark for every label that its annotator saw; `all_labels` where that is unknown."""
    # A label that was not shown stays unanswered: it must not become a no.
    labels_shown = all_labels if response.labels_shown is None else response.labels_shown
    labels = dict.fromkeys([*labels_shown, *sorted(response.chosen)])
    marks = {name: int(name in response.chosen) for name in labels}

    status: dict[str, Status] = {}
    if has_status:
        uncertain = response.uncertain or frozenset()
        positive = [name for name, mark in marks.items() if mark]
        status = {name: "uncertain" if name in uncertain else "present" for name in positive}

    answers = Answers(
        marks=marks,
        status=status,
        spans=response.spans,
        identifying=response.identifying,
    )
    return Response(response.annotator, answers, response.time, response.seconds)
