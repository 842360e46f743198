"""What providers want besides the usual request, on a local server that records it."""

import json
from urllib.parse import quote

import pytest

from llm_servers import answer_yes, serving
from psycheck.core.errors import BadInput
from psycheck.models.opening import open_model


def test_azure_gets_its_key_header_and_its_version(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("AZURE_KEY", "sk-azure")
    with serving(answer_yes) as server:
        options = "key_env=AZURE_KEY&key_header=api-key&query=api-version:2024-10-21&headers=x-title:a study"
        model = open_model(f"llm:deployed?base_url={server.base_url}&prompt=depression&{options}")
        assert model.score(["a text"]).tolist() == [[1.0]]
    (asked,) = server.asked
    assert asked.headers["api-key"] == "sk-azure"
    assert "authorization" not in asked.headers
    assert asked.headers["x-title"] == "a study"
    assert asked.target.endswith("?api-version=2024-10-21")
    assert "sk-azure" not in str(model.capabilities.parts)  # type: ignore[attr-defined]


def test_an_extra_body_is_part_of_the_request_and_of_the_fingerprint() -> None:
    extra = {"chat_template_kwargs": {"enable_thinking": False}, "top_k": 1}
    with serving(answer_yes) as server:
        plain = f"llm:m?base_url={server.base_url}&prompt=depression"
        model = open_model(f"{plain}&extra_body={quote(json.dumps(extra))}")
        model.score(["a text"])
        assert model.fingerprint != open_model(plain).fingerprint
    assert server.asked[0].body["chat_template_kwargs"] == {"enable_thinking": False}
    assert server.asked[0].body["top_k"] == 1


@pytest.mark.parametrize(
    "option", ["headers=Authorization:Bearer x", "headers=x-api-key:1", "extra_body=[1]", "query=version"]
)
def test_secrets_and_malformed_options_are_refused(option: str) -> None:
    with pytest.raises(BadInput):
        open_model(f"llm:m?base_url=http://127.0.0.1:9/v1&prompt=depression&{option}")
