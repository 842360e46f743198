"""A rule for plain statements of suicidal ideas, which no threshold of a model may lose."""

import re
import tomllib
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Final

SUICIDAL: Final = "suicidal_ideas"
_FILE: Final = Path(__file__).with_name("suicidal.toml")


@dataclass(frozen=True, slots=True)
class _Patterns:
    """The patterns of statements, of figures of speech, and of what is said of oneself or of others."""

    statements: list[re.Pattern[str]]
    figure: re.Pattern[str]
    writer: re.Pattern[str]
    others: re.Pattern[str]


@cache
def _patterns() -> _Patterns:
    tables = tomllib.loads(_FILE.read_text("utf-8"))
    filled = {name: pattern.format(**tables["words"]) for name, pattern in tables["patterns"].items()}
    figure = re.compile(filled.pop("figure"))
    writer = re.compile(filled.pop("writer"))
    others = re.compile(filled.pop("others"))
    statements = [re.compile(pattern) for pattern in filled.values()]
    return _Patterns(statements, figure, writer, others)


def states_suicidal_ideas(text: str) -> bool:
    """Whether a text, as `text.status.plain` writes it, names a wish to be dead, a plan or an attempt.

    It may still be denied, past or about somebody else.
    """
    literal = _patterns().figure.sub(" ", text)
    return any(statement.search(literal) for statement in _patterns().statements)


def is_about_writer(text: str) -> bool:
    """Whether the words of such a statement can only be about the writer: "makes me want to kill myself"."""
    return _patterns().writer.search(text) is not None


def is_about_others(text: str) -> bool:
    """Whether the words of such a statement can only be about others: "she wanted to kill herself"."""
    return _patterns().others.search(text) is not None
