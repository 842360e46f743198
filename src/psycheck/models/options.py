"""Options of a model in its spec or as keywords, checked before anything is opened."""

import re
from collections.abc import Mapping
from dataclasses import dataclass, fields
from typing import Annotated, Any, Literal
from urllib.parse import parse_qsl

from psycheck.errors import BadInput
from psycheck.settings.reader import AT_LEAST_1, NOT_BLANK, Limit, read_settings

Text = Annotated[str, NOT_BLANK]
VARIABLE = Limit(
    "the name of an environment variable, such as OPENAI_API_KEY, never the key itself",
    lambda name: re.fullmatch(r"[A-Z_][A-Z0-9_]*", name),
    "is not the name of an environment variable",
)


@dataclass(frozen=True, slots=True)
class ModelOptions:
    """Options of a model, after "?" in its spec or as keywords; those of the spec take precedence.

    `label` names the score column (or all of them, separated by commas), `positive` is the positive class by
    name or index, `folder` is searched for a Python module before the current folder (plans set it),
    `exclusive` says that each text has exactly one of the labels; `graph` is the file of a symptom graph.
    Those of an LLM, from `base_url` on, are explained in docs/how-to/llm.md; None leaves the choice to us.
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
    graph: Text | None = None
    base_url: Text | None = None
    key_env: Annotated[str, VARIABLE] | None = None
    prompt: Text | None = None
    temperature: Annotated[float, Limit("0 to 2", lambda number: 0 <= number <= 2)] | None = None
    top_p: Annotated[float, Limit("above 0, at most 1", lambda number: 0 < number <= 1)] | None = None
    seed: Annotated[int, Limit("0 to 2147483647", lambda number: 0 <= number < 2**31)] | None = None
    samples: Annotated[int, Limit("1 to 100", lambda number: 1 <= number <= 100)] = 1
    max_tokens: Annotated[int, Limit("1 to 1000000", lambda number: 1 <= number <= 1_000_000)] | None = None
    schema: bool | None = None
    logprobs: bool | None = None
    concurrency: Annotated[int, Limit("1 to 1000", lambda number: 1 <= number <= 1000)] = 16
    timeout: Annotated[float, Limit("above 0, at most 86400", lambda number: 0 < number <= 86400)] = 120.0
    prices: Text | None = None
    cutoff: Annotated[int, AT_LEAST_1] | None = None
    pool: Text | None = None
    pool_split: Text | None = None
    shots: Annotated[int, Limit("1 to 100", lambda number: 1 <= number <= 100)] | None = None
    order: Literal["similar_last", "similar_first", "random"] = "similar_last"
    balance: Literal["none", "equal"] = "none"
    encoder: Text = "minilm"
    authors: Text | None = None


_OF_LLM = [one.name for one in fields(ModelOptions)]
_OF_LLM = _OF_LLM[_OF_LLM.index("base_url") :]
_ONLY_FOR: Mapping[str, tuple[str, ...]] = {
    "positive": ("hf", "sklearn"),
    "max_length": ("hf",),
    "activation": ("hf",),
    "device": ("hf", "frozen"),
    "revision": ("hf",),
    "trust_pickle": ("hf", "sklearn"),
    "trust_remote_code": ("hf",),
    "folder": ("python",),
    "exclusive": ("scores",),
    "graph": ("symptoms",),
    **dict.fromkeys(_OF_LLM, ("llm",)),
    "encoder": ("llm", "symptoms"),
}
LLM_FILES = ("prompt", "pool", "authors", "prices")  # options of an LLM that may name a file
_PARSED: Mapping[type, tuple[str, ...]] = {
    int: ("max_length", "batch", "seed", "samples", "max_tokens", "concurrency", "cutoff", "shots"),
    float: ("temperature", "top_p", "timeout"),
    bool: ("exclusive", "trust_pickle", "trust_remote_code", "schema", "logprobs"),
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
    kind = next((kind for kind, keys in _PARSED.items() if key in keys), str)
    if kind is bool:
        return _SWITCHES.get(str(value).casefold(), value)
    try:
        return kind(str(value))
    except ValueError:
        return value
