"""The values of label cells: numbers, true and false, names; and which of them a message may show."""

import math
import re
import tomllib
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from decimal import Decimal
from functools import cache
from pathlib import Path
from typing import Any

from psycheck.core.errors import BadInput
from psycheck.io.tables import Table

MOST_CLASSES = 100  # different values of a label column; more are rather numbers or texts
MOST_LISTED = 10  # of them that a message lists

# The end of a sentence, a handle, an address, a quotation, or a line break.
_PROSE = re.compile(r"[.!?…]['\"’”)]*(?:\s|$)|[@#\"“”\n\r]|://")
# A value of so few characters is not what a person wrote, whatever it contains: "Dr. X", "n/a?".
_SHORT = 8


@dataclass(frozen=True, slots=True)
class LabelValue:
    """One distinct value of a label column, and the first row that has it.

    Cells with the same `key` mean the same: 1, "1" and "1.0". `written` is how a message writes it,
    `number` what it counts as, None for a name.
    """

    key: str
    written: str
    number: float | None
    index: int

    @property
    def is_missing(self) -> bool:
        """Whether the text is not annotated: the cell is empty, or holds "nan", "n/a" and the like."""
        return self.key in words()["missing"]

    @property
    def is_unclear(self) -> bool:
        """Whether the annotator did not decide: "unknown", "unsure"."""
        return self.number is None and self.key in words()["unclear"]

    @property
    def is_yes_or_no(self) -> bool:
        """Whether the value is a word for 1 or 0: "yes", "false"."""
        return self.key in words()["yes"] or self.key in words()["no"]


def looks_like_label(cells: Sequence[object]) -> bool:
    """Whether a column holds nothing but numbers in 0..1, true and false, and differs between rows."""
    if any(isinstance(cell, list | dict) for cell in cells):
        return False

    # Each distinct cell once, in order: most columns of a table hold few of them.
    numbers: set[float] = set()
    for cell in dict.fromkeys(cells):
        value = label_value(cell, 0)
        if value is None:
            return False
        in_range = value.number is not None and 0 <= value.number <= 1
        if not in_range and not value.is_missing:
            return False
        if value.number is not None:
            numbers.add(value.number)
    # A column of one value alone says nothing, whatever it is.
    return len(numbers) > 1


def tells_from_controls(cells: Sequence[object]) -> bool:
    """Whether a column holds two words, of which one means controls: "control" and "depressed"."""
    distinct = {cell.strip().casefold() for cell in cells if isinstance(cell, str)}
    distinct.discard("")
    controls = distinct.intersection(words()["controls"])
    return len(distinct) == 2 and len(controls) == 1


def is_name(text: str, most: int = 20, most_words: int = 3) -> bool:
    """Whether a value or a column name looks like a label; False if it may be what a person wrote."""
    if len(text) > most or len(text.split()) > most_words:
        return False
    return len(text) <= _SHORT or not _PROSE.search(text)


def quoted(value: str) -> str:
    """A value of a table for a message: in quotes if it looks like a label, else only its length."""
    if is_name(value):
        return f"'{value}'"
    return f"a value of {len(value):,} characters"


def first_prose(values: Iterable[str | None], most: int = 40) -> int | None:
    """The row of the first value that cannot be the name of a class, group or split; None if all can."""
    for row, value in enumerate(values):
        if value and not is_name(value, most, 6):
            return row
    return None


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


def distinct_values(table: Table, column: str) -> dict[object, LabelValue]:
    """The value of each different cell of a label column, in the order of their first rows."""
    seen: dict[object, LabelValue] = {}
    for index, cell in enumerate(table.columns[column]):
        # 1, 1.0 and True are one key of a dictionary, and mean the same label.
        is_hashable = not isinstance(cell, list | dict)
        if is_hashable and cell in seen:
            continue
        value = label_value(cell, index)
        if value is None:
            raise BadInput(
                what=f"the label is a {type(cell).__name__}, not a single value",
                code="label.not-a-single-value",
                where=table.where(index, column),
                allowed="0, 1, true, false, a number between them, a name, or nothing",
            )
        seen[cell] = value
    return seen


def label_value(cell: object, index: int) -> LabelValue | None:
    """The value of one cell; None if its type cannot be a label."""
    if cell is None:
        return LabelValue(
            key="",
            written="",
            number=None,
            index=index,
        )
    if isinstance(cell, bool):
        written = str(cell).lower()
        return LabelValue(
            key=written,
            written=written,
            number=float(cell),
            index=index,
        )
    if isinstance(cell, int | float | Decimal):
        return _number_value(cell, index)
    if isinstance(cell, str):
        return _string_value(cell.strip(), index)
    return None


def _number_value(cell: float | Decimal, index: int) -> LabelValue:
    # A whole number of hundreds of digits is too large for a float; it is out of range anyway.
    try:
        number = float(cell)
    except OverflowError:
        number = math.inf
    # 15 digits: 0.1 + 0.2 is written as 0.3.
    written = f"{number:.15g}"
    return LabelValue(
        key=written,
        written=written,
        number=None if math.isnan(number) else number,
        index=index,
    )


def _string_value(text: str, index: int) -> LabelValue:
    key = text.casefold()
    if key in words()["yes"]:
        return LabelValue(
            key=key,
            written=text,
            number=1.0,
            index=index,
        )
    if key in words()["no"]:
        return LabelValue(
            key=key,
            written=text,
            number=0.0,
            index=index,
        )

    number = number_in(text)
    # Python reads "1_0" as a number; in a table it is a name.
    if number is None or math.isnan(number) or "_" in text:
        return LabelValue(
            key=key,
            written=text,
            number=None,
            index=index,
        )
    written = f"{number:.15g}"
    return LabelValue(
        key=written,
        written=written,
        number=number,
        index=index,
    )


def keys_of(positive: Sequence[str]) -> dict[str, str]:
    """The key of each positive value as the user wrote it."""
    keys = {}
    for written in positive:
        value = label_value(written, 0)
        if value is not None:
            keys[written] = value.key
    return keys


def one_per_key(values: Iterable[LabelValue]) -> list[LabelValue]:
    """One value per key, in the order of the keys: 1, "1" and "1.0" are the same."""
    first: dict[str, LabelValue] = {}
    for value in values:
        first.setdefault(value.key, value)
    return [first[key] for key in sorted(first)]


def listed_values(values: Sequence[LabelValue]) -> str:
    """List some values, but none that is so long that it may be a person's text."""
    if not values:
        return "nothing"
    names = [quoted(value.written) for value in values if is_name(value.written)]
    if not names or len(values) > MOST_CLASSES:
        return f"{len(values)} different values"

    listed = names[:MOST_LISTED]
    unlisted = len(values) - len(listed)
    if not unlisted:
        return ", ".join(listed)
    return f"{', '.join(listed)} and {unlisted} more"
