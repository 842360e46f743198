"""Anthropic's client: the Messages API, and Message Batches."""

import asyncio
import json
from collections.abc import Mapping, Sequence
from typing import Any, Final

import anthropic
import httpx2

from psycheck.core.model import Reply
from psycheck.llm.completion import marked_thought, token_count
from psycheck.llm.connection import client_errors, http_client
from psycheck.llm.pace import Unanswered
from psycheck.llm.providers.provider import Messages, Outcome, Question, Settings
from psycheck.llm.server import Server
from psycheck.llm.server_errors import Refused

_MESSAGES: Final = "/v1/messages"
_BATCHES: Final = "/v1/messages/batches"
# How a reply ended, in the words of the other servers.
_FINISHES: Final = {
    "end_turn": "stop",
    "stop_sequence": "stop",
    "max_tokens": "length",
    "model_context_window_exceeded": "length",
}
_TRANSLATED: Final = frozenset(
    ["response_format", "reasoning_effort", "logprobs", "top_logprobs", "seed", "max_completion_tokens"]
)
_CACHED: Final = ("cache_creation_input_tokens", "cache_read_input_tokens")
# Statuses of the errors that a batch names by their type.
_STATUS_BY_TYPE: Final = {
    "invalid_request_error": 400,
    "authentication_error": 401,
    "billing_error": 402,
    "permission_error": 403,
    "not_found_error": 404,
    "request_too_large": 413,
    "rate_limit_error": 429,
    "overloaded_error": 529,
}


class AnthropicMessages:
    """The official client without retries of its own; nothing but `close` may follow `close`."""

    def __init__(self, server: Server, client: anthropic.AsyncAnthropic, http: httpx2.AsyncClient) -> None:
        self.server = server
        self.client = client
        self.http = http

    async def send(self, messages: Messages, settings: Settings) -> Reply:
        """Ask one question."""
        loop = asyncio.get_running_loop()
        started = loop.time()
        with client_errors(anthropic):
            answer = await self.client.post(
                _MESSAGES, cast_to=httpx2.Response, body=self._body(messages, settings)
            )
        return reply_of(answer.content, loop.time() - started)

    async def submit(self, questions: Mapping[str, Question]) -> str:
        """Hand over questions as one message batch."""
        requests = [
            {"custom_id": question_id, "params": self._body(messages, settings)}
            for question_id, (messages, settings) in questions.items()
        ]
        with client_errors(anthropic):
            batch = await self.client.messages.batches.create(
                requests=requests,  # type: ignore[arg-type]  # whose settings may be older than the client
            )
        return batch.id

    async def is_finished(self, batch: str) -> bool:
        """Whether every request of a batch has its result."""
        with client_errors(anthropic):
            found = await self.client.messages.batches.retrieve(batch)
        return found.processing_status == "ended"

    async def results(self, batch: str, ids: Sequence[str]) -> list[tuple[str, Outcome]]:
        """The results of a batch, from the same address as everything else."""
        with client_errors(anthropic):
            answer = await self.client.get(f"{_BATCHES}/{batch}/results", cast_to=httpx2.Response)
        return [_outcome(line) for line in answer.content.splitlines() if line.strip()]

    async def close(self) -> None:
        """Close the connections."""
        await self.http.aclose()

    def _body(self, messages: Messages, settings: Settings) -> dict[str, Any]:
        return {
            "model": self.server.model,
            **_dialogue(messages),
            **_own_settings(settings),
        }


def _dialogue(messages: Messages) -> dict[str, Any]:
    """The messages, of which that of the system has a place of its own."""
    system = "\n\n".join(message["content"] for message in messages if message["role"] == "system")
    dialogue = {"messages": [message for message in messages if message["role"] != "system"]}
    if system:
        return {"system": system, **dialogue}
    return dialogue


def _own_settings(settings: Settings) -> dict[str, Any]:
    """The settings in Anthropic's words; seeds and token probabilities do not exist there."""
    own = {name: value for name, value in settings.items() if name not in _TRANSLATED}
    if "max_completion_tokens" in settings:
        own["max_tokens"] = settings["max_completion_tokens"]

    output: dict[str, Any] = {}
    effort = settings.get("reasoning_effort")
    if effort == "none":
        own["thinking"] = {"type": "disabled"}
    elif effort is not None:
        output["effort"] = "low" if effort == "minimal" else effort
    if "response_format" in settings:
        schema = settings["response_format"]["json_schema"]["schema"]
        output["format"] = {"type": "json_schema", "schema": schema}
    if output:
        own["output_config"] = output | dict(own.get("output_config", {}))
    return own


def reply_of(body: bytes, seconds: float) -> Reply:
    """The reply in the body of an answer; a body that is no message is a failure, never a reply."""
    try:
        return _reply(json.loads(body), seconds)
    except (ValueError, LookupError, TypeError, AttributeError, RecursionError):
        raise Unanswered("garbled") from None


def _reply(message: Any, seconds: float) -> Reply:
    stop_reason = str(message.get("stop_reason") or "")
    usage = message.get("usage") or {}
    return Reply(
        text=_text_of(message["content"]),
        prompt_tokens=_tokens_sent(usage),
        completion_tokens=token_count(usage.get("output_tokens")),
        finish=_FINISHES.get(stop_reason, stop_reason),
        seconds=seconds,
    )


def _text_of(blocks: Any) -> str:
    """What a message says, with the arguments of its tools; else what it thought, marked as such."""
    parts = [block["text"] for block in blocks if block["type"] == "text"]
    # Where a model answers through a tool, its arguments are the answer.
    tool_uses = [block for block in blocks if block["type"] == "tool_use"]
    parts += [json.dumps(block["input"]) for block in tool_uses]
    text = "\n".join(part for part in parts if part.strip())
    if text:
        return text
    thoughts = [block.get("thinking", "") for block in blocks if "thinking" in block["type"]]
    if thoughts:
        return marked_thought("\n".join(thoughts))
    return ""


def _tokens_sent(usage: Any) -> int | None:
    """The tokens of the question; what was read from the provider's cache was sent, too."""
    uncached = token_count(usage.get("input_tokens"))
    if uncached is None:
        return None
    cached = [token_count(usage.get(name)) or 0 for name in _CACHED]
    return uncached + sum(cached)


def _outcome(line: bytes) -> tuple[str, Outcome]:
    """The id of a request of a batch, and what became of it."""
    try:
        row = json.loads(line)
        question_id, result = str(row["custom_id"]), row["result"]
        if result["type"] == "succeeded":
            return question_id, _reply(result["message"], 0.0)
        if result["type"] == "errored":
            error = result["error"]["error"]
            return question_id, Refused(_STATUS_BY_TYPE.get(error["type"], 500), json.dumps(error))
    except (ValueError, LookupError, TypeError, AttributeError):
        raise Unanswered("garbled") from None
    return question_id, Unanswered("expired")  # or cancelled


def connect(server: Server) -> AnthropicMessages:
    """Open the client; it reads no other credentials than the key, and records nothing."""
    http = http_client(server)
    client = anthropic.AsyncAnthropic(
        api_key=server.key,
        base_url=server.base_url,
        max_retries=0,
        timeout=None,
        http_client=http,
        default_headers=dict(server.headers),
        default_query=dict(server.query),
        open_telemetry=False,
    )
    return AnthropicMessages(server, client, http)
