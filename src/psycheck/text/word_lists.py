"""Word lists in the data files of this room."""

import re
import tomllib
from collections.abc import Mapping
from pathlib import Path
from typing import Any, Final

FOLDER: Final = Path(__file__).parent


def read_toml(path: str) -> dict[str, Any]:
    """The content of a TOML file of this room: "gender/names.toml"."""
    return tomllib.loads(FOLDER.joinpath(path).read_text("utf-8"))


def word_sets(table: Mapping[str, str]) -> dict[str, frozenset[str]]:
    """The words of each string of a table."""
    return {name: frozenset(words.split()) for name, words in table.items()}


def patterns(table: Mapping[str, str], **parts: str) -> dict[str, re.Pattern[str]]:
    """The patterns of a table without line breaks; {name} in one is another of them, or a part."""
    out = {}
    for name, pattern in table.items():
        for part, written in {**table, **parts}.items():
            pattern = pattern.replace(f"{{{part}}}", written)
        out[name] = re.compile(pattern.replace("\n", ""))
    return out
