"""First names and titles: the lists, and whether a word that may be one is, by its neighbours.

What decides is the same for a name and its partner, so that a swap of names runs both ways. A capitalised
word that is not on the list is never a name.
"""

from typing import Final

from psycheck.text.redact.lists import PLACES, any_of, compiled, everyday
from psycheck.text.word_lists import read_toml, word_sets

_DATA: Final = read_toml("gender/names.toml")


def _pairs(table: str) -> tuple[tuple[str, str], ...]:
    names = _DATA[table].split()
    return tuple(zip(names[::2], names[1::2], strict=True))


def _phrases(table: str) -> list[str]:
    return [phrase.strip() for phrase in _DATA[table].split("|")]


_LISTS: Final = word_sets({name: words for name, words in _DATA.items() if isinstance(words, str)})
PAIRS: Final = _pairs("pairs") + _pairs("words") + _pairs("subjects") + _pairs("months")
"""First names, female and male."""
NEUTRAL_NAMES: Final[tuple[str, ...]] = tuple(_DATA["neutral"].split())

_KNOWN: Final = frozenset(name for pair in PAIRS for name in pair)
_SUBJECTS, _MONTHS = _LISTS["subjects"], _LISTS["months"]
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


def is_title(text: str, start: int, end: int) -> bool:
    """Whether "Mr", "MS" … at `text[start:end]` is a title before a name."""
    title = text[start:end]
    follows = _FORMS["loud_follows" if title.isupper() else "name_follows"].match(text, end)
    also_word = title in _TITLES["also_words"]
    if follows is None or not (also_word or title.isupper()):
        return follows is not None
    behind = (follows[1] or "").lower()
    if behind in _TITLES["not_before"] or (also_word and everyday(behind)):
        return False
    before = _FORMS["word_before"].search(text, max(0, start - 16), start)
    return before is None or before[1].lower() not in _TITLES["not_after"]


def is_name(text: str, start: int, end: int) -> bool:
    """Whether a word of the list at `text[start:end]` is a person's first name here."""
    word = text[start:end]
    left = max(0, start - 24)
    if _FORMS["place_before"].search(text, left, start):
        return False
    things = _FORMS["things"].finditer(text, max(0, start - _LONGEST_THING), end + _LONGEST_THING)
    if any(thing.start() <= start < thing.end() for thing in things):
        return False
    if not word.isupper() and any(_FORMS[form].match(text, end) for form in ("of_a_place", "of_a_house")):
        return False
    name = word.title()
    if name not in _ALSO_WORDS:
        return True
    if _FORMS["title_before"].search(text, left, start):
        # "Ms. Grace Miller"; in "Mr. Ray" it is a surname.
        follows = _FORMS["next"].match(text, end)
        return follows is not None and (follows[1].isupper() if word.isupper() else _surname(follows[1]))
    return _shown_in_capitals(text, end) if word.isupper() else _shown(text, start, end, name)


def _shown_in_capitals(text: str, end: int) -> bool:
    """Whether a verb of a person follows, with or without a surname; in capitals nothing else shows it."""
    follows = _FORMS["next"].match(text, end)
    if follows is None or follows[1].lower() in _LISTS["does"]:
        return follows is not None
    verb = _FORMS["next"].match(text, follows.end())
    surname = follows[1].lower()
    return (
        verb is not None
        and verb[1].lower() in _LISTS["does"]
        and not (surname in _TITLES["not_before"] or everyday(surname))
    )


def _shown(text: str, start: int, end: int, name: str) -> bool:
    """Whether the neighbours of a word that may be a name show that it is one."""
    follows = _FORMS["next"].match(text, end)
    behind = follows[1] if follows else ""
    if behind.lower() in _LISTS["does"]:
        return True
    before = _FORMS["word_before"].search(text, max(0, start - 24), start)
    word_before = before[1] if before else ""
    if word_before.lower() in _LISTS["verb_after"] or _in_heading(text, start, end):
        return False
    if _surname(behind):
        return True

    after_person_word = word_before.lower() in _LISTS["person_after"]
    if name in _MONTHS or after_person_word:
        return after_person_word
    if word_before:
        return _may_lead_to_name(word_before)
    return _is_named_at_start(text, end, name, behind)


def _may_lead_to_name(word: str) -> bool:
    """True for a small word, or the head of a form, unless a name never follows it."""
    if word in _LISTS["not_after"]:
        return False
    return word.islower() or word.lower() in _LISTS["heads"]


def _is_named_at_start(text: str, end: int, name: str, behind: str) -> bool:
    """True if what follows a word at the start of a sentence shows that it is a name: "Grace and Tom …"."""
    joined = _FORMS["and_name"].match(text, end)
    if joined or name in _SUBJECTS:
        return joined is not None and joined[1] in _KNOWN
    return behind.lower() in _LISTS["is"] or _FORMS["possessive"].match(text, end) is not None


def _in_heading(text: str, start: int, end: int) -> bool:
    """Whether everyday words around have capitals, too, so that one tells nothing: "Side Effects May"."""
    before = _FORMS["line_before"].search(text, max(0, start - 40), start)
    behind = _FORMS["line_behind"].match(text, end)
    near = [word for found in (before, behind) if found for word in found[0].split() if word != "I"]
    first = behind is None or everyday(behind[0].split()[0])
    return (
        first
        and len(near) > 1
        and all(word[0].isupper() for word in near)
        and sum(map(everyday, near)) * 2 >= len(near)
    )


def _surname(word: str) -> bool:
    """Whether a word behind a first name can be a surname; "Will Mary come" has none."""
    return (
        len(word) > 1
        and word[0].isupper()
        and not word.isupper()
        and word not in _LISTS["no_surnames"] | _KNOWN
    )
