"""The page of the site on the public names of psycheck, made from their signatures and docstrings."""

import ast
import dataclasses
import inspect
import textwrap
import typing
from collections.abc import Iterator
from typing import Any

import psycheck

VERBS = (
    "audit",
    "train",
    "improve",
    "score",
    "compare",
    "diff",
    "explain",
    "bias",
    "curate",
    "open_run",
)
LINE = 90
SHORT = 40  # a longer default tells a reader nothing


def reference() -> str:
    """The page in Markdown: the verbs, then what they take and return, then parts of the studies."""
    names = [name for name in psycheck.__all__ if name not in VERBS]
    types = [name for name in names if inspect.isclass(getattr(psycheck, name))]
    parts = [name for name in names if name not in types]
    return "\n".join(
        [
            "# Python names",
            "",
            "All that `psycheck` exports, from its code. How it is used: [Python](../how-to/python.md).",
            *_section("Verbs", VERBS),
            *_section("Types", types),
            *_section("Parts", parts),
            "",
        ]
    )


def _section(title: str, names: typing.Iterable[str]) -> Iterator[str]:
    yield f"\n## {title}"
    for name in names:
        value = getattr(psycheck, name)
        yield f"\n### `{name}`\n"
        if callable(value) and not _is_alias(value):
            yield f"```python\n{_signature(name, value)}\n```\n"
        yield inspect.cleandoc(value.__doc__ or "") if not _is_alias(value) else f"`{value}`"
        if inspect.isclass(value):
            yield from _methods(value)
        elif keywords := _further_keywords(value):
            yield f"\nKeywords: {', '.join(keywords)}."


def _is_alias(value: Any) -> bool:
    return typing.get_origin(value) is not None or isinstance(value, str)


def _signature(name: str, value: Any) -> str:
    """The call as its source writes it, with one parameter per line where it is long."""
    if inspect.isclass(value) and not dataclasses.is_dataclass(value):
        return f"class {name}"

    source = textwrap.dedent(inspect.getsource(inspect.unwrap(value)))
    definition = ast.parse(source).body[0]
    words = list(_fields(definition) if isinstance(definition, ast.ClassDef) else _parameters(definition))
    line = f"{name}({', '.join(words)})"
    return line if len(line) <= LINE else f"{name}(\n    " + ",\n    ".join(words) + ",\n)"


def _fields(definition: ast.ClassDef) -> Iterator[str]:
    for field in definition.body:
        if isinstance(field, ast.AnnAssign) and not ast.unparse(field.target).startswith("_"):
            default = "" if field.value is None else f" = {ast.unparse(field.value)}"
            yield (
                ast.unparse(field)
                if len(default) <= SHORT
                else f"{ast.unparse(field).partition(' = ')[0]} = …"
            )


def _parameters(definition: ast.stmt) -> Iterator[str]:
    assert isinstance(definition, ast.FunctionDef), definition
    arguments = definition.args
    plain = [*arguments.posonlyargs, *arguments.args]
    missing = [None] * (len(plain) - len(arguments.defaults))
    for argument, default in zip(plain, [*missing, *arguments.defaults], strict=True):
        yield _parameter(argument, default)
    if arguments.vararg:
        yield f"*{_parameter(arguments.vararg, None)}"
    elif arguments.kwonlyargs:
        yield "*"
    for argument, default in zip(arguments.kwonlyargs, arguments.kw_defaults, strict=True):
        yield _parameter(argument, default)
    if arguments.kwarg:
        yield f"**{_parameter(arguments.kwarg, None)}"


def _parameter(argument: ast.arg, default: ast.expr | None) -> str:
    return ast.unparse(argument) + ("" if default is None else f" = {ast.unparse(default)}")


def _further_keywords(value: Any) -> list[str]:
    """The keywords behind `**keywords: Unpack[…]`, which the signature does not list."""
    for annotation in getattr(inspect.unwrap(value), "__annotations__", {}).values():
        if typing.get_origin(annotation) is typing.Unpack:
            (keywords,) = typing.get_args(annotation)
            return [f"`{name}`" for name in keywords.__annotations__]
    return []


def _methods(value: type) -> Iterator[str]:
    """The public methods and properties of a class, with the first line of their docstrings."""
    members = {name: member for name, member in vars(value).items() if not name.startswith("_")}
    lines = [
        f"- `{name}`: {inspect.cleandoc(member.__doc__).splitlines()[0]}"
        for name, member in members.items()
        if isinstance(member, property | classmethod | staticmethod) or inspect.isfunction(member)
        if member.__doc__
    ]
    if lines:
        yield "\n" + "\n".join(lines)
