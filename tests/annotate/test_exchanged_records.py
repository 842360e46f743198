"""Label Studio and Argilla: what is written is read back, and what others wrote is understood."""

import json
from contextlib import suppress
from xml.etree import ElementTree as Xml

import pytest
from hypothesis import given
from hypothesis import strategies as st

from psycheck.annotate.annotator_answers import STATUSES, Answers, Span, Status
from psycheck.annotate.argilla import from_argilla, to_argilla
from psycheck.annotate.exchanged_records import Answered, Response
from psycheck.annotate.label_studio import from_label_studio, label_studio_setup, to_label_studio
from psycheck.core.errors import BadInput
from refusals import refused

NAMES = st.sampled_from(["low mood", "guilt", "sleep", "panic"])
KEYS = st.sampled_from(
    ["start", "end", "label", "labels", "choices", "value", "result", "email", "asked", "text", "q"]
)


@st.composite
def answered(draw: st.DrawFn, graded: bool) -> Answered:
    text = draw(st.text(st.characters(codec="utf-8"), min_size=1, max_size=40))
    said = []
    for annotator in draw(st.lists(st.sampled_from(["ann", "bob", "cat"]), unique=True)):
        marks = draw(st.dictionaries(NAMES, st.integers(0, 1), min_size=1))
        positive = sorted(name for name, value in marks.items() if value)
        spans: list[Span] = []
        if positive:
            start = draw(st.integers(0, len(text) - 1))
            spans = [Span(draw(st.sampled_from(positive)), start, draw(st.integers(start + 1, len(text))))]
        status: dict[str, Status] = (
            {name: draw(st.sampled_from(STATUSES)) for name in marks if marks[name]} if graded else {}
        )
        answers = Answers(marks, status, tuple(spans), draw(st.booleans()))
        said.append(Response(annotator, answers, "2026-05-01T09:00", 4.5))
    return Answered("p1:0", text, tuple(said))


@given(answered(True) | answered(False))
def test_both_formats_give_back_what_was_written(one: Answered) -> None:
    tasks = json.loads(json.dumps(list(to_label_studio([one]))))
    records = json.loads(json.dumps(list(to_argilla([one]))))
    assert from_label_studio(tasks) == [one]
    assert from_argilla(records) == [one]


def test_label_studio_counts_an_emoji_as_two() -> None:
    one = Answered("7", "😀 so low", (Response("ann", Answers({"low": 1}, spans=(Span("low", 5, 8),))),))
    task = next(to_label_studio([one]))
    value = task["annotations"][0]["result"][-1]["value"]
    assert (value["start"], value["end"], value["text"]) == (6, 9, "low")
    assert from_label_studio([task])[0].responses[0].answers.spans == (Span("low", 5, 8),)


def test_tasks_of_other_projects_are_read() -> None:
    # A sentiment project with one control, as Label Studio exports it; a skipped task says nothing.
    done = {
        "completed_by": 3,
        "result": [{"from_name": "mood", "type": "choices", "value": {"choices": ["low"]}}],
    }
    none = {"completed_by": 4, "result": []}
    skipped = {"completed_by": 5, "was_cancelled": True, "result": []}
    (one,) = from_label_studio([{"id": 12, "data": {"text": "t"}, "annotations": [done, none, skipped]}])
    assert one.item == "12"
    assert [(a.annotator, dict(a.answers.marks)) for a in one.responses] == [
        ("3", {"low": 1}),
        ("4", {"low": 0}),
    ]


def test_records_of_other_datasets_are_read() -> None:
    record = {
        "id": "r1",
        "fields": {"text": "some words"},
        "responses": {"mood": [{"value": "low", "user_id": "u1"}, {"value": "fine", "user_id": "u2"}]},
    }
    (one,) = from_argilla([record])
    assert [dict(a.answers.marks) for a in one.responses] == [{"fine": 0, "low": 1}, {"fine": 1, "low": 0}]


def test_two_reviewers_of_a_text_are_two_users_as_argilla_takes_one_response_of_each() -> None:
    by_ada = Response("ada", Answers({"low": 1}))
    reviews = [Response("reviewer", Answers({"low": mark}), role="reviewer") for mark in (1, 0)]
    (record,) = to_argilla([Answered(item="i", text="some words", responses=(by_ada, *reviews))])
    users = [response["user_id"] for response in record["responses"]["identifying"]]
    assert len(set(users)) == 3
    # The lists of the metadata still fit, so that only the annotator's answer comes back.
    (back,) = from_argilla([json.loads(json.dumps(record))])
    assert back.responses == (by_ada,)


@pytest.mark.parametrize(
    "task",
    [
        *(7, None, [], {}, {"data": []}, {"data": {"words": "t"}}, {"data": {"text": 5}}),
        {"data": {"text": "t"}, "annotations": [{"result": [{"value": 3}]}]},
        {
            "data": {"text": "t"},
            "annotations": [{"result": [{"value": {"start": 0, "end": 9, "labels": ["a"]}}]}],
        },
    ],
)
def test_a_malformed_task_is_refused_by_its_number(task: object) -> None:
    with refused("exchange.misshapen-record", where="task 1"):
        from_label_studio([task])


@pytest.mark.parametrize(
    "record",
    [
        *(7, {}, {"fields": {}}, {"fields": {"text": "t"}, "responses": {"q": [{"value": "a"}]}}),
        {
            "fields": {"text": "t"},
            "responses": {"q": [{"user_id": "u", "value": [{"start": 0, "end": 5, "label": "a"}]}]},
        },
    ],
)
def test_a_malformed_record_is_refused_by_its_number(record: object) -> None:
    with refused("exchange.misshapen-record", where="record 1"):
        from_argilla([record])


def test_the_set_up_names_every_label_and_escapes_it() -> None:
    view = Xml.fromstring(label_studio_setup(["low", 'a"<b>']))
    assert [choice.get("value") for choice in view.iter("Choice")] == ["low", 'a"<b>'] * 2 + ["yes"]


JSON = st.recursive(
    st.none() | st.booleans() | st.integers(-3, 3) | st.floats(allow_nan=False) | st.text(max_size=3),
    lambda part: st.lists(part, max_size=3) | st.dictionaries(KEYS, part, max_size=5),
    max_leaves=30,
)


@given(JSON, JSON)
def test_garbage_is_refused_in_plain_words(first: object, second: object) -> None:
    for read, whole in (
        (from_label_studio, {"data": {"text": "t"}, "annotations": first}),
        (
            from_label_studio,
            {
                "data": {"text": "t"},
                "annotations": [{"result": [first], "completed_by": second, "meta": first}],
            },
        ),
        (from_label_studio, {"data": {"text": "t"}, "annotations": [{"result": [{"value": first}]}]}),
        (from_argilla, {"fields": {"text": "t"}, "responses": first, "metadata": second}),
        (from_argilla, {"fields": {"text": "t"}, "responses": {"q": [{"user_id": second, "value": first}]}}),
        (
            from_argilla,
            {"fields": {"text": "t"}, "responses": {"uncertain": [{"user_id": 1, "value": first}]}},
        ),
    ):
        with suppress(BadInput):  # nothing else may be raised
            assert [one.text for one in read([whole])] == ["t"]
