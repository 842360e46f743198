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
from collections.abc import Iterator, Sequence
from contextlib import AbstractContextManager, contextmanager
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from psycheck.core.arrays import FloatArray, IntArray
from psycheck.core.item import Item, digests_of
from psycheck.core.model import Encoder, Model, Reply, capabilities_of
from psycheck.models.cache import cache_folder
from psycheck.scoring.lookup import Keys, Lookup
from psycheck.scoring.owners import this_process, works
from psycheck.scoring.store_database import Damaged, StoreDatabase
from psycheck.scoring.store_file import clear_errors
from psycheck.scoring.stored_rows import (
    REPLY_COLUMNS,
    Batch,
    Known,
    batch_of_row,
    blob_of_vectors,
    hashes_in,
    reply_of_row,
    row_of_batch,
    row_of_reply,
    vectors_in,
)

# What the checksum of a row covers; ? is the fingerprint, so that no answer is taken for another model's.
_BATCH_SEAL = "seal(?, id, size, texts, scores, read, replies)"
_REPLY_SEAL = f"seal(batch, place, {REPLY_COLUMNS})"
_VECTORS_SEAL = "seal(?, id, size, items, vectors, width)"

_LAST_ID = 2**62
_FLOAT_BYTES = 8

Row = dict[str, int | bytes]
"""A batch by column, without its id, its owner and its checksum."""
Hashes = NDArray[np.uint64]
"""The first halves of the hashes of items, (n,)."""


def default_store() -> Path:
    """The store of this user: $PSYCHECK_STORE, or a file in the user's cache folder."""
    chosen = os.environ.get("PSYCHECK_STORE")
    if chosen:
        return Path(chosen)
    return cache_folder() / "scores.sqlite"


