"""The store: what models and encoders answered, by hash of the item, in one SQLite file.

A row is a batch: the hashes of its items with their scores and how much of each was read, or with their
vectors. Texts are not stored; the replies of models that talk are, so only the owner may read the file. Each
batch is one transaction: a killed process loses at most the batch under way, and two processes may write at
once.
"""

import json
import os
import sqlite3
from collections.abc import Iterator, Mapping
from contextlib import contextmanager, suppress
from dataclasses import astuple, dataclass
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from psycheck.errors import StoreFailure
from psycheck.model import Encoder, FloatArray, Model, Reply
from psycheck.models.cache import cache_folder
from psycheck.scoring.index import Keys, Lookup

WHOLE = -1  # stored as `read` of an item that was read to its end

_MIGRATIONS = Path(__file__).with_suffix(".sql").read_text("utf-8").split("-- step\n")[1:]


def default_store() -> Path:
    """The store of this user: $PSYCHECK_STORE, or a file in the user's cache folder."""
    named = os.environ.get("PSYCHECK_STORE")
    return Path(named) if named else cache_folder() / "scores.sqlite"


@dataclass(frozen=True, slots=True)
class Batch:
    """A model's answers to n items: hashes (n, 2) in two halves, scores (n, k), read (n,), -1 = all.

    Where there are `replies`, one per item, there are no scores (k = 0): they are read from the replies.
    """

    items: NDArray[np.uint64]
    scores: FloatArray
    read: NDArray[np.int32]
    replies: tuple[Reply, ...] = ()


@dataclass(frozen=True, slots=True)
class Known:
    """A model or an encoder that the store holds answers of, and of how many items."""

    fingerprint: str
    name: str
    labels: tuple[str, ...]
    parts: Mapping[str, str]
    items: int


