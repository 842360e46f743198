"""Backup and restore: all rows as compressed JSON lines, from either kind of database and into either."""

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any, Final

import zstandard
from sqlalchemy import func, insert, select, text

from psycheck.annotate.database import Database, check_proof, new_proof, server_value
from psycheck.annotate.tables import item, metadata, reason, server
from psycheck.errors import BadInput, check_piece, counted
from psycheck.files.write import writing, written

ENDING: Final = ".jsonl.zst"
_FORMAT: Final = "psycheck annotations 1"
_PIECE: Final = 1_000
_SEALED: Final = {item.name: ("text", "about"), reason.name: ("why",)}


def backup(db: Database, path: Path) -> int:
    """Write every row of a database to a private file, from one consistent view; returns how many.

    Texts of an encrypted database stay encrypted: keep its key apart, and safe.
    """
    if not path.name.endswith(ENDING):
        raise BadInput("this is not a name for a backup", where=str(path), allowed=f"FILE{ENDING}")
    rows = 0
    with (
        writing(path),
        written(path) as part,
        part.open("wb") as whole,
        zstandard.ZstdCompressor(level=10).stream_writer(whole) as packed,
        db.read() as connection,
    ):
        if db.locks_rows:
            connection.execute(text("SET TRANSACTION ISOLATION LEVEL REPEATABLE READ"))
        packed.write(_line({"format": _FORMAT, "encrypted": db.cipher is not None}))
        for table in metadata.sorted_tables:
            wanted = select(table).order_by(*table.primary_key)
            for row in connection.execution_options(yield_per=_PIECE).execute(wanted).mappings():
                packed.write(_line({"table": table.name, "row": dict(row)}))
                rows += 1
        packed.write(_line({"rows": rows}))  # a cut file lacks it
    return rows


def restore(db: Database, path: Path) -> int:
    """Fill an empty database from a backup, whole or not at all; returns the number of rows.

    A backup that is not encrypted can go into a database with a key, and is encrypted there.
    """
    lines = _lines(path)
    head = next(lines, {})
    if head.get("format") != _FORMAT:
        raise BadInput("this file is not a backup of annotations", where=str(path))
    if (encrypted := bool(head.get("encrypted"))) and db.cipher is None:
        raise BadInput(
            "the backup is encrypted, and no key is given", where=str(path), do="name the `key_file`"
        )
    rows, ended = 0, False
    with db.write() as connection:
        if any(connection.scalar(select(func.count()).select_from(table)) for table in _people()):
            raise BadInput("the database is not empty", do="restore into a new folder or an empty database")
        secret = server_value(connection, "secret")
        connection.execute(server.delete())
        pieces: dict[str, list[dict[str, Any]]] = {}
        for line in lines:
            if "rows" in line:
                ended = line["rows"] == rows
                break
            row, name = _row(line, path)
            if not encrypted:
                row |= {key: db.sealed(row[key]) for key in _SEALED.get(name, ()) if key in row}
            pieces.setdefault(name, []).append(row)
            rows += 1
        if not ended:
            what = "the backup is damaged: it is cut short"
            raise BadInput(what, where=str(path), do=f"use another backup ({counted(rows, 'row')} were read)")
        _check_key(db, pieces, path, encrypted=encrypted, secret=secret)
        for table in metadata.sorted_tables:
            whole = pieces.get(table.name, [])
            for start in range(0, len(whole), _PIECE):
                connection.execute(insert(table), whole[start : start + _PIECE])
            if db.locks_rows and "id" in table.c and whole:
                last = max(row["id"] for row in whole)
                sequence = func.pg_get_serial_sequence(f'"{table.name}"', "id")
                connection.execute(select(func.setval(sequence, last)))
    return rows


def _row(line: dict[str, Any], path: Path) -> tuple[dict[str, Any], str]:
    """A row and its table; older backups may lack columns."""
    table, row = metadata.tables.get(str(line.get("table"))), line.get("row")
    if table is None or not isinstance(row, dict) or not row.keys() <= {*table.columns.keys()}:
        what = "the backup holds a row that fits no table"
        raise BadInput(what, where=str(path), do="use another backup")
    return row, table.name


def _people() -> list[Any]:
    return [metadata.tables[name] for name in ("person", "project", "invitation")]


def _check_key(
    db: Database, pieces: dict[str, list[dict[str, Any]]], path: Path, *, encrypted: bool, secret: str | None
) -> None:
    """Refuse a key that is not the backup's; a database that is encrypted only now gets its own proof."""
    values = {row["name"]: row["value"] for row in pieces.get("server", [])}
    if encrypted:
        check_proof(db, values.get("proof"), str(path))
    elif db.cipher is not None:
        values["proof"] = new_proof(db)
    values["secret"] = secret or values.get("secret", "")  # sessions of the old server end
    pieces["server"] = [{"name": name, "value": value} for name, value in values.items()]
    pieces.pop("session", None)


def _line(record: dict[str, Any]) -> bytes:
    return json.dumps(record, ensure_ascii=False).encode("utf-8") + b"\n"


def _record(line: bytes) -> dict[str, Any]:
    if not isinstance(record := json.loads(line), dict):
        raise ValueError
    return record


def _lines(path: Path) -> Iterator[dict[str, Any]]:
    """The records of a backup; a file that is damaged anywhere is one clear error."""
    size = 0
    try:
        with path.open("rb") as file, zstandard.ZstdDecompressor().stream_reader(file) as packed:
            rest = b""
            while piece := packed.read(2**20):
                size += len(piece)
                *whole, rest = (rest + check_piece(piece, size, str(path))).split(b"\n")
                yield from (_record(line) for line in whole)
    except (zstandard.ZstdError, ValueError, RecursionError, OSError) as error:
        what = f"the backup cannot be read ({type(error).__name__})"
        raise BadInput(what, where=str(path), do="use another backup") from error
