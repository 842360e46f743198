"""Read label cells as 0..1: numbers, true and false, names, and missing annotations."""

import math
import re
import tomllib
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from decimal import Decimal
from functools import cache
from importlib.resources import files

from psycheck.corpora.tables import Table
from psycheck.errors import BadInput, nearest

EVERY = "*"
_MOST_CLASSES = 100
_MOST_LISTED = 10

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
        return self.key in _words("missing")

    @property
    def unclear(self) -> bool:
        return self.number is None and self.key in _words("unclear")

    @property
    def is_word(self) -> bool:
        return self.key in _words("yes") or self.key in _words("no")


def read_label(table: Table, column: str, name: str, positive: Sequence[str] = ()) -> Labels:
    """Read one column as the label `name`, or as one label for each of its names if `name` is "*"."""
    distinct = _distinct(table, column)
    values = _by_key(value for value in distinct.values() if not value.missing and not value.unclear)
    unclear = _by_key(value for value in distinct.values() if value.unclear)
    notes = []
    if unclear:
        notes.append(f"Column '{column}': {_listed(unclear)} means not annotated.")
    if not values:
        notes.append(f"Column '{column}' is empty: no text is annotated.")
    keys = {value.key for value in values}
    matched = frozenset(one for one in positive if _key(one) in keys)
    if name == EVERY:
        classes = _every(table, column, distinct, values)
        return Labels(classes, matched, _listed(values), tuple(notes))
    positives = _positive_keys(values, positive)
    if positives is None and values:
        positives, note = _by_meaning(table, column, name, values, positive)
        notes.extend(note)
        if matched:
            notes.append(
                f"Label '{name}' holds values between 0 and 1, so positive values do not apply to it."
            )
    elif positives is not None:
        ones = [value for value in values if value.key in positives]
        zeros = [value for value in values if value.key not in positives]
        notes.append(f"Label '{name}': {_listed(ones)} is 1, {_listed(zeros)} is 0.")
    marks: dict[object, float | None] = {}
    for cell, value in distinct.items():
        if value.missing or value.unclear:
            marks[cell] = None
        else:
            marks[cell] = value.number if positives is None else float(value.key in positives)
    read = {name: [marks[cell] for cell in table.columns[column]]}
    return Labels(read, matched, _listed(values), tuple(notes))


def looks_like_label(cells: Sequence[object]) -> bool:
    """Whether a column holds nothing but numbers in 0..1, true and false, and differs between rows."""
    seen: dict[object, float | None] = {}
    for cell in cells:
        if isinstance(cell, list | dict):
            return False
        if cell not in seen:
            value = _value(cell, 0)
            if value is None or not (value.missing or (value.number is not None and 0 <= value.number <= 1)):
                return False
            seen[cell] = value.number
    return len({number for number in seen.values() if number is not None}) > 1


def shown(text: str) -> str | None:
    """A cell in quotes if it is short enough to be a name; None if it may be what a person wrote."""
    return f"'{text}'" if len(text) <= 40 and len(text.split()) <= 4 else None


@cache
def _words(kind: str) -> tuple[str, ...]:
    text = files("psycheck.corpora").joinpath("labels.toml").read_text("utf-8")
    return tuple(tomllib.loads(text)[kind])


def _distinct(table: Table, column: str) -> dict[object, _Value]:
    seen: dict[object, _Value] = {}
    for index, cell in enumerate(table.columns[column]):
        if not isinstance(cell, list | dict):
            if cell in seen:
                continue
            value = _value(cell, index)
            if value is not None:
                seen[cell] = value
                continue
        raise BadInput(
            f"the label is a {type(cell).__name__}, not a single value",
            where=table.where(index, column),
            allowed="0, 1, true, false, a number between them, a name, or nothing",
        )
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
    if key in _words("yes") or key in _words("no"):
        return _Value(key, text, float(key in _words("yes")), index)
    try:
        number = float(text) if "_" not in text else math.nan
    except ValueError:
        number = math.nan
    if math.isnan(number):
        return _Value(key, text, None, index)
    return _Value(f"{number:.15g}", f"{number:.15g}", number, index)


def _key(name: str) -> str:
    value = _value(name, 0)
    return "" if value is None else value.key


def _by_key(values: Iterable[_Value]) -> list[_Value]:
    """One value per key, in the order of the keys: 1, "1" and "1.0" are the same."""
    first: dict[str, _Value] = {}
    for value in values:
        first.setdefault(value.key, value)
    return [first[key] for key in sorted(first)]


def _listed(values: Sequence[_Value]) -> str:
    """List some values, but none that is so long that it may be a person's text."""
    names = [name for value in values if (name := shown(value.shown))]
    if not values:
        return "nothing"
    if not names or len(values) > _MOST_CLASSES:
        return f"{len(values)} different values"
    more = len(values) - len(names[:_MOST_LISTED])
    return ", ".join(names[:_MOST_LISTED]) + (f" and {more} more" if more else "")


