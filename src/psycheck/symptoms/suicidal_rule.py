"""A rule for plain statements of suicidal ideas, which no threshold of a model may lose."""

import re
import tomllib
from functools import cache
from pathlib import Path
from typing import Final

SUICIDAL: Final = "suicidal_ideas"
_FILE: Final = Path(__file__).with_name("suicidal.toml")


@cache
def _patterns() -> tuple[list[re.Pattern[str]], re.Pattern[str]]:
    """The patterns of statements, and that of figures of speech."""
    tables = tomllib.loads(_FILE.read_text("utf-8"))
    filled = {name: pattern.format(**tables["words"]) for name, pattern in tables["patterns"].items()}
    figure = re.compile(filled.pop("figure"))
    return [re.compile(pattern) for pattern in filled.values()], figure


def states_suicidal_ideas(text: str) -> bool:
    """Whether a text, as `text.status.plain` writes it, names a wish to be dead, a plan or an attempt.

    It may still be denied, past or about somebody else.
    """
    statements, figure = _patterns()
    literal = figure.sub(" ", text)
    return any(statement.search(literal) for statement in statements)
