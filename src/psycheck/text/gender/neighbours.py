"""The words beside a pronoun, and the lists and forms that say what they are."""

from collections.abc import Callable, Mapping
from string import ascii_lowercase
from typing import Final, NamedTuple

from psycheck.text.surroundings import character_at, character_before, text_before
from psycheck.text.word_lists import patterns, read_toml, word_sets


def _lists() -> dict[str, frozenset[str]]:
    """The word lists of all files, by name."""
    lists: dict[str, frozenset[str]] = {}
    for file in ("roles", "roles_before", "roles_after", "roles_nouns"):
        table = read_toml(f"gender/{file}.toml")
        lists |= word_sets(table)
    return lists


LISTS: Final = _lists()
_PATTERNS: Final = patterns(read_toml("gender/patterns.toml")["neighbours"])
_OPENING: Final = " \t\"“'‘*(["


class Neighbours(NamedTuple):
    """Two words before and three after, in lower case; "" where the phrase ends."""

    before: str  # right before the pronoun
    lead: str  # before that
    relative: bool  # whether "who", "what" … opens their clause
    first: str = ""
    second: str = ""
    third: str = ""
    comma: bool = False  # behind the first word
    capital: bool = False  # of the first word


def look(text: str, start: int, end: int) -> Neighbours:
    """The neighbours of `text[start:end]`."""
    before, lead, relative = _words_before(text_before(text, start, 32))
    end = _end_of_quoted(text, start, end)
    after = _PATTERNS["after"].match(text, end, end + 72)
    # Told her "go away": what is said is not part of the phrase.
    ends_phrase = before in LISTS["tell"] and _PATTERNS["spoken"].match(text, end)
    if after is None or ends_phrase:
        return Neighbours(before, lead, relative)

    first, comma, second, third = after.groups("")
    return Neighbours(
        before=before,
        lead=lead,
        relative=relative,
        first=_plain(first),
        second=_plain(second),
        third=_plain(third),
        comma=bool(comma),
        capital=first[0].isupper(),
    )


def _end_of_quoted(text: str, start: int, end: int) -> int:
    """Where the words after a pronoun begin: behind its quotation mark, or a short aside in brackets."""
    following = character_at(text, end)
    if following and following in '"”*' and character_before(text, start) in ('"', "“", "*"):
        return end + 1
    # A glance for the bracket is faster than the pattern.
    if following == " " and "(" in text[end : end + 3]:
        aside = _PATTERNS["aside"].match(text, end)
        if aside:
            return aside.end()
    return end


def _words_before(left: str) -> tuple[str, str, bool]:
    """The last word and the one before it, and whether "who", "what" … opens their clause.

    A new line or a mark of punctuation ends the search.
    """
    left = left.rstrip(_OPENING).lower()
    if not left or not left[-1].isalnum():
        return "", "", False

    line_start = left.rfind("\n") + 1
    words = left[line_start:].split()
    last = words.pop()
    opens_phrase = last[0] in _OPENING
    if not words or opens_phrase or not words[-1][-1].isalnum():
        return _plain(last.lstrip(_OPENING)), "", False

    # A mark between the words is part of one of them here, so that no list has it.
    relative = not LISTS["relative"].isdisjoint(words[-3:])
    lead = words[-1].lstrip(_OPENING)
    return _plain(last), _plain(lead), relative


def _plain(word: str) -> str:
    """A word in lower case without what is joined to it: "john" for "John's"; but "it's" stays."""
    if word.isalpha():
        return word.lower()
    plain = word.lower().replace("’", "'").rstrip("'-")
    if plain in LISTS["be"]:
        return plain
    return plain.removesuffix("'s")


def ends_phrase(word: str) -> bool:
    """Whether nothing that this word begins can be the noun of the phrase before it."""
    if not word or word in LISTS["closed"] or word in LISTS["finite"]:
        return True
    return word.endswith("ly") and word not in LISTS["ly_not_adverbs"]


def _is_past(word: str) -> bool:
    """Whether a word is a past tense in -ed; "need" is none."""
    ends_as_past = word.endswith("ed") and not word.endswith("eed")
    return ends_as_past and word not in LISTS["not_past"]


def _is_plural(word: str) -> bool:
    """Whether a word is a plural in -s; "loss", "crisis" and "virus" are none."""
    if len(word) < 4 or not word.endswith("s"):
        return False
    return word[-2] not in "siu" and word not in LISTS["not_plural"]


def _is_figure(word: str) -> bool:
    return word[:1].isdigit()


def _is_amount(word: str) -> bool:
    """Whether a word is a number, or one with its unit: "2.5", "50mg"."""
    is_number = word.replace(".", "", 1).isdigit()
    return is_number or word.rstrip(ascii_lowercase).isdigit()


def _is_times_over(word: str) -> bool:
    """Whether a word is a multiple: "3x"."""
    return word.endswith("x") and word[:-1].isdigit()


def _is_times_taken(word: str) -> bool:
    """Whether a word is a number of times: "x3"."""
    return word[:1] == "x" and word[1:].isdigit()


def _has_drug_ending(word: str) -> bool:
    return word.endswith(tuple(LISTS["drug_endings"]))


def _is_drug(word: str) -> bool:
    """Whether a word names a drug, by the list or by its ending."""
    if word in LISTS["drugs"]:
        return True
    return _has_drug_ending(word) and word not in LISTS["drug_not"]


FORMS: Final[Mapping[str, Callable[[str], bool]]] = {
    "any": bool,
    "none": lambda word: not word,
    "ends": ends_phrase,
    "past": _is_past,
    "plural": _is_plural,
    "figure": _is_figure,
    "digits": str.isdigit,
    "amount": _is_amount,
    "times_over": _is_times_over,
    "times_taken": _is_times_taken,
    "drug_ending": _has_drug_ending,
    "drug": _is_drug,
}
"""Kinds of words that their spelling shows, by the names that role_rules.toml has for them."""
