"""Read a corpus from a file or a folder, or raise one error that says what is wrong and where."""

import math
from collections.abc import Sequence
from dataclasses import replace
from datetime import date, time
from decimal import Decimal
from os import PathLike
from pathlib import Path
from typing import Any

from psycheck.corpora.arrow import table_of
from psycheck.corpora.columns import LONGEST_GROUP, Columns, Roles, assign, showable_names, split_name
from psycheck.corpora.labels import EVERY, first_prose, quoted, read_label
from psycheck.corpora.tables import Table, read_table, stem
from psycheck.corpus import GROUP, Corpus
from psycheck.errors import BadInput, counted
from psycheck.files.streams import bad_file

__all__ = ["Columns", "read_corpus"]

EMPTY = "empty text"
_GUESS_ALL = Columns()
_MOST_SPLITS = 50
_MOST_NAMED = 20
_OTHER_IDS = "correct it, name another id column (`id=COLUMN`), or number the rows (`id=none`)"


def read_corpus(
    source: Any,
    columns: Columns = _GUESS_ALL,
    *,
    name: str | None = None,
    split: str | None = None,
    format: str | None = None,
) -> Corpus:
    """Read CSV, TSV, JSON lines (each also .gz or .zst), Parquet, or a folder saved by Hugging Face datasets.

    `source` is a path, or what `arrow.table_of` takes: a pandas or polars frame, a Hugging Face dataset or a
    sequence of strings. `split` keeps one split; `format` overrides the extension of the file name.
    """
    is_path = isinstance(source, str | PathLike)
    table = read_table(Path(source), format) if is_path else table_of(source)
    roles = assign(table, columns)
    labels, label_notes = _labels(table, roles, columns.positive)
    splits, split_notes = _splits(table, roles.plain.get("split"))
    ids = _ids(table, roles.id)
    corpus = Corpus.of(
        name or stem(table.path),
        texts_of(table, roles.text),
        ids=ids,
        labels=labels,
        author=cells_of(table, roles.plain.get("author")),
        time=cells_of(table, roles.plain.get("time")),
        split=splits,
        groups={group.removeprefix(GROUP) or group: _groups(table, group) for group in roles.groups},
    )
    hidden = sum(map(str.__ne__, corpus.ids, ids or corpus.ids))
    shown_as = "may be what people wrote: shown as digests ('id-…')."
    id_notes = [f"{counted(hidden, 'id')} in column '{roles.id}' {shown_as}"] if hidden else []
    if split is not None:
        corpus = corpus.part(split_name(split))
    corpus = without_blank(corpus)
    if not len(corpus):
        what = "every text is empty"
        do = "name another text column (`text`)"
        raise BadInput(what, where=f"{table.path}, column '{roles.text}'", do=do)
    return replace(corpus, notes=(*table.notes, *roles.notes, *id_notes, *label_notes, *split_notes))


def without_blank(corpus: Corpus) -> Corpus:
    """The corpus without its blank texts, which are counted."""
    return corpus.only((corpus.table["text"].str.strip_chars() != "").to_list(), EMPTY)


def unread_columns(path: str | Path, columns: Columns) -> tuple[str, ...]:
    """The columns of a file that the corpus read from it does not hold, in their order."""
    table = read_table(Path(path))
    roles = assign(table, columns)
    taken = {roles.text, roles.id, *roles.plain.values(), *roles.groups, *(name for name, _ in roles.labels)}
    return tuple(name for name in (*table.columns, *table.unread) if name not in taken)


def unread_note(columns: Sequence[str]) -> str:
    """Report which columns of a file are not written again, and how to keep them."""
    names = [f"'{name}'" for name in showable_names(columns)[:_MOST_NAMED]]
    if others := len(columns) - len(names):
        names.append(counted(others, "other") if names else "with long names")
    verb = "is" if len(columns) == 1 else "are"
    return (
        f"{counted(len(columns), 'column')} of the file {verb} not read, and not written: {', '.join(names)}"
        " (keep a column with `labels` or `groups`)"
    )


def _refused(what: str, table: Table, index: int, column: str, do: str, allowed: str = "") -> BadInput:
    return BadInput(what, where=table.where(index, column), allowed=allowed, do=do)


