"""A JSON file that is one table: a list of records, a mapping of columns, or either under one key."""

import json
from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

from psycheck.core.errors import check_columns, check_size
from psycheck.io.encodings import LineDecoder
from psycheck.io.in_memory import table_of
from psycheck.io.streams import bad_file, file_bytes
from psycheck.io.tables import Table
from psycheck.io.text_files import read_json_lines

_ALLOWED = 'a list of records ([{"text": …}, …]) or a mapping of columns ({"text": [...], …})'
_MEMORY = 8  # times the size of the file, for the Python objects in it


def read_json_file(path: Path) -> Table:
    """Read a whole JSON file; one that holds an object per line is read as JSON lines, with a note."""
    check_size(_MEMORY * path.stat().st_size, str(path))
    decoder = LineDecoder()
    text = decoder.decode(file_bytes(path).removeprefix(b"\xef\xbb\xbf"))
    try:
        content = json.loads(text)
    except (ValueError, RecursionError) as error:
        if text.lstrip().startswith("{"):
            return _as_lines(path)
        # Neither the message nor the place is quoted: they may hold a text.
        raise bad_file(
            path=path,
            what=f"this is not valid JSON ({type(error).__name__})",
            code="json.invalid",
            allowed=_ALLOWED,
        ) from None

    rows, notes = _rows_in(content, path)
    if isinstance(rows, Mapping) and rows and all(isinstance(cells, Mapping) for cells in rows.values()):
        rows = _by_row_names(rows, path)
    if isinstance(rows, Sequence):
        check_columns(max(len(row) for row in rows), str(path))
    table = table_of(rows)
    return replace(table, path=path, notes=(*notes, *([decoder.note] if decoder.note else [])))


def _as_lines(path: Path) -> Table:
    table = read_json_lines(path)
    return replace(table, notes=(*table.notes, "Guessed that the file holds one JSON object per line."))


def _rows_in(content: Any, path: Path) -> tuple[Any, list[str]]:
    """The records or columns in a file, and a note where one key of several holds them."""
    if _is_records(content) or _is_columns(content):
        return content, []
    if isinstance(content, Mapping):
        tables = {key: value for key, value in content.items() if _is_records(value) or _is_columns(value)}
        if len(tables) == 1:
            key, rows = next(iter(tables.items()))
            return rows, [f"Guessed that the rows are under the key '{key}'." if len(key) < 20 else ""]
    raise bad_file(
        path=path,
        what="the file holds no table",
        code="json.no-table",
        allowed=_ALLOWED,
        do="write one record per text",
    )


def _is_records(value: object) -> bool:
    return isinstance(value, list) and bool(value) and all(isinstance(row, dict) for row in value)


def _is_columns(value: object) -> bool:
    if not isinstance(value, dict) or not value:
        return False
    are_lists = all(isinstance(cells, list) and not _is_records(cells) for cells in value.values())
    # As pandas writes a frame: the cells of each column by the name of their row.
    return are_lists or all(_is_cells_by_row(cells) for cells in value.values())


def _is_cells_by_row(cells: object) -> bool:
    if not isinstance(cells, dict) or not cells:
        return False
    return not any(isinstance(cell, list | dict) for cell in cells.values())


def _by_row_names(columns: Mapping[str, Any], path: Path) -> dict[str, list[Any]]:
    """Columns as lists; every column must name the same rows."""
    names = list(next(iter(columns.values())))
    for cells in columns.values():
        if list(cells) != names:
            raise bad_file(
                path=path,
                what="the columns name different rows",
                code="json.unequal-rows",
                allowed=_ALLOWED,
            )
    return {column: [cells[name] for name in names] for column, cells in columns.items()}
