"""Servers that answer in ways of their own: what is read, what is counted by reason, and how a run ends."""

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from llm_servers import YES, Asked, Exchange, completion, serving
from process import psycheck
from psycheck.core.errors import NothingAnswered
from psycheck.llm import pace
from psycheck.llm.client import HARD_SCORES, LEFT_OUT
from psycheck.models.opening import open_model
from psycheck.scoring.answers import answers
from psycheck.scoring.tally import Tally
from refusals import refused

THOUGHT = "The writer sleeps badly. So the answer is yes. But"
CALL = [{"type": "function", "function": {"name": "answer", "arguments": YES}}]
REFUSAL = "I'm sorry, but I can't help with that."
BODIES: Mapping[str, bytes] = {
    "plain": completion(YES),
    "thought-field": completion("", "length", reasoning_content=THOUGHT),
    "thought-only": completion(None, "stop", reasoning=THOUGHT),
    "thought-tag": completion(f"<think>{THOUGHT}", "length"),
    "thought-bare": completion(f"Okay, let me see. {THOUGHT}", "length"),
    "hidden": completion("", "length"),
    "call": completion(None, "tool_calls", tool_calls=CALL),
    "refusal": completion(None, refusal=REFUSAL),
    "filtered": completion(YES, "content_filter"),
    "cut": completion('{"depression": "ye', "length"),
    "prose": completion("A post about soup."),
    "empty": completion(""),
}
STATUSES: Mapping[str, tuple[str, dict[str, Any]]] = {
    "context": ("400 Bad Request", {"code": "context_length_exceeded", "message": "maximum context length"}),
    "context-llama": ("400 Bad Request", {"type": "exceed_context_size_error", "message": "too large"}),
    "filter": ("400 Bad Request", {"code": "content_filter", "message": "content management policy"}),
}


