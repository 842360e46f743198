"""The word lists of redaction, patterns made of them, and whether a capitalised word may be a name.

They are written from general knowledge or taken from public lists; none comes from a corpus of real people.
"""

import re
from collections.abc import Iterable, Mapping
from functools import lru_cache
from typing import Any, Final, Literal, NamedTuple

from psycheck.text.word_lists import FOLDER, read_toml

BLOT: Final = "\ue000"  # stands for what was found before: "[NAME] and Ravi"
PATTERNS: Final = read_toml("redact/patterns.toml")
_DATA: Final[dict[str, Any]] = read_toml("redact/redact.toml")
NAMES: Final = {key: frozenset(words) for key, words in _DATA["names"].items()}
PLACES: Final = {key: frozenset(words) for key, words in _DATA["places"].items()}


def _lines(name: str) -> list[str]:
    lines = FOLDER.joinpath("redact", name).read_text("utf-8").splitlines()
    return [line for line in lines if line[:1] != "#"]


FIRST_NAMES: Final = frozenset(name for line in _lines("first_names.txt") for name in line.split())
SURNAMES: Final = frozenset(name for line in _lines("surnames.txt") for name in line.split())
_CITIES: Final = (city.strip() for line in _lines("cities.txt") for city in line.split(";"))
PLACE_NAMES: Final = frozenset((*_lines("place_names.txt"), *_CITIES)) - {""}
_CLASSES: Final[dict[str, list[str]]] = read_toml("redact/capitals.toml")
CAPITALS: Final = frozenset(word for words in _CLASSES.values() for word in words)
THINGS: Final = frozenset(
    word for name in ("medicines", "brands", "screen", "table", "schooling") for word in _CLASSES[name]
)
"""Of the harmless capitals those that can be had, taken, watched, played or learned."""
TITLES_OF_WORKS: Final = frozenset(_CLASSES["screen"])
_WORDS: Final = (*_lines("everyday_words.txt"), *_lines("common_words.txt"))
_EVERYDAY: Final = frozenset(word for line in _WORDS for word in line.split())
_ENDINGS: Final = [entry.split("/") for entry in _DATA["everyday"]["endings"]]


@lru_cache(20_000)
def everyday(word: str) -> bool:
    """Whether a word is everyday English, plain or inflected, in any case."""
    low = word.lower().replace("’", "'")
    if "-" in low:
        return all(everyday(part) for part in low.split("-") if part)
    if low in _EVERYDAY or (low[:2] in ("un", "re") and low[2:] in _EVERYDAY):
        return True
    for ending, plain in _ENDINGS:
        if low.endswith(ending) and len(low) - len(ending) > 2:
            stem = low[: -len(ending)]
            if stem + plain in _EVERYDAY or (stem[-1] == stem[-2] and stem[:-1] in _EVERYDAY):
                return True
    return False


def words_of(table: str, key: str) -> frozenset[str]:
    """A list of redact.toml."""
    return frozenset(_DATA[table][key])


def any_of(words: Iterable[str]) -> str:
    """A pattern for any of some words, the longest first; a space in one stands for white space."""
    ordered = sorted(words, key=lambda word: (-len(word), word))
    return "|".join(re.escape(word).replace(r"\ ", r"\s+") for word in ordered)


def headed(words: Iterable[str]) -> str:
    """A pattern for any of some whole words, in any case, that opens with the set of their first letters.

    A search skips to such a set quickly, where a look-behind or a case-blind alternative at the head of a
    pattern is tried at every character.
    """
    rest: dict[str, set[str]] = {}
    for word in words:
        rest.setdefault(word[0].lower(), set()).add(word[1:])
    letters = "".join(letter + letter.upper() for letter in sorted(rest))
    branches = (f"(?<=[{c}{c.upper()}])(?i:{any_of(rest[c])})" for c in sorted(rest))
    return rf"[{letters}](?<!\w.)(?:{'|'.join(branches)})(?!\w)"


# White space of any length would be tried in every division: patterns take at most nine.
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

    def part(found: re.Match[str]) -> str:
        headed_by, name, key = found.groups()
        if key:
            return headed(words_of(name, key)) if headed_by else any_of(words_of(name, key))
        return filled_in(parts[name], parts)

    return _LONG_SPACE.sub(
        lambda space: f"{space[1]}{{{'01'[space[2] == '+']},9}}", _PART.sub(part, pattern.replace("\n", ""))
    )


def compiled(patterns: Mapping[str, str], parts: Mapping[str, str] = _PARTS) -> dict[str, re.Pattern[str]]:
    """The patterns of a table, ready to search with."""
    return {name: re.compile(filled_in(pattern, parts)) for name, pattern in patterns.items()}


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
FORMS: Final = compiled(PATTERNS["capitals"])


def _one_letter_less(word: str) -> set[str]:
    return {word, *(word[:i] + word[i + 1 :] for i in range(len(word)))}


# Names of medicines are often misspelled: two words that agree without a letter of each are one letter apart.
_NEAR_MEDICINES: Final = frozenset[str]().union(
    *(_one_letter_less(name.lower()) for name in _CLASSES["medicines"] if len(name) > 5)
)


@lru_cache(20_000)
def unknown(word: str) -> bool:
    """Whether a capitalised word may be a name: a first name, a surname, or a word of no list."""
    if word in SURE or word in _NO_NAME or word in SURNAMES:
        return word not in _NO_NAME or word in SURE
    low = word.lower()
    medicine = 4 < len(word) < 20 and not _NEAR_MEDICINES.isdisjoint(_one_letter_less(low))
    return not (medicine or everyday(word) or low.endswith(_STOP_ENDINGS))


def may_be_name(word: str) -> bool:
    """Whether a word may be a name: one of the lists, or an unknown one."""
    return word in BOTH or unknown(word)


def word_before(text: str, at: int) -> tuple[str, str]:
    """The word before a position, and the marks between them."""
    head = text[max(0, at - 40) : at].rstrip()
    end = len(head)
    while end and not head[end - 1].isalnum() and not head[end - 1].isspace():
        end -= 1
    start = end
    while start and (head[start - 1].isalpha() or head[start - 1] in "'’-"):
        start -= 1
    return head[start:end], head[end:]


def name_end(text: str, at: int) -> int:
    """Where a name ends that goes on with further capitalised words: a surname, or two."""
    for _ in range(2):
        more = FORMS["more"].match(text, at)
        if more is None or not (may_be_name(more[1]) or more[1] in NAMES["surnames"]):
            break
        at = more.end()
    return at


def is_headline(text: str) -> bool:
    """Whether most words are capitalised, so that a capital means nothing."""
    head = text[:400]
    if len(FORMS["capital"].findall(head)) < 5:
        return False
    # A letter is full of titles: they are not a sign of a headline.
    words = [word for word in FORMS["word"].findall(head) if len(word) > 2 and word not in TITLES]
    # Nor is what is a name anyway.
    plain = [word for word in words if word not in SURE]
    return len(plain) >= 5 and sum(word[0].isupper() for word in plain) > 0.65 * len(words)
