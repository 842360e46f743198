"""The JSON value of each line of a file, or one error that names the place and never quotes the line."""

import json
from collections.abc import Iterator, Mapping
from itertools import chain
from typing import Any

from psycheck.core.errors import BadInput
from psycheck.io.streams import Lines

_OBJECT_PER_LINE = 'one JSON object per line, such as {"text": "…", "label": 1}'


def json_values(lines: Lines, *, objects: bool = True) -> Iterator[Any]:
    """The JSON value of each line that is not blank: an object with whole characters, or any value."""
    for line in lines:
        if not line.strip():
            lines.same_row()
            continue

        value = _parsed(line, lines)
        if objects and not isinstance(value, dict):
            raise BadInput(
                what=f"the line is JSON of type {type(value).__name__}, not an object",
                code="json.not-an-object",
                where=lines.where(),
                allowed=_OBJECT_PER_LINE,
            )

        # Only an escape can stand for half a character: UTF-8 was checked when the line was decoded.
        if "\\u" in line:
            readable_parts = _strings_at_top(value) if objects else [value]
            refuse_half_characters(readable_parts, lines.where())

        yield value
        lines.next_row()


def _parsed(line: str, lines: Lines) -> Any:
    try:
        return json.loads(line)
    except (ValueError, RecursionError) as error:
        reason = "nested too deeply"
        if isinstance(error, json.JSONDecodeError):
            reason = f"{error.msg}, character {error.colno}"
        if lines.row == 1 and line.lstrip().startswith("["):
            reason = "it begins a JSON array that spans several lines"

        # The parser's own message is not shown as the cause: it holds the line, and so a text.
        raise BadInput(
            what=f"the line is not valid JSON ({reason})",
            code="json.not-valid",
            where=lines.where(),
            allowed=_OBJECT_PER_LINE,
        ) from None


def _strings_at_top(record: Mapping[str, object]) -> list[str]:
    """The keys and the string values of an object: what is read of it."""
    keys_and_values = chain.from_iterable(record.items())
    return [part for part in keys_and_values if isinstance(part, str)]


def refuse_half_characters(value: object, where: str) -> None:
    """Refuse a JSON value with an escaped half of a surrogate pair, which cannot be stored."""
    try:
        json.dumps(value, ensure_ascii=False).encode()
    except UnicodeEncodeError:
        raise BadInput(
            what="an escape stands for half a character (a lone surrogate such as \\ud83d)",
            code="json.half-character",
            where=where,
            do="write the whole pair, or the character itself in UTF-8",
        ) from None
