"""Options of a model in its spec or as keywords, checked before anything is opened."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Annotated, Any, Literal
from urllib.parse import parse_qsl

from psycheck.errors import BadInput
from psycheck.settings.reader import AT_LEAST_1, NOT_BLANK, read_settings

Text = Annotated[str, NOT_BLANK]


@dataclass(frozen=True, slots=True)
class ModelOptions:
    """Options of a model, after "?" in its spec or as keywords; those of the spec take precedence.

    `label` names the score column (or all of them, separated by commas), `positive` is the positive class by
    name or index, `folder` is searched for a Python module before the current folder (plans set it), and
    `exclusive` says that each text has exactly one of the labels.
    """

    name: Text | None = None
    label: Text | None = None
    positive: Text | None = None
    max_length: Annotated[int, AT_LEAST_1] | None = None
    batch: Annotated[int, AT_LEAST_1] | None = None
    device: Text | None = None
    activation: Literal["softmax", "sigmoid"] | None = None
    trust_pickle: bool = False
    trust_remote_code: bool = False
    revision: Text | None = None
    folder: Text | None = None
    exclusive: bool = False


_ONLY_FOR = {
    "positive": ("hf", "sklearn"),
    "max_length": ("hf",),
    "activation": ("hf",),
    "device": ("hf", "frozen"),
    "revision": ("hf",),
    "trust_pickle": ("hf", "sklearn"),
    "trust_remote_code": ("hf",),
    "folder": ("python",),
    "exclusive": ("scores",),
}
_SWITCHES = {"": True, "1": True, "true": True, "yes": True, "0": False, "false": False, "no": False}


def query_of(query: str, spec: str) -> dict[str, str]:
    """The options after "?" in a spec, by name."""
    pairs = parse_qsl(query, keep_blank_values=True)
    if len({key for key, _ in pairs}) != len(pairs):
        raise BadInput("duplicate option", where=spec, allowed="each option once")
    return dict(pairs)


def options_of(
    kind: str, query: Mapping[str, str], keywords: Mapping[str, Any], *, where: str
) -> ModelOptions:
    """The options of a model of one kind; those of the spec (`query`) override `keywords`."""
    values = {key: value for key, value in keywords.items() if value is not None} | dict(query)
    options = read_settings(ModelOptions, {key: _parsed(key, value) for key, value in values.items()}, where)
    for key in values:
        if kind not in (kinds := _ONLY_FOR.get(key, (kind,))):
            raise BadInput(
                f"'{kind}:' models do not have the option '{key}'",
                where=where,
                allowed=f"'{key}' is for {' and '.join(f'{known}:' for known in kinds)}",
                do=f"add it to the spec of the model it is for: …?{key}=…",
            )
    return options


def _parsed(key: str, value: Any) -> Any:
    """Parse the text of a query by the type of its option; the reader refuses what cannot be parsed."""
    if key in ("max_length", "batch"):
        return int(value) if str(value).removeprefix("-").isdecimal() else value
    if key == "exclusive" or key.startswith("trust_"):
        return _SWITCHES.get(str(value).casefold(), value)
    return str(value)
