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
    personal_data = find_personal(text, recogniser)
    redacted = _filled(text, personal_data, _placeholder)
    return Redacted(redacted, personal_data)


def find_personal(text: str, recogniser: Recogniser | None = None) -> tuple[Found, ...]:
    """Where a text has personal data, in order and without overlap.

    Each finding is blotted out before the next search, and so are the placeholders of an earlier redaction: a
    redacted text gives nothing new. A recogniser adds what the patterns leave.
    """
    searches = list(_SEARCHES)
    if recogniser:
        searches.append(_search_recognised(recogniser(text)))

    blotted = text
    if "[" in text:
        blotted = _PLACEHOLDER.sub(lambda placeholder: BLOT * len(placeholder[0]), text)

    findings: list[Found] = []
    # Again until nothing new is found: what is blotted out may announce a name beside it.
    while True:
        count = len(findings)
        for search in searches:
            new_findings = [finding for finding in search(blotted) if finding.start < finding.end]
            if new_findings:
                blotted = _filled(blotted, new_findings, _blots)
            findings += new_findings
        if len(findings) == count:
            return tuple(sorted(findings))


def _search_recognised(recognised: Iterable[Found]) -> Search:
    """The search for what a recogniser found in the whole text, as far as it is not blotted out."""
    in_order = tuple(recognised)

    def search(blotted: str) -> Iterator[Found]:
        read_to = 0
        for finding in in_order:
            # A part of it may be blotted out already: what is left on either side still counts.
            start = max(read_to, finding.start)
            for piece in _UNBLOTTED.finditer(blotted, start, finding.end):
                read_to = piece.end()
                yield Found(piece.start(), read_to, finding.kind)

    return search


def _placeholder(finding: Found) -> str:
    return f"[{finding.kind}]"


def _blots(finding: Found) -> str:
    return BLOT * (finding.end - finding.start)


def _filled(
    text: str,
    findings: Iterable[Found],
    filling: Callable[[Found], str],
) -> str:
    """The text with each finding, in order, replaced."""
    pieces: list[str] = []
    read_to = 0
    for finding in findings:
        pieces.append(text[read_to : finding.start])
        pieces.append(filling(finding))
        read_to = finding.end
    pieces.append(text[read_to:])
    return "".join(pieces)


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
    """The search that an entry of patterns.toml describes; `needs` are signs without which it is not made."""
    signs = _signs(needs)

    @cache
    def form() -> re.Pattern[str]:
        # Only now: many who import this room never search.
        return re.compile(filled_in(pattern), re.I if any_case else 0)

    def search(text: str) -> Iterator[Found]:
        # A glance for a sign spares most texts the slower pattern.
        if not _has_sign(text, signs):
            return
        for match in form().finditer(text):
            number = match.lastindex or 0 if group == "last" else group
            start, end = match.span(number)
            yield Found(start, end, kind)

    return search


def _signs(needs: Iterable[str]) -> list[str]:
    """The signs, of which one must stand in a text; "{table.key}" is a list of redact.toml."""
    signs: list[str] = []
    for need in needs:
        if need.startswith("{"):
            table, key = need.strip("{}").split(".")
            signs += words_of(table, key)
        else:
            signs.append(need)
    return signs


def _has_sign(text: str, signs: list[str]) -> bool:
    """True if a text has one of the signs, or none is needed."""
    if not signs:
        return True
    if signs == ["digit"]:
        return _DIGIT.search(text) is not None
    lowered = text.lower()
    return any(sign in lowered for sign in signs)


_SEARCHES: Final[tuple[Search, ...]] = (*(_search(**entry) for entry in PATTERNS["search"]), named)
