"""Hashes of everything that the scores of a model depend on."""

import inspect
from collections.abc import Iterable, Iterator, Mapping
from functools import lru_cache, partial
from hashlib import blake2b, file_digest
from importlib import import_module
from itertools import chain
from pathlib import Path
from pickle import PickleError
from types import CodeType, FunctionType, MethodType, ModuleType
from typing import Any

import numpy as np

_PLAIN = (str, bytes, int, float, complex, bool, type(None))


def hashed(*pieces: bytes | str) -> str:
    """Hash a sequence of pieces into 32 hex digits; the boundaries between pieces count."""
    state = blake2b(digest_size=16)
    for piece in pieces:
        raw = piece if isinstance(piece, bytes) else piece.encode("utf-8", "surrogatepass")
        # With the length of each, ("ab", "c") is not ("a", "bc").
        state.update(len(raw).to_bytes(8, "little"))
        state.update(raw)
    return state.hexdigest()


def hashed_parts(parts: Mapping[str, str]) -> str:
    """One fingerprint of all parts."""
    pieces: list[str] = []
    for key in sorted(parts):
        pieces += [key, parts[key]]
    return hashed(*pieces)


def hashed_files(paths: Iterable[Path]) -> str:
    """Hash the names and contents of files, not their folders."""
    pieces: list[str] = []
    for path in sorted(paths):
        pieces += [path.name, file_hash(path)]
    return hashed(*pieces)


def file_hash(path: Path) -> str:
    """Hash the bytes of a file; cached until its size or time changes."""
    # Weights have gigabytes and are asked for more than once per run.
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
    # A decorated function belongs to the module of the function inside.
    unwrapped = inspect.unwrap(thing) if callable(thing) else thing
    module = getattr(unwrapped, "__module__", "") or ""
    try:
        return hashed(*_Source(module).pieces_of(thing))
    except (OSError, TypeError, RecursionError):
        return None


def state_hash(network: Any) -> str:
    """Hash the weights of a torch network, with their names."""
    pieces: list[bytes | str] = []
    for name, weights in sorted(network.state_dict().items()):
        array = weights.detach().cpu().contiguous()
        # As bytes: NumPy has no bfloat16.
        flat_bytes = array.flatten().view(import_module("torch").uint8)
        kind_and_shape = f"{weights.dtype}{tuple(weights.shape)}"
        pieces += [name, kind_and_shape, flat_bytes.numpy().tobytes()]
    return hashed(*pieces)


def estimator_hash(estimator: Any) -> str | None:
    """Hash a fitted estimator of scikit-learn; None if a part of it cannot be hashed.

    Attributes that hold an address (`_stop_words_id`) are left out: they differ between processes.
    """
    try:
        return hashed(*_estimator_pieces(estimator))
    except (TypeError, ValueError, AttributeError, RecursionError, PickleError):
        return None


def _estimator_pieces(value: Any) -> Iterator[str | bytes]:
    if hasattr(value, "get_params") and hasattr(value, "__dict__"):
        yield f"{type(value).__module__}.{type(value).__qualname__}"
        attributes = {name: part for name, part in vars(value).items() if not name.endswith("_id")}
        for name in sorted(attributes):
            yield name
            yield from _estimator_pieces(attributes[name])
    elif isinstance(value, list | tuple):
        yield f"{type(value).__name__}{len(value)}"
        for part in value:
            yield from _estimator_pieces(part)
    elif isinstance(value, FunctionType | MethodType):
        source = source_hash(value)
        if source is None:
            raise TypeError("a function that cannot be hashed")
        yield source
    else:
        # By content: arrays, sparse matrices, vocabularies and the trees of scikit-learn.
        yield str(import_module("joblib").hash(value))


class _Source:
    """Describes a value by pieces to hash.

    Functions and classes of the module `home` are described by their source, those of others by name.
    """

    def __init__(self, home: str) -> None:
        self.home = home
        self.seen: set[int] = set()

    def pieces_of(self, *values: Any) -> Iterator[str | bytes]:
        """Describe values one after the other."""
        for value in values:
            if isinstance(value, _PLAIN):
                yield f"{type(value).__name__}:{value!r}"
            elif id(value) in self.seen:  # values may refer to each other in a circle
                yield "again"
            else:
                self.seen.add(id(value))
                yield type(value).__qualname__
                yield from self._content_of(value)

    def _content_of(self, value: Any) -> Iterator[str | bytes]:
        """Describe what a value is made of; a type that is not listed here could change unnoticed."""
        match value:
            case FunctionType():
                yield from self._function(value)
            case MethodType():
                yield from self.pieces_of(value.__func__, value.__self__)
            case partial():
                yield from self.pieces_of(value.func, value.args, value.keywords)
            case ModuleType():
                yield value.__name__
            case type():
                yield from self._class(value)
            # An array of objects would be hashed by their addresses.
            case np.ndarray() if value.dtype != object:
                yield f"{value.dtype}{value.shape}"
                yield np.ascontiguousarray(value).tobytes()
            case list() | tuple():
                yield from self.pieces_of(*value)
            case set() | frozenset() if all(isinstance(item, _PLAIN) for item in value):
                yield repr(sorted(value, key=repr))
            case dict():
                yield from self.pieces_of(*chain.from_iterable(value.items()))
            case _ if inspect.isbuiltin(value) or isinstance(value, np.ufunc):
                yield getattr(value, "__qualname__", value.__name__)
            case _ if type(value).__module__ == self.home and hasattr(value, "__dict__"):
                yield from self.pieces_of(type(value), vars(value))
            case _:
                raise TypeError("a value that cannot be hashed")

    def _class(self, cls: type) -> Iterator[str | bytes]:
        """The source of a class and its parents, and the values that their methods refer to."""
        for parent in cls.__mro__:
            yield f"{parent.__module__}.{parent.__qualname__}"
            # A library class is known by its name; its version is not the user's code.
            if parent.__module__ == self.home:
                yield inspect.getsource(parent)
                yield from self.pieces_of(*_functions_of(parent))

    def _function(self, function: FunctionType) -> Iterator[str | bytes]:
        """The source of a function, and the values that it closes over or looks up in its module."""
        yield f"{function.__module__}.{function.__qualname__}"
        if function.__module__ != self.home:
            return
        yield inspect.getsource(function)

        closed_over = [cell.cell_contents for cell in function.__closure__ or ()]
        yield from self.pieces_of(*closed_over)
        yield from self.pieces_of(function.__defaults__, function.__kwdefaults__)

        # A threshold at the top of the module changes the scores as the function itself does.
        global_names = _names(function.__code__) & function.__globals__.keys()
        for name in sorted(global_names):
            yield name
            yield from self.pieces_of(function.__globals__[name])


def _functions_of(cls: type) -> list[FunctionType]:
    """The functions in the body of a class, also those inside of class methods and properties."""
    functions = []
    for member in vars(cls).values():
        function = getattr(member, "__func__", getattr(member, "fget", member))
        if isinstance(function, FunctionType):
            functions.append(function)
    return functions


def _names(code: CodeType) -> set[str]:
    """All names that code may look up outside, including those in comprehensions and inner functions."""
    names = set(code.co_names)
    for constant in code.co_consts:
        if isinstance(constant, CodeType):
            names |= _names(constant)
    return names
