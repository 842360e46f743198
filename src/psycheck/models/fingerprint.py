"""Hashes of everything that the scores of a model depend on."""

import inspect
from collections.abc import Iterable, Iterator, Mapping
from functools import lru_cache, partial
from hashlib import blake2b, file_digest
from itertools import chain
from pathlib import Path
from types import CodeType, FunctionType, MethodType, ModuleType
from typing import Any

import numpy as np

_PLAIN = (str, bytes, int, float, complex, bool, type(None))


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


def source_hash(thing: Any) -> str | None:
    """Hash the source of a function or object and the plain values it refers to; None if that is impossible.

    A value of another type (an estimator, an open file) could change unnoticed, so it prevents the hash.
    """
    home = getattr(inspect.unwrap(thing) if callable(thing) else thing, "__module__", "") or ""
    try:
        return hashed(*_Source(home).of(thing))
    except (OSError, TypeError, RecursionError):
        return None


class _Source:
    """Functions of the module `home` are described by their source, those of other modules by name."""

    def __init__(self, home: str) -> None:
        self.home = home
        self.seen: set[int] = set()

    def of(self, *things: Any) -> Iterator[str | bytes]:
        """Describe values one after the other."""
        for thing in things:
            if isinstance(thing, _PLAIN):
                yield f"{type(thing).__name__}:{thing!r}"
            elif id(thing) in self.seen:
                yield "again"
            else:
                self.seen.add(id(thing))
                yield type(thing).__qualname__
                yield from self._inside(thing)

    def _inside(self, thing: Any) -> Iterator[str | bytes]:
        match thing:
            case FunctionType():
                yield from self._function(thing)
            case MethodType():
                yield from self.of(thing.__func__, thing.__self__)
            case partial():
                yield from self.of(thing.func, thing.args, thing.keywords)
            case ModuleType():
                yield thing.__name__
            case type():
                yield from self._class(thing)
            case np.ndarray() if thing.dtype != object:
                yield f"{thing.dtype}{thing.shape}"
                yield np.ascontiguousarray(thing).tobytes()
            case list() | tuple():
                yield from self.of(*thing)
            case set() | frozenset() if all(isinstance(item, _PLAIN) for item in thing):
                yield repr(sorted(thing, key=repr))
            case dict():
                yield from self.of(*chain.from_iterable(thing.items()))
            case _ if inspect.isbuiltin(thing) or isinstance(thing, np.ufunc):
                yield getattr(thing, "__qualname__", thing.__name__)
            case _ if type(thing).__module__ == self.home and hasattr(thing, "__dict__"):
                yield from self.of(type(thing), vars(thing))
            case _:
                raise TypeError("a value that cannot be hashed")

    def _class(self, thing: type) -> Iterator[str | bytes]:
        """The source of a class and its parents, and the values that their methods refer to."""
        for kind in thing.__mro__:
            yield f"{kind.__module__}.{kind.__qualname__}"
            if kind.__module__ == self.home:
                yield inspect.getsource(kind)
                members = vars(kind).values()
                methods = [getattr(one, "__func__", getattr(one, "fget", one)) for one in members]
                yield from self.of(*(one for one in methods if isinstance(one, FunctionType)))

    def _function(self, function: FunctionType) -> Iterator[str | bytes]:
        yield f"{function.__module__}.{function.__qualname__}"
        if function.__module__ != self.home:
            return
        yield inspect.getsource(function)
        yield from self.of(*(cell.cell_contents for cell in function.__closure__ or ()))
        yield from self.of(function.__defaults__, function.__kwdefaults__)
        for name in sorted(_names(function.__code__) & function.__globals__.keys()):
            yield name
            yield from self.of(function.__globals__[name])


def _names(code: CodeType) -> set[str]:
    """All names that code may look up outside, including those in comprehensions and inner functions."""
    inner = (const for const in code.co_consts if isinstance(const, CodeType))
    return set(code.co_names).union(*(_names(one) for one in inner))
