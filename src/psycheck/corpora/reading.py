"""Read a corpus from a file or a folder, or raise one error that says what is wrong and where."""

import math
from collections.abc import Sequence
from dataclasses import replace
from datetime import date, time
from decimal import Decimal
from os import PathLike
from pathlib import Path
from typing import Any

from psycheck.core.corpus import GROUP, Corpus
from psycheck.core.errors import BadInput, counted
from psycheck.corpora.columns import LONGEST_GROUP, Columns, Roles, assign, showable_names, split_name
from psycheck.corpora.label_values import first_prose, quoted
from psycheck.corpora.labels import EVERY, read_label
from psycheck.io.in_memory import table_of
from psycheck.io.streams import bad_file
from psycheck.io.tables import Table, read_table, stem

__all__ = ["Columns", "read_corpus"]

EMPTY = "empty text"
OTHER_IDS = "correct it, name another id column (`id=COLUMN`), or number the rows (`id=none`)"
_GUESS_ALL = Columns()
_MOST_SPLITS = 50  # different values of a split column; folds of a cross-validation are fewer
_MOST_NAMED = 20  # columns that a note lists by name


def read_corpus(
    source: Any,
    columns: Columns = _GUESS_ALL,
    *,
    name: str | None = None,
    split: str | None = None,
    format: str | None = None,
) -> Corpus:
    """Read CSV, TSV, JSON lines (each also .gz or .zst), Parquet, or a folder saved by Hugging Face datasets.

    `source` is a path, or what `in_memory.table_of` takes: a pandas or polars frame, a Hugging Face dataset
    or a sequence of strings. `split` keeps one split; `format` overrides the extension of the file name.
    """
    is_path = isinstance(source, str | PathLike)
    table = read_table(Path(source), format) if is_path else table_of(source)
    roles = assign(table, columns)

    labels, label_notes = _labels(table, roles, columns.positive)
    # Each reader checks its column and raises an error that names the row.
    splits, split_notes = _splits(table, roles.plain.get("split"))
    ids = _ids(table, roles.id)
    groups = {}
    for column in roles.groups:
        # A column called "group:" alone keeps its name.
        group = column.removeprefix(GROUP) or column
        groups[group] = _groups(table, column)

    corpus = Corpus.of(
        name=name or stem(table.path),
        texts=texts_of(table, roles.text),
        ids=ids,
        labels=labels,
        author=cells_of(table, roles.plain.get("author")),
        time=cells_of(table, roles.plain.get("time")),
        split=splits,
        groups=groups,
    )
    # Before rows are left out, while ids and rows still correspond.
    id_notes = _notes_on_hidden_ids(corpus, ids, roles.id)

    if split is not None:
        corpus = corpus.part(split_name(split))
    corpus = without_blank(corpus)
    if not len(corpus):
        raise BadInput(
            what="every text is empty",
            code="corpus.only-empty-texts",
            where=f"{table.path}, column '{roles.text}'",
            do="name another text column (`text`)",
        )

    notes = (*table.notes, *roles.notes, *id_notes, *label_notes, *split_notes)
    return replace(corpus, notes=notes)


def _notes_on_hidden_ids(corpus: Corpus, ids: Sequence[str] | None, column: str | None) -> list[str]:
    """A note if ids look like prose, and the corpus holds digests of them."""
    if ids is None:
        return []
    # `Corpus.of` replaces such ids, so those that differ from the file were hidden.
    hidden = sum(id_ != written for id_, written in zip(corpus.ids, ids, strict=True))
    if not hidden:
        return []
    ids_in_column = f"{counted(hidden, 'id')} in column '{column}'"
    return [f"{ids_in_column} may be what people wrote: shown as digests ('id-…')."]


def without_blank(corpus: Corpus) -> Corpus:
    """The corpus without its blank texts, which are counted."""
    has_text = corpus.table["text"].str.strip_chars() != ""
    return corpus.only(has_text.to_list(), EMPTY)


def unread_columns(path: str | Path, columns: Columns) -> tuple[str, ...]:
    """The columns of a file that the corpus read from it does not hold, in their order."""
    table = read_table(Path(path))
    roles = assign(table, columns)
    label_columns = [column for column, _ in roles.labels]
    read_columns = {
        roles.text,
        roles.id,
        *roles.plain.values(),
        *roles.groups,
        *label_columns,
    }
    all_columns = (*table.columns, *table.unread)
    return tuple(column for column in all_columns if column not in read_columns)


def unread_note(columns: Sequence[str]) -> str:
    """Report which columns of a file are not written again, and how to keep them."""
    names = [f"'{name}'" for name in showable_names(columns)[:_MOST_NAMED]]
    unnamed = len(columns) - len(names)
    if unnamed:
        names.append(counted(unnamed, "other") if names else "with long names")

    verb = "is" if len(columns) == 1 else "are"
    return (
        f"{counted(len(columns), 'column')} of the file {verb} not read, and not written: {', '.join(names)}"
        " (keep a column with `labels` or `groups`)"
    )


def texts_of(table: Table, column: str) -> list[str]:
    """The texts; a missing one counts as empty."""
    texts = []
    for index, cell in enumerate(table.columns[column]):
        if cell is not None and not isinstance(cell, str):
            raise BadInput(
                what=f"the text column holds a value of type {type(cell).__name__}, not a string",
                code="corpus.text-not-a-string",
                where=table.where(index, column),
                do="name the text column (`text`)",
            )
        texts.append(cell or "")
    return texts


