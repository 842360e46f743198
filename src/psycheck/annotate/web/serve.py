"""Run the web application: on this machine only, over TLS, or behind a proxy that does TLS."""

import ipaddress
import logging
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from psycheck.annotate.database import Database
from psycheck.annotate.web.guard import LARGEST_HEADERS, LOOPBACK
from psycheck.core.errors import BadInput, library

PORT: Final = 8420


@dataclass(frozen=True, slots=True)
class Serving:
    """Where to listen; `names` are the host names that requests may use (none: those of `host`)."""

    host: str = "127.0.0.1"
    port: int = PORT
    certificate: Path | None = None
    key: Path | None = None
    behind_proxy: bool = False
    insecure: bool = False
    names: tuple[str, ...] = ()
    proxies: str = "127.0.0.1,::1"  # addresses of proxies that are trusted, separated by commas

    def __post_init__(self) -> None:
        """Refuse to send passwords and posts over a network in the clear."""
        if (self.certificate is None) != (self.key is None):
            raise BadInput(
                "a certificate and its key belong together",
                code="serve.incomplete-certificate",
                do="give both `certificate` and `key`",
            )
        for file in (self.certificate, self.key):
            if file is not None and not file.is_file():
                raise BadInput(
                    "the file of the certificate or key does not exist",
                    code="serve.missing-file",
                    where=str(file),
                )

        # Behind a proxy the server listens on loopback, and TLS is the proxy's work.
        is_safe = is_loopback(self.host) or self.certificate is not None
        if not is_safe and not self.insecure:
            raise BadInput(
                f"listening on {self.host} without TLS would send passwords and posts in the clear",
                code="serve.no-tls",
                key="host",
                allowed="127.0.0.1, localhost or ::1 without TLS",
                do=(
                    "give `certificate` and `key`; or listen on 127.0.0.1 with `behind_proxy` and let a "
                    "proxy do TLS; or set `insecure` on a network that you trust"
                ),
            )

    @property
    def address(self) -> str:
        """The address to open in a browser."""
        name = f"[{self.host}]" if ":" in self.host else self.host
        scheme = "https" if self.certificate else "http"
        return f"{scheme}://{name}:{self.port}/"

    @property
    def host_names(self) -> frozenset[str]:
        """Names that a Host header may hold; empty allows all, beyond this machine or behind a proxy."""
        if self.names:
            return frozenset(name.lower() for name in (*self.names, *LOOPBACK))
        only_this_machine = is_loopback(self.host) and not self.behind_proxy
        return frozenset(LOOPBACK) if only_this_machine else frozenset()


def is_loopback(host: str) -> bool:
    """Whether only this machine can reach an address."""
    try:
        return ipaddress.ip_address(host).is_loopback
    except ValueError:
        return host == "localhost"


def serve(
    database: Database, serving: Serving, accounts: Sequence[tuple[str, str, str]] = ()
) -> None:  # pragma: no cover - runs in a process of its own
    """Serve until interrupted; `accounts` (name, role, password) are shown at the log-in of a demo."""
    uvicorn = library("uvicorn", "the annotation server", "annotate")
    library("starlette", "the annotation server", "annotate")
    from psycheck.annotate.web.app import create_app
    from psycheck.annotate.web.connections import PatientProtocol

    configure_log()
    uvicorn.run(
        create_app(database, serving.host_names, accounts),
        host=serving.host,
        port=serving.port,
        http=PatientProtocol,
        h11_max_incomplete_event_size=LARGEST_HEADERS,
        ssl_certfile=serving.certificate,
        ssl_keyfile=serving.key,
        proxy_headers=serving.behind_proxy,
        forwarded_allow_ips=serving.proxies,
        server_header=False,
        access_log=False,  # addresses of pages hold one-time tokens
        log_config=None,
        timeout_keep_alive=30,
    )


def configure_log() -> None:
    """Write a line per request, and what uvicorn warns of, to standard error."""
    from psycheck.annotate.web.guard import LOG, RequestFormatter

    handler = logging.StreamHandler()
    handler.setFormatter(RequestFormatter())
    for name, level in ((LOG.name, logging.INFO), ("uvicorn", logging.WARNING)):
        logger = logging.getLogger(name)
        logger.handlers = [handler]
        logger.setLevel(level)
        logger.propagate = False
