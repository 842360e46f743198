"""Pages from templates: one HTML file with everything inside."""

import re
from functools import cache
from pathlib import Path

from jinja2 import Environment, FileSystemLoader, StrictUndefined
from markupsafe import Markup, escape

from psycheck.core.run import Run
from psycheck.report.display_names import file_text, listed, name_of, topic_of
from psycheck.report.numbers import count, decimal, ends, percent, plain, unbroken, whole

TEMPLATES = Path(__file__).parent
_BACKQUOTED = re.compile(r"`([^`]+)`")


def draw(template: str, run: Run, /, **parts: object) -> str:
    """Fill a template of this folder with what every page shows of its run, and with its own parts."""
    shared = {
        "style": Markup(file_text("report.css")),
        "date": run.environment.get("date", ""),
        "notes": run.notes,
        "plan": run.plan,
        "environment": run.environment,
    }
    return templates().get_template(f"{template}.html.j2").render({**shared, **parts})


def with_code(sentence: str) -> Markup:
    """A sentence, escaped, with what stands in backquotes as code; a command alone is all code."""
    if sentence.startswith("psycheck "):
        return Markup("<code>{}</code>").format(sentence)
    return Markup(_BACKQUOTED.sub(r"<code>\1</code>", str(escape(sentence))))


@cache
def templates() -> Environment:
    """The templates of this folder."""
    jinja = Environment(
        loader=FileSystemLoader(TEMPLATES),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    jinja.filters |= {
        "commands": with_code,
        "count": count,
        "decimal": decimal,
        "ends": ends,
        "figures": unbroken,
        "listed": listed,
        "percent": percent,
        "plain": plain,
        "topic": topic_of,
        "whole": whole,
    }
    jinja.globals["name_of"] = name_of
    return jinja
