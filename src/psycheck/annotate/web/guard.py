"""What every request meets first: known host names, a bounded body, and headers that keep pages private."""

import logging
import traceback
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from starlette.datastructures import Headers, MutableHeaders
from starlette.exceptions import HTTPException
from starlette.responses import PlainTextResponse
from starlette.types import ASGIApp, Message, Receive, Scope, Send

LOG: Final = logging.getLogger("psycheck.annotate")
LOOPBACK: Final = ("127.0.0.1", "localhost", "::1")
SMALL_BODY: Final = 512 * 1024
LARGE_BODY: Final = 64 * 1024 * 1024
POLICY: Final = (
    "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self'; connect-src 'self'; "
    "form-action 'self'; frame-ancestors 'none'; base-uri 'none'"
)
HEADERS: Final = {
    "content-security-policy": POLICY,
    "cross-origin-opener-policy": "same-origin",
    "cross-origin-resource-policy": "same-origin",
    "permissions-policy": "camera=(), geolocation=(), microphone=()",
    "referrer-policy": "no-referrer",
    "x-content-type-options": "nosniff",
    "x-frame-options": "DENY",
}
_MOST_PLACES: Final = 6  # lines of a traceback in the log
_KEEP_STATIC: Final = "public, max-age=3600"


@dataclass(frozen=True, slots=True)
class Guard:
    """An ASGI application around another; `may_upload` says whether a request may have a large body."""

    app: ASGIApp
    names: frozenset[str]
    may_upload: Callable[[Scope], bool]

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer one request."""
        if scope["type"] != "http":
            return await self.app(scope, receive, send)

        host = host_name(Headers(scope=scope).get("host", ""))
        if self.names and host not in self.names:
            answer = PlainTextResponse("unknown host name", 400, headers=HEADERS)
            return await answer(scope, receive, send)

        most = LARGE_BODY if self.may_upload(scope) else SMALL_BODY
        try:
            await self.app(scope, _bounded(receive, most), _private(scope, send))
        except Exception as error:  # noqa: BLE001 - its message may quote a post, and would reach the log
            LOG.error("%s %s failed: %s", scope["method"], _template(scope), _places(error))


def _private(scope: Scope, send: Send) -> Send:
    """`send` with headers that keep pages private: only static files may be kept by a browser."""
    is_secure = scope["scheme"] == "https"
    is_static = scope["path"].startswith("/static/")

    async def send_private(message: Message) -> None:
        if message["type"] == "http.response.start":
            headers = MutableHeaders(scope=message)
            headers.update(HEADERS)
            headers["cache-control"] = _KEEP_STATIC if is_static else "no-store"
            if is_secure:
                headers["strict-transport-security"] = "max-age=31536000"
        await send(message)

    return send_private


def _template(scope: Scope) -> str:
    """The path without what stands for a project, an invitation or an item."""
    return getattr(scope.get("route"), "path", "a page")


def _places(error: Exception) -> str:
    """The kind of an error and the lines that it came through, without its message."""
    frames = traceback.extract_tb(error.__traceback__)[-_MOST_PLACES:]
    places = [f"{Path(frame.filename).name}:{frame.lineno}" for frame in frames]
    return " > ".join([*places, type(error).__name__])


def host_name(header: str) -> str:
    """The name in a Host header, without its port and without the brackets of IPv6."""
    # The colons inside the brackets of IPv6 belong to the name.
    after_brackets = header.rpartition("]")[2]
    has_port = ":" in after_brackets
    name = header.rpartition(":")[0] if has_port else header
    return name.strip("[]").lower()


def _bounded(receive: Receive, most: int) -> Receive:
    """`receive` that refuses a body of more than `most` bytes as soon as it is that large."""
    size = 0

    async def bounded() -> Message:
        nonlocal size
        message = await receive()
        size += len(message.get("body", b""))
        if size > most:
            raise HTTPException(413, f"the request is larger than {most // 1024:,} KB")
        return message

    return bounded