class Store:
    """The answers of all models and encoders, in one SQLite file."""

    def __init__(self, path: Path) -> None:
        self.path = path
        with self._clear_errors():
            path.parent.mkdir(parents=True, exist_ok=True)
            # SQLite gives its -wal and -shm files the permissions of this one.
            os.close(os.open(path, os.O_RDWR | os.O_CREAT, 0o600))
            self._db = sqlite3.connect(path, timeout=60, isolation_level=None, check_same_thread=False)
            self._db.execute("PRAGMA journal_mode = WAL")
            self._db.execute("PRAGMA synchronous = NORMAL")
            self._migrate()

    def close(self) -> None:
        """Close the file."""
        self._db.close()

    def enter(self, model: Model) -> int:
        """The id of a model, made when it is new."""
        return self._enter("model", model.fingerprint, model, labels=json.dumps(model.labels))

    def enter_encoder(self, encoder: Encoder, *, spans: bool = False) -> int:
        """The id of an encoder, made when it is new; its vectors of spans have one of their own."""
        return self._enter("encoder", f"{encoder.fingerprint}{' spans' * spans}", encoder)

    def add(self, model: int, batch: Batch) -> int:
        """Store one batch, whole or not at all; returns its id."""
        row = (model, len(batch.items), batch.items.tobytes(), batch.scores.tobytes(), batch.read.tobytes())
        with self._clear_errors(), self._transaction():
            added = self._db.execute(
                "INSERT INTO batch (model, size, texts, scores, read, replies) VALUES (?, ?, ?, ?, ?, ?)",
                (*row, len(batch.replies)),
            ).lastrowid
            replies = (
                (added, place, text.encode("utf-8", "surrogatepass"), *rest)
                for place, (text, *rest) in enumerate(map(astuple, batch.replies))
            )
            self._db.executemany("INSERT INTO reply VALUES (?, ?, ?, ?, ?, ?, ?)", replies)
        return int(added or 0)

    def drop(self, model: int, last: int) -> int:
        """Remove the batches of a model up to one id, whole or not at all; returns their number of items."""
        chosen = "FROM batch WHERE model = ? AND id <= ?"
        with self._clear_errors(), self._transaction():
            (items,) = self._db.execute(f"SELECT coalesce(sum(size), 0) {chosen}", (model, last)).fetchone()
            self._db.execute(f"DELETE {chosen}", (model, last))
        return int(items)

    def batches(self, model: int, after: int = 0) -> Iterator[tuple[int, Batch]]:
        """The batches of a model that came after the one with a given id, with their ids."""
        with self._clear_errors():
            found = "FROM batch WHERE model = ? AND id > ? ORDER BY id"
            rows = self._db.execute(f"SELECT id, size, texts, scores, read, replies {found}", (model, after))
            for row, size, items, scores, read, replies in rows:
                hashes = np.frombuffer(items, np.uint64).reshape(size, 2)
                values = np.frombuffer(scores, np.float64).reshape(size, -1)
                answered = self._replies(row) if replies else ()
                yield row, Batch(hashes, values, np.frombuffer(read, np.int32), answered)

    def add_vectors(self, encoder: int, items: NDArray[np.uint64], vectors: FloatArray) -> None:
        """Store the vectors of some items, in 32 bits where this loses nothing."""
        short = vectors.astype(np.float32)
        exact = np.array_equal(short.astype(np.float64), vectors, equal_nan=True)
        blob = (short if exact else np.ascontiguousarray(vectors, np.float64)).tobytes()
        row = (encoder, len(items), items.tobytes(), blob, vectors.shape[1])
        query = "INSERT INTO vectors (encoder, size, items, vectors, width) VALUES (?, ?, ?, ?, ?)"
        with self._clear_errors(), self._transaction():
            self._db.execute(query, row)

    def vectors(self, encoder: int, wanted: Keys) -> Iterator[tuple[NDArray[np.int64], FloatArray]]:
        """The stored vectors of wanted hashes, batch by batch: their places among these, and (m, d)."""
        lookup = Lookup()
        lookup.add(np.arange(len(wanted)), wanted)
        with self._clear_errors():
            query = "SELECT id, items FROM vectors WHERE encoder = ? ORDER BY id"
            for row, items in self._db.execute(query, (encoder,)):
                rows = lookup.find(np.frombuffer(items, np.uint64).reshape(-1, 2), wanted)
                if (rows >= 0).any():
                    query = "SELECT width, vectors FROM vectors WHERE id = ?"
                    width, blob = self._db.execute(query, (row,)).fetchone()
                    kind = np.float32 if len(blob) == 4 * len(rows) * width else np.float64
                    vectors = np.frombuffer(blob, kind).astype(np.float64).reshape(-1, width)
                    yield rows[rows >= 0], vectors[rows >= 0]

    def add_result(self, key: bytes, numbers: FloatArray) -> None:
        """Store the numbers that a long computation gave, by a key that names all that decides them."""
        blob = np.ascontiguousarray(numbers, np.float64).tobytes()
        with self._clear_errors(), self._transaction():
            self._db.execute("INSERT OR REPLACE INTO result VALUES (?, ?)", (key, blob))

    def result(self, key: bytes) -> FloatArray | None:
        """The numbers stored under a key, (n,), or None."""
        with self._clear_errors():
            found = self._db.execute("SELECT numbers FROM result WHERE key = ?", (key,)).fetchone()
        return None if found is None else np.frombuffer(found[0], np.float64)

    def models(self) -> list[Known]:
        """All models that the store has met, in the order in which it met them."""
        return self._known("model", "labels", "batch")

    def encoders(self) -> list[Known]:
        """All encoders that the store has met, in the order in which it met them; they have no labels."""
        return self._known("encoder", "'[]'", "vectors")

    def _known(self, table: str, labels: str, batches: str) -> list[Known]:
        items = f"SELECT coalesce(sum(size), 0) FROM {batches} WHERE {table} = {table}.id"
        query = f"SELECT fingerprint, name, {labels}, parts, ({items}) FROM {table} ORDER BY id"
        with self._clear_errors():
            rows = self._db.execute(query).fetchall()
        return [Known(f, name, tuple(json.loads(of)), json.loads(parts), n) for f, name, of, parts, n in rows]

    def _enter(self, table: str, fingerprint: str, entered: Model | Encoder, **more: str) -> int:
        """The id of a row of `model` or `encoder`, made when the fingerprint is new."""
        parts = json.dumps(dict(getattr(entered, "parts", {})), sort_keys=True)
        row = {"fingerprint": fingerprint, "name": entered.name, "parts": parts, **more}
        into = f"{table} ({', '.join(row)}) VALUES ({', '.join('?' * len(row))})"
        with self._clear_errors(), self._transaction():
            self._db.execute(f"INSERT OR IGNORE INTO {into}", tuple(row.values()))
            query = f"SELECT id FROM {table} WHERE fingerprint = ?"
            (found,) = self._db.execute(query, (fingerprint,)).fetchone()
        return int(found)

    def _replies(self, batch: int) -> tuple[Reply, ...]:
        columns = "text, prompt_tokens, completion_tokens, finish, seconds"
        rows = self._db.execute(f"SELECT {columns} FROM reply WHERE batch = ? ORDER BY place", (batch,))
        return tuple(Reply(text.decode("utf-8", "surrogatepass"), *rest) for text, *rest in rows)

    def _migrate(self) -> None:
        with self._transaction():
            (version,) = self._db.execute("PRAGMA user_version").fetchone()
            if version > len(_MIGRATIONS):
                raise StoreFailure(
                    "the store was written by a newer version of psycheck",
                    where=str(self.path),
                    do="update psycheck, or name another store with --store",
                )
            for step in _MIGRATIONS[version:]:
                for statement in step.split(";"):
                    self._db.execute(statement)
            self._db.execute(f"PRAGMA user_version = {len(_MIGRATIONS)}")
        if version == 1:  # it held no replies, so others could read it
            for name in (self.path.name, f"{self.path.name}-wal", f"{self.path.name}-shm"):
                with suppress(PermissionError, FileNotFoundError):
                    self.path.with_name(name).chmod(0o600)

    @contextmanager
    def _transaction(self) -> Iterator[None]:
        self._db.execute("BEGIN IMMEDIATE")
        try:
            yield
        except BaseException:
            if self._db.in_transaction:  # SQLite itself rolls back when the disk is full
                self._db.execute("ROLLBACK")
            raise
        self._db.execute("COMMIT")

    @contextmanager
    def _clear_errors(self) -> Iterator[None]:
        """Turn errors of SQLite and of the system into one clear error."""
        try:
            yield
        except (sqlite3.Error, OSError) as error:
            reason = os.strerror(error.errno) if isinstance(error, OSError) and error.errno else str(error)
            raise StoreFailure(
                f"the score store cannot be used: {reason}",
                where=str(self.path),
                allowed="a file that you may write to, on a disk with free space",
                do="free space, or name another file with --store; what was stored before is kept",
            ) from error


def why_again(store: Store, model: Model) -> str:
    """One sentence on what the store holds of a model, and what changed if it must be scored again."""
    known = store.models()
    for one in known:
        if one.fingerprint == model.fingerprint and one.items:
            return f"'{model.name}' is known: {one.items:,} texts are remembered, only new ones are scored"
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
