"""TOML from people: parsed in time and memory that grow with its length."""

import re
import tomllib
from typing import Any

# Python's parser remembers every prefix of a dotted key: 64 kB of dots would take gigabytes.
MOST_PARTS = 200
_END_OF_KEY = re.compile("[=,]")


def parse_toml(text: str) -> dict[str, Any]:
    """The tables of a TOML text; as invalid TOML counts also a key of more than 200 parts."""
    for number, line in enumerate(text.splitlines(), start=1):
        # No key goes past an equals sign or a comma; a list of decimals has a comma after each.
        most_dots = max(part.count(".") for part in _END_OF_KEY.split(line))
        if most_dots >= MOST_PARTS:
            raise tomllib.TOMLDecodeError(f"a key of more than {MOST_PARTS} parts (at line {number})")
    return tomllib.loads(text)
