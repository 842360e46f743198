"""Whether a sentence speaks of something that holds now: present, denied, past or uncertain.

A sentence is read in parts ("I no longer panic, but I sleep badly"), since what one part denies another may
affirm. Negation alone tells little: "I can't sleep" affirms a symptom, "no panic attacks" denies one, so the
rules know words for what people suffer from and for what people who are well do (status.toml).
"""

import re
from enum import StrEnum
from typing import Final

from psycheck.text.edits import straight
from psycheck.text.word_lists import patterns, read_toml


class Status(StrEnum):
    """The status of what a sentence speaks of."""

    PRESENT = "present"
    DENIED = "denied"
    PAST = "past"
    UNCERTAIN = "uncertain"


_DATA: Final = read_toml("status.toml")


def _any_word(words: str) -> str:
    """A pattern of words; a star is any ending, an underscore a space."""
    escaped = (re.escape(word) for word in words.split())
    return "|".join(word.replace(r"\*", r"[\w-]*").replace("_", r"\s+") for word in escaped)


_PATTERNS: Final = patterns(
    _DATA["patterns"],
    symptom=_any_word(_DATA["words"]["symptom"]),
    function=_any_word(_DATA["words"]["function"]),
)
# People leave out apostrophes; the patterns expect them.
_BARE: Final[dict[str, str]] = _DATA["bare"]
_BARE_WORD: Final = re.compile(rf"\b(?:{'|'.join(_BARE)})\b")


def plain(sentence: str) -> str:
    """A sentence as rules read it: in lower case, with straight and complete apostrophes."""
    lower = " ".join(straight(sentence).lower().split())
    return _BARE_WORD.sub(lambda match: _BARE[match[0]], lower)


def parts_of(sentence: str) -> list[str]:
    """The parts of a sentence that may differ in status, in order; most sentences are one part.

    Parts of equal status are not cut apart: whoever reads them sees as much of a sentence as possible.
    """
    pieces = _pieces(sentence)
    parts: list[str] = []
    statuses: list[Status] = []
    for piece in pieces:
        status = status_of(piece)
        if statuses and statuses[-1] == status:
            start = sentence.index(parts[-1])
            end = sentence.index(piece, start + len(parts[-1])) + len(piece)
            parts[-1] = sentence[start:end]
        else:
            parts.append(piece)
            statuses.append(status)
    return parts if len(parts) > 1 else [sentence]


def _pieces(sentence: str) -> list[str]:
    """A sentence cut at every place where a new statement may begin."""
    # Case does not matter to the pattern, and both kinds of apostrophes are one character.
    cuts = [(match.start(), match.end()) for match in _PATTERNS["cut"].finditer(straight(sentence).lower())]
    pieces = []
    start = 0
    for left, right in cuts:
        head = sentence[start:left].strip(" ,")
        # "When I was 15, I …": the beginning tells the status of what follows.
        if not head or _PATTERNS["opening"].search(plain(head)):
            continue
        pieces.append(head)
        start = right
    tail = sentence[start:].strip(" ,")
    return [*pieces, tail] if tail else pieces


def status_of(part: str) -> Status:
    """The status that the words of a sentence, or of a part of it, tell; present where they tell nothing."""
    text = plain(part)
    if _has("question", text) or _has("uncertain", text):
        return Status.UNCERTAIN
    if _has("denied", text):
        return Status.PAST if _has("longer", text) else Status.DENIED
    if _is_past(text):
        return Status.PAST
    if _has("well", text) and not _has("ill", text):
        return Status.DENIED
    return Status.PRESENT


def _is_past(text: str) -> bool:
    """Whether the words say that something is over, or long ago."""
    if _has("gone", text) or _has("no_longer", text):
        return True
    # "I used to enjoy it" tells of a loss, which is present.
    if _has("used_to", text):
        return not _has("used_to_be_well", text)
    if _has("still", text) or _has("present_verb", text):
        return False
    if _has("long_ago", text):
        return _has("past_verb", text)
    return _has("past_state", text) and not (_has("lately", text) or _has("wish", text))


def _has(pattern: str, text: str) -> bool:
    return _PATTERNS[pattern].search(text) is not None
