"""What is sent with a question besides its messages: decoding, schema of the answer, log probabilities."""

from collections.abc import Mapping, Sequence
from typing import Any, Final

from psycheck.llm.options import LlmOptions
from psycheck.llm.prompts import Prompt

_TOP_P: Final = 0.95  # ANGST, appendix A.3
_MOST_TOKENS: Final = {"yes_no": 64, "scale": 512, "open": 512}  # of a reply, by the kind of answer
_ALTERNATIVES: Final = 8  # for each token: "yes", "Yes", " no" …
_DECODING: Final = ("max_tokens", "temperature", "top_p", "seed")

Settings = Mapping[str, Any]


def settings_of(prompt: Prompt, options: LlmOptions) -> tuple[Settings, ...]:
    """The settings of each sample of a question; samples differ by seed."""
    shared = {
        "max_tokens": options.max_tokens or _MOST_TOKENS[prompt.answer],
        **_sampling(options),
        **_schema(prompt, options),
        **_logprobs(options),
    }
    if options.seed is None and options.samples == 1:
        return (shared,)
    # Without seeds of their own, a server that caches would give the same sample again and again.
    first_seed = options.seed or 0
    seeds = range(first_seed, first_seed + options.samples)
    return tuple({**shared, "seed": seed} for seed in seeds)


def _sampling(options: LlmOptions) -> Settings:
    """Temperature and top-p as the user sets them; without a temperature, the paper's top-p."""
    sampling = {}
    if options.temperature is not None:
        sampling["temperature"] = options.temperature
    usual_top_p = _TOP_P if options.temperature is None else 1.0
    top_p = options.top_p or usual_top_p
    if top_p < 1:  # 1 is every server's default, and some models refuse the setting
        sampling["top_p"] = top_p
    return sampling


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
