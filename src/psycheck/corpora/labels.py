"""Read label cells as 0..1: numbers, true and false, names, and missing annotations."""

import math
import re
import tomllib
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from decimal import Decimal
from functools import cache
from pathlib import Path
from typing import Any

from psycheck.corpora.tables import Table
from psycheck.errors import BadInput, nearest

EVERY = "*"
_MOST_CLASSES = 100
_MOST_LISTED = 10
_LEVEL = re.compile(r"(?P<name>[^*]+)@(?P<level>\d+(?:\.\d+)?)")

# The end of a sentence, a handle, an address, a quotation, or a line break.
_PROSE = re.compile(r"[.!?…]['\"’”)]*(?:\s|$)|[@#\"“”\n\r]|://")
_SHORT = 8

Marks = list[float | None]


@dataclass(frozen=True, slots=True)
class Labels:
    """The labels of one column, the positive values it has, a list of its values, and notes."""

    marks: dict[str, Marks]
    positive: frozenset[str]
    holds: str
    notes: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class _Value:
    """One distinct value of a label column, and the first row that has it."""

    key: str
    shown: str
    number: float | None
    index: int

    @property
    def missing(self) -> bool:
        return self.key in words()["missing"]

    @property
    def unclear(self) -> bool:
        return self.number is None and self.key in words()["unclear"]

    @property
    def is_word(self) -> bool:
        return self.key in words()["yes"] or self.key in words()["no"]


def read_label(table: Table, column: str, name: str, positive: Sequence[str] = ()) -> Labels:
    """Read one column as the label `name`, or as one label for each of its names if `name` is "*".

    "name@2" reads an ordinal column: 1 from level 2 upwards, 0 below. The levels of a scale are no shares of
    annotators, so they are never read as soft labels.
    """
    level = None
    if not column.endswith(name):
        name, level = name_and_level(name)
    distinct = _distinct(table, column)
    annotated = {cell: value for cell, value in distinct.items() if not (value.missing or value.unclear)}
    values = _by_key(annotated.values())
    notes = []
    if unclear := _by_key(value for value in distinct.values() if value.unclear):
        notes.append(f"Column '{column}': {_listed(unclear)} means not annotated.")
    if not values:
        notes.append(f"Column '{column}' is empty: no text is annotated.")
    named = {one: value.key for one in positive if (value := _value(one, 0))}
    keys = set() if level is not None else {value.key for value in values}
    matched = frozenset(one for one, key in named.items() if key in keys)
    cells = table.columns[column]
    if name == EVERY:
        # A text without a class is not annotated.
        rows = [annotated[cell].key if cell in annotated else None for cell in cells]
        if len(values) > _MOST_CLASSES or first_prose(value.shown for value in values) is not None:
            what = f"the column holds {len(values)} different values, or long ones, so they are not classes"
            allowed = f"at most {_MOST_CLASSES} short names"
            raise BadInput(what, where=f"{table.path}, column '{column}'", allowed=allowed)
        marks: dict[str, Marks] = {
            value.shown: [None if row is None else float(row == value.key) for row in rows]
            for value in values
        }
        return Labels(marks, matched, _listed(values), tuple(notes))
    soft = any(value.number is not None and 0 < value.number < 1 for value in values)
    ones = None if soft else {named[one] for one in matched} or None
    if level is not None:
        if odd := next((value for value in values if value.number is None), None):
            what = f"the level is {quoted(odd.shown)}, not a number"
            raise BadInput(what, where=table.where(odd.index, column), allowed="numbers, or nothing")
        ones = {value.key for value in values if (value.number or 0) >= level}
    if ones is not None and values:
        sides = ([value for value in values if (value.key in ones) == side] for side in (True, False))
        notes.append(f"Label '{name}': {' is 1, '.join(map(_listed, sides))} is 0.")
    elif values:
        ones, guessed = _by_meaning(table, column, name, values, positive)
        notes.extend(guessed)
        if matched:
            soft_values = "holds values between 0 and 1, so positive values do not apply to it"
            notes.append(f"Label '{name}' {soft_values}.")
    numbers = {
        cell: value.number if ones is None else float(value.key in ones) for cell, value in annotated.items()
    }
    return Labels({name: [numbers.get(cell) for cell in cells]}, matched, _listed(values), tuple(notes))


