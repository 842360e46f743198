"""The word lists of redaction, patterns made of them, and whether a capitalised word may be a name.

They are written from general knowledge or taken from public lists; none comes from a corpus of real people.
"""

import re
from collections.abc import Iterable, Mapping
from functools import lru_cache, partial
from typing import Any, Final, Literal, NamedTuple

from psycheck.text.word_lists import FOLDER, CompiledOnUse, read_toml

BLOT: Final = "\ue000"  # stands for what was found before: "[NAME] and Ravi"
PATTERNS: Final = read_toml("redact/patterns.toml")
_DATA: Final[dict[str, Any]] = read_toml("redact/redact.toml")
NAMES: Final = {key: frozenset(words) for key, words in _DATA["names"].items()}
PLACES: Final = {key: frozenset(words) for key, words in _DATA["places"].items()}


def _lines(name: str) -> list[str]:
    """The lines of a list, without its comments."""
    content = FOLDER.joinpath("redact", name).read_text("utf-8")
    return [line for line in content.splitlines() if not line.startswith("#")]


def _words(name: str) -> frozenset[str]:
    """The words of a list with several in a line."""
    return frozenset(" ".join(_lines(name)).split())


def _all_words(classes: Iterable[Iterable[str]]) -> frozenset[str]:
    """The words of several classes together."""
    words: set[str] = set()
    for words_of_class in classes:
        words.update(words_of_class)
    return frozenset(words)


FIRST_NAMES: Final = _words("first_names.txt")
SURNAMES: Final = _words("surnames.txt")
# Cities have spaces in their names: a line parts them by semicolons.
_CITIES: Final = [city.strip() for city in ";".join(_lines("cities.txt")).split(";")]
PLACE_NAMES: Final = frozenset((*_lines("place_names.txt"), *_CITIES)) - {""}

_CLASSES: Final[dict[str, list[str]]] = read_toml("redact/capitals.toml")
_CLASSES_OF_THINGS: Final = ("medicines", "brands", "screen", "table", "schooling")
CAPITALS: Final = _all_words(_CLASSES.values())
THINGS: Final = _all_words(_CLASSES[name] for name in _CLASSES_OF_THINGS)
"""Of the harmless capitals those that can be had, taken, watched, played or learned."""
TITLES_OF_WORKS: Final = frozenset(_CLASSES["screen"])

_EVERYDAY: Final = _words("everyday_words.txt") | _words("common_words.txt")
_PREFIXES: Final = ("un", "re")
_ENDINGS: Final = [entry.split("/") for entry in _DATA["everyday"]["endings"]]
_SHORTEST_STEM: Final = 3  # letters: "sing" is not "s" with an ending


@lru_cache(20_000)
def everyday(word: str) -> bool:
    """Whether a word is everyday English, plain or inflected, in any case."""
    lowered = word.lower().replace("’", "'")
    if "-" in lowered:
        parts = lowered.split("-")
        return all(everyday(part) for part in parts if part)
    if lowered in _EVERYDAY:
        return True

    without_prefix = lowered[2:]
    if lowered.startswith(_PREFIXES) and without_prefix in _EVERYDAY:
        return True
    return any(_is_inflected(lowered, ending, plain) for ending, plain in _ENDINGS)


def _is_inflected(word: str, ending: str, plain: str) -> bool:
    """Whether a word is an everyday one with an ending in place of its plain one: "tried" for "try"."""
    if not word.endswith(ending):
        return False
    stem = word[: len(word) - len(ending)]
    if len(stem) < _SHORTEST_STEM:
        return False
    if stem + plain in _EVERYDAY:
        return True
    # "stopped", of "stop"
    is_doubled = stem[-1] == stem[-2]
    return is_doubled and stem[:-1] in _EVERYDAY


def words_of(table: str, key: str) -> frozenset[str]:
    """A list of redact.toml."""
    return frozenset(_DATA[table][key])


def any_of(words: Iterable[str]) -> str:
    """A pattern for any of some words, the longest first; a space in one stands for white space."""
    # The longest first, because a pattern takes the first alternative that fits.
    ordered = sorted(words, key=lambda word: (-len(word), word))
    branches = []
    for word in ordered:
        escaped = re.escape(word)
        branches.append(escaped.replace(r"\ ", r"\s+"))
    return "|".join(branches)


def headed(words: Iterable[str]) -> str:
    """A pattern for any of some whole words, in any case, that opens with the set of their first letters.

    A search skips to such a set quickly, where a look-behind or a case-blind alternative at the head of a
    pattern is tried at every character.
    """
    endings_by_letter: dict[str, set[str]] = {}
    for word in words:
        endings = endings_by_letter.setdefault(word[0].lower(), set())
        endings.add(word[1:])

    first_letters = ""
    branches = []
    for letter, endings in sorted(endings_by_letter.items()):
        both_cases = letter + letter.upper()
        first_letters += both_cases
        branches.append(f"(?<=[{both_cases}])(?i:{any_of(endings)})")
    return rf"[{first_letters}](?<!\w.)(?:{'|'.join(branches)})(?!\w)"


# White space of any length would be tried in every division: patterns take at most nine.
_MOST_SPACE: Final = 9
_LONG_SPACE: Final = re.compile(r"(\\s|\[ \\t\])([*+])")
_PART: Final = re.compile(r"\{(headed:)?([a-z_]+)(?:\.([a-z_]+))?\}")
_PARTS: Final[Mapping[str, str]] = {
    **PATTERNS["parts"],
    "blot": BLOT,
    "own": headed(("my", "our", "his", "her", "their", "your")),
    "roles": f"(?i:{any_of(NAMES['roles'])})",
    "field_heads": any_of(NAMES["field_heads"] | NAMES["named_heads"]),
    "headed_strong": headed(NAMES["person_before"] - NAMES["weak_before"]),
}