def _ids(table: Table, column: str | None) -> list[str] | None:
    """The ids, each in one row only; None without an id column."""
    ids = cells_of(table, column)
    if column is None or ids is None:
        return None

    first_row: dict[str, int] = {}
    for index, id_ in enumerate(ids):
        if id_ is None:
            raise empty_id(table, index, column)
        if id_ in first_row:
            raise _repeated_id(
                table=table,
                id_=id_,
                rows=(first_row[id_], index),
                column=column,
            )
        first_row[id_] = index
    return list(first_row)


def empty_id(table: Table, index: int, column: str | None) -> BadInput:
    """The error for a row without an id."""
    return BadInput(
        what="the id is empty",
        code="corpus.empty-id",
        where=table.where(index, column),
        allowed="one id per text",
        do=OTHER_IDS,
    )


def _repeated_id(
    table: Table,
    id_: str,
    *,
    rows: tuple[int, int],
    column: str,
) -> BadInput:
    places = []
    for row in rows:
        # The path is named once, in `where`.
        place = table.where(row).removeprefix(str(table.path))
        places.append(place.lstrip(", /"))
    # An id that may be what someone wrote is not quoted: "id of 35 characters".
    id_in_message = quoted(id_).removeprefix("a value ")
    return BadInput(
        what=f"id {id_in_message} occurs twice: in {' and in '.join(places)}",
        code="corpus.duplicate-ids",
        where=table.where(rows[1], column),
        allowed="one id per text",
        do=OTHER_IDS,
    )


def _labels(
    table: Table, roles: Roles, positive: Sequence[str]
) -> tuple[dict[str, list[float | None]], list[str]]:
    """The annotations of each label, and notes about what was guessed."""
    marks_by_label: dict[str, list[float | None]] = {}
    notes: list[str] = []
    unmatched = set(positive)
    contents: list[str] = []

    for column, name in roles.labels:
        read = read_label(
            table=table,
            column=column,
            name=name,
            positive=positive,
        )
        repeated = [label for label in read.marks if label in marks_by_label]
        if repeated:
            do = "rename one of them (`labels=COLUMN=NAME`)"
            # The names of classes come from the cells, so only the other label can be renamed.
            if name == EVERY:
                do = "rename the other label"
            raise bad_file(
                path=table.path,
                what=f"two labels are called '{repeated[0]}'",
                code="corpus.repeated-label",
                do=do,
            )
        marks_by_label |= read.marks
        notes.extend(read.notes)
        unmatched -= read.positive
        contents.append(f"column '{column}' holds {read.holds}")

    # A positive value need not occur in each label column, but in one of them: otherwise it is misspelled.
    if unmatched:
        raise bad_file(
            path=table.path,
            what=f"positive value not found in any label column: {', '.join(map(repr, sorted(unmatched)))}",
            code="corpus.unknown-positive",
            do="write values as in the file (`positive`); a plan file can set them for each corpus",
            allowed="; ".join(contents) or "a corpus with a label column",
        )
    return marks_by_label, notes


def _splits(table: Table, column: str | None) -> tuple[list[str | None] | None, list[str]]:
    """The split of each text under the names that psycheck uses, and what was renamed."""
    cells = cells_of(table, column)
    if cells is None:
        return None, []

    values = sorted({cell for cell in cells if cell is not None})
    # A column of texts that was named by mistake would end up in messages and reports.
    if len(values) > _MOST_SPLITS or first_prose(cells) is not None:
        raise BadInput(
            what=f"the split column holds {len(values)} different values, or long ones",
            code="corpus.too-many-splits",
            where=f"{table.path}, column '{column}'",
            allowed=f"at most {_MOST_SPLITS} short names, such as train, dev and test",
        )

    names = {value: split_name(value) for value in values}
    renamed = {value: name for value, name in names.items() if name != value}
    notes = [f"Split '{value}' is read as '{name}'." for value, name in renamed.items()]
    splits = [None if cell is None else names[cell] for cell in cells]
    return splits, notes


def _groups(table: Table, column: str) -> list[str | None]:
    cells = cells_of(table, column) or []
    index = first_prose(cells, LONGEST_GROUP)
    if index is not None:
        raise BadInput(
            what=f"the group is {quoted(cells[index] or '')}, which does not look like a name",
            code="corpus.group-not-a-name",
            where=table.where(index, column),
            do="name a group column with short names",
        )
    return cells


def cells_of(table: Table, column: str | None) -> list[str | None] | None:
    """A column as strings, the same whatever format it came from; None where it is empty."""
    if column is None:
        return None

    strings: list[str | None] = []
    for index, cell in enumerate(table.columns[column]):
        # Strings are by far the most frequent: they come first.
        if isinstance(cell, str):
            strings.append(cell if cell.strip() else None)
        elif cell is None or isinstance(cell, int | float | Decimal | date | time):
            strings.append(_as_string(cell))
        else:
            raise BadInput(
                what=f"the cell holds a {type(cell).__name__}, not a single value",
                code="corpus.not-a-single-value",
                where=table.where(index, column),
                do="name a column that holds single values",
            )
    return strings


def _as_string(cell: float | Decimal | date | time | None) -> str | None:
    """A single value as CSV writes it: true, 3 for 3.0, 2020-01-31; None if it is missing."""
    if cell is None:
        return None
    if isinstance(cell, bool):
        return str(cell).lower()
    if isinstance(cell, date | time):
        return cell.isoformat()
    if isinstance(cell, float):
        if math.isnan(cell):
            return None
        # A column of integers with gaps comes as floats from pandas and Parquet.
        if cell.is_integer():
            return str(int(cell))
        return str(cell)
    return str(cell)
