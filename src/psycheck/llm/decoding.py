"""What is sent with a question besides its messages: decoding, schema of the answer, log probabilities."""

import json
from collections.abc import Mapping, Sequence
from typing import Any, Final

from psycheck.llm.options import LlmOptions
from psycheck.llm.prompts import Prompt

_TOKENS_OF_REASON: Final = 512
_MOST_TOKENS: Final = {"yes_no": 64, "scale": 512, "open": 512}  # of a reply, by the kind of answer
_ALTERNATIVES: Final = 8  # for each token: "yes", "Yes", " no" …
_DECODING: Final = ("max_tokens", "temperature", "top_p", "reasoning_effort", "seed")

Settings = Mapping[str, Any]


def settings_of(prompt: Prompt, options: LlmOptions) -> tuple[Settings, ...]:
    """The settings of each sample of a question; samples differ by seed."""
    usual_tokens = _MOST_TOKENS[prompt.answer]
    if prompt.reason:
        usual_tokens += _TOKENS_OF_REASON
    shared = {
        "max_tokens": options.max_tokens or usual_tokens,
        **_sampling(options),
        **_schema(prompt, options),
        **_logprobs(options),
    }
    if options.extra_body is not None:
        shared |= json.loads(options.extra_body)
    if options.seed is None and options.samples == 1:
        return (shared,)
    # Without seeds of their own, a server that caches would give the same sample again and again.
    first_seed = options.seed or 0
    seeds = range(first_seed, first_seed + options.samples)
    return tuple({**shared, "seed": seed} for seed in seeds)


def _sampling(options: LlmOptions) -> Settings:
    """What the user sets and nothing else: reasoning models refuse settings of sampling."""
    chosen = {
        "temperature": options.temperature,
        "top_p": options.top_p,
        "reasoning_effort": options.reasoning_effort,
    }
    return {name: value for name, value in chosen.items() if value is not None}


def _schema(prompt: Prompt, options: LlmOptions) -> Settings:
    if options.schema is False:
        return {}
    schema = {
        "name": "answer",
        "strict": True,
        "schema": prompt.schema(),
    }
    return {"response_format": {"type": "json_schema", "json_schema": schema}}


def _logprobs(options: LlmOptions) -> Settings:
    # Who asks for several samples wants their share as the confidence.
    by_default = options.samples == 1
    is_requested = by_default if options.logprobs is None else options.logprobs
    if not is_requested:
        return {}
    return {"logprobs": True, "top_logprobs": _ALTERNATIVES}


def described(settings: Sequence[Settings]) -> str:
    """The decoding of all samples in words, for the fingerprint."""
    first = settings[0]
    values = [f"{name} {first[name]}" for name in _DECODING if name in first]
    return f"{', '.join(values)}, samples {len(settings)}"


def demanded_settings(options: LlmOptions) -> frozenset[str]:
    """The settings that the user wants, which are not given up if the server lacks them."""
    demanded = set()
    if options.schema:
        demanded.add("response_format")
    if options.logprobs:
        demanded.add("logprobs")
    return frozenset(demanded)
