"""Arrow and Feather files: the format for files, or a stream."""

from pathlib import Path

import polars as pl

from psycheck.io.frames import UNREADABLE, frame_table
from psycheck.io.streams import bad_file
from psycheck.io.tables import Table

_MAGIC = b"ARROW1"


def read_arrow(path: Path) -> Table:
    """Read a whole Arrow file."""
    with path.open("rb") as file:
        is_file_format = file.read(len(_MAGIC)) == _MAGIC
    try:
        frame = pl.read_ipc(path) if is_file_format else pl.read_ipc_stream(path)
    except UNREADABLE as error:
        raise bad_file(
            path=path,
            what=f"the Arrow file cannot be read ({type(error).__name__})",
            code="file.damaged",
            do="save it again, or as Parquet",
        ) from None
    return frame_table(path, frame)
