"""Read label cells as 0..1: numbers, true and false, names, and missing annotations."""

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from psycheck.core.errors import BadInput, nearest
from psycheck.corpora.label_values import (
    MOST_CLASSES,
    MOST_LISTED,
    LabelValue,
    distinct_values,
    first_prose,
    is_name,
    keys_of,
    listed_values,
    one_per_key,
    quoted,
    words,
)
from psycheck.io.tables import Table

EVERY = "*"
_LEVEL = re.compile(r"(?P<name>[^*]+)@(?P<level>\d+(?:\.\d+)?)")
_IN_RANGE = "0 to 1, or nothing where a text is not annotated"

_CODES = ((1.0, 2.0), (-1.0, 1.0))  # how surveys and classifiers write 0 and 1

Marks = list[float | None]


@dataclass(frozen=True, slots=True)
class Labels:
    """The labels of one column, the positive values it has, a list of its values, and notes."""

    marks: dict[str, Marks]
    positive: frozenset[str]
    holds: str
    notes: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class _LabelColumn:
    """A label column: its cells, the meaning of each annotated cell, and its distinct values."""

    table: Table
    name: str
    value_of_cell: Mapping[object, LabelValue]
    values: Sequence[LabelValue]

    @property
    def cells(self) -> Sequence[object]:
        return self.table.columns[self.name]

    def refused(
        self,
        what: str,
        *,
        code: str,
        do: str = "",
        allowed: str = "",
        value: LabelValue | None = None,
    ) -> BadInput:
        """An error about the column, or about the first row with this value."""
        where = f"{self.table.path}, column '{self.name}'"
        if value is not None:
            where = self.table.where(value.index, self.name)
        return BadInput(
            what=what,
            code=code,
            where=where,
            allowed=allowed,
            do=do,
        )


def read_label(
    table: Table,
    column: str,
    name: str,
    positive: Sequence[str] = (),
) -> Labels:
    """Read one column as the label `name`, or as one label for each of its names if `name` is "*".

    "name@2" reads an ordinal column: 1 from level 2 upwards, 0 below. The levels of a scale are no shares of
    annotators, so they are never read as soft labels.
    """
    # A column may itself be called "mood@2"; then nobody asked for a level.
    level = None
    if not column.endswith(name):
        name, level = name_and_level(name)

    read, notes = _read_column(table, column)
    key_of_positive = keys_of(positive)
    # A scale has levels instead of positive values.
    present_keys = {value.key for value in read.values} if level is None else set()
    present = [written for written, key in key_of_positive.items() if key in present_keys]
    matched = frozenset(present)

    if name == EVERY:
        marks = _one_label_per_class(read)
    else:
        positive_keys = {key_of_positive[written] for written in matched}
        one_label, label_notes = _one_label(
            column=read,
            name=name,
            level=level,
            positive=positive,
            positive_keys=positive_keys,
        )
        marks = {name: one_label}
        notes += label_notes
    return Labels(
        marks=marks,
        positive=matched,
        holds=listed_values(read.values),
        notes=tuple(notes),
    )


def name_and_level(label: str) -> tuple[str, float | None]:
    """The name and the level of "name@2", which reads an ordinal scale; no level for any other label."""
    match = _LEVEL.fullmatch(label)
    if match is None:
        return label, None
    return match["name"], float(match["level"])


def _read_column(table: Table, column: str) -> tuple[_LabelColumn, list[str]]:
    """The annotated values of a column, and notes on what counts as not annotated."""
    distinct = distinct_values(table, column)
    # Cell by distinct value, not row by row: a column of a million cells has a handful of them.
    annotated: dict[object, LabelValue] = {}
    for cell, value in distinct.items():
        if not value.is_missing and not value.is_unclear:
            annotated[cell] = value
    values = one_per_key(annotated.values())
    unclear = one_per_key(value for value in distinct.values() if value.is_unclear)

    notes = []
    if unclear:
        notes.append(f"Column '{column}': {listed_values(unclear)} means not annotated.")
    if not values:
        notes.append(f"Column '{column}' is empty: no text is annotated.")

    label_column = _LabelColumn(
        table=table,
        name=column,
        value_of_cell=annotated,
        values=values,
    )
    return label_column, notes


