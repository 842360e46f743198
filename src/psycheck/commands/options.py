"""The options of the verbs, from options.toml, and how a verb reads them."""

import json
import re
import tomllib
from collections import ChainMap
from collections.abc import Callable, Container, Iterable, Mapping
from dataclasses import fields
from functools import wraps
from inspect import Parameter, Signature, signature
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer
from typer import Argument, Option

from psycheck.commands.switches import print_intentions, printing, switches_of
from psycheck.commands.verb_help import COLUMNS, COMMON, EXPERT, OLD_OPTIONS, print_all_help
from psycheck.core.command import RUNNING, Command
from psycheck.core.errors import BadInput, MissingExtra, PsycheckError

if TYPE_CHECKING:
    from psycheck.corpora.columns import Columns

VerbFunction = Callable[..., None]
Entry = str | dict[str, Any]  # of options.toml: a help text, or several properties of an option

_OPTIONS: dict[str, dict[str, Any]] = tomllib.loads(
    Path(__file__).with_name("options.toml").read_text("utf-8")
)
_COLUMN_OPTIONS = _OPTIONS["columns"]
_TYPES: dict[str, Any] = {
    "str": str,
    "int": int,
    "float": float,
    "bool": bool,
    "Path": Path,
    "list": list[str],
}
_PANEL_OF = {option: panel for panel, options in _OPTIONS["panels"].items() for option in options}
_HELP_ALL = Parameter(
    "help_all",
    Parameter.KEYWORD_ONLY,
    default=False,
    annotation=Annotated[
        bool,
        Option(
            "--help-all",
            callback=print_all_help,
            is_eager=True,
            rich_help_panel=COMMON,
            help="Show all options and exit.",
        ),
    ],
)
# What changes nothing in the files that a command writes.
_ONLY_PRINTED = frozenset({"force", "quiet", "json_", "explain_cache", "help_all"})
_FLAGS: ChainMap[str, str] = ChainMap()  # the options of the verb that runs, by the name of the setting
TRAINING = ("text", "id_", "labels", "positive", "author", "split_column")


def verb(name: str, columns: Iterable[str] = _COLUMN_OPTIONS) -> Callable[[VerbFunction], VerbFunction]:
    """Declare the parameters of a verb's function as options.toml says.

    A parameter `columns` stands for the options that name columns, all of them or those listed here.
    """
    verb_entries = _OPTIONS.get(name, {})
    group_entries = _OPTIONS.get(name.split()[0], {})
    entries = ChainMap(verb_entries, group_entries, _OPTIONS["shared"], _COLUMN_OPTIONS)

    def decorated(function: VerbFunction) -> VerbFunction:
        arguments = signature(function).parameters
        parameters = _with_settings(arguments, verb_entries)

        # Which options were typed is asked of the context, also for verbs that do not ask themselves.
        parameters.setdefault("ctx", Parameter("ctx", Parameter.KEYWORD_ONLY, annotation=typer.Context))
        added_entries = _added_options(name, parameters)
        for added_name, added_entry in added_entries.items():
            parameters[added_name] = _setting(added_name, added_entry)

        # The options that name columns come last in the help: most corpora need none of them.
        takes_columns = parameters.pop("columns", None) is not None
        column_names = tuple(columns) if takes_columns else ()
        for column_name in column_names:
            parameters[column_name] = _setting(column_name, _COLUMN_OPTIONS[column_name])
        panels = _panels(name, parameters, added_entries)

        entry_of = {parameter_name: entries.get(parameter_name, "") for parameter_name in parameters}
        entry_of |= added_entries
        declared = []
        for parameter_name, parameter in parameters.items():
            panel = panels.get(parameter_name)
            annotation = _annotation(parameter, entry_of[parameter_name], panel)
            declared.append(parameter.replace(kind=Parameter.KEYWORD_ONLY, annotation=annotation))
        declared.append(_HELP_ALL)
        flags = _flags_by_setting(entry_of)
        OLD_OPTIONS[name] = _old_flags(entry_of)
        writes_run = name in _OPTIONS["writes_run"]["verbs"]

        @wraps(function)
        def with_options(**values: Any) -> None:
            _FLAGS.maps = [flags]
            running = RUNNING.set(_command(name, values))
            try:
                if column_names:
                    column_values = {column: values.pop(column) for column in column_names}
                    values["columns"] = _columns(column_values)

                if writes_run and values.get("out") is not None and not given(values["ctx"], "out"):
                    values["out"] = _free_folder(values["out"])

                switches = switches_of(values, parameters.keys() - added_entries.keys())
                if switches.dry_run:
                    print_intentions(name, values, as_json=bool(values["json_"]))
                    return

                # The other values are settings, which the function reads from its context.
                named_values = {option: value for option, value in values.items() if option in arguments}
                with printing(switches, name, values["out"] if writes_run else None):
                    function(**named_values)
            except PsycheckError as error:
                name_options(error)
                raise
            except ModuleNotFoundError as error:
                raise _missing_extra(name, error) from error
            finally:
                # In a test or a notebook, what runs next in this process is not this command.
                RUNNING.reset(running)

        # Typer reads these two.
        vars(with_options)["__signature__"] = Signature(declared)
        with_options.__annotations__ = {parameter.name: parameter.annotation for parameter in declared}
        return with_options

    return decorated


