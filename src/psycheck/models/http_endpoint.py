"""Models behind a web address: texts are sent as JSON, and scores are read from the JSON of the reply."""

import ipaddress
import json
import os
import socket
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from functools import partial
from http.client import HTTPException, HTTPResponse
from typing import Annotated, Any
from urllib.error import HTTPError, URLError
from urllib.parse import urlsplit
from urllib.request import HTTPRedirectHandler, OpenerDirector, ProxyHandler, Request, build_opener

from psycheck.core.errors import BadInput, ModelFailure, TransientFailure
from psycheck.core.model import Capabilities, Model, ModelKind
from psycheck.io.settings import AT_LEAST_1
from psycheck.models.fingerprint import hashed_parts
from psycheck.models.options import ModelOptions, Text
from psycheck.models.python_object import PythonOptions, wrap_object

BATCH = 32
_MOST_REPLY_BYTES = 64 * 2**20
_MAY_PASS = frozenset({408, 425, 429, 502, 503, 504})  # statuses after which the same request may succeed
_NO_ACCESS = frozenset({401, 403})
_ADDRESS = "such as http://127.0.0.1:8000/predict"


@dataclass(frozen=True, slots=True, kw_only=True)
class EndpointOptions(ModelOptions):
    """Options of an address.

    `send` is where the texts stand in the JSON of a request, and `read` where the answers stand in that of
    the reply: keys and indices with dots between them ("data.texts", "outputs.0"). With `single`, each
    request holds one text, not a list. `key_env` names the environment variable of the key that is sent as
    "Authorization: Bearer", `at_once` is the number of requests under way at a time.
    """

    send: Text | None = None
    read: Text | None = None
    single: bool = False
    positive: Text | None = None
    key_env: Text | None = None
    timeout: Annotated[int, AT_LEAST_1] = 60
    at_once: Annotated[int, AT_LEAST_1] = 4


class RefusedRequest(Exception):
    """The server refused a request, perhaps because of a text in it; holds no text."""


class _NoRedirects(HTTPRedirectHandler):
    """Follows no redirect: texts would be sent to an address that the user did not name."""

    def redirect_request(self, *_: Any) -> None:
        """Leave the redirect as the reply, which is then refused."""


@dataclass(frozen=True, slots=True)
class Endpoint:
    """Asks a web address about texts, and returns what it answers about each."""

    name: str
    address: str
    fingerprint: str
    capabilities: Capabilities = field(repr=False)
    options: EndpointOptions = field(repr=False)
    opener: OpenerDirector = field(repr=False)

    def __call__(self, texts: Sequence[str]) -> list[Any]:
        """The answer about each text, (n,), in any form that a function may return."""
        if not self.options.single:
            return self._answers(list(texts), count=len(texts))
        # One text per request is slow one after the other: several are under way at a time.
        with ThreadPoolExecutor(self.options.at_once) as threads:
            return list(threads.map(self._answer, texts))

    def _answers(self, texts: list[str], *, count: int) -> list[Any]:
        reply = self._reply(_placed(self.options.send or "texts", texts))
        answers = _at(reply, self.options.read, self.address)
        has_one_entry = isinstance(answers, dict) and len(answers) == 1
        if has_one_entry and self.options.read is None:
            # {"predictions": […]}: the only entry can only be the answers.
            answers = next(iter(answers.values()))
        if not isinstance(answers, list) or len(answers) != count:
            raise ModelFailure(
                "the reply does not hold one answer per text",
                code="endpoint.not-one-per-text",
                where=self.address,
                allowed='a list such as [0.1, 0.9] or [{"depression": 0.1}, …], as long as that of the texts',
                do="name where it stands: ?read=KEY.KEY; or send one text at a time: ?single=yes",
            )
        return answers

    def _answer(self, text: str) -> Any:
        reply = self._reply(_placed(self.options.send or "text", text))
        return _at(reply, self.options.read, self.address)

    def _reply(self, content: Any) -> Any:
        """The JSON that the server replies to a request."""
        body = json.dumps(content).encode()
        request = Request(self.address, body, self._headers(), method="POST")
        try:
            with self.opener.open(request, timeout=self.options.timeout) as response:
                return _read_json(response, self.address)
        except HTTPError as error:
            raise _failure_of_status(error, self.address) from None
        except URLError as error:
            # What stood in the way is inside: a refused connection, or a time-out.
            raise _failure_of_connection(error.reason) from None
        except HTTPException as error:
            raise ConnectionError(f"the reply was cut off ({type(error).__name__})") from None

    def _headers(self) -> dict[str, str]:
        headers = {"Content-Type": "application/json", "Accept": "application/json"}
        if self.options.key_env:
            headers["Authorization"] = f"Bearer {os.environ[self.options.key_env]}"
        return headers


def open_endpoint(scheme: str, target: str, options: EndpointOptions) -> Model:
    """A model behind an address; it is asked about one sentence of ours, which shows that it answers."""
    endpoint = endpoint_at(f"{scheme}:{target}", options)
    _check_answers(endpoint)
    return wrap_object(
        endpoint,
        PythonOptions(
            name=options.name,
            label=options.label,
            batch=options.batch,
            positive=options.positive,
        ),
    )


