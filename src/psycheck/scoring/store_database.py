"""The database of the store: transactions, migrations, keyed hashes, and the checksums of its rows."""

import sqlite3
import warnings
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from hashlib import blake2b
from pathlib import Path
from typing import Any

from psycheck.core.errors import PsycheckWarning
from psycheck.scoring.store_file import clear_errors, connect, failure, key_of

MIGRATIONS = Path(__file__).with_name("store.sql").read_text("utf-8").split("-- step\n")[1:]
HASH_BYTES = 16  # of an item, and of a checksum

_KEYED_VERSION = 3  # the version from which a store has a key

Damaged = tuple[int, Any]
"""The id of a row that does not match its checksum, and its hashes, which may be of any type."""


class StoreDatabase:
    """One SQLite file with its key.

    `passes` is the number of hashes that an item goes through: 2 in a store that was made before it had a
    key, whose hashes were hashed once more, else 1.
    """

    def __init__(self, path: Path) -> None:
        self.path = path
        self.key = b""
        self.passes = 1
        with clear_errors(path):
            self._connection, self._is_kept = connect(path)
            self._connection.execute("PRAGMA secure_delete = ON")  # what is dropped is overwritten
            self._connection.execute("PRAGMA cell_size_check = ON")
            self._migrate()

    def close(self) -> None:
        """Close the file."""
        self._connection.close()

    def execute(self, query: str, values: Sequence[Any] = ()) -> sqlite3.Cursor:
        """Run one statement."""
        return self._connection.execute(query, values)

    def execute_each(self, query: str, rows: Iterator[Sequence[Any]] | Sequence[Sequence[Any]]) -> None:
        """Run one statement for each row of values."""
        self._connection.executemany(query, rows)

    def insert(self, table: str, row: Mapping[str, object], how: str = "INSERT") -> None:
        """Insert a row, given its values by column."""
        columns = ", ".join(row)
        marks = ", ".join("?" * len(row))
        statement = f"{how} INTO {table} ({columns}) VALUES ({marks})"
        self.execute(statement, tuple(row.values()))

    @contextmanager
    def transaction(self) -> Iterator[None]:
        """Everything within is stored, or nothing; one within another is part of it."""
        with clear_errors(self.path):
            if self._connection.in_transaction:
                yield
                return

            self.execute("BEGIN IMMEDIATE")
            try:
                yield
            except BaseException:
                if self._connection.in_transaction:  # SQLite itself rolls back when the disk is full
                    self.execute("ROLLBACK")
                raise
            self.execute("COMMIT")

    def shrink(self) -> None:
        """Rewrite the file and empty its log, so that no byte of what was deleted is left in them."""
        with clear_errors(self.path):
            self.execute("PRAGMA temp_store = MEMORY")
            self.execute("VACUUM")
            busy, *_ = self.execute("PRAGMA wal_checkpoint(TRUNCATE)").fetchone()
        if busy:
            raise failure(self.path, "locked")

    def keyed(self, digests: bytes) -> bytes:
        """Hashes of 16 bytes each, hashed with the key of this store."""
        # Copying a fresh state is faster than making one.
        fresh = blake2b(key=self.key, digest_size=HASH_BYTES).copy
        hashes: list[bytes] = []
        for start in range(0, len(digests), HASH_BYTES):
            end = start + HASH_BYTES
            state = fresh()
            state.update(digests[start:end])
            hashes.append(state.digest())
        return b"".join(hashes)

    def seal(self, *values: bytes | str | float | None) -> bytes:
        """The checksum of a row, 16 bytes."""
        blobs: list[bytes] = []
        frame: list[object] = []
        for value in values:
            if isinstance(value, bytes):
                blobs.append(value)
                # Each blob leaves its length in the frame, so that no two rows give the same bytes.
                frame.append((len(value),))
            else:
                frame.append(value)

        content = b"".join([repr(frame).encode(), *blobs])
        state = blake2b(
            content,
            key=self.key,
            digest_size=HASH_BYTES,
            person=b"seal",
        )
        return state.digest()

    def discard(self, table: str, damaged: Sequence[Damaged]) -> None:
        """Drop damaged rows and warn about them; if the file itself is damaged, stop."""
        if not damaged:
            return

        with self.transaction():
            # A few wrong rows can be computed again; in a damaged file, no other row can be trusted.
            outcome = self.execute("PRAGMA integrity_check(1)").fetchone()
            if outcome != ("ok",):
                raise failure(self.path, "damaged")

            for row_id, _ in damaged:
                self.execute(f"DELETE FROM {table} WHERE rowid = ?", (row_id,))
                if table == "batch":
                    self.execute("DELETE FROM reply WHERE batch = ?", (row_id,))

        blobs = [hashes for _, hashes in damaged if isinstance(hashes, bytes)]
        items = sum(len(hashes) // HASH_BYTES for hashes in blobs)
        what = f"dropped {len(damaged):,} of its batches, with {items:,} items, which are computed again"
        warnings.warn(
            f"the score store is damaged: {what} ({self.path})",
            PsycheckWarning,
            stacklevel=3,
        )

    def _migrate(self) -> None:
        """Bring the tables to the newest version, and check that the key file belongs to them."""
        # store.sql uses both, and so do the queries of the store.
        self._connection.create_function("keyed", 1, self.keyed)
        self._connection.create_function("seal", -1, self.seal)

        with self.transaction():
            (version,) = self.execute("PRAGMA user_version").fetchone()
            if version > len(MIGRATIONS):
                raise failure(self.path, "newer")

            # Before the steps: they hash what an older store holds with the key.
            has_no_key = version < _KEYED_VERSION
            self.key = key_of(self.path, new=has_no_key, kept=self._is_kept)

            for step in MIGRATIONS[version:]:
                for statement in step.split(";"):
                    self.execute(statement)
            self.execute(f"PRAGMA user_version = {len(MIGRATIONS)}")
            if version == 0:
                # Only an older store holds hashes of hashes: a new one is spared the second pass.
                self.execute("UPDATE secret SET passes = 1")

            self._prove_key()
            if not self._is_kept:
                # Nobody else sees a copy in memory, so nobody else works on it.
                self.execute("DELETE FROM claim")

    def _prove_key(self) -> None:
        """Refuse a key that is not the one the store was made with."""
        row = self.execute("SELECT proof, passes FROM secret").fetchone()
        if row is None:
            raise failure(self.path, "key")

        # The proof is the hash of nothing but zeros: whoever has the key can make it.
        proof, self.passes = row
        zeros = bytes(HASH_BYTES)
        if proof != self.keyed(zeros):
            raise failure(self.path, "key")
