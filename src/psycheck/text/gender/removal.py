"""What goes with a word that is taken out of a text: its space, and its capital."""

from collections.abc import Sequence
from typing import Final

from psycheck.text.edits import Change, Span, address_spans, capitalised, inside
from psycheck.text.surroundings import character_at, character_before

_SPACE: Final = " \t\xa0"
_CLOSING: Final = ".,;:!?)]}…”\n\r"


def tidied(text: str, changes: list[Change]) -> list[Change]:
    """Changes that also remove the space of removed words, and give their capital to the next word."""
    tidy: list[Change] = []
    addresses = address_spans(text)
    # Where a letter must become a capital, because a capitalised word before it goes; -1 if none must.
    letter = -1
    for start, end, new in changes:
        _, tidy_end, _ = tidy[-1] if tidy else (0, 0, "")
        # What the change before took along needs none of its own.
        if start < tidy_end:
            continue
        if 0 <= letter < start:
            tidy.append(_capital(text, letter))
        needs_capital = letter == start
        letter = -1
        if new:
            if needs_capital:
                new = capitalised(new)
            tidy.append((start, end, new))
            continue

        left, right = _with_space(text, start, end)
        if tidy:
            left = max(left, tidy[-1][1])
        tidy.append((left, right, ""))
        gave_capital = needs_capital or _has_capital(text[start:end])
        if gave_capital and _may_take_capital(text, right, addresses):
            letter = right

    if letter >= 0:
        tidy.append(_capital(text, letter))
    return tidy


def _may_take_capital(text: str, at: int, addresses: Sequence[Span]) -> bool:
    """True for a small letter that is not part of an address."""
    return character_at(text, at).islower() and not inside(addresses, at)


def _capital(text: str, at: int) -> Change:
    """The change of a letter to its capital."""
    return at, at + 1, text[at].upper()


def _has_capital(word: str) -> bool:
    """True for "She", but not for "SHE", whose capitals are no sign of a sentence's start."""
    return word[0].isupper() and not word.isupper()


def space_before(text: str, start: int) -> int:
    """Where the space before a word begins."""
    while start and text[start - 1] in _SPACE:
        start -= 1
    return start


def _space_after(text: str, end: int) -> int:
    """Where the space after a word ends."""
    while end < len(text) and text[end] in _SPACE:
        end += 1
    return end


def _with_space(text: str, start: int, end: int) -> Span:
    """A word with the space that goes with it: at the end of a phrase the one before, else the one after."""
    # Brackets with nothing left in them go, too.
    around = character_before(text, start) + character_at(text, end)
    if around in ("()", "[]"):
        start -= 1
        end += 1
    # A word that is joined to another keeps the space behind it.
    if character_before(text, start).isalnum():
        return start, end

    left = space_before(text, start)
    right = _space_after(text, end)
    ends_phrase = right == len(text) or text[right] in _CLOSING
    if left < start and ends_phrase:
        return left, end
    return start, right
