"""What may be said about a model in its spec or as keywords, checked before anything is opened."""

from collections.abc import Mapping
from dataclasses import dataclass, fields
from typing import Any, Literal
from urllib.parse import parse_qsl

from psycheck.errors import BadInput, nearest


@dataclass(frozen=True, slots=True)
class ModelOptions:
    """What may be said about a model, after "?" in its spec or as keywords; the spec's own win.

    `label` names the one column (or all, parted by commas), `positive` is the class kept, by name or index,
    `folder` is where a Python module is looked for before the current folder (a plan names its own).
    """

    name: str | None = None
    label: str | None = None
    positive: str | None = None
    max_length: int | None = None
    batch: int | None = None
    device: str | None = None
    activation: Literal["softmax", "sigmoid"] | None = None
    trust_pickle: bool = False
    trust_remote_code: bool = False
    revision: str | None = None
    folder: str | None = None


_OPTIONS = tuple(field.name for field in fields(ModelOptions))
_ONLY_FOR = {
    "positive": ("hf", "sklearn"),
    "max_length": ("hf",),
    "activation": ("hf",),
    "device": ("hf", "frozen"),
    "revision": ("hf",),
    "trust_pickle": ("hf", "sklearn"),
    "trust_remote_code": ("hf",),
    "folder": ("python",),
}
_TRUTH = {"": True, "1": True, "true": True, "yes": True, "0": False, "false": False, "no": False}


def query_of(query: str, spec: str) -> dict[str, str]:
    """The options that follow "?" in a spec, by name."""
    pairs = parse_qsl(query, keep_blank_values=True)
    if len({key for key, _ in pairs}) != len(pairs):
        raise BadInput("an option is given twice", where=spec)
    return dict(pairs)


def options_of(kind: str, query: Mapping[str, str], given: Mapping[str, Any], *, where: str) -> ModelOptions:
    """The options of a model of one kind; those of the spec (`query`) override keywords (`given`)."""
    said: dict[str, Any] = {key: value for key, value in given.items() if value is not None}
    said.update(query)
    for key in said:
        if key not in _OPTIONS:
            raise BadInput(f"unknown option '{key}'", where=where, allowed=nearest(key, _OPTIONS))
        if kind not in _ONLY_FOR.get(key, (kind,)):
            raise BadInput(
                f"'{kind}:' models take no option '{key}'",
                where=where,
                allowed=f"'{key}' is for {' and '.join(f'{known}:' for known in _ONLY_FOR[key])}",
                do=f"write it into the spec of the model that it belongs to: …?{key}=…",
            )
    return ModelOptions(**{key: _typed(key, value, where) for key, value in said.items()})


def _typed(key: str, value: Any, where: str) -> Any:
    if key in ("max_length", "batch"):
        if not str(value).isdecimal() or int(value) < 1:
            raise BadInput(f"option '{key}' is no whole number", where=where, allowed="1 or more")
        return int(value)
    if key.startswith("trust_"):
        if (word := str(value).casefold()) not in _TRUTH:
            raise BadInput(f"option '{key}' is neither true nor false", where=where, allowed="true or false")
        return _TRUTH[word]
    if key == "activation" and value not in ("softmax", "sigmoid"):
        raise BadInput(f"unknown activation '{value}'", where=where, allowed="softmax or sigmoid")
    if value == "":
        raise BadInput(f"option '{key}' is empty", where=where)
    return str(value)
