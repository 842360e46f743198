"""Who may see and do what: one table of pages and roles, asked before every request is answered."""

import hmac
import tomllib
from dataclasses import dataclass, replace
from typing import Final, cast

from starlette.datastructures import FormData
from starlette.requests import Request

from psycheck.annotate.database import Database
from psycheck.annotate.membership import Membership, Person, projects_of
from psycheck.annotate.membership import task as task_for
from psycheck.annotate.project import Task
from psycheck.annotate.refusals import NotAllowed, NotFound, Refusal
from psycheck.annotate.sessions import Session, session_of
from psycheck.annotate.web.cookies import SESSION, VISITOR, Signing, new_visitor
from psycheck.annotate.web.pages import HERE
from psycheck.annotate.web.texts import Texts, preferred_language, texts_in

_TABLE: Final = tomllib.loads((HERE / "access.toml").read_text("utf-8"))
# Page ("GET /p/{project}") to roles, or to one of "anyone", "account" and "server".
ACCESS: Final[dict[str, tuple[str, ...]]] = {page: tuple(who) for page, who in _TABLE["access"].items()}
LANGUAGE: Final = "psycheck-language"  # the cookie with the language chosen on a page
_LARGEST_NUMBER: Final = 2**31  # what a database can compare


class LoggedOut(Refusal):
    """The page needs an account, and nobody is logged in."""

    status = 401


def no_page() -> NotFound:
    """The error for a page that does not exist, or that this person may not know of."""
    return NotFound("there is no such page", code="page.unknown")


@dataclass(frozen=True, slots=True)
class Site:
    """What all requests share; `accounts` (name, role, password) are shown at the log-in of a demo."""

    db: Database
    signing: Signing
    accounts: tuple[tuple[str, str, str], ...] = ()


@dataclass(frozen=True, slots=True)
class Visit:
    """A request that was admitted: by whom, and in which project with which role."""

    request: Request
    site: Site
    form: FormData
    visitor: str
    session: Session | None
    membership: Membership | None = None

    @property
    def db(self) -> Database:
        """The database."""
        return self.site.db

    @property
    def person(self) -> Person:
        """Who is logged in."""
        if self.session is None:
            raise LoggedOut("nobody is logged in", code="login.needed")
        return self.session.person

    @property
    def member(self) -> Membership:
        """The membership in the project of this page."""
        if self.membership is None:
            raise no_page()
        return self.membership

    def task(self) -> Task:
        """What the project of this page asks."""
        return task_for(self.db, self.person, self.member.project)

    @property
    def csrf(self) -> str:
        """The token that forms of this page must send."""
        return self.session.csrf if self.session else self.site.signing.token(self.visitor)

    @property
    def by_htmx(self) -> bool:
        """Whether only a part of the page is wanted."""
        return "hx-request" in self.request.headers

    @property
    def words(self) -> Texts:
        """The words of the page in the reader's language."""
        return words_for(self.request)

    def field(self, name: str) -> str:
        """A text field of the form; empty where it is missing or a file."""
        value = self.form.get(name, "")
        return value if isinstance(value, str) else ""

    def query(self, name: str) -> str:
        """A part of the address behind the question mark; empty where it is missing."""
        return self.request.query_params.get(name, "")

    def query_number(self, name: str) -> int | None:
        """A number of the address behind the question mark; None where it is missing."""
        value = self.query(name)
        if not value:
            return None
        # A larger number would be an error of the database, and of ours in the log.
        if not value.isdecimal() or int(value) >= _LARGEST_NUMBER:
            raise no_page()
        return int(value)

    def may(self, page: str) -> bool:
        """Whether this role may see a page of the project."""
        return self.membership is not None and self.membership.role in ACCESS[page]


def words_for(request: Request) -> Texts:
    """The words in the language that the reader chose, or that their browser asks for."""
    chosen = request.cookies.get(LANGUAGE, "")
    return texts_in(preferred_language(chosen, request.headers.get("accept-language", "")))


async def posted(request: Request) -> FormData:
    """The fields of a form, if one was sent."""
    if request.method != "POST":
        return FormData()
    return await request.form(max_files=1, max_fields=400)


def admit(request: Request, form: FormData, page: str) -> Visit:
    """Check session, CSRF token and role, in this order."""
    site = cast(Site, request.app.state.site)
    # A cookie that we did not sign never reaches the database.
    token = site.signing.read(request, SESSION)
    visit = Visit(
        request=request,
        site=site,
        form=form,
        visitor=site.signing.read(request, VISITOR) or new_visitor(),
        session=session_of(site.db, token) if token else None,
    )
    allowed = ACCESS[page]
    # Before the form is looked at: a stranger learns nothing of what it should hold.
    if visit.session is None and "anyone" not in allowed:
        raise LoggedOut("log in first", code="login.needed")
    if request.method == "POST":
        _check_csrf(visit)

    if "anyone" in allowed or "account" in allowed:
        return visit
    if "server" in allowed:
        if not visit.person.owner:
            raise NotAllowed("only an owner of the server creates projects", code="role.not-server-owner")
        return visit
    return replace(visit, membership=_membership(visit, allowed))


def _membership(visit: Visit, roles: tuple[str, ...]) -> Membership:
    """The membership in the project of the address, with one of these roles."""
    name = visit.request.path_params["project"]
    # Their own projects only: one that exists elsewhere cannot be told from one that does not.
    for membership in projects_of(visit.db, visit.person):
        if membership.name == name:
            if membership.role not in roles:
                raise NotAllowed(
                    "your role in this project does not permit this",
                    code="role.not-allowed",
                )
            return membership
    raise no_page()


def _check_csrf(visit: Visit) -> None:
    """Refuse a form that another site or another session made.

    A visitor without an account needs the cookie that came with the page.
    """
    has_cookie = visit.session is not None or visit.site.signing.read(visit.request, VISITOR) is not None
    sent = visit.field("csrf")
    if not has_cookie or not hmac.compare_digest(sent.encode(), visit.csrf.encode()):
        raise NotAllowed(
            "the form has expired",
            code="form.expired",
            do="load the page again and repeat what you did",
        )
