"""Parquet files, saved dataset folders, and what is in memory: frames, datasets and sequences of strings.

pandas and Hugging Face `datasets` are recognised by the module of their classes and never imported.
"""

import json
import math
import re
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from datetime import date, time
from decimal import Decimal
from mmap import ACCESS_READ, mmap
from pathlib import Path
from typing import Any

import polars as pl

from psycheck.corpora.tables import HOLDS_TEXTS, Table
from psycheck.errors import BadInput, check_columns, check_size, nearest
from psycheck.files.streams import LONGEST, bad_file

PARQUET_PIECE = 20_000  # a piece decodes whole pages again: larger than one of a text file
_PACKED_BUFFER = re.compile(rb"\x28\xb5\x2f\xfd|\x04\x22\x4d\x18")  # how zstd and LZ4 begin
_ADDRESSES = 2**47  # bytes that a process can have
_END_OF_STREAM = b"\xff\xff\xff\xff\x00\x00\x00\x00"
_SAVE_AGAIN = "save the dataset again"
_COPY_AGAIN = "copy the folder again, or save the dataset again"
# A damaged file can make Polars panic, which is not an Exception.
_UNREADABLE = (pl.exceptions.PolarsError, pl.exceptions.PanicException, OSError, ValueError, RecursionError)
_IN_MEMORY = (
    "a path, a pandas or polars DataFrame, a Hugging Face Dataset or DatasetDict, a sequence of strings,"
    " or a psycheck.Corpus"
)
_SINGLE = (str, int, float, Decimal, date, time)


def read_parquet(path: Path) -> Table:
    """Read the columns of a Parquet file that hold single values."""
    with _reading(path):
        schema = pl.read_parquet_schema(path)
        kept = [name for name in schema if name not in _unread(schema)]
        check_columns(len(kept), str(path))
        rows = pl.scan_parquet(path).select(pl.len()).collect().item()
        check_size(8 * rows * len(kept), str(path))
        frame = pl.read_parquet(path, columns=kept)
        info = json.loads(pl.read_parquet_metadata(path).get("huggingface", "{}")).get("info")
    return _frame_table(path, _with_class_names(frame, info), unread=_unread(schema))


def parquet_pieces(path: Path) -> Iterator[Table]:
    """The same in pieces of at most `PARQUET_PIECE` rows, of which one is held at a time."""
    with _reading(path):
        schema = pl.read_parquet_schema(path)
        kept = [name for name in schema if name not in _unread(schema)]
        check_columns(len(kept), str(path))
        scan = pl.scan_parquet(path).select(kept)
        rows = scan.select(pl.len()).collect().item()
    if not rows or not kept:
        what = "there are columns but no rows" if kept else "no column holds single values"
        raise bad_file(path, what, do=HOLDS_TEXTS)
    for before in range(0, rows, PARQUET_PIECE):
        with _reading(path):
            frame = scan.slice(before, PARQUET_PIECE).collect()
        yield _frame_table(path, frame, unread=_unread(schema), before=before)


@contextmanager
def _reading(path: Path) -> Iterator[None]:
    """Turn what Polars says of a file that it cannot read into one error."""
    try:
        yield
    except _UNREADABLE as error:
        with path.open("rb") as file:
            what = "is damaged or truncated" if file.read(4) == b"PAR1" else "is not a Parquet file"
        what = f"the file {what} ({type(error).__name__})"
        do = "save it again, or give it the extension of its actual format"
        raise bad_file(path, what, do=do) from None


def read_dataset_folder(path: Path) -> Table:
    """Read a folder that `save_to_disk` wrote; the parts of a DatasetDict become the column `split`."""
    if (path / "state.json").is_file():
        return _frame_table(path, _read_dataset(path))
    if not (path / "dataset_dict.json").is_file():
        endings = (".csv", ".tsv", ".jsonl", ".parquet", ".gz", ".zst")
        files = [file.name for file in path.iterdir() if file.suffix in endings]
        raise bad_file(
            path,
            "this folder is not a saved dataset: it has neither state.json nor dataset_dict.json",
            do=f"name one of its files: {nearest('', files)}" if files else "",
            allowed="a file, or a folder written by save_to_disk of Hugging Face datasets",
        )
    splits = _names(_json(path / "dataset_dict.json").get("splits"))
    if not splits:
        raise bad_file(path / "dataset_dict.json", "the dataset lists no splits", do=_SAVE_AGAIN)
    return _join_splits(path, {split: _read_dataset(path / split) for split in splits})


