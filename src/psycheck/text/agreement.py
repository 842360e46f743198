"""Verbs that change with the person of their subject: "I am" → "they are", "he feels" → "I feel"."""

import re
from typing import Final

from psycheck.text.edits import Change, carry_style, straight
from psycheck.text.gender.neighbours import LISTS
from psycheck.text.word_lists import patterns, read_toml, word_sets

_DATA: Final = read_toml("verbs.toml")
_WORDS: Final = word_sets(_DATA["words"])
REGULAR: Final = _WORDS["regular"]

_FORMS: Final = patterns(
    _DATA["patterns"], **{name: "|".join(sorted(words)) for name, words in _WORDS.items()}
)
_OPENING: Final = "([{*\"“'‘«"
_PLAIN: Final = LISTS["adjectives"] | _WORDS["plain"]


def third_person(verb: str) -> str:
    """The regular third-person form: try → tries, miss → misses, feel → feels."""
    if verb.endswith("y") and verb[-2] not in "aeou":
        return verb[:-1] + "ies"
    return verb + ("es" if verb.endswith(("s", "sh", "ch", "x", "z", "o")) else "s")


_S_FORMS: Final = {verb: third_person(verb) for verb in REGULAR}
_TO: Final[dict[str, tuple[dict[str, str], dict[str, str], dict[str, str]]]] = {
    "they": (_DATA["they"]["before"], _DATA["they"]["after"], {}),
    "he": (_DATA["he"]["before"], _DATA["he"]["after"], _S_FORMS),
    "I": (_DATA["I"]["before"], _DATA["I"]["after"], {form: verb for verb, form in _S_FORMS.items()}),
}


def verbs_beside(text: str, start: int, end: int, to: str) -> tuple[list[Change], list[Change]]:
    """The verbs before and after the subject at `text[start:end]` that must change with it."""
    before, after, lexical = _TO["he" if to == "she" else to]
    # Beside he or she, "were" is not a past tense: "if she were here".
    singular = text[start:end].lower() in ("he", "she")
    words = text[max(0, start - 24) : start].lower().split()[-2:]
    if words and words[-1][0] in _OPENING:
        words = [words[-1].lstrip(_OPENING)]
    if words and straight(words[-1]) in _WORDS["helpers"] and words[0] not in _WORDS["subjects"]:
        if words[-1] == "were" and singular:
            return [], []
        question = _FORMS["before"].search(text, max(0, start - 16), start)
        verb = _change(question, 1, before) if question else None
        return ([verb] if verb else []), []
    if words and words[-1] == "and" and _FORMS["both"].search(text, max(0, start - 48), start):
        return [], []
    found = _FORMS["nearest"].match(text, end, end + 72)
    if found is None:
        return [], []
    first = found[1].lower()
    if found[2] or first in _WORDS["adverbs"] or first.endswith("ly"):
        found = _FORMS["after"].match(text, end, end + 72) or found
        first = found[1].lower()
    first = straight(first)
    if first == "were" and singular:
        return [], []
    verbs = [_change(found, 1, after)]
    if verbs[0] is None:
        verbs = [_change(found, 1, lexical)]
        if verbs[0] and found[2]:
            verbs.append(_change(found, 2, lexical) or _change(found, 2, after))
            return [], [verb for verb in verbs if verb]
    finite = first in _WORDS["be"] or (verbs[0] is not None and first not in _WORDS["helpers"])
    verbs.append(verb_joined(text, found.end(1), to, finite=finite))
    return [], [verb for verb in verbs if verb]


def verb_joined(text: str, end: int, to: str, *, finite: bool) -> Change | None:
    """The verb that "and" or "but" joins to a first one, which ends at `end`, with plain words between.

    After a verb that is not `finite` ("I can't sleep and don't eat") only one that cannot be bare changes.
    """
    if text.find(" and ", end, end + 40) < 0 and text.find(" but ", end, end + 40) < 0:
        return None
    words = text[end : end + 56].lower().split()[:6]
    for at, word in enumerate(words):
        if word in ("and", "but"):
            break
        word = word.rstrip(",")
        if word not in _PLAIN and (at or finite or word not in REGULAR):
            return None
    else:
        return None
    _, after, lexical = _TO["he" if to == "she" else to]
    second = straight(words[at + 1].rstrip(".,;:!?)")) if at + 1 < len(words) else ""
    known = second in after or second in lexical or second in _WORDS["adverbs"] or second.endswith("ly")
    found = _FORMS["second"].match(text, end, end + 64) if known else None
    if found is None:
        return None
    if straight(found[1].lower()) in _WORDS["finite"]:
        return _change(found, 1, after)
    return (_change(found, 1, lexical) or _change(found, 1, after)) if finite else None


def _change(found: re.Match[str], group: int, table: dict[str, str]) -> Change | None:
    word = found[group]
    verb = table.get(straight(word.lower()))
    return None if verb is None else (*found.span(group), carry_style(word, verb))