def _added_options(verb_name: str, parameters: Container[str]) -> dict[str, dict[str, Any]]:
    """The switches that every verb has, and --force of those that write a run, unless they declare them."""
    wanted = dict(_OPTIONS["every"])
    if verb_name in _OPTIONS["writes_run"]["verbs"]:
        wanted["force"] = {"type": "bool", "default": False, **_OPTIONS["shared"]["force"]}
    return {name: entry for name, entry in wanted.items() if name not in parameters}


def _missing_extra(verb_name: str, error: ModuleNotFoundError) -> Exception:
    """What to say of a library that is not installed: the extra of a verb that needs one as a whole."""
    extra = _OPTIONS["extras"].get(verb_name.split()[0])
    is_ours = (error.name or "").startswith("psycheck")
    return error if extra is None or is_ours else MissingExtra(f"psycheck {verb_name}", extra)


def _command(verb_name: str, values: Mapping[str, Any]) -> Command:
    """The command that runs, without what only changes what it prints."""
    options = {name: value for name, value in values.items() if name not in _ONLY_PRINTED and _is_set(value)}
    options.pop("ctx", None)
    words = json.dumps([verb_name, options], sort_keys=True, default=str)
    return Command(words, force=bool(values.get("force")), quiet=bool(values.get("quiet")))


def _free_folder(usual: Path) -> Path:
    from psycheck.runs.folder import free_folder

    return free_folder(usual)


def _is_set(value: object) -> bool:
    return value not in (None, (), [], False)


def _old_flags(entries: Mapping[str, Entry]) -> dict[str, str]:
    """What options were called before, with their names of today."""
    renamed: dict[str, str] = {}
    for name, entry in entries.items():
        if isinstance(entry, dict) and "was" in entry:
            flag = entry.get("flags", [_default_flag(name)])[0]
            renamed |= dict.fromkeys(entry["was"], flag)
    return renamed


def _panels(verb_name: str, parameters: Iterable[str], added: Container[str]) -> dict[str, str]:
    """The panel of the help in which each option stands."""
    # Few options are common without being listed, but for those that every verb has.
    own_options = [name for name in parameters if name not in added]
    common = _OPTIONS["common"].get(verb_name, own_options)

    panels = {}
    for parameter_name in parameters:
        if parameter_name in _COLUMN_OPTIONS:
            panels[parameter_name] = COLUMNS
        elif parameter_name in common:
            panels[parameter_name] = COMMON
        else:
            panels[parameter_name] = _PANEL_OF.get(parameter_name, EXPERT)
    return panels


def _with_settings(
    arguments: Mapping[str, Parameter], verb_entries: Mapping[str, Entry]
) -> dict[str, Parameter]:
    """The parameters of a function, with the settings that a table of options.toml gives a type.

    A setting comes after the option that stands before it in the table.
    """
    parameters = dict(arguments)
    order = list(arguments)
    previous = ""
    for name, entry in verb_entries.items():
        if isinstance(entry, dict) and "type" in entry:
            parameters[name] = _setting(name, entry)
            order.insert(order.index(previous) + 1, name)
        previous = name
    return {name: parameters[name] for name in order}


def _setting(name: str, entry: Mapping[str, Any]) -> Parameter:
    """A parameter that may be left out, of the type that options.toml names."""
    return Parameter(
        name,
        Parameter.KEYWORD_ONLY,
        default=entry.get("default"),
        annotation=_TYPES[entry["type"]] | None,
    )


