"""Anthropic's own client against a server that speaks the Messages API: requests, replies and errors."""

from typing import Any

import numpy as np
import pytest

from provider_servers import (
    YES,
    Answer,
    Body,
    Request,
    anthropic_error,
    anthropic_routes,
    message,
    providing,
    text_block,
)
from psycheck.core.errors import BadInput, ModelFailure
from psycheck.core.model import Reply
from psycheck.llm import pace
from psycheck.llm.model import LlmModel
from psycheck.llm.pace import Unanswered
from psycheck.models.opening import open_model


@pytest.fixture(autouse=True)
def _soon(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(pace, "FIRST_WAIT", 0.01)


def _model(address: str, options: str = "") -> LlmModel:
    model = open_model(f"llm:m?api=anthropic&base_url={address}&prompt=depression{options}")
    assert isinstance(model, LlmModel)
    return model


def _answers(model: LlmModel, texts: list[str], notes: list[str] | None = None) -> dict[int, Any]:
    said = notes if notes is not None else []
    return dict(answer for group in model.ask(texts, say=said.append) for answer in group)


def _reply(body: Body) -> tuple[Reply, str]:
    """The reply of a server that answers so, and how it is read."""
    with providing(anthropic_routes, lambda request: (200, body)) as server:
        model = _model(server.address)
        reply = _answers(model, ["a text"])[0]
    return reply, model.reading(reply).how


def test_a_request_has_the_fields_of_the_messages_api(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("ANTHROPIC_API_KEY", "sk-ant")
    monkeypatch.setenv("ANTHROPIC_AUTH_TOKEN", "another-secret")
    options = '&reasoning_effort=high&max_tokens=900&seed=3&extra_body={"thinking": {"type": "adaptive"}}'
    with providing(anthropic_routes, lambda request: (200, message(text_block(YES)))) as server:
        assert _model(server.address, options).score(["a text"]).tolist() == [[1.0]]
    (asked,) = server.to("/v1/messages")
    body = asked.json
    assert asked.headers["authorization"] == "Bearer sk-ant"
    assert "another-secret" not in str(asked.headers)
    assert (body["model"], body["max_tokens"]) == ("m", 900)
    assert [each["role"] for each in body["messages"]] == ["user"]
    assert body["system"].startswith("You")
    assert body["output_config"]["effort"] == "high"
    assert body["output_config"]["format"]["schema"]["required"] == ["depression"]
    assert body["thinking"] == {"type": "adaptive"}
    assert not {"seed", "logprobs", "top_logprobs", "response_format", "reasoning_effort"} & set(body)


def test_tokens_count_what_came_from_the_cache_and_missing_probabilities_are_noted() -> None:
    notes: list[str] = []
    with providing(anthropic_routes, lambda request: (200, message(text_block(YES)))) as server:
        reply = _answers(_model(server.address), ["a text"], notes)[0]
    assert (reply.prompt_tokens, reply.completion_tokens, reply.finish) == (100, 7, "stop")
    assert len(notes) == 1


SHAPES: dict[str, tuple[Body, str]] = {
    "thoughts before the answer": (
        message({"type": "thinking", "thinking": "depression: no", "signature": "s"}, text_block(YES)),
        "json",
    ),
    "answer in two blocks": (message(text_block("Here:"), text_block(YES)), "json"),
    "a tool that is called": (
        message(
            {"type": "tool_use", "id": "t", "name": "answer", "input": {"depression": "yes"}}, stop="tool_use"
        ),
        "json",
    ),
    "cut": (message(text_block('{"depression": "ye'), stop="max_tokens"), "cut"),
    "cut while thinking": (
        message({"type": "thinking", "thinking": "depression: yes"}, stop="max_tokens"),
        "thinking",
    ),
    "hidden thoughts alone": (
        message({"type": "redacted_thinking", "data": "x"}, stop="max_tokens"),
        "thinking",
    ),
    "refused": (message(stop="refusal"), "refusal"),
    "refused within the answer": (message(text_block(YES), stop="refusal"), "refusal"),
    "empty": (message(), "empty"),
}


@pytest.mark.parametrize("shape", SHAPES)
def test_replies_are_read_as_they_are_meant(shape: str) -> None:
    body, expected = SHAPES[shape]
    _, how = _reply(body)
    assert how == expected


ERRORS: dict[str, tuple[int, Body, str]] = {
    "key": (401, anthropic_error("authentication_error", "invalid x-api-key"), "key"),
    "credit": (400, anthropic_error("invalid_request_error", "Your credit balance is too low"), "quota"),
    "billing": (402, anthropic_error("billing_error", "payment required"), "quota"),
    "model": (404, anthropic_error("not_found_error", "model: m"), "unknown"),
}


@pytest.mark.parametrize("error", ERRORS)
def test_what_concerns_every_question_stops_the_run(error: str) -> None:
    status, body, kind = ERRORS[error]
    with (
        providing(anthropic_routes, lambda request: (status, body)) as server,
        pytest.raises(ModelFailure) as caught,
    ):
        _answers(_model(server.address), ["a text"] * 5)
    assert caught.value.code == f"llm.{kind}"
    assert len(server.asked) == pace.IDENTICAL


def test_an_overloaded_server_is_asked_again_and_a_too_long_text_is_not() -> None:
    busy = iter([True, True])

    def answer(request: Request) -> Answer:
        if request.post == "long":
            return 400, anthropic_error("invalid_request_error", "prompt is too long: 210000 tokens")
        if next(busy, False):
            return 529, anthropic_error("overloaded_error", "Overloaded")
        return 200, message(text_block(YES))

    with providing(anthropic_routes, answer, headers={"retry-after": "0"}) as server:
        answers = _answers(_model(server.address), ["one", "long"])
    assert answers[0].text == YES
    assert isinstance(answers[1], Unanswered)
    assert answers[1].kind == "context"
    assert len(server.asked) == 4


@pytest.mark.parametrize(
    ("option", "words"),
    [
        ("temperature=0", "temperature: Extra inputs are not permitted"),
        ("reasoning_effort=low", "output_config.effort: this model does not support it"),
    ],
)
def test_a_setting_that_is_refused_is_left_out_with_a_note(option: str, words: str) -> None:
    refusals = iter([True])

    def answer(request: Request) -> Answer:
        if next(refusals, False):
            return 400, anthropic_error("invalid_request_error", words)
        return 200, message(text_block(YES))

    notes: list[str] = []
    with providing(anthropic_routes, answer) as server:
        answers = _answers(_model(server.address, f"&{option}"), ["a text"], notes)
    last = server.asked[-1].json
    assert "temperature" not in last
    assert list(last["output_config"]) == ["format"]
    assert answers[0].text == YES
    assert len(notes) == 2  # the setting, and that there are no token probabilities


def test_a_schema_that_was_demanded_is_not_left_out() -> None:
    refusal = anthropic_error("invalid_request_error", "output_config.format: not supported")
    with (
        providing(anthropic_routes, lambda request: (400, refusal)) as server,
        pytest.raises(ModelFailure) as caught,
    ):
        _answers(_model(server.address, "&schema=yes"), ["a text"])
    assert caught.value.code == "llm.feature"


def test_a_body_that_is_no_message_is_a_failure_and_never_a_reply() -> None:
    with providing(anthropic_routes, lambda request: (200, {"type": "ping"})) as server:
        answers = _answers(_model(server.address), ["a text"])
    assert answers[0].kind == "garbled"
    assert len(server.asked) == pace.TRIES


def test_scores_of_what_cannot_be_read_are_missing() -> None:
    with providing(anthropic_routes, lambda request: (200, message(stop="refusal"))) as server:
        assert np.isnan(_model(server.address).score(["a text"])).all()


def test_token_probabilities_cannot_be_demanded() -> None:
    with pytest.raises(BadInput) as caught:
        _model("http://127.0.0.1:9", "&logprobs=yes")
    assert caught.value.code == "llm.no-logprobs"


def test_the_address_and_the_key_of_the_provider_are_the_usual_ones(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("ANTHROPIC_API_KEY", raising=False)
    model = open_model("llm:claude?api=anthropic&prompt=depression")
    assert isinstance(model, LlmModel)
    assert model.capabilities.remote == "api.anthropic.com"
    with pytest.raises(BadInput, match="ANTHROPIC_API_KEY") as caught:
        _answers(model, ["a text"])
    assert caught.value.code == "llm.no-key"
