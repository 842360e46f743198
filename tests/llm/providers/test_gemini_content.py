"""Google's own client against a server that speaks the Gemini API: requests, replies and errors."""

import json
from typing import Any

import pytest

from provider_servers import YES, Answer, Body, Request, content, gemini_error, gemini_routes, providing
from psycheck.core.errors import ModelFailure
from psycheck.core.model import Reply
from psycheck.llm import pace
from psycheck.llm.model import LlmModel
from psycheck.models.opening import open_model

SAID: Body = {"text": YES}


@pytest.fixture(autouse=True)
def _soon(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(pace, "FIRST_WAIT", 0.01)


def _model(address: str, options: str = "") -> LlmModel:
    model = open_model(f"llm:m?api=gemini&base_url={address}&prompt=depression{options}")
    assert isinstance(model, LlmModel)
    return model


def _answers(model: LlmModel, texts: list[str]) -> dict[int, Any]:
    return dict(answer for group in model.ask(texts) for answer in group)


def _one(body: Body, options: str = "") -> tuple[Any, LlmModel]:
    with providing(gemini_routes, lambda request: (200, body)) as server:
        model = _model(server.address, options)
        return _answers(model, ["a text"])[0], model


def test_a_request_has_the_fields_of_the_gemini_api(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("GEMINI_API_KEY", "g-key")
    monkeypatch.setenv("GOOGLE_API_KEY", "another-secret")
    monkeypatch.setenv("GOOGLE_GENAI_USE_VERTEXAI", "true")
    options = '&temperature=0&top_p=0.9&seed=3&max_tokens=900&reasoning_effort=low&extra_body={"top_k": 5}'
    with providing(gemini_routes, lambda request: (200, content(SAID))) as server:
        assert _model(server.address, options).score(["a text"]).tolist() == [[1.0]]
    (asked,) = server.asked
    assert asked.path.endswith("/models/m:generateContent")
    assert asked.headers["x-goog-api-key"] == "g-key"
    assert "another-secret" not in str(asked.headers)
    assert [each["role"] for each in asked.json["contents"]] == ["user"]
    assert asked.json["systemInstruction"]["parts"][0]["text"].startswith("You")
    config = asked.json["generationConfig"]
    assert (config["temperature"], config["topP"], config["topK"], config["seed"]) == (0, 0.9, 5, 3)
    assert config["maxOutputTokens"] == 900
    assert config["responseMimeType"] == "application/json"
    assert config["responseJsonSchema"]["required"] == ["depression"]
    assert (config["responseLogprobs"], config["logprobs"]) == (True, 8)
    assert json.dumps(config["thinkingConfig"]).lower().endswith('"low"}')


def test_thoughts_can_be_switched_off() -> None:
    with providing(gemini_routes, lambda request: (200, content(SAID))) as server:
        _model(server.address, "&reasoning_effort=none").score(["a text"])
    config = server.asked[0].json["generationConfig"]["thinkingConfig"]
    assert list(config.values()) == [0]


def test_a_reply_counts_its_thoughts_and_keeps_token_probabilities() -> None:
    no = {"token": "no", "logProbability": -3.0}
    yes = {"token": "yes", "logProbability": -0.05}
    opening = {"token": '{"depression": "', "logProbability": -0.001}
    closing = {"token": '"}', "logProbability": -0.001}
    probabilities = {
        "chosenCandidates": [opening, yes, closing],
        "topCandidates": [{"candidates": [opening]}, {"candidates": [yes, no]}, {"candidates": [closing]}],
    }
    reply, model = _one(content(SAID, logprobsResult=probabilities))
    assert isinstance(reply, Reply)
    assert (reply.prompt_tokens, reply.completion_tokens, reply.finish) == (100, 10, "stop")
    assert json.loads(reply.logprobs)[1] == ["yes", -0.05, [["yes", -0.05], ["no", -3.0]]]
    # exp(-0.05) / (exp(-0.05) + exp(-3)) by hand
    assert model.read_reply(reply)[0] == pytest.approx(0.9503, abs=1e-4)


SHAPES: dict[str, tuple[Body, str]] = {
    "thoughts before the answer": (content({"text": "depression: no", "thought": True}, SAID), "json"),
    "a function that is called": (
        content({"functionCall": {"name": "answer", "args": {"depression": "yes"}}}),
        "json",
    ),
    "cut": (content({"text": '{"depression": "ye'}, finish="MAX_TOKENS"), "cut"),
    "cut while thinking": (content({"text": "yes", "thought": True}, finish="MAX_TOKENS"), "thinking"),
    "thoughts hidden": (content(finish="MAX_TOKENS"), "thinking"),
    "filtered": (content(SAID, finish="SAFETY"), "filtered"),
    "recited": (content(SAID, finish="RECITATION"), "filtered"),
    "an end that the client does not know": (content(SAID, finish="A_NEW_REASON"), "json"),
    "empty": (content(), "empty"),
}


@pytest.mark.parametrize("shape", SHAPES)
@pytest.mark.filterwarnings("ignore:A_NEW_REASON")
def test_replies_are_read_as_they_are_meant(shape: str) -> None:
    body, expected = SHAPES[shape]
    reply, model = _one(body)
    assert model.reading(reply).how == expected


def test_a_question_that_is_blocked_is_a_failure_that_says_so() -> None:
    failure, _ = _one({"promptFeedback": {"blockReason": "SAFETY"}})
    assert failure.kind == "filter"


ERRORS: dict[str, tuple[int, Body, str]] = {
    "key": (
        400,
        gemini_error(400, "INVALID_ARGUMENT", "API key not valid.", {"reason": "API_KEY_INVALID"}),
        "key",
    ),
    "forbidden": (403, gemini_error(403, "PERMISSION_DENIED", "no access"), "forbidden"),
    "model": (404, gemini_error(404, "NOT_FOUND", "models/m is not found"), "unknown"),
}


@pytest.mark.parametrize("error", ERRORS)
def test_what_concerns_every_question_stops_the_run(error: str) -> None:
    status, body, kind = ERRORS[error]
    with (
        providing(gemini_routes, lambda request: (status, body)) as server,
        pytest.raises(ModelFailure) as caught,
    ):
        _answers(_model(server.address), ["a text"] * 5)
    assert caught.value.code == f"llm.{kind}"
    assert len(server.asked) == pace.IDENTICAL


def test_a_busy_server_is_asked_again_after_the_pause_in_its_details() -> None:
    retry = {"@type": "type.googleapis.com/google.rpc.RetryInfo", "retryDelay": "0.2s"}
    refusals = iter(
        [
            (429, gemini_error(429, "RESOURCE_EXHAUSTED", "quota", retry)),
            (503, gemini_error(503, "UNAVAILABLE", "The model is overloaded.")),
        ]
    )
    with providing(gemini_routes, lambda request: next(refusals, (200, content(SAID)))) as server:
        answers = _answers(_model(server.address), ["a text"])
    assert answers[0].text == YES
    assert len(server.asked) == 3


def test_token_probabilities_that_a_model_does_not_have_are_left_out() -> None:
    def answer(request: Request) -> Answer:
        if "logprobs" in request.json["generationConfig"]:
            return 400, gemini_error(400, "INVALID_ARGUMENT", "Logprobs is not enabled for models/m")
        return 200, content(SAID)

    with providing(gemini_routes, answer) as server:
        assert _model(server.address).score(["a text", "b text"]).tolist() == [[1.0], [1.0]]
    assert len(server.asked) == 3


def test_a_setting_that_the_client_does_not_know_is_rejected_without_a_request() -> None:
    with providing(gemini_routes, lambda request: (200, content(SAID))) as server:
        answers = _answers(_model(server.address, '&extra_body={"top_k": "many"}'), ["a text"])
    assert answers[0].kind == "rejected"
    assert not server.asked


@pytest.mark.parametrize("body", [b"<html>", b'{"candidates": 3}', b"{}"])
def test_a_body_that_is_no_content_is_a_failure(body: bytes) -> None:
    with providing(lambda server, request: body, lambda request: (200, {})) as server:
        answers = _answers(_model(server.address), ["a text"])
    assert answers[0].kind == "garbled"
    assert len(server.asked) == pace.TRIES
