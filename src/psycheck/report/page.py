"""Pages from templates: one HTML file with everything inside."""

import re
from functools import cache
from pathlib import Path

from jinja2 import Environment, FileSystemLoader, StrictUndefined
from markupsafe import Markup, escape

from psycheck.core.run import Run
from psycheck.report.display_names import file_text, listed, name_of, topic_of, words_of
from psycheck.report.numbers import bare_rate, count, decimal, ends, percent, plain, unbroken, whole

TEMPLATES = Path(__file__).parent
# Splits a text so that its tags are parts of their own.
_TAG = re.compile(r"(<[^>]*>)")
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
    # Commands come without backquotes, so that they can be copied from JUnit and JSON.
    if sentence.startswith("psycheck "):
        return Markup("<code>{}</code>").format(sentence)
    return Markup(_BACKQUOTED.sub(r"<code>\1</code>", str(escape(sentence))))


def with_terms(words: str) -> Markup:
    """Words, escaped unless they are HTML, whose terms of the field are explained on hover."""
    # Tags stay as they are: a term in an attribute is not for readers.
    parts = _TAG.split(str(escape(words)))
    explained = [part if part.startswith("<") else _terms().sub(_explained, part) for part in parts]
    return Markup("".join(explained))


@cache
def _terms() -> re.Pattern[str]:
    """Any term of the glossary as a whole word; a longer one goes before what it contains."""
    longest_first = sorted(
        _meanings(),
        key=len,
        reverse=True,
    )
    names = "|".join(map(re.escape, longest_first))
    return re.compile(rf"(?<![\w-])(?:{names})(?=s?(?![\w-]))")


@cache
def _meanings() -> dict[str, str]:
    """What terms mean, as HTML has them and also as a sentence begins with them."""
    meanings = {}
    for name, meaning in glossary().items():
        escaped = str(escape(name))
        meanings[escaped] = meaning
        meanings[escaped[0].upper() + escaped[1:]] = meaning
    return meanings


def _explained(match: re.Match[str]) -> str:
    explained = Markup('<abbr title="{}">{}</abbr>')
    return str(explained.format(_meanings()[match[0]], Markup(match[0])))


def glossary() -> dict[str, str]:
    """The terms that pages explain, with their meaning."""
    return words_of("glossary")


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
        "rate_of": bare_rate,
        "terms": with_terms,
        "topic": topic_of,
        "whole": whole,
    }
    jinja.globals["name_of"] = name_of
    jinja.globals["glossary"] = glossary()
    return jinja
