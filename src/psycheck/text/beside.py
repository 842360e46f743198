"""The words beside a pronoun, and the lists that say what they are."""

import re
import tomllib
from pathlib import Path
from typing import Final, NamedTuple

LISTS: Final = {
    name: frozenset(words.split())
    for name, words in tomllib.loads(Path(__file__).with_name("roles.toml").read_text("utf-8")).items()
}
CLOSED: Final = LISTS["closed"]
TIME: Final = LISTS["time"]
PARTICLE: Final = LISTS["particle"]
ADJECTIVES: Final = LISTS["adjectives"]
ALL_ADJECTIVES: Final = ADJECTIVES | LISTS["ed_adjectives"] | LISTS["states"]

_WORD = r"([^\W_](?:[\w'’-]|&(?=\w))*)"
_AFTER: Final = re.compile(
    rf"[^\S\n]*\n?[^\S\n]*[\"“'‘*£$€]*{_WORD}(,?)(?:[\"”*]*\s+{_WORD}(?:\s+{_WORD})?)?"
)
_OPENING: Final = " \t\"“'‘*(["


class Beside(NamedTuple):
    """One word before and three after, in lower case; "" where the phrase ends."""

    before: str
    first: str
    second: str
    third: str
    comma: bool
    capital: bool


def look(text: str, start: int, end: int) -> Beside:
    """What stands beside `text[start:end]`."""
    left = _last_word(text[max(0, start - 24) : start])
    after = _AFTER.match(text, end, end + 72)
    if after is None:
        return Beside(left, "", "", "", False, False)
    first, comma, second, third = after.groups("")
    return Beside(left, _plain(first), _plain(second), _plain(third), bool(comma), first[0].isupper())


def _last_word(before: str) -> str:
    """The last word, unless a new line or a mark of punctuation comes after it."""
    before = before.rstrip(_OPENING)
    if not before or not before[-1].isalnum():
        return ""
    return _plain(before.rsplit(None, 1)[-1].lstrip(_OPENING))


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
