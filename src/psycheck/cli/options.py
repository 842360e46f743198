"""The options of the verbs, from options.toml, and how a verb reads them."""

import tomllib
from collections import ChainMap
from collections.abc import Callable, Iterable
from dataclasses import fields
from functools import wraps
from inspect import Parameter, Signature, signature
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer
from typer import Argument, Option

if TYPE_CHECKING:
    from psycheck.corpora.columns import Columns
    from psycheck.errors import PsycheckError

Verb = Callable[..., None]
_TABLE: dict[str, dict[str, Any]] = tomllib.loads(Path(__file__).with_name("options.toml").read_text("utf-8"))

# The options that name columns, their types, and the role that each has in `Columns`.
_COLUMNS: dict[str, tuple[Any, str]] = {
    "text": (str | None, "text"),
    "id_": (str | None, "id"),
    "labels": (list[str] | None, "labels"),
    "positive": (list[str] | None, "positive"),
    "author": (str | None, "author"),
    "time": (str | None, "time"),
    "split_column": (str | None, "split"),
    "groups": (list[str] | None, "groups"),
}
TRAINING = ("text", "id_", "labels", "positive", "author", "split_column")


def verb(name: str, columns: Iterable[str] = _COLUMNS) -> Callable[[Verb], Verb]:
    """Declare the parameters of a verb's function as options.toml says.

    A parameter `columns` stands for the options that name columns, all of them or those listed here.
    """
    entries = ChainMap(_TABLE.get(name, {}), _TABLE.get(name.split()[0], {}), _TABLE["shared"])

    def decorated(function: Verb) -> Verb:
        own = dict(signature(function).parameters)
        named = columns if own.pop("columns", None) else ()
        for one in named:
            own[one] = Parameter(one, Parameter.KEYWORD_ONLY, default=None, annotation=_COLUMNS[one][0])
        parameters = [
            one.replace(kind=Parameter.KEYWORD_ONLY, annotation=_declared(one, entries.get(name, "")))
            for name, one in own.items()
        ]

        @wraps(function)
        def with_options(**values: Any) -> None:
            if named:
                values["columns"] = _columns({one: values.pop(one) for one in named})
            function(**values)

        # Typer reads these two.
        with_options.__signature__ = Signature(parameters)  # type: ignore[attr-defined]  # a function may have it
        with_options.__annotations__ = {parameter.name: parameter.annotation for parameter in parameters}
        return with_options

    return decorated


def _declared(parameter: Parameter, entry: str | dict[str, Any]) -> Any:
    """The annotation that Typer reads, from an entry of options.toml."""
    if parameter.annotation is typer.Context:
        return typer.Context
    settings = {"help": entry} if isinstance(entry, str) else dict(entry)
    if settings.pop("argument", False):
        return Annotated[parameter.annotation, Argument(**{"metavar": parameter.name.upper(), **settings})]
    # Only a switch that is off by default has no "--no-…".
    name = parameter.name
    plain = name.endswith("_") or parameter.default is False
    flags = settings.pop("flags", [f"--{name.strip('_').replace('_', '-')}"] if plain else [])
    return Annotated[parameter.annotation, Option(*flags, **settings)]


def _columns(options: dict[str, Any]) -> "Columns":
    """The columns that the options name."""
    from psycheck.corpora.columns import Columns
    from psycheck.settings.reader import read_settings

    return read_settings(Columns, {_COLUMNS[name][1]: value for name, value in options.items() if value})


def values_for(ctx: typer.Context, kind: type) -> dict[str, Any]:
    """The options that were set, for the fields of a settings dataclass that have the same names."""
    names = {field.name for field in fields(kind)}
    return {
        name: value for name, value in ctx.params.items() if name in names and value not in (None, (), [])
    }


def given(ctx: typer.Context, name: str) -> bool:
    """True if the user set the option explicitly, even to its default value."""
    source = ctx.get_parameter_source(name)
    return source is not None and source.name not in ("DEFAULT", "DEFAULT_MAP")


def refuse(ctx: typer.Context, names: Iterable[str], what: str, belongs: str) -> None:
    """Refuse the first of these options that was set: `what` would ignore it, it `belongs` elsewhere."""
    from psycheck.errors import BadInput

    for name in names:
        if given(ctx, name):
            option: Any = next(one for one in ctx.command.params if one.name == name)
            off = option.secondary_opts if ctx.params[name] is False else ()  # --no-retrain
            flag = [*off, *option.opts][0]
            raise BadInput(f"{what} takes no {flag}", allowed=f"{flag} {belongs}")


def name_option(error: "PsycheckError", command: Any) -> None:
    """Add the option to an error that names a setting or a column role and no place of its own."""
    roles = {role: name for name, (_, role) in _COLUMNS.items()}
    key = error.key.partition(".")[0]
    commands = [command, *getattr(command, "commands", {}).values()]
    params = {param.name: param.opts[0] for one in commands for param in one.params}
    if key and not error.where:
        error.where = params.get(key) or params.get(roles.get(key, ""), "")
