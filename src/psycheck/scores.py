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
    # `digest`, written out: this runs for every text that is scored or looked up.
    hashes = [blake2b(t.encode("utf-8", "surrogatepass"), digest_size=_DIGEST).digest() for t in texts]
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

    `names` are the labels by which an audit knows the columns. Texts that the run has just met are found by
    themselves (`recent`, filled by the engine up to its budget), others by their hash among the sorted hashes
    of all that the store holds of the model: 28 bytes of memory a text and label.
    """

    def __init__(
        self, store: Store, model: Model, names: tuple[str, ...], *, windowed: bool | None = None
    ) -> None:
        self._windowed = isinstance(model, Windowed) if windowed is None else windowed
        self.model = model.name
        self.labels = names
        self.number = store.enter(model)
        self.recent: dict[str, int] = {}
        self.held = 0
        self.complaints: dict[str, int] = {}
        self._store = store
        self._last = 0
        self._own: set[int] = set()
        self._texts = np.zeros((0, 2), np.uint64)
        self._scores = np.zeros((0, len(names)))
        self._read = np.zeros(0, np.int32)
        self._new: list[Batch] = []
        self._count = 0
        self._order = np.zeros(0, np.int64)
        self._keys = np.zeros(0, np.uint64)
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
    ) -> range:
        """Commit a batch; returns the rows at which it stands."""
        batch = batch_of(texts, scores, read, hashes)
        self._own.add(self._store.add(self.number, batch))
        return self._take(batch)

    def find(self, wanted: NDArray[np.uint64]) -> NDArray[np.int64]:
        """The rows at which texts stand, (n,), by their hashes, (n, 2); -1 where they are not known."""
        found = np.full(len(wanted), -1, np.int64)
        if not self._count or not len(wanted):
            return found
        self._sort()
        keys = self._keys
        # Asked in order, neighbours in the table are still in the processor's cache.
        turn = np.argsort(wanted[:, 0])
        at = np.empty(len(wanted), np.int64)
        at[turn] = np.searchsorted(keys, wanted[turn, 0])
        open_ = np.arange(len(wanted))
        # Two texts may share the first half of their hash; then the second half decides.
        while len(open_):
            open_ = open_[at[open_] < self._count]
            open_ = open_[keys[at[open_]] == wanted[open_, 0]]
            rows = self._order[at[open_]]
            same = self._texts[rows, 1] == wanted[open_, 1]
            found[open_[same]] = rows[same]
            open_ = open_[~same]
            at[open_] += 1
        return found

    def of(self, texts: Sequence[str]) -> FloatArray:
        """The scores, (n, k); NaN where there is none."""
        rows = self._rows(texts)
        out = np.full((len(texts), len(self.labels)), np.nan)
        out[rows >= 0] = self._scores[rows[rows >= 0]]
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
        self._join()
        recent = self.recent
        rows = np.array([recent.get(text, -1) for text in texts], np.int64)
        missing = np.flatnonzero(rows < 0)
        if len(missing) and len(recent) < self._count:
            rows[missing] = self.find(digests_of([texts[i] for i in missing.tolist()]))
        return rows

    def _take(self, batch: Batch) -> range:
        start = self._count
        self._new.append(batch)
        self._count += len(batch.texts)
        return range(start, self._count)

    def _join(self) -> None:
        """Put new batches behind the others."""
        if self._new:
            self._texts = np.concatenate([self._texts, *(batch.texts for batch in self._new)])
            self._scores = np.concatenate([self._scores, *(batch.scores for batch in self._new)])
            self._read = np.concatenate([self._read, *(batch.read for batch in self._new)])
            self._new = []

    def _sort(self) -> None:
        self._join()
        old = len(self._order)
        if old < self._count:
            # Two sorted runs, which the stable sort merges in one pass.
            new = old + np.argsort(self._texts[old:, 0], kind="stable")
            order = np.concatenate([self._order, new])
            self._order = order[np.argsort(self._texts[order, 0], kind="stable")]
            self._keys = self._texts[self._order, 0]


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
