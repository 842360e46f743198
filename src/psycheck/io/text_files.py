"""CSV, TSV and JSON lines: whole, in pieces, row by row, and written."""

import csv
import json
from array import array
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import replace
from functools import partial
from itertools import islice
from pathlib import Path
from typing import TYPE_CHECKING, Any

from zstandard import ZstdCompressor

from psycheck.core.errors import BadInput, check_columns
from psycheck.io.json_lines import json_values
from psycheck.io.rows import SEPARATORS, delimiter_of, separated_rows
from psycheck.io.streams import Lines, bad_file
from psycheck.io.tables import HOLDS_TEXTS, Table

if TYPE_CHECKING:
    import polars as pl

PIECE = 1_000  # rows of a file that are in memory at a time
_COMMA, _TAB = ",", "\t"
_UNQUOTED = "Quotation marks are read as part of the fields, because the file does not quote its fields."


# CSV and TSV ---------------------------------------------------------------------------------------------


def read_csv(path: Path) -> Table:
    """Read a whole CSV file."""
    return _read_separated(path, _COMMA, quoted=True)


def read_tsv(path: Path) -> Table:
    """Read a whole TSV file.

    Many TSV files quote nothing: a text that begins with a quotation mark is then not a quoted field.
    """
    try:
        return _read_separated(path, _TAB, quoted=True)
    except BadInput as error:
        try:
            table = _read_separated(path, _TAB, quoted=False)
        except BadInput:
            # Neither reading works: the first error is the one of a file that follows the standard.
            raise error from None
        return replace(table, notes=(*table.notes, _UNQUOTED))


def _separator(path: Path, usual: str) -> tuple[str, tuple[str, ...]]:
    """The delimiter of a file, and a note where it is not the usual one of its format."""
    delimiter = delimiter_of(Lines(path, row=0), usual)
    if delimiter == usual:
        return delimiter, ()
    return delimiter, (f"Guessed that {SEPARATORS[delimiter]} separate the fields.",)


def _read_separated(path: Path, usual: str, *, quoted: bool) -> Table:
    delimiter, notes = _separator(path, usual)
    lines = Lines(path, row=0)
    rows = separated_rows(lines, delimiter, quoted=quoted)
    # The first row is the header.
    names = next(rows, None)
    if names is None:
        raise _empty_file(path)
    table = _table_of_rows(
        path=path,
        names=names,
        rows=rows,
        lines=lines,
        before=0,
    )
    return replace(table, notes=(*notes, *lines.notes))


def _table_of_rows(
    path: Path,
    names: Sequence[str],
    rows: Iterator[list[str]],
    lines: Lines,
    *,
    before: int,
) -> Table:
    """The table of these rows, read to their end; `lines` tells where each of them starts."""
    # 8 bytes per line number, where a list of integers would take four times as much.
    cells_by_row: list[list[str]] = []
    starts = array("q")
    for row in rows:
        cells_by_row.append(row)
        starts.append(lines.start)

    # `zip` turns rows into columns; of no rows it would make no columns at all.
    columns: Mapping[str, Sequence[str]] = dict.fromkeys(names, ())
    if cells_by_row:
        cells_by_column = zip(*cells_by_row, strict=True)
        columns = dict(zip(names, cells_by_column, strict=True))
    return Table(
        path=path,
        columns=columns,
        lines=starts,
        before=before,
    )


def csv_pieces(path: Path) -> Iterator[Table]:
    """The pieces of a CSV file."""
    return _separated_pieces(path, _COMMA, quoted=True)


def tsv_pieces(path: Path) -> Iterator[Table]:
    """The pieces of a TSV file; one whose first piece is not quoted is read without quotes."""
    # The file is too large to be read twice: its first piece tells how the others are written.
    try:
        next(_separated_pieces(path, _TAB, quoted=True), None)
        quoted = True
    except BadInput:
        quoted = False
    return _separated_pieces(path, _TAB, quoted=quoted)


def _separated_pieces(path: Path, usual: str, *, quoted: bool) -> Iterator[Table]:
    delimiter, notes = _separator(path, usual)
    lines = Lines(path, row=0, whole_file=False)
    rows = separated_rows(lines, delimiter, quoted=quoted)
    names = next(rows, None)
    if names is None:
        raise _empty_file(path)

    # The first piece may have no rows: the caller refuses it, and can name the columns.
    piece = _table_of_rows(
        path=path,
        names=names,
        rows=islice(rows, PIECE),
        lines=lines,
        before=0,
    )
    yield replace(piece, notes=notes)
    while len(piece):
        before = piece.before + len(piece)
        piece = _table_of_rows(
            path=path,
            names=names,
            rows=islice(rows, PIECE),
            lines=lines,
            before=before,
        )
        if len(piece):
            yield piece


