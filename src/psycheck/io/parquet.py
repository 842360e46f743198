"""Parquet files: whole, in pieces, row by row, and written."""

import json
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import polars as pl

from psycheck.core.errors import check_columns, check_size
from psycheck.io.frames import UNREADABLE, frame_table, unread_columns, with_class_names
from psycheck.io.streams import bad_file
from psycheck.io.tables import Table

PIECE = 20_000  # rows in memory at a time; a piece decodes whole pages again, so it is a large one
_BATCH = 4_096  # rows of a few columns that are decoded at a time
_CELL = 8  # bytes of memory that a cell takes at least


def read_parquet(path: Path) -> Table:
    """Read the columns of a Parquet file that hold single values."""
    with _reading(path):
        schema = pl.read_parquet_schema(path)
        columns = _single_value_columns(path, schema)
        # The rows are counted before they are read: a small file can hold billions of nulls.
        rows = _row_count(pl.scan_parquet(path))
        check_size(_CELL * rows * len(columns), str(path))

        frame = pl.read_parquet(path, columns=columns)
        # Hugging Face datasets writes the names of classes into the file's metadata.
        metadata = pl.read_parquet_metadata(path)
        dataset_info = json.loads(metadata.get("huggingface", "{}")).get("info")

    named = with_class_names(frame, dataset_info)
    return frame_table(path, named, unread=unread_columns(schema))


def parquet_pieces(path: Path) -> Iterator[Table]:
    """The same in pieces of at most `PIECE` rows, of which one is in memory at a time."""
    with _reading(path):
        schema = pl.read_parquet_schema(path)
        columns = _single_value_columns(path, schema)
        scan = pl.scan_parquet(path).select(columns)
        rows = _row_count(scan) if columns else 0

    unread = unread_columns(schema)
    # A file without rows is one empty piece, which tells its columns.
    for start in range(0, max(rows, 1), PIECE):
        with _reading(path):
            frame = scan.slice(start, PIECE).collect()
        yield frame_table(
            path=path,
            frame=frame,
            unread=unread,
            before=start,
        )


def _single_value_columns(path: Path, schema: Mapping[str, pl.DataType]) -> list[str]:
    unread = unread_columns(schema)
    columns = [name for name in schema if name not in unread]
    check_columns(len(columns), str(path))
    return columns


def _row_count(scan: pl.LazyFrame) -> int:
    count: int = scan.select(pl.len()).collect().item()
    return count


def parquet_column_names(path: Path) -> list[str]:
    """The names of all columns, also of those that hold bytes or lists."""
    names = list(pl.read_parquet_schema(path))
    check_columns(len(names), str(path))
    return names


def parquet_rows(path: Path, columns: Sequence[str]) -> Iterator[Mapping[str, Any]]:
    """The rows of these columns; the others are not decoded."""
    scan = pl.scan_parquet(path).select(columns)
    count = _row_count(scan)
    check_size(_CELL * count * len(columns), str(path))
    for start in range(0, count, _BATCH):
        batch = scan.slice(start, _BATCH).collect()
        yield from batch.iter_rows(named=True)


def write_parquet(frame: pl.DataFrame, path: Path) -> None:
    """Write a frame as Parquet."""
    frame.write_parquet(path)


@contextmanager
def _reading(path: Path) -> Iterator[None]:
    """Turn what Polars says of a file that it cannot read into one error."""
    try:
        yield
    except UNREADABLE as error:
        # The words of Polars are not shown: they may hold part of the content.
        with path.open("rb") as file:
            begins_like_parquet = file.read(4) == b"PAR1"

        problem = "is not a Parquet file"
        code = "parquet.other-content"
        if begins_like_parquet:
            problem = "is damaged or truncated"
            code = "parquet.damaged"
        raise bad_file(
            path=path,
            what=f"the file {problem} ({type(error).__name__})",
            code=code,
            do="save it again, or give it the extension of its actual format",
        ) from None
