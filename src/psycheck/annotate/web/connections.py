"""Connections with limits: whoever does not finish a request in time makes room for others.

A connection that waits for the rest of a request costs the server nothing but a file. Thousands of them
would take all files that a process may open; so the oldest that still waits is closed when there are too
many, and each after a while.
"""

import asyncio
from typing import Any, Final

import h11
from uvicorn.protocols.http.h11_impl import H11Protocol

from psycheck.annotate.web.guard import LOG

MOST_CONNECTIONS: Final = 800  # below the 1,024 files that a process may usually open
HEADER_SECONDS: Final = 10.0
BODY_SECONDS: Final = 120.0  # an upload of 64 MB at 5 Mbit/s

# Connections that wait for the rest of a request, the oldest first.
_waiting: dict["PatientProtocol", None] = {}


class PatientProtocol(H11Protocol):
    """HTTP/1.1 with a time limit for the head and the body of each request."""

    deadline: asyncio.TimerHandle | None = None
    has_head = False

    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]  # as in uvicorn
        """Take a connection; where there are too many, the oldest that waits is closed."""
        super().connection_made(transport)
        while len(self.connections) > MOST_CONNECTIONS and _waiting:
            next(iter(_waiting))._close("too many connections")
        self._wait(HEADER_SECONDS)

    def data_received(self, data: bytes) -> None:
        """Read a piece of a request, and see how much of it is still missing."""
        super().data_received(data)
        state: Any = self.conn.their_state
        if state is h11.SEND_BODY:
            if not self.has_head:
                self._wait(BODY_SECONDS)
            self.has_head = True
        elif state is h11.IDLE and self.timeout_keep_alive_task is None:
            if self.deadline is None:
                self._wait(HEADER_SECONDS)
        else:
            self._stop_waiting()

    def connection_lost(self, exc: Exception | None) -> None:
        """Forget a connection."""
        self._stop_waiting()
        super().connection_lost(exc)

    def _wait(self, seconds: float) -> None:
        self._stop_waiting()
        _waiting[self] = None
        self.deadline = self.loop.call_later(seconds, self._close, "too slow")

    def _stop_waiting(self) -> None:
        _waiting.pop(self, None)
        self.has_head = False
        if self.deadline is not None:
            self.deadline.cancel()
            self.deadline = None

    def _close(self, reason: str) -> None:
        """Close a connection that waits, without an answer: nobody has asked anything yet."""
        self._stop_waiting()
        self.connections.discard(self)
        LOG.warning("connection closed: %s", reason)
        self.transport.abort()
