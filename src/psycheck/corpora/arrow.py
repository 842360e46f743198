"""Parquet files and folders that Hugging Face `datasets` saved, through Polars."""

import json
from collections.abc import Mapping
from pathlib import Path

import polars as pl

from psycheck.corpora.streams import LONGEST
from psycheck.corpora.tables import Table
from psycheck.errors import BadInput, nearest

_END_OF_STREAM = b"\xff\xff\xff\xff\x00\x00\x00\x00"
# A damaged file can make Polars panic, which is no Exception.
_UNREADABLE = (pl.exceptions.PolarsError, pl.exceptions.PanicException, OSError, ValueError)


def read_parquet(path: Path) -> Table:
    """Read the columns of a Parquet file that hold single values."""
    try:
        schema = pl.read_parquet_schema(path)
        single = [name for name, kind in schema.items() if not _unread({name: kind})]
        frame = pl.read_parquet(path, columns=single)
        classes = _classes(json.loads(pl.read_parquet_metadata(path).get("huggingface", "{}")).get("info"))
    except _UNREADABLE as error:
        with path.open("rb") as file:
            what = "is damaged or cut off" if file.read(4) == b"PAR1" else "is no Parquet file"
        raise BadInput(
            f"the file {what} ({type(error).__name__})",
            where=str(path),
            do="save it again, or name it by what it is",
        ) from None
    return _table(path, _named(frame, classes), _unread(schema))


def read_dataset_folder(path: Path) -> Table:
    """Read a folder that `save_to_disk` wrote; the parts of a DatasetDict become the column `split`."""
    if (path / "state.json").is_file():
        frame, unread = _read_dataset(path)
        return _table(path, frame, unread)
    if not (path / "dataset_dict.json").is_file():
        files = [
            p.name
            for p in path.iterdir()
            if p.suffix in (".csv", ".tsv", ".jsonl", ".parquet", ".gz", ".zst")
        ]
        raise BadInput(
            "this folder is no saved dataset: it has neither state.json nor dataset_dict.json",
            where=str(path),
            allowed="a file, or a folder written by save_to_disk of Hugging Face datasets",
            do=f"name one of its files: {nearest('', files)}" if files else "",
        )
    splits = _names(_list(_json(path / "dataset_dict.json").get("splits")))
    if not splits:
        raise BadInput(
            "the dataset names no splits", where=str(path / "dataset_dict.json"), do="save it again"
        )
    parts = [(split, *_read_dataset(path / split)) for split in splits]
    first = parts[0][1]
    for split, frame, _ in parts[1:]:
        if set(frame.columns) != set(first.columns):
            raise BadInput(
                f"split '{split}' has other columns than split '{splits[0]}'",
                where=str(path),
                allowed=", ".join(sorted(set(first.columns))),
            )
    notes = (
        ("The splits are those of the folder, not those of its column 'split'.",) if "split" in first else ()
    )
    columns = list(dict.fromkeys((*first.columns, "split")))
    try:
        whole = pl.concat(
            [frame.with_columns(split=pl.lit(split)).select(columns) for split, frame, _ in parts],
            how="vertical_relaxed",
        )
    except pl.exceptions.PolarsError:
        raise BadInput(
            "the splits hold different types of values", where=str(path), do="save it again"
        ) from None
    lengths = tuple((split, len(frame)) for split, frame, _ in parts)
    return _table(path, whole, parts[0][2], lengths, notes)


