"""Bodies of answers: a chat completion becomes a reply, anything else a failure."""

import json
from contextlib import suppress
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from psycheck.core.model import Reply
from psycheck.llm.completion import completion_of, joined
from psycheck.llm.pace import Unanswered


def _body(**choice: Any) -> bytes:
    return json.dumps({"choices": [choice], "usage": {"prompt_tokens": 12, "completion_tokens": 3}}).encode()


def test_a_completion_is_a_reply_with_its_tokens_and_finish() -> None:
    body = _body(message={"content": "yes"}, finish_reason="length")
    assert completion_of(body, 0.5) == Reply("yes", 12, 3, "length", 0.5)


@pytest.mark.parametrize("content", [None, "", []])
def test_an_empty_message_is_an_empty_reply(content: Any) -> None:
    assert completion_of(_body(message={"content": content}), 0.0).text == ""


def test_a_refusal_is_a_reply() -> None:
    assert completion_of(_body(message={"content": None, "refusal": "I cannot."}), 0.0).text == "I cannot."


def test_parts_of_a_message_are_joined_and_its_thoughts_left_out() -> None:
    parts = [
        {"type": "text", "text": "ye"},
        {"type": "reasoning", "text": "no"},
        {"type": "text", "text": "s"},
    ]
    assert completion_of(_body(message={"content": parts}), 0.0).text == "yes"


def test_logprobs_are_kept_with_their_alternatives() -> None:
    top = [{"token": "yes", "logprob": -0.1234567}, {"token": "no", "logprob": None}]
    found = {"content": [{"token": "yes", "logprob": -0.1234567, "top_logprobs": top}]}
    reply = completion_of(_body(message={"content": "yes"}, logprobs=found), 0.0)
    assert json.loads(reply.logprobs) == [["yes", -0.12346, [["yes", -0.12346], ["no", -9999.0]]]]


@pytest.mark.parametrize("found", [None, {}, {"content": None}, {"content": []}, {"tokens": ["a"]}, "x", 3])
def test_other_logprobs_are_none(found: Any) -> None:
    assert completion_of(_body(message={"content": "yes"}, logprobs=found), 0.0).logprobs == ""


@pytest.mark.parametrize(
    "body",
    [
        b"",
        b"<html>",
        b'{"choices": [{"message": {"content": "ye',
        b'{"choices": []}',
        b'{"error": {"message": "overloaded"}}',
        b"[]",
        b"null",
        b'{"choices": [{"message": {"content": 3}}]}',
        b'{"choices": [{"message": "yes"}]}',
        b"[" * 100_000,
    ],
)
def test_what_is_not_a_completion_is_never_a_reply(body: bytes) -> None:
    with pytest.raises(Unanswered) as caught:
        completion_of(body, 0.0)
    assert caught.value.kind == "garbled"


_JSON = st.recursive(
    st.none() | st.booleans() | st.floats() | st.integers() | st.text(),
    lambda inner: (
        st.lists(inner, max_size=3)
        | st.dictionaries(
            st.sampled_from(["choices", "message", "content", "usage", "logprobs", "token", "text"]),
            inner,
            max_size=4,
        )
    ),
)


@given(st.binary() | _JSON.map(lambda found: json.dumps(found).encode()))
def test_any_body_is_a_reply_or_a_failure(body: bytes) -> None:
    with suppress(Unanswered):
        assert isinstance(completion_of(body, 0.0), Reply)


def test_samples_are_one_reply_that_cost_what_all_cost() -> None:
    samples = [Reply("yes", 10, 2, "stop", 0.5, "[1]"), Reply("no", 10, 3, "stop", 0.25), Reply("no", 10, 1)]
    assert joined(samples) == Reply("yes", 30, 6, "stop", 0.75, "[1]", ("no", "no"))
    assert joined([Reply("yes", 10, 2), Reply("no")]).prompt_tokens is None
