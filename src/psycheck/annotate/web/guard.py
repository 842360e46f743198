"""What every request meets first: host names, limits, headers that keep pages private, the log."""

import logging
import time
import traceback
from collections.abc import Callable, Iterable
from contextvars import ContextVar
from dataclasses import dataclass, field
from pathlib import Path
from secrets import token_hex
from typing import Final

from starlette.datastructures import MutableHeaders
from starlette.exceptions import HTTPException
from starlette.middleware.trustedhost import TrustedHostMiddleware
from starlette.responses import PlainTextResponse
from starlette.types import ASGIApp, Message, Receive, Scope, Send

LOG: Final = logging.getLogger("psycheck.annotate")
LOOPBACK: Final = ("127.0.0.1", "localhost", "::1")
LARGEST_HEADERS: Final = 16 * 1024  # bytes
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
_QUIET: Final = ("GET /static/{name}", "GET /healthz")  # pages that are logged only when they fail
_FAILURE: Final = 500
_request_id: ContextVar[str] = ContextVar("request_id", default="-")


@dataclass(slots=True)
class _Answer:
    """What became of a request: its status, None until the answer begins."""

    started: float = field(default_factory=time.monotonic)
    status: int | None = None


@dataclass(frozen=True, slots=True)
class Guard:
    """An ASGI application around another; `may_upload` says whether a request may have a large body.

    `inner` is the application itself, `app` the same behind the check of host names.
    """

    inner: ASGIApp
    app: ASGIApp
    may_upload: Callable[[Scope], bool]

    @classmethod
    def around(cls, inner: ASGIApp, names: Iterable[str], may_upload: Callable[[Scope], bool]) -> "Guard":
        """The guard of an application that may be called by these host names (none: by any)."""
        # As a Host header has them: an address of IPv6 stands in brackets.
        allowed_hosts = [f"[{name}]" if ":" in name else name for name in sorted(names)] or ["*"]
        app = TrustedHostMiddleware(inner, allowed_hosts=allowed_hosts, www_redirect=False)
        return cls(inner=inner, app=app, may_upload=may_upload)

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer one request, and write a line about it."""
        if scope["type"] != "http":
            return await self.app(scope, receive, send)

        _request_id.set(token_hex(4))
        answer = _Answer()
        header_size = sum(len(name) + len(value) for name, value in scope["headers"])
        if header_size > LARGEST_HEADERS:
            LOG.warning("headers of %d bytes refused", header_size)
            refusal = PlainTextResponse("the headers are too large", 431, headers=HEADERS)
            return await refusal(scope, receive, send)

        most = LARGE_BODY if self.may_upload(scope) else SMALL_BODY
        try:
            await self.app(scope, _bounded(receive, most), _private(scope, send, answer))
        except Exception as error:  # noqa: BLE001 - its message may quote a post, and would reach the log
            LOG.error("%s failed: %s", _page(scope), _places(error))
        _log_answer(scope, answer)


class RequestFormatter(logging.Formatter):
    """A line with its time (UTC), level, and the id of the request, which the answer has as a header."""

    converter = staticmethod(time.gmtime)

    def __init__(self) -> None:
        super().__init__("%(asctime)sZ %(levelname)s [%(request_id)s] %(message)s", "%Y-%m-%dT%H:%M:%S")

    def format(self, record: logging.LogRecord) -> str:
        """The line of a record."""
        record.request_id = _request_id.get()
        return super().format(record)


def _log_answer(scope: Scope, answer: _Answer) -> None:
    """One line per request: page, status, and milliseconds; that something failed, whatever the page."""
    page = _page(scope)
    status = answer.status or 0
    failed = status >= _FAILURE or not status
    if page in _QUIET and not failed:
        return
    milliseconds = 1_000 * (time.monotonic() - answer.started)
    level = logging.ERROR if failed else logging.INFO
    # The stable code of an error tells more than its status, and quotes nothing.
    LOG.log(level, "%s %s %.0f ms %s", page, status or "no answer", milliseconds, scope.get("error_code", ""))


def _private(scope: Scope, send: Send, answer: _Answer) -> Send:
    """`send` with headers that keep pages private: only static files may be kept by a browser."""
    is_secure = scope["scheme"] == "https"
    is_static = scope["path"].startswith("/static/")

    async def send_private(message: Message) -> None:
        if message["type"] == "http.response.start":
            answer.status = message["status"]
            headers = MutableHeaders(scope=message)
            headers.update(HEADERS)
            headers["x-request-id"] = _request_id.get()
            headers["cache-control"] = _KEEP_STATIC if is_static else "no-store"
            if is_secure:
                headers["strict-transport-security"] = "max-age=31536000"
        await send(message)

    return send_private


def _page(scope: Scope) -> str:
    """The page without what stands for a project, an invitation or an item."""
    return str(scope.get("page", f"{scope['method']} (no such page)"))


def _places(error: Exception) -> str:
    """The kind of an error and the lines that it came through, without its message."""
    frames = traceback.extract_tb(error.__traceback__)[-_MOST_PLACES:]
    places = [f"{Path(frame.filename).name}:{frame.lineno}" for frame in frames]
    return " > ".join([*places, type(error).__name__])


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
