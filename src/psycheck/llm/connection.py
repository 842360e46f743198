"""The connection to an OpenAI-compatible server: what it may not do, and what its errors mean."""

from collections.abc import AsyncIterator, Mapping
from dataclasses import dataclass, field
from typing import Any, cast

import httpx2
from openai import APIStatusError, AsyncOpenAI

from psycheck.llm.pace import Unanswered, pause_of

MOST_BYTES = 8 * 2**20  # of one answer

# Kinds of failures.toml by status; a status that is not listed is a failure of the server.
_KIND_BY_STATUS = {
    401: "key",
    403: "forbidden",
    404: "unknown",
    429: "busy",
    503: "busy",
    529: "busy",
    **dict.fromkeys((400, 405, 406, 410, 411, 413, 414, 415, 422), "rejected"),
}
_STATUS_OF_UNKNOWN_SETTING = (500, 501)  # besides those that reject a request

# The words by which a server names a setting that it does not accept.
_WORDS_BY_SETTING = {
    "logprobs": ("logprobs",),
    "response_format": ("response_format", "json_schema", "grammar", "output_config"),
    "max_tokens": ("max_completion_tokens",),
}
# A post may speak of a temperature, too: these count only where the server names them as the parameter at
# fault, or beside a word of refusal.
_PLAIN_WORDS_BY_SETTING = {
    "temperature": "temperature",
    "top_p": "top_p",
    "seed": "seed",
    "reasoning_effort": "reasoning",
}
_REFUSED = ("support", "unknown", "unrecognized", "unexpected", "not permitted", "not allowed", "deprecated")
_TOO_LONG = (
    "context_length_exceeded",
    "exceed_context_size",
    "context length",
    "context window",
    "context size",
    "maximum context",
    "prompt is too long",
    "input is too long",
    "input token count",
)
_FILTERS = ("content_filter", "content_policy_violation", "content management policy", "moderation_blocked")
_NEVER_CONNECTED = (httpx2.ConnectError, httpx2.ProxyError, httpx2.UnsupportedProtocol, OSError)
_MESSAGE_READ = 10_000  # characters of an error message


@dataclass(frozen=True, slots=True)
class Server:
    """Where questions are sent and how; `demanded` settings are not given up if the server lacks them.

    `key_header` is the header of the key where it is not the usual one, as on Azure ("api-key"); `headers`
    and `query` are sent with each request.
    """

    model: str
    base_url: str
    local: bool
    key: str = field(repr=False)
    key_env: str
    timeout: float
    concurrency: int
    demanded: frozenset[str]
    key_header: str | None = None
    headers: Mapping[str, str] = field(default_factory=dict)
    query: Mapping[str, str] = field(default_factory=dict)


def connect(server: Server) -> AsyncOpenAI:
    """The official client without retries of its own.

    It follows no redirect, and uses no proxy of the environment for a loopback address: texts would leave the
    machine unnoticed.
    """
    http = httpx2.AsyncClient(
        timeout=None,  # one limit for the whole request is set around it
        follow_redirects=False,
        trust_env=not server.local,
        limits=httpx2.Limits(
            max_connections=server.concurrency,
            max_keepalive_connections=server.concurrency,
        ),
        event_hooks={
            "request": [_drop_usual_header] if server.key_header else [],
            "response": [_limit_size],
        },
    )
    return AsyncOpenAI(
        api_key=server.key,
        base_url=server.base_url,
        max_retries=0,
        http_client=http,
        default_headers={"Accept-Encoding": "identity", **server.headers, **_key_header(server)},
        default_query=dict(server.query),
    )


def _key_header(server: Server) -> dict[str, Any]:
    """The key in a header of another name."""
    if server.key_header is None:
        return {}
    return {server.key_header: server.key}


async def _drop_usual_header(request: httpx2.Request) -> None:
    """Send the key once: the client library adds the usual header to every request."""
    request.headers.pop("Authorization", None)


def failure_of_status(error: APIStatusError) -> Unanswered:
    """The failure that an error status means, with the pause that the server asks for."""
    if error.code == "insufficient_quota":
        return Unanswered("quota")

    message = _message_of(error)
    if 400 <= error.status_code <= 500:
        if any(words in message for words in _TOO_LONG):
            return Unanswered("context")
        if any(words in message for words in _FILTERS):
            return Unanswered("filter")

    usual_kind = "redirect" if error.status_code < 400 else "server"
    kind = _KIND_BY_STATUS.get(error.status_code, usual_kind)
    headers = error.response.headers
    return Unanswered(kind, pause_of(headers.get("retry-after"), headers.get("retry-after-ms")))


def failure_of_connection(cause: BaseException | None) -> str:
    """The kind of failure that an error of the connection is."""
    if isinstance(cause, httpx2.DecodingError):
        return "large"
    if isinstance(cause, _NEVER_CONNECTED):
        return "unreachable"
    return "cut"


def missing_setting(error: APIStatusError, body: dict[str, Any]) -> str:
    """The setting of a request that the server refuses by name in its error message, or ""."""
    status = error.status_code
    if _KIND_BY_STATUS.get(status) != "rejected" and status not in _STATUS_OF_UNKNOWN_SETTING:
        return ""

    message = _message_of(error)
    for setting, words in _WORDS_BY_SETTING.items():
        if setting in body and any(word in message for word in words):
            return setting

    is_refusal = any(word in message for word in _REFUSED)
    for setting, word in _PLAIN_WORDS_BY_SETTING.items():
        is_named = error.param == setting or (is_refusal and word in message)
        if setting in body and is_named:
            return setting
    return ""


def _message_of(error: APIStatusError) -> str:
    return error.response.text[:_MESSAGE_READ]


async def _limit_size(response: httpx2.Response) -> None:
    """Limit the size of an answer; a compressed one, which was not asked for, could unpack to anything."""
    if response.headers.get("content-encoding", "identity") != "identity":
        raise httpx2.DecodingError("compressed", request=response.request)
    response.stream = _LimitedStream(response)


class _LimitedStream(httpx2.AsyncByteStream):
    """The body of an answer up to a limit."""

    def __init__(self, response: httpx2.Response) -> None:
        # An asynchronous client never hands out the other kind of stream.
        self.stream = cast("httpx2.AsyncByteStream", response.stream)
        self.request = response.request

    async def __aiter__(self) -> AsyncIterator[bytes]:
        size = 0
        async for piece in self.stream:
            size += len(piece)
            if size > MOST_BYTES:
                raise httpx2.DecodingError("too large", request=self.request)
            yield piece

    async def aclose(self) -> None:
        """Close the connection's stream."""
        await self.stream.aclose()
