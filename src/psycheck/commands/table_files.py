"""Tables that a verb writes: CSV, TSV, JSONL or Parquet, by the ending of the file's name."""

from collections.abc import Callable, Iterable, Mapping
from pathlib import Path
from typing import Any

import polars as pl

from psycheck.core.errors import BadInput
from psycheck.core.finding import spreadsheet_safe
from psycheck.io.writing import refuse_overwriting, writing, written


def _with_safe_ids(table: pl.DataFrame) -> pl.DataFrame:
    """A table whose ids a spreadsheet does not run, such as "=1+1"."""
    if "id" not in table.columns:
        return table
    # Nothing is lost: `scores:FILE` finds texts by `text_hash`.
    return table.with_columns(pl.col("id").map_elements(spreadsheet_safe, pl.String))


_WRITERS: Mapping[str, Callable[[pl.DataFrame, Path], Any]] = {
    ".csv": lambda table, path: _with_safe_ids(table).write_csv(path),
    ".tsv": lambda table, path: _with_safe_ids(table).write_csv(path, separator="\t"),
    ".jsonl": lambda table, path: table.write_ndjson(path),
    ".parquet": lambda table, path: table.write_parquet(path),
}


def check_table_file(path: Path, inputs: Iterable[Path]) -> None:
    """Refuse, before any long work, a file that cannot be written or that is an input."""
    if path.suffix not in _WRITERS:
        raise BadInput(
            f"cannot write '{path.suffix}' files",
            code="table.unknown-ending",
            where=str(path),
            allowed=", ".join(sorted(_WRITERS)),
        )
    refuse_overwriting([path], inputs)


def write_table(table: pl.DataFrame, path: Path) -> None:
    """Write a table, whole or not at all."""
    # Again, for callers that did no long work before.
    check_table_file(path, ())
    with writing(path), written(path) as part:
        _WRITERS[path.suffix](table, part)