def name_and_level(label: str) -> tuple[str, float | None]:
    """The name and the level of "name@2", which reads an ordinal scale; no level for any other label."""
    found = _LEVEL.fullmatch(label)
    return (found["name"], float(found["level"])) if found else (label, None)


def looks_like_label(cells: Sequence[object]) -> bool:
    """Whether a column holds nothing but numbers in 0..1, true and false, and differs between rows."""
    if any(isinstance(cell, list | dict) for cell in cells):
        return False
    numbers: set[float | None] = set()
    for cell in dict.fromkeys(cells):
        value = _value(cell, 0)
        if value is None or not (value.missing or (value.number is not None and 0 <= value.number <= 1)):
            return False
        numbers.add(value.number)
    return len(numbers - {None}) > 1


def is_name(text: str, most: int = 20, most_words: int = 3) -> bool:
    """Whether a value or a column name looks like a label; False if it may be what a person wrote."""
    few = len(text) <= most and len(text.split()) <= most_words
    return few and (len(text) <= _SHORT or not _PROSE.search(text))


def quoted(value: str) -> str:
    """A value of a table for a message: in quotes if it looks like a label, else only its length."""
    return f"'{value}'" if is_name(value) else f"a value of {len(value):,} characters"


def first_prose(values: Iterable[str | None], most: int = 40) -> int | None:
    """The row of the first value that cannot be the name of a class, group or split; None if all can."""
    return next((row for row, one in enumerate(values) if one and not is_name(one, most, 6)), None)


def number_in(text: str) -> float | None:
    """The number that a string is; None if it is none."""
    try:
        return float(text)
    except ValueError:
        return None


@cache
def words() -> dict[str, Any]:
    """The names of columns and the contents of label cells that are known."""
    return tomllib.loads(Path(__file__).with_name("columns.toml").read_text("utf-8"))


def _distinct(table: Table, column: str) -> dict[object, _Value]:
    seen: dict[object, _Value] = {}
    for index, cell in enumerate(table.columns[column]):
        if not isinstance(cell, list | dict) and cell in seen:
            continue
        value = _value(cell, index)
        if value is None:
            what = f"the label is a {type(cell).__name__}, not a single value"
            allowed = "0, 1, true, false, a number between them, a name, or nothing"
            raise BadInput(what, where=table.where(index, column), allowed=allowed)
        seen[cell] = value
    return seen


def _value(cell: object, index: int) -> _Value | None:
    """The value of one cell; None if its type cannot be a label."""
    if cell is None:
        return _Value("", "", None, index)
    if isinstance(cell, bool):
        return _Value(str(cell).lower(), str(cell).lower(), float(cell), index)
    if isinstance(cell, int | float | Decimal):
        try:
            number = float(cell)
        except OverflowError:
            number = math.inf
        return _Value(f"{number:.15g}", f"{number:.15g}", None if math.isnan(number) else number, index)
    if not isinstance(cell, str):
        return None
    text = cell.strip()
    key = text.casefold()
    if key in words()["yes"] or key in words()["no"]:
        return _Value(key, text, float(key in words()["yes"]), index)
    found = number_in(text)
    if found is None or math.isnan(found) or "_" in text:
        return _Value(key, text, None, index)
    return _Value(f"{found:.15g}", f"{found:.15g}", found, index)


def _by_key(values: Iterable[_Value]) -> list[_Value]:
    """One value per key, in the order of the keys: 1, "1" and "1.0" are the same."""
    first: dict[str, _Value] = {}
    for value in values:
        first.setdefault(value.key, value)
    return [first[key] for key in sorted(first)]


