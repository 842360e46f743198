"""The store: what models and encoders answered, by hash of the item, in one SQLite file.

A row is a batch: the hashes of its items with their scores and how much of each was read, or with their
vectors, and a checksum. Texts are not stored; the replies of models that talk are, so only the owner may read
the file. The hashes are keyed: without the key file, nobody can test whether a text is in the store. Each
batch is one transaction: a killed process loses at most the batch under way, and two processes may write at
once.
"""

import json
import os
import time
import warnings
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from hashlib import blake2b
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from psycheck.errors import PsycheckWarning
from psycheck.model import Encoder, FloatArray, Item, Model, Reply, digests_of
from psycheck.models.cache import cache_folder
from psycheck.scoring.index import Keys, Lookup
from psycheck.scoring.store_file import clear_errors, connect, failure, key_of, this_process, works

WHOLE = -1  # stored as `read` of an item that was read to its end

_MIGRATIONS = Path(__file__).with_suffix(".sql").read_text("utf-8").split("-- step\n")[1:]
_KEYED = 3  # the version from which a store has a key
# What the checksum of a row covers; ? is the fingerprint, so that no answer is taken for another model's.
_BATCH = "seal(?, id, size, texts, scores, read, replies)"
_REPLY = "seal(batch, place, text, prompt_tokens, completion_tokens, finish, seconds, logprobs, others)"
_VECTORS = "seal(?, id, size, items, vectors, width)"


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
    replies: int = 0