def _one_label_per_class(column: _LabelColumn) -> dict[str, Marks]:
    """A label for each value of the column; a text without a class is not annotated."""
    # The names of classes become names of labels, which are shown: prose may be somebody's words.
    too_many = len(column.values) > MOST_CLASSES
    prose = first_prose(value.written for value in column.values)
    if too_many or prose is not None:
        raise column.refused(
            f"the column holds {len(column.values)} different values, or long ones, so they are not classes",
            code="label.not-classes",
            allowed=f"at most {MOST_CLASSES} short names",
        )

    values = [column.value_of_cell.get(cell) for cell in column.cells]
    marks_by_class: dict[str, Marks] = {}
    for of_class in column.values:
        marks_by_class[of_class.written] = [
            None if value is None else float(value.key == of_class.key) for value in values
        ]
    return marks_by_class


def _one_label(
    column: _LabelColumn,
    name: str,
    level: float | None,
    positive: Sequence[str],
    positive_keys: set[str],
) -> tuple[Marks, list[str]]:
    """The marks of a column that is one label, and notes on what its values mean.

    `positive_keys` are the keys of those `positive` values that the column has.
    """
    if not column.values:
        return [None] * len(column.cells), []

    # None where the values are numbers that count as they are.
    keys_meaning_1: set[str] | None = None
    if level is not None:
        keys_meaning_1 = _keys_from_level(column, level)
    # Positive values are given once for all label columns: a soft label among them is read as it is.
    elif positive_keys and not _is_soft(column.values):
        keys_meaning_1 = positive_keys

    if keys_meaning_1 is not None:
        notes = [f"Label '{name}': {_sides(column.values, keys_meaning_1)}."]
    else:
        keys_meaning_1, notes = _keys_by_meaning(column, name, positive)
        if positive_keys:
            reason = "holds values between 0 and 1, so positive values do not apply to it"
            notes.append(f"Label '{name}' {reason}.")

    return _marks(column, keys_meaning_1), notes


def _is_soft(values: Sequence[LabelValue]) -> bool:
    """Whether a value lies between 0 and 1, such as the share of annotators who said yes."""
    return any(value.number is not None and 0 < value.number < 1 for value in values)


def _marks(column: _LabelColumn, keys_meaning_1: set[str] | None) -> Marks:
    mark_of_cell: dict[object, float | None] = {}
    for cell, value in column.value_of_cell.items():
        if keys_meaning_1 is None:
            mark_of_cell[cell] = value.number
        else:
            mark_of_cell[cell] = float(value.key in keys_meaning_1)
    return [mark_of_cell.get(cell) for cell in column.cells]


def _sides(values: Sequence[LabelValue], keys_meaning_1: set[str]) -> str:
    positive = [value for value in values if value.key in keys_meaning_1]
    negative = [value for value in values if value.key not in keys_meaning_1]
    return f"{listed_values(positive)} is 1, {listed_values(negative)} is 0"


def _keys_from_level(column: _LabelColumn, level: float) -> set[str]:
    """The keys of an ordinal scale that mean 1: its levels from `level` on."""
    keys = set()
    for value in column.values:
        if value.number is None:
            raise column.refused(
                f"the level is {quoted(value.written)}, not a number",
                code="label.level-not-a-number",
                allowed="numbers, or nothing",
                value=value,
            )
        if value.number >= level:
            keys.add(value.key)
    return keys


def _keys_by_meaning(
    column: _LabelColumn, name: str, positive: Sequence[str]
) -> tuple[set[str] | None, list[str]]:
    """The keys that mean 1 where the user named none, and notes; None if the column holds numbers."""
    names = [value for value in column.values if value.number is None]
    if not names:
        code_meaning_1 = _code_meaning_1(column.values)
        if code_meaning_1 is not None:
            sides = _sides(column.values, {code_meaning_1.key})
            return {code_meaning_1.key}, [f"Label '{name}': guessed that {sides}."]
        _refuse_out_of_range(column, name)
        return None, _notes_on_yes_and_no(column.values, name)

    _refuse_name_among_numbers(column, names)
    if positive:
        raise _no_positive_value(column, positive)
    if len(column.values) > 2:
        raise column.refused(
            f"the column holds {len(column.values)} different names, so it is not one label: "
            f"{listed_values(column.values)}",
            code="label.several-names",
            do=f"make each a label (`labels='{column.name}={EVERY}'`),"
            " or name those that mean 1 (`positive=NAME`)",
        )

    meaning_1 = _value_meaning_1(column.values, name)
    if meaning_1 is None:
        raise column.refused(
            f"cannot tell which name means 1: {listed_values(column.values)}",
            code="label.cannot-tell-1",
            do="name it (`positive=NAME`)",
        )
    meaning_0 = [value for value in column.values if value is not meaning_1]
    names_of_1 = listed_values([meaning_1])
    names_of_0 = listed_values(meaning_0)
    return {meaning_1.key}, [f"Label '{name}': guessed that {names_of_1} means 1 and {names_of_0} means 0."]