def _positive_keys(values: Sequence[_Value], positive: Sequence[str]) -> set[str] | None:
    """The keys of the values that the user named as positive, if this column has any and is not soft."""
    if any(value.number is not None and 0 < value.number < 1 for value in values):
        return None
    named = {_key(one) for one in positive}
    return {value.key for value in values if value.key in named} or None


def _by_meaning(
    table: Table, column: str, name: str, values: Sequence[_Value], positive: Sequence[str]
) -> tuple[set[str] | None, list[str]]:
    """The keys that mean 1 where the user named none; None if the column holds numbers."""
    names = [value for value in values if value.number is None]
    if not names:
        for value in values:
            if value.number is not None and not 0 <= value.number <= 1:
                raise BadInput(
                    f"label {value.shown} is out of range",
                    where=table.where(value.index, column),
                    allowed="0 to 1, or nothing where a text is not annotated",
                    do=f"name the value that means 1 (--positive {value.shown}), or make each value a label"
                    f" (--label '{column}={EVERY}')",
                )
        return None, _guessed_words(name, values)
    numbers = [value for value in values if value.number is not None and not value.is_word]
    if numbers:
        odd = min(names, key=lambda value: value.index)
        raise BadInput(
            f"the label is {shown(odd.shown) or 'a long text'}, where other rows hold numbers",
            where=table.where(odd.index, column),
            allowed="0 to 1, or nothing where a text is not annotated",
            do="correct the cell, or name the values that mean 1 (--positive NAME)",
        )
    where = f"{table.path}, column '{column}'"
    if positive:
        known = (
            [value.shown for value in values if shown(value.shown)] if len(values) <= _MOST_CLASSES else []
        )
        raise BadInput(
            f"none of the positive values ({', '.join(positive)}) occurs in this column",
            where=where,
            allowed=nearest(positive[0], known[:_MOST_LISTED]),
        )
    if len(values) > 2:
        raise BadInput(
            f"the column holds {len(values)} different names, so it is not one label: {_listed(values)}",
            where=where,
            do=f"make each a label (--label '{column}={EVERY}'), or name those that mean 1 (--positive NAME)",
        )
    one = _guess(values, name)
    if one is None:
        raise BadInput(
            f"cannot tell which name means 1: {_listed(values)}",
            where=where,
            do="name it (--positive NAME)",
        )
    zero = values[1 - values.index(one)]
    return {one.key}, [
        f"Label '{name}': guessed that {_listed([one])} means 1 and {_listed([zero])} means 0."
    ]


def _guessed_words(name: str, values: Sequence[_Value]) -> list[str]:
    """A note about "yes" and "no" as numbers; true and false need none."""
    words = [value for value in values if value.is_word and value.key not in _words("plain")]
    meanings = [f"{_listed([value])} means {value.number:.0f}" for value in words]
    return [f"Label '{name}': guessed that {' and '.join(reversed(meanings))}."] if meanings else []


def _guess(values: Sequence[_Value], label: str) -> _Value | None:
    """Which of two names means 1: one negates the other, or only one of them contains the label's name."""
    if len(values) != 2:
        return None
    first, second = values
    for one, other in ((first, second), (second, first)):
        rest = _negated(one.key)
        if rest and _negated(other.key) is None and (rest in other.key or other.key in rest):
            return other
    name = re.compile(rf"(?<![^\W_]){re.escape(label.casefold())}")
    naming = [value for value in values if name.search(value.key) and _negated(value.key) is None]
    return naming[0] if len(naming) == 1 else None


def _negated(name: str) -> str | None:
    """What a name negates: "depressed" in "non-depressed"; None if it negates nothing."""
    for start in _words("negations"):
        if name.startswith(start) and len(name) > len(start) + 2:
            return name.removeprefix(start)
    return None


def _every(
    table: Table,
    column: str,
    distinct: dict[object, _Value],
    values: Sequence[_Value],
) -> dict[str, Marks]:
    """One label per class of a column; a text without a class is not annotated."""
    if len(values) > _MOST_CLASSES or not all(shown(value.shown) for value in values):
        raise BadInput(
            f"the column holds {len(values)} different values, or long ones, so they are not classes",
            where=f"{table.path}, column '{column}'",
            allowed=f"at most {_MOST_CLASSES} short names",
        )
    classes = {cell: None if one.missing or one.unclear else one.key for cell, one in distinct.items()}
    rows = [classes[cell] for cell in table.columns[column]]
    return {
        value.shown: [None if row is None else float(row == value.key) for row in rows] for value in values
    }
