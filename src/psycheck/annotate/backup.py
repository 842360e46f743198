"""Backup and restore: all rows as compressed JSON lines, from either kind of database and into either."""

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any, Final

import zstandard
from sqlalchemy import Connection, func, insert, select, text

from psycheck.annotate.database import Database, check_proof, new_proof, server_value
from psycheck.annotate.tables import invitation, item, metadata, person, project, reason, server
from psycheck.core.errors import BadInput, check_piece, counted
from psycheck.io.writing import writing, written

ENDING: Final = ".jsonl.zst"
_FORMAT: Final = "psycheck annotations 1"
_PIECE: Final = 1_000  # rows per statement
_READ: Final = 2**20  # bytes per read
_MOST_OF_A_ROW: Final = 2**26  # bytes: far above any text with all that is said of it
# Columns that hold texts, which a database with a key encrypts.
_SEALED: Final = {item.name: ("text", "about"), reason.name: ("why",)}

Rows = list[dict[str, Any]]


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
        zstandard.ZstdCompressor(level=10).stream_writer(file) as packed,
        db.read() as connection,
    ):
        if db.locks_rows:
            connection.execute(text("SET TRANSACTION ISOLATION LEVEL REPEATABLE READ"))

        packed.write(_line({"format": _FORMAT, "encrypted": db.cipher is not None}))
        for table in metadata.sorted_tables:
            query = select(table).order_by(*table.primary_key)
            for row in connection.execution_options(yield_per=_PIECE).execute(query).mappings():
                packed.write(_line({"table": table.name, "row": dict(row)}))
                rows += 1
        # A file that was cut short lacks this line.
        packed.write(_line({"rows": rows}))
    return rows


def restore(db: Database, path: Path) -> int:
    """Fill an empty database from a backup, whole or not at all; returns the number of rows.

    A backup that is not encrypted can go into a database with a key, and is encrypted there.
    """
    lines = _lines(path)
    head = next(lines, {})
    if head.get("format") != _FORMAT:
        raise BadInput(
            "this file is not a backup of annotations",
            code="backup.not-a-backup",
            where=str(path),
        )
    encrypted = bool(head.get("encrypted"))
    if encrypted and db.cipher is None:
        raise BadInput(
            "the backup is encrypted, and no key is given",
            code="backup.key-missing",
            where=str(path),
            do="name the `key_file`",
        )

    with db.write() as connection:
        _refuse_used(connection)
        secret = server_value(connection, "secret")
        connection.execute(server.delete())

        rows_of_table = _read_rows(lines, path)
        rows = sum(len(table_rows) for table_rows in rows_of_table.values())
        if not encrypted:
            _seal(db, rows_of_table)
        rows_of_table["server"] = _server_rows(
            db, rows_of_table.get("server", []), path, encrypted=encrypted, secret=secret
        )
        # Sessions of the old server end.
        rows_of_table.pop("session", None)
        _insert(db, connection, rows_of_table)
    return rows


def _refuse_used(connection: Connection) -> None:
    """Refuse a database that has people, projects or invitations."""
    for table in (person, project, invitation):
        if connection.scalar(select(func.count()).select_from(table)):
            raise BadInput(
                "the database is not empty",
                code="backup.database-not-empty",
                do="restore into a new folder or an empty database",
            )


def _read_rows(lines: Iterator[dict[str, Any]], path: Path) -> dict[str, Rows]:
    """The rows of a backup by table; its last line must say how many there are."""
    rows_of_table: dict[str, Rows] = {}
    rows = 0
    for line in lines:
        if "rows" in line:
            if line["rows"] == rows:
                return rows_of_table
            break
        table_name, row = _row(line, path)
        rows_of_table.setdefault(table_name, []).append(row)
        rows += 1

    raise BadInput(
        "the backup is damaged: it is cut short",
        code="backup.cut-short",
        where=str(path),
        do=f"use another backup ({counted(rows, 'row')} were read)",
    )


def _row(line: dict[str, Any], path: Path) -> tuple[str, dict[str, Any]]:
    """The table and the row of a line; older backups may lack columns."""
    table = metadata.tables.get(str(line.get("table")))
    row = line.get("row")
    if table is None or not isinstance(row, dict) or not row.keys() <= set(table.columns.keys()):
        raise BadInput(
            "the backup holds a row that fits no table",
            code="backup.unknown-row",
            where=str(path),
            do="use another backup",
        )
    return table.name, row


def _seal(db: Database, rows_of_table: dict[str, Rows]) -> None:
    """Encrypt the texts of rows from a backup that is not encrypted, if the database has a key."""
    for table_name, columns in _SEALED.items():
        for row in rows_of_table.get(table_name, []):
            row.update({column: db.sealed(row[column]) for column in columns if column in row})


def _server_rows(
    db: Database,
    backup_rows: Rows,
    path: Path,
    *,
    encrypted: bool,
    secret: str | None,
) -> Rows:
    """The rows of the server; a key that is not the backup's is refused.

    A database that is encrypted only now gets a proof of its key. With the new server's secret, cookies of
    the old one are not valid.
    """
    values = {row["name"]: row["value"] for row in backup_rows}
    if encrypted:
        check_proof(db, values.get("proof"), str(path))
    elif db.cipher is not None:
        values["proof"] = new_proof(db)
    values["secret"] = secret or values.get("secret", "")
    return [{"name": name, "value": value} for name, value in values.items()]


def _insert(db: Database, connection: Connection, rows_of_table: dict[str, Rows]) -> None:
    """Insert rows table by table, those that others refer to first."""
    for table in metadata.sorted_tables:
        rows = rows_of_table.get(table.name, [])
        for start in range(0, len(rows), _PIECE):
            connection.execute(insert(table), rows[start : start + _PIECE])

        # PostgreSQL numbers new rows by a sequence, which does not notice ids that we insert.
        if db.locks_rows and "id" in table.c and rows:
            last_id = max(row["id"] for row in rows)
            sequence = func.pg_get_serial_sequence(f'"{table.name}"', "id")
            connection.execute(select(func.setval(sequence, last_id)))


def _line(record: dict[str, Any]) -> bytes:
    return json.dumps(record, ensure_ascii=False).encode("utf-8") + b"\n"


def _lines(path: Path) -> Iterator[dict[str, Any]]:
    """The records of a backup; a file that is damaged anywhere is one clear error."""
    size = 0
    unfinished = b""
    try:
        with path.open("rb") as file, zstandard.ZstdDecompressor().stream_reader(file) as packed:
            while piece := packed.read(_READ):
                size += len(piece)
                check_piece(piece, size, str(path))
                *lines, unfinished = (unfinished + piece).split(b"\n")
                for line in lines:
                    yield _record(line)
                _refuse_endless_row(unfinished, path)
    except (zstandard.ZstdError, ValueError, RecursionError, OSError) as error:
        raise BadInput(
            f"the backup cannot be read ({type(error).__name__})",
            code="backup.unreadable",
            where=str(path),
            do="use another backup",
        ) from error


def _refuse_endless_row(unfinished: bytes, path: Path) -> None:
    """Refuse a row without an end: a small file can unpack to one that fills the memory."""
    if len(unfinished) > _MOST_OF_A_ROW:
        raise BadInput(
            f"the backup holds a row of more than {_MOST_OF_A_ROW // 2**20} MiB",
            code="backup.endless-row",
            where=str(path),
            do="use another backup",
        )


def _record(line: bytes) -> dict[str, Any]:
    record = json.loads(line)
    if not isinstance(record, dict):
        raise ValueError
    return record
