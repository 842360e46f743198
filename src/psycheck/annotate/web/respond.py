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
from psycheck.errors import PsycheckError, StoreFailure

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


def page(visit: Visit, template: str, /, *, status: int = 200, **parts: Any) -> HTMLResponse:
    """A page with navigation for the role; a visitor without an account gets a cookie for the form."""
    response = HTMLResponse(
        draw(template, **{**_frame(visit), "csrf": visit.csrf, **parts}), status_code=status
    )
    if visit.session is None:
        visit.site.signing.write(response, visit.request, VISITOR, visit.visitor)
    return response


def problem(error: PsycheckError) -> dict[str, Any]:
    """An error as a page shows it; the place is only of use where files are."""
    return {
        "what": error.what,
        "parts": [part for part in (error.allowed and f"Allowed: {error.allowed}", error.do) if part],
    }


def go(address: str) -> RedirectResponse:
    """Redirect with a GET, so that loading the page again repeats nothing."""
    return RedirectResponse(address, status_code=303)


def refused(request: Request, error: Exception) -> Response:
    """The page of an error that a person can do something about."""
    if isinstance(error, LoggedOut):
        if "hx-request" in request.headers:
            return Response(status_code=401, headers={"hx-redirect": "/login"})
        return go("/login") if request.method == "GET" else _error(401, error.what)
    if isinstance(error, PsycheckError):
        status = 503 if isinstance(error, StoreFailure) else getattr(error, "status", 400)
        headers = {"retry-after": str(int(error.after) + 1)} if isinstance(error, TooOften) else None
        what = "The database cannot be used at the moment." if status == 503 else error.what
        return _error(
            status, ". ".join(part for part in (what, error.do) if part and status != 503) or what, headers
        )
    if isinstance(error, RequestValidationError):
        missing = any(one["loc"][0] == "path" for one in error.errors())
        return _error(404, "There is no such page.") if missing else _error(422, "A field has a wrong value.")
    if isinstance(error, HTTPException):
        return _error(
            error.status_code,
            "There is no such page." if error.status_code in (404, 405) else str(error.detail),
        )
    return _error(
        500, "Something went wrong on the server. The owner of the server finds the place in its log."
    )


def _error(status: int, sentence: str, headers: dict[str, str] | None = None) -> HTMLResponse:
    heading = _HEADINGS.get(status, "Something went wrong")
    sentence = sentence[:1].upper() + sentence[1:].rstrip(".") + "."
    content = draw("error", **_nobody(), heading=heading, sentence=sentence)
    return HTMLResponse(content, status_code=status, headers=headers)


def _nobody() -> dict[str, Any]:
    return {"links": [], "user": "", "role": "", "problem": None, "here": "", "csrf": ""}


def _frame(visit: Visit) -> dict[str, Any]:
    """What every page shows around its content."""
    frame = {**_nobody(), "here": visit.request.url.path}
    if visit.session is not None:
        frame["user"] = visit.person.name
    if visit.membership is not None:
        member = visit.membership
        links = [
            (key.removeprefix("GET ").format(project=member.name), name)
            for key, name in _LINKS.items()
            if visit.may(key)
        ]
        frame |= {"links": links, "role": member.role, "project_title": member.title}
    return frame