class Store:
    """The answers of all models and encoders, in one SQLite file."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self._owner = this_process()
        self._passes = 1  # hashes that an item goes through
        self._entered: dict[tuple[str, int], tuple[str, int]] = {}  # fingerprints and numbers of labels
        with clear_errors(path):
            self._db, self._kept = connect(path)
            self._db.execute("PRAGMA secure_delete = ON")  # what is dropped is overwritten
            self._db.execute("PRAGMA cell_size_check = ON")
            self._migrate()

    def close(self) -> None:
        """Close the file."""
        self._db.close()

    def digests(self, items: Sequence[Item]) -> Keys:
        """The hashes by which this store knows items, (n, 2)."""
        if self._passes == 1:
            return digests_of(items, self._key)
        return np.frombuffer(self._keyed(digests_of(items).tobytes()), np.uint64).reshape(-1, 2)

    def enter(self, model: Model) -> int:
        """The id of a model, made when it is new."""
        return self._enter("model", model.fingerprint, model, labels=json.dumps(model.labels))

    def enter_encoder(self, encoder: Encoder, *, spans: bool = False) -> int:
        """The id of an encoder, made when it is new; its vectors of spans have one of their own."""
        return self._enter("encoder", f"{encoder.fingerprint}{' spans' * spans}", encoder)

    def add(self, model: int, batch: Batch) -> int:
        """Store one batch, whole or not at all; returns its id."""
        row: dict[str, int | bytes] = {"size": len(batch.items), "texts": batch.items.tobytes()}
        row["scores"] = batch.scores.tobytes()
        row |= {"read": batch.read.tobytes(), "replies": len(batch.replies)}
        with self.transaction():
            added = self._append("batch", "model", model, row)
            replies = ((added, place, *_columns(reply)) for place, reply in enumerate(batch.replies))
            self._db.executemany("INSERT INTO reply VALUES (?, ?, ?, ?, ?, ?, ?, NULL, ?, ?)", replies)
            # Of what is stored, not of what was passed: SQLite turns 1 second into 1.0.
            self._db.execute(f"UPDATE reply SET checksum = {_REPLY} WHERE batch = ?", (added,))
            self._db.execute("UPDATE claim SET renewed = ? WHERE owner = ?", (time.time(), self._owner))
        return added

    def drop(self, model: int, last: int, *, first: int = 0) -> int:
        """Remove the batches of a model up to one id, whole or not at all; returns their number of items."""
        chosen, which = "FROM batch WHERE model = ? AND id BETWEEN ? AND ?", (model, first, last)
        with self.transaction():
            (items,) = self._db.execute(f"SELECT coalesce(sum(size), 0) {chosen}", which).fetchone()
            self._db.execute(f"DELETE FROM reply WHERE batch IN (SELECT id {chosen})", which)
            self._db.execute(f"DELETE {chosen}", which)
        return int(items)

    def number_of(self, known: Known) -> int:
        """The id of a model that the store holds."""
        query = "SELECT id FROM model WHERE fingerprint = ?"
        number = int(self._db.execute(query, (known.fingerprint,)).fetchone()[0])
        self._entered["model", number] = (known.fingerprint, len(known.labels))
        return number

    def drop_model(self, known: Known) -> int:
        """Remove a model with its batches; returns their number of items."""
        with self.transaction():
            number = self.number_of(known)
            dropped = self.drop(number, 2**62)
            self._db.execute("DELETE FROM model WHERE id = ?", (number,))
        return dropped

    def drop_vectors(self, wanted: Keys) -> int:
        """Remove the batches of vectors that hold one of these items; returns how many of these they held."""
        dropped = 0
        with self.transaction():
            for row, items in self._db.execute("SELECT id, CAST(items AS BLOB) FROM vectors").fetchall():
                if held := int(np.isin(_hashes(items)[:, 0], wanted[:, 0]).sum()):
                    self._db.execute("DELETE FROM vectors WHERE id = ?", (row,))
                    dropped += held
        return dropped

    def shrink(self) -> None:
        """Rewrite the file and empty its log, so that no byte of what was deleted is left in them."""
        with clear_errors(self.path):
            self._db.execute("PRAGMA temp_store = MEMORY")
            self._db.execute("VACUUM")
            busy, *_ = self._db.execute("PRAGMA wal_checkpoint(TRUNCATE)").fetchone()
        if busy:
            raise failure(self.path, "locked")

    def batches(self, model: int, after: int = 0) -> Iterator[tuple[int, Batch]]:
        """The batches of a model that came after the one with a given id, with their ids."""
        fingerprint, width = self._entered["model", model]
        columns = f"id, size, replies, checksum IS {_BATCH}, texts, scores, read"
        query = f"SELECT {columns} FROM batch WHERE model = ? AND id > ? ORDER BY id"
        damaged = []
        with clear_errors(self.path):
            for row, size, count, whole, *blobs in self._db.execute(query, (fingerprint, model, after)):
                replies, k = (self._replies(row), 0) if whole and count else ((), width)
                if whole and [*map(len, blobs)] == [16 * size, 8 * size * k, 4 * size]:
                    scores = np.frombuffer(blobs[1], np.float64).reshape(size, k)
                    if len(replies) == count in (0, size) and not ((scores < 0) | (scores > 1)).any():
                        cut = np.frombuffer(blobs[2], np.int32)
                        yield row, Batch(_hashes(blobs[0]), scores, cut, replies)
                        continue
                damaged.append((row, blobs[0]))
        self._discard("batch", damaged)

    def add_vectors(self, encoder: int, items: NDArray[np.uint64], vectors: FloatArray) -> None:
        """Store the vectors of some items, in 32 bits where this loses nothing."""
        short = vectors.astype(np.float32)
        exact = np.array_equal(short.astype(np.float64), vectors, equal_nan=True)
        blob = (short if exact else np.ascontiguousarray(vectors, np.float64)).tobytes()
        row = {"size": len(items), "items": items.tobytes(), "vectors": blob, "width": vectors.shape[1]}
        with self.transaction():
            self._append("vectors", "encoder", encoder, row)

    def vectors(self, encoder: int, wanted: Keys) -> Iterator[tuple[NDArray[np.int64], FloatArray]]:
        """The stored vectors of wanted hashes, batch by batch: their places among these, and (m, d)."""
        lookup = Lookup()
        lookup.add(np.arange(len(wanted)), wanted)
        fingerprint, damaged = self._entered["encoder", encoder][0], []
        with clear_errors(self.path, ValueError, TypeError):
            query = "SELECT id, CAST(items AS BLOB) FROM vectors WHERE encoder = ? ORDER BY id"
            for row, items in self._db.execute(query, (encoder,)):
                rows = lookup.find(_hashes(items), wanted)
                if not (rows >= 0).any():
                    continue
                query = f"SELECT checksum IS {_VECTORS}, width, vectors FROM vectors WHERE id = ?"
                whole, width, blob = self._db.execute(query, (fingerprint, row)).fetchone()
                if whole and len(blob) in (4 * len(rows) * width, 8 * len(rows) * width):
                    kind = np.float32 if len(blob) == 4 * len(rows) * width else np.float64
                    vectors = np.frombuffer(blob, kind).astype(np.float64).reshape(-1, width)
                    yield rows[rows >= 0], vectors[rows >= 0]
                else:
                    damaged.append((row, items))
        self._discard("vectors", damaged)

    def add_result(self, key: bytes, numbers: FloatArray) -> None:
        """Store the numbers that a long computation gave, by a key that names all that decides them."""
        row = self._keyed(key), np.ascontiguousarray(numbers, np.float64).tobytes()
        with self.transaction():
            self._db.execute("INSERT OR REPLACE INTO result VALUES (?1, ?2, seal(?1, ?2))", row)

    def result(self, key: bytes) -> FloatArray | None:
        """The numbers stored under a key, (n,), or None."""
        query = "SELECT rowid, numbers, checksum IS seal(?1, numbers) FROM result WHERE key = ?1"
        with clear_errors(self.path):
            for row, numbers, whole in self._db.execute(query, (self._keyed(key),)).fetchall():
                if whole and len(numbers) % 8 == 0:
                    return np.frombuffer(numbers, np.float64)
                self._discard("result", [(row, key)])
        return None

    def claimed(self, model: int) -> NDArray[np.uint64]:
        """First halves of the hashes that other processes claim; claims of those that ended are dropped."""
        with self.transaction(), clear_errors(self.path, ValueError, TypeError, AttributeError):
            rows = self._db.execute("SELECT owner, renewed, model, items FROM claim").fetchall()
            ended = {row[:1] for row in rows if row[0] == self._owner or not works(*row[:2])}
            self._db.executemany("DELETE FROM claim WHERE owner = ?", ended)
            others = [row[3] for row in rows if row[2] == model and row[:1] not in ended]
            return np.frombuffer(b"".join(others), np.uint64)

    def claim(self, model: int, items: Keys) -> None:
        """Claim items for this process, in place of those that it claimed before."""
        row = (self._owner, time.time(), model, items[:, 0].tobytes())
        with self.transaction():
            self._db.execute("INSERT OR REPLACE INTO claim VALUES (?, ?, ?, ?)", row)

    @contextmanager
    def claims(self) -> Iterator[None]:
        """End the claim of this process afterwards, whatever happens."""
        try:
            yield
        finally:
            with self.transaction():
                self._db.execute("DELETE FROM claim WHERE owner = ?", (self._owner,))

    def models(self) -> list[Known]:
        """All models that the store has met, in the order in which it met them."""
        return self._known("model", "labels", "batch")

    def encoders(self) -> list[Known]:
        """All encoders that the store has met, in the order in which it met them; they have no labels."""
        return self._known("encoder", "'[]'", "vectors")

    def _known(self, table: str, labels: str, batches: str) -> list[Known]:
        counts = "SELECT coalesce(sum({}), 0) FROM {} WHERE {} = {}.id"
        items = counts.format("size", batches, table, table)
        replies = counts.format("replies", batches, table, table) if table == "model" else "0"
        query = f"SELECT fingerprint, name, {labels}, parts, ({items}), ({replies}) FROM {table} ORDER BY id"
        with clear_errors(self.path, ValueError, TypeError):
            rows = self._db.execute(query).fetchall()
            return [Known(f, name, tuple(json.loads(of)), json.loads(p), *n) for f, name, of, p, *n in rows]

    def _enter(self, table: str, fingerprint: str, entered: Model | Encoder, **more: str) -> int:
        """The id of a row of `model` or `encoder`, made when the fingerprint is new."""
        parts = json.dumps(dict(getattr(entered, "parts", {})), sort_keys=True)
        row = {"fingerprint": fingerprint, "name": entered.name, "parts": parts, **more}
        with self.transaction(), clear_errors(self.path, TypeError):
            self._insert(table, row, "INSERT OR IGNORE")
            query = f"SELECT id FROM {table} WHERE fingerprint = ?"
            found = int(self._db.execute(query, (fingerprint,)).fetchone()[0])
        self._entered[table, found] = (fingerprint, len(getattr(entered, "labels", ())))
        return found

    def _insert(self, table: str, row: Mapping[str, object], how: str = "INSERT") -> int:
        into = f"{table} ({', '.join(row)}) VALUES ({', '.join('?' * len(row))})"
        return int(self._db.execute(f"{how} INTO {into}", tuple(row.values())).lastrowid or 0)

    def _append(self, table: str, of: str, number: int, row: dict[str, int | bytes]) -> int:
        """Insert a batch with its checksum in one go: to update it would write its blobs twice."""
        # An id is never used twice, even after its batch was dropped.
        used = f"SELECT max(id) AS id FROM {table} UNION SELECT seq FROM sqlite_sequence WHERE name = ?"
        added = int(self._db.execute(f"SELECT max(id) FROM ({used})", (table,)).fetchone()[0] or 0) + 1
        checksum = self._seal(self._entered[of, number][0], added, *row.values())
        self._insert(table, {"id": added, of: number, **row, "checksum": checksum})
        return added

    def _replies(self, batch: int) -> tuple[Reply, ...]:
        columns = "text, prompt_tokens, completion_tokens, finish, seconds, logprobs, others"
        found = f"FROM reply WHERE batch = ? AND checksum IS {_REPLY} ORDER BY place"
        rows = self._db.execute(f"SELECT {columns} {found}", (batch,))
        return tuple(
            Reply(_text(text), asked, given, finish, seconds, _text(logprobs), tuple(json.loads(others)))
            for text, asked, given, finish, seconds, logprobs, others in rows
        )

    def _discard(self, table: str, damaged: Sequence[tuple[int, Any]]) -> None:
        """Drop damaged rows, given their ids and hashes, and say so; if the file itself is damaged, stop."""
        if not damaged:
            return
        with self.transaction():
            if self._db.execute("PRAGMA integrity_check(1)").fetchone() != ("ok",):
                raise failure(self.path, "damaged")
            for row, _ in damaged:
                self._db.execute(f"DELETE FROM {table} WHERE rowid = ?", (row,))
                self._db.execute("DELETE FROM reply WHERE batch = ? AND ? = 'batch'", (row, table))
        items = sum(len(hashes) // 16 for _, hashes in damaged if isinstance(hashes, bytes))
        what = f"dropped {len(damaged):,} of its batches, with {items:,} items, which are computed again"
        warnings.warn(f"the score store is damaged: {what} ({self.path})", PsycheckWarning, stacklevel=3)

    def _keyed(self, digests: bytes) -> bytes:
        """Hashes of 16 bytes each, hashed with the key of this store."""
        fresh = blake2b(key=self._key, digest_size=16).copy  # copying a state is faster than making one
        hashes: list[bytes] = []
        for start in range(0, len(digests), 16):
            state = fresh()
            state.update(digests[start : start + 16])
            hashes.append(state.digest())
        return b"".join(hashes)

    def _seal(self, *values: bytes | str | float | None) -> bytes:
        """The checksum of a row."""
        blobs = [one for one in values if isinstance(one, bytes)]
        frame = repr([(len(one),) if isinstance(one, bytes) else one for one in values]).encode()
        return blake2b(b"".join([frame, *blobs]), key=self._key, digest_size=16, person=b"seal").digest()

    def _migrate(self) -> None:
        self._db.create_function("keyed", 1, self._keyed)
        self._db.create_function("seal", -1, self._seal)
        with self.transaction():
            (version,) = self._db.execute("PRAGMA user_version").fetchone()
            if version > len(_MIGRATIONS):
                raise failure(self.path, "newer")
            self._key = key_of(self.path, new=version < _KEYED, kept=self._kept)
            for step in _MIGRATIONS[version:]:
                for statement in step.split(";"):
                    self._db.execute(statement)
            self._db.execute(f"PRAGMA user_version = {len(_MIGRATIONS)}")
            if not version:  # an older store holds hashes of hashes, a new one is spared the second pass
                self._db.execute("UPDATE secret SET passes = 1")
            proof, self._passes = self._db.execute("SELECT proof, passes FROM secret").fetchone() or (b"", 0)
            if proof != self._keyed(bytes(16)):
                raise failure(self.path, "key")
            if not self._kept:
                self._db.execute("DELETE FROM claim")

    @contextmanager
    def transaction(self) -> Iterator[None]:
        """Everything within is stored, or nothing; one within another is part of it."""
        with clear_errors(self.path):
            if self._db.in_transaction:
                yield
                return
            self._db.execute("BEGIN IMMEDIATE")
            try:
                yield
            except BaseException:
                if self._db.in_transaction:  # SQLite itself rolls back when the disk is full
                    self._db.execute("ROLLBACK")
                raise
            self._db.execute("COMMIT")


def _columns(reply: Reply) -> tuple[bytes | int | float | str | None, ...]:
    """A reply as the store keeps it; half a surrogate pair, which a model may send, does not stop it."""
    text, logprobs = (one.encode("utf-8", "surrogatepass") for one in (reply.text, reply.logprobs))
    usage = reply.prompt_tokens, reply.completion_tokens, reply.finish, reply.seconds
    return text, *usage, logprobs, json.dumps(reply.others)


def _text(blob: bytes) -> str:
    return blob.decode("utf-8", "surrogatepass")


def _hashes(blob: bytes) -> Keys:
    """The hashes that a blob holds, (n, 2); none if it is damaged."""
    return np.frombuffer(blob if len(blob) % 16 == 0 else b"", np.uint64).reshape(-1, 2)


def why_again(store: Store, model: Model) -> str:
    """One sentence on what the store holds of a model, and what changed if it must be scored again."""
    known = store.models()
    for one in known:
        if one.fingerprint == model.fingerprint and one.items:
            return f"'{model.name}' is known: {one.items:,} texts are cached, only new ones are scored"
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
