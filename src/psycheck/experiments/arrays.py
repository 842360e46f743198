"""Arrays that were costly to make, remembered by key in one SQLite file, which holds no text."""

import sqlite3
from collections.abc import Iterator, Mapping, Sequence
from contextlib import closing, contextmanager
from pathlib import Path
from time import monotonic

import numpy as np
from numpy.typing import NDArray

from psycheck.errors import StoreFailure
from psycheck.model import Encoder, FloatArray, digest
from psycheck.scoring.engine import Progress, silent

BATCH = 64  # texts that are encoded and written at once: no more is lost when the process is killed


class Arrays:
    """A file of one-dimensional arrays by key; what is added is there whole or not at all."""

    def __init__(self, path: Path) -> None:
        self.path = path
        with self._told():
            path.parent.mkdir(parents=True, exist_ok=True)
            self._db = sqlite3.connect(path, timeout=60)
            self._db.execute("PRAGMA journal_mode = WAL")
            self._db.execute("CREATE TABLE IF NOT EXISTS array (key BLOB PRIMARY KEY, numbers BLOB NOT NULL)")

    def close(self) -> None:
        """Let go of the file."""
        self._db.close()

    def get(self, key: bytes) -> NDArray[np.float32] | None:
        """The array of a key, or None where it is not known."""
        with self._told():
            found = self._db.execute("SELECT numbers FROM array WHERE key = ?", (key,)).fetchone()
        return None if found is None else np.frombuffer(found[0], np.float32)

    def add(self, arrays: Mapping[bytes, NDArray[np.float32]]) -> None:
        """Remember arrays, all or none of them."""
        rows = [(key, numbers.astype(np.float32).tobytes()) for key, numbers in arrays.items()]
        with self._told(), self._db:
            self._db.executemany("INSERT OR REPLACE INTO array (key, numbers) VALUES (?, ?)", rows)

    @contextmanager
    def _told(self) -> Iterator[None]:
        try:
            yield
        except (sqlite3.Error, OSError) as error:
            raise StoreFailure(
                f"vectors cannot be remembered ({error})",
                where=str(self.path),
                do="free space, name another folder, or remove the file if it is damaged",
            ) from error


def vectors_of(
    encoder: Encoder, texts: Sequence[str], path: Path, progress: Progress = silent
) -> dict[str, FloatArray]:
    """The vector of each distinct text, (d,): encoded once and remembered, in 32 bits whether read or new."""
    wanted = list(dict.fromkeys(texts))
    keys = {text: key_of("vector", encoder.fingerprint, text) for text in wanted}
    out: dict[str, FloatArray] = {}
    with closing(Arrays(path)) as arrays:
        missing = []
        for text in wanted:
            found = arrays.get(keys[text])
            if found is None:
                missing.append(text)
            else:
                out[text] = found.astype(np.float64)
        missing.sort(key=len, reverse=True)
        began = monotonic()
        for start in range(0, len(missing), BATCH):
            batch = missing[start : start + BATCH]
            vectors = encoder.encode(batch).astype(np.float32)
            arrays.add({keys[text]: vector for text, vector in zip(batch, vectors, strict=True)})
            out |= {text: vector.astype(np.float64) for text, vector in zip(batch, vectors, strict=True)}
            progress(encoder.name, start + len(batch), len(missing), monotonic() - began)
    return out


def key_of(*said: str) -> bytes:
    """A key for something that is decided by these words."""
    return digest("\x1d".join(said))
