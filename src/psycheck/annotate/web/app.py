"""The web application: which function answers which page, behind the guard, with errors as pages."""

import re
from collections.abc import Callable, Iterable, Sequence
from typing import Any, Final

from starlette.applications import Starlette
from starlette.concurrency import run_in_threadpool
from starlette.convertors import Convertor, register_url_convertor
from starlette.exceptions import HTTPException
from starlette.requests import HTTPConnection, Request
from starlette.responses import Response
from starlette.routing import Route
from starlette.types import Scope

from psycheck.annotate.database import Database, server_value
from psycheck.annotate.web import entrance, labelling, owning, project_texts, reviewing, upkeep_pages
from psycheck.annotate.web.access import ACCESS, Site, Visit, admit, posted
from psycheck.annotate.web.cookies import SESSION, Signing
from psycheck.annotate.web.guard import Guard
from psycheck.annotate.web.respond import refused
from psycheck.core.errors import PsycheckError, StoreFailure

PAGES: Final[dict[str, Callable[..., Response]]] = {
    "GET /static/{name}": entrance.static,
    "GET /healthz": entrance.health,
    "POST /language": entrance.choose_language,
    "GET /login": entrance.login_form,
    "POST /login": entrance.login,
    "POST /logout": entrance.logout,
    "GET /invitation/{token}": entrance.invitation,
    "POST /invitation/{token}": entrance.accept_invitation,
    "GET /password/{token}": entrance.password_form,
    "POST /password/{token}": entrance.new_password,
    "GET /account": entrance.account,
    "POST /account": entrance.new_own_password,
    "GET /": entrance.projects,
    "GET /new": entrance.new_form,
    "POST /new": entrance.new,
    "GET /p/{project}": labelling.home,
    "GET /p/{project}/about": labelling.disease,
    "GET /p/{project}/work": labelling.work,
    "POST /p/{project}/work": labelling.answer,
    "GET /p/{project}/screening": labelling.screening,
    "POST /p/{project}/screening": labelling.test_again,
    "GET /p/{project}/batches": reviewing.all_batches,
    "POST /p/{project}/batches": reviewing.close,
    "GET /p/{project}/batches/{batch}": reviewing.one_batch,
    "POST /p/{project}/batches/{batch}": reviewing.finish,
    "GET /p/{project}/batches/{batch}/{assignment}": reviewing.one_answer,
    "POST /p/{project}/batches/{batch}/{assignment}": reviewing.correct_one,
    "GET /p/{project}/conflicts": reviewing.open_conflicts,
    "GET /p/{project}/conflicts/{item}": reviewing.one_conflict,
    "POST /p/{project}/conflicts/{item}": reviewing.resolve_one,
    "GET /p/{project}/dashboard": owning.dashboard,
    "GET /p/{project}/agreement": owning.agreement,
    "POST /p/{project}/import": owning.import_file,
    "GET /p/{project}/export/{form}": owning.export,
    "GET /p/{project}/texts": project_texts.all_texts,
    "GET /p/{project}/texts/{item}": project_texts.one_text,
    "POST /p/{project}/texts/{item}": project_texts.change_text,
    "POST /p/{project}/authors": project_texts.erase_an_author,
    "GET /p/{project}/settings": upkeep_pages.settings,
    "POST /p/{project}/settings": upkeep_pages.change_settings,
    "POST /p/{project}/end": upkeep_pages.end,
    "GET /p/{project}/members": upkeep_pages.all_members,
    "POST /p/{project}/members": upkeep_pages.invite_one,
    "POST /p/{project}/members/{person}": upkeep_pages.change_member,
    "POST /p/{project}/invitations": upkeep_pages.withdraw,
}
# Parts of an address that are numbers of rows.
_NUMBERS: Final = re.compile(r"\{(batch|assignment|item|person)\}")


class _RowNumber(Convertor[int]):
    """A number that a database can compare."""

    regex = "[0-9]{1,9}"

    def convert(self, value: str) -> int:
        return int(value)

    def to_string(self, value: int) -> str:
        return str(value)


register_url_convertor("row", _RowNumber())


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
    # From the database: cookies stay valid when the server starts again.
    signing = Signing(secret.encode())

    app = Starlette(
        routes=[_route(page) for page in PAGES],
        # Starlette looks for the nearest class, so all three kinds are named.
        exception_handlers=dict.fromkeys((PsycheckError, HTTPException, Exception), refused),
    )
    app.state.site = Site(db, signing, tuple(accounts))

    def may_upload(scope: Scope) -> bool:
        """Only who is logged in sends a large body, and only where files are imported."""
        has_session = signing.read(HTTPConnection(scope), SESSION) is not None
        return has_session and scope["path"].endswith("/import")

    # At the start and not at a request: a page without an entry must never be served.
    _check_access()
    return Guard.around(app, names, may_upload)


def _route(page: str) -> Route:
    """The route of a page: its visitor is admitted, and its function answers in a thread."""
    method, _, path = page.partition(" ")
    answer = PAGES[page]

    def answer_visit(request: Request, form: Any) -> Response:
        visit: Visit = admit(request, form, page)
        # The project is in the visit; functions of pages take what else the address holds.
        parts = {name: part for name, part in request.path_params.items() if name != "project"}
        return answer(visit, **parts)

    async def endpoint(request: Request) -> Response:
        # The log names the page without what stands for a project, an invitation or an item.
        request.scope["page"] = page
        # Only here is anything asynchronous: the database's driver blocks, so pages run in threads.
        form = await posted(request)
        return await run_in_threadpool(answer_visit, request, form)

    return Route(_NUMBERS.sub(r"{\1:row}", path), endpoint, methods=[method])


def _check_access() -> None:
    """A page that the table of access does not know must not exist, nor the other way round."""
    differing = set(PAGES) ^ set(ACCESS)
    if differing:
        raise AssertionError(f"pages and access.toml differ: {sorted(differing)}")
