"""Parquet files and folders that Hugging Face `datasets` saved, through Polars."""

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

import polars as pl

from psycheck.corpora.streams import LONGEST
from psycheck.corpora.tables import Table
from psycheck.errors import BadInput, nearest

_END_OF_STREAM = b"\xff\xff\xff\xff\x00\x00\x00\x00"
_SAVE_AGAIN = "save the dataset again"
# A damaged file can make Polars panic, which is not an Exception.
_UNREADABLE = (pl.exceptions.PolarsError, pl.exceptions.PanicException, OSError, ValueError)


@dataclass(frozen=True, slots=True)
class DatasetPart:
    """One dataset or one split of a DatasetDict; `unread` says what columns without single values hold."""

    split: str
    frame: pl.DataFrame
    unread: Mapping[str, str]


def read_parquet(path: Path) -> Table:
    """Read the columns of a Parquet file that hold single values."""
    try:
        schema = pl.read_parquet_schema(path)
        single = [name for name, kind in schema.items() if not _unread({name: kind})]
        frame = pl.read_parquet(path, columns=single)
        info = json.loads(pl.read_parquet_metadata(path).get("huggingface", "{}")).get("info")
    except _UNREADABLE as error:
        with path.open("rb") as file:
            what = "is damaged or truncated" if file.read(4) == b"PAR1" else "is not a Parquet file"
        raise BadInput(
            f"the file {what} ({type(error).__name__})",
            where=str(path),
            do="save it again, or give it the extension of its actual format",
        ) from None
    return frame_table(path, dataset_part(frame, info).frame, _unread(schema))


def read_dataset_folder(path: Path) -> Table:
    """Read a folder that `save_to_disk` wrote; the parts of a DatasetDict become the column `split`."""
    if (path / "state.json").is_file():
        part = _read_dataset(path)
        return frame_table(path, part.frame, part.unread)
    if not (path / "dataset_dict.json").is_file():
        endings = (".csv", ".tsv", ".jsonl", ".parquet", ".gz", ".zst")
        files = [file.name for file in path.iterdir() if file.suffix in endings]
        raise BadInput(
            "this folder is not a saved dataset: it has neither state.json nor dataset_dict.json",
            where=str(path),
            allowed="a file, or a folder written by save_to_disk of Hugging Face datasets",
            do=f"name one of its files: {nearest('', files)}" if files else "",
        )
    splits = _names(_list(_json(path / "dataset_dict.json").get("splits")))
    if not splits:
        raise BadInput("the dataset lists no splits", where=str(path / "dataset_dict.json"), do=_SAVE_AGAIN)
    return join_splits(path, [_read_dataset(path / split, split) for split in splits])


def join_splits(path: Path, parts: Sequence[DatasetPart]) -> Table:
    """Join the splits of a DatasetDict into one table with the column `split`."""
    if not parts:
        raise BadInput(
            "the dataset has no splits", where=str(path), do="pass a dataset with at least one split"
        )
    first = parts[0]
    for part in parts[1:]:
        if set(part.frame.columns) != set(first.frame.columns):
            raise BadInput(
                f"split '{part.split}' has other columns than split '{first.split}'",
                where=str(path),
                allowed=", ".join(sorted(first.frame.columns)),
            )
    notes = ("The dataset's splits replace its column 'split'.",) if "split" in first.frame else ()
    columns = list(dict.fromkeys((*first.frame.columns, "split")))
    frames = [part.frame.with_columns(split=pl.lit(part.split)).select(columns) for part in parts]
    whole = _concatenated(frames, "the splits hold different types of values", path)
    lengths = tuple((part.split, len(part.frame)) for part in parts)
    return frame_table(path, whole, first.unread, lengths, notes)


def dataset_part(frame: pl.DataFrame, info: object, split: str = "") -> DatasetPart:
    """Drop columns without single values; put names in place of class numbers, and null in place of -1."""
    unread = _unread(frame.schema)
    features = info.get("features") if isinstance(info, dict) else None
    for name, feature in (features if isinstance(features, dict) else {}).items():
        classes = feature.get("names") if isinstance(feature, dict) else None
        if (
            classes
            and feature.get("_type") == "ClassLabel"
            and frame.schema.get(name, pl.Null()).is_integer()
        ):
            names = {number: str(one) for number, one in enumerate(classes)}
            named = pl.col(name).replace_strict(names, default=None, return_dtype=pl.String)
            frame = frame.with_columns(named)
    return DatasetPart(split, frame.drop(list(unread)), unread)


def frame_table(
    path: Path,
    frame: pl.DataFrame,
    unread: Mapping[str, str] | None = None,
    splits: tuple[tuple[str, int], ...] = (),
    notes: tuple[str, ...] = (),
) -> Table:
    """The table of a frame, or an error that names the first row that is too long to read."""
    held = _unread(frame.schema)
    frame = frame.drop(list(held))
    table = Table(path, frame.to_dict(as_series=False), splits=splits, unread=unread or held, notes=notes)
    for name, kind in frame.schema.items():
        if kind == pl.String:
            for row in (frame[name].str.len_bytes() > LONGEST).arg_true():
                raise BadInput(f"a row is longer than {LONGEST // 2**20} MiB", where=table.where(row, name))
    return table


def _read_dataset(folder: Path, split: str = "") -> DatasetPart:
    state = _json(folder / "state.json")
    entries = [one.get("filename") for one in _list(state.get("_data_files")) if isinstance(one, dict)]
    files = _names(entries)
    if not files:
        raise BadInput("the dataset lists no data files", where=str(folder / "state.json"), do=_SAVE_AGAIN)
    if state.get("_indices_files") or state.get("_indices_data_files"):
        raise BadInput(
            "the dataset was saved with a selection of its rows",
            where=str(folder),
            do="call flatten_indices() on it and save it again",
        )
    frames = [_read_stream(folder / name) for name in files]
    frame = _concatenated(frames, "the data files have different columns", folder)
    info = folder / "dataset_info.json"
    return dataset_part(frame, _json(info) if info.is_file() else None, split)


def _concatenated(frames: list[pl.DataFrame], otherwise: str, path: Path) -> pl.DataFrame:
    try:
        return pl.concat(frames, how="vertical_relaxed")
    except pl.exceptions.PolarsError:
        raise BadInput(otherwise, where=str(path), do=_SAVE_AGAIN) from None


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
        raise BadInput("a data file of the dataset is truncated", where=str(path), do="copy the folder again")
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
        raise BadInput("the dataset's description is not a JSON object", where=str(path), do=_SAVE_AGAIN)
    return content


def _list(value: object) -> list[object]:
    return value if isinstance(value, list) else []


def _names(values: list[object]) -> list[str]:
    """The names of files beside a description; none if one of them points elsewhere."""
    names = [value for value in values if isinstance(value, str) and value and Path(value).name == value]
    return names if len(names) == len(values) else []


def _unread(schema: Mapping[str, pl.DataType]) -> dict[str, str]:
    """The columns that do not hold single values, and what they hold."""
    out = {}
    for name, kind in schema.items():
        if kind.is_nested():
            out[name] = "records" if kind == pl.Struct else "lists"
        elif kind in (pl.Binary, pl.Object):
            out[name] = "bytes"
    return out
