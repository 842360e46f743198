"""The web application: its routes behind the guard, with errors as pages."""

from collections.abc import Iterable, Sequence
from typing import Final

from fastapi import FastAPI
from fastapi.exceptions import RequestValidationError
from fastapi.routing import APIRoute
from starlette.exceptions import HTTPException
from starlette.requests import HTTPConnection
from starlette.types import Scope

from psycheck.annotate.database import Database, server_value
from psycheck.annotate.web import entrance, labelling, owning, reviewing
from psycheck.annotate.web.access import ACCESS, Site
from psycheck.annotate.web.cookies import SESSION, Signing
from psycheck.annotate.web.guard import Guard
from psycheck.annotate.web.respond import refused
from psycheck.core.errors import PsycheckError, StoreFailure

ROUTERS: Final = (entrance.router, labelling.router, reviewing.router, owning.router)


def create_app(
    db: Database,
    names: Iterable[str] = (),
    accounts: Sequence[tuple[str, str, str]] = (),
) -> Guard:
    """The guarded application of a database; requests may use these host names (none: all)."""
    with db.read() as connection:
        secret = server_value(connection, "secret")
    if secret is None:
        raise StoreFailure(
            "the annotation database has no secret",
            code="database.no-secret",
            do="restore it from a backup",
        )
    signing = Signing(secret.encode())

    # No pages that describe the application: their scripts come from elsewhere.
    app = FastAPI(title="psycheck annotate", openapi_url=None, docs_url=None, redoc_url=None)
    app.state.site = Site(db, signing, tuple(accounts))
    for router in ROUTERS:
        app.include_router(router)
    for kind in (PsycheckError, RequestValidationError, HTTPException, Exception):
        app.add_exception_handler(kind, refused)

    def may_upload(scope: Scope) -> bool:
        """Only who is logged in sends a large body, and only where files are imported."""
        has_session = signing.read(HTTPConnection(scope), SESSION) is not None
        return has_session and scope["path"].endswith("/import")

    _check_access()
    return Guard(app, frozenset(names), may_upload)


def routes() -> list[str]:
    """Every method and path that the application answers."""
    names = []
    for router in ROUTERS:
        for route in router.routes:
            if isinstance(route, APIRoute):
                names += [f"{method} {route.path}" for method in route.methods or ()]
    return sorted(names)


def _check_access() -> None:
    """A route that the table of access does not know must not exist, nor the other way round."""
    differing = set(routes()) ^ set(ACCESS)
    if differing:
        raise AssertionError(f"routes and access.toml differ: {sorted(differing)}")
