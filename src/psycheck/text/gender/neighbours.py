"""The words beside a pronoun, and the lists and forms that say what they are."""

from collections.abc import Callable, Mapping
from string import ascii_lowercase
from typing import Final, NamedTuple

from psycheck.text.word_lists import patterns, read_toml, word_sets

LISTS: Final = {
    name: words
    for file in ("roles", "roles_before", "roles_after", "roles_nouns")
    for name, words in word_sets(read_toml(f"gender/{file}.toml")).items()
}

_PATTERNS: Final = patterns(read_toml("gender/patterns.toml")["neighbours"])
_OPENING: Final = " \t\"“'‘*(["


class Neighbours(NamedTuple):
    """Two words before and three after, in lower case; "" where the phrase ends."""

    before: str
    lead: str
    relative: bool
    first: str
    second: str
    third: str
    comma: bool
    capital: bool


def look(text: str, start: int, end: int) -> Neighbours:
    """The neighbours of `text[start:end]`."""
    before, lead, relative = _words_before(text[max(0, start - 32) : start])
    following = text[end : end + 1]
    if following and following in '"”*' and text[max(0, start - 1) : start] in ('"', "“", "*"):
        end += 1
    elif following == " " and "(" in text[end : end + 3] and (aside := _PATTERNS["aside"].match(text, end)):
        end = aside.end()
    after = _PATTERNS["after"].match(text, end, end + 72)
    if after is None or (before in LISTS["tell"] and _PATTERNS["spoken"].match(text, end)):
        return Neighbours(before, lead, relative, "", "", "", False, False)
    first, comma, second, third = after.groups("")
    words = _plain(first), _plain(second), _plain(third)
    return Neighbours(before, lead, relative, *words, bool(comma), first[0].isupper())


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
    # A mark between the words is part of one of them here, so that no list has it.
    relative = not LISTS["relative"].isdisjoint(words[-3:])
    return _plain(last), _plain(words[-1].lstrip(_OPENING)), relative


def _plain(word: str) -> str:
    if word.isalpha():
        return word.lower()
    word = word.lower().replace("’", "'").rstrip("'-")
    return word[:-2] if word.endswith("'s") and word not in LISTS["be"] else word


def ends_phrase(word: str) -> bool:
    """Whether nothing that this word begins can be the noun of the phrase before it."""
    if not word or word in LISTS["closed"] or word in LISTS["finite"]:
        return True
    return word.endswith("ly") and word not in LISTS["ly_not_adverbs"]


def _plural(word: str) -> bool:
    return len(word) > 3 and word.endswith("s") and word[-2] not in "siu" and word not in LISTS["not_plural"]


def _drug_ending(word: str) -> bool:
    return word.endswith(tuple(LISTS["drug_endings"]))


FORMS: Final[Mapping[str, Callable[[str], bool]]] = {
    "any": bool,
    "none": lambda word: not word,
    "ends": ends_phrase,
    "past": lambda word: word.endswith("ed") and not word.endswith("eed") and word not in LISTS["not_past"],
    "plural": _plural,
    "figure": lambda word: word[:1].isdigit(),
    "digits": str.isdigit,
    "amount": lambda word: word.replace(".", "", 1).isdigit() or word.rstrip(ascii_lowercase).isdigit(),
    "times_over": lambda word: word.endswith("x") and word[:-1].isdigit(),
    "times_taken": lambda word: word[:1] == "x" and word[1:].isdigit(),
    "drug_ending": _drug_ending,
    "drug": lambda word: word in LISTS["drugs"] or (_drug_ending(word) and word not in LISTS["drug_not"]),
}
"""Kinds of words that their spelling shows, by the names that role_rules.toml has for them."""