def _separated_column_names(path: Path, *, usual: str) -> list[str]:
    delimiter, _ = _separator(path, usual)
    rows = separated_rows(Lines(path, row=0), delimiter)
    return next(rows, [])


def _separated_rows(path: Path, columns: Sequence[str], *, usual: str) -> Iterator[Mapping[str, object]]:
    delimiter, _ = _separator(path, usual)
    rows = separated_rows(Lines(path, row=0), delimiter)
    names = next(rows, [])
    for row in rows:
        yield dict(zip(names, row, strict=True))


csv_column_names: Callable[[Path], list[str]] = partial(_separated_column_names, usual=_COMMA)
tsv_column_names: Callable[[Path], list[str]] = partial(_separated_column_names, usual=_TAB)
_Rows = Callable[[Path, Sequence[str]], Iterator[Mapping[str, object]]]
csv_rows: _Rows = partial(_separated_rows, usual=_COMMA)
tsv_rows: _Rows = partial(_separated_rows, usual=_TAB)


def write_csv(frame: "pl.DataFrame", path: Path) -> None:
    """Write a frame as CSV with all fields quoted; a null becomes an empty field."""
    with path.open("w", encoding="utf-8", newline="") as file:
        # All quoted: a lone carriage return in an unquoted text would end the row.
        writer = csv.writer(file, lineterminator="\n", quoting=csv.QUOTE_ALL)
        writer.writerow(frame.columns)
        for row in frame.iter_rows():
            cells = ["" if cell is None else cell for cell in row]
            writer.writerow(cells)


# JSON lines ----------------------------------------------------------------------------------------------


def read_json_lines(path: Path) -> Table:
    """Read a whole file of one JSON object per line; a key that a row leaves out is null."""
    lines = Lines(path, row=1)
    names: dict[str, None] = {}
    table = _table_of_objects(
        path=path,
        names=names,
        values=json_values(lines),
        lines=lines,
        before=0,
    )
    if not table.lines:
        raise _empty_file(path)
    return replace(table, notes=lines.notes)


def _table_of_objects(
    path: Path,
    names: dict[str, None],
    values: Iterator[dict[str, Any]],
    lines: Lines,
    *,
    before: int,
) -> Table:
    """The table of these objects, read to their end; their keys are added to `names`."""
    objects: list[dict[str, Any]] = []
    starts = array("q")
    for value in values:
        objects.append(value)
        starts.append(lines.line)
        _add_names(names, value, lines)

    columns = {name: [value.get(name) for value in objects] for name in names}
    return Table(
        path=path,
        columns=columns,
        lines=starts,
        before=before,
    )


def _add_names(names: dict[str, None], value: Mapping[str, Any], lines: Lines) -> None:
    names.update(dict.fromkeys(value))
    check_columns(len(names), lines.where())


def json_line_pieces(path: Path) -> Iterator[Table]:
    """The pieces of a file of JSON lines."""
    lines = Lines(path, row=1, whole_file=False)
    values = json_values(lines)
    # Of all pieces so far: a later row may leave a column out.
    names: dict[str, None] = {}

    piece = _table_of_objects(
        path=path,
        names=names,
        values=islice(values, PIECE),
        lines=lines,
        before=0,
    )
    if not piece.lines:
        raise _empty_file(path)
    while piece.lines:
        yield piece
        before = piece.before + len(piece.lines)
        piece = _table_of_objects(
            path=path,
            names=names,
            values=islice(values, PIECE),
            lines=lines,
            before=before,
        )


def json_line_column_names(path: Path) -> list[str]:
    """The keys of all lines, in the order in which they first occur."""
    lines = Lines(path, row=1)
    names: dict[str, None] = {}
    for value in json_values(lines):
        _add_names(names, value, lines)
    return list(names)


def json_line_rows(path: Path, columns: Sequence[str]) -> Iterator[Mapping[str, object]]:
    """The object of each line."""
    return json_values(Lines(path, row=1))


def write_json_lines(frame: "pl.DataFrame", path: Path) -> None:
    """Write one JSON object per row."""
    with path.open("w", encoding="utf-8", newline="") as file:
        file.writelines(_as_json(frame))


def write_compressed_json_lines(frame: "pl.DataFrame", path: Path) -> None:
    """Write one JSON object per row, compressed with zstd."""
    with path.open("wb") as file, ZstdCompressor(level=10).stream_writer(file) as compressed:
        for line in _as_json(frame):
            compressed.write(line.encode())


def _as_json(frame: "pl.DataFrame") -> Iterator[str]:
    for row in frame.iter_rows(named=True):
        yield json.dumps(row, ensure_ascii=False) + "\n"


def _empty_file(path: Path) -> BadInput:
    return bad_file(
        path=path,
        what="the file is empty",
        code="file.empty",
        do=HOLDS_TEXTS,
    )
