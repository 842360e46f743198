"""Pages from templates: one HTML file with everything inside."""

from functools import cache
from pathlib import Path

from jinja2 import Environment, FileSystemLoader, StrictUndefined
from markupsafe import Markup

from psycheck.core.run import Run
from psycheck.report.display_names import file_text, listed, name_of, topic_of
from psycheck.report.numbers import count, decimal, ends, percent, plain, unbroken, whole

TEMPLATES = Path(__file__).parent


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
