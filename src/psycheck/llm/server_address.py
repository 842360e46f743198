"""The address of an LLM's server, whether it is on this machine, and the key that it wants."""

import ipaddress
import os
import re
from typing import Final
from urllib.parse import SplitResult, urlsplit

from psycheck.core.errors import BadInput

_NO_KEY: Final = "none"  # what a server on this machine gets that needs no key
_KEY_SHAPE: Final = re.compile(r"[!-~]+")
_ALLOWED: Final = "such as http://127.0.0.1:8000/v1 or https://api.example.org/v1"


def remote_host(base_url: str) -> str:
    """The host that gets the texts, "" if it is this machine.

    An address that carries a password or no host is refused, without being quoted.
    """
    parts = _split(base_url)
    if parts is None:
        raise _not_an_address()
    if parts.username is not None or parts.query or parts.fragment:
        raise BadInput(
            "base_url holds more than an address",
            code="llm.address-with-secret",
            allowed=_ALLOWED,
            do="put the key into an environment variable, and name it with key_env=NAME",
        )
    is_writable = base_url.isprintable() and " " not in base_url
    if parts.scheme not in ("http", "https") or not parts.hostname or not is_writable:
        raise _not_an_address()
    if _is_loopback(parts.hostname):
        return ""
    return parts.hostname


def _split(base_url: str) -> SplitResult | None:
    """The parts of an address; None if its host or its port cannot be read."""
    try:
        parts = urlsplit(base_url)
        _ = parts.port  # raises if it is not a number
    except ValueError:
        return None
    return parts


def _not_an_address() -> BadInput:
    return BadInput("base_url is not an address", code="llm.not-an-address", allowed=_ALLOWED)


def _is_loopback(host: str) -> bool:
    """True if an address stays on this machine by its form; no name but "localhost" is resolved."""
    try:
        return ipaddress.ip_address(host).is_loopback
    except ValueError:
        return host == "localhost"


def api_key(
    variable: str | None,
    usual: str,
    base_url: str,
    *,
    remote: bool,
) -> str:
    """The API key, from the environment variable that the user names or the usual one of the provider.

    A server on this machine may need none.
    """
    # Over plain HTTP everyone on the way can read it, so the usual variable is then not used unasked.
    is_readable_on_the_way = remote and base_url.startswith("http://")
    if is_readable_on_the_way and not variable:
        return _NO_KEY

    name = variable or usual
    key = _checked_key(name)
    is_needed = remote or variable is not None
    if is_needed and not key:
        raise BadInput(
            f"the environment variable {name} is not set",
            code="llm.no-key",
            where=base_url,
            allowed="the API key of this server",
            do=f"export {name}=…, or name another variable with key_env=NAME in the spec",
        )
    return key or _NO_KEY


def _checked_key(variable: str) -> str:
    """The key in an environment variable, "" if it is not set."""
    key = os.environ.get(variable, "").strip()
    if key and not _KEY_SHAPE.fullmatch(key):
        raise BadInput(f"the environment variable {variable} does not hold an API key", code="llm.not-a-key")
    return key
