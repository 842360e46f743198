"""Word lists in the data files of this room."""

import re
import tomllib
from collections.abc import Callable, Mapping
from functools import partial
from pathlib import Path
from typing import Any, Final

FOLDER: Final = Path(__file__).parent


def read_toml(path: str) -> dict[str, Any]:
    """The content of a TOML file of this room: "gender/names.toml"."""
    content = FOLDER.joinpath(path).read_text("utf-8")
    return tomllib.loads(content)


def word_sets(table: Mapping[str, str]) -> dict[str, frozenset[str]]:
    """The words of each string of a table."""
    return {name: frozenset(words.split()) for name, words in table.items()}


class CompiledOnUse(dict[str, re.Pattern[str]]):
    """Patterns by name, each compiled when it is first searched with.

    Most runs need a few of them, and compiling all would take longer than many a run.
    """

    def __init__(self, written: Mapping[str, Callable[[], str]]) -> None:
        super().__init__()
        self._written = written

    def __missing__(self, name: str) -> re.Pattern[str]:
        pattern = re.compile(self._written[name]())
        self[name] = pattern
        return pattern


def patterns(table: Mapping[str, str], **parts: str) -> CompiledOnUse:
    """The patterns of a table without line breaks; {name} in one is another of them, or a part."""
    replacements = {**table, **parts}

    def written_out(pattern: str) -> str:
        # In the order of the table: what a part names itself must stand below it.
        for part, replacement in replacements.items():
            pattern = pattern.replace(f"{{{part}}}", replacement)
        # Long patterns are broken over several lines in the file for reading.
        return pattern.replace("\n", "")

    return CompiledOnUse({name: partial(written_out, pattern) for name, pattern in table.items()})
