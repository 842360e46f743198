"""First names and titles: the lists, and whether a word that may be one is, by its neighbours.

What decides is the same for a name and its partner, so that a swap of names runs both ways. A capitalised
word that is not on the list is never a name.
"""

from itertools import chain
from typing import Final

from psycheck.text.redact.lists import PLACES, any_of, compiled, everyday
from psycheck.text.surroundings import search_before
from psycheck.text.word_lists import read_toml, word_sets

_DATA: Final = read_toml("gender/names.toml")


def _pairs(table: str) -> tuple[tuple[str, str], ...]:
    """The pairs of a table, in which female and male names take turns."""
    names = _DATA[table].split()
    female_names = names[::2]
    male_names = names[1::2]
    return tuple(zip(female_names, male_names, strict=True))


def _phrases(table: str) -> list[str]:
    """The phrases of a table, with spaces in them."""
    return [phrase.strip() for phrase in _DATA[table].split("|")]


_STRINGS: Final = {name: words for name, words in _DATA.items() if isinstance(words, str)}
_LISTS: Final = word_sets(_STRINGS)
PAIRS: Final = _pairs("pairs") + _pairs("words") + _pairs("subjects") + _pairs("months")
"""First names, female and male."""
NEUTRAL_NAMES: Final[tuple[str, ...]] = tuple(_DATA["neutral"].split())

_FIRST_NAMES: Final = frozenset(chain.from_iterable(PAIRS))
_SUBJECTS: Final = _LISTS["subjects"]
_MONTHS: Final = _LISTS["months"]
_ALSO_WORDS: Final = _LISTS["words"] | _SUBJECTS | _MONTHS
_TITLES: Final = word_sets(_DATA["titles"])

_PARTS: Final = {
    "states": any_of(PLACES["states"] - _LISTS["state_words"]),
    "state_phrases": any_of(_phrases("states")),
    "places_before": any_of(_LISTS["places_before"]),
    "kinds": any_of(PLACES["kinds"] - _LISTS["surnames_too"] | _LISTS["kinds_too"]),
    "things": any_of(_phrases("things")),
}
_FORMS: Final = compiled(read_toml("gender/patterns.toml")["names"], _PARTS)
_LONGEST_THING: Final = 32
_NEAR: Final = 24  # characters before a name in which the word before it stands


def is_title(text: str, start: int, end: int) -> bool:
    """Whether "Mr", "MS" … at `text[start:end]` is a title before a name."""
    title = text[start:end]
    in_capitals = title.isupper()
    follows = _FORMS["loud_follows" if in_capitals else "name_follows"].match(text, end)
    if follows is None:
        return False
    # "Miss" and "Master" are words as well; in capitals "MS" is an illness and "MR" a scan.
    also_word = title in _TITLES["also_words"]
    if not also_word and not in_capitals:
        return True

    word_behind = (follows[1] or "").lower()
    if word_behind in _TITLES["not_before"]:
        return False
    if also_word and everyday(word_behind):
        return False
    before = search_before(_FORMS["word_before"], text, start, 16)
    return before is None or before[1].lower() not in _TITLES["not_after"]


def is_name(text: str, start: int, end: int) -> bool:
    """Whether a word of the list at `text[start:end]` is a person's first name here."""
    # "St. Louis", "Fort Wayne"
    if search_before(_FORMS["place_before"], text, start, _NEAR):
        return False
    if _is_in_name_of_thing(text, start, end):
        return False

    word = text[start:end]
    in_capitals = word.isupper()
    # "Charlotte, NC", "Elizabeth Street"
    if not in_capitals and _is_of_place_or_house(text, end):
        return False
    # What is no other word needs no further proof.
    name = word.title()
    if name not in _ALSO_WORDS:
        return True

    if search_before(_FORMS["title_before"], text, start, _NEAR):
        return _is_before_surname(text, end, in_capitals=in_capitals)
    if in_capitals:
        return _shown_in_capitals(text, end)
    return _shown(text, start, end, name)


def _is_in_name_of_thing(text: str, start: int, end: int) -> bool:
    """Whether the name is part of the name of a thing that the list has."""
    left = max(0, start - _LONGEST_THING)
    for thing in _FORMS["things"].finditer(text, left, end + _LONGEST_THING):
        if thing.start() <= start < thing.end():
            return True
    return False


