"""What the connections to all providers have in common: what they may not do, and what errors mean."""

from collections.abc import AsyncIterator, Iterator
from contextlib import contextmanager
from functools import partial
from typing import Any, cast

import httpx2

from psycheck.llm.pace import Unanswered
from psycheck.llm.refusals import Refused
from psycheck.llm.server import Server

MOST_BYTES = 8 * 2**20  # of one answer

_NEVER_CONNECTED = (httpx2.ConnectError, httpx2.ProxyError, httpx2.UnsupportedProtocol, OSError)


def http_client(server: Server, *, drop_authorization: bool = False) -> httpx2.AsyncClient:
    """The HTTP client that all providers' libraries are given.

    It follows no redirect, and uses no proxy of the environment for a loopback address: texts would leave the
    machine unnoticed.
    """
    return httpx2.AsyncClient(
        timeout=None,  # one limit for the whole request is set around it
        follow_redirects=False,
        trust_env=not server.local,
        limits=httpx2.Limits(
            max_connections=server.concurrency,
            max_keepalive_connections=server.concurrency,
        ),
        event_hooks={
            "request": [_uncompressed, _drop_usual_header] if drop_authorization else [_uncompressed],
            "response": [partial(_limit_size, most_bytes=server.most_bytes or MOST_BYTES)],
        },
    )


async def _uncompressed(request: httpx2.Request) -> None:
    """Ask for an answer whose size is what it takes."""
    request.headers["Accept-Encoding"] = "identity"


async def _drop_usual_header(request: httpx2.Request) -> None:
    """Send the key once: the client library adds the usual header to every request."""
    request.headers.pop("Authorization", None)


@contextmanager
def client_errors(client_library: Any) -> Iterator[None]:
    """What the clients of OpenAI and Anthropic raise, which come from one generator, as ours."""
    try:
        yield
    except client_library.APIStatusError as error:
        raise Refused(
            error.status_code,
            error.response.text,
            code=str(getattr(error, "code", None) or ""),
            param=str(getattr(error, "param", None) or ""),
            headers=error.response.headers,
        ) from None
    except client_library.APITimeoutError:
        raise Unanswered("timeout") from None
    except client_library.APIConnectionError as error:
        raise Unanswered(failure_of_connection(error.__cause__)) from None


def failure_of_connection(cause: BaseException | None) -> str:
    """The kind of failure that an error of the connection is."""
    if isinstance(cause, httpx2.DecodingError):
        return "large"
    if isinstance(cause, _NEVER_CONNECTED):
        return "unreachable"
    return "cut"


async def _limit_size(response: httpx2.Response, most_bytes: int) -> None:
    """Limit the size of an answer; a compressed one, which was not asked for, could unpack to anything."""
    if response.headers.get("content-encoding", "identity") != "identity":
        raise httpx2.DecodingError("compressed", request=response.request)
    response.stream = _LimitedStream(response, most_bytes)


class _LimitedStream(httpx2.AsyncByteStream):
    """The body of an answer up to a limit."""

    def __init__(self, response: httpx2.Response, most_bytes: int) -> None:
        self.most_bytes = most_bytes
        # An asynchronous client never hands out the other kind of stream.
        self.stream = cast("httpx2.AsyncByteStream", response.stream)
        self.request = response.request

    async def __aiter__(self) -> AsyncIterator[bytes]:
        size = 0
        async for piece in self.stream:
            size += len(piece)
            if size > self.most_bytes:
                raise httpx2.DecodingError("too large", request=self.request)
            yield piece

    async def aclose(self) -> None:
        """Close the connection's stream."""
        await self.stream.aclose()
