"""Hashes of everything that the scores of a model depend on."""

from collections.abc import Iterable, Mapping
from functools import lru_cache
from hashlib import blake2b, file_digest
from pathlib import Path


def hashed(*pieces: bytes | str) -> str:
    """Hash a sequence of pieces into 32 hex digits; the boundaries between pieces count."""
    state = blake2b(digest_size=16)
    for piece in pieces:
        raw = piece if isinstance(piece, bytes) else piece.encode("utf-8", "surrogatepass")
        state.update(len(raw).to_bytes(8, "little"))
        state.update(raw)
    return state.hexdigest()


def hashed_parts(parts: Mapping[str, str]) -> str:
    """One fingerprint of all parts."""
    return hashed(*(piece for key in sorted(parts) for piece in (key, parts[key])))


def hashed_files(paths: Iterable[Path]) -> str:
    """Hash the names and contents of files, not their folders."""
    return hashed(*(piece for path in sorted(paths) for piece in (path.name, file_hash(path))))


def file_hash(path: Path) -> str:
    """Hash the bytes of a file; cached until its size or time changes."""
    state = path.stat()
    return _file_hash(str(path.resolve()), state.st_size, state.st_mtime_ns)


@lru_cache(maxsize=1024)
def _file_hash(path: str, _size: int, _mtime_ns: int) -> str:
    with Path(path).open("rb") as file:
        return file_digest(file, lambda: blake2b(digest_size=16)).hexdigest()
