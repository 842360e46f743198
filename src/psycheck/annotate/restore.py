"""Restore: the rows of a backup into an empty database of either kind, whole or not at all.

Rows go into the database as they are read, so that memory stays bounded however much a file unpacks to; one
transaction takes them back if the file turns out to be damaged.
"""

import json
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Final

import zstandard
from sqlalchemy import Connection, Table, func, insert, select
from sqlalchemy.exc import StatementError

from psycheck.annotate.backup import FORMAT
from psycheck.annotate.database import (
    Database,
    check_proof,
    new_proof,
    server_value,
)
from psycheck.annotate.tables import (
    invitation,
    item,
    metadata,
    person,
    project,
    reason,
    server,
    session,
)
from psycheck.core.errors import BadInput, check_piece, counted

_READ: Final = 2**20  # bytes per read
_LARGEST_ROW: Final = 2**26  # bytes: far above any text with all that is said of it
_PIECE: Final = 1_000  # rows per statement
_PIECE_BYTES: Final = 2**24
# Columns that hold texts, which a database with a key encrypts.
_SEALED: Final = {item.name: ("text", "about"), reason.name: ("why",)}

Record = dict[str, Any]


@dataclass(slots=True)
class _Piece:
    """Rows of one table that wait to be inserted, and how many bytes they took."""

    rows: list[Record] = field(default_factory=list)
    size: int = 0

    @property
    def is_full(self) -> bool:
        return len(self.rows) >= _PIECE or self.size >= _PIECE_BYTES


def restore(db: Database, path: Path) -> int:
    """Fill an empty database from a backup, whole or not at all; returns the number of rows.

    A backup that is not encrypted can go into a database with a key, and is encrypted there.
    """
    # A stream: the head is read here, all else inside the transaction.
    lines = _lines(path)
    encrypted = _check_head(db, lines, path)
    try:
        with db.write() as connection:
            # Rows of two servers under the same numbers would mix people and answers.
            _refuse_used(connection)
            return _fill(db, connection, lines, path, encrypted=encrypted)
    except (StatementError, OverflowError) as error:
        raise BadInput(
            "the backup holds rows that contradict each other, or values that fit no column",
            code="backup.contradicts",
            where=str(path),
            do="use another backup",
        ) from error


def _check_head(db: Database, lines: Iterator[tuple[Record, int]], path: Path) -> bool:
    """Whether a backup is encrypted, from its first line; other files, and a missing key, are refused."""
    head, _ = next(lines, ({}, 0))
    if head.get("format") != FORMAT:
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
    return encrypted


def _refuse_used(connection: Connection) -> None:
    """Refuse a database that has people, projects or invitations."""
    for table in (person, project, invitation):
        if connection.scalar(select(func.count()).select_from(table)):
            raise BadInput(
                "the database is not empty",
                code="backup.database-not-empty",
                do="restore into a new folder or an empty database",
            )


def _fill(
    db: Database,
    connection: Connection,
    lines: Iterator[tuple[Record, int]],
    path: Path,
    *,
    encrypted: bool,
) -> int:
    """Insert all rows of a backup; returns how many it has."""
    pieces: dict[str, _Piece] = {}
    inserted: Counter[str] = Counter()
    # Encrypted rows stay as they are: the key is checked at the end.
    seal = db.cipher is not None and not encrypted

    rows = 0
    for line, size in lines:
        if "rows" in line:
            _check_end(line, rows, lines, path)
            break
        table, row = _row(line, path)
        rows += 1
        # Sessions of the old server end.
        if table is session:
            continue
        if seal:
            _seal(db, table, row)

        piece = pieces.setdefault(table.name, _Piece())
        piece.rows.append(row)
        piece.size += size
        if piece.is_full:
            # The few values of the server never fill a piece; a file that says so is forged.
            if table is server:
                raise _fits_no_table(path)
            _insert_pieces(connection, pieces, inserted)
    else:
        raise _cut_short(rows, path)

    server_rows = pieces.pop(server.name, _Piece()).rows
    _insert_pieces(connection, pieces, inserted)
    _insert_server_rows(db, connection, server_rows, path, encrypted=encrypted)
    if db.locks_rows:
        _number_on(connection, inserted)
    return rows


