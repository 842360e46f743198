"""Find the fields of a reply: keys with their values, in JSON of any quality, in lines, tables and tags.

One pass over the text, without recursion or backtracking beyond a token, so the time is linear in its length.
Each field knows where its value stands, so that token probabilities can be found.
"""

import json
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace
from typing import Final

# Possessive quantifiers (`*+`) never give back what they matched, so that no reply takes quadratic time. A
# single quote ends a string only where JSON goes on: elsewhere it is an apostrophe.
_TOKEN: Final = re.compile(
    r"""(?P<string>"[^"\\]*+(?:\\.[^"\\]*+)*+(?:"|\\?\Z)|“[^”]*+(?:”|\Z)|‘[^’\n]*+’(?=\s*+[:=,}\]])"""
    r"""|'[^'\\\n]*+(?:\\.[^'\\\n]*+)*+'(?=\s*+[:=,}\]]))"""
    r"|(?P<open>[{\[])|(?P<close>[}\]])|(?P<colon>[:=])|(?P<comma>[,;\n])|(?P<comment>//[^\n]*+)"
    r"""|(?P<word>[^\s{}\[\]:=,;"“][^{}\[\]:=,;"“\n]*+)""",
    re.DOTALL,
)
_OPENING: Final = re.compile(r"[{\[]")
_LIST_NUMBER: Final = re.compile(r"[\s*_>#-]*(\d{1,2})\s*[.)]\s+(?=\S)")
# A dash separates only between spaces: "follow-up" is one word.
_SEPARATOR: Final = re.compile(r"[:=]\s*+|(?<=\s)[-–—]\s++")
_TAGGED: Final = re.compile(r"<([A-Za-z_]{1,40})>([^<>]{0,200})</([A-Za-z_]{1,40})>")

_NO_VALUE: Final = ("null", "None", "NaN", "nan", "undefined")  # bare: a missing value, not the word
_DECODER: Final = json.JSONDecoder()
_KEYS_ABOVE: Final = 4
_LONGEST_KEY: Final = 80  # characters
_LONGEST_VALUE: Final = 2_000
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
    fields: list[Field] = []
    outside: list[str] = []
    position = 0
    group = 0
    while len(fields) <= MOST_FIELDS:
        opening = _OPENING.search(text, position)
        if opening is None:
            break
        start = opening.start()
        outside.append(text[position:start])

        region = _Region(text, group, is_json=_is_json(text, start))
        position = region.read(start)
        fields += region.fields
        group = region.group

        # Blanks instead of the region, so that places in the rest stay the same.
        region_length = position - start
        outside.append(" " * region_length)

    outside.append(text[position:])
    return fields, "".join(outside)


@dataclass(slots=True)
class _Region:
    """The fields from an opening brace to its closing one; `group` numbers the containers of the reply.

    `is_json` says that it is valid JSON. The last three lists have an entry for each object or list that is
    open: plain lists, since a reply may open a million of them.
    """

    text: str
    group: int
    is_json: bool = False
    fields: list[Field] = field(default_factory=list)
    open_keys: list[str] = field(default_factory=list)  # the key that holds it
    open_groups: list[int] = field(default_factory=list)
    open_sizes: list[int | None] = field(default_factory=list)  # values so far in a list, None in an object
    key: str = ""
    awaits_value: bool = False  # a key and its colon were read
    continues_value: bool = False  # the last token was a value: what follows without a comma belongs to it

    def read(self, start: int) -> int:
        """Read the region that starts here; returns where it ends."""
        tokens = self._tokens(start)
        token = next(tokens, None)
        while token is not None and len(self.fields) <= MOST_FIELDS:
            following = next(tokens, None)
            match token.lastgroup:
                case "open":
                    self._open(token[0])
                case "close":
                    self._close()
                    if not self.open_groups:
                        return token.end()
                case "string" | "word":
                    self._take(token, following)
                case "colon":
                    self.awaits_value = True
                case "comma":
                    self.continues_value = False
                    # A value may stand on the line after its key.
                    self.awaits_value &= token[0] == "\n"
            token = following
        return len(self.text)

    def _tokens(self, start: int) -> Iterator[re.Match[str]]:
        """The tokens from here on; in valid JSON a line break means nothing, elsewhere it ends a value."""
        for token in _TOKEN.finditer(self.text, start):
            if not (self.is_json and token[0] == "\n"):
                yield token

    def _open(self, brace: str) -> None:
        self.group += 1
        self.open_keys.append(self.key if self.awaits_value else "")
        self.open_groups.append(self.group)
        self.open_sizes.append(0 if brace == "[" else None)
        self.awaits_value = self.continues_value = False

    def _close(self) -> None:
        self.open_keys.pop()
        self.open_groups.pop()
        self.open_sizes.pop()
        self.awaits_value = self.continues_value = False

    def _take(self, token: re.Match[str], following: re.Match[str] | None) -> None:
        """Read a string or a word: a key if a colon follows, else a value or a further part of one."""
        has_colon = following is not None and following.lastgroup == "colon"
        if has_colon and not self.awaits_value:
            self.key = _plain(token[0])
            self.continues_value = False
        elif self.continues_value:
            self._lengthen(token)
        else:
            self._add(token)

    def _lengthen(self, token: re.Match[str]) -> None:
        """Add a token to the last value, as in: "yes" or "no"."""
        last = self.fields[-1]
        value = last.value
        # Beyond this it is no answer, and joining every further word would take quadratic time.
        if len(value) < _LONGEST_VALUE:
            value = f"{value} {_plain(token[0])}"
        self.fields[-1] = replace(last, value=value, end=token.end())

    def _add(self, token: re.Match[str]) -> None:
        # A value with a key is a field of its own, also within a list: [depression: yes].
        index = None if self.awaits_value else self.open_sizes[-1]
        if index is not None:
            self.open_sizes[-1] = index + 1

        nearest_first = reversed(self.open_keys[-_KEYS_ABOVE:])
        above = [key for key in nearest_first if key]
        is_at_end = token.end() == len(self.text)
        value_field = Field(
            key=self.key if self.awaits_value else "",
            value=_plain(token[0]),
            start=token.start(),
            end=token.end(),
            above=tuple(above),
            group=self.open_groups[-1],
            index=index,
            cut=_cut(token[0], at_end=is_at_end),
        )
        self.fields.append(value_field)
        self.awaits_value = False
        self.continues_value = True


