"""The one settings reader: a TOML file or a mapping becomes a dataclass, checked by its annotations."""

import tomllib
from collections.abc import Callable, Iterable, Mapping
from dataclasses import MISSING, dataclass, fields, is_dataclass
from functools import cache, partial
from numbers import Integral, Real
from pathlib import Path
from types import NoneType, UnionType
from typing import Annotated, Any, Literal, TypeVar, Union, get_args, get_origin, get_type_hints

from psycheck.errors import BadInput, nearest, neighbours

T = TypeVar("T")


@dataclass(frozen=True, slots=True)
class Limit:
    """What a value must satisfy beyond its type, as in `Annotated[int, Limit(...)]`."""

    allowed: str
    holds: Callable[[Any], object]
    problem: str = "is out of range"


AT_LEAST_0 = Limit("0 or more", lambda number: number >= 0)
AT_LEAST_1 = Limit("1 or more", lambda number: number >= 1)
ABOVE_0 = Limit("more than 0", lambda number: number > 0)
NOT_BLANK = Limit("a non-empty string", str.strip, "is empty")

_PLAIN: Mapping[Any, tuple[Any, str]] = {
    bool: (bool, "true or false"),
    int: (Integral, "an integer"),
    float: (Real, "a number"),
    str: (str, "a string"),
    Path: (str | Path, "a path"),
}


_hints: Callable[[Any], dict[str, Any]] = cache(partial(get_type_hints, include_extras=True))


def read_toml(path: Path, what: str) -> dict[str, Any]:
    """Read a TOML file; `what` names it in errors ("plan", "suite")."""
    try:
        return tomllib.loads(path.read_bytes().decode("utf-8"))
    except OSError as error:
        raise BadInput(
            f"cannot read the {what} file ({error.strerror})", where=str(path), allowed="a TOML file"
        ) from error
    except UnicodeDecodeError as error:
        raise BadInput(f"the {what} is not UTF-8 text", where=f"{path}, byte {error.start}") from error
    except (tomllib.TOMLDecodeError, RecursionError) as error:
        raise BadInput(
            f"the {what} is not valid TOML: {error}", where=str(path), do="fix that line"
        ) from error


def read_settings(kind: type[T], raw: Mapping[str, Any], place: str = "", within: str = "") -> T:
    """Build a dataclass from a mapping; unknown keys, missing keys and wrong values are errors.

    `place` is the file or table that the mapping comes from (empty for values that a caller passed), `within`
    the key of the table that holds it.
    """
    hints = _hints(kind)
    check_keys(raw, hints, place, within)
    for field in fields(kind):  # type: ignore[arg-type]  # T is always a dataclass
        if field.name not in raw and field.default is MISSING and field.default_factory is MISSING:
            allowed = _described(hints[field.name])
            raise wrong(f"'{field.name}' is missing", place, _dotted(within, field.name), allowed)
    return kind(**{key: _value(hints[key], value, place, _dotted(within, key)) for key, value in raw.items()})


def check_keys(raw: Mapping[str, Any], known: Iterable[str], place: str, within: str = "") -> None:
    """Refuse a key that is not known, and suggest the nearest one that is."""
    names = tuple(known)
    for key in raw:
        if key not in names:
            raise wrong(f"unknown key '{key}'", place, _dotted(within, key), nearest(key, names))


def check_values(settings: object, place: str = "") -> None:
    """Check all values of a dataclass, for its `__post_init__`; lists become tuples."""
    for name, hint in _hints(type(settings)).items():
        object.__setattr__(settings, name, _value(hint, getattr(settings, name), place, name))


def wrong(what: str, place: str, key: str, allowed: str = "", do: str = "") -> BadInput:
    """The error for one key: with a place it says where, without one the caller knows the key by name."""
    where = f"{place}, key '{key}'" if place else ""
    return BadInput(what, where=where, allowed=allowed, do=do, key="" if place else key)


def _dotted(within: str, key: str) -> str:
    return f"{within}.{key}" if within else key


def _value(hint: Any, value: Any, place: str, key: str) -> Any:
    """The value as its annotation demands it."""
    origin, parts = get_origin(hint) or hint, get_args(hint)
    if origin is Annotated:
        value = _value(parts[0], value, place, key)
        for limit in parts[1:] if value is not None else ():
            if not limit.holds(value):
                shown = f": {value}" if isinstance(value, Real) else ""
                raise wrong(f"'{key}' {limit.problem}{shown}", place, key, limit.allowed)
        return value
    if origin in (Union, UnionType):  # X | None, or a number | Literal["word"]
        inner, *words = (part for part in parts if part is not NoneType)
        if words and isinstance(value, str):
            (word,) = get_args(words[0])
            if value != word:
                shown = f"'{key}' must be {_described(inner)} or '{word}'"
                raise wrong(shown, place, key, f"{_described(inner)}, or {word}")
            return value
        return None if value is None else _value(inner, value, place, key)
    if origin is Literal:
        if value in parts and type(value) is type(parts[0]):
            return value
        shown = f" '{value}'" if isinstance(value, str | int) else ""
        close = neighbours(str(value), map(str, parts))
        allowed = ", ".join(map(str, parts)) + (f" ({close})" if close else "")
        raise wrong(f"unknown {key}{shown}", place, key, allowed)
    if origin is tuple and isinstance(value, str) and parts[0] is str:
        return (value,)
    tables = origin is tuple and is_dataclass(parts[0])
    if (
        origin is tuple
        and isinstance(value, list | tuple)
        and (not tables or all(isinstance(one, Mapping | parts[0]) for one in value))
    ):
        return tuple(_entry(parts[0], one, place, key, number) for number, one in enumerate(value, 1))
    if origin is Mapping and isinstance(value, Mapping):
        inner = parts[1] if parts else Any
        return {name: _value(inner, one, place, _dotted(key, name)) for name, one in value.items()}
    if is_dataclass(origin) and isinstance(value, Mapping):
        return read_settings(hint, value, place, key)
    if (
        origin in _PLAIN
        and isinstance(value, _PLAIN[origin][0])
        and isinstance(value, bool) == (hint is bool)
    ):
        return Path(value) if hint is Path else value
    if hint is Any or (isinstance(hint, type) and hint not in _PLAIN and isinstance(value, hint)):
        return value
    raise wrong(f"'{key}' must be {_described(hint)}", place, key, _described(hint))


def _entry(hint: Any, value: Any, place: str, key: str, number: int) -> Any:
    """One entry of a list; a table is a place of its own, named by its id or its number."""
    if isinstance(hint, type) and is_dataclass(hint) and isinstance(value, Mapping):
        name = f"'{value['id']}'" if value.get("id") else number
        return read_settings(hint, value, f"{place}, {key} {name}")
    return _value(hint, value, place, key)


def _described(hint: Any) -> str:
    """What an annotation allows, in words."""
    origin, parts = get_origin(hint) or hint, get_args(hint)
    if origin in (Annotated, Union, UnionType):
        return _described(parts[0])
    if origin is tuple:
        article, _, noun = _described(parts[0]).partition(" ")
        return f"a list of {noun}s" if article in ("a", "an") else f"a list of {article} {noun}"
    if origin is Literal:
        return " or ".join(map(str, parts))
    return _PLAIN[origin][1] if origin in _PLAIN else "a table"
