"""Options that several verbs share, and how a verb reads its options."""

from collections.abc import Callable, Iterable
from dataclasses import fields
from functools import wraps
from inspect import Parameter, Signature, signature
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Literal

import typer
from typer import Argument, Option

if TYPE_CHECKING:
    from psycheck.corpora.columns import Columns
    from psycheck.errors import PsycheckError

CorpusArgument = Annotated[str, Argument(metavar="CORPUS", help="A file, demo:NAME or KNOWN:PATH.")]
CorporaArgument = Annotated[
    list[str], Argument(metavar="CORPUS…", help="Files, NAME=FILE, demo:NAME or KNOWN:PATH.")
]
Text = Annotated[str | None, Option("--text", metavar="COLUMN", help="Text column.")]
Id = Annotated[str | None, Option("--id", metavar="COLUMN", help="Id column; 'none' numbers the rows.")]
Labels = Annotated[
    list[str] | None,
    Option("--label", metavar="COLUMN", help="Label column, or COLUMN=NAME to rename it; repeatable."),
]
Positive = Annotated[
    list[str] | None, Option("--positive", metavar="VALUE", help="Label value that means 1; repeatable.")
]
Author = Annotated[str | None, Option("--author", metavar="COLUMN", help="Author column.")]
Time = Annotated[str | None, Option("--time", metavar="COLUMN", help="Time column.")]
SplitColumn = Annotated[
    str | None, Option("--split-column", metavar="COLUMN", help="Column with train, dev or test.")
]
Groups = Annotated[
    list[str] | None, Option("--group", metavar="COLUMN", help="Group column (gender, source …); repeatable.")
]
Split = Annotated[str | None, Option("--split", metavar="NAME", help="Use only this split.")]
Format = Annotated[
    str | None,
    Option("--format", help="csv, tsv, jsonl, parquet or dataset, if the file name does not tell."),
]
Swap = Annotated[
    list[str] | None,
    Option(
        "--swap",
        metavar="WORDS",
        help="Gendered words to swap: pronouns (always), nouns, titles, names; repeatable, or with commas.",
    ),
]
SwapPerson = Annotated[
    Literal["all", "main"] | None,
    Option("--swap-person", help="Swap the gender of all people, or only of a note's main person."),
]
Store = Annotated[
    str | None,
    Option("--store", metavar="FILE", help="File that caches scores (default: in the user's cache)."),
]
RunFolder = Annotated[Path, Option("--out", "-o", help="Run folder.")]
Seed = Annotated[int | None, Option(help="Random seed.")]
Json = Annotated[bool, Option("--json", help="Print the result as JSON.")]

# The options that name columns, and the role that each has in `Columns`.
_COLUMNS: dict[str, tuple[Any, str]] = {
    "text": (Text, "text"),
    "id_": (Id, "id"),
    "labels": (Labels, "labels"),
    "positive": (Positive, "positive"),
    "author": (Author, "author"),
    "time": (Time, "time"),
    "split_column": (SplitColumn, "split"),
    "groups": (Groups, "groups"),
}


def with_columns(*names: str) -> Callable[[Callable[..., None]], Callable[..., None]]:
    """Replace a verb's parameter `columns` with the options that name columns: all of them, or `names`."""
    options = {name: _COLUMNS[name][0] for name in names or _COLUMNS}

    def decorated(verb: Callable[..., None]) -> Callable[..., None]:
        own = [one for name, one in signature(verb).parameters.items() if name != "columns"]
        parameters = [one.replace(kind=Parameter.KEYWORD_ONLY) for one in own]
        for name, option in options.items():
            parameters.append(Parameter(name, Parameter.KEYWORD_ONLY, default=None, annotation=option))

        @wraps(verb)
        def with_options(**values: Any) -> None:
            columns = columns_of(**{name: values.pop(name) for name in options})
            verb(columns=columns, **values)

        # Typer reads these two.
        with_options.__signature__ = Signature(parameters)  # type: ignore[attr-defined]  # a function may have it
        with_options.__annotations__ = {parameter.name: parameter.annotation for parameter in parameters}
        return with_options

    return decorated


def columns_of(**options: Any) -> "Columns":
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
