"""Options of an LLM in its spec: llm:NAME?base_url=…&prompt=…"""

import re
from dataclasses import dataclass
from typing import Annotated, Literal

from psycheck.io.settings import AT_LEAST_1, Limit
from psycheck.models.options import ModelOptions, Text

FILES = ("prompt", "pool", "authors", "prices")  # options that may name a file
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


@dataclass(frozen=True, slots=True, kw_only=True)
class LlmOptions(ModelOptions):
    """Options of an LLM, explained in docs/how-to/llm.md; None leaves the choice to us."""

    base_url: Text | None = None
    key_env: Annotated[str, _VARIABLE] | None = None
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
    cutoff: Annotated[int, AT_LEAST_1] | None = None
    pool: Text | None = None
    pool_split: Text | None = None
    shots: Annotated[int, _UP_TO_100] | None = None
    order: Literal["similar_last", "similar_first", "random"] = "similar_last"
    balance: Literal["none", "equal"] = "none"
    encoder: Text = "minilm"
    authors: Text | None = None
