"""Assign roles to columns: as the user named them, or guessed from names and content and reported."""

import shlex
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from psycheck.core.corpus import GROUP, LABEL, CorpusSource
from psycheck.core.errors import BadInput, nearest
from psycheck.corpora.column_guesses import (
    GUESSES,
    guess_groups,
    guess_labels,
    holds_several_values,
    showable_names,
    split_name,
)
from psycheck.corpora.label_values import first_prose, words
from psycheck.io.streams import bad_file
from psycheck.io.tables import Table

__all__ = ["Columns", "Roles", "assign", "showable_names", "split_name"]

LONGEST_GROUP = 80  # characters of a group's name in a file that psycheck wrote itself
_NUMBERED = ("", "none")  # as an id: the rows are numbered

_SINGLE_ROLES = ("text", "id", "author", "time", "split")
# The options that name a column, and the role of the column.
_OPTION_OF_ROLE = {
    "text": "--text",
    "id": "--id",
    "author": "--author",
    "time": "--time",
    "split": "--split-column",
    "labels": "--label",
    "positive": "--positive",
    "groups": "--group",
}


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
    # A column may really be called "none".
    numbered = columns.id in _NUMBERED and columns.id not in table.columns
    single = _named_columns(table, columns, numbered=numbered)
    labels = _named_labels(table, columns.labels)
    groups = _named_groups(table, columns.groups)

    # What the user named is never guessed for another role.
    label_columns = [column for column, _ in labels]
    assigned = {*single.values(), *groups, *label_columns}
    notes = _guess_single_roles(
        table=table,
        single=single,
        assigned=assigned,
        numbered=numbered,
    )
    _refuse_text_in_two_roles(table, single, [*groups, *label_columns])

    if not groups:
        groups = guess_groups(table, assigned)
        assigned.update(groups)
        notes += [f"Guessed that column '{column}' holds groups." for column in groups]
    if not labels:
        labels, label_notes = _guessed_labels(table, assigned)
        notes += label_notes

    plain = {role: column for role, column in single.items() if role not in ("text", "id")}
    return Roles(
        text=single["text"],
        id=single.get("id"),
        labels=tuple(labels),
        plain=plain,
        groups=tuple(groups),
        notes=tuple(notes),
    )


def _named_columns(table: Table, columns: Columns, *, numbered: bool) -> dict[str, str]:
    """The column of each role that the user named and that has one column."""
    named: dict[str, str] = {}
    for role in _SINGLE_ROLES:
        column = getattr(columns, role)
        if column is None or (role == "id" and numbered):
            continue
        named[role] = _existing(table, column)
    return named


def _named_labels(table: Table, labels: Sequence[str]) -> list[tuple[str, str]]:
    """The (column, name) pairs of the labels that the user named, or that the file itself marks."""
    # A corpus that psycheck wrote marks its labels in the column names.
    chosen = labels or [column for column in table.columns if column.startswith(LABEL)]
    return [_column_and_name(table, label) for label in chosen]


def _named_groups(table: Table, groups: Sequence[str]) -> list[str]:
    if groups:
        return [_existing(table, column) for column in groups]

    marked_groups = []
    for column, cells in table.columns.items():
        if not column.startswith(GROUP):
            continue
        # A group with long names was written by us, but is not read back.
        has_prose = first_prose(map(str, cells), LONGEST_GROUP) is not None
        if not has_prose:
            marked_groups.append(column)
    return marked_groups


def _guess_single_roles(
    table: Table,
    single: dict[str, str],
    assigned: set[str],
    *,
    numbered: bool,
) -> list[str]:
    """Add the guessed columns to `single` and `assigned`, and return notes about them."""
    notes: list[str] = []
    for role, guess in GUESSES.items():
        if role in single:
            continue
        if role == "id" and numbered:
            notes.append("The ids are row numbers from 1.")
            continue

        column = guess.column(table, assigned)
        if column is not None:
            single[role] = column
            assigned.add(column)
            notes.append(f"Guessed that column '{column}' holds {guess.content}.")
        elif role == "id":
            notes.append("The ids are row numbers from 1, because no column holds ids.")
    return notes


def _refuse_text_in_two_roles(table: Table, single: Mapping[str, str], several: Sequence[str]) -> None:
    other_columns = [column for role, column in single.items() if role != "text"]
    if single["text"] in (*other_columns, *several):
        raise bad_file(
            path=table.path,
            what=f"column '{single['text']}' is named as the text column and for another role",
            code="columns.two-roles",
            do="name a different column for each role",
        )


