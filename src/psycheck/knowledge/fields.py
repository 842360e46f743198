"""Find the fields of a reply: keys with their values, in JSON of any quality, in lines, tables and tags.

One pass over the text, without recursion or backtracking beyond a token, so the time is linear in its length.
Each field knows where its value stands, so that token probabilities can be found.
"""

import json
import re
from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import Final

_TOKEN: Final = re.compile(
    r"""(?P<string>"[^"\\]*+(?:\\.[^"\\]*+)*+(?:"|\\?\Z)|“[^”]*+(?:”|\Z)|‘[^’\n]*+’(?=\s*+[:=,}\]])"""
    r"""|'[^'\\\n]*+(?:\\.[^'\\\n]*+)*+'(?=\s*+[:=,}\]]))"""
    r"|(?P<open>[{\[])|(?P<close>[}\]])|(?P<colon>[:=])|(?P<comma>[,;\n])|(?P<comment>//[^\n]*+)"
    r"""|(?P<word>[^\s{}\[\]:=,;"“][^{}\[\]:=,;"“\n]*+)""",
    re.DOTALL,
)
_OPENING: Final = re.compile(r"[{\[]")
_NUMBERED: Final = re.compile(r"[\s*_>#-]*(\d{1,2})\s*[.)]\s+(?=\S)")
_BETWEEN: Final = re.compile(r"[:=]\s*+|(?<=\s)[-–—]\s++")
_TAGGED: Final = re.compile(r"<([A-Za-z_]{1,40})>([^<>]{0,200})</([A-Za-z_]{1,40})>")
_MOST_KEY: Final = 80  # characters
_NOTHING: Final = ("null", "None", "NaN", "nan", "undefined")  # bare: a missing value, not the word
_MOST_VALUE: Final = 2_000
MOST_FIELDS: Final = 20_000  # no answer has so many; a reply that repeats itself to the end may


@dataclass(frozen=True, slots=True)
class Field:
    """One value with its key, the keys above it (nearest first), and its place in the reply.

    `group` numbers the object or list that holds it, `index` its place in a list. `cut` says that the
    value may be incomplete: "open" for a string without its closing quote, "end" for words at the very end.
    """

    key: str
    value: str
    start: int
    end: int
    above: tuple[str, ...] = ()
    group: int = 0
    index: int | None = None
    cut: str = ""


def fields_of(text: str) -> tuple[list[Field], str]:
    """The fields in braces and brackets, and the text with those parts blanked out."""
    found: list[Field] = []
    outside: list[str] = []
    position = groups = 0
    while len(found) <= MOST_FIELDS and (opening := _OPENING.search(text, position)) is not None:
        outside.append(text[position : opening.start()])
        fields, end, groups = _region(text, opening.start(), groups)
        found += fields
        outside.append(" " * (end - opening.start()))
        position = end
    outside.append(text[position:])
    return found, "".join(outside)


def _region(text: str, start: int, group: int) -> tuple[list[Field], int, int]:
    """The fields from an opening brace to its closing one, or to the end of the text."""
    found: list[Field] = []
    stack: list[tuple[str, int]] = []  # the key of each open object or list, and its group
    counts: list[int] = []  # values so far in each open list, -1 in an object
    key, waiting = "", False  # a key was read, and a value must follow
    goes_on = False  # the last token was a value: what follows without a comma belongs to it
    tokens = _TOKEN.finditer(text, start)
    token = next(tokens, None)
    while token is not None and len(found) <= MOST_FIELDS:
        following = next(tokens, None)
        kind, end = token.lastgroup, token.end()
        if kind == "open":
            group += 1
            stack.append((key if waiting else "", group))
            counts.append(0 if token[0] == "[" else -1)
            waiting = goes_on = False
        elif kind == "close":
            stack.pop()
            counts.pop()
            waiting = goes_on = False
            if not stack:
                return found, end, group
        elif kind in ("string", "word"):
            if following is not None and following.lastgroup == "colon" and not waiting:
                key, goes_on = _plain(token[0]), False
            elif goes_on:  # "yes" or "no"
                last = found[-1]
                longer = f"{last.value} {_plain(token[0])}" if len(last.value) < _MOST_VALUE else last.value
                found[-1] = replace(last, value=longer, end=end)
            else:
                value, cut = _plain(token[0]), _cut(token[0], at_end=end == len(text))
                above = tuple(one for one, _ in reversed(stack[-4:]) if one)
                index = counts[-1] if not waiting and counts[-1] >= 0 else None
                if index is not None:
                    counts[-1] += 1
                named = key if waiting else ""
                found.append(Field(named, value, token.start(), end, above, stack[-1][1], index, cut))
                waiting, goes_on = False, True
        elif kind == "colon":
            waiting = True
        elif kind == "comma":
            goes_on = False
            waiting &= token[0] == "\n"
        token = following
    return found, len(text), group


def _cut(token: str, *, at_end: bool) -> str:
    if token[0] in '"“':
        return "" if len(token) > 1 and token[-1] in '"”' else "open"
    return "end" if at_end else ""


def _plain(token: str) -> str:
    """A token without its quotes and escapes."""
    if token.startswith('"') and "\\" in token:
        try:
            return str(json.loads(token, strict=False))
        except ValueError:
            pass
    if token.strip() in _NOTHING:
        return ""
    return token.strip().strip("\"“”'‘’`*")


def line_fields(text: str) -> Iterator[Field]:
    """The fields outside braces: "key: value", "key – value", "1. value", rows of tables, tags."""
    position, end = 0, len(text.rstrip())
    for line in text.splitlines(keepends=True):
        yield from _of_line(line, position, last=position + len(line) >= end)
        position += len(line)


def _of_line(line: str, offset: int, *, last: bool) -> Iterator[Field]:
    if line.count("|") >= 2:
        cells = [(cell.strip(), at) for cell, at in _cells(line) if cell.strip()]
        if len(cells) > 1:
            value, at = cells[-1]
            yield Field(
                ". ".join(cell for cell, _ in cells[:-1])[:_MOST_KEY],
                value,
                offset + at,
                offset + at + len(value),
            )
        return
    for tag in _TAGGED.finditer(line):
        if tag[1] == tag[3]:
            yield Field(tag[1], tag[2], offset + tag.start(2), offset + tag.end(2))
    number = _NUMBERED.match(line)
    separators = list(_BETWEEN.finditer(line, number.end() if number else 0))
    if number and not separators:
        value = line[number.end() :].rstrip()
        yield Field(
            number[1], value, offset + number.end(), offset + number.end() + len(value), cut="end" * last
        )
    key_start = 0
    for this, following in zip(separators, [*separators[1:], None], strict=False):
        key = line[key_start : this.start()].strip() if this.start() - key_start <= _MOST_KEY else ""
        end = len(line.rstrip()) if following is None else following.start()
        comma = max(line.rfind(",", this.end(), end), line.rfind(";", this.end(), end))
        if following is not None and comma >= 0:
            key_start, end = comma + 1, comma
        else:
            key_start = this.end()
        if key and end > this.end():
            at_end = "end" if last and following is None else ""
            yield Field(key, line[this.end() : end], offset + this.end(), offset + end, cut=at_end)


def _cells(line: str) -> Iterator[tuple[str, int]]:
    position = 0
    for cell in line.split("|"):
        yield cell, position + len(cell) - len(cell.lstrip())
        position += len(cell) + 1
