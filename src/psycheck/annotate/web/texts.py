"""The words of the pages: one file per language; the browser's choice, or the one made on the page."""

import tomllib
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any, Final

FOLDER: Final = Path(__file__).with_name("texts")
DEFAULT: Final = "en"


@dataclass(frozen=True, slots=True)
class Texts:
    """The words of one language by key ("work.skip")."""

    language: str
    words: Mapping[str, str]

    def __call__(self, key: str, /, **values: object) -> str:
        """The words of a key with values in their places; a missing key is a mistake of ours."""
        return self.words[key].format_map(values)

    def counted(self, key: str, n: int, /, **values: object) -> str:
        """The words for `n` things: those of KEY.one for one of them, of KEY.other for all other numbers."""
        return self(f"{key}.one" if n == 1 else f"{key}.other", n=f"{n:,}", **values)

    def or_same(self, key: str, words: str) -> str:
        """The words of a key, or the given ones where this language has none (those of error messages)."""
        return self.words.get(key, words)

    def section(self, name: str) -> dict[str, str]:
        """The words of a section by what follows its name."""
        prefix = f"{name}."
        return {
            key.removeprefix(prefix): words for key, words in self.words.items() if key.startswith(prefix)
        }


def languages() -> list[str]:
    """The languages that have a file, the default first."""
    names = sorted(file.stem for file in FOLDER.glob("*.toml"))
    return [DEFAULT, *(name for name in names if name != DEFAULT)]


@cache
def texts_in(language: str) -> Texts:
    """The words of a language."""
    raw = tomllib.loads((FOLDER / f"{language}.toml").read_text("utf-8"))
    return Texts(language=language, words=dict(_flat(raw)))


def preferred_language(chosen: str, accepted: str) -> str:
    """The language chosen on a page, else the first that the browser accepts, else English."""
    # A choice on the page outweighs what the browser asks for.
    candidates = [chosen]
    for part in accepted.split(","):
        # Of "de-CH;q=0.9" only the language counts: browsers name the one they prefer first.
        tag, _, _ = part.partition(";")
        language, _, _ = tag.strip().partition("-")
        candidates.append(language)

    available = languages()
    for language in candidates:
        if language.lower() in available:
            return language.lower()
    return DEFAULT


def _flat(table: Mapping[str, Any], prefix: str = "") -> list[tuple[str, str]]:
    """The words of nested tables by dotted keys."""
    pairs: list[tuple[str, str]] = []
    for key, value in table.items():
        if isinstance(value, Mapping):
            pairs += _flat(value, f"{prefix}{key}.")
        else:
            pairs.append((prefix + key, value))
    return pairs