def _read_dataset(folder: Path) -> tuple[pl.DataFrame, dict[str, str]]:
    state = _json(folder / "state.json")
    files = _names(
        [entry.get("filename") for entry in _list(state.get("_data_files")) if isinstance(entry, dict)]
    )
    if not files:
        raise BadInput(
            "the dataset names no data files", where=str(folder / "state.json"), do="save it again"
        )
    if state.get("_indices_files") or state.get("_indices_data_files"):
        raise BadInput(
            "the dataset was saved with a selection beside its data",
            where=str(folder),
            do="call flatten_indices() on it and save it again",
        )
    frames = [_read_stream(folder / name) for name in files]
    try:
        frame = pl.concat(frames, how="vertical_relaxed")
    except pl.exceptions.PolarsError:
        raise BadInput(
            "the data files have different columns", where=str(folder), do="save it again"
        ) from None
    unread = _unread(frame.schema)
    info = folder / "dataset_info.json"
    return _named(frame.drop(list(unread)), _classes(_json(info) if info.is_file() else None)), unread


def _read_stream(path: Path) -> pl.DataFrame:
    try:
        with path.open("rb") as file:
            file.seek(-min(8, path.stat().st_size), 2)
            whole = file.read() == _END_OF_STREAM
        frame = pl.read_ipc_stream(path)
    except _UNREADABLE as error:
        what = "does not exist" if isinstance(error, FileNotFoundError) else "cannot be read"
        raise BadInput(
            f"a data file of the dataset {what} ({type(error).__name__})",
            where=str(path),
            do="copy the folder again, or save the dataset again",
        ) from None
    if not whole:
        raise BadInput("a data file of the dataset is cut off", where=str(path), do="copy the folder again")
    return frame


def _json(path: Path) -> dict[str, object]:
    try:
        content = json.loads(path.read_text("utf-8"))
    except (OSError, ValueError) as error:
        raise BadInput(
            f"the dataset's description cannot be read ({type(error).__name__})",
            where=str(path),
            do="copy the folder again, or save the dataset again",
        ) from None
    if not isinstance(content, dict):
        raise BadInput("the dataset's description is no JSON object", where=str(path), do="save it again")
    return content


def _list(value: object) -> list[object]:
    return value if isinstance(value, list) else []


def _names(values: list[object]) -> list[str]:
    """The names of files beside a description; none if one of them points elsewhere."""
    names = [value for value in values if isinstance(value, str) and value and Path(value).name == value]
    return names if len(names) == len(values) else []


def _classes(info: object) -> dict[str, list[str]]:
    """The class names that `datasets` keeps beside a column of class numbers."""
    features = info.get("features") if isinstance(info, dict) else None
    if not isinstance(features, dict):
        return {}
    return {
        name: [str(one) for one in feature["names"]]
        for name, feature in features.items()
        if isinstance(feature, dict) and feature.get("_type") == "ClassLabel" and feature.get("names")
    }


def _named(frame: pl.DataFrame, classes: Mapping[str, list[str]]) -> pl.DataFrame:
    """Put names in place of class numbers, so that nobody has to know which number means what; -1 is null."""
    numbers = {name: list(range(len(names))) for name, names in classes.items() if name in frame.columns}
    return frame.with_columns(
        pl.col(name).replace_strict(codes, classes[name], default=None, return_dtype=pl.String)
        for name, codes in numbers.items()
        if frame.schema[name].is_integer()
    )


def _unread(schema: Mapping[str, pl.DataType]) -> dict[str, str]:
    """Columns that hold no single values."""
    out = {}
    for name, kind in schema.items():
        if kind.is_nested():
            out[name] = "records" if kind == pl.Struct else "lists"
        elif kind in (pl.Binary, pl.Object):
            out[name] = "bytes"
    return out


def _table(
    path: Path,
    frame: pl.DataFrame,
    unread: Mapping[str, str],
    splits: tuple[tuple[str, int], ...] = (),
    notes: tuple[str, ...] = (),
) -> Table:
    table = Table(path, frame.to_dict(as_series=False), splits=splits, unread=unread, notes=notes)
    for name, kind in frame.schema.items():
        if kind == pl.String:
            for row in (frame[name].str.len_bytes() > LONGEST).arg_true():
                raise BadInput(f"a row is longer than {LONGEST // 2**20} MiB", where=table.where(row, name))
    return table