def _listed(values: Sequence[_Value]) -> str:
    """List some values, but none that is so long that it may be a person's text."""
    names = [quoted(value.shown) for value in values if is_name(value.shown)]
    if not values:
        return "nothing"
    if not names or len(values) > _MOST_CLASSES:
        return f"{len(values)} different values"
    more = len(values) - len(names[:_MOST_LISTED])
    return ", ".join(names[:_MOST_LISTED]) + (f" and {more} more" if more else "")


def _by_meaning(
    table: Table, column: str, name: str, values: Sequence[_Value], positive: Sequence[str]
) -> tuple[set[str] | None, list[str]]:
    """The keys that mean 1 where the user named none, and notes; None if the column holds numbers."""

    def refused(what: str, do: str = "", allowed: str = "", at: _Value | None = None) -> BadInput:
        where = f"{table.path}, column '{column}'" if at is None else table.where(at.index, column)
        return BadInput(what, where=where, allowed=allowed, do=do)

    in_range = "0 to 1, or nothing where a text is not annotated"
    each = f"make each {{}}a label (`labels='{column}={EVERY}'`)"
    names = [value for value in values if value.number is None]
    if not names:
        for value in values:
            if value.number is not None and not 0 <= value.number <= 1:
                do = f"name the value that means 1 (`positive={value.shown}`), or {each.format('value ')}"
                if all(one.key.isdecimal() for one in values):
                    scale = f"(`labels='{column}={name}@{value.shown}'`)"
                    do = f"for an ordinal scale, name the lowest level that means 1 {scale}; otherwise {do}"
                raise refused(f"label {value.shown} is out of range", do, in_range, value)
        # A note about "yes" and "no" as numbers; true and false need none.
        spoken = [value for value in values if value.is_word and value.key not in words()["plain"]]
        meanings = [f"{_listed([value])} means {value.number:.0f}" for value in reversed(spoken)]
        return None, [f"Label '{name}': guessed that {' and '.join(meanings)}."] if meanings else []
    if any(value.number is not None and not value.is_word for value in values):
        odd = min(names, key=lambda value: value.index)
        what = f"the label is {quoted(odd.shown)}, where other rows hold numbers"
        do = "correct the cell, or name the values that mean 1 (`positive=NAME`)"
        raise refused(what, do, in_range, odd)
    if positive:
        few = values if len(values) <= _MOST_CLASSES else []
        known = [value.shown for value in few if is_name(value.shown)][:_MOST_LISTED]
        what = f"none of the positive values ({', '.join(positive)}) occurs in this column"
        raise refused(what, allowed=nearest(positive[0], known))
    if len(values) > 2:
        what = f"the column holds {len(values)} different names, so it is not one label: {_listed(values)}"
        raise refused(what, f"{each.format('')}, or name those that mean 1 (`positive=NAME`)")
    one = _guess(values, name)
    if one is None:
        raise refused(f"cannot tell which name means 1: {_listed(values)}", "name it (`positive=NAME`)")
    zero = values[1 - values.index(one)]
    note = f"Label '{name}': guessed that {_listed([one])} means 1 and {_listed([zero])} means 0."
    return {one.key}, [note]


def _guess(values: Sequence[_Value], label: str) -> _Value | None:
    """Which of two names means 1: one negates the other, or only one of them contains the label's name."""
    if len(values) != 2:
        return None
    for one, other in (values, values[::-1]):
        rest = _negated(one.key)
        if rest and _negated(other.key) is None and (rest in other.key or other.key in rest):
            return other
    name = re.compile(rf"(?<![^\W_]){re.escape(label.casefold())}")
    naming = [value for value in values if name.search(value.key) and _negated(value.key) is None]
    return naming[0] if len(naming) == 1 else None


def _negated(name: str) -> str | None:
    """What a name negates: "depressed" in "non-depressed"; None if it negates nothing."""
    starts = (start for start in words()["negations"] if name.startswith(start))
    return next((name.removeprefix(start) for start in starts if len(name) > len(start) + 2), None)