def _is_of_place_or_house(text: str, end: int) -> bool:
    """Whether what follows a name makes it that of a place or of an institution."""
    of_a_place = _FORMS["of_a_place"].match(text, end)
    of_a_house = _FORMS["of_a_house"].match(text, end)
    return of_a_place is not None or of_a_house is not None


def _is_before_surname(text: str, end: int, *, in_capitals: bool) -> bool:
    """Whether a surname follows: "Ms. Grace Miller"; in "Mr. Ray" Ray is the surname."""
    follows = _FORMS["next"].match(text, end)
    if follows is None:
        return False
    if in_capitals:
        return follows[1].isupper()
    return _is_surname(follows[1])


def _shown_in_capitals(text: str, end: int) -> bool:
    """Whether a verb of a person follows, with or without a surname; in capitals nothing else shows it."""
    follows = _FORMS["next"].match(text, end)
    if follows is None:
        return False
    word_behind = follows[1].lower()
    if word_behind in _LISTS["does"]:
        return True

    verb = _FORMS["next"].match(text, follows.end())
    if verb is None or verb[1].lower() not in _LISTS["does"]:
        return False
    return word_behind not in _TITLES["not_before"] and not everyday(word_behind)


def _shown(
    text: str,
    start: int,
    end: int,
    name: str,
) -> bool:
    """Whether the neighbours of a word that may be a name show that it is one."""
    follows = _FORMS["next"].match(text, end)
    word_behind = follows[1] if follows else ""
    if word_behind.lower() in _LISTS["does"]:
        return True

    before = search_before(_FORMS["word_before"], text, start, _NEAR)
    word_before = before[1] if before else ""
    if word_before.lower() in _LISTS["verb_after"] or _in_heading(text, start, end):
        return False
    if _is_surname(word_behind):
        return True

    after_person_word = word_before.lower() in _LISTS["person_after"]
    if name in _MONTHS or after_person_word:
        return after_person_word
    if word_before:
        return _may_lead_to_name(word_before)
    return _is_named_at_start(text, end, name, word_behind)


def _may_lead_to_name(word: str) -> bool:
    """True for a small word, or the head of a form, unless a name never follows it."""
    if word in _LISTS["not_after"]:
        return False
    return word.islower() or word.lower() in _LISTS["heads"]


def _is_named_at_start(
    text: str,
    end: int,
    name: str,
    word_behind: str,
) -> bool:
    """True if what follows a word at the start of a sentence shows that it is a name: "Grace and Tom …"."""
    # "Grace and Tom", but not "Grace and Mercy"
    joined = _FORMS["and_name"].match(text, end)
    if joined:
        return joined[1] in _FIRST_NAMES
    if name in _SUBJECTS:
        return False
    # "Grace is …", "Grace's …"
    if word_behind.lower() in _LISTS["is"]:
        return True
    return _FORMS["possessive"].match(text, end) is not None


def _in_heading(text: str, start: int, end: int) -> bool:
    """Whether everyday words around have capitals, too, so that one tells nothing: "Side Effects May"."""
    words_behind: list[str] = []
    behind = _FORMS["line_behind"].match(text, end)
    if behind:
        words_behind = behind[0].split()
        # A name that follows says more than a heading does.
        if not everyday(words_behind[0]):
            return False

    words_ahead: list[str] = []
    before = search_before(_FORMS["line_before"], text, start, 40)
    if before:
        words_ahead = before[0].split()

    # "I" has a capital everywhere.
    words = [word for word in words_ahead + words_behind if word != "I"]
    if len(words) < 2 or not all(word[0].isupper() for word in words):
        return False
    everyday_words = [word for word in words if everyday(word)]
    return len(everyday_words) * 2 >= len(words)


def _is_surname(word: str) -> bool:
    """Whether a word behind a first name can be a surname; "Will Mary come" has none."""
    if len(word) < 2 or word.isupper() or not word[0].isupper():
        return False
    return word not in _LISTS["no_surnames"] and word not in _FIRST_NAMES
