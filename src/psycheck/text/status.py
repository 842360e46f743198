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
    alternatives = []
    for word in words.split():
        with_endings = re.escape(word).replace(r"\*", r"[\w-]*")
        alternatives.append(with_endings.replace("_", r"\s+"))
    return "|".join(alternatives)


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
    words = straight(sentence).lower().split()
    # Spaces and line breaks in a row would keep patterns of several words from matching.
    lower = " ".join(words)
    return _BARE_WORD.sub(lambda match: _BARE[match[0]], lower)


def parts_of(sentence: str) -> list[str]:
    """The parts of a sentence that may differ in status, in order; most sentences are one part.

    Parts of equal status are not cut apart: whoever reads them sees as much of a sentence as possible.
    """
    parts: list[str] = []
    last_status: Status | None = None
    for piece in _pieces(sentence):
        status = status_of(piece)
        if status == last_status:
            parts[-1] = _from_to(sentence, parts[-1], piece)
        else:
            parts.append(piece)
        last_status = status
    if len(parts) <= 1:
        return [sentence]
    return parts


def _from_to(
    sentence: str,
    first: str,
    second: str,
) -> str:
    """The stretch of a sentence from a first piece to a second one after it, with what is between them."""
    start = sentence.index(first)
    end_of_first = start + len(first)
    end = sentence.index(second, end_of_first) + len(second)
    return sentence[start:end]


def _pieces(sentence: str) -> list[str]:
    """A sentence cut at every place where a new statement may begin."""
    # Case does not matter to the pattern, and both kinds of apostrophes are one character.
    readable = straight(sentence).lower()
    pieces = []
    start = 0
    for cut in _PATTERNS["cut"].finditer(readable):
        head = sentence[start : cut.start()].strip(" ,")
        # "When I was 15, I …": the beginning tells the status of what follows.
        if not head or _PATTERNS["opening"].search(plain(head)):
            continue
        pieces.append(head)
        start = cut.end()
    tail = sentence[start:].strip(" ,")
    if tail:
        pieces.append(tail)
    return pieces


def status_of(part: str) -> Status:
    """The status that the words of a sentence, or of a part of it, tell; present where they tell nothing."""
    text = plain(part)
    is_question = _has("question", text) and not _has("presupposed", text)
    if is_question or _has("uncertain", text):
        return Status.UNCERTAIN
    # "I no longer panic" denies it now, and says that it was so.
    if _has("denied", text):
        if _has("longer", text):
            return Status.PAST
        return Status.DENIED
    if _is_past(text):
        return Status.PAST
    # What people who are well do ("I sleep well") denies a symptom without a word of negation.
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
    if _has("still", text):
        return False
    # An attempt is over, however present its words are; "yesterday" is not.
    if _has("attempt", text):
        return not _has("recent", text)
    if _has("in_the_past", text):
        return True
    if _has("present_verb", text):
        return False
    if _has("early", text):
        return True
    if _has("long_ago", text):
        return _has("past_verb", text)
    # "I was sad lately" still holds, and "I wish I was dead" is no past.
    if _has("lately", text) or _has("wish", text):
        return False
    return _has("past_state", text)


def _has(pattern: str, text: str) -> bool:
    """Whether a text, as `plain` gives it, has words of a pattern of status.toml."""
    return _PATTERNS[pattern].search(text) is not None