def table_of(source: Any) -> Table:
    """Turn an object in memory into a table; an error names its type, never its content."""
    if isinstance(source, pl.LazyFrame):
        source = source.collect()
    if isinstance(source, pl.DataFrame):
        table = _frame_table(Path("frame"), source)
    elif _is_a(source, "pandas", "DataFrame"):
        table = _pandas_table(source)
    elif _is_a(source, "datasets", "DatasetDict"):
        table = _join_splits(Path("dataset"), {split: _dataset(part) for split, part in source.items()})
    elif _is_a(source, "datasets", "Dataset"):
        table = _frame_table(Path("dataset"), _dataset(source))
    else:
        table = _texts_table(source)
    if not table.columns or not len(table):
        raise bad_file(table.path, "there are no rows to read", do="pass at least one text")
    return table


def _is_a(source: object, package: str, name: str) -> bool:
    kinds = type(source).__mro__
    return any(kind.__name__ == name and kind.__module__.split(".")[0] == package for kind in kinds)


def _dataset(source: Any) -> pl.DataFrame:
    """One dataset with its selection applied and class numbers replaced by their names."""
    frame = pl.DataFrame(source.with_format("arrow")[:])
    return _with_class_names(frame, {"features": source.features.to_dict()})


def _pandas_table(frame: Any) -> Table:
    path, names = Path("frame"), [str(name) for name in frame.columns]
    if len(set(names)) < len(names):
        raise bad_file(path, "two columns have the same name", do="rename one of them")
    columns: dict[str, list[object]] = {}
    unread: dict[str, str] = {}
    for at, name in enumerate(names):
        series = frame.iloc[:, at].astype(object)
        cells = [_plain(cell) for cell in series.where(series.notna(), None).tolist()]
        if all(cell is None or isinstance(cell, _SINGLE) for cell in cells):
            columns[name] = cells
        else:
            unread[name] = "objects"
    return Table(path, columns, unread=unread)


def _texts_table(source: Any) -> Table:
    listed: Any = getattr(source, "to_list", None) or getattr(source, "tolist", lambda: None)
    in_order = isinstance(source, Sequence) and not isinstance(source, str | bytes)
    cells = list(source) if in_order else listed()
    if isinstance(source, Mapping) or not isinstance(cells, list):
        what = f"expected a corpus, got an object of type {type(source).__name__}"
        raise BadInput(what, allowed=_IN_MEMORY)
    texts = [_plain(cell) for cell in cells]
    for row, cell in enumerate(texts, start=1):
        if cell is not None and not isinstance(cell, str):
            what = f"expected a string, got an object of type {type(cell).__name__}"
            raise BadInput(what, where=f"texts, row {row}", allowed=_IN_MEMORY)
    return Table(Path("texts"), {"text": texts})


def _plain(cell: Any) -> object:
    """A cell as a Python value: NumPy scalars unpacked, NaN and NaT as None."""
    if type(cell).__module__ == "numpy" and hasattr(cell, "item") and getattr(cell, "ndim", 1) == 0:
        cell = cell.item()
    return None if isinstance(cell, float) and math.isnan(cell) else cell


def _join_splits(path: Path, parts: Mapping[str, pl.DataFrame]) -> Table:
    """Join the splits of a DatasetDict into one table with the column `split`."""
    if not parts:
        what = "the dataset has no splits"
        raise bad_file(path, what, do="pass a dataset with at least one split")
    single = {split: frame.drop(_unread(frame.schema)) for split, frame in parts.items()}
    first, names = next((split, frame.columns) for split, frame in single.items())
    for split, frame in single.items():
        if set(frame.columns) != set(names):
            what = f"split '{split}' has other columns than split '{first}'"
            raise bad_file(path, what, allowed=", ".join(sorted(names)))
    columns = list(dict.fromkeys((*names, "split")))
    frames = [frame.with_columns(split=pl.lit(split)).select(columns) for split, frame in single.items()]
    return _frame_table(
        path,
        _concatenated(frames, "the splits hold different types of values", path),
        unread=_unread(parts[first].schema),
        splits=tuple((split, len(frame)) for split, frame in parts.items()),
        notes=("The dataset's splits replace its column 'split'.",) if "split" in names else (),
    )


def _with_class_names(frame: pl.DataFrame, info: object) -> pl.DataFrame:
    """Put names in place of class numbers, and null in place of -1."""
    features = info.get("features") if isinstance(info, dict) else None
    for name, feature in (features if isinstance(features, dict) else {}).items():
        named = isinstance(feature, dict) and feature.get("_type") == "ClassLabel" and feature.get("names")
        if named and frame.schema.get(name, pl.Null()).is_integer():
            names = {number: str(one) for number, one in enumerate(feature["names"])}
            frame = frame.with_columns(
                pl.col(name).replace_strict(names, default=None, return_dtype=pl.String)
            )
    return frame


