"""The store: every text that a model has scored is remembered, by hash, in SQLite.

A row is a batch: the hashes of its texts, their scores, and how much of each was read. Texts themselves are
never stored. Each batch is one transaction, so a killed process loses at most the batch under way, and two
processes may write at once.
"""

import json
import os
import sqlite3
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from hashlib import blake2b
from pathlib import Path
from traceback import extract_tb

import numpy as np
from numpy.typing import NDArray

from psycheck.errors import StoreFailure
from psycheck.lookup import Lookup
from psycheck.model import FloatArray, IntArray, Model, Windowed

WHOLE = -1  # how a text that was read to its end is written down
_DIGEST = 16

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


def digest(text: str) -> bytes:
    """The hash under which a text is remembered, 16 bytes."""
    return blake2b(text.encode("utf-8", "surrogatepass"), digest_size=_DIGEST).digest()


def default_store() -> Path:
    """Where scores are remembered unless told otherwise: $PSYCHECK_STORE or the user's cache folder."""
    if named := os.environ.get("PSYCHECK_STORE"):
        return Path(named)
    cache = os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache"
    return Path(cache) / "psycheck" / "scores.sqlite"


@dataclass(frozen=True, slots=True)
class Batch:
    """What a model said of n texts: hashes (n, 2) in two halves, scores (n, k), read (n,), -1 = all."""

    texts: NDArray[np.uint64]
    scores: FloatArray
    read: NDArray[np.int32]


def batch_of(
    texts: Sequence[str], scores: FloatArray, read: IntArray | None, hashes: NDArray[np.uint64] | None
) -> Batch:
    """A batch as the store keeps it."""
    cut = np.full(len(texts), WHOLE, np.int32)
    if read is not None:
        lengths = np.fromiter(map(len, texts), np.int64, len(texts))
        cut = np.where(read >= lengths, WHOLE, read).astype(np.int32)
    hashes = digests_of(texts) if hashes is None else np.ascontiguousarray(hashes)
    return Batch(hashes, np.ascontiguousarray(scores, np.float64), cut)


def digests_of(texts: Sequence[str]) -> NDArray[np.uint64]:
    """The hashes of texts, (n, 2)."""
    # `digest`, written out: this runs for every text that is scored or looked up, and copying a fresh state
    # is a third faster than making one.
    fresh = blake2b(digest_size=_DIGEST).copy
    hashes = []
    for text in texts:
        state = fresh()
        state.update(text.encode("utf-8", "surrogatepass"))
        hashes.append(state.digest())
    return np.frombuffer(b"".join(hashes), np.uint64).reshape(-1, 2)


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

    def forget(self, fingerprint: str) -> int:
        """Forget what a model said; returns how many texts."""
        with self._told(), self._transaction():
            chosen = "model = (SELECT id FROM model WHERE fingerprint = ?)"
            (texts,) = self._db.execute(
                f"SELECT coalesce(sum(size), 0) FROM batch WHERE {chosen}", (fingerprint,)
            ).fetchone()
            self._db.execute(f"DELETE FROM batch WHERE {chosen}", (fingerprint,))
        return int(texts)

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


