"""The word lists of redaction, and patterns made of them.

All are written from general knowledge; none comes from a corpus of real people.
"""

import re
from collections.abc import Iterable, Mapping
from functools import lru_cache
from typing import Any, Final

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
PLACE_NAMES: Final = frozenset(_lines("place_names.txt"))
_CLASSES: Final[dict[str, list[str]]] = read_toml("redact/capitals.toml")
CAPITALS: Final = frozenset(word for words in _CLASSES.values() for word in words)
THINGS: Final = frozenset(
    word for name in ("medicines", "brands", "screen", "table", "schooling") for word in _CLASSES[name]
)
"""Of the harmless capitals those that can be had, taken, watched, played or learned."""
TITLES_OF_WORKS: Final = frozenset(_CLASSES["screen"])
_EVERYDAY: Final = frozenset(word for line in _lines("everyday_words.txt") for word in line.split())
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
