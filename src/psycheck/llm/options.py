"""Options of an LLM in its spec: llm:NAME?base_url=…&prompt=…"""

import json
import re
from dataclasses import dataclass
from typing import Annotated, Literal

from psycheck.io.settings import AT_LEAST_1, Limit
from psycheck.models.options import ModelOptions, Text

FILES = ("prompt", "columns", "pool", "authors", "prices")  # options that may name a file
_VARIABLE_NAME = re.compile(r"[A-Z_][A-Z0-9_]*")
# Who writes the key itself into a spec would find it in every plan and report: keys rarely have this form.
_VARIABLE = Limit(
    "the name of an environment variable, such as OPENAI_API_KEY, never the key itself",
    _VARIABLE_NAME.fullmatch,
    "is not the name of an environment variable",
)
_TEMPERATURE = Limit("0 to 2", lambda number: 0 <= number <= 2)
_TOP_P = Limit("above 0, at most 1", lambda number: 0 < number <= 1)
# Servers keep a seed in 32 bits with a sign.
_SEED = Limit("0 to 2147483647", lambda number: 0 <= number < 2**31)
_TOKENS = Limit("1 to 1000000", lambda number: 1 <= number <= 1_000_000)
_CONNECTIONS = Limit("1 to 1000", lambda number: 1 <= number <= 1000)
_SECONDS = Limit("above 0, at most 86400", lambda number: 0 < number <= 86400)
_UP_TO_100 = Limit("1 to 100", lambda number: 1 <= number <= 100)


# Whose value would be a secret: it belongs into the environment, and `key_header` names where it is sent.
_SECRET_HEADER = re.compile(r"auth|key|token|secret|cookie", re.IGNORECASE)
_PAIR_OF_TEXTS = re.compile(r"([A-Za-z0-9_.-]{1,80}):([ -~]{1,500})")


def _is_json_object(text: str) -> bool:
    try:
        return isinstance(json.loads(text), dict)
    except (ValueError, RecursionError):
        return False


def _are_open_headers(text: str) -> bool:
    for line in text.split("|"):
        pair = _PAIR_OF_TEXTS.fullmatch(line)
        if pair is None or _SECRET_HEADER.search(pair[1]):
            return False
    return True


def _are_pairs(text: str) -> bool:
    return all(_PAIR_OF_TEXTS.fullmatch(line) for line in text.split("|"))


_JSON_OBJECT = Limit('a JSON object, such as {"top_k": 40}', _is_json_object, "is not a JSON object")
_HEADERS = Limit(
    "NAME:VALUE, several separated by |; never a key, which key_header sends",
    _are_open_headers,
    "is not allowed",
)
_QUERY = Limit("NAME:VALUE, several separated by |, such as api-version:2024-10-21", _are_pairs)
_HEADER_NAME = Limit("the name of a header, such as api-key", re.compile(r"[A-Za-z0-9-]{1,80}").fullmatch)


def pairs_of(text: str | None) -> dict[str, str]:
    """The entries of "NAME:VALUE|NAME:VALUE"."""
    pairs = {}
    for line in text.split("|") if text else []:
        # A value may hold further colons.
        name, _, value = line.partition(":")
        pairs[name] = value.strip()
    return pairs


_NUMBER = r"-?\d+(?:\.\d+)?(?:e-?\d+)?"
PAIR = re.compile(rf"{_NUMBER}:{_NUMBER}")


def pair_of(text: str) -> tuple[float, float]:
    """The two numbers of "1.2:-0.3"."""
    first, second = text.split(":")
    return float(first), float(second)


def _rises(text: str) -> bool:
    """Whether a pair is a map that keeps the order of scores."""
    return PAIR.fullmatch(text) is not None and pair_of(text)[0] > 0


PlattMap = Annotated[str, Limit("SLOPE:INTERCEPT with a slope above 0, such as 1.2:-0.3", _rises)]


@dataclass(frozen=True, slots=True, kw_only=True)
class LlmOptions(ModelOptions):
    """Options of an LLM, explained in docs/reference/llm.md; None leaves the choice to us."""

    api: Literal["openai", "azure", "anthropic", "gemini"] = "openai"
    batch_api: bool = False
    base_url: Text | None = None
    key_env: Annotated[str, _VARIABLE] | None = None
    key_header: Annotated[str, _HEADER_NAME] | None = None
    headers: Annotated[str, _HEADERS] | None = None
    query: Annotated[str, _QUERY] | None = None
    extra_body: Annotated[str, _JSON_OBJECT] | None = None
    prompt: Text | None = None
    temperature: Annotated[float, _TEMPERATURE] | None = None
    top_p: Annotated[float, _TOP_P] | None = None
    seed: Annotated[int, _SEED] | None = None
    samples: Annotated[int, _UP_TO_100] = 1
    reasoning_effort: Literal["none", "minimal", "low", "medium", "high", "xhigh"] | None = None
    max_tokens: Annotated[int, _TOKENS] | None = None
    schema: bool | None = None
    logprobs: bool | None = None
    concurrency: Annotated[int, _CONNECTIONS] = 16
    timeout: Annotated[float, _SECONDS] = 120.0
    prices: Text | None = None
    platt: PlattMap | None = None
    history: Text | None = None
    posts_per_symptom: Annotated[int, _UP_TO_100] = 2
    window: Annotated[int, AT_LEAST_1] = 12_000
    cutoff: Annotated[int, AT_LEAST_1] | None = None
    columns: Text | None = None
    pool: Text | None = None
    pool_split: Text | None = None
    shots: Annotated[int, _UP_TO_100] | None = None
    order: Literal["similar_last", "similar_first", "random"] = "similar_last"
    balance: Literal["none", "equal"] = "none"
    encoder: Text = "minilm"
    authors: Text | None = None
