"""Dictionaries of one's own, as LIWC and MeSH have them: which texts hold a word of a category.

A `.dic` file of LIWC lists numbered categories between two lines of "%", then words with their categories,
where a trailing asterisk stands for any ending. Any other file has a term per line; aliases follow after a
tab or a bar.
"""

import re
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import chain
from pathlib import Path

from psycheck.core.errors import UNREADABLE, BadInput, explained, nearest
from psycheck.text.words import words_of

_MARK = "%"
_ALIASES = re.compile(r"[\t|]")


@dataclass(frozen=True, slots=True)
class Dictionary:
    """Words, beginnings of words and phrases, in small letters."""

    name: str
    words: frozenset[str]
    beginnings: tuple[str, ...]
    phrases: tuple[tuple[str, ...], ...]

    def holds(self, text: str) -> bool:
        """Whether a text has one of them, as whole words."""
        words = words_of(text.lower())
        if not self.words.isdisjoint(words):
            return True
        if self.beginnings and any(word.startswith(self.beginnings) for word in words):
            return True
        return any(_contains(words, phrase) for phrase in self.phrases)


def _contains(words: list[str], phrase: tuple[str, ...]) -> bool:
    """Whether the words of a phrase stand in a row."""
    size = len(phrase)
    starts = range(len(words) - size + 1)
    return any(tuple(words[start : start + size]) == phrase for start in starts)


def read_dictionary(spec: str | Path) -> Dictionary:
    """Read "FILE", or "FILE.dic#CATEGORY" for one category of a LIWC dictionary."""
    name, _, category = str(spec).partition("#")
    path = Path(name)
    with explained(
        "the dictionary cannot be read",
        *UNREADABLE,
        code="dictionary.unreadable",
        where=str(path),
        allowed="a .dic file of LIWC, or a file with a term per line",
    ):
        lines = [line.strip() for line in path.read_text("utf-8-sig").splitlines()]

    if path.suffix == ".dic":
        entries = list(_entries_of_liwc(lines, category, str(path)))
    else:
        if category:
            raise BadInput(
                "only a .dic file has categories",
                code="dictionary.no-categories",
                where=str(path),
                do="name the file alone",
            )
        aliases = chain.from_iterable(map(_ALIASES.split, lines))
        entries = [alias.strip() for alias in aliases if alias.strip()]
    if not entries:
        raise BadInput(
            "the dictionary has no words",
            code="dictionary.empty",
            where=str(path),
        )
    full_name = f"{path.name}#{category}" if category else path.name
    return _dictionary(full_name, entries)


def _entries_of_liwc(
    lines: list[str],
    category: str,
    where: str,
) -> Iterator[str]:
    """The words of a LIWC dictionary, of one category or of all."""
    marks = [number for number, line in enumerate(lines) if line == _MARK]
    if len(marks) < 2:
        raise BadInput(
            "the categories of the dictionary do not stand between two lines of %",
            code="dictionary.not-liwc",
            where=where,
        )
    first, second = marks[:2]
    names: dict[str, str] = {}
    for line in lines[first + 1 : second]:
        number, *title = line.split()
        names[" ".join(title)] = number
    if category and category not in names:
        raise BadInput(
            f"the dictionary has no category '{category}'",
            code="dictionary.unknown-category",
            where=where,
            allowed=nearest(category, names),
        )

    for line in lines[second + 1 :]:
        # A phrase of several words is parted from its categories by a tab.
        word, *numbers = line.split("\t") if "\t" in line else line.split()
        if word and (not category or names[category] in numbers):
            yield word


def _dictionary(name: str, entries: list[str]) -> Dictionary:
    words: set[str] = set()
    beginnings: set[str] = set()
    phrases: set[tuple[str, ...]] = set()
    for entry in entries:
        lowered = entry.lower()
        parts = tuple(words_of(lowered))
        if lowered.endswith("*") and len(parts) == 1:
            beginnings.add(parts[0])
        elif len(parts) == 1:
            words.add(parts[0])
        elif parts:
            phrases.add(parts)
    return Dictionary(
        name,
        frozenset(words),
        tuple(sorted(beginnings)),
        tuple(sorted(phrases)),
    )