def _is_json(text: str, start: int) -> bool:
    """True if valid JSON starts here: a server that forces a schema may break lines anywhere in it."""
    try:
        _DECODER.raw_decode(text, start)
    except (ValueError, RecursionError):
        return False
    return True


def _cut(token: str, *, at_end: bool) -> str:
    """Whether a token may be incomplete, as `Field.cut`."""
    if token[0] in '"“':
        is_closed = len(token) > 1 and token[-1] in '"”'
        return "" if is_closed else "open"
    return "end" if at_end else ""


def _plain(token: str) -> str:
    """A token without its quotes and escapes."""
    if token.startswith('"') and "\\" in token:
        try:
            return str(json.loads(token, strict=False))
        except ValueError:
            pass  # not closed, or an escape that JSON does not know: kept as it is
    stripped = token.strip()
    if stripped in _NO_VALUE:
        return ""
    return stripped.strip("\"“”'‘’`*")


def line_fields(text: str) -> Iterator[Field]:
    """The fields outside braces: "key: value", "key – value", "1. value", rows of tables, tags."""
    position = 0
    end = len(text.rstrip())
    for line in text.splitlines(keepends=True):
        is_last = position + len(line) >= end
        yield from _fields_of_line(_Line(line, position, is_last=is_last))
        position += len(line)


@dataclass(frozen=True, slots=True)
class _Line:
    """A line and its place in the reply."""

    text: str
    position: int
    is_last: bool

    def field(
        self,
        key: str,
        start: int,
        end: int,
        *,
        may_be_cut: bool = False,
    ) -> Field:
        """The field whose value stands at these places of the line."""
        return Field(
            key=key,
            value=self.text[start:end],
            start=self.position + start,
            end=self.position + end,
            cut="end" if may_be_cut and self.is_last else "",
        )


def _fields_of_line(line: _Line) -> Iterator[Field]:
    if line.text.count("|") >= 2:
        yield from _of_table_row(line)
        return
    yield from _of_tags(line)

    # The dot of "1. depression: yes" is no separator: the key begins after it.
    number = _LIST_NUMBER.match(line.text)
    start = number.end() if number else 0
    separators = list(_SEPARATOR.finditer(line.text, start))
    if number and not separators:
        end = len(line.text.rstrip())
        yield line.field(number[1], start, end, may_be_cut=True)
    yield from _of_pairs(line, separators)


def _of_table_row(line: _Line) -> Iterator[Field]:
    """The last cell of a row, with the cells before it as its key."""
    cells: list[tuple[int, int]] = []  # without the spaces around them
    position = 0
    for cell in line.text.split("|"):
        if cell.strip():
            indent = len(cell) - len(cell.lstrip())
            start = position + indent
            end = position + len(cell.rstrip())
            cells.append((start, end))
        position += len(cell) + 1  # the bar

    if len(cells) > 1:
        *name_cells, (value_start, value_end) = cells
        names = [line.text[start:end] for start, end in name_cells]
        # "3 | sleep" becomes "3. sleep", as a numbered line would name the item.
        key = ". ".join(names)[:_LONGEST_KEY]
        yield line.field(key, value_start, value_end)


def _of_tags(line: _Line) -> Iterator[Field]:
    """The fields of tags: <depression>yes</depression>."""
    for tag in _TAGGED.finditer(line.text):
        opening, _, closing = tag.groups()
        if opening == closing:
            yield line.field(opening, tag.start(2), tag.end(2))


def _of_pairs(line: _Line, separators: Sequence[re.Match[str]]) -> Iterator[Field]:
    """The fields of "key: value", also of several in one line: "depression: yes, anxiety: no"."""
    text = line.text
    key_start = 0
    for number, separator in enumerate(separators, 1):
        start = separator.end()
        key = text[key_start : separator.start()]
        is_final = number == len(separators)
        end = len(text.rstrip()) if is_final else separators[number].start()

        # The value ends at the last comma before the next key, which begins after it.
        last_comma = text.rfind(",", start, end)
        last_semicolon = text.rfind(";", start, end)
        comma = max(last_comma, last_semicolon)
        if comma >= 0 and not is_final:
            end = comma
            key_start = comma + 1
        else:
            key_start = start

        key_name = key.strip()
        is_field = bool(key_name) and end > start
        if is_field and len(key) <= _LONGEST_KEY:
            yield line.field(key_name, start, end, may_be_cut=is_final)
