"""The rows of a CSV or TSV file, one at a time, or one error that names the place."""

import csv
from collections.abc import Iterator

from psycheck.errors import BadInput, check_columns, counted
from psycheck.files.streams import LONGEST, Lines, bad_file, place


def separated_rows(lines: Lines, delimiter: str, *, quoted: bool = True) -> Iterator[list[str]]:
    """The column names, then each row, by RFC 4180; none if the file is empty.

    A quoted field may contain delimiters, line breaks and doubled quotes.
    """
    limit = csv.field_size_limit(LONGEST)
    try:
        names: list[str] = []
        for row in csv.reader(
            lines, delimiter=delimiter, strict=True, quoting=csv.QUOTE_MINIMAL if quoted else csv.QUOTE_NONE
        ):
            if not row or (not names and not "".join(row).strip()):
                lines.same_row()
                continue
            if not names:
                row = names = _header(row, lines)
            elif len(row) != len(names):
                what = f"the row has {counted(len(row), 'field')}, the header has {len(names)}"
                do = "quote texts that contain delimiters or line breaks, and double the quotes inside"
                raise BadInput(what, where=place(lines.path, lines.row, lines.start), do=do)
            yield row
            lines.next_row()
    except csv.Error as error:
        unclosed = "end of data" in str(error)
        what = "a quote is never closed" if unclosed else "a closing quote is followed by other characters"
        do = "double the quotes inside a quoted field, and close it before the next delimiter"
        raise BadInput(what, where=place(lines.path, lines.row, lines.start), do=do) from None
    finally:
        csv.field_size_limit(limit)


def _header(row: list[str], lines: Lines) -> list[str]:
    """The column names; a column without one is named after its position."""
    check_columns(len(row), str(lines.path))
    names = [name.strip() or f"column_{i}" for i, name in enumerate(row, start=1)]
    if row[0].lstrip().startswith(("{", "[")):
        what = "this looks like JSON, not like CSV or TSV"
        raise bad_file(lines.path, what, do="name it .jsonl")
    numbers = [name for name in names if name.replace(".", "", 1).removeprefix("-").isdigit()]
    if numbers and any(map(_like_text, names)):
        what = "the first row looks like data, not like a header"
        raise BadInput(what, where=lines.where(), do="add a header row")
    if len(names) == 1 and not _like_text(names[0]):
        for mark, spoken in ((";", "semicolons"), ("\t", "tabs"), ("|", "pipes"), (",", "commas")):
            if mark in names[0]:
                what = f"the fields are separated by {spoken}"
                do = "save it with commas, or with tabs as .tsv"
                raise BadInput(what, where=lines.where(), allowed="commas in .csv, tabs in .tsv", do=do)
    for i, name in enumerate(names):
        if name in names[:i]:
            what = f"column name '{name}'" if not _like_text(name) else "a column name"
            raise BadInput(f"{what} occurs twice in the header", where=lines.where(), do="rename one of them")
    return names


def _like_text(name: str) -> bool:
    return len(name) > 40 or len(name.split()) > 5
