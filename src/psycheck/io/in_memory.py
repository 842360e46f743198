"""Frames, datasets and sequences of strings as tables.

pandas and Hugging Face `datasets` are recognised by the module of their classes and never imported.
"""

import math
from collections.abc import Iterator, Mapping, Sequence
from datetime import date, time
from decimal import Decimal
from pathlib import Path
from typing import Any

import polars as pl

from psycheck.core.errors import BadInput
from psycheck.io.frames import frame_table, joined_splits, with_class_names
from psycheck.io.streams import bad_file
from psycheck.io.tables import Table

_ALLOWED = (
    "a path, a pandas or polars DataFrame, a Hugging Face Dataset or DatasetDict, a list of records,"
    " a mapping of columns, a sequence of strings, or a psycheck.Corpus"
)
_SINGLE_VALUES = (str, int, float, Decimal, date, time)


def table_of(source: Any) -> Table:
    """Turn an object in memory into a table; an error names its type, never its content."""
    table = _read(source)
    if not table.columns or not len(table):
        raise bad_file(
            path=table.path,
            what="there are no rows to read",
            code="table.no-rows",
            do="pass at least one text",
        )
    return table


def _read(source: Any) -> Table:
    if isinstance(source, pl.LazyFrame):
        return frame_table(Path("frame"), source.collect())
    if isinstance(source, pl.DataFrame):
        return frame_table(Path("frame"), source)
    if _is_a(source, "pandas", "DataFrame"):
        return _pandas_table(source)
    if _is_a(source, "pyarrow", "Table"):
        return frame_table(Path("frame"), pl.DataFrame(source))
    if isinstance(source, Iterator):
        return _read(list(source))
    if is_dataset_dict(source):
        frames = {split: _dataset_frame(dataset) for split, dataset in source.items()}
        return joined_splits(Path("dataset"), frames)
    if _is_a(source, "datasets", "Dataset"):
        return frame_table(Path("dataset"), _dataset_frame(source))
    if _is_a(source, "datasets", "IterableDataset"):
        return _records_table(list(source))
    if isinstance(source, Mapping):
        return _columns_table(source)
    if _holds_records(source):
        return _records_table(source)
    return _texts_table(source)


def is_dataset_dict(source: object) -> bool:
    """Whether an object is a Hugging Face DatasetDict, which is a mapping of splits."""
    return _is_a(source, "datasets", "DatasetDict") or _is_a(source, "datasets", "IterableDatasetDict")


def _is_a(source: object, package: str, name: str) -> bool:
    """Whether an object is of a class of this name that a package defines, or of one derived from it."""
    for kind in type(source).__mro__:
        top_package = kind.__module__.split(".")[0]
        if kind.__name__ == name and top_package == package:
            return True
    return False


def _dataset_frame(dataset: Any) -> pl.DataFrame:
    """One dataset with its selection applied and class numbers replaced by their names."""
    # The slice applies the selection: the underlying table still holds the rows that were filtered out.
    frame = pl.DataFrame(dataset.with_format("arrow")[:])
    return with_class_names(frame, {"features": dataset.features.to_dict()})


def _pandas_table(frame: Any) -> Table:
    path = Path("frame")
    names = [str(name) for name in frame.columns]
    if len(set(names)) < len(names):
        raise bad_file(
            path=path,
            what="two columns have the same name",
            code="table.repeated-column",
            do="rename one of them",
        )

    columns: dict[str, list[object]] = {}
    for position, name in enumerate(names):
        # By position: pandas allows names that are not strings.
        # As objects, because only they can hold None in place of NaN, NaT and pandas.NA.
        series = frame.iloc[:, position].astype(object)
        columns[name] = series.where(series.notna(), None).tolist()
    return _table_of_cells(path, columns)


def _table_of_cells(path: Path, cells_by_column: Mapping[str, Sequence[object]]) -> Table:
    """The table of columns of Python values; a column with other objects in it is not read."""
    columns: dict[str, list[object]] = {}
    unread: dict[str, str] = {}
    for name, cells in cells_by_column.items():
        plain_cells = [_plain(cell) for cell in cells]
        if all(cell is None or isinstance(cell, _SINGLE_VALUES) for cell in plain_cells):
            columns[name] = plain_cells
        else:
            unread[name] = "objects"
    return Table(
        path=path,
        columns=columns,
        unread=unread,
    )


def _columns_table(source: Mapping[Any, Any]) -> Table:
    """The table of a mapping from column names to their cells."""
    path = Path("columns")
    columns: dict[str, Sequence[object]] = {}
    for name, cells in source.items():
        listed = _listed(cells)
        if listed is None:
            raise bad_file(
                path=path,
                what=f"a column holds an object of type {type(cells).__name__}, not a list of cells",
                code="table.not-a-column",
                allowed="a list, an array or a series for each column",
            )
        columns[str(name)] = listed

    lengths = {len(cells) for cells in columns.values()}
    if len(lengths) > 1:
        raise bad_file(
            path=path,
            what=f"the columns have different lengths: from {min(lengths):,} to {max(lengths):,} cells",
            code="table.unequal-columns",
            do="give each column one cell per text",
        )
    return _table_of_cells(path, columns)


def _holds_records(source: object) -> bool:
    if not isinstance(source, list | tuple) or not source:
        return False
    return all(isinstance(record, Mapping) for record in source)


def _records_table(records: Sequence[Mapping[Any, Any]]) -> Table:
    """The table of a list of records; a key that a record leaves out is None."""
    names: dict[str, None] = {}
    for record in records:
        names.update(dict.fromkeys(map(str, record)))
    columns = {name: [record.get(name) for record in records] for name in names}
    return _table_of_cells(Path("records"), columns)


def _texts_table(source: Any) -> Table:
    cells = _listed(source)
    if cells is None:
        raise BadInput(
            f"expected a corpus, got an object of type {type(source).__name__}",
            code="corpus.wrong-type",
            allowed=_ALLOWED,
        )

    texts = [_plain(cell) for cell in cells]
    for row, text in enumerate(texts, start=1):
        if text is not None and not isinstance(text, str):
            raise BadInput(
                what=f"expected a string, got an object of type {type(text).__name__}",
                code="corpus.not-a-string",
                where=f"texts, row {row}",
                allowed=_ALLOWED,
            )
    return Table(Path("texts"), {"text": texts})


def _listed(source: Any) -> list[object] | None:
    """The entries of a sequence, or of a series or array; None for anything else."""
    # A mapping of texts has keys that somebody wants to keep, and a string would be cut into letters.
    if isinstance(source, Mapping):
        return None
    if isinstance(source, Sequence) and not isinstance(source, str | bytes):
        return list(source)

    as_list = getattr(source, "to_list", None) or getattr(source, "tolist", None)
    entries = as_list() if as_list is not None else None
    return entries if isinstance(entries, list) else None


def _plain(cell: Any) -> object:
    """A cell as a Python value: NumPy scalars unpacked, NaN and NaT as None."""
    is_numpy_scalar = type(cell).__module__ == "numpy" and getattr(cell, "ndim", 1) == 0
    if is_numpy_scalar and hasattr(cell, "item"):
        cell = cell.item()

    is_nan = isinstance(cell, float) and math.isnan(cell)
    return None if is_nan else cell
