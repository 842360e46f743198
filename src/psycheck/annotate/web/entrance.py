"""Pages before any project: log in and out, invitations, passwords, the list of projects, a new project."""

from sqlalchemy import select
from starlette.datastructures import UploadFile
from starlette.responses import FileResponse, PlainTextResponse, Response

from psycheck.annotate.accounts import accept, invited_role, join
from psycheck.annotate.credentials import SHORTEST_PASSWORD
from psycheck.annotate.membership import create_project, projects_of
from psycheck.annotate.passwords import change_password, password_link_name, set_password
from psycheck.annotate.project import EXAMPLE, LARGEST, parse_project
from psycheck.annotate.refusals import NotFound
from psycheck.annotate.sessions import log_in, log_out
from psycheck.annotate.web.access import LANGUAGE, Visit, no_page
from psycheck.annotate.web.cookies import SESSION, VISITOR
from psycheck.annotate.web.guard import LOG
from psycheck.annotate.web.pages import HERE
from psycheck.annotate.web.respond import go, page, problem
from psycheck.annotate.web.texts import languages
from psycheck.core.errors import BadInput, PsycheckError

_STATIC = {file.name: file for file in (HERE / "static").iterdir()}
_YEAR = 365 * 24 * 3600
_TYPES = {".css": "text/css", ".js": "text/javascript", ".svg": "image/svg+xml"}


def static(visit: Visit, name: str) -> Response:
    """A shipped file; names are looked up, never joined to a path."""
    # A dictionary instead of a path: "../" is only a name that is not in it.
    if name not in _STATIC:
        raise no_page()
    file = _STATIC[name]
    return FileResponse(file, media_type=_TYPES.get(file.suffix, "text/plain"))


def health(visit: Visit) -> Response:
    """Whether the server can use its database, for whoever watches it; 503 if it cannot."""
    with visit.db.read() as connection:
        connection.execute(select(1))
    return PlainTextResponse("ok")


def choose_language(visit: Visit) -> Response:
    """Keep the language that somebody chose, and show the page again that they came from."""
    language = visit.field("language")
    place = visit.field("here")
    # Only a page of this server: an address that begins with two slashes is one of another.
    is_ours = place.startswith("/") and not place.startswith(("//", "/\\"))
    response = go(place if is_ours else "/")
    if language in languages():
        response.set_cookie(LANGUAGE, language, max_age=_YEAR, httponly=True, samesite="strict")
    return response


def login_form(visit: Visit) -> Response:
    """The log-in form."""
    return go("/") if visit.session else _login(visit)


def login(visit: Visit) -> Response:
    """Open a new session; one that the browser had before ends."""
    try:
        opened = log_in(visit.db, visit.field("name"), visit.field("password"), _client_address(visit))
    except PsycheckError as error:
        # Without the name: people type their password into the wrong field.
        LOG.warning("log-in refused: %s", error.code)
        return _login(visit, status=getattr(error, "status", 400), problem=problem(visit, error))
    _end_session(visit)
    return _with_session(visit, opened.token)


def logout(visit: Visit) -> Response:
    """End the session."""
    _end_session(visit)
    response = go("/login")
    visit.site.signing.remove(response, visit.request, SESSION)
    return response


def invitation(visit: Visit, token: str) -> Response:
    """The form to accept an invitation."""
    return _invitation(visit, token)


def accept_invitation(visit: Visit, token: str) -> Response:
    """Join with a new account, or with the one that is logged in."""
    try:
        if visit.session is not None:
            join(visit.db, visit.person, token)
            return go("/")
        name = visit.field("name")
        password = visit.field("password")
        accept(visit.db, token, name, password)
    except NotFound:
        # Without a valid invitation there is no form to show again.
        raise
    except PsycheckError as error:
        return _invitation(
            visit,
            token,
            status=getattr(error, "status", 400),
            name=visit.field("name"),
            problem=problem(visit, error),
        )
    opened = log_in(visit.db, name, password, _client_address(visit))
    return _with_session(visit, opened.token)


def password_form(visit: Visit, token: str) -> Response:
    """The form to set a new password with a one-time link."""
    return _password_form(visit, token)