class Store:
    """The answers of all models and encoders, in one SQLite file.

    Models and encoders are entered first, and known by a number from then on.
    """

    def __init__(self, path: Path) -> None:
        self.path = path
        self._owner = this_process()
        self._db = StoreDatabase(path)
        self._fingerprints: dict[tuple[str, int], str] = {}  # of models and encoders, by table and number
        self._label_counts: dict[int, int] = {}  # by number of the model

    def close(self) -> None:
        """Close the file."""
        self._db.close()

    def transaction(self) -> AbstractContextManager[None]:
        """Everything within is stored, or nothing; one within another is part of it."""
        return self._db.transaction()

    def shrink(self) -> None:
        """Rewrite the file and empty its log, so that no byte of what was deleted is left in them."""
        self._db.shrink()

    def digests(self, items: Sequence[Item]) -> Keys:
        """The hashes by which this store knows items, (n, 2)."""
        if self._db.passes == 1:
            return digests_of(items, self._db.key)
        # A store that was made before it had a key: its hashes are hashes of hashes.
        plain_hashes = digests_of(items)
        return hashes_in(self._db.keyed(plain_hashes.tobytes()))

    # Models and encoders

    def enter(self, model: Model) -> int:
        """The number of a model, made when it is new."""
        labels = json.dumps(model.labels)
        number = self._enter("model", model.fingerprint, model, labels=labels)
        self._label_counts[number] = len(model.labels)
        return number

    def enter_encoder(self, encoder: Encoder, *, spans: bool = False) -> int:
        """The number of an encoder, made when it is new; its vectors of spans have one of their own."""
        fingerprint = f"{encoder.fingerprint} spans" if spans else encoder.fingerprint
        return self._enter("encoder", fingerprint, encoder)

    def _enter(
        self,
        table: str,
        fingerprint: str,
        entered: Model | Encoder,
        **columns: str,
    ) -> int:
        """The id of a row of `model` or `encoder`, made when the fingerprint is new."""
        parts = dict(capabilities_of(entered).parts)
        row = {
            "fingerprint": fingerprint,
            "name": entered.name,
            "parts": json.dumps(parts, sort_keys=True),
            **columns,
        }
        with self.transaction(), clear_errors(self.path, TypeError):
            self._db.insert(table, row, "INSERT OR IGNORE")
            number = self._id_of(table, fingerprint)
        self._fingerprints[table, number] = fingerprint
        return number

    def _id_of(self, table: str, fingerprint: str) -> int:
        """The id of a row of `model` or `encoder` that is there."""
        query = f"SELECT id FROM {table} WHERE fingerprint = ?"
        row = self._db.execute(query, (fingerprint,))
        (number,) = row.fetchone()
        return int(number)

    def number_of(self, known: Known) -> int:
        """The number of a model that the store holds."""
        number = self._id_of("model", known.fingerprint)
        self._fingerprints["model", number] = known.fingerprint
        self._label_counts[number] = len(known.labels)
        return number

    def models(self) -> list[Known]:
        """All models that the store has met, in the order in which it met them."""
        items = "SELECT coalesce(sum(size), 0) FROM batch WHERE model = model.id"
        replies = "SELECT coalesce(sum(replies), 0) FROM batch WHERE model = model.id"
        return self._known(f"SELECT fingerprint, name, labels, parts, ({items}), ({replies}) FROM model")

    def encoders(self) -> list[Known]:
        """All encoders that the store has met, in the order in which it met them; they have no labels."""
        items = "SELECT coalesce(sum(size), 0) FROM vectors WHERE encoder = encoder.id"
        return self._known(f"SELECT fingerprint, name, '[]', parts, ({items}), 0 FROM encoder")

    def _known(self, query: str) -> list[Known]:
        """The models or encoders that a query selects, by its columns in the order of `Known`."""
        stored: list[Known] = []
        with clear_errors(self.path, ValueError, TypeError):
            rows = self._db.execute(f"{query} ORDER BY id").fetchall()
            for fingerprint, name, labels, parts, items, replies in rows:
                model = Known(
                    fingerprint=fingerprint,
                    name=name,
                    labels=tuple(json.loads(labels)),
                    parts=json.loads(parts),
                    items=items,
                    replies=replies,
                )
                stored.append(model)
        return stored

    def drop_model(self, known: Known) -> int:
        """Remove a model with its batches; returns their number of items."""
        with self.transaction():
            number = self.number_of(known)
            dropped = self.drop(number, _LAST_ID)
            self._db.execute("DELETE FROM model WHERE id = ?", (number,))
        return dropped

    # Scores and replies

    def add(self, model: int, batch: Batch) -> int:
        """Store one batch, whole or not at all; returns its id."""
        with self.transaction():
            batch_id = self._append("batch", "model", model, row_of_batch(batch))
            self._add_replies(batch_id, batch.replies)
            # A process that stores is at work: others go on leaving its items alone.
            renewed = (time.time(), self._owner)
            self._db.execute("UPDATE claim SET renewed = ? WHERE owner = ?", renewed)
        return batch_id

    def _add_replies(self, batch_id: int, replies: Sequence[Reply]) -> None:
        """Store the replies of a batch by their places in it, then seal them."""
        rows = []
        for place, reply in enumerate(replies):
            row = row_of_reply(reply)
            rows.append((batch_id, place, *row))
        into = f"reply (batch, place, {REPLY_COLUMNS})"
        self._db.execute_each(f"INSERT INTO {into} VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?)", rows)

        # Of what is stored, not of what was passed: SQLite turns 1 second into 1.0.
        self._db.execute(f"UPDATE reply SET checksum = {_REPLY_SEAL} WHERE batch = ?", (batch_id,))

    def batches(self, model: int, after: int = 0) -> Iterator[tuple[int, Batch]]:
        """The batches of a model that came after the one with a given id, with their ids."""
        columns = f"id, size, replies, checksum IS {_BATCH_SEAL}, texts, scores, read"
        query = f"SELECT {columns} FROM batch WHERE model = ? AND id > ? ORDER BY id"
        fingerprint = self._fingerprints["model", model]
        values = (fingerprint, model, after)

        damaged: list[Damaged] = []
        with clear_errors(self.path):
            rows = self._db.execute(query, values)
            for batch_id, size, reply_count, is_sealed, texts, scores, read in rows:
                replies: tuple[Reply, ...] = ()
                if is_sealed and reply_count:
                    replies = self._replies(batch_id)

                # None also where a reply is missing: its seal was broken.
                batch = None
                if is_sealed and len(replies) == reply_count:
                    batch = batch_of_row(
                        size=size,
                        texts=texts,
                        scores=scores,
                        read=read,
                        replies=replies,
                        label_count=0 if reply_count else self._label_counts[model],
                    )
                if batch is None:
                    damaged.append((batch_id, texts))
                else:
                    yield batch_id, batch
        self._db.discard("batch", damaged)

    def _replies(self, batch_id: int) -> tuple[Reply, ...]:
        """The undamaged replies of a batch, by place."""
        is_intact = f"batch = ? AND checksum IS {_REPLY_SEAL}"
        query = f"SELECT {REPLY_COLUMNS} FROM reply WHERE {is_intact} ORDER BY place"
        rows = self._db.execute(query, (batch_id,))
        return tuple(map(reply_of_row, rows))

    def drop(self, model: int, last: int, *, first: int = 0) -> int:
        """Remove the batches of a model up to one id, whole or not at all; returns their number of items."""
        chosen = "FROM batch WHERE model = ? AND id BETWEEN ? AND ?"
        values = (model, first, last)
        with self.transaction():
            sizes = self._db.execute(f"SELECT coalesce(sum(size), 0) {chosen}", values)
            (items,) = sizes.fetchone()
            # Replies first: afterwards nothing tells which batches they belonged to.
            self._db.execute(f"DELETE FROM reply WHERE batch IN (SELECT id {chosen})", values)
            self._db.execute(f"DELETE {chosen}", values)
        return int(items)

    def _append(self, table: str, owner_column: str, number: int, row: Row) -> int:
        """Insert a batch with its checksum in one go: to update it would write its blobs twice."""
        # An id is never used twice, even after its batch was dropped.
        used = f"SELECT max(id) AS id FROM {table} UNION SELECT seq FROM sqlite_sequence WHERE name = ?"
        query = f"SELECT max(id) FROM ({used})"
        row_of_last = self._db.execute(query, (table,))
        (last_id,) = row_of_last.fetchone()
        new_id = int(last_id or 0) + 1

        fingerprint = self._fingerprints[owner_column, number]
        checksum = self._db.seal(fingerprint, new_id, *row.values())
        sealed_row = {
            "id": new_id,
            owner_column: number,
            **row,
            "checksum": checksum,
        }
        self._db.insert(table, sealed_row)
        return new_id

    # Vectors

    def add_vectors(self, encoder: int, items: Keys, vectors: FloatArray) -> None:
        """Store the vectors of some items, in 32 bits where this loses nothing."""
        row: Row = {
            "size": len(items),
            "items": items.tobytes(),
            "vectors": blob_of_vectors(vectors),
            "width": vectors.shape[1],
        }
        with self.transaction():
            self._append("vectors", "encoder", encoder, row)

    def vectors(self, encoder: int, hashes: Keys) -> Iterator[tuple[IntArray, FloatArray]]:
        """The stored vectors of items, batch by batch: their places among the hashes, (m,), and (m, d)."""
        lookup = Lookup()
        lookup.add(np.arange(len(hashes)), hashes)
        fingerprint = self._fingerprints["encoder", encoder]

        damaged: list[Damaged] = []
        with clear_errors(self.path, ValueError, TypeError):
            # The vectors themselves, which are large, are only read of batches that hold one of the items.
            query = "SELECT id, CAST(items AS BLOB) FROM vectors WHERE encoder = ? ORDER BY id"
            for batch_id, items in self._db.execute(query, (encoder,)):
                places = lookup.find(hashes_in(items), hashes)
                is_needed = places >= 0
                if not is_needed.any():
                    continue

                query = f"SELECT checksum IS {_VECTORS_SEAL}, width, vectors FROM vectors WHERE id = ?"
                row = self._db.execute(query, (fingerprint, batch_id))
                is_sealed, width, blob = row.fetchone()
                vectors = None
                if is_sealed:
                    vectors = vectors_in(blob, len(places), width)
                if vectors is None:
                    damaged.append((batch_id, items))
                else:
                    yield places[is_needed], vectors[is_needed]
        self._db.discard("vectors", damaged)

    def drop_vectors(self, hashes: Keys) -> int:
        """Remove the batches of vectors that hold one of these items; returns how many of these they held."""
        dropped = 0
        with self.transaction():
            rows = self._db.execute("SELECT id, CAST(items AS BLOB) FROM vectors")
            for batch_id, items in rows.fetchall():
                stored_hashes = hashes_in(items)
                # The first half tells them apart: 64 bits.
                first_halves = stored_hashes[:, 0]
                is_matching = np.isin(first_halves, hashes[:, 0])
                matching = int(is_matching.sum())
                if matching:
                    self._db.execute("DELETE FROM vectors WHERE id = ?", (batch_id,))
                    dropped += matching
        return dropped

    # Results of long computations

    def add_result(self, key: bytes, numbers: FloatArray) -> None:
        """Store the numbers that a long computation gave, by a key that names all that decides them."""
        blob = np.ascontiguousarray(numbers, np.float64).tobytes()
        values = (self._db.keyed(key), blob)
        with self.transaction():
            self._db.execute("INSERT OR REPLACE INTO result VALUES (?1, ?2, seal(?1, ?2))", values)

    def result(self, key: bytes) -> FloatArray | None:
        """The numbers stored under a key, (n,), or None."""
        query = "SELECT rowid, numbers, checksum IS seal(?1, numbers) FROM result WHERE key = ?1"
        with clear_errors(self.path):
            keyed = self._db.keyed(key)
            rows = self._db.execute(query, (keyed,))
            for row_id, numbers, is_sealed in rows.fetchall():
                if is_sealed and len(numbers) % _FLOAT_BYTES == 0:
                    return np.frombuffer(numbers, np.float64)
                self._db.discard("result", [(row_id, key)])
        return None

    # Claims: what each process is scoring

    def claimed(self, model: int) -> Hashes:
        """First halves of the hashes that other processes claim; claims of those that ended are dropped."""
        with self.transaction(), clear_errors(self.path, ValueError, TypeError, AttributeError):
            claims = self._db.execute("SELECT owner, renewed, model, items FROM claim").fetchall()
            ended: set[str] = set()
            hashes: list[bytes] = []
            for owner, renewed, claimed_model, items in claims:
                is_ours = owner == self._owner
                # Ours is made anew for each batch, so the old one has ended, too.
                if is_ours or not works(owner, renewed):
                    ended.add(owner)
                elif claimed_model == model:
                    hashes.append(items)

            ended_owners = [(owner,) for owner in ended]
            self._db.execute_each("DELETE FROM claim WHERE owner = ?", ended_owners)
            return np.frombuffer(b"".join(hashes), np.uint64)

    def claim(self, model: int, items: Keys) -> None:
        """Claim items for this process, in place of those that it claimed before."""
        first_halves = items[:, 0].tobytes()
        values = (self._owner, time.time(), model, first_halves)
        with self.transaction():
            self._db.execute("INSERT OR REPLACE INTO claim VALUES (?, ?, ?, ?)", values)

    @contextmanager
    def claims(self) -> Iterator[None]:
        """End the claim of this process afterwards, whatever happens."""
        try:
            yield
        finally:
            with self.transaction():
                self._db.execute("DELETE FROM claim WHERE owner = ?", (self._owner,))


