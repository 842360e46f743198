"""Answers to requests: pages with their navigation, redirects, and refusals as pages."""

from typing import Any, Final

from fastapi import Request
from fastapi.exceptions import RequestValidationError
from starlette.exceptions import HTTPException
from starlette.responses import HTMLResponse, RedirectResponse, Response

from psycheck.annotate.refusals import TooOften
from psycheck.annotate.web.access import LoggedOut, Visit
from psycheck.annotate.web.cookies import VISITOR
from psycheck.annotate.web.pages import draw
from psycheck.core.errors import PsycheckError, StoreFailure

_LINKS: Final = {
    "GET /p/{project}": "Home",
    "GET /p/{project}/batches": "Inspection",
    "GET /p/{project}/conflicts": "Conflicts",
    "GET /p/{project}/dashboard": "Dashboard",
}
_HEADINGS: Final = {
    400: "This does not work",
    403: "Not allowed",
    404: "Not found",
    405: "Not found",
    409: "This has changed meanwhile",
    413: "Too large",
    422: "The request cannot be read",
    429: "Too many attempts",
    503: "Not available",
}
_NO_PAGE: Final = "There is no such page."


def page(visit: Visit, template: str, /, *, status: int = 200, **parts: Any) -> HTMLResponse:
    """A page with navigation for the role; a visitor without an account gets a cookie for the form."""
    content = draw(template, **{**_frame(visit), "csrf": visit.csrf, **parts})
    response = HTMLResponse(content, status_code=status)
    if visit.session is None:
        visit.site.signing.write(response, visit.request, VISITOR, visit.visitor)
    return response


def problem(error: PsycheckError) -> dict[str, Any]:
    """An error as a page shows it; the place is only of use where files are."""
    parts = []
    if error.allowed:
        parts.append(f"Allowed: {error.allowed}")
    if error.do:
        parts.append(error.do)
    return {"what": error.what, "parts": parts}


def go(address: str) -> RedirectResponse:
    """Redirect with a GET, so that loading the page again repeats nothing."""
    return RedirectResponse(address, status_code=303)


def refused(request: Request, error: Exception) -> Response:
    """The page of an error that a person can do something about."""
    if isinstance(error, LoggedOut):
        return _logged_out(request, error)
    if isinstance(error, StoreFailure):
        return _error_page(503, "The database cannot be used at the moment.")
    if isinstance(error, PsycheckError):
        return _refusal_page(error)
    if isinstance(error, RequestValidationError):
        # A path that does not fit its pattern is a page that does not exist.
        in_path = any(detail["loc"][0] == "path" for detail in error.errors())
        return _error_page(404, _NO_PAGE) if in_path else _error_page(422, "A field has a wrong value.")
    if isinstance(error, HTTPException):
        no_page = error.status_code in (404, 405)
        return _error_page(error.status_code, _NO_PAGE if no_page else str(error.detail))
    return _error_page(
        500,
        "Something went wrong on the server. The owner of the server finds the place in its log.",
    )


def sentence_of(words: str) -> str:
    """The words of an error as a sentence, with a capital and a full stop."""
    return words[:1].upper() + words[1:].rstrip(".") + "."


def _logged_out(request: Request, error: LoggedOut) -> Response:
    """The way to the log-in form; a form that was sent is not forgotten silently."""
    if "hx-request" in request.headers:
        return Response(status_code=401, headers={"hx-redirect": "/login"})
    if request.method == "GET":
        return go("/login")
    return _error_page(401, error.what)


def _refusal_page(error: PsycheckError) -> HTMLResponse:
    """The page of a refusal, with what to do about it."""
    headers = None
    if isinstance(error, TooOften):
        headers = {"retry-after": str(int(error.after) + 1)}
    sentences = f"{error.what}. {error.do}" if error.do else error.what
    return _error_page(getattr(error, "status", 400), sentences, headers)


def _error_page(status: int, sentence: str, headers: dict[str, str] | None = None) -> HTMLResponse:
    heading = _HEADINGS.get(status, "Something went wrong")
    content = draw("error", **_empty_frame(), heading=heading, sentence=sentence_of(sentence))
    return HTMLResponse(content, status_code=status, headers=headers)


def _empty_frame() -> dict[str, Any]:
    """What stands around the content of a page for nobody in particular."""
    return {"links": [], "user": "", "role": "", "problem": None, "here": "", "csrf": ""}


def _frame(visit: Visit) -> dict[str, Any]:
    """What every page shows around its content."""
    frame = _empty_frame()
    frame["here"] = visit.request.url.path
    if visit.session is not None:
        frame["user"] = visit.person.name

    membership = visit.membership
    if membership is not None:
        pages = {route: title for route, title in _LINKS.items() if visit.may(route)}
        frame["links"] = [
            (route.removeprefix("GET ").format(project=membership.name), title)
            for route, title in pages.items()
        ]
        frame["role"] = membership.role
        frame["project_title"] = membership.title
    return frame
