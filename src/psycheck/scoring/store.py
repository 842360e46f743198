"""The store: every text that a model has scored is remembered, by hash, in SQLite.

A row is a batch: the hashes of its texts, their scores, and how much of each was read. Texts themselves are
never stored. Each batch is one transaction, so a killed process loses at most the batch under way, and two
processes may write at once.
"""

import json
import os
import sqlite3
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from psycheck.errors import StoreFailure
from psycheck.model import FloatArray, Model
from psycheck.models.cache import cache_folder

WHOLE = -1  # how a text that was read to its end is written down

# Appended to, never edited: a store made by an earlier version runs the steps that it lacks.
_MIGRATIONS = (
    """
    CREATE TABLE model (
        id INTEGER PRIMARY KEY, fingerprint TEXT NOT NULL UNIQUE, name TEXT NOT NULL,
        labels TEXT NOT NULL, parts TEXT NOT NULL
    );
    CREATE TABLE batch (
        id INTEGER PRIMARY KEY, model INTEGER NOT NULL, size INTEGER NOT NULL,
        texts BLOB NOT NULL, scores BLOB NOT NULL, read BLOB NOT NULL
    );
    CREATE INDEX batch_of_model ON batch (model);
    """,
)


def default_store() -> Path:
    """Where scores are remembered unless told otherwise: $PSYCHECK_STORE or the user's cache folder."""
    named = os.environ.get("PSYCHECK_STORE")
    return Path(named) if named else cache_folder() / "scores.sqlite"


@dataclass(frozen=True, slots=True)
class Batch:
    """What a model said of n texts: hashes (n, 2) in two halves, scores (n, k), read (n,), -1 = all."""

    texts: NDArray[np.uint64]
    scores: FloatArray
    read: NDArray[np.int32]


@dataclass(frozen=True, slots=True)
class Known:
    """A model that the store has met."""

    fingerprint: str
    name: str
    labels: tuple[str, ...]
    parts: Mapping[str, str]
    texts: int


class Store:
    """The scores of all models, in one SQLite file."""

    def __init__(self, path: Path) -> None:
        self.path = path
        with self._told():
            path.parent.mkdir(parents=True, exist_ok=True)
            self._db = sqlite3.connect(path, timeout=60, isolation_level=None, check_same_thread=False)
            self._db.execute("PRAGMA journal_mode = WAL")
            self._db.execute("PRAGMA synchronous = NORMAL")
            self._migrate()

    def close(self) -> None:
        """Let go of the file."""
        self._db.close()

    def enter(self, model: Model) -> int:
        """The number under which a model's scores stand, made when it is new."""
        parts = getattr(model, "parts", {})
        row = (
            model.fingerprint,
            model.name,
            json.dumps(model.labels),
            json.dumps(dict(parts), sort_keys=True),
        )
        with self._told(), self._transaction():
            self._db.execute(
                "INSERT OR IGNORE INTO model (fingerprint, name, labels, parts) VALUES (?, ?, ?, ?)",
                row,
            )
            found = self._db.execute("SELECT id FROM model WHERE fingerprint = ?", row[:1]).fetchone()
        return int(found[0])

    def add(self, number: int, batch: Batch) -> int:
        """Remember one batch, whole or not at all; returns its number."""
        row = (number, len(batch.texts), batch.texts.tobytes(), batch.scores.tobytes(), batch.read.tobytes())
        with self._told(), self._transaction():
            added = self._db.execute(
                "INSERT INTO batch (model, size, texts, scores, read) VALUES (?, ?, ?, ?, ?)", row
            )
        return int(added.lastrowid or 0)

    def batches(self, number: int, after: int = 0) -> Iterator[tuple[int, Batch]]:
        """The batches of a model that came after one of a given number."""
        with self._told():
            rows = self._db.execute(
                "SELECT id, size, texts, scores, read FROM batch WHERE model = ? AND id > ? ORDER BY id",
                (number, after),
            )
            for row, size, texts, scores, read in rows:
                yield (
                    row,
                    Batch(
                        np.frombuffer(texts, np.uint64).reshape(size, 2),
                        np.frombuffer(scores, np.float64).reshape(size, -1),
                        np.frombuffer(read, np.int32),
                    ),
                )

    def models(self) -> list[Known]:
        """All models that the store has met, in the order in which it met them."""
        with self._told():
            rows = self._db.execute(
                "SELECT fingerprint, name, labels, parts,"
                " (SELECT coalesce(sum(size), 0) FROM batch WHERE model = model.id) FROM model ORDER BY id"
            ).fetchall()
        return [
            Known(f, n, tuple(json.loads(labels)), json.loads(parts), c) for f, n, labels, parts, c in rows
        ]

    def _migrate(self) -> None:
        with self._transaction():
            (version,) = self._db.execute("PRAGMA user_version").fetchone()
            if version > len(_MIGRATIONS):
                raise StoreFailure(
                    "the store was written by a newer psycheck",
                    where=str(self.path),
                    do="update psycheck or name another store",
                )
            for step in _MIGRATIONS[version:]:
                for statement in step.split(";"):
                    self._db.execute(statement)
            self._db.execute(f"PRAGMA user_version = {len(_MIGRATIONS)}")

    @contextmanager
    def _transaction(self) -> Iterator[None]:
        self._db.execute("BEGIN IMMEDIATE")
        try:
            yield
        except BaseException:
            if self._db.in_transaction:  # a full disk has rolled back already
                self._db.execute("ROLLBACK")
            raise
        self._db.execute("COMMIT")

    @contextmanager
    def _told(self) -> Iterator[None]:
        """Turn what SQLite and the system refuse into one clear error."""
        try:
            yield
        except (sqlite3.Error, OSError) as error:
            reason = os.strerror(error.errno) if isinstance(error, OSError) and error.errno else str(error)
            raise StoreFailure(
                f"the score store cannot be used: {reason}",
                where=str(self.path),
                allowed="a file on a disk with free space that you may write to",
                do="free space, or name another file with --store; what was stored before is kept",
            ) from error


def why_again(store: Store, model: Model) -> str:
    """One sentence on what is remembered of a model, and what changed if it must be scored again."""
    known = store.models()
    for one in known:
        if one.fingerprint == model.fingerprint and one.texts:
            return f"'{model.name}' is known: {one.texts:,} texts are remembered, only new ones are scored"
    parts = dict(getattr(model, "parts", {}))
    same_name = [one for one in known if one.name == model.name and one.fingerprint != model.fingerprint]
    if not same_name:
        return f"'{model.name}' is new to {store.path}: every text is scored"
    last = same_name[-1]
    changed = [
        f"{part} ({last.parts.get(part, 'none')} → {parts.get(part, 'none')})"
        for part in sorted(parts.keys() | last.parts.keys())
        if parts.get(part) != last.parts.get(part)
    ]
    if last.labels != model.labels and "labels" not in parts:
        changed.append(f"labels ({', '.join(last.labels)} → {', '.join(model.labels)})")
    what = ", ".join(changed) or "its fingerprint"
    return f"'{model.name}' changed in {what}: every text is scored again"
