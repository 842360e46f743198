"""Workbooks of Excel and LibreOffice: the first sheet that holds rows."""

from datetime import timedelta
from pathlib import Path
from typing import Any

from python_calamine import CalamineError, CalamineWorkbook

from psycheck.core.errors import check_columns, check_size
from psycheck.io.streams import bad_file
from psycheck.io.tables import Table

_GROWTH = 100  # a workbook is a zip archive: its rows may take many times its size
_WHOLE = 2**53  # numbers up to here are exact


def read_workbook(path: Path) -> Table:
    """Read the first sheet with rows; its first row names the columns."""
    check_size(_GROWTH * path.stat().st_size, str(path), most=32)
    try:
        workbook = CalamineWorkbook.from_path(str(path))
        sheets = {name: _rows_of(workbook, name) for name in workbook.sheet_names}
    except (CalamineError, OSError, ValueError) as error:
        raise bad_file(
            path=path,
            what=f"the workbook cannot be read ({type(error).__name__})",
            code="workbook.unreadable",
            do="save it again as .xlsx without a password, or as CSV",
        ) from None

    filled = {name: rows for name, rows in sheets.items() if any(map(_has_cells, rows))}
    if not filled:
        raise bad_file(path=path, what="every sheet is empty", code="file.empty")
    name, rows = next(iter(filled.items()))

    notes: tuple[str, ...] = ()
    if len(filled) > 1:
        notes = (f"Guessed that sheet '{name}' is meant, the first of {len(filled)} sheets with rows.",)
    return _table_of_sheet(path, rows, notes)


def _rows_of(workbook: CalamineWorkbook, sheet: str) -> list[list[Any]]:
    # With the empty rows above the table, so that an error names the row that the user sees.
    return workbook.get_sheet_by_name(sheet).to_python(skip_empty_area=False)


def _has_cells(row: list[Any]) -> bool:
    return any(cell not in ("", None) for cell in row)


def _table_of_sheet(path: Path, rows: list[list[Any]], notes: tuple[str, ...]) -> Table:
    lines = [number for number, row in enumerate(rows, start=1) if _has_cells(row)]
    header = rows[lines[0] - 1]
    check_columns(len(header), str(path))

    names: list[str] = []
    for position, cell in enumerate(header, start=1):
        name = str(cell).strip() or f"column_{position}"
        if name in names:
            raise bad_file(
                path=path,
                what=f"column {position} has the name of an earlier one",
                code="table.repeated-column",
                do="rename one of them",
            )
        names.append(name)

    data_lines = lines[1:]
    columns: dict[str, list[object]] = {}
    for position, name in enumerate(names):
        columns[name] = [_cell(rows[line - 1][position]) for line in data_lines]
    return Table(path=path, columns=columns, lines=data_lines, notes=notes)


def _cell(cell: Any) -> object:
    """A cell as a Python value: empty ones as None, whole numbers as integers, spans of time as text."""
    if cell == "":
        return None
    is_whole = isinstance(cell, float) and cell.is_integer() and abs(cell) < _WHOLE
    if is_whole:
        return int(cell)
    return str(cell) if isinstance(cell, timedelta) else cell
