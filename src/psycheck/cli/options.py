"""The options of the verbs, from options.toml, and how a verb reads them."""

import re
import tomllib
from collections import ChainMap
from collections.abc import Callable, Iterable, Mapping
from dataclasses import fields
from functools import wraps
from inspect import Parameter, Signature, signature
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer
from typer import Argument, Option

from psycheck.errors import BadInput, PsycheckError

if TYPE_CHECKING:
    from psycheck.corpora.columns import Columns

Verb = Callable[..., None]
_TABLE: dict[str, dict[str, Any]] = tomllib.loads(Path(__file__).with_name("options.toml").read_text("utf-8"))
_COLUMNS = _TABLE["columns"]
_TYPES: dict[str, Any] = {kind.__name__: kind for kind in (str, int, float, bool, Path)} | {"list": list[str]}
_FLAGS: ChainMap[str, str] = ChainMap()  # the options of the verb that runs, by the name of the setting
TRAINING = ("text", "id_", "labels", "positive", "author", "split_column")


def verb(name: str, columns: Iterable[str] = _COLUMNS) -> Callable[[Verb], Verb]:
    """Declare the parameters of a verb's function as options.toml says.

    A parameter `columns` stands for the options that name columns, all of them or those listed here.
    """
    tables = [_TABLE.get(name, {}), _TABLE.get(name.split()[0], {}), _TABLE["shared"], _COLUMNS]
    entries = ChainMap(*tables)

    def decorated(function: Verb) -> Verb:
        taken = signature(function).parameters
        own = _with_settings(taken, tables[0])
        named = columns if own.pop("columns", None) else ()
        own |= {one: _setting(one, _COLUMNS[one]) for one in named}
        parameters = [
            one.replace(kind=Parameter.KEYWORD_ONLY, annotation=_declared(one, entries.get(name, "")))
            for name, one in own.items()
        ]
        flags = _flags({one: entries.get(one, "") for one in own})

        @wraps(function)
        def with_options(**values: Any) -> None:
            _FLAGS.maps = [flags]
            try:
                if named:
                    values["columns"] = _columns({one: values.pop(one) for one in named})
                function(**{one: value for one, value in values.items() if one in taken})
            except PsycheckError as error:
                name_options(error)
                raise

        # Typer reads these two.
        vars(with_options)["__signature__"] = Signature(parameters)
        with_options.__annotations__ = {parameter.name: parameter.annotation for parameter in parameters}
        return with_options

    return decorated


def _with_settings(own: Mapping[str, Parameter], table: Mapping[str, Any]) -> dict[str, Parameter]:
    """The parameters of a function, with the settings that a table of options.toml gives a type."""
    names, known, before = list(own), dict(own), ""
    for name, entry in table.items():
        if isinstance(entry, dict) and "type" in entry:
            known[name] = _setting(name, entry)
            names.insert(names.index(before) + 1, name)
        before = name
    return {name: known[name] for name in names}


def _setting(name: str, entry: Mapping[str, Any]) -> Parameter:
    kind = _TYPES[entry["type"]] | None
    return Parameter(name, Parameter.KEYWORD_ONLY, default=entry.get("default"), annotation=kind)


def _declared(parameter: Parameter, entry: str | dict[str, Any]) -> Any:
    """The annotation that Typer reads, from an entry of options.toml."""
    if parameter.annotation is typer.Context:
        return typer.Context
    settings = {"help": entry} if isinstance(entry, str) else dict(entry)
    settings = {key: value for key, value in settings.items() if key not in ("type", "role", "default")}
    if settings.pop("argument", False):
        return Annotated[parameter.annotation, Argument(**{"metavar": parameter.name.upper(), **settings})]
    # Only a switch that is off by default has no "--no-…".
    name = parameter.name
    plain = name.endswith("_") or parameter.default is False
    flags = settings.pop("flags", [f"--{name.strip('_').replace('_', '-')}"] if plain else [])
    return Annotated[parameter.annotation, Option(*flags, **settings)]


def _flags(entries: Mapping[str, Any]) -> dict[str, str]:
    """The option of each setting by its name, and of each column by its role."""
    own: dict[str, str] = {}
    for name, entry in entries.items():
        settings = entry if isinstance(entry, dict) else {}
        flags = settings.get("flags", [f"--{name.strip('_').replace('_', '-')}"])
        own |= {} if "argument" in settings else {name: flags[0].partition("/")[0]}
    roles = {f"columns.{one['role']}": own[name] for name, one in _COLUMNS.items() if name in own}
    return roles | {name.strip("_"): flag for name, flag in own.items()}


def _columns(options: dict[str, Any]) -> "Columns":
    """The columns that the options name."""
    from psycheck.corpora.columns import Columns
    from psycheck.settings.reader import read_settings

    return read_settings(Columns, {_COLUMNS[name]["role"]: value for name, value in options.items() if value})


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
    for name in names:
        if given(ctx, name):
            option: Any = next(one for one in ctx.command.params if one.name == name)
            off = option.secondary_opts if ctx.params[name] is False else ()  # --no-retrain
            flag = [*off, *option.opts][0]
            raise BadInput(f"{what} takes no {flag}", allowed=f"{flag} {belongs}")


def refuse_existing(file: Path, option: str, *, force: bool) -> None:
    """Refuse to overwrite a file without --force."""
    if file.is_file() and not force:
        raise BadInput(
            f"'{file}' already exists",
            where=option,
            allowed="a new file, or any file with --force",
            do="choose another file, or add --force to overwrite it",
        )


def with_flags(message: str) -> str:
    """A message with options for the settings in backquotes: --swap nouns for `swap=nouns`."""
    for name, flag in _FLAGS.items():
        message = re.sub(rf"`{name}=([^`]*)`", rf"{flag} \1", message.replace(f"`{name}`", flag))
    return message


def name_options(error: PsycheckError) -> None:
    """Name settings by their options, and the setting at fault as the place of an error without one."""
    key = error.key.partition(".")[0]
    error.where = error.where or _FLAGS.get(key) or _FLAGS.get(f"columns.{key}", "")
    for part in ("what", "where", "allowed", "do"):
        setattr(error, part, with_flags(getattr(error, part)))
