"""Answers to requests: pages with their navigation, redirects, and refusals as pages."""

from typing import Any, Final

from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import HTMLResponse, RedirectResponse, Response

from psycheck.annotate.refusals import TooOften
from psycheck.annotate.web.access import LoggedOut, Visit, words_for
from psycheck.annotate.web.cookies import VISITOR
from psycheck.annotate.web.pages import draw
from psycheck.annotate.web.texts import Texts, languages
from psycheck.core.errors import PsycheckError, StoreFailure

# Pages that the navigation of a project shows, with the keys of their titles.
_LINKS: Final = {
    "GET /p/{project}": "nav.home",
    "GET /p/{project}/batches": "nav.inspection",
    "GET /p/{project}/conflicts": "nav.conflicts",
    "GET /p/{project}/dashboard": "nav.dashboard",
    "GET /p/{project}/texts": "nav.texts",
    "GET /p/{project}/members": "nav.members",
    "GET /p/{project}/settings": "nav.settings",
}
_NO_PAGE: Final = (404, 405)


def page(visit: Visit, template: str, /, *, status: int = 200, **parts: Any) -> HTMLResponse:
    """A page with navigation for the role; a visitor without an account gets a cookie for the form."""
    # Parts of a page come last: they may say more than the frame does.
    content = draw(template, **{**_frame(visit), "csrf": visit.csrf, **parts})
    response = HTMLResponse(content, status_code=status)
    if visit.session is None:
        visit.site.signing.write(response, visit.request, VISITOR, visit.visitor)
    return response


def problem(visit: Visit, error: PsycheckError) -> dict[str, Any]:
    """An error as a page shows it; the place is only of use where files are."""
    words = visit.words
    parts = []
    # The place is left out: files of the server are of no use to whoever reads a page.
    if error.allowed:
        parts.append(words("error.allowed", allowed=error.allowed))
    if error.do:
        parts.append(error.do)
    return {"what": words.or_same(f"code.{error.code}", error.what), "parts": parts}


def go(address: str) -> RedirectResponse:
    """Redirect with a GET, so that loading the page again repeats nothing."""
    return RedirectResponse(address, status_code=303)


def refused(request: Request, error: Exception) -> Response:
    """The page of an error that a person can do something about."""
    words = words_for(request)
    if isinstance(error, PsycheckError):
        # For the line of the log.
        request.scope["error_code"] = error.code
    if isinstance(error, LoggedOut):
        return _logged_out(request, error)
    # Details are for the log: an address of a database is nobody's business.
    if isinstance(error, StoreFailure):
        return _error_page(request, 503, words("error.database"))
    if isinstance(error, PsycheckError):
        return _refusal_page(request, error)
    if isinstance(error, HTTPException):
        sentence = words("error.no_page") if error.status_code in _NO_PAGE else str(error.detail)
        return _error_page(request, error.status_code, sentence)
    return _error_page(request, 500, words("error.ours"))


def sentence_of(sentence: str) -> str:
    """The words of an error as a sentence, with a capital and a full stop."""
    return sentence[:1].upper() + sentence[1:].rstrip(".") + "."


def _logged_out(request: Request, error: LoggedOut) -> Response:
    """The way to the log-in form; a form that was sent is not forgotten silently."""
    if "hx-request" in request.headers:
        return Response(status_code=401, headers={"hx-redirect": "/login"})
    if request.method == "GET":
        return go("/login")
    return _error_page(request, 401, words_for(request).or_same(f"code.{error.code}", error.what))


def _refusal_page(request: Request, error: PsycheckError) -> HTMLResponse:
    """The page of a refusal, with what to do about it."""
    headers = None
    if isinstance(error, TooOften):
        headers = {"retry-after": str(int(error.after) + 1)}
    what = words_for(request).or_same(f"code.{error.code}", error.what)
    sentences = f"{what}. {error.do}" if error.do else what
    return _error_page(request, getattr(error, "status", 400), sentences, headers)


def _error_page(
    request: Request,
    status: int,
    sentence: str,
    headers: dict[str, str] | None = None,
) -> HTMLResponse:
    words = words_for(request)
    heading = words.or_same(f"heading.{status}", words("heading.other"))
    frame = _empty_frame(words)
    content = draw("error", **frame, heading=heading, sentence=sentence_of(sentence))
    return HTMLResponse(content, status_code=status, headers=headers)


def _empty_frame(words: Texts) -> dict[str, Any]:
    """What stands around the content of a page for nobody in particular."""
    return {
        "t": words,
        "languages": languages(),
        "links": [],
        "user": "",
        "role": "",
        "problem": None,
        "here": "",
        "csrf": "",
    }


def _frame(visit: Visit) -> dict[str, Any]:
    """What every page shows around its content."""
    words = visit.words
    frame = _empty_frame(words)
    frame["here"] = visit.request.url.path
    if visit.session is not None:
        frame["user"] = visit.person.name

    membership = visit.membership
    if membership is not None:
        links = []
        for route, title_key in _LINKS.items():
            # The same table as for access: no link leads to a refusal.
            if visit.may(route):
                address = route.removeprefix("GET ").format(project=membership.name)
                links.append((address, words(title_key)))
        frame["links"] = links
        frame["role"] = membership.role
        frame["project_title"] = membership.title
    return frame
