"""Polars frames as tables: their columns of single values, with class numbers replaced by names."""

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import polars as pl

from psycheck.core.errors import BadInput, check_size
from psycheck.io.streams import LONGEST, bad_file
from psycheck.io.tables import Table

# A damaged file can make Polars panic, which is not an Exception.
UNREADABLE = (pl.exceptions.PolarsError, pl.exceptions.PanicException, OSError, ValueError, RecursionError)
_CELL = 8  # bytes of memory that a cell takes beside its text


def frame_table(
    path: Path,
    frame: pl.DataFrame,
    *,
    unread: Mapping[str, str] | None = None,
    splits: tuple[tuple[str, int], ...] = (),
    notes: tuple[str, ...] = (),
    before: int = 0,
) -> Table:
    """The table of a frame, or an error that names the first row that is too long to read.

    `unread` names the columns that were left out before, if the frame does not have them any more.
    """
    unread_here = unread_columns(frame.schema)
    frame = frame.drop(unread_here)

    # A frame of few bytes can have cells without end: it may hold each text once, and no bytes for a null.
    check_size(_size_in_memory(frame), str(path))

    table = Table(
        path=path,
        columns=frame.to_dict(as_series=False),
        splits=splits,
        unread=unread_here if unread is None else unread,
        notes=notes,
        before=before,
    )
    _refuse_long_cells(frame, table)
    return table


def unread_columns(schema: Mapping[str, pl.DataType]) -> dict[str, str]:
    """The columns that do not hold single values, and what they hold."""
    unread = {}
    for name, kind in schema.items():
        if kind == pl.Struct:
            unread[name] = "records"
        elif kind.is_nested():
            unread[name] = "lists"
        elif kind in (pl.Binary, pl.Object):
            unread[name] = "bytes"
    return unread


def _size_in_memory(frame: pl.DataFrame) -> int:
    # As Python strings each cell takes its own memory, even if the frame holds equal ones once.
    text_columns = pl.col(pl.String, pl.Categorical).cast(pl.String)
    text_bytes = frame.select(text_columns.str.len_bytes().sum())

    size_of_texts = 0
    if text_bytes.width:
        size_of_texts = sum(text_bytes.row(0))
    return _CELL * frame.height * frame.width + size_of_texts


def _refuse_long_cells(frame: pl.DataFrame, table: Table) -> None:
    for name, kind in frame.schema.items():
        if kind != pl.String:
            continue
        long_rows = (frame[name].str.len_bytes() > LONGEST).arg_true()
        if len(long_rows):
            raise BadInput(
                f"a row is longer than {LONGEST // 2**20} MiB",
                code="file.long-row",
                where=table.where(long_rows[0], name),
            )


def with_class_names(frame: pl.DataFrame, info: object) -> pl.DataFrame:
    """Put names in place of class numbers, and null in place of -1.

    `info` is what Hugging Face datasets stores about a dataset, as JSON; it may be damaged.
    """
    features = info.get("features") if isinstance(info, dict) else None
    if not isinstance(features, dict):
        return frame

    for column, feature in features.items():
        class_names = _class_names(feature)
        # A column that is missing, or holds names already, stays as it is.
        kind = frame.schema.get(column, pl.Null())
        if not class_names or not kind.is_integer():
            continue

        # A number without a name becomes null: -1 is how datasets writes "not annotated".
        name_by_number = {number: str(name) for number, name in enumerate(class_names)}
        named = pl.col(column).replace_strict(name_by_number, default=None, return_dtype=pl.String)
        frame = frame.with_columns(named)
    return frame


def _class_names(feature: object) -> Sequence[Any]:
    """The names of the classes of a feature; none if it is not one of classes."""
    if not isinstance(feature, dict) or feature.get("_type") != "ClassLabel":
        return ()
    return feature.get("names") or ()


def joined_splits(path: Path, frames: Mapping[str, pl.DataFrame]) -> Table:
    """Join the splits of a DatasetDict into one table with the column `split`."""
    if not frames:
        raise bad_file(
            path=path,
            what="the dataset has no splits",
            code="dataset.no-splits",
            do="pass a dataset with at least one split",
        )
    single_values = {}
    for split, frame in frames.items():
        single_values[split] = frame.drop(unread_columns(frame.schema))
    _refuse_unequal_columns(path, single_values)

    # All splits have the same columns, perhaps in another order: that of the first counts.
    first_split = next(iter(frames))
    names = single_values[first_split].columns
    columns = list(dict.fromkeys((*names, "split")))
    with_split = []
    for split, frame in single_values.items():
        marked = frame.with_columns(split=pl.lit(split))
        with_split.append(marked.select(columns))

    notes: tuple[str, ...] = ()
    if "split" in names:
        notes = ("The dataset's splits replace its column 'split'.",)
    joined = concatenated(with_split, path, otherwise="the splits hold different types of values")
    lengths = tuple((split, len(frame)) for split, frame in frames.items())
    return frame_table(
        path=path,
        frame=joined,
        unread=unread_columns(frames[first_split].schema),
        splits=lengths,
        notes=notes,
    )


def _refuse_unequal_columns(path: Path, frames: Mapping[str, pl.DataFrame]) -> None:
    first_split = next(iter(frames))
    names = frames[first_split].columns
    for split, frame in frames.items():
        if set(frame.columns) != set(names):
            raise bad_file(
                path=path,
                what=f"split '{split}' has other columns than split '{first_split}'",
                code="dataset.unequal-columns",
                allowed=", ".join(sorted(names)),
            )


def concatenated(frames: list[pl.DataFrame], path: Path, *, otherwise: str) -> pl.DataFrame:
    """The rows of all frames; frames that do not fit together are an error that says `otherwise`."""
    # Relaxed: one part may hold whole numbers where another has a gap, and so floats.
    try:
        return pl.concat(frames, how="vertical_relaxed")
    except pl.exceptions.PolarsError:
        raise bad_file(
            path=path,
            what=otherwise,
            code="dataset.unequal-parts",
            do="save the dataset again",
        ) from None