class RememberedScores:
    """One model's scores, looked up by text.

    `names` are the labels by which an audit knows the columns. A text is known by its hash among those of all
    that the store holds of the model; what this run has met (`meet`) is also known by Python's own hash of a
    text, which costs a tenth. About 70 bytes of memory a text.
    """

    def __init__(
        self, store: Store, model: Model, names: tuple[str, ...], *, windowed: bool | None = None
    ) -> None:
        self._windowed = isinstance(model, Windowed) if windowed is None else windowed
        self.model = model.name
        self.labels = names
        self.number = store.enter(model)
        self.complaints: dict[str, int] = {}
        self._store = store
        self._last = 0
        self._own: set[int] = set()
        self._count = 0
        self._texts = np.zeros((0, 2), np.uint64)
        self._scores = np.zeros((0, len(names)))
        self._read = np.zeros(0, np.int32)
        self._marks = np.zeros((0, 1), np.uint64)
        self._by_text = Lookup()
        self._listed = 0
        self._by_mark = Lookup()
        self._met = 0
        self._shared: set[int] = set()  # marks that two texts have in common
        self.refresh()

    def __len__(self) -> int:
        """How many texts are remembered."""
        return self._count

    def refresh(self) -> None:
        """Take in what other processes have added since."""
        for row, batch in self._store.batches(self.number, self._last):
            self._last = row
            if row not in self._own:
                self._take(batch)

    def add(
        self,
        texts: Sequence[str],
        scores: FloatArray,
        read: IntArray | None,
        hashes: NDArray[np.uint64] | None = None,
    ) -> None:
        """Commit a batch, and know its texts from now on."""
        batch = batch_of(texts, scores, read, hashes)
        self._own.add(self._store.add(self.number, batch))
        self._enter(_marks(texts), self._take(batch))

    def find(self, wanted: NDArray[np.uint64]) -> NDArray[np.int64]:
        """The rows at which texts stand, (n,), by their hashes, (n, 2); -1 where they are not known."""
        if self._listed < self._count:  # only now: a run that asks once never needs it
            self._by_text.add(np.arange(self._listed, self._count), self._texts)
            self._listed = self._count
        return self._by_text.find(wanted, self._texts)

    def meet(self, texts: Sequence[str], rows: NDArray[np.int64]) -> None:
        """Know texts at some rows by Python's hash of them, so that judging need not compute the store's."""
        marks = _marks(texts)
        new = self._by_mark.find(marks, self._marks) != rows
        self._enter(marks[new], rows[new])

    def of(self, texts: Sequence[str]) -> FloatArray:
        """The scores, (n, k); NaN where there is none."""
        rows = self._rows(texts)
        known = rows >= 0
        if known.all():
            return self._scores[rows]
        out = np.full((len(texts), len(self.labels)), np.nan)
        out[known] = self._scores[rows[known]]
        return out

    def read(self, texts: Sequence[str]) -> IntArray:
        """How many characters were read, (n,)."""
        lengths = np.fromiter(map(len, texts), np.int64, len(texts))
        if not self._windowed:
            return lengths
        rows = self._rows(texts)
        read = np.where(rows >= 0, self._read[rows], WHOLE) if self._count else np.full(len(texts), WHOLE)
        return np.where(read == WHOLE, lengths, read).astype(np.int64)

    def complain(self, error: BaseException) -> None:
        """Count why a text could not be scored: the kind of error and its place, never its words."""
        frames = extract_tb(error.__traceback__)
        place = f"{Path(frames[-1].filename).name}:{frames[-1].lineno}" if frames else "unknown place"
        reason = f"{type(error).__name__} at {place}"
        self.complaints[reason] = self.complaints.get(reason, 0) + 1

    def _rows(self, texts: Sequence[str]) -> NDArray[np.int64]:
        marks = _marks(texts)
        rows = self._by_mark.find(marks, self._marks)
        if self._shared:
            rows[np.isin(marks[:, 0], np.fromiter(self._shared, np.uint64))] = -1
        missing = np.flatnonzero(rows < 0)
        if len(missing) and (self._shared or self._met < self._count):
            rows[missing] = self.find(digests_of([texts[i] for i in missing.tolist()]))
        return rows

    def _take(self, batch: Batch) -> NDArray[np.int64]:
        """Put a batch behind the others; returns the rows at which it stands."""
        start, end = self._count, self._count + len(batch.texts)
        if end > len(self._read):
            self._make_room(end)
        self._texts[start:end], self._scores[start:end] = batch.texts, batch.scores
        self._read[start:end] = batch.read
        self._count = end
        return np.arange(start, end)

    def _enter(self, marks: NDArray[np.uint64], rows: NDArray[np.int64]) -> None:
        """Know rows by their marks, and which marks do not tell texts apart."""
        self._marks[rows] = marks
        again = self._by_mark.add(rows, self._marks)
        self._shared.update(self._marks[again, 0].tolist())
        self._met += len(rows)

    def _make_room(self, rows: int) -> None:
        """A quarter more than asked for: growing by shares keeps the cost of a text the same."""
        room = rows + rows // 4
        for name in ("_texts", "_scores", "_read", "_marks"):
            table = getattr(self, name)
            table.resize((room, *table.shape[1:]), refcheck=False)


def _marks(texts: Sequence[str]) -> NDArray[np.uint64]:
    """Python's own hashes of texts, (n, 1); they hold for this process only."""
    return np.fromiter(map(hash, texts), np.int64, len(texts)).view(np.uint64)[:, None]


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
