"""The rows of a CSV or TSV file, one at a time, or one error that names the place."""

import csv
from collections.abc import Iterator, Sequence

from psycheck.core.errors import BadInput, check_columns, counted
from psycheck.io.streams import LONGEST, Lines, bad_file, place

SEPARATORS = {";": "semicolons", "\t": "tabs", "|": "pipes", ",": "commas"}
# A name of a column is shorter than this: what is longer may be the first text of a file without a header.
_LONGEST_NAME = 40
_MOST_WORDS = 5
_WORDS_OF_A_NAME = 2


def delimiter_of(lines: Lines, usual: str) -> str:
    """The character that separates the fields of the header: the usual one of the format, if it does."""
    header = next((line for line in lines if line.strip(" \t\r\n")), "").strip("\r\n")
    counts = {separator: len(_fields(header, separator)) for separator in SEPARATORS}
    likeliest = max(counts, key=lambda separator: counts[separator])
    if counts[usual] == counts[likeliest]:
        return usual

    # A first line that is a text may hold semicolons: names of columns are shorter.
    words = len(header.split())
    is_prose = words > _MOST_WORDS and words > _WORDS_OF_A_NAME * counts[likeliest]
    return usual if is_prose else likeliest


def _fields(header: str, delimiter: str) -> list[str]:
    try:
        return next(csv.reader([header], delimiter=delimiter), [""])
    except csv.Error:
        return [header]


def separated_rows(lines: Lines, delimiter: str, *, quoted: bool = True) -> Iterator[list[str]]:
    """The column names, then each row, by RFC 4180; none if the file is empty.

    A quoted field may contain delimiters, line breaks and doubled quotes.
    """
    # The limit holds for the whole process: it is put back at the end.
    limit_before = csv.field_size_limit(LONGEST)
    try:
        reader = csv.reader(
            lines,
            delimiter=delimiter,
            strict=True,
            quoting=csv.QUOTE_MINIMAL if quoted else csv.QUOTE_NONE,
        )
        yield from _header_and_rows(reader, lines)
    except csv.Error as error:
        raise _bad_quotes(error, lines) from None
    finally:
        csv.field_size_limit(limit_before)


def _header_and_rows(reader: Iterator[list[str]], lines: Lines) -> Iterator[list[str]]:
    names: list[str] = []
    for row in reader:
        # Spreadsheets write blank lines before the header, and at the end.
        blank_before_header = not names and not "".join(row).strip()
        if not row or blank_before_header:
            lines.same_row()
            continue

        if not names:
            names = _header(row, lines)
            yield names
        elif len(row) == len(names):
            yield row
        else:
            raise BadInput(
                what=f"the row has {counted(len(row), 'field')}, the header has {len(names)}",
                code="csv.fields-per-row",
                where=place(lines.path, lines.row, lines.start),
                do="quote texts that contain delimiters or line breaks, and double the quotes inside",
            )
        lines.next_row()


def _bad_quotes(error: csv.Error, lines: Lines) -> BadInput:
    # The csv module tells its errors apart by their words only.
    what = "a closing quote is followed by other characters"
    code = "csv.text-after-quote"
    if "end of data" in str(error):
        what = "a quote is never closed"
        code = "csv.unclosed-quote"
    return BadInput(
        what=what,
        code=code,
        where=place(lines.path, lines.row, lines.start),
        do="double the quotes inside a quoted field, and close it before the next delimiter",
    )


def _header(row: list[str], lines: Lines) -> list[str]:
    """The column names; a column without one is named after its position."""
    check_columns(len(row), str(lines.path))
    if row[0].lstrip().startswith(("{", "[")):
        raise bad_file(
            path=lines.path,
            what="this looks like JSON, not like CSV or TSV",
            code="csv.looks-like-json",
            do="name it .jsonl",
        )

    # pandas writes its index as a first column without a name.
    names = [name.strip() or f"column_{position}" for position, name in enumerate(row, start=1)]
    _refuse_data(names, lines)
    _refuse_repeated_name(names, lines)
    return names


def _refuse_data(names: Sequence[str], lines: Lines) -> None:
    """Refuse a first row with a number and a text in it: the file has no header."""
    has_number = any(name.replace(".", "", 1).removeprefix("-").isdigit() for name in names)
    has_text = any(_looks_like_text(name) for name in names)
    if has_number and has_text:
        raise BadInput(
            what="the first row looks like data, not like a header",
            code="csv.no-header",
            where=lines.where(),
            do="add a header row",
        )


def _refuse_repeated_name(names: Sequence[str], lines: Lines) -> None:
    for position, name in enumerate(names):
        if name in names[:position]:
            column = "a column name" if _looks_like_text(name) else f"column name '{name}'"
            raise BadInput(
                what=f"{column} occurs twice in the header",
                code="csv.repeated-column",
                where=lines.where(),
                do="rename one of them",
            )


def _looks_like_text(name: str) -> bool:
    return len(name) > _LONGEST_NAME or len(name.split()) > _MOST_WORDS
