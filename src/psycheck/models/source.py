"""A hash of everything that the results of a Python function visibly depend on."""

import functools
import inspect
from collections.abc import Iterator
from types import CodeType, FunctionType, MethodType, ModuleType
from typing import Any

import numpy as np

from psycheck.models.fingerprint import hashed

_PLAIN = (str, bytes, int, float, complex, bool, type(None))


class _Unseen(Exception):
    """A value that cannot be hashed."""


def source_hash(thing: Any) -> str | None:
    """Hash the source of a function or object and the plain values it refers to; None if that is impossible.

    A value of another type (an estimator, an open file) could change unnoticed, so it prevents the hash.
    """
    try:
        return hashed(*_described(thing, _home(thing), set()))
    except (_Unseen, OSError, TypeError, RecursionError):
        return None


def _home(thing: Any) -> str:
    """The module whose functions are hashed by source; those of other modules by name."""
    return getattr(inspect.unwrap(thing) if callable(thing) else thing, "__module__", "") or ""


def _described(thing: Any, home: str, seen: set[int]) -> Iterator[str | bytes]:
    if isinstance(thing, _PLAIN):
        yield f"{type(thing).__name__}:{thing!r}"
    elif id(thing) in seen:
        yield "again"
    else:
        seen.add(id(thing))
        yield type(thing).__qualname__
        yield from _described_inside(thing, home, seen)


def _described_inside(thing: Any, home: str, seen: set[int]) -> Iterator[str | bytes]:
    match thing:
        case FunctionType():
            yield from _described_function(thing, home, seen)
        case MethodType():
            yield from _described(thing.__func__, home, seen)
            yield from _described(thing.__self__, home, seen)
        case functools.partial():
            for part in (thing.func, thing.args, thing.keywords):
                yield from _described(part, home, seen)
        case ModuleType():
            yield thing.__name__
        case type():
            for kind in thing.__mro__:
                yield f"{kind.__module__}.{kind.__qualname__}"
                if kind.__module__ == home:
                    yield from _described_class(kind, home, seen)
        case np.ndarray() if thing.dtype != object:
            yield f"{thing.dtype}{thing.shape}"
            yield np.ascontiguousarray(thing).tobytes()
        case list() | tuple():
            for item in thing:
                yield from _described(item, home, seen)
        case set() | frozenset():
            if not all(isinstance(item, _PLAIN) for item in thing):
                raise _Unseen
            yield repr(sorted(thing, key=repr))
        case dict():
            for key, value in thing.items():
                yield from _described(key, home, seen)
                yield from _described(value, home, seen)
        case _ if inspect.isbuiltin(thing) or isinstance(thing, np.ufunc):
            yield getattr(thing, "__qualname__", thing.__name__)
        case _ if type(thing).__module__ == home and hasattr(thing, "__dict__"):
            yield from _described(type(thing), home, seen)
            yield from _described(vars(thing), home, seen)
        case _:
            raise _Unseen


def _described_class(kind: type, home: str, seen: set[int]) -> Iterator[str | bytes]:
    """The source of a class and the values that its methods refer to."""
    yield inspect.getsource(kind)
    for member in vars(kind).values():
        method = getattr(member, "__func__", getattr(member, "fget", member))
        if isinstance(method, FunctionType):
            yield from _described(method, home, seen)


def _described_function(function: FunctionType, home: str, seen: set[int]) -> Iterator[str | bytes]:
    yield f"{function.__module__}.{function.__qualname__}"
    if function.__module__ != home:
        return
    yield inspect.getsource(function)
    for cell in function.__closure__ or ():
        yield from _described(cell.cell_contents, home, seen)
    yield from _described(function.__defaults__, home, seen)
    yield from _described(function.__kwdefaults__, home, seen)
    for name in sorted(_names(function.__code__) & function.__globals__.keys()):
        yield name
        yield from _described(function.__globals__[name], home, seen)


def _names(code: CodeType) -> set[str]:
    """All names that code may look up outside, including those in comprehensions and inner functions."""
    inner = (const for const in code.co_consts if isinstance(const, CodeType))
    return set(code.co_names).union(*(_names(one) for one in inner))
