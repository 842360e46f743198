"""Which column of a table plays which role, guessed from names (columns.toml) and content."""

import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cache

from psycheck.corpora.label_values import (
    first_prose,
    is_name,
    looks_like_label,
    number_in,
    tells_from_controls,
    words,
)
from psycheck.io.streams import bad_file
from psycheck.io.tables import Table

_MOST_GROUPS = 50  # more values than this are free text or ids, and a table of findings by group unreadable
_LONGEST_NAME = 40  # characters of a column's name that is shown; a longer one may be a post
_MOST_WORDS = 4
# "num_posts", "num-posts" and "numPosts" all end in the word "posts".
_END_OF_WORD = re.compile(r"[\W_]+|(?<=[a-z])(?=[A-Z])")


@dataclass(frozen=True, slots=True)
class Guess:
    """How the column of a role is guessed, among those that have no role yet, and what it holds."""

    column: Callable[[Table, set[str]], str | None]
    content: str


def showable_names(names: Iterable[str]) -> list[str]:
    """The names short enough to show: in a file without a header, the first text may be taken for a name."""
    return [name for name in names if is_name(name, _LONGEST_NAME, _MOST_WORDS)]


def split_name(value: str) -> str:
    """The name psycheck uses for a split: "val", "valid" and "validation" are "dev"."""
    return _names_of_splits().get(value.strip().casefold(), value)


@cache
def _names_of_splits() -> dict[str, str]:
    """Our name of a split by each of the names that corpora use."""
    name_of_alias: dict[str, str] = {}
    for name, aliases in words()["splits"].items():
        name_of_alias.update(dict.fromkeys(aliases, name))
    return name_of_alias


def holds_several_values(cells: Sequence[object]) -> bool:
    """Whether a cell of a column is a list or a record, as in JSON lines."""
    return any(isinstance(cell, list | dict) for cell in cells)


def columns_named_for(table: Table, role: str, assigned: set[str]) -> list[str]:
    """The remaining columns whose names are known for a role, the likeliest first."""
    # columns.toml lists the names of a role with the likeliest first.
    order = {name: position for position, name in enumerate(words()[role])}
    remaining = [column for column in table.columns if column not in assigned]
    columns = [column for column in remaining if column.casefold() in order]
    return sorted(columns, key=lambda column: order[column.casefold()])


def _guess_text(table: Table, assigned: set[str]) -> str:
    """A column with a name for texts, else the one with the longest strings."""
    for column in columns_named_for(table, "text", assigned):
        if _mean_length(table.columns[column]) > 0:
            return column

    # An id or a date is often longer than a short text.
    excluded = set(assigned)
    for role in ("id", "author", "time", "split", "group"):
        excluded.update(columns_named_for(table, role, assigned))
    lengths: dict[str, float] = {}
    for column, cells in table.columns.items():
        if column not in excluded:
            lengths[column] = _mean_length(cells)

    if not any(lengths.values()):
        what = "no column holds texts"
        if assigned:
            what += " other than those named for another role"
        raise bad_file(
            path=table.path,
            what=what,
            code="columns.no-text",
            do="name the text column (`text`)",
        )

    # Without a header, the first text would be the name of the column, and appear in notes.
    longest = max(lengths, key=lambda column: lengths[column])
    if not showable_names([longest]):
        raise bad_file(
            path=table.path,
            what="no column is known to hold texts, and the first row may be data, not a header",
            code="columns.no-header",
            do="add a header row, or name the text column (`text`)",
        )
    return longest


def _mean_length(cells: Sequence[object]) -> float:
    """The mean length of the strings in a column; 0 if it has none or they are all numbers."""
    strings = [cell for cell in cells if isinstance(cell, str)]
    # Empty cells are as good as numbers here: a column of ids with gaps is still not a column of texts.
    if all(number_in(string or "0") is not None for string in strings):
        return 0.0
    return sum(map(len, strings)) / len(strings)


def _guess_id(table: Table, assigned: set[str]) -> str | None:
    """The first known id column in which every cell has a value and no two are the same, else the first.

    A column that is named like an id but has duplicates is guessed too, so that the reader reports its row.
    """
    named_for_ids = columns_named_for(table, "id", assigned)
    candidates = [column for column in named_for_ids if _may_hold_ids(table.columns[column])]
    for column in candidates:
        cells = table.columns[column]
        values = {str(cell) for cell in cells if cell is not None}
        are_distinct = len(values) == len(cells)
        if are_distinct and all(value.strip() for value in values):
            return column
    return candidates[0] if candidates else None


def _may_hold_ids(cells: Sequence[object]) -> bool:
    if holds_several_values(cells):
        return False
    # Two values, true and false, are an answer rather than an id, whatever the column is called.
    return not any(isinstance(cell, bool) for cell in cells)


def _guess_split(table: Table, assigned: set[str]) -> str | None:
    """The first column named for splits in which every value is the name of one, such as "train"."""
    for column in columns_named_for(table, "split", assigned):
        cells = [cell for cell in table.columns[column] if cell not in (None, "")]
        if cells and all(_names_a_split(cell) for cell in cells):
            return column
    return None


def _names_a_split(cell: object) -> bool:
    return isinstance(cell, str) and cell.strip().casefold() in _names_of_splits()


def _guess_by_name(role: str) -> Callable[[Table, set[str]], str | None]:
    """Guess the first column that has a name for the role, whatever it holds."""

    def guess(table: Table, assigned: set[str]) -> str | None:
        columns = columns_named_for(table, role, assigned)
        return columns[0] if columns else None

    return guess


# In this order: a column that is guessed for one role is not guessed for a later one.
GUESSES: Mapping[str, Guess] = {
    "text": Guess(_guess_text, "the texts"),
    "id": Guess(_guess_id, "the ids"),
    "split": Guess(_guess_split, "the splits"),
    "author": Guess(_guess_by_name("author"), "the author"),
    "time": Guess(_guess_by_name("time"), "the time"),
}


def guess_groups(table: Table, assigned: set[str]) -> list[str]:
    """The columns that are named like groups and hold at most a few dozen short names."""
    columns = columns_named_for(table, "group", assigned)
    return [column for column in columns if _holds_few_names(table.columns[column])]


def _holds_few_names(cells: Sequence[object]) -> bool:
    values = set(map(str, cells))
    names = values - {"", "None"}
    if not names or len(values) > _MOST_GROUPS:
        return False
    # The name of a group is shown in reports; a value that reads like prose may be somebody's words.
    return not holds_several_values(cells) and first_prose(values) is None


def guess_labels(table: Table, assigned: set[str]) -> list[str]:
    """The remaining columns that have a name for labels, or hold nothing but 0..1."""
    columns = [column for column in showable_names(table.columns) if column not in assigned]
    return [column for column in columns if _is_label(column, table.columns[column])]


def _is_label(column: str, cells: Sequence[object]) -> bool:
    if holds_several_values(cells):
        return False
    if all(cell is None or cell == "" for cell in cells):
        return False

    vocabulary = words()
    name = column.casefold()
    if name in vocabulary["label"]:
        return True

    # A column of 0 and 1 may count or measure something else than a label.
    last_word = _END_OF_WORD.split(column)[-1].casefold()
    if last_word in vocabulary["no_label"]:
        return False
    if name.startswith(tuple(vocabulary["no_label_starts"])):
        return False
    if any(name in vocabulary[role] for role in ("id", "author", "time", "text")):
        return False
    return looks_like_label(cells) or tells_from_controls(cells)
