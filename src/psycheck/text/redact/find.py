"""Find personal data in a text and replace it by its kind.

Patterns find data with a form (mails, phones, dates) and names in the places where names occur; they do not
know who is meant. docs/reference/cleaning.md says what they miss.
"""

import re
from collections.abc import Callable, Iterable, Iterator, Sequence
from functools import cache
from typing import Final, Literal, NamedTuple, get_args

from psycheck.text.redact.lists import BLOT, PATTERNS, Found, Kind, filled_in, words_of
from psycheck.text.redact.names import named
from psycheck.text.redact.recogniser import Recogniser

KINDS: Final[tuple[Kind, ...]] = get_args(Kind)
Search = Callable[[str], Iterable[Found]]


class Redacted(NamedTuple):
    """A text with a placeholder for each piece of personal data found in it."""

    text: str
    found: tuple[Found, ...]


def redact(text: str, recogniser: Recogniser | None = None) -> Redacted:
    """Replace personal data by [NAME], [PHONE] and so on; a redacted text stays as it is."""
    found = find_personal(text, recogniser)
    return Redacted(_filled(text, found, lambda one: f"[{one.kind}]"), found)


def find_personal(text: str, recogniser: Recogniser | None = None) -> tuple[Found, ...]:
    """Where a text has personal data, in order and without overlap.

    Each finding is blotted out before the next search, and so are the placeholders of an earlier redaction: a
    redacted text gives nothing new. A recogniser adds what the patterns leave.
    """
    recognised = tuple(recogniser(text)) if recogniser else ()

    def rest(left: str) -> Iterator[Found]:
        at = 0
        for one in recognised:
            for piece in _UNBLOTTED.finditer(left, max(at, one.start), one.end):
                at = piece.end()
                yield Found(piece.start(), at, one.kind)

    left = _PLACEHOLDER.sub(lambda place: BLOT * len(place[0]), text) if "[" in text else text
    found: list[Found] = []
    while True:
        count = len(found)
        for search in (*_SEARCHES, rest):
            spans = [one for one in search(left) if one.start < one.end]
            if spans:
                left = _filled(left, spans, lambda one: BLOT * (one.end - one.start))
            found += spans
        if len(found) == count:
            return tuple(sorted(found))


def _filled(text: str, found: Iterable[Found], filling: Callable[[Found], str]) -> str:
    """The text with each finding, in order, replaced."""
    out: list[str] = []
    at = 0
    for one in found:
        out += (text[at : one.start], filling(one))
        at = one.end
    return "".join((*out, text[at:]))


_PLACEHOLDER: Final = re.compile(rf"\[(?:{'|'.join(KINDS)})\]")
_UNBLOTTED: Final = re.compile(rf"\w(?:[^{BLOT}]*\w)?")
_DIGIT: Final = re.compile(r"\d")


def _search(
    kind: Kind,
    pattern: str,
    needs: Sequence[str] = (),
    group: int | Literal["last"] = 0,
    any_case: bool = False,
) -> Search:
    """The search that an entry of patterns.toml describes."""

    @cache
    def form() -> re.Pattern[str]:
        # Only now: many who import this room never search.
        return re.compile(filled_in(pattern), re.I if any_case else 0)

    signs: list[str] = []
    for need in needs:
        signs += words_of(*need.strip("{}").split(".")) if need.startswith("{") else (need,)

    def search(text: str) -> Iterator[Found]:
        if signs == ["digit"]:
            possible = _DIGIT.search(text) is not None
        elif signs:
            low = text.lower()
            possible = any(sign in low for sign in signs)
        else:
            possible = True
        for found in form().finditer(text) if possible else ():
            yield Found(*found.span(found.lastindex or 0 if group == "last" else group), kind)

    return search


_SEARCHES: Final[tuple[Search, ...]] = (*(_search(**entry) for entry in PATTERNS["search"]), named)
