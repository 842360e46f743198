"""Files in, columns out: a file of any registered format (`io.formats`) becomes one kind of table."""

from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING

from psycheck.core.errors import PsycheckError, nearest, neighbours
from psycheck.core.registry import FORMATS
from psycheck.io.streams import COMPRESSIONS, bad_file, place, unreadable

if TYPE_CHECKING:
    from psycheck.io.formats import Format

HOLDS_TEXTS = "name a file that holds texts"


@dataclass(frozen=True, slots=True)
class Table:
    """What a file or an object in memory holds: columns of equal length, and the line of each row.

    `unread` names the columns that do not hold single values and what they hold (lists, records, bytes);
    `splits` names the parts of a dataset and their lengths; `before` counts the rows that came before these,
    where a file is read in pieces.
    """

    path: Path
    columns: Mapping[str, Sequence[object]]
    lines: Sequence[int] = ()
    splits: tuple[tuple[str, int], ...] = ()
    unread: Mapping[str, str] = field(default_factory=dict)
    notes: tuple[str, ...] = ()
    before: int = 0

    def __len__(self) -> int:
        return len(next(iter(self.columns.values()), ()))

    def where(self, index: int, column: str | None = None) -> str:
        """The place of a row, by its position from 0, for an error message."""
        path = self.path
        row = self.before + index + 1

        # The splits of a dataset are joined one after the other; a row is named within its split.
        for split, length in self.splits:
            if row <= length:
                path /= split
                break
            row -= length

        line = self.lines[index] if self.lines else None
        return place(
            path=path,
            row=row,
            line=line,
            column=column,
        )


def read_table(path: Path, format: str | None = None) -> Table:
    """Read a whole file or dataset folder, or raise one error that names the place."""
    with _explaining(path):
        chosen = format_of(path, format)
    # From here on, the code of another package may be at work.
    with _explaining(path, chosen):
        table = chosen.read(path)

    refuse_empty(table)
    return table


def table_pieces(path: Path, format: str | None = None) -> Iterator[Table]:
    """The same table in pieces, of which one is in memory at a time; a dataset folder is one piece."""
    with _explaining(path):
        chosen = format_of(path, format)
    with _explaining(path, chosen):
        for number, table in enumerate(chosen.stream(path)):
            if number == 0:
                refuse_empty(table)
            yield table


def refuse_empty(table: Table) -> None:
    """Refuse a table without a column of single values, or without rows."""
    if not table.columns:
        contents = ", ".join(sorted(set(table.unread.values()))) or "nothing"
        raise bad_file(
            table.path,
            f"no column holds single values (they hold {contents})",
            code="table.no-single-values",
        )
    if not len(table):
        raise bad_file(
            path=table.path,
            what="there are columns but no rows",
            code="table.no-rows",
            do=HOLDS_TEXTS,
        )


@contextmanager
def _explaining(path: Path, format: "Format | None" = None) -> Iterator[None]:
    """Turn what reading a file raises into one error; a format of another package may raise anything."""
    try:
        yield
    except PsycheckError:
        raise
    except OSError as error:
        raise unreadable(path, error) from None
    except Exception as error:
        if format is None or FORMATS.is_ours(format.name):
            raise
        # The cause is left out: its message may quote a text.
        raise bad_file(
            path,
            f"the file cannot be read as {format.title} ({type(error).__name__})",
            code="file.format-failed",
        ) from None


def format_of(path: Path, name: str | None = None) -> "Format":
    """The format of a file or folder that exists: the one of this name, or else the one of its ending."""
    if name is not None and name not in FORMATS:
        raise bad_file(
            path=path,
            what=f"there is no format '{name}'",
            code="file.unknown-format",
            allowed=nearest(name, FORMATS.names()),
        )
    _refuse_missing(path)

    if path.is_dir():
        return _folder_format(path, name)
    if not path.is_file():
        raise bad_file(path, "this is neither a file nor a folder", code="file.not-a-file")
    return _file_format(path, name)


def format_by_ending(name: str) -> "Format | None":
    """The format that a file of this name has by its ending, also compressed; ours come first."""
    uncompressed_name = _uncompressed(Path(name)).name.lower()
    for format in _all_formats():
        if uncompressed_name.endswith(format.endings):
            return format
    return None


def readable_endings() -> tuple[str, ...]:
    """The endings of all registered formats, ours first."""
    return tuple(ending for format in _all_formats() for ending in format.endings)


def readable_name(name: str) -> bool:
    """Whether a file name has an ending that is read."""
    return format_by_ending(name) is not None


def stem(path: Path) -> str:
    """The file name without its extensions."""
    if path.is_dir():
        return path.resolve().name
    return _uncompressed(path).stem


def _all_formats() -> Iterator["Format"]:
    """Every registered format; each is imported only when the ones before it did not fit."""
    return map(FORMATS.get, FORMATS.names())


def _uncompressed(path: Path) -> Path:
    """The name without the ending that tells the compression."""
    return path.with_suffix("") if path.suffix.lower() in COMPRESSIONS else path


def _refuse_missing(path: Path) -> None:
    if path.exists():
        return
    if not path.parent.is_dir():
        raise bad_file(path, "the folder of this file does not exist", code="file.no-such-folder")

    # A typing mistake is more likely than a missing file.
    siblings = [entry.name for entry in path.parent.iterdir() if not entry.name.startswith(".")]
    raise bad_file(
        path=path,
        what="the file does not exist",
        code="file.does-not-exist",
        allowed=neighbours(path.name, siblings),
    )


def _folder_format(path: Path, name: str | None) -> "Format":
    """The format of a folder: the one that the user names, or the first that is a folder."""
    if name is None:
        folder_formats = [format for format in _all_formats() if format.is_folder]
        for format in folder_formats:
            if format.recognises is not None and format.recognises(path):
                return format
        return next(format for format in folder_formats if format.recognises is None)

    named_format: Format = FORMATS.get(name)
    if not named_format.is_folder:
        raise bad_file(
            path=path,
            what=f"this is a folder, not a {name} file",
            code="file.is-a-folder",
            do="name a file in it",
        )
    return named_format


def _file_format(path: Path, name: str | None) -> "Format":
    format = format_by_ending(path.name) if name is None else FORMATS.get(name)
    if format is None:
        raise _unknown_ending(path)
    if format.is_folder:
        raise bad_file(
            path=path,
            what=f"this is a file, not {format.title}",
            code="file.not-a-folder",
            do="name the folder",
        )
    if path.suffix.lower() in COMPRESSIONS and not format.compressible:
        raise bad_file(
            path=path,
            what=f"{format.title} files are already compressed",
            code="file.compressed-twice",
            do=f"decompress the {path.suffix} file first",
        )
    return format


def _unknown_ending(path: Path) -> Exception:
    """The error for a file whose ending is not that of a registered format; it lists all of them."""
    formats = list(_all_formats())
    ending = _uncompressed(path).suffix.lower()

    what = f"files that end in '{ending or path.name}' are not read"
    do = "name its format (`format`)"
    for format in formats:
        if ending in format.often_mistaken:
            what = f"'{ending}' files are not read"
            do = format.often_mistaken[ending]

    # Formats of other packages are listed too, as soon as they are installed.
    compressible = [format.title for format in formats if format.compressible]
    listed = ", ".join(format.described() for format in formats)
    allowed = f"{listed}; {', '.join(compressible)} also with {' or '.join(COMPRESSIONS)}"
    return bad_file(
        path=path,
        what=what,
        code="file.unknown-ending",
        do=do,
        allowed=allowed,
    )
