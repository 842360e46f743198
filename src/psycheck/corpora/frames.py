"""Tables in memory: polars and pandas frames, Hugging Face datasets, and sequences of strings.

pandas and datasets are recognised by the module of their classes and never imported.
"""

import math
from collections.abc import Mapping, Sequence
from datetime import date, time
from decimal import Decimal
from pathlib import Path
from typing import Any

import polars as pl

from psycheck.corpora.arrow import DatasetPart, dataset_part, frame_table, join_splits
from psycheck.corpora.tables import Table
from psycheck.errors import BadInput

ALLOWED = (
    "a path, a pandas or polars DataFrame, a Hugging Face Dataset or DatasetDict, a sequence of strings,"
    " or a psycheck.Corpus"
)
_SINGLE = (str, int, float, Decimal, date, time)


def table_of(source: Any) -> Table:
    """Turn an object in memory into a table; an error names its type, never its content."""
    if isinstance(source, pl.LazyFrame):
        source = source.collect()
    if isinstance(source, pl.DataFrame):
        return _filled(frame_table(Path("frame"), source))
    if _is_a(source, "pandas", "DataFrame"):
        return _filled(_pandas_table(source))
    if _is_a(source, "datasets", "DatasetDict"):
        return _filled(join_splits(Path("dataset"), [_dataset(part, name) for name, part in source.items()]))
    if _is_a(source, "datasets", "Dataset"):
        part = _dataset(source)
        return _filled(frame_table(Path("dataset"), part.frame, part.unread))
    return _filled(_texts_table(source))


def _is_a(source: object, package: str, name: str) -> bool:
    return any(
        kind.__name__ == name and kind.__module__.split(".")[0] == package for kind in type(source).__mro__
    )


def _filled(table: Table) -> Table:
    if not table.columns or not len(table):
        raise BadInput("there are no rows to read", where=str(table.path), do="pass at least one text")
    return table


def _dataset(source: Any, split: str = "") -> DatasetPart:
    """One dataset with its selection applied and class numbers replaced by their names."""
    frame = pl.DataFrame(source.with_format("arrow")[:])
    return dataset_part(frame, {"features": source.features.to_dict()}, split)


def _pandas_table(frame: Any) -> Table:
    path, names = Path("frame"), [str(name) for name in frame.columns]
    if len(set(names)) < len(names):
        raise BadInput("two columns have the same name", where=str(path), do="rename one of them")
    columns: dict[str, list[object]] = {}
    unread: dict[str, str] = {}
    for at, name in enumerate(names):
        series = frame.iloc[:, at].astype(object)
        cells = [_plain(cell) for cell in series.where(series.notna(), None).tolist()]
        if all(cell is None or isinstance(cell, _SINGLE) for cell in cells):
            columns[name] = cells
        else:
            unread[name] = "objects"
    return Table(path, columns, unread=unread)


def _texts_table(source: Any) -> Table:
    listed = getattr(source, "to_list", None) or getattr(source, "tolist", None)
    if isinstance(source, Sequence) and not isinstance(source, str | bytes):
        cells = list(source)
    elif listed is not None:
        cells = listed()
    else:
        cells = None
    if isinstance(source, Mapping) or not isinstance(cells, list):
        raise BadInput(f"expected a corpus, got an object of type {type(source).__name__}", allowed=ALLOWED)
    texts = [_plain(cell) for cell in cells]
    for row, cell in enumerate(texts, start=1):
        if cell is not None and not isinstance(cell, str):
            raise BadInput(
                f"expected a string, got an object of type {type(cell).__name__}",
                where=f"texts, row {row}",
                allowed=ALLOWED,
            )
    return Table(Path("texts"), {"text": texts})


def _plain(cell: Any) -> object:
    """A cell as a Python value: NumPy scalars unpacked, NaN and NaT as None."""
    if type(cell).__module__ == "numpy" and hasattr(cell, "item") and getattr(cell, "ndim", 1) == 0:
        cell = cell.item()
    return None if isinstance(cell, float) and math.isnan(cell) else cell
