"""Folders that Hugging Face datasets wrote with `save_to_disk`, read without that library."""

import json
import re
from mmap import ACCESS_READ, mmap
from pathlib import Path

import polars as pl

from psycheck.core.errors import check_size, nearest
from psycheck.io.frames import UNREADABLE, concatenated, frame_table, joined_splits, with_class_names
from psycheck.io.streams import bad_file
from psycheck.io.tables import Table, readable_name

_STATE = "state.json"
_SPLITS = "dataset_dict.json"
_INFO = "dataset_info.json"

_SAVE_AGAIN = "save the dataset again"
_COPY_AGAIN = "copy the folder again, or save the dataset again"

_END_OF_STREAM = b"\xff\xff\xff\xff\x00\x00\x00\x00"
_COMPRESSED_BUFFER = re.compile(rb"\x28\xb5\x2f\xfd|\x04\x22\x4d\x18")  # how zstd and LZ4 begin
_ADDRESS_SPACE = 2**47  # bytes that a process can have


def read_dataset_folder(path: Path) -> Table:
    """Read a folder that `save_to_disk` wrote; the parts of a DatasetDict become the column `split`."""
    if (path / _STATE).is_file():
        return frame_table(path, _read_dataset(path))
    if not (path / _SPLITS).is_file():
        raise _not_a_dataset(path)

    splits = _names_within(_read_json(path / _SPLITS).get("splits"))
    if not splits:
        raise bad_file(
            path=path / _SPLITS,
            what="the dataset lists no splits",
            code="dataset.no-splits",
            do=_SAVE_AGAIN,
        )
    return joined_splits(path, {split: _read_dataset(path / split) for split in splits})


def _not_a_dataset(path: Path) -> Exception:
    readable_files = [entry.name for entry in path.iterdir() if readable_name(entry.name)]
    return bad_file(
        path=path,
        what=f"this folder is not a saved dataset: it has neither {_STATE} nor {_SPLITS}",
        code="dataset.not-a-dataset",
        do=f"name one of its files: {nearest('', readable_files)}" if readable_files else "",
        allowed="a file, or a folder written by save_to_disk of Hugging Face datasets",
    )


def _read_dataset(folder: Path) -> pl.DataFrame:
    """The rows of one dataset, all of its data files together."""
    state = _read_json(folder / _STATE)
    files = [folder / name for name in _data_files(state)]
    if not files:
        raise bad_file(
            path=folder / _STATE,
            what="the dataset lists no data files",
            code="dataset.no-files",
            do=_SAVE_AGAIN,
        )
    # The data files then hold all rows, and another file tells which of them belong to the dataset.
    if state.get("_indices_files") or state.get("_indices_data_files"):
        raise bad_file(
            path=folder,
            what="the dataset was saved with a selection of its rows",
            code="dataset.selection",
            do="call flatten_indices() on it and save it again",
        )

    check_size(sum(_unpacked_size(file) for file in files), str(folder))
    frame = concatenated(
        [_read_stream(file) for file in files],
        folder,
        otherwise="the data files have different columns",
    )
    info = folder / _INFO
    return with_class_names(frame, _read_json(info) if info.is_file() else None)


def _data_files(state: dict[str, object]) -> list[str]:
    entries = state.get("_data_files")
    if not isinstance(entries, list):
        return []
    return _names_within([entry.get("filename") for entry in entries if isinstance(entry, dict)])


def _read_stream(path: Path) -> pl.DataFrame:
    try:
        with path.open("rb") as file:
            # From the end (2); a file shorter than the mark is read whole.
            tail = min(len(_END_OF_STREAM), path.stat().st_size)
            file.seek(-tail, 2)
            complete = file.read() == _END_OF_STREAM
        frame = pl.read_ipc_stream(path)
    except UNREADABLE as error:
        missing = isinstance(error, FileNotFoundError)
        problem = "does not exist" if missing else "cannot be read"
        raise bad_file(
            path=path,
            what=f"a data file of the dataset {problem} ({type(error).__name__})",
            code="dataset.file-missing" if missing else "dataset.file-damaged",
            do=_COPY_AGAIN,
        ) from None

    # Polars reads the rows before the cut without a word.
    if not complete:
        raise bad_file(
            path=path,
            what="a data file of the dataset is truncated",
            code="dataset.file-truncated",
            do="copy the folder again",
        )
    return frame


def _unpacked_size(path: Path) -> int:
    """The bytes of an Arrow file, and those that its compressed buffers say they unpack to."""
    if not path.is_file() or not path.stat().st_size:
        return 0  # refused when it is read

    with path.open("rb") as file, mmap(file.fileno(), 0, access=ACCESS_READ) as content:
        # The unpacked size stands in the 8 bytes before each compressed buffer.
        starts = [match.start() for match in re.finditer(_COMPRESSED_BUFFER, content)]
        sizes = [int.from_bytes(content[max(start - 8, 0) : start], "little") for start in starts]

        # Numbers may contain the mark of a buffer by chance: the size before it is then far too large.
        return len(content) + sum(size for size in sizes if size < _ADDRESS_SPACE)


def _read_json(path: Path) -> dict[str, object]:
    try:
        content = json.loads(path.read_text("utf-8"))
    except (OSError, ValueError, RecursionError) as error:
        raise bad_file(
            path=path,
            what=f"the dataset's description cannot be read ({type(error).__name__})",
            code="dataset.description-unreadable",
            do=_COPY_AGAIN,
        ) from None

    if not isinstance(content, dict):
        raise bad_file(
            path=path,
            what="the dataset's description is not a JSON object",
            code="dataset.description-unreadable",
            do=_SAVE_AGAIN,
        )
    return content


def _names_within(values: object) -> list[str]:
    """The names of files beside a description; none if one of them points elsewhere."""
    # A description from elsewhere must not lead to files outside its folder.
    if not isinstance(values, list):
        return []
    if not all(_is_plain_name(value) for value in values):
        return []
    return list(values)


def _is_plain_name(value: object) -> bool:
    """Whether a value names an entry of a folder: not empty, no path, no step upwards."""
    return isinstance(value, str) and value != "" and Path(value).name == value
