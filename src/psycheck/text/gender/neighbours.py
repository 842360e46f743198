"""The words beside a pronoun, and the lists that say what they are."""

import re
import tomllib
from pathlib import Path
from typing import Final, Literal, NamedTuple

HerRole = Literal["object", "possessive", "undecided"]

LISTS: Final = {
    name: frozenset(words.split())
    for file in ("roles.toml", "roles_before.toml", "roles_after.toml", "roles_nouns.toml")
    for name, words in tomllib.loads(Path(__file__).with_name(file).read_text("utf-8")).items()
}
CLOSED: Final = LISTS["closed"]
TIME: Final = LISTS["time"]
PARTICLE: Final = LISTS["particle"]
ADJECTIVES: Final = LISTS["adjectives"]
ALL_ADJECTIVES: Final = ADJECTIVES | LISTS["ed_adjectives"] | LISTS["states"]

_WORD = r"([^\W_][\w'’-]*(?:(?:&(?=\w)|(?<=\d)[.:](?=\d))[\w'’-]*)*)"
_AFTER: Final = re.compile(
    rf"[^\S\n]*\n?[^\S\n]*[\"“'‘*£$€]*{_WORD}(,?)(?:[\"”*]*\s+[£$€\"“‘]?{_WORD}(?:\s+{_WORD})?)?"
)
# "Her (late) husband": what a short bracket holds stands beside nothing.
_ASIDE: Final = re.compile(r"[^\S\n]*\([^()\n]{1,24}\)(?=[^\S\n])")
# told her "go away": more than a word in quotation marks was said.
_SPOKEN: Final = re.compile(r"[^\S\n]+[\"“][^\"”\n]*\s")
_RELATIVE: Final = LISTS["relative"]
_OPENING: Final = " \t\"“'‘*(["


class Beside(NamedTuple):
    """The words before and three after, in lower case; "" where the phrase ends."""

    before: str
    lead: str
    relative: bool
    first: str
    second: str
    third: str
    comma: bool
    capital: bool


def look(text: str, start: int, end: int) -> Beside:
    """What stands beside `text[start:end]`."""
    before, lead, relative = _words_before(text[max(0, start - 32) : start])
    following = text[end : end + 1]
    if following and following in '"”*' and text[max(0, start - 1) : start] in ('"', "“", "*"):
        end += 1
    elif following == " " and "(" in text[end : end + 3] and (aside := _ASIDE.match(text, end)):
        end = aside.end()
    after = _AFTER.match(text, end, end + 72)
    if after is None or (before in LISTS["tell"] and _SPOKEN.match(text, end)):
        return Beside(before, lead, relative, "", "", "", False, False)
    first, comma, second, third = after.groups("")
    words = _plain(first), _plain(second), _plain(third)
    return Beside(before, lead, relative, *words, bool(comma), first[0].isupper())


def _words_before(left: str) -> tuple[str, str, bool]:
    """The last word and the one before it, and whether "who", "what" … opens their clause.

    A new line or a mark of punctuation ends the search.
    """
    left = left.rstrip(_OPENING).lower()
    if not left or not left[-1].isalnum():
        return "", "", False
    words = left[left.rfind("\n") + 1 :].split()
    last = words.pop()
    if not words or last[0] in _OPENING or not words[-1][-1].isalnum():
        return _plain(last.lstrip(_OPENING)), "", False
    # A mark between the words is part of one of them here, so that it is in no list.
    relative = not _RELATIVE.isdisjoint(words[-3:])
    return _plain(last), _plain(words[-1].lstrip(_OPENING)), relative


def _plain(word: str) -> str:
    if word.isalpha():
        return word.lower()
    word = word.lower().replace("’", "'").rstrip("'-")
    return word[:-2] if word.endswith("'s") and word not in LISTS["be"] else word


def ends_phrase(word: str) -> bool:
    """Whether nothing that this word begins can be the noun of the phrase before it."""
    if not word or word in CLOSED or word in LISTS["finite"]:
        return True
    return word.endswith("ly") and word not in LISTS["ly_not_adverbs"]


def past(word: str) -> bool:
    """Whether a word looks like a verb in the past tense."""
    return word.endswith("ed") and not word.endswith("eed") and word not in LISTS["not_past"]


def plural(word: str) -> bool:
    """Whether a word looks like a plural."""
    return len(word) > 3 and word.endswith("s") and word[-2] not in "siu" and word not in LISTS["not_plural"]
