"""Serves the pages over runs on this machine alone: read-only, behind a token in the address.

The standard library's server suffices: it answers one person, and writes nothing.
"""

import secrets
import socket
from collections.abc import Mapping
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any
from urllib.parse import parse_qsl, unquote, urlsplit

from psycheck.core.errors import BadInput
from psycheck.view.pages import NoSuchPage, Places, page_of

_HOST = "127.0.0.1"
_HEADERS: Mapping[str, str] = {
    "Content-Type": "text/html; charset=utf-8",
    "Cache-Control": "no-store",
    # The address holds the token: no other site may learn it.
    "Referrer-Policy": "no-referrer",
    "X-Content-Type-Options": "nosniff",
    "Cross-Origin-Resource-Policy": "same-origin",
    "Content-Security-Policy": (
        "default-src 'none'; style-src 'unsafe-inline'; script-src 'unsafe-inline'; img-src data:;"
        " form-action 'self'; frame-ancestors 'none'; base-uri 'none'"
    ),
}


class ViewServer(ThreadingHTTPServer):
    """A server of pages over runs, on a loopback address."""

    daemon_threads = True

    def __init__(self, places: Places, port: int = 0) -> None:
        self.places = places
        page_of(places, (), {})  # what is read only once is read before a person waits for it
        self.token = secrets.token_urlsafe(24)
        try:
            super().__init__((_HOST, port), _Handler)
        except (OSError, OverflowError) as error:
            raise BadInput(
                f"port {port} cannot be used",
                code="view.port",
                key="port",
                do="choose another port, or leave it out for a free one",
            ) from error

    @property
    def address(self) -> str:
        """The address of the list of runs, with the token."""
        return f"http://{_HOST}:{self.server_port}/{self.token}/"

    def server_bind(self) -> None:
        """Bind without asking for the name of this machine, which can take seconds."""
        self.socket.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        self.socket.bind(self.server_address)
        self.server_address = self.socket.getsockname()
        self.server_name, self.server_port = _HOST, self.server_address[1]


class _Handler(BaseHTTPRequestHandler):
    server: ViewServer
    server_version = "psycheck"
    sys_version = ""

    def do_GET(self) -> None:
        """Answer with a page; anything without the token gets the same bare 404."""
        page = self._page()
        status = 404 if page is None else 200
        content = (page or "not found").encode("utf-8", "replace")
        self.send_response(status)
        for name, value in _HEADERS.items():
            self.send_header(name, value)
        self.send_header("Content-Length", str(len(content)))
        self.end_headers()
        self.wfile.write(content)

    def _page(self) -> str | None:
        parts = urlsplit(self.path)
        token, _, below = parts.path.removeprefix("/").partition("/")
        # In constant time: how long a wrong token takes tells nothing about it.
        knows_token = secrets.compare_digest(token.encode(), self.server.token.encode())
        if not knows_token or not self._is_asked_by_own_name():
            return None
        # Split before decoding: "%2F" in a name must not become a part of the path.
        path = [unquote(part) for part in below.split("/") if part]
        query = dict(parse_qsl(parts.query))
        try:
            return page_of(self.server.places, path, query)
        except NoSuchPage:
            return None

    def _is_asked_by_own_name(self) -> bool:
        """Whether the browser was sent to this address: a page elsewhere may point its own name at it."""
        names = {f"{name}:{self.server.server_port}" for name in (_HOST, "localhost")}
        return self.headers.get("Host", "") in names

    def log_message(self, *_: Any) -> None:
        """Log nothing: the address of a request holds the token."""
