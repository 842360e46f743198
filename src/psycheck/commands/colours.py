"""Colour on a terminal: the first word of a line says how much it matters, and its colour says it again."""

import os
from typing import Any

import typer

# By the words before the colon of a line.
_STYLES: dict[str, dict[str, Any]] = {
    "error": {"fg": "red", "bold": True},
    "critical": {"fg": "red", "bold": True},
    "gate FAILS": {"fg": "red", "bold": True},
    "warning": {"fg": "yellow", "bold": True},
    "caution": {"fg": "yellow", "bold": True},
    "gate holds": {"fg": "green", "bold": True},
    "assumed": {"fg": "cyan"},
    "note": {"dim": True},
    "report": {"bold": True},
}


def say(line: str, *, err: bool = False) -> None:
    """Print a line; on a terminal its first word has the colour of what it says."""
    word, colon, rest = line.partition(":")
    style = _STYLES.get(word)
    if colon and style is not None and wants_colour():
        line = f"{typer.style(word, **style)}:{rest}"
    # Where it is no terminal, `echo` takes the colours out.
    typer.echo(line, err=err)


def heading(text: str) -> str:
    """A heading of a help text, bold on a terminal."""
    return typer.style(text, bold=True) if wants_colour() else text


def wants_colour() -> bool:
    """Whether the user does not refuse colours (https://no-color.org)."""
    return not os.environ.get("NO_COLOR")