def _annotation(parameter: Parameter, entry: Entry, panel: str | None = None) -> Any:
    """The annotation that Typer reads, from an entry of options.toml."""
    if parameter.annotation is typer.Context:
        return typer.Context

    properties: dict[str, Any] = {"help": entry} if isinstance(entry, str) else dict(entry)
    for key in ("type", "role", "default", "was"):
        properties.pop(key, None)
    if properties.pop("argument", False):
        properties.setdefault("metavar", parameter.name.upper())
        return Annotated[parameter.annotation, Argument(**properties)]

    # Typer names an option by itself, and adds "--no-…" to a switch: wrong for a switch that is off by
    # default, and for a name such as `format_`.
    flags: list[str] = properties.pop("flags", [])
    named_by_us = parameter.name.endswith("_") or parameter.default is False
    if named_by_us and not flags:
        flags = [_default_flag(parameter.name)]
    return Annotated[parameter.annotation, Option(*flags, rich_help_panel=panel, **properties)]


def _default_flag(name: str) -> str:
    return f"--{name.strip('_').replace('_', '-')}"


def _flags_by_setting(entries: Mapping[str, Entry]) -> dict[str, str]:
    """The option of each setting by its name, and of each column by its role."""
    flags: dict[str, str] = {}
    for name, entry in entries.items():
        properties = entry if isinstance(entry, dict) else {}
        if "argument" not in properties:
            first_flag = properties.get("flags", [_default_flag(name)])[0]
            flags[name] = first_flag.partition("/")[0]  # of "--fit/--no-fit"

    # Errors about columns name the field of `Columns`, "columns.labels", not the parameter.
    flags_by_role = {}
    for name, column in _COLUMN_OPTIONS.items():
        if name in flags:
            flags_by_role[f"columns.{column['role']}"] = flags[name]

    flags_by_name = {name.strip("_"): flag for name, flag in flags.items()}
    return flags_by_role | flags_by_name


def _columns(options: Mapping[str, Any]) -> "Columns":
    """The columns that the options name."""
    from psycheck.corpora.columns import Columns
    from psycheck.io.settings import read_settings

    # What the user did not set is left to the defaults of `Columns`, and guessed.
    roles = {_COLUMN_OPTIONS[name]["role"]: value for name, value in options.items() if value}
    return read_settings(Columns, roles)


def values_for(ctx: typer.Context, kind: type) -> dict[str, Any]:
    """The options that were set, for the fields of a settings dataclass that have the same names."""
    # None and empty lists mean "not set"; False and 0 are values that a user may choose.
    names = {field.name for field in fields(kind)}
    set_options = {name: value for name, value in ctx.params.items() if value not in (None, (), [])}
    return {name: value for name, value in set_options.items() if name in names}


def given(ctx: typer.Context, name: str) -> bool:
    """True if the user set the option explicitly, even to its default value."""
    # The value alone does not tell: it may be the default, typed out.
    source = ctx.get_parameter_source(name)
    return source is not None and source.name not in ("DEFAULT", "DEFAULT_MAP")


def refuse(ctx: typer.Context, names: Iterable[str], what: str, belongs: str) -> None:
    """Refuse the first of these options that was set: `what` would ignore it, it `belongs` elsewhere."""
    for name in names:
        if not given(ctx, name):
            continue

        option: Any = next(parameter for parameter in ctx.command.params if parameter.name == name)
        switched_off = ctx.params[name] is False and option.secondary_opts
        flag = option.secondary_opts[0] if switched_off else option.opts[0]  # --no-retrain or --retrain
        raise BadInput(f"{what} takes no {flag}", code="option.not-used", allowed=f"{flag} {belongs}")


def refuse_existing(file: Path, option: str, *, force: bool) -> None:
    """Refuse to overwrite a file without --force."""
    if file.is_file() and not force:
        raise BadInput(
            f"'{file}' already exists",
            code="file.already-exists",
            where=option,
            allowed="a new file, or any file with --force",
            do="choose another file, or add --force to overwrite it",
        )


def with_flags(message: str) -> str:
    """A message with options for the settings in backquotes: --swap nouns for `swap=nouns`."""
    # Messages are written for the Python functions; on the command line a setting is an option.
    for name, flag in _FLAGS.items():
        message = message.replace(f"`{name}`", flag)
        message = re.sub(rf"`{name}=([^`]*)`", rf"{flag} \1", message)
    return message


def name_options(error: PsycheckError) -> None:
    """Name settings by their options, and the setting at fault as the place of an error without one."""
    key = error.key.partition(".")[0]
    error.where = error.where or _FLAGS.get(key) or _FLAGS.get(f"columns.{key}", "")
    for part in ("what", "where", "allowed", "do"):
        setattr(error, part, with_flags(getattr(error, part)))
