"""What asking an LLM takes: tokens, estimated from characters, and money, by a price file of the user.

psycheck ships no prices: they change without notice, and a wrong one is worse than none.
"""

import math
import os
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated

from psycheck.io.settings import AT_LEAST_0, read_settings, read_toml

PRICES = "PSYCHECK_PRICES"  # the environment variable that names the user's price file
_BYTES_PER_TOKEN = 4  # of English; without the model's own tokenizer this is an estimate
_TOKENS_PER_MESSAGE = 4  # that mark a message and its role


@dataclass(frozen=True, slots=True)
class Price:
    """The price of a million tokens that are sent, and of a million that come back.

    `batch` is the share of it that the provider takes for questions of its batch API.
    """

    input: Annotated[float, AT_LEAST_0]
    output: Annotated[float, AT_LEAST_0]
    batch: Annotated[float, AT_LEAST_0] = 0.5

    def of(self, prompt_tokens: int, completion_tokens: int) -> float:
        """The price of some tokens."""
        return (self.input * prompt_tokens + self.output * completion_tokens) / 1e6


@dataclass(frozen=True, slots=True)
class _PriceFile:
    models: Mapping[str, Price]
    currency: str = ""


def price_of(model: str, file: str | None) -> Price | None:
    """The price of a model by a TOML file (default: $PSYCHECK_PRICES); None if neither names it."""
    named_file = file or os.environ.get(PRICES)
    if not named_file:
        return None
    path = Path(named_file).expanduser()
    price_file = read_settings(_PriceFile, read_toml(path, "price"), str(path))
    return price_file.models.get(model)


def estimated_tokens(messages: Sequence[Mapping[str, str]]) -> int:
    """About how many tokens a question has."""
    total = 0
    for message in messages:
        size = len(message["content"].encode("utf-8", "replace"))
        total += math.ceil(size / _BYTES_PER_TOKEN) + _TOKENS_PER_MESSAGE
    return total
