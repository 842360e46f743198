"""Options of a model in its spec or as keywords, checked before anything is opened.

Each kind of model brings its own options: a frozen dataclass, usually a subclass of `ModelOptions`. Types,
choices and limits come from the annotations of its fields.
"""

from collections.abc import Mapping
from contextlib import suppress
from dataclasses import dataclass, fields
from types import NoneType, UnionType
from typing import Annotated, Any, TypeVar, Union, get_args, get_origin, get_type_hints
from urllib.parse import parse_qsl

from psycheck.core.errors import BadInput, PsycheckError, nearest
from psycheck.core.registry import MODEL_KINDS
from psycheck.io.settings import AT_LEAST_1, NOT_BLANK, read_settings

T = TypeVar("T")
Text = Annotated[str, NOT_BLANK]
_SWITCHES = {
    "": True,
    "1": True,
    "true": True,
    "yes": True,
    "0": False,
    "false": False,
    "no": False,
}


@dataclass(frozen=True, slots=True, kw_only=True)
class ModelOptions:
    """Options that every kind has, after "?" in a spec or as keywords; those of the spec take precedence.

    `name` is the model's name in tables, `label` names the score column (or all of them, separated by
    commas), `batch` is how many items are scored at once. None leaves the choice to the kind.
    """

    name: Text | None = None
    label: Text | None = None
    batch: Annotated[int, AT_LEAST_1] | None = None


def query_of(query: str, spec: str) -> dict[str, str]:
    """The options after "?" in a spec, by name."""
    pairs = parse_qsl(query, keep_blank_values=True)
    names = {name for name, _ in pairs}
    if len(names) != len(pairs):
        raise BadInput(
            "duplicate option",
            code="model.duplicate-option",
            where=spec,
            allowed="each option once",
        )
    return dict(pairs)


def options_of(
    kind: str,
    options: type[T],
    query: Mapping[str, str],
    keywords: Mapping[str, Any],
    *,
    where: str,
) -> T:
    """The options of a model of one kind, as its dataclass; the spec (`query`) overrides `keywords`."""
    # Callers pass None for options that their users did not set.
    set_keywords = {name: value for name, value in keywords.items() if value is not None}
    values = set_keywords | dict(query)

    names = [field.name for field in fields(options)]  # type: ignore[arg-type]  # T is always a dataclass
    for name in values:
        if name not in names:
            raise _not_an_option(name, kind, names, where)
    return read_settings(options, typed_values(options, values), where)


def typed_values(options: type, values: Mapping[str, Any]) -> dict[str, Any]:
    """The texts of a query as the annotations of a dataclass demand; what cannot be converted stays."""
    hints = get_type_hints(options)
    return {name: _typed(hints.get(name, str), value) for name, value in values.items()}


def _typed(hint: Any, value: Any) -> Any:
    """One value as its annotation demands; the reader of settings refuses what cannot be converted."""
    value_type = _plain_type(hint)
    if value_type is bool:
        return _SWITCHES.get(str(value).casefold(), value)
    if value_type in (int, float):
        with suppress(ValueError):
            return value_type(str(value))
        return value
    # As a keyword, a class may be named by its index (positive=1); in a query everything is text.
    return str(value) if value_type is str else value


def _plain_type(hint: Any) -> Any:
    """The type of an annotation without its limits and without None: int of `Annotated[int, …] | None`."""
    origin = get_origin(hint)
    if origin is Annotated:
        return _plain_type(get_args(hint)[0])
    if origin in (Union, UnionType):
        # A union of types is converted as its first one.
        choices = [choice for choice in get_args(hint) if choice is not NoneType]
        return _plain_type(choices[0])
    return hint


def _not_an_option(
    name: str,
    kind: str,
    names: list[str],
    where: str,
) -> BadInput:
    """The error for an option that a kind does not have: another kind's, or nobody's."""
    # Only an error imports all kinds.
    kinds = _kinds_with(name)
    if kinds:
        return BadInput(
            f"'{kind}:' models do not have the option '{name}'",
            code="model.option-of-another-kind",
            where=where,
            allowed=f"'{name}' is for {' and '.join(f'{having}:' for having in kinds)}",
            do=f"add it to the spec of the model it is for: …?{name}=…",
        )
    return BadInput(
        f"unknown option '{name}'",
        code="model.unknown-option",
        where=where,
        allowed=nearest(name, names),
    )


def _kinds_with(name: str) -> list[str]:
    """The kinds of models that have an option of this name."""
    kinds = []
    for kind in MODEL_KINDS.names():
        # A kind of another package that cannot be imported is not at fault here.
        with suppress(PsycheckError):
            option_names = {field.name for field in fields(MODEL_KINDS.get(kind).options)}
            if name in option_names:
                kinds.append(kind)
    return kinds
