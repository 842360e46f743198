"""Files in, columns out: CSV, TSV, JSON lines, Parquet and saved dataset folders as one kind of table."""

from array import array
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path

from psycheck.errors import BadInput, check_columns, nearest, neighbours
from psycheck.files.rows import separated_rows
from psycheck.files.streams import COMPRESSIONS, Lines, bad_file, json_values, place

FORMATS = {".csv": "csv", ".tsv": "tsv", ".jsonl": "jsonl", ".ndjson": "jsonl", ".parquet": "parquet"}
NAMES = ("csv", "dataset", "jsonl", "parquet", "tsv")
_HOLDS_TEXTS = "name a file that holds texts"


@dataclass(frozen=True, slots=True)
class Table:
    """What a file or an object in memory holds: columns of equal length, and the line of each row.

    `unread` names the columns that do not hold single values and what they hold (lists, records, bytes);
    `splits` names the parts of a dataset and their lengths.
    """

    path: Path
    columns: Mapping[str, Sequence[object]]
    lines: Sequence[int] = ()
    splits: tuple[tuple[str, int], ...] = ()
    unread: Mapping[str, str] = field(default_factory=dict)
    notes: tuple[str, ...] = ()

    def __len__(self) -> int:
        return len(next(iter(self.columns.values()), ()))

    def where(self, index: int, column: str | None = None) -> str:
        """The place of a row, by its position from 0, for an error message."""
        path, row = self.path, index + 1
        for split, length in self.splits:
            if row <= length:
                path /= split
                break
            row -= length
        return place(path, row, self.lines[index] if self.lines else None, column)


def read_table(path: Path, format: str | None = None) -> Table:
    """Read a whole file or dataset folder, or raise one error that names the place."""
    from psycheck.corpora.arrow import read_dataset_folder, read_parquet

    try:
        kind = format_of(path, format)
        if kind == "dataset":
            table = read_dataset_folder(path)
        elif kind == "parquet":
            table = read_parquet(path)
        elif kind == "jsonl":
            table = _read_json_lines(Lines(path, row=1))
        else:
            table = _read_separated(path, kind)
    except OSError as error:
        raise bad_file(path, f"the file cannot be read ({error.strerror})") from None
    if not table.columns:
        held = ", ".join(sorted(set(table.unread.values()))) or "nothing"
        raise bad_file(path, f"no column holds single values (they hold {held})")
    if not len(table):
        raise bad_file(path, "there are columns but no rows", do=_HOLDS_TEXTS)
    return table


def stem(path: Path) -> str:
    """The file name without its extensions."""
    if path.is_dir():
        return path.resolve().name
    return _uncompressed(path).stem


def format_of(path: Path, format: str | None) -> str:
    """The format of a file, by its name or as the user says."""
    if format is not None and format not in NAMES:
        raise bad_file(path, f"there is no format '{format}'", allowed=nearest(format, NAMES))
    if not path.exists():
        if not path.parent.is_dir():
            raise bad_file(path, "the folder of this file does not exist")
        siblings = [p.name for p in path.parent.iterdir() if not p.name.startswith(".")]
        raise bad_file(path, "the file does not exist", allowed=neighbours(path.name, siblings))
    if path.is_dir():
        if format not in (None, "dataset"):
            raise bad_file(path, f"this is a folder, not a {format} file", "name a file in it")
        return "dataset"
    if not path.is_file():
        raise bad_file(path, "this is neither a file nor a folder")
    suffix = _uncompressed(path).suffix.lower()
    kind = format or FORMATS.get(suffix)
    if kind is None:
        what, do = f"files that end in '{suffix or path.name}' are", "name its format (`format`)"
        if suffix == ".json":
            what, do = "JSON files are", "write one JSON object per line and name it .jsonl"
        allowed = "CSV, TSV, JSON lines (.jsonl, .ndjson; each also .gz or .zst), Parquet, a saved dataset"
        raise bad_file(path, f"{what} not read", do, allowed)
    if kind == "dataset":
        raise bad_file(path, "this is a file, not a saved dataset folder", "name the folder")
    if kind == "parquet" and path.suffix.lower() in COMPRESSIONS:
        raise bad_file(
            path, "Parquet files are already compressed", f"decompress the {path.suffix} file first"
        )
    return kind


def readable_name(name: str) -> bool:
    """Whether a file name has an extension that is read."""
    return _uncompressed(Path(name)).suffix.lower() in FORMATS


def _uncompressed(path: Path) -> Path:
    """The name without the extension that tells the compression."""
    return path.with_suffix("") if path.suffix.lower() in COMPRESSIONS else path


def _read_separated(path: Path, kind: str) -> Table:
    try:
        return _read_rows(Lines(path, row=0), "," if kind == "csv" else "\t", quoted=True)
    except BadInput as error:
        if kind == "csv":
            raise
        # Many TSV files quote nothing: a text that begins with a quotation mark is then not a quoted field.
        try:
            table = _read_rows(Lines(path, row=0), "\t", quoted=False)
        except BadInput:
            raise error from None
        note = "Quotation marks are read as part of the fields, because the file does not quote its fields."
        return replace(table, notes=(note,))


def _read_rows(lines: Lines, delimiter: str, *, quoted: bool) -> Table:
    names: list[str] = []
    rows: list[list[str]] = []
    starts = array("q")
    for row in separated_rows(lines, delimiter, quoted=quoted):
        if not names:
            names = row
        else:
            rows.append(row)
            starts.append(lines.start)
    if not names:
        raise bad_file(lines.path, "the file is empty", do=_HOLDS_TEXTS)
    columns = dict(zip(names, zip(*rows, strict=True), strict=True)) if rows else dict.fromkeys(names, ())
    return Table(lines.path, columns, starts)


def _read_json_lines(lines: Lines) -> Table:
    rows: list[dict[str, object]] = []
    names: dict[str, None] = {}
    starts = array("q")
    for row in json_values(lines):
        rows.append(row)
        starts.append(lines.line)
        names.update(dict.fromkeys(row))
        check_columns(len(names), lines.where())
    if not rows:
        raise bad_file(lines.path, "the file is empty", do=_HOLDS_TEXTS)
    return Table(lines.path, {name: [row.get(name) for row in rows] for name in names}, starts)