def endpoint_at(address: str, options: EndpointOptions) -> Endpoint:
    """An address with what it declares; nothing is sent."""
    host = _host(address)
    is_local = _is_loopback(host)
    _check_key(options, address)
    parts = {
        "address": address,
        "send": f"{options.send} {options.single}",
        "read": f"{options.read} {options.positive}",
        "labels": str(options.label),
    }
    return Endpoint(
        name=host,
        address=address,
        fingerprint=hashed_parts(parts),
        # The server may change its model unnoticed: `wrap_object` lets some stored scores be asked again.
        capabilities=Capabilities(
            batch=options.batch or BATCH,
            remote="" if is_local else host,
            parts=parts,
        ),
        options=options,
        # A proxy of the environment would carry texts off the machine.
        opener=build_opener(_NoRedirects, *([ProxyHandler({})] if is_local else [])),
    )


def _check_answers(endpoint: Endpoint) -> None:
    """Refuse an address that does not answer before anything is planned."""
    from psycheck.models.scoring_function import PROBE

    try:
        endpoint([PROBE])
    except (ConnectionError, TimeoutError, OSError, TransientFailure, RefusedRequest) as error:
        raise ModelFailure(
            f"the address does not answer ({error})",
            code="endpoint.no-answer",
            where=endpoint.address,
            do="start the server, or correct the address and `send`",
        ) from error


def _host(address: str) -> str:
    """The host of an address; one that holds a password is refused, without being quoted."""
    try:
        parts = urlsplit(address)
        is_readable = bool(parts.hostname) and (parts.port or 1) > 0
    except ValueError:
        is_readable = False
    if not is_readable:
        raise BadInput(
            "this is not a web address", code="endpoint.not-an-address", where=address, allowed=_ADDRESS
        )
    if parts.username is not None:
        raise BadInput(
            "the address holds a password",
            code="endpoint.address-with-secret",
            allowed=_ADDRESS,
            do="put it into an environment variable, and name that with ?key_env=NAME",
        )
    return parts.hostname or ""


def _is_loopback(host: str) -> bool:
    """Whether an address stays on this machine by its form; no name but "localhost" is resolved."""
    try:
        return ipaddress.ip_address(host).is_loopback
    except ValueError:
        return host == "localhost"


def _check_key(options: EndpointOptions, address: str) -> None:
    if not options.key_env:
        return
    key = os.environ.get(options.key_env, "")
    if not key.strip():
        raise BadInput(
            f"the environment variable {options.key_env} is not set",
            code="endpoint.no-key",
            where=address,
            do=f"export {options.key_env}=…",
        )


def _placed(path: str, value: Any) -> Any:
    """A value inside the objects that a path names: "data.texts" is {"data": {"texts": value}}."""
    for key in reversed(path.split(".")):
        value = {key: value}
    return value


def _at(content: Any, path: str | None, address: str) -> Any:
    """What stands at a path of keys and indices."""
    for key in path.split(".") if path else ():
        try:
            # "outputs.0" is the first entry of a list.
            content = content[int(key)] if isinstance(content, list) else content[key]
        except (LookupError, TypeError, ValueError):
            keys = ", ".join(sorted(content)) if isinstance(content, dict) else type(content).__name__
            raise ModelFailure(
                f"the reply has no '{key}'",
                code="endpoint.no-such-key",
                where=address,
                allowed=keys,
                do="correct ?read=KEY.KEY",
            ) from None
    return content


def _read_json(response: HTTPResponse, address: str) -> Any:
    # One byte more than is allowed shows that there is more.
    raw = response.read(_MOST_REPLY_BYTES + 1)
    is_whole = len(raw) <= _MOST_REPLY_BYTES
    try:
        if is_whole:
            return json.loads(raw)
    except (ValueError, RecursionError):
        pass
    raise ModelFailure(
        "the reply is not JSON" if is_whole else "the reply is too long",
        code="endpoint.not-json",
        where=address,
        allowed="JSON of at most 64 MB",
    )


def _failure_of_status(error: HTTPError, address: str) -> Exception:
    """What an error status means: to be asked again, to be given up, or a text that is refused."""
    if error.code in _MAY_PASS:
        pause = error.headers.get("Retry-After", "")
        return TransientFailure(f"status {error.code}", after=float(pause) if pause.isdecimal() else 0.0)
    if error.code in _NO_ACCESS:
        return ModelFailure(
            f"the server refuses access (status {error.code})",
            code="endpoint.no-access",
            where=address,
            do="name the environment variable of its key: ?key_env=NAME",
        )
    return RefusedRequest(f"status {error.code}")


def _failure_of_connection(reason: Any) -> Exception:
    if isinstance(reason, TimeoutError):
        return reason
    if isinstance(reason, socket.gaierror):
        return ConnectionError("its host is not known")
    return ConnectionError(type(reason).__name__ if isinstance(reason, Exception) else "no connection")


HTTP = ModelKind(open=partial(open_endpoint, "http"), options=EndpointOptions)
HTTPS = ModelKind(open=partial(open_endpoint, "https"), options=EndpointOptions)