def _code_meaning_1(values: Sequence[LabelValue]) -> LabelValue | None:
    """The higher of the codes 1 and 2, or of -1 and 1, if a column holds nothing but these two."""
    by_number = {value.number: value for value in values}
    for low, high in _CODES:
        if by_number.keys() == {low, high}:
            return by_number[high]
    return None


def _refuse_out_of_range(column: _LabelColumn, name: str) -> None:
    for value in column.values:
        if value.number is None or 0 <= value.number <= 1:
            continue
        do = (
            f"name the value that means 1 (`positive={value.written}`),"
            f" or make each value a label (`labels='{column.name}={EVERY}'`)"
        )
        # Whole numbers above 1 are likely the levels of a scale, such as a score of severity.
        looks_like_scale = all(level.key.isdecimal() for level in column.values)
        if looks_like_scale:
            scale = f"`labels='{column.name}={name}@{value.written}'`"
            do = f"for an ordinal scale, name the lowest level that means 1 ({scale}); otherwise {do}"
        raise column.refused(
            f"label {value.written} is out of range",
            code="label.out-of-range",
            do=do,
            allowed=_IN_RANGE,
            value=value,
        )


def _notes_on_yes_and_no(values: Sequence[LabelValue], name: str) -> list[str]:
    """A note about "yes" and "no" as numbers; true and false need none."""
    plain_words = words()["plain"]
    guessed = [value for value in values if value.is_yes_or_no and value.key not in plain_words]
    if not guessed:
        return []
    meanings = [f"{listed_values([value])} means {value.number:.0f}" for value in reversed(guessed)]
    return [f"Label '{name}': guessed that {' and '.join(meanings)}."]


def _refuse_name_among_numbers(column: _LabelColumn, names: Sequence[LabelValue]) -> None:
    has_numbers = any(value.number is not None and not value.is_yes_or_no for value in column.values)
    if has_numbers:
        first_name = min(names, key=lambda value: value.index)
        raise column.refused(
            f"the label is {quoted(first_name.written)}, where other rows hold numbers",
            code="label.name-among-numbers",
            do="correct the cell, or name the values that mean 1 (`positive=NAME`)",
            allowed=_IN_RANGE,
            value=first_name,
        )


def _no_positive_value(column: _LabelColumn, positive: Sequence[str]) -> BadInput:
    # Values of a column with many of them may be texts, which no error may show.
    candidates: list[str] = []
    if len(column.values) <= MOST_CLASSES:
        candidates = [value.written for value in column.values if is_name(value.written)]
    return column.refused(
        f"none of the positive values ({', '.join(positive)}) occurs in this column",
        code="label.unknown-positive",
        allowed=nearest(positive[0], candidates[:MOST_LISTED]),
    )


def _value_meaning_1(values: Sequence[LabelValue], label: str) -> LabelValue | None:
    """Which of two names means 1: one negates the other, or only one of them contains the label's name."""
    if len(values) != 2:
        return None

    # "control" and "non-control": what is negated is the opposite of what carries the negation.
    for value, opposite in (values, values[::-1]):
        negated = _negated_name(value.key)
        if not negated or _negated_name(opposite.key) is not None:
            continue
        if negated in opposite.key or opposite.key in negated:
            return opposite

    known = words()["without_condition"]
    conditions = [value for value in values if value.key not in known]
    if len(conditions) == 1:
        return conditions[0]

    # "depressed" names the label "depress", "not depressed" does not.
    name = re.compile(rf"(?<![^\W_]){re.escape(label.casefold())}")
    with_name = [value for value in values if name.search(value.key)]
    naming_label = [value for value in with_name if _negated_name(value.key) is None]
    if len(naming_label) == 1:
        return naming_label[0]
    return None


def _negated_name(name: str) -> str | None:
    """What a name negates: "depressed" in "non-depressed"; None if it negates nothing."""
    for start in words()["negations"]:
        # At least three letters must follow: "none" does not negate "e".
        if name.startswith(start) and len(name) > len(start) + 2:
            return name.removeprefix(start)
    return None