def new_password(visit: Visit, token: str) -> Response:
    """Set a new password with a one-time link, and log in."""
    password = visit.field("password")
    try:
        who = set_password(visit.db, token, password)
    except NotFound:
        # Without a valid link there is no form to show again.
        raise
    except PsycheckError as error:
        return _password_form(visit, token, status=400, problem=problem(visit, error))
    # By the front door: rate limits and sessions are the same as for everybody.
    opened = log_in(visit.db, who.name, password, _client_address(visit))
    return _with_session(visit, opened.token)


def account(visit: Visit) -> Response:
    """The form to change one's own password."""
    return page(visit, "account", shortest=SHORTEST_PASSWORD)


def new_own_password(visit: Visit) -> Response:
    """Change one's own password; all sessions end, and a new one begins here."""
    password = visit.field("password")
    try:
        change_password(visit.db, visit.person, visit.field("old"), password)
    except PsycheckError as error:
        parts = {"problem": problem(visit, error), "shortest": SHORTEST_PASSWORD}
        return page(visit, "account", status=getattr(error, "status", 400), **parts)
    opened = log_in(visit.db, visit.person.name, password, _client_address(visit))
    return _with_session(visit, opened.token)


def projects(visit: Visit) -> Response:
    """The projects of a person."""
    return page(
        visit,
        "projects",
        projects=projects_of(visit.db, visit.person),
        may_create=visit.person.owner,
    )


def new_form(visit: Visit) -> Response:
    """The form to create a project."""
    return page(visit, "new", settings=EXAMPLE.read_text("utf-8"))


def new(visit: Visit) -> Response:
    """Create a project from TOML, typed or uploaded."""
    text = visit.field("settings")
    try:
        text = _uploaded_text(visit) or text
        settings = parse_project(text, "the project file")
        create_project(visit.db, visit.person, settings, text)
    except PsycheckError as error:
        status = getattr(error, "status", 400)
        return page(visit, "new", status=status, settings=text, problem=problem(visit, error))
    return go(f"/p/{settings.name}/dashboard")


def _client_address(visit: Visit) -> str:
    """The network address of the browser, by which failed log-ins are counted."""
    client = visit.request.client
    return client.host if client else ""


def _uploaded_text(visit: Visit) -> str:
    """The text of an uploaded project file; empty without one."""
    file = visit.form.get("file")
    if not isinstance(file, UploadFile):
        return ""
    # One byte more than allowed tells that the file is too large.
    content = file.file.read(LARGEST + 1)
    try:
        return content.decode("utf-8")
    except UnicodeDecodeError as error:
        raise BadInput(
            "the project file is not UTF-8 text",
            code="project.not-utf8",
            do="save it as UTF-8",
        ) from error


def _login(visit: Visit, status: int = 200, **parts: object) -> Response:
    return page(visit, "login", status=status, accounts=visit.site.accounts, **parts)


def _invitation(
    visit: Visit,
    token: str,
    status: int = 200,
    name: str = "",
    **parts: object,
) -> Response:
    """The form to accept an invitation; `name` is the one that was chosen before."""
    # The page tells the role, so that nobody accepts what they did not expect.
    role = invited_role(visit.db, token)
    if role is None:
        raise NotFound(
            "this invitation is not valid, was used or has expired",
            code="invitation.not-valid",
            do="ask for another one",
        )
    return page(
        visit,
        "invitation",
        status=status,
        invited_role=role,
        name=name,
        shortest=SHORTEST_PASSWORD,
        **parts,
    )


def _password_form(visit: Visit, token: str, status: int = 200, **parts: object) -> Response:
    name = password_link_name(visit.db, token)
    if name is None:
        raise NotFound(
            "this link is not valid, was used or has expired",
            code="password.link-not-valid",
            do="ask for another one",
        )
    return page(visit, "password", status=status, name=name, shortest=SHORTEST_PASSWORD, **parts)


def _end_session(visit: Visit) -> None:
    """End the session that the browser has, if any."""
    token = visit.site.signing.read(visit.request, SESSION)
    if token:
        log_out(visit.db, token)


def _with_session(visit: Visit, token: str) -> Response:
    """Go to the projects with the cookie of a new session."""
    response = go("/")
    visit.site.signing.write(response, visit.request, SESSION, token)
    visit.site.signing.remove(response, visit.request, VISITOR)
    return response