def _guessed_labels(table: Table, assigned: set[str]) -> tuple[list[tuple[str, str]], list[str]]:
    # A list of labels per row is common in JSON lines; without a note, users wonder where the label is.
    nested = [column for column, cells in table.columns.items() if holds_several_values(cells)]
    names_of_labels = words()["label"]
    not_single = (*nested, *table.unread)
    unusable = [column for column in not_single if column.casefold() in names_of_labels]
    notes = [f"Column '{column}' holds several values per row, so it is not a label." for column in unusable]

    guessed = guess_labels(table, assigned)
    if guessed:
        notes.append(f"Guessed that the labels are {', '.join(map(repr, guessed))}.")
    else:
        notes.append("No column looks like a label.")
    return [(column, column) for column in guessed], notes


def _existing(table: Table, column: str) -> str:
    """The column, which must be one of the table that holds single values."""
    if column in table.columns:
        return column

    if column in table.unread:
        raise bad_file(
            path=table.path,
            what=f"column '{column}' holds {table.unread[column]}, not single values",
            code="columns.not-single-values",
            allowed=nearest(column, showable_names(table.columns)),
        )
    raise bad_file(
        path=table.path,
        what=f"there is no column '{column}'",
        code="columns.unknown-column",
        allowed=nearest(column, showable_names([*table.columns, *table.unread])),
    )


def _column_and_name(table: Table, label: str) -> tuple[str, str]:
    """The column and the name of a label: "column", "column=name", "column=name@level" or "column=*"."""
    # A column may have "=" in its name, and then it is not renamed.
    if label in table.columns or "=" not in label:
        return _label_column(table, label), label.removeprefix(LABEL) or label

    column, _, name = label.rpartition("=")
    if not name:
        raise BadInput(
            f"label '{label}' has no name",
            code="columns.label-without-name",
            allowed="column, column=name, column=name@level or column=*",
        )
    return _label_column(table, column), name


def _label_column(table: Table, name: str) -> str:
    """The column of a label, which psycheck writes as `label:NAME` if the name would not be guessed."""
    written_name = LABEL + name
    if name not in table.columns and written_name in table.columns:
        return written_name
    return _existing(table, name)


# A corpus as a user names it ------------------------------------------------------------------------------


def source_of(
    path: str,
    columns: Columns,
    *,
    split: str | None = None,
    format: str | None = None,
) -> CorpusSource:
    """Where a corpus was read from, with the columns that the user named."""
    by_role = {role: getattr(columns, role) for role in _OPTION_OF_ROLE}
    named = {role: names for role, names in by_role.items() if names not in (None, ())}
    return CorpusSource(
        path=path,
        columns=named,
        split=split,
        format=format,
    )


def columns_of(source: CorpusSource) -> Columns:
    """The columns that the user named when a corpus was read."""
    named: dict[str, Any] = dict(source.columns)
    return Columns(**named)


def options_of(columns: Columns) -> str:
    """The options that name these columns, as they are typed."""
    return _typed_columns(source_of("", columns).columns)


def as_typed(source: CorpusSource) -> str:
    """A corpus as it is typed after a verb: its path and the options it was opened with."""
    parts = [shlex.quote(source.path), _typed_columns(source.columns)]
    if source.split:
        parts.append(f"--split {shlex.quote(source.split)}")
    return " ".join(part for part in parts if part)


def _typed_columns(columns: Mapping[str, str | tuple[str, ...]]) -> str:
    typed = []
    for role, option in _OPTION_OF_ROLE.items():
        named = columns.get(role, ())
        names = (named,) if isinstance(named, str) else named
        typed += [f"{option} {shlex.quote(name)}" for name in names]
    return " ".join(typed)


def source_of_older_run(typed: str) -> CorpusSource:
    """The source of a corpus in a run.json of psycheck 0.1, which has only what a user types for it."""
    path, *words_of_options = shlex.split(typed)
    # Every option of that time has one value, so options and values alternate.
    options = words_of_options[::2]
    values = words_of_options[1::2]
    pairs = list(zip(options, values, strict=True))

    columns: dict[str, str | tuple[str, ...]] = {}
    for role, option in _OPTION_OF_ROLE.items():
        names = tuple(name for typed_option, name in pairs if typed_option == option)
        if names:
            columns[role] = names[0] if role in _SINGLE_ROLES else names
    return CorpusSource(
        path=path,
        columns=columns,
        split=dict(pairs).get("--split"),
    )


def without_options(typed: str, options: Iterable[str]) -> str:
    """A typed corpus without some options and their values, for a verb that does not have them."""
    dropped = set(options)
    remaining: list[str] = []
    previous_word = ""
    for word in shlex.split(typed):
        if word not in dropped and previous_word not in dropped:
            remaining.append(word)
        previous_word = word
    return shlex.join(remaining)
