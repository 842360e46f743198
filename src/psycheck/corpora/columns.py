"""Assign roles to columns: as the user named them, or guessed from names and content and reported."""

import re
import shlex
import tomllib
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import cache
from importlib.resources import files
from typing import Any

from psycheck.corpora.labels import looks_like_label, shown
from psycheck.corpora.tables import Table
from psycheck.corpus import GROUP, LABEL
from psycheck.errors import BadInput, nearest

_MOST_GROUPS = 50
LONGEST_GROUP = 80
NUMBERED = ("", "none")


@dataclass(frozen=True, slots=True)
class Columns:
    """The columns that the user named; what is None or empty is guessed, with a note in the corpus.

    An id of "" or "none" numbers the rows. A label is a column name, or "column=name" to rename it, or
    "column=*" for one label per class. `positive` lists the values that mean 1 where labels are names.
    """

    text: str | None = None
    id: str | None = None
    labels: tuple[str, ...] = ()
    author: str | None = None
    time: str | None = None
    split: str | None = None
    groups: tuple[str, ...] = ()
    positive: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Roles:
    """Which column plays which role; labels are (column, name) pairs."""

    text: str
    id: str | None
    labels: tuple[tuple[str, str], ...]
    plain: dict[str, str]
    groups: tuple[str, ...]
    notes: tuple[str, ...]


def assign(table: Table, columns: Columns) -> Roles:
    """Assign each role its column: the named ones first, then guesses among the others."""
    numbered = columns.id in NUMBERED and columns.id not in table.columns
    named = {"text": columns.text, "id": None if numbered else columns.id}
    named |= {"author": columns.author, "time": columns.time, "split": columns.split}
    roles = {role: _find(table, column) for role, column in named.items() if column is not None}
    labels = [_label(table, label) for label in columns.labels]
    groups = [_find(table, column) for column in columns.groups]
    # A corpus that psycheck wrote marks its labels and groups in the column names.
    labels = labels or [_label(table, column) for column in table.columns if column.startswith(LABEL)]
    groups = groups or [column for column in table.columns if _marked_group(table, column)]
    taken = {*roles.values(), *groups, *(column for column, _ in labels)}
    notes: list[str] = []
    if "text" not in roles:
        roles["text"] = _guess_text(table, taken)
        notes.append(f"Guessed that column '{roles['text']}' holds the texts.")
        taken.add(roles["text"])
    others = [c for role, c in roles.items() if role != "text"] + groups + [column for column, _ in labels]
    if roles["text"] in others:
        raise BadInput(
            f"column '{roles['text']}' is named as the text column and for another role",
            where=str(table.path),
            do="name a different column for each role",
        )
    if numbered:
        notes.append("The ids are row numbers from 1.")
    elif "id" not in roles:
        notes.append(_guess_id(table, taken, roles))
    if "split" not in roles and (column := _guess_split(table, taken)):
        roles["split"] = column
        taken.add(column)
        notes.append(f"Guessed that column '{column}' holds the splits.")
    for role in ("author", "time"):
        if role not in roles and (column := next(iter(_known(table, role, taken)), None)):
            roles[role] = column
            taken.add(column)
            notes.append(f"Guessed that column '{column}' holds the {role}.")
    if not groups:
        groups = [c for c in _known(table, "group", taken) if _few(table.columns[c])]
        taken.update(groups)
        notes.extend(f"Guessed that column '{column}' holds groups." for column in groups)
    if not labels:
        notes.extend(_lists(table))
        labels = [(column, column) for column in _guess_labels(table, taken)]
        notes.append(
            f"Guessed that the labels are {', '.join(repr(column) for column, _ in labels)}."
            if labels
            else "No column looks like a label."
        )
    plain = {role: column for role, column in roles.items() if role not in ("text", "id")}
    return Roles(roles["text"], roles.get("id"), tuple(labels), plain, tuple(groups), tuple(notes))


def options_of(columns: Columns) -> str:
    """The options that name these columns, as they are typed."""
    named = {"--text": columns.text, "--id": columns.id, "--author": columns.author, "--time": columns.time}
    named["--split-column"] = columns.split
    pairs = [(option, name) for option, name in named.items() if name]
    pairs += [("--label", label) for label in columns.labels]
    pairs += [("--positive", value) for value in columns.positive]
    pairs += [("--group", group) for group in columns.groups]
    return " ".join(f"{option} {shlex.quote(name)}" for option, name in pairs)


def as_typed(path: str, columns: Columns | None = None, split: str | None = None) -> str:
    """A corpus as it is typed after a verb: its path and the options it was opened with."""
    options = [options_of(columns or Columns()), f"--split {shlex.quote(split)}" if split else ""]
    return " ".join(part for part in (shlex.quote(path), *options) if part)


def without_options(typed: str, options: Iterable[str]) -> str:
    """The same without some options and their values, for a verb that does not have them."""
    words, dropped = shlex.split(typed), set(options)
    return shlex.join(
        word for i, word in enumerate(words) if word not in dropped and not (i and words[i - 1] in dropped)
    )


def split_name(value: str) -> str:
    """The name psycheck uses for a split: "val", "valid" and "validation" are "dev"."""
    return _other_split_names().get(value.strip().casefold(), value)


@cache
def _words() -> dict[str, Any]:
    return tomllib.loads(files("psycheck.corpora").joinpath("columns.toml").read_text("utf-8"))


@cache
def _other_split_names() -> dict[str, str]:
    return {other: name for name, others in _words()["splits"].items() for other in others}


