"""The one settings reader: a TOML file or a mapping becomes a dataclass, checked by its annotations."""

import tomllib
from collections.abc import Callable, Iterable, Mapping
from dataclasses import MISSING, Field, dataclass, fields, is_dataclass
from functools import cache, partial
from numbers import Integral, Real
from pathlib import Path
from types import NoneType, UnionType
from typing import Annotated, Any, Literal, TypeVar, Union, get_args, get_origin, get_type_hints

from psycheck.core.errors import BadInput, nearest, neighbours
from psycheck.io.toml import parse_toml

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
NOT_BLANK = Limit(
    allowed="a non-empty string",
    holds=str.strip,
    problem="is empty",
)


@dataclass(frozen=True, slots=True)
class _PlainType:
    """The Python types that are read as a plain annotation, and how a message names it."""

    accepted: Any
    title: str


# The abstract kinds of numbers, because callers also pass NumPy's.
_PLAIN_TYPES: Mapping[Any, _PlainType] = {
    bool: _PlainType(bool, "true or false"),
    int: _PlainType(Integral, "an integer"),
    float: _PlainType(Real, "a number"),
    str: _PlainType(str, "a string"),
    Path: _PlainType(str | Path, "a path"),
}


@dataclass(frozen=True, slots=True)
class _Key:
    """The key of a value: its dotted name, and the file or table that holds it (empty for a caller's)."""

    name: str
    place: str

    def inner(self, name: str) -> "_Key":
        return _Key(_dotted(self.name, name), self.place)

    def refused(self, what: str, allowed: str, *, code: str) -> BadInput:
        return wrong(
            what=what,
            place=self.place,
            key=self.name,
            allowed=allowed,
            code=code,
        )


# Resolving annotations is slow, and one dataclass is read many times (each check of a suite, for example).
_hints: Callable[[Any], dict[str, Any]] = cache(partial(get_type_hints, include_extras=True))


def read_toml(path: Path, what: str) -> dict[str, Any]:
    """Read a TOML file; `what` names it in errors ("plan", "suite")."""
    try:
        return parse_toml(path.read_bytes().decode("utf-8"))
    except OSError as error:
        raise BadInput(
            what=f"cannot read the {what} file ({error.strerror})",
            code="toml.cannot-read",
            where=str(path),
            allowed="a TOML file",
        ) from error
    except UnicodeDecodeError as error:
        raise BadInput(
            f"the {what} is not UTF-8 text",
            code="toml.not-utf-8",
            where=f"{path}, byte {error.start}",
        ) from error
    except (tomllib.TOMLDecodeError, RecursionError) as error:
        raise BadInput(
            what=f"the {what} is not valid TOML: {error}",
            code="toml.not-valid",
            where=str(path),
            do="fix that line",
        ) from error


def read_settings(
    kind: type[T],
    raw: Mapping[str, Any],
    place: str = "",
    within: str = "",
) -> T:
    """Build a dataclass from a mapping; unknown keys, missing keys and wrong values are errors.

    `place` is the file or table that the mapping comes from (empty for values that a caller passed), `within`
    the key of the table that holds it.
    """
    hints = _hints(kind)
    table = _Key(within, place)
    check_keys(
        raw=raw,
        allowed=hints,
        place=place,
        within=within,
    )
    # Unknown keys come first: a misspelt key is also a missing one.
    for field in fields(kind):  # type: ignore[arg-type]  # T is always a dataclass
        if field.name not in raw and _is_required(field):
            raise table.inner(field.name).refused(
                f"'{field.name}' is missing",
                _described(hints[field.name]),
                code="settings.missing-key",
            )

    values = {name: _value(hints[name], value, table.inner(name)) for name, value in raw.items()}
    return kind(**values)


def _is_required(field: Field[Any]) -> bool:
    return field.default is MISSING and field.default_factory is MISSING


def check_keys(
    raw: Mapping[str, Any],
    allowed: Iterable[str],
    place: str,
    within: str = "",
) -> None:
    """Refuse a key that is not allowed, and suggest the nearest one that is."""
    names = tuple(allowed)
    for key in raw:
        if key not in names:
            raise wrong(
                what=f"unknown key '{key}'",
                place=place,
                key=_dotted(within, key),
                allowed=nearest(key, names),
                code="settings.unknown-key",
            )


def check_values(settings: object, place: str = "") -> None:
    """Check all values of a dataclass, for its `__post_init__`; lists become tuples."""
    for name, hint in _hints(type(settings)).items():
        # The dataclass is frozen, and still under construction.
        checked = _value(hint, getattr(settings, name), _Key(name, place))
        object.__setattr__(settings, name, checked)


def wrong(
    what: str,
    place: str,
    key: str,
    allowed: str = "",
    do: str = "",
    *,
    code: str = "settings.wrong-value",
) -> BadInput:
    """The error for one key: with a place it says where, without one the caller knows the key by name."""
    if place:
        return BadInput(
            what=what,
            code=code,
            where=f"{place}, key '{key}'",
            allowed=allowed,
            do=do,
        )
    return BadInput(
        what=what,
        code=code,
        allowed=allowed,
        do=do,
        key=key,
    )


def _dotted(within: str, key: str) -> str:
    return f"{within}.{key}" if within else key


def _value(hint: Any, value: Any, key: _Key) -> Any:
    """The value as its annotation demands it, or an error that names the key."""
    kind = get_origin(hint) or hint
    # `Annotated[int, ...]`, `int | None` and `tuple[int, ...]` hold annotations that are read in turn.
    if kind in _READERS:
        return _READERS[kind](hint, value, key)
    if kind in _PLAIN_TYPES:
        return _plain_value(hint, value, key)
    if is_dataclass(kind) and isinstance(value, Mapping):
        return read_settings(
            kind=hint,
            raw=value,
            place=key.place,
            within=key.name,
        )

    if hint is Any:
        return value
    if isinstance(hint, type) and isinstance(value, hint):
        return value
    raise _wrong_type(hint, key)