def _frame_table(path: Path, frame: pl.DataFrame, **about: Any) -> Table:
    """The table of a frame, or an error that names the first row that is too long to read.

    A frame of few bytes can have cells without end: it may hold each text once, and no bytes for a null.
    """
    held = _unread(frame.schema)
    frame = frame.drop(held)
    texts = frame.select(pl.col(pl.String, pl.Categorical).cast(pl.String).str.len_bytes().sum())
    check_size(8 * frame.height * frame.width + (sum(texts.row(0)) if texts.width else 0), str(path))
    table = Table(path, frame.to_dict(as_series=False), **{"unread": held, **about})
    for name, kind in frame.schema.items():
        if kind == pl.String:
            for row in (frame[name].str.len_bytes() > LONGEST).arg_true():
                raise BadInput(f"a row is longer than {LONGEST // 2**20} MiB", where=table.where(row, name))
    return table


def _read_dataset(folder: Path) -> pl.DataFrame:
    state = _json(folder / "state.json")
    listed = state.get("_data_files")
    entries = listed if isinstance(listed, list) else []
    files = _names([one.get("filename") for one in entries if isinstance(one, dict)])
    if not files:
        raise bad_file(folder / "state.json", "the dataset lists no data files", do=_SAVE_AGAIN)
    if state.get("_indices_files") or state.get("_indices_data_files"):
        what = "the dataset was saved with a selection of its rows"
        raise bad_file(folder, what, do="call flatten_indices() on it and save it again")
    check_size(sum(map(_declared, (folder / name for name in files))), str(folder))
    frames = [_read_stream(folder / name) for name in files]
    frame = _concatenated(frames, "the data files have different columns", folder)
    info = folder / "dataset_info.json"
    return _with_class_names(frame, _json(info) if info.is_file() else None)


def _concatenated(frames: list[pl.DataFrame], otherwise: str, path: Path) -> pl.DataFrame:
    try:
        return pl.concat(frames, how="vertical_relaxed")
    except pl.exceptions.PolarsError:
        raise bad_file(path, otherwise, do=_SAVE_AGAIN) from None


def _read_stream(path: Path) -> pl.DataFrame:
    try:
        with path.open("rb") as file:
            file.seek(-min(8, path.stat().st_size), 2)
            whole = file.read() == _END_OF_STREAM
        frame = pl.read_ipc_stream(path)
    except _UNREADABLE as error:
        what = "does not exist" if isinstance(error, FileNotFoundError) else "cannot be read"
        raise bad_file(
            path, f"a data file of the dataset {what} ({type(error).__name__})", do=_COPY_AGAIN
        ) from None
    if not whole:
        raise bad_file(path, "a data file of the dataset is truncated", do="copy the folder again")
    return frame


def _declared(path: Path) -> int:
    """The bytes of an Arrow file, and those that its compressed buffers say they unpack to.

    The size stands before each buffer. What chance writes so in a column of numbers is far larger than any.
    """
    if not path.is_file() or not path.stat().st_size:
        return 0  # refused when it is read
    with path.open("rb") as file, mmap(file.fileno(), 0, access=ACCESS_READ) as content:
        places = [found.start() for found in re.finditer(_PACKED_BUFFER, content)]
        sizes = (int.from_bytes(content[max(at - 8, 0) : at], "little") for at in places)
        return len(content) + sum(size for size in sizes if size < _ADDRESSES)


def _json(path: Path) -> dict[str, object]:
    try:
        content = json.loads(path.read_text("utf-8"))
    except (OSError, ValueError, RecursionError) as error:
        raise bad_file(
            path, f"the dataset's description cannot be read ({type(error).__name__})", do=_COPY_AGAIN
        ) from None
    if not isinstance(content, dict):
        raise bad_file(path, "the dataset's description is not a JSON object", do=_SAVE_AGAIN)
    return content


def _names(values: object) -> list[str]:
    """The names of files beside a description; none if one of them points elsewhere."""
    listed = values if isinstance(values, list) else []
    names = [value for value in listed if isinstance(value, str) and value and Path(value).name == value]
    return names if len(names) == len(listed) else []


def _unread(schema: Mapping[str, pl.DataType]) -> dict[str, str]:
    """The columns that do not hold single values, and what they hold."""
    out = {}
    for name, kind in schema.items():
        if kind.is_nested():
            out[name] = "records" if kind == pl.Struct else "lists"
        elif kind in (pl.Binary, pl.Object):
            out[name] = "bytes"
    return out