def _find(table: Table, column: str) -> str:
    if column in table.columns:
        return column
    if column in table.unread:
        raise BadInput(
            f"column '{column}' holds {table.unread[column]}, not single values",
            where=str(table.path),
            allowed=nearest(column, showable_names(table.columns)),
        )
    raise BadInput(f"there is no column '{column}'", where=str(table.path), allowed=_nearest(column, table))


def _nearest(column: str, table: Table) -> str:
    return nearest(column, showable_names([*table.columns, *table.unread]))


def showable_names(names: Iterable[str]) -> list[str]:
    """The names short enough to show: in a file without a header, the first text may be taken for a name."""
    return [name for name in names if shown(name)]


def _label(table: Table, label: str) -> tuple[str, str]:
    if label not in table.columns and "=" in label:
        column, _, name = label.rpartition("=")
        if not name:
            raise BadInput(f"label '{label}' has no name", allowed="column, column=name or column=*")
        return _find(table, column), name
    return _find(table, label), label.removeprefix(LABEL) or label


def _marked_group(table: Table, column: str) -> bool:
    """Whether a column is marked as a group, with names short enough to be read."""
    return column.startswith(GROUP) and all(len(str(cell)) <= LONGEST_GROUP for cell in table.columns[column])


def _known(table: Table, role: str, taken: set[str]) -> list[str]:
    """The remaining columns whose names are known for a role, the likeliest first."""
    order = {name: position for position, name in enumerate(_words()[role])}
    left = [column for column in table.columns if column not in taken and column.casefold() in order]
    return sorted(left, key=lambda column: order[column.casefold()])


def _guess_text(table: Table, taken: set[str]) -> str:
    for column in _known(table, "text", taken):
        if _mean_length(table.columns[column]) > 0:
            return column
    named = {
        column for role in ("id", "author", "time", "split", "group") for column in _known(table, role, taken)
    }
    lengths = {
        column: _mean_length(cells)
        for column, cells in table.columns.items()
        if column not in taken and column not in named
    }
    if not any(lengths.values()):
        raise BadInput(
            "no column holds texts" + " other than those named for another role" * bool(taken),
            where=str(table.path),
            do="name the text column (--text)",
        )
    longest = max(lengths, key=lambda column: lengths[column])
    if not shown(longest):
        raise BadInput(
            "no column is known to hold texts, and the first row may be data, not a header",
            where=str(table.path),
            do="add a header row, or name the text column (--text)",
        )
    return longest


def _mean_length(cells: Sequence[object]) -> float:
    """The mean length of the strings in a column; 0 if it has none or they are all numbers."""
    total = count = 0
    words = False
    for cell in cells:
        if isinstance(cell, str):
            total += len(cell)
            count += 1
            words = words or not _number(cell)
    return total / count if words else 0.0


def _number(cell: str) -> bool:
    try:
        float(cell or "0")
    except ValueError:
        return False
    return True


def _guess_id(table: Table, taken: set[str], roles: dict[str, str]) -> str:
    """Take the first known id column without duplicates, else the first; return a note.

    A column that is named like an id but has duplicates is taken too, so that the reader reports its row.
    """
    single = [
        column
        for column in _known(table, "id", taken)
        if not any(isinstance(cell, list | dict | bool) for cell in table.columns[column])
    ]
    if not single:
        return "The ids are row numbers from 1, because no column holds ids."
    column = next((column for column in single if _differ(table.columns[column])), single[0])
    roles["id"] = column
    taken.add(column)
    return f"Guessed that column '{column}' holds the ids."


def _differ(cells: Sequence[object]) -> bool:
    """Whether every cell has a value and no two are the same."""
    values = {str(cell) for cell in cells if cell is not None}
    return len(values) == len(cells) and all(value.strip() for value in values)


def _guess_split(table: Table, taken: set[str]) -> str | None:
    known = _other_split_names()
    for column in _known(table, "split", taken):
        cells = [cell for cell in table.columns[column] if cell not in (None, "")]
        if cells and all(isinstance(cell, str) and cell.strip().casefold() in known for cell in cells):
            return column
    return None


def _few(cells: Sequence[object]) -> bool:
    """Whether a column holds at most a few dozen different short values."""
    values: set[str] = set()
    for cell in cells:
        if isinstance(cell, list | dict) or not shown(str(cell)):
            return False
        values.add(str(cell))
        if len(values) > _MOST_GROUPS:
            return False
    return len(values - {"", "None"}) > 0


def _lists(table: Table) -> list[str]:
    """Notes about columns that would be labels by their name, but do not hold single values."""
    held = [c for c, cells in table.columns.items() if any(isinstance(cell, list | dict) for cell in cells)]
    names = [column for column in (*held, *table.unread) if column.casefold() in _words()["label"]]
    return [f"Column '{column}' holds several values per row, so it is not a label." for column in names]


def _guess_labels(table: Table, taken: set[str]) -> list[str]:
    """Columns whose name is known for labels, and those with nothing but 0..1, in their order."""
    words = _words()
    out = []
    for column, cells in table.columns.items():
        name = column.casefold()
        if column in taken or all(cell is None or cell == "" for cell in cells):
            continue
        if any(isinstance(cell, list | dict) for cell in cells):
            continue
        other = (
            re.split(r"[\W_]+|(?<=[a-z])(?=[A-Z])", column)[-1].casefold() in words["no_label"]
            or name.startswith(tuple(words["no_label_starts"]))
            or any(name in words[role] for role in ("id", "author", "time", "text"))
        )
        if name in words["label"] or (not other and looks_like_label(cells)):
            out.append(column)
    return out
