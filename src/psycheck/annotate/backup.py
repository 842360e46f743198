"""Backup: all rows of a database as compressed JSON lines; `restore` reads them into either kind of database.

The first line says what the file is, the last one how many rows there are. Each row is a line of its own,
and rows that others refer to come first.
"""

import json
from pathlib import Path
from typing import Any, Final

import zstandard
from sqlalchemy import select, text

from psycheck.annotate.database import Database
from psycheck.annotate.tables import metadata
from psycheck.core.errors import BadInput
from psycheck.io.writing import writing, written

ENDING: Final = ".jsonl.zst"
FORMAT: Final = "psycheck annotations 1"
_PIECE: Final = 1_000  # rows that the database hands over at once


def backup(db: Database, path: Path) -> int:
    """Write every row of a database to a private file, from one consistent view; returns how many.

    Texts of an encrypted database stay encrypted: keep its key apart, and safe.
    """
    if not path.name.endswith(ENDING):
        raise BadInput(
            "this is not a name for a backup",
            code="backup.bad-name",
            where=str(path),
            allowed=f"FILE{ENDING}",
        )
    rows = 0
    with (
        writing(path),
        written(path) as part,
        part.open("wb") as file,
        zstandard.ZstdCompressor(level=10, write_checksum=True).stream_writer(file) as packed,
        db.read() as connection,
    ):
        if db.locks_rows:
            connection.execute(text("SET TRANSACTION ISOLATION LEVEL REPEATABLE READ"))

        packed.write(_line({"format": FORMAT, "encrypted": db.cipher is not None}))
        for table in metadata.sorted_tables:
            query = select(table).order_by(*table.primary_key)
            for row in connection.execution_options(yield_per=_PIECE).execute(query).mappings():
                packed.write(_line({"table": table.name, "row": dict(row)}))
                rows += 1
        # A file that was cut short lacks this line.
        packed.write(_line({"rows": rows}))
    return rows


def _line(record: dict[str, Any]) -> bytes:
    return json.dumps(record, ensure_ascii=False).encode("utf-8") + b"\n"