def texts_of(table: Table, column: str) -> list[str]:
    """The texts; a missing one counts as empty."""
    out = []
    for index, cell in enumerate(table.columns[column]):
        if cell is not None and not isinstance(cell, str):
            what = f"the text column holds a value of type {type(cell).__name__}, not a string"
            raise _refused(what, table, index, column, "name the text column (`text`)")
        out.append(cell or "")
    return out


def _ids(table: Table, column: str | None) -> list[str] | None:
    first: dict[str, int] = {}
    for index, cell in enumerate(cells_of(table, column) or ()):
        if cell is not None and cell not in first:
            first[cell] = index
            continue
        what = "the id is empty"
        if cell is not None:
            rows = [
                table.where(row).removeprefix(str(table.path)).lstrip(", /") for row in (first[cell], index)
            ]
            what = f"id {quoted(cell).removeprefix('a value ')} occurs twice: in {' and in '.join(rows)}"
        raise _refused(what, table, index, column or "", _OTHER_IDS, "one id per text")
    return None if column is None else list(first)


def _labels(
    table: Table, roles: Roles, positive: Sequence[str]
) -> tuple[dict[str, list[float | None]], list[str]]:
    out: dict[str, list[float | None]] = {}
    notes: list[str] = []
    unused = set(positive)
    held: list[str] = []
    for column, name in roles.labels:
        read = read_label(table, column, name, positive)
        if twice := [label for label in read.marks if label in out]:
            do = "rename the other label" if name == EVERY else "rename one of them (`labels=COLUMN=NAME`)"
            raise bad_file(table.path, f"two labels are called '{twice[0]}'", do=do)
        out |= read.marks
        notes.extend(read.notes)
        unused -= read.positive
        held.append(f"column '{column}' holds {read.holds}")
    if unused:
        what = f"positive value not found in any label column: {', '.join(map(repr, sorted(unused)))}"
        do = "write values as in the file (`positive`); a plan file can set them for each corpus"
        raise bad_file(table.path, what, do=do, allowed="; ".join(held) or "a corpus with a label column")
    return out, notes


def _splits(table: Table, column: str | None) -> tuple[list[str | None] | None, list[str]]:
    """The split of each text under the names that psycheck uses, and what was renamed."""
    cells = cells_of(table, column)
    if cells is None:
        return None, []
    found = sorted({cell for cell in cells if cell is not None})
    if len(found) > _MOST_SPLITS or first_prose(cells) is not None:
        what = f"the split column holds {len(found)} different values, or long ones"
        allowed = f"at most {_MOST_SPLITS} short names, such as train, dev and test"
        raise BadInput(what, where=f"{table.path}, column '{column}'", allowed=allowed)
    renamed = {value: split_name(value) for value in found}
    notes = [f"Split '{old}' is read as '{new}'." for old, new in renamed.items() if new != old]
    return [None if cell is None else renamed[cell] for cell in cells], notes


def _groups(table: Table, column: str) -> list[str | None]:
    cells = cells_of(table, column) or []
    if (index := first_prose(cells, LONGEST_GROUP)) is not None:
        what = f"the group is {quoted(cells[index] or '')}, which does not look like a name"
        raise _refused(what, table, index, column, "name a group column with short names")
    return cells


def cells_of(table: Table, column: str | None) -> list[str | None] | None:
    """A column as strings, the same whatever format it came from; None where it is empty."""
    if column is None:
        return None
    out: list[str | None] = []
    for index, cell in enumerate(table.columns[column]):
        if isinstance(cell, str):
            out.append(cell if cell.strip() else None)
        elif cell is None or (isinstance(cell, float) and math.isnan(cell)):
            out.append(None)
        elif isinstance(cell, bool):
            out.append(str(cell).lower())
        elif isinstance(cell, int | float | Decimal):
            out.append(str(int(cell) if isinstance(cell, float) and cell.is_integer() else cell))
        elif isinstance(cell, date | time):
            out.append(cell.isoformat())
        else:
            what = f"the cell holds a {type(cell).__name__}, not a single value"
            raise _refused(what, table, index, column, "name a column that holds single values")
    return out
