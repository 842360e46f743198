"""Assign roles to columns: as the user named them, or guessed from names and content and reported."""

import re
import shlex
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cache

from psycheck.corpora.labels import first_prose, is_name, looks_like_label, number_in, words
from psycheck.corpora.tables import Table
from psycheck.corpus import GROUP, LABEL
from psycheck.errors import BadInput, nearest
from psycheck.files.streams import bad_file

_MOST_GROUPS = 50
LONGEST_GROUP = 80
NUMBERED = ("", "none")


@dataclass(frozen=True, slots=True)
class Columns:
    """The columns that the user named; what is None or empty is guessed, with a note in the corpus.

    An id of "" or "none" numbers the rows. A label is a column name, or "column=name" to rename it, or
    "column=*" for one label per class, or "column=name@2" for a scale whose levels from 2 on mean 1.
    `positive` lists the values that mean 1 where labels are names.
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
    named = {role: getattr(columns, role) for role in ("text", "id", "author", "time", "split")}
    named |= {"id": None} if numbered else {}
    roles = {role: _find(table, column) for role, column in named.items() if column is not None}
    labels = [_label(table, label) for label in columns.labels]
    groups = [_find(table, column) for column in columns.groups]
    # A corpus that psycheck wrote marks its labels and groups in the column names.
    labels = labels or [_label(table, column) for column in table.columns if column.startswith(LABEL)]
    marked = {column: cells for column, cells in table.columns.items() if column.startswith(GROUP)}
    groups = groups or [c for c in marked if first_prose(map(str, marked[c]), LONGEST_GROUP) is None]
    taken = {*roles.values(), *groups, *(column for column, _ in labels)}
    notes: list[str] = []
    for role, (guess, holds) in _GUESSES.items():
        if role in roles:
            continue
        column = None if role == "id" and numbered else guess(table, taken)
        if column is not None:
            roles[role] = column
            taken.add(column)
            notes.append(f"Guessed that column '{column}' holds {holds}.")
        elif role == "id":
            because = "" if numbered else ", because no column holds ids"
            notes.append(f"The ids are row numbers from 1{because}.")
    others = [c for role, c in roles.items() if role != "text"] + groups + [column for column, _ in labels]
    if roles["text"] in others:
        what = f"column '{roles['text']}' is named as the text column and for another role"
        raise bad_file(table.path, what, do="name a different column for each role")
    if not groups:
        groups = [c for c in _known(table, "group", taken) if _few(table.columns[c])]
        taken.update(groups)
        notes.extend(f"Guessed that column '{column}' holds groups." for column in groups)
    if not labels:
        held = [column for column, cells in table.columns.items() if _nested(cells)]
        several = [column for column in (*held, *table.unread) if column.casefold() in words()["label"]]
        notes += [f"Column '{c}' holds several values per row, so it is not a label." for c in several]
        guessed = [c for c in showable_names(table.columns) if c not in taken and _is_label(table, c)]
        labels = [(column, column) for column in guessed]
        listed = ", ".join(map(repr, guessed))
        notes.append(f"Guessed that the labels are {listed}." if labels else "No column looks like a label.")
    plain = {role: column for role, column in roles.items() if role not in ("text", "id")}
    return Roles(roles["text"], roles.get("id"), tuple(labels), plain, tuple(groups), tuple(notes))


def options_of(columns: Columns) -> str:
    """The options that name these columns, as they are typed."""
    named = {"--text": columns.text, "--id": columns.id, "--author": columns.author, "--time": columns.time}
    several = {"--label": columns.labels, "--positive": columns.positive, "--group": columns.groups}
    pairs = [(option, name) for option, name in {**named, "--split-column": columns.split}.items() if name]
    pairs += [(option, name) for option, names in several.items() for name in names]
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
def _other_split_names() -> dict[str, str]:
    return {other: name for name, others in words()["splits"].items() for other in others}


def _find(table: Table, column: str) -> str:
    if column in table.columns:
        return column
    names, what = [*table.columns, *table.unread], f"there is no column '{column}'"
    if column in table.unread:
        names, what = [*table.columns], f"column '{column}' holds {table.unread[column]}, not single values"
    raise bad_file(table.path, what, allowed=nearest(column, showable_names(names)))


def showable_names(names: Iterable[str]) -> list[str]:
    """The names short enough to show: in a file without a header, the first text may be taken for a name."""
    return [name for name in names if is_name(name, 40, 4)]


def _label(table: Table, label: str) -> tuple[str, str]:
    if label not in table.columns and "=" in label:
        column, _, name = label.rpartition("=")
        if not name:
            allowed = "column, column=name, column=name@level or column=*"
            raise BadInput(f"label '{label}' has no name", allowed=allowed)
        return _find(table, column), name
    return _find(table, label), label.removeprefix(LABEL) or label


def _nested(cells: Sequence[object]) -> bool:
    return any(isinstance(cell, list | dict) for cell in cells)


def _known(table: Table, role: str, taken: set[str]) -> list[str]:
    """The remaining columns whose names are known for a role, the likeliest first."""
    order = {name: position for position, name in enumerate(words()[role])}
    left = [column for column in table.columns if column not in taken and column.casefold() in order]
    return sorted(left, key=lambda column: order[column.casefold()])


def _guess_text(table: Table, taken: set[str]) -> str:
    for column in _known(table, "text", taken):
        if _mean_length(table.columns[column]) > 0:
            return column
    other = {c for role in ("id", "author", "time", "split", "group") for c in _known(table, role, taken)}
    left = table.columns.keys() - taken - other
    lengths = {name: _mean_length(cells) for name, cells in table.columns.items() if name in left}
    if not any(lengths.values()):
        what = "no column holds texts" + " other than those named for another role" * bool(taken)
        raise bad_file(table.path, what, do="name the text column (`text`)")
    longest = max(lengths, key=lambda column: lengths[column])
    if not showable_names([longest]):
        what = "no column is known to hold texts, and the first row may be data, not a header"
        raise bad_file(table.path, what, do="add a header row, or name the text column (`text`)")
    return longest


def _mean_length(cells: Sequence[object]) -> float:
    """The mean length of the strings in a column; 0 if it has none or they are all numbers."""
    strings = [cell for cell in cells if isinstance(cell, str)]
    if all(number_in(cell or "0") is not None for cell in strings):
        return 0.0
    return sum(map(len, strings)) / len(strings)


def _guess_id(table: Table, taken: set[str]) -> str | None:
    """The first known id column in which every cell has a value and no two are the same, else the first.

    A column that is named like an id but has duplicates is taken too, so that the reader reports its row.
    """
    single = []
    for column in _known(table, "id", taken):
        cells = table.columns[column]
        if not _nested(cells) and not any(isinstance(cell, bool) for cell in cells):
            single.append(column)
            values = {str(cell) for cell in cells if cell is not None}
            if len(values) == len(cells) and all(value.strip() for value in values):
                return column
    return single[0] if single else None


def _guess_split(table: Table, taken: set[str]) -> str | None:
    known = _other_split_names()
    for column in _known(table, "split", taken):
        cells = [cell for cell in table.columns[column] if cell not in (None, "")]
        if cells and all(isinstance(cell, str) and cell.strip().casefold() in known for cell in cells):
            return column
    return None


_GUESSES: Mapping[str, tuple[Callable[[Table, set[str]], str | None], str]] = {
    "text": (_guess_text, "the texts"),
    "id": (_guess_id, "the ids"),
    "split": (_guess_split, "the splits"),
    "author": (lambda table, taken: next(iter(_known(table, "author", taken)), None), "the author"),
    "time": (lambda table, taken: next(iter(_known(table, "time", taken)), None), "the time"),
}


def _few(cells: Sequence[object]) -> bool:
    """Whether a column holds at most a few dozen different short values."""
    values = set(map(str, cells))
    some = len(values - {"", "None"}) > 0 and len(values) <= _MOST_GROUPS
    return some and not _nested(cells) and first_prose(values) is None


def _is_label(table: Table, column: str) -> bool:
    """Whether a column has a name that is known for labels, or holds nothing but 0..1."""
    name, cells, known = column.casefold(), table.columns[column], words()
    if _nested(cells) or all(cell is None or cell == "" for cell in cells):
        return False
    if name in known["label"]:
        return True
    last = re.split(r"[\W_]+|(?<=[a-z])(?=[A-Z])", column)[-1].casefold()
    if last in known["no_label"] or name.startswith(tuple(known["no_label_starts"])):
        return False
    return not any(name in known[role] for role in ("id", "author", "time", "text")) and looks_like_label(
        cells
    )
