"""The file formats that come with psycheck, and what a format of another package has to say of itself.

A package adds a format with one object and one entry point in its pyproject.toml:

    [project.entry-points."psycheck.formats"]
    feather = "my_package:FEATHER"

Every verb then reads files with its endings, and knows it by name (`--format feather`, plan key `format`).
"""

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from importlib import import_module
from pathlib import Path
from typing import TYPE_CHECKING, Any

from psycheck.io import text_files
from psycheck.io.tables import Table

if TYPE_CHECKING:
    import polars as pl

Row = Mapping[str, object]


@dataclass(frozen=True, slots=True, kw_only=True)
class Format:
    """One file format: how its files are recognised, read and written.

    name            the name in the registry
    title           how messages name it
    endings         what its files end in, in lower case: (".csv",); a folder has none
    read            a whole file as a table; raises BadInput with the place of what is wrong
    pieces          the same in tables of bounded size, for files that do not fit into the memory;
                    without it, the whole file is one piece
    column_names    the names of all columns, without keeping the rows; without it, those of the pieces
    rows            the rows of some columns, one at a time; without it, those of the pieces
    writers         how a corpus is written, by the ending of the file; empty if it cannot be written
    compressible    whether files may also end in .gz or .zst; `read` then gets the compressed file
    is_folder       whether it is a folder, not a file
    recognises      whether a folder is of this format; without it, a folder that no other format recognises
    has_nulls       whether an empty text and a missing one differ, as they do not in CSV
    often_mistaken  endings of files that look like this format but are not, and what to do about each
    """

    name: str
    title: str
    read: Callable[[Path], Table]
    endings: tuple[str, ...] = ()
    pieces: Callable[[Path], Iterator[Table]] | None = None
    column_names: Callable[[Path], list[str]] | None = None
    rows: Callable[[Path, Sequence[str]], Iterator[Row]] | None = None
    writers: Mapping[str, Callable[["pl.DataFrame", Path], None]] = field(default_factory=dict)
    compressible: bool = False
    is_folder: bool = False
    recognises: Callable[[Path], bool] | None = None
    has_nulls: bool = True
    often_mistaken: Mapping[str, str] = field(default_factory=dict)

    def described(self) -> str:
        """The format for a list of what is allowed: "JSON lines (.jsonl, .ndjson)"."""
        if not self.endings:
            return self.title
        return f"{self.title} ({', '.join(self.endings)})"

    def stream(self, path: Path) -> Iterator[Table]:
        """The table of a file in pieces."""
        if self.pieces is None:
            return iter([self.read(path)])
        return self.pieces(path)

    def columns_of(self, path: Path) -> list[str]:
        """The names of the columns of a file, in order; of JSON lines those of all lines."""
        if self.column_names is not None:
            return self.column_names(path)

        # A dictionary as an ordered set. A later piece may have further columns, as in JSON lines.
        names: dict[str, None] = {}
        for table in self.stream(path):
            names.update(dict.fromkeys(table.columns))
        return list(names)

    def rows_of(self, path: Path, columns: Sequence[str]) -> Iterator[Row]:
        """The rows of a file one by one, with at least these columns where the file has them."""
        if self.rows is not None:
            yield from self.rows(path, columns)
            return

        for table in self.stream(path):
            present = {name: cells for name, cells in table.columns.items() if name in columns}
            for index in range(len(table)):
                yield {name: cells[index] for name, cells in present.items()}


def _imported_later(module: str, function: str) -> Callable[..., Any]:
    """A function of a module that is imported when it is first called: Polars takes its time."""

    def call(*arguments: Any) -> Any:
        return getattr(import_module(module), function)(*arguments)

    return call


CSV = Format(
    name="csv",
    title="CSV",
    endings=(".csv",),
    read=text_files.read_csv,
    pieces=text_files.csv_pieces,
    column_names=text_files.csv_column_names,
    rows=text_files.csv_rows,
    writers={".csv": text_files.write_csv},
    compressible=True,
    has_nulls=False,
)

TSV = Format(
    name="tsv",
    title="TSV",
    endings=(".tsv",),
    read=text_files.read_tsv,
    pieces=text_files.tsv_pieces,
    column_names=text_files.tsv_column_names,
    rows=text_files.tsv_rows,
    compressible=True,
    has_nulls=False,
)

JSON_LINES = Format(
    name="jsonl",
    title="JSON lines",
    endings=(".jsonl", ".ndjson"),
    read=text_files.read_json_lines,
    pieces=text_files.json_line_pieces,
    column_names=text_files.json_line_column_names,
    rows=text_files.json_line_rows,
    writers={
        ".jsonl": text_files.write_json_lines,
        ".jsonl.zst": text_files.write_compressed_json_lines,
    },
    compressible=True,
)

JSON = Format(
    name="json",
    title="JSON",
    endings=(".json",),
    read=_imported_later("psycheck.io.json_file", "read_json_file"),
    compressible=True,
)

WORKBOOK = Format(
    name="excel",
    title="a workbook",
    endings=(".xlsx", ".xlsm", ".xls", ".ods"),
    read=_imported_later("psycheck.io.workbook", "read_workbook"),
)

ARCHIVE = Format(
    name="zip",
    title="a zip archive of one table",
    endings=(".zip",),
    read=_imported_later("psycheck.io.archive", "read_archive"),
)

ARROW = Format(
    name="arrow",
    title="Arrow",
    endings=(".arrow", ".feather", ".ipc"),
    read=_imported_later("psycheck.io.arrow_file", "read_arrow"),
)

PARQUET = Format(
    name="parquet",
    title="Parquet",
    endings=(".parquet",),
    read=_imported_later("psycheck.io.parquet", "read_parquet"),
    pieces=_imported_later("psycheck.io.parquet", "parquet_pieces"),
    column_names=_imported_later("psycheck.io.parquet", "parquet_column_names"),
    rows=_imported_later("psycheck.io.parquet", "parquet_rows"),
    writers={".parquet": _imported_later("psycheck.io.parquet", "write_parquet")},
)

SAVED_DATASET = Format(
    name="dataset",
    title="a saved dataset folder",
    read=_imported_later("psycheck.io.saved_dataset", "read_dataset_folder"),
    is_folder=True,
)

CLASS_FOLDERS = Format(
    name="classes",
    title="a folder of text files for each class",
    read=_imported_later("psycheck.io.class_folders", "read_class_folder"),
    is_folder=True,
    recognises=_imported_later("psycheck.io.class_folders", "is_class_folder"),
)