def _insert_pieces(
    connection: Connection,
    pieces: dict[str, _Piece],
    inserted: Counter[str],
) -> None:
    """Insert the rows that wait, table by table, those that others refer to first."""
    for table in metadata.sorted_tables:
        piece = pieces.get(table.name)
        if piece is None or table is server:
            continue
        connection.execute(insert(table), piece.rows)
        inserted[table.name] += len(piece.rows)
        del pieces[table.name]


def _insert_server_rows(
    db: Database,
    connection: Connection,
    backup_rows: list[Record],
    path: Path,
    *,
    encrypted: bool,
) -> None:
    """Insert the values of the server; a key that is not the backup's is refused.

    A database that is encrypted only now gets a proof of its key. With the new server's secret, cookies of
    the old one are not valid.
    """
    values = {row["name"]: row["value"] for row in backup_rows}
    if encrypted:
        check_proof(db, values.get("proof"), str(path))
    elif db.cipher is not None:
        values["proof"] = new_proof(db)

    values["secret"] = server_value(connection, "secret") or values.get("secret", "")
    connection.execute(server.delete())
    connection.execute(
        insert(server),
        [{"name": name, "value": value} for name, value in values.items()],
    )


def _number_on(connection: Connection, inserted: Counter[str]) -> None:
    """Let PostgreSQL number new rows after ours: its sequences do not notice ids that we insert."""
    for table in metadata.sorted_tables:
        if "id" not in table.c or not inserted[table.name]:
            continue
        last_id = connection.scalar(select(func.max(table.c.id)))
        sequence = func.pg_get_serial_sequence(f'"{table.name}"', "id")
        connection.execute(select(func.setval(sequence, last_id)))


def _row(line: Record, path: Path) -> tuple[Table, Record]:
    """The table and the row of a line; older backups may lack columns."""
    table = metadata.tables.get(str(line.get("table")))
    row = line.get("row")
    if table is None or not isinstance(row, dict) or not row.keys() <= set(table.columns.keys()):
        raise _fits_no_table(path)
    return table, row


def _fits_no_table(path: Path) -> BadInput:
    return BadInput(
        "the backup holds a row that fits no table",
        code="backup.unknown-row",
        where=str(path),
        do="use another backup",
    )


def _seal(db: Database, table: Table, row: Record) -> None:
    """Encrypt the texts of a row from a backup that is not encrypted."""
    for column in _SEALED.get(table.name, ()):
        if column in row:
            row[column] = db.sealed(row[column])


def _check_end(
    last_line: Record,
    rows: int,
    lines: Iterator[tuple[Record, int]],
    path: Path,
) -> None:
    """Refuse a backup that has other than the number of rows that its last line says, or goes on after it."""
    # To read on to the end also checks the sum over the content.
    goes_on = next(lines, None) is not None
    if last_line["rows"] != rows or goes_on:
        raise _cut_short(rows, path)


def _cut_short(rows: int, path: Path) -> BadInput:
    return BadInput(
        "the backup is damaged: it does not have the rows that its last line says",
        code="backup.cut-short",
        where=str(path),
        do=f"use another backup ({counted(rows, 'row')} were read)",
    )


def _lines(path: Path) -> Iterator[tuple[Record, int]]:
    """The records of a backup and their sizes; a file that is damaged anywhere is one clear error."""
    size = 0
    unfinished = b""
    try:
        with (
            path.open("rb") as file,
            zstandard.ZstdDecompressor().stream_reader(file) as packed,
        ):
            while piece := packed.read(_READ):
                size += len(piece)
                check_piece(piece, size, str(path))
                *lines, unfinished = (unfinished + piece).split(b"\n")
                for line in lines:
                    yield _record(line), len(line)
                _refuse_endless_row(unfinished, path)
    except (
        zstandard.ZstdError,
        ValueError,
        RecursionError,
        OSError,
    ) as error:
        raise BadInput(
            f"the backup cannot be read ({type(error).__name__})",
            code="backup.unreadable",
            where=str(path),
            do="use another backup",
        ) from error


def _refuse_endless_row(unfinished: bytes, path: Path) -> None:
    """Refuse a row without an end: a small file can unpack to one that fills the memory."""
    if len(unfinished) > _LARGEST_ROW:
        raise BadInput(
            f"the backup holds a row of more than {_LARGEST_ROW // 2**20} MiB",
            code="backup.endless-row",
            where=str(path),
            do="use another backup",
        )


def _record(line: bytes) -> Record:
    record = json.loads(line)
    if not isinstance(record, dict):
        raise ValueError
    return record
