"""What a run computes from texts and scores, kept for the next run of the same corpus.

Permutations and edits of texts take longer than anything else in a run whose scores are all stored. They are
kept on a shelf, the store of the run, under a hash of what they were computed from. Each is sealed by the
same: a store holds no texts, and whoever lacks the texts cannot read what was made of them.
"""

from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from functools import cache
from hashlib import blake2b, shake_256
from pathlib import Path
from typing import Protocol

import numpy as np

from psycheck.core.arrays import FloatArray

_WORD = 8  # bytes of a number


class Shelf(Protocol):
    """Where numbers are kept by key; the store is one."""

    def result(self, key: bytes, /) -> FloatArray | None:
        """The numbers under a key, (n,), or None."""

    def add_result(self, key: bytes, numbers: FloatArray, /) -> None:
        """Keep numbers under a key."""


_SHELF: ContextVar[Shelf | None] = ContextVar("shelf", default=None)


@contextmanager
def keeping(shelf: Shelf) -> Iterator[None]:
    """Within, `kept` looks at this shelf, and puts there what it lacks."""
    before = _SHELF.set(shelf)
    try:
        yield
    finally:
        _SHELF.reset(before)


def kept(
    name: str,
    inputs: Iterable[bytes],
    compute: Callable[[], bytes],
    *,
    code: Path,
) -> bytes:
    """What `compute` gives for these inputs, computed only where the shelf lacks it.

    `code` is the file, or the folder, whose code and data decide on the result besides the inputs.
    """
    shelf = _SHELF.get()
    if shelf is None:
        return compute()

    digest = blake2b(f"{name} {_mark_of(code)} numpy {np.__version__}".encode())
    for piece in inputs:
        # With its length, so that two pieces are never taken for one.
        digest.update(len(piece).to_bytes(_WORD, "big"))
        digest.update(piece)
    key, secret = digest.digest()[:32], digest.digest()[32:]

    numbers = shelf.result(key)
    if numbers is not None:
        return _unsealed(numbers, secret)
    result = compute()
    shelf.add_result(key, _sealed(result, secret))
    return result


def _sealed(content: bytes, secret: bytes) -> FloatArray:
    """Bytes as numbers that only the secret makes readable; the last byte of the padding is its length."""
    padding = _WORD - len(content) % _WORD
    padded = content + bytes(padding - 1) + bytes([padding])
    return _mixed(np.frombuffer(padded, np.uint8), secret).view(np.float64)


def _unsealed(numbers: FloatArray, secret: bytes) -> bytes:
    """The bytes that were sealed."""
    padded = _mixed(numbers.view(np.uint8), secret).tobytes()
    return padded[: -padded[-1]]


def _mixed(content: np.ndarray, secret: bytes) -> np.ndarray:
    """Bytes, (n,), combined with as many of the secret's stream: done twice, it gives them back."""
    stream = shake_256(secret).digest(len(content))
    return content ^ np.frombuffer(stream, np.uint8)


@cache
def _mark_of(code: Path) -> str:
    """A hash of a file, or of all files in a folder: other code may give other results."""
    files = [code] if code.is_file() else sorted(path for path in code.rglob("*.*") if path.is_file())
    digest = blake2b(digest_size=16)
    for file in files:
        if file.suffix != ".pyc":
            digest.update(file.read_bytes())
    return digest.hexdigest()
