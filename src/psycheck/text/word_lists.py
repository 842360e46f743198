"""Word lists in the data files of this room."""

import re
import tomllib
from collections.abc import Mapping
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


def patterns(table: Mapping[str, str], **parts: str) -> dict[str, re.Pattern[str]]:
    """The patterns of a table without line breaks; {name} in one is another of them, or a part."""
    replacements = {**table, **parts}
    compiled = {}
    for name, pattern in table.items():
        complete = pattern
        # In the order of the table: what a part names itself must stand below it.
        for part, written_out in replacements.items():
            complete = complete.replace(f"{{{part}}}", written_out)

        # Long patterns are broken over several lines in the file for reading.
        on_one_line = complete.replace("\n", "")
        compiled[name] = re.compile(on_one_line)
    return compiled
