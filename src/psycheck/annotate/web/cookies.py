"""Signed cookies and the CSRF tokens that belong to them."""

import hmac
import secrets
from dataclasses import dataclass
from hashlib import sha256
from typing import Final

from itsdangerous import BadSignature, Signer
from starlette.requests import HTTPConnection
from starlette.responses import Response

SESSION: Final = "session"
VISITOR: Final = "visitor"  # before the log-in: only makes the log-in form's CSRF token
_DAY: Final = 24 * 3600


@dataclass(frozen=True, slots=True)
class Signing:
    """Signs what a browser keeps, with a secret that stays on the server."""

    secret: bytes

    def read(self, request: HTTPConnection, name: str) -> str | None:
        """The value of a cookie with a valid signature."""
        # Each cookie has a salt of its own: one cannot be used in the place of another.
        signed = request.cookies.get(_cookie_name(name, request), "")
        try:
            return self._signer(name).unsign(signed).decode()
        except (BadSignature, UnicodeError):
            return None

    def write(self, response: Response, request: HTTPConnection, name: str, value: str) -> None:
        """Set a cookie that scripts cannot read and other sites cannot send."""
        response.set_cookie(
            _cookie_name(name, request),
            self._signer(name).sign(value).decode(),
            max_age=14 * _DAY if name == SESSION else _DAY,
            httponly=True,
            samesite="strict",
            secure=_secure(request),
            path="/",
        )

    def remove(self, response: Response, request: HTTPConnection, name: str) -> None:
        """Delete a cookie."""
        response.delete_cookie(
            _cookie_name(name, request),
            httponly=True,
            samesite="strict",
            secure=_secure(request),
        )

    def token(self, value: str) -> str:
        """The CSRF token of a visitor; a session has one of its own."""
        return hmac.new(self.secret, f"csrf:{value}".encode(), sha256).hexdigest()

    def _signer(self, name: str) -> Signer:
        return Signer(self.secret, salt=f"psycheck.{name}", digest_method=sha256)


def new_visitor() -> str:
    """A random name for a browser that has not logged in."""
    return secrets.token_urlsafe(16)


def _secure(request: HTTPConnection) -> bool:
    return request.url.scheme == "https"


def _cookie_name(name: str, request: HTTPConnection) -> str:
    """The cookie's name; over TLS the prefix keeps other hosts of the domain from setting it."""
    return f"__Host-{name}" if _secure(request) else f"psycheck-{name}"