def filled_in(pattern: str, parts: Mapping[str, str] = _PARTS) -> str:
    """A pattern of a TOML file without line breaks, with its parts and lists written out."""

    def written_out(reference: re.Match[str]) -> str:
        headed_by, name, key = reference.groups()
        if not key:
            return filled_in(parts[name], parts)
        words = words_of(name, key)
        if headed_by:
            return headed(words)
        return any_of(words)

    on_one_line = pattern.replace("\n", "")
    complete = _PART.sub(written_out, on_one_line)
    return _LONG_SPACE.sub(_bounded_space, complete)


def _bounded_space(space: re.Match[str]) -> str:
    """White space of a pattern with "*" or "+", as so many at most."""
    characters, repetition = space.groups()
    fewest = 1 if repetition == "+" else 0
    return f"{characters}{{{fewest},{_MOST_SPACE}}}"


def compiled(
    patterns: Mapping[str, str],
    parts: Mapping[str, str] = _PARTS,
) -> CompiledOnUse:
    """The patterns of a table, to search with."""
    return CompiledOnUse({name: partial(filled_in, pattern, parts) for name, pattern in patterns.items()})


Kind = Literal["EMAIL", "PHONE", "LINK", "USER", "NAME", "PLACE", "AGE", "DATE", "NUMBER"]


class Found(NamedTuple):
    """Where a text has personal data, and of what kind; never the data itself."""

    start: int
    end: int
    kind: Kind


# A name that is not also a word counts wherever it is capitalised; the others need more evidence.
BOTH: Final = NAMES["both"]
SURE: Final = FIRST_NAMES - BOTH
TITLES: Final = NAMES["titles"]
_NO_NAME: Final = TITLES | CAPITALS
_STOP_ENDINGS: Final = tuple(NAMES["stop_endings"])
_WINDOW_BEFORE: Final = 40  # characters in which the word before a position stands
# A headline shows within its first characters, by so many capitals, and by their share.
_HEAD: Final = 400
_FEWEST_CAPITALS: Final = 5
_SHARE_OF_CAPITALS: Final = 0.65
FORMS: Final = compiled(PATTERNS["capitals"])


def _one_letter_less(word: str) -> set[str]:
    """A word, and what is left of it without any one of its letters."""
    words = {word}
    for place in range(len(word)):
        words.add(word[:place] + word[place + 1 :])
    return words


# Names of medicines are often misspelled: two words that agree without a letter of each are one letter apart.
_LONG_MEDICINES: Final = [name.lower() for name in _CLASSES["medicines"] if len(name) > 5]
_NEAR_MEDICINES: Final = _all_words(map(_one_letter_less, _LONG_MEDICINES))


@lru_cache(20_000)
def unknown(word: str) -> bool:
    """Whether a capitalised word may be a name: a first name, a surname, or a word of no list."""
    if word in SURE:
        return True
    # Before surnames: "March" is a surname, too.
    if word in _NO_NAME:
        return False
    if word in SURNAMES:
        return True

    if everyday(word) or word.lower().endswith(_STOP_ENDINGS):
        return False
    return not _is_near_medicine(word)


def _is_near_medicine(word: str) -> bool:
    """Whether a word is the name of a medicine, or one letter off."""
    # Shorter ones are near too much, and no medicine is longer.
    if not 4 < len(word) < 20:
        return False
    return not _NEAR_MEDICINES.isdisjoint(_one_letter_less(word.lower()))


def may_be_name(word: str) -> bool:
    """Whether a word may be a name: one of the lists, or an unknown one."""
    return word in BOTH or unknown(word)


def word_before(text: str, at: int) -> tuple[str, str]:
    """The word before a position, and the marks between them."""
    window_start = max(0, at - _WINDOW_BEFORE)
    head = text[window_start:at].rstrip()

    end = len(head)
    while end and _is_mark(head[end - 1]):
        end -= 1
    start = end
    while start and _is_of_word(head[start - 1]):
        start -= 1
    return head[start:end], head[end:]


def _is_mark(character: str) -> bool:
    return not character.isalnum() and not character.isspace()


def _is_of_word(character: str) -> bool:
    return character.isalpha() or character in "'’-"


def name_end(text: str, at: int) -> int:
    """Where a name ends that goes on with further capitalised words: a surname, or two."""
    for _ in range(2):
        next_capital = FORMS["more"].match(text, at)
        if next_capital is None:
            break
        word = next_capital[1]
        if not may_be_name(word) and word not in NAMES["surnames"]:
            break
        at = next_capital.end()
    return at


def is_headline(text: str) -> bool:
    """Whether most words are capitalised, so that a capital means nothing."""
    head = text[:_HEAD]
    capitals = FORMS["capital"].findall(head)
    if len(capitals) < _FEWEST_CAPITALS:
        return False

    # A letter is full of titles: they are not a sign of a headline.
    all_words = FORMS["word"].findall(head)
    words = [word for word in all_words if len(word) > 2 and word not in TITLES]
    # Nor is what is a name anyway.
    plain_words = [word for word in words if word not in SURE]
    if len(plain_words) < _FEWEST_CAPITALS:
        return False
    capitalised = [word for word in plain_words if word[0].isupper()]
    return len(capitalised) > _SHARE_OF_CAPITALS * len(words)
