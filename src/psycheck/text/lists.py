"""The word lists of redaction, and patterns made of them."""

import re
import tomllib
from collections.abc import Iterable
from pathlib import Path
from typing import Any, Final

_FOLDER: Final = Path(__file__).parent
_DATA: Final[dict[str, Any]] = tomllib.loads(_FOLDER.joinpath("redact.toml").read_text("utf-8"))
_LINES: Final = _FOLDER.joinpath("first_names.txt").read_text("utf-8").splitlines()

FIRST_NAMES: Final = frozenset(name for line in _LINES if line[:1] != "#" for name in line.split())


def words_of(room: str, key: str) -> frozenset[str]:
    """A list of redact.toml."""
    return frozenset(_DATA[room][key])


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


OWN: Final = headed(("my", "our", "his", "her", "their", "your"))
ROLES: Final = f"(?i:{any_of(words_of('names', 'roles'))})"