def _wrong_type(hint: Any, key: _Key) -> BadInput:
    expected = _described(hint)
    return key.refused(f"'{key.name}' must be {expected}", expected, code="settings.wrong-type")


def _plain_value(hint: Any, value: Any, key: _Key) -> Any:
    """A string, number, truth value or path."""
    # Python takes True for the number 1; a settings file does not.
    is_bool_as_expected = isinstance(value, bool) == (hint is bool)
    if not isinstance(value, _PLAIN_TYPES[hint].accepted) or not is_bool_as_expected:
        raise _wrong_type(hint, key)
    return Path(value) if hint is Path else value


def _limited_value(hint: Any, value: Any, key: _Key) -> Any:
    """A value of `Annotated[int, Limit(...), ...]`."""
    inner_hint, *limits = get_args(hint)
    checked = _value(inner_hint, value, key)
    # `Annotated[int | None, …]`: a limit is about the value, if there is one.
    if checked is None:
        return None

    for limit in limits:
        if not limit.holds(checked):
            # A string is not shown: it may be what someone wrote.
            number = f": {checked}" if isinstance(checked, Real) else ""
            raise key.refused(
                f"'{key.name}' {limit.problem}{number}",
                limit.allowed,
                code="settings.out-of-range",
            )
    return checked


def _union_value(hint: Any, value: Any, key: _Key) -> Any:
    """A value of `int | None`, or of `float | Literal["word"]`."""
    inner_hint, *literals = (part for part in get_args(hint) if part is not NoneType)
    if value is None:
        return None
    if not literals or not isinstance(value, str):
        return _value(inner_hint, value, key)

    (word,) = get_args(literals[0])
    if value == word:
        return value
    expected = _described(inner_hint)
    raise key.refused(
        f"'{key.name}' must be {expected} or '{word}'",
        f"{expected}, or {word}",
        code="settings.wrong-type",
    )


def _choice(hint: Any, value: Any, key: _Key) -> Any:
    """A value of `Literal["small", "large"]`."""
    choices = get_args(hint)
    # True equals 1, but is not a choice of `Literal[0, 1]`.
    if value in choices and type(value) is type(choices[0]):
        return value

    quoted_value = f" '{value}'" if isinstance(value, str | int) else ""
    allowed = ", ".join(map(str, choices))
    suggestion = neighbours(str(value), map(str, choices))
    if suggestion:
        allowed += f" ({suggestion})"
    raise key.refused(f"unknown {key.name}{quoted_value}", allowed, code="settings.unknown-choice")


def _list_value(hint: Any, value: Any, key: _Key) -> Any:
    """A value of `tuple[str, ...]`: a list, or one string for a list of strings."""
    entry_hint = get_args(hint)[0]
    # One string is a list of one; as a sequence it would become a list of letters.
    if isinstance(value, str) and entry_hint is str:
        return (value,)
    if not isinstance(value, list | tuple):
        raise _wrong_type(hint, key)

    holds_tables = is_dataclass(entry_hint)
    if holds_tables and not all(isinstance(entry, Mapping | entry_hint) for entry in value):
        raise _wrong_type(hint, key)

    entries = []
    for number, entry in enumerate(value, start=1):
        checked = _entry(
            hint=entry_hint,
            value=entry,
            key=key,
            number=number,
        )
        entries.append(checked)
    return tuple(entries)


def _entry(
    hint: Any,
    value: Any,
    key: _Key,
    number: int,
) -> Any:
    """One entry of a list; a table is a place of its own, named by its id or its number."""
    is_table = isinstance(hint, type) and is_dataclass(hint) and isinstance(value, Mapping)
    if not is_table:
        return _value(hint, value, key)

    # "suite.toml, check 'sleep'" is found more quickly than "check.17".
    name = f"'{value['id']}'" if value.get("id") else number
    return read_settings(hint, value, f"{key.place}, {key.name} {name}")


def _mapping_value(hint: Any, value: Any, key: _Key) -> Any:
    """A value of `Mapping[str, int]`: a table with any keys."""
    if not isinstance(value, Mapping):
        raise _wrong_type(hint, key)
    # `Mapping[str, int]` says what the values are, a bare `Mapping` does not.
    parts = get_args(hint)
    value_hint = parts[1] if parts else Any
    return {name: _value(value_hint, inner, key.inner(name)) for name, inner in value.items()}


_READERS: Mapping[Any, Callable[[Any, Any, _Key], Any]] = {
    Annotated: _limited_value,
    Union: _union_value,
    UnionType: _union_value,
    Literal: _choice,
    tuple: _list_value,
    Mapping: _mapping_value,
}


def _described(hint: Any) -> str:
    """What an annotation allows, in words."""
    kind = get_origin(hint) or hint
    parts = get_args(hint)
    if kind in (Annotated, Union, UnionType):
        return _described(parts[0])
    if kind is Literal:
        return " or ".join(map(str, parts))
    if kind is tuple:
        # "a string" becomes "a list of strings", "true or false" stays as it is.
        article, _, noun = _described(parts[0]).partition(" ")
        if article in ("a", "an"):
            return f"a list of {noun}s"
        return f"a list of {article} {noun}"
    if kind in _PLAIN_TYPES:
        return _PLAIN_TYPES[kind].title
    return "a table"
