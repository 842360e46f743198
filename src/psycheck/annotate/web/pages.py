"""Pages from templates: every text escaped, nothing inline that the content policy forbids."""

import re
from collections.abc import Iterator, Mapping
from datetime import UTC, datetime
from functools import cache
from pathlib import Path
from typing import Any, Final

from jinja2 import Environment, FileSystemLoader, StrictUndefined
from markupsafe import Markup

HERE: Final = Path(__file__).parent
# Keys of labels; b, e, g, i, m, s, t and u are commands.
KEYS: Final = "1234567890qwryopadfhjklzxcvn"
PATTERNS: Final = 8  # colours with their lines for evidence; more labels begin again
_WORD: Final = re.compile(r"\S+")


def draw(template: str, /, **parts: Any) -> str:
    """Fill a template of this folder."""
    return _templates().get_template(f"{template}.html.j2").render(parts)


def pieces(text: str) -> Iterator[tuple[str, int, int]]:
    """Words with their offsets in characters, and what stands between them with a stop of 0."""
    end = 0
    for word in _WORD.finditer(text):
        if word.start() > end:
            yield text[end : word.start()], end, 0
        yield word.group(), word.start(), word.end()
        end = word.end()
    if end < len(text):
        yield text[end:], end, 0


def hidden(name: str, value: object) -> Markup:
    """A hidden field of a form."""
    return Markup('<input type="hidden" name="{}" value="{}">').format(name, value)


def readable(name: str, titles: Mapping[str, str] | None = None) -> str:
    """The title of a label, or its name in words."""
    title = (titles or {}).get(name)
    return title or name.replace("_", " ").capitalize()


def utc(seconds: float) -> str:
    """A time for readers without a script; the page's script shows it in local time."""
    return datetime.fromtimestamp(seconds, UTC).strftime("%Y-%m-%d %H:%M UTC")


@cache
def _templates() -> Environment:
    jinja = Environment(
        loader=FileSystemLoader(HERE / "templates"),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    jinja.filters |= {"pieces": pieces, "readable": readable, "utc": utc}
    jinja.globals |= {"hidden": hidden, "keys": KEYS, "patterns": PATTERNS}
    return jinja
