"""Read a corpus from a file or a folder, or say in one error what is wrong with it and where."""

import math
from collections.abc import Sequence
from dataclasses import replace
from datetime import date, datetime, time
from decimal import Decimal
from pathlib import Path

from psycheck.corpora.columns import LONGEST_GROUP, Columns, Roles, assign, split_name
from psycheck.corpora.labels import EVERY, read_label, shown
from psycheck.corpora.tables import Table, read_table, stem
from psycheck.corpus import GROUP, Corpus
from psycheck.errors import BadInput

__all__ = ["Columns", "read_corpus"]

EMPTY = "empty text"
_GUESS_ALL = Columns()
_MOST_SPLITS = 50
_OTHER_IDS = "mend it, name another id column (--id COLUMN), or number the rows (--id none)"


def read_corpus(
    path: str | Path,
    columns: Columns = _GUESS_ALL,
    *,
    name: str | None = None,
    split: str | None = None,
    format: str | None = None,
) -> Corpus:
    """Read CSV, TSV, JSON lines (each also .gz or .zst), Parquet, or a folder saved by Hugging Face datasets.

    `split` keeps the texts of one split; `format` overrides what the file's name says.
    """
    path = Path(path)
    table = read_table(path, format)
    roles = assign(table, columns)
    labels, label_notes = _labels(table, roles, columns.positive)
    splits, split_notes = _splits(table, roles.plain.get("split"))
    corpus = Corpus.of(
        name or stem(path),
        _texts(table, roles.text),
        ids=_ids(table, roles.id),
        labels=labels,
        author=_strings(table, roles.plain.get("author")),
        time=_strings(table, roles.plain.get("time")),
        split=splits,
        groups={group.removeprefix(GROUP) or group: _groups(table, group) for group in roles.groups},
    )
    if split is not None:
        corpus = corpus.part(split_name(split))
    blank = corpus.table["text"].str.strip_chars() == ""
    if blank.all():
        raise BadInput(
            "every text is empty", where=f"{path}, column '{roles.text}'", do="name another column: --text"
        )
    left_out = {EMPTY: int(blank.sum())} if blank.any() else {}
    notes = (*table.notes, *roles.notes, *label_notes, *split_notes)
    return replace(corpus, table=corpus.table.filter(~blank), left_out=left_out, notes=notes)


def _texts(table: Table, column: str) -> list[str]:
    """The texts; one that is absent is as good as empty."""
    out = []
    for index, cell in enumerate(table.columns[column]):
        if cell is not None and not isinstance(cell, str):
            raise BadInput(
                f"the text column holds a value of type {type(cell).__name__}, not a text",
                where=table.where(index, column),
                do="name the column of the texts: --text",
            )
        out.append(cell or "")
    return out


def _ids(table: Table, column: str | None) -> list[str] | None:
    if column is None:
        return None
    first: dict[str, int] = {}
    for index, cell in enumerate(_cells(table, column)):
        if cell is None:
            raise BadInput(
                "the id is empty", where=table.where(index, column), allowed="one id a text", do=_OTHER_IDS
            )
        if cell in first:
            raise BadInput(
                f"id {shown(cell) or f'of {len(cell)} characters'} stands twice: "
                f"in {_row(table, first[cell])} and in {_row(table, index)}",
                where=table.where(index, column),
                allowed="one id a text",
                do=_OTHER_IDS,
            )
        first[cell] = index
    return list(first)


def _row(table: Table, index: int) -> str:
    return table.where(index).removeprefix(str(table.path)).lstrip(", /")


def _labels(
    table: Table, roles: Roles, positive: Sequence[str]
) -> tuple[dict[str, list[float | None]], list[str]]:
    out: dict[str, list[float | None]] = {}
    notes: list[str] = []
    unused = set(positive)
    held: list[str] = []
    for column, name in roles.labels:
        read = read_label(table, column, name, positive)
        for label, marks in read.marks.items():
            if label in out:
                raise BadInput(
                    f"two labels are called '{label}'",
                    where=str(table.path),
                    do="rename one of them: --label column=name"
                    if name != EVERY
                    else "rename the other label",
                )
            out[label] = marks
        notes.extend(read.notes)
        unused -= read.positive
        held.append(f"column '{column}' holds {read.holds}")
    if unused:
        raise BadInput(
            f"no label column holds {', '.join(map(repr, sorted(unused)))}, which was to mean 1",
            where=str(table.path),
            allowed="; ".join(held) or "a corpus with a label column",
            do="name values as they stand in the file; corpora that differ each have their own in a plan",
        )
    return out, notes


def _splits(table: Table, column: str | None) -> tuple[list[str | None] | None, list[str]]:
    """The split of each text under the names that psycheck uses, and what was renamed."""
    if column is None:
        return None, []
    cells = _cells(table, column)
    found = sorted({cell for cell in cells if cell is not None})
    if len(found) > _MOST_SPLITS or not all(shown(value) for value in found):
        raise BadInput(
            f"the split column holds {len(found)} different values, or long ones",
            where=f"{table.path}, column '{column}'",
            allowed=f"at most {_MOST_SPLITS} short names, such as train, dev and test",
        )
    renamed = {value: split_name(value) for value in found}
    notes = [f"Split '{old}' is read as '{new}'." for old, new in renamed.items() if new != old]
    return [None if cell is None else renamed[cell] for cell in cells], notes


def _groups(table: Table, column: str) -> list[str | None]:
    cells = _cells(table, column)
    for index, cell in enumerate(cells):
        if cell is not None and len(cell) > LONGEST_GROUP:
            raise BadInput(
                f"the group has a name of more than {LONGEST_GROUP} characters",
                where=table.where(index, column),
                do="name a column that holds short names of groups",
            )
    return cells


def _strings(table: Table, column: str | None) -> list[str | None] | None:
    return None if column is None else _cells(table, column)


def _cells(table: Table, column: str) -> list[str | None]:
    """A column as strings, the same whatever format it came from; None where it is empty."""
    return [_string(table, column, index, cell) for index, cell in enumerate(table.columns[column])]


def _string(table: Table, column: str, index: int, cell: object) -> str | None:
    if isinstance(cell, str):
        return cell if cell.strip() else None
    if cell is None or (isinstance(cell, float) and math.isnan(cell)):
        return None
    if isinstance(cell, bool):
        return str(cell).lower()
    if isinstance(cell, float) and cell.is_integer():
        return str(int(cell))
    if isinstance(cell, int | float | Decimal):
        return str(cell)
    if isinstance(cell, datetime | date | time):
        return cell.isoformat()
    raise BadInput(
        f"the cell holds a {type(cell).__name__}, not one value",
        where=table.where(index, column),
        do="name a column that holds single values",
    )