def why_again(store: Store, model: Model) -> str:
    """One sentence on what the store holds of a model, and what changed if it must be scored again."""
    earlier_versions = []
    for stored in store.models():
        is_this_version = stored.fingerprint == model.fingerprint
        if is_this_version and stored.items:
            return f"'{model.name}' is known: {stored.items:,} texts are cached, only new ones are scored"
        if stored.name == model.name and not is_this_version:
            earlier_versions.append(stored)

    if not earlier_versions:
        return f"'{model.name}' is new to {store.path}: every text is scored"
    latest = earlier_versions[-1]
    changes = ", ".join(_changes(latest, model))
    return f"'{model.name}' changed in {changes or 'its fingerprint'}: every text is scored again"


def _changes(stored: Known, model: Model) -> Iterator[str]:
    """The parts of a model that differ from those that the store holds."""
    parts = capabilities_of(model).parts
    part_names = parts.keys() | stored.parts.keys()
    for part in sorted(part_names):
        before = stored.parts.get(part, "none")
        now = parts.get(part, "none")
        if before != now:
            yield f"{part} ({before} → {now})"

    # A model may name its labels among its parts: then they were told above.
    if stored.labels != model.labels and "labels" not in parts:
        before = ", ".join(stored.labels)
        now = ", ".join(model.labels)
        yield f"labels ({before} → {now})"