@pytest.fixture(autouse=True)
def _soon(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(pace, "FIRST_WAIT", 0.01)


async def by_kind(exchange: Exchange, asked: Asked, before: int) -> None:
    """Answer as the first word of the post says."""
    kind = asked.post.split()[0]
    if kind in BODIES:
        await exchange.send(BODIES[kind])
        return
    status, error = STATUSES[kind]
    await exchange.send(json.dumps({"error": error}).encode(), status)


def test_every_kind_of_reply_is_read_or_counted_by_its_reason(tmp_path: Path) -> None:
    """Three posts of each of 15 kinds; the totals are worked out by hand."""
    kinds = [*BODIES, *STATUSES]
    texts = [f"{kind} {number}" for number in range(3) for kind in kinds]
    # A pause between the longest and the shortest is not needed: the first answer comes within 20 failures.
    with serving(by_kind) as server:
        model = open_model(f"llm:m?base_url={server.base_url}&prompt=depression&concurrency=4")
        with answers([model], [(1.0, texts)], store=tmp_path / "s.sqlite") as answered:
            view = answered.views[0]
            scores = view.of(texts)[:, 0]
            tally = answered.tallies[model.name]

    expected = [1.0 if text.split()[0] in ("plain", "call") else np.nan for text in texts]
    np.testing.assert_array_equal(scores, expected)
    assert tally.unanswered == {
        "cut off while the model was thinking": 15,
        "refused": 3,
        "stopped by a content filter": 3,
        "cut off before the answer was complete": 3,
        "unreadable": 3,
        "empty": 3,
    }
    assert (tally.scored, tally.unreadable, tally.failed, tally.without_score) == (36, 30, 9, 39)
    assert dict(view.complaints) == {
        "the question is longer than the model's context window": 6,
        "a content filter of the provider stopped the question": 3,
    }


def _score(folder: Path, texts: list[str], base_url: str) -> Any:
    (folder / "posts.csv").write_text("\n".join(["text", *texts]) + "\n")
    spec = f"llm:m?base_url={base_url}&prompt=depression&concurrency=4"
    return psycheck(folder, "score", spec, "posts.csv", "--text", "text", PSYCHECK_STORE="s.sqlite")


def test_twenty_thoughts_of_twenty_end_with_exit_3_and_what_to_change(tmp_path: Path) -> None:
    with serving(by_kind) as server:
        done = _score(tmp_path, [f"thought-field {number}" for number in range(20)], server.base_url)
    assert done.returncode == 3
    assert "0 texts of 20 scored" in done.stdout
    assert "cut off while the model was thinking: 20 texts" in done.stderr
    assert "max_tokens=4000" in done.stderr
    assert THOUGHT not in done.stdout + done.stderr


def test_a_run_whose_first_30_replies_answer_nothing_stops_there(tmp_path: Path) -> None:
    texts = [f"cut {number}" for number in range(500)]
    with serving(by_kind) as server:
        first = _score(tmp_path, texts, server.base_url)
        sent = len(server.asked)
        again = _score(tmp_path, texts, server.base_url)
        sent_again = len(server.asked) - sent
    assert first.returncode == again.returncode == 3
    # Those under way when the thirtieth reply was stored still arrive: at most one for each connection.
    assert 30 <= sent <= 30 + 2 * 4
    assert sent_again == 0
    assert "max_tokens" in first.stderr


def test_one_answer_among_the_first_30_keeps_a_run_going(tmp_path: Path) -> None:
    texts = [f"cut {number:03}" for number in range(60)] + ["plain and a little longer, so it is first"]
    with serving(by_kind) as server:
        model = open_model(f"llm:m?base_url={server.base_url}&prompt=depression")
        with answers([model], [(1.0, texts)], store=tmp_path / "s.sqlite") as answered:
            tally = answered.tallies[model.name]
    assert (tally.scored, tally.unreadable) == (61, 60)


def test_the_error_of_a_model_that_answers_nothing_names_the_reasons(tmp_path: Path) -> None:
    texts = [f"{kind} {number}" for number in range(20) for kind in ("refusal", "cut")]
    with serving(by_kind) as server:
        model = open_model(f"llm:m?base_url={server.base_url}&prompt=depression&concurrency=1")
        with (
            refused("model.answers-nothing") as caught,
            answers([model], [(1.0, texts)], store=tmp_path / "s.sqlite"),
        ):
            pass
    assert caught.type is NothingAnswered
    assert caught.value.exit_code == 3
    assert "refused" in caught.value.what


@pytest.mark.parametrize("setting", ["temperature", "top_p", "seed", "reasoning_effort", "logprobs"])
def test_a_setting_that_is_refused_is_left_out_with_one_note(setting: str, tmp_path: Path) -> None:
    message = f"Unsupported value: '{setting}' is not supported with this model."

    async def strict(exchange: Exchange, asked: Asked, before: int) -> None:
        if setting in asked.body:
            error = {"message": message, "param": setting, "code": "unsupported_value"}
            await exchange.send(json.dumps({"error": error}).encode(), "400 Bad Request")
        else:
            await exchange.send(completion(YES))

    tally = _asked_with_all_settings(strict, tmp_path)
    notes = [note for note in tally.notes if "left out" in note]
    assert (tally.scored, tally.requests) == (6, 6 + 1)  # the first question was sent twice
    assert len(notes) == 1
    assert notes[0].startswith(LEFT_OUT.format(setting=setting))


def _asked_with_all_settings(behaviour: Any, folder: Path) -> Tally:
    texts = [f"text {number}" for number in range(6)]
    options = "temperature=0&top_p=0.9&seed=1&reasoning_effort=low"
    with serving(behaviour) as server:
        model = open_model(f"llm:m?base_url={server.base_url}&prompt=depression&{options}")
        with answers([model], [(1.0, texts)], store=folder / "s.sqlite") as answered:
            return answered.tallies[model.name]


def test_a_post_about_temperature_that_is_rejected_drops_no_setting(tmp_path: Path) -> None:
    async def echo_once(exchange: Exchange, asked: Asked, before: int) -> None:
        if asked.post == "c":
            await exchange.send(completion(YES))
        else:
            error = {"error": {"message": "bad request: my temperature is high"}}
            await exchange.send(json.dumps(error).encode(), "400 Bad Request")

    with serving(echo_once) as server:
        model = open_model(f"llm:m?base_url={server.base_url}&prompt=depression&temperature=0")
        with answers([model], [(1.0, ["aa", "bb", "c"])], store=tmp_path / "s.sqlite") as answered:
            tally = answered.tallies[model.name]
    assert all("temperature" in asked.body for asked in server.asked)
    assert tally.failed == 2


def test_missing_token_probabilities_are_said_once(tmp_path: Path) -> None:
    tally = _asked_with_all_settings(by_kind_yes, tmp_path)
    assert tally.notes == [f"the server returns no token probabilities: {HARD_SCORES}"]


async def by_kind_yes(exchange: Exchange, asked: Asked, before: int) -> None:
    await exchange.send(BODIES["plain"])


def test_a_prompt_that_asks_to_reason_needs_a_place_for_it(tmp_path: Path) -> None:
    words = 'title = "t"\nlabels = ["depression"]\nuser = "Think step by step. {post}"\n'
    (tmp_path / "silent.toml").write_text(words)
    (tmp_path / "reasoned.toml").write_text(f"reason = true\n{words}")
    specs = [f"llm:m?base_url=http://127.0.0.1:9/v1&prompt={tmp_path}/{name}.toml" for name in PROMPTS]
    silent, reasoned = (open_model(spec) for spec in specs)
    assert "reason = true" in silent.capabilities.notes[0]  # type: ignore[attr-defined]
    assert reasoned.capabilities.notes == ()  # type: ignore[attr-defined]

    schema = reasoned.prompt.schema()  # type: ignore[attr-defined]
    assert list(schema["properties"]) == schema["required"] == ["reason", "depression"]


PROMPTS = ("silent", "reasoned")
