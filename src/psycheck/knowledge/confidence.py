"""The probability of yes against no, from the token probabilities of a reply."""

import json
import math
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import accumulate
from typing import Any, Final

from psycheck.errors import UNREADABLE

_WORDS: Final = {"yes": 1, "true": 1, "1": 1, "no": 0, "false": 0, "0": 0}


@dataclass(frozen=True, slots=True)
class Tokens:
    """The tokens of a reply: where each starts in its text, and its alternatives with their probabilities."""

    starts: tuple[int, ...]
    alternatives: tuple[dict[str, float], ...]


def tokens_of(text: str, logprobs: str) -> Tokens | None:
    """Read the stored token probabilities; None if there are none, or they are not those of the text."""
    if not logprobs:
        return None
    try:
        raw: Sequence[Any] = json.loads(logprobs)
        tokens = [str(token) for token, _, _ in raw]
        alternatives = tuple(
            {str(token): math.exp(float(logprob))} | {str(other): math.exp(float(p)) for other, p in others}
            for token, logprob, others in raw
        )
    except UNREADABLE:
        return None
    offset = "".join(tokens).find(text)
    if offset < 0 or not text:
        return None
    starts = accumulate(map(len, tokens[:-1]), initial=-offset)
    return Tokens(tuple(starts), alternatives)


def probability(tokens: Tokens, text: str, start: int, end: int) -> float | None:
    """P(yes) / (P(yes) + P(no)) at the token where the answer in text[start:end] begins."""
    while start < end and not text[start].isalnum():
        start += 1
    here = next((i for i in reversed(range(len(tokens.starts))) if tokens.starts[i] <= start), None)
    if here is None or start == end:
        return None
    # What stands before the answer within its token, as the quote in `"yes`.
    before = text[max(tokens.starts[here], 0) : start]
    mass = [0.0, 0.0]
    for token, p in tokens.alternatives[here].items():
        if (side := _side(token, before)) is not None:
            mass[side] += p
    if not 0 < sum(mass) < math.inf:  # neither is listed, or what is listed is not a probability
        return None
    if not all(mass):
        # The other answer is not listed: it has at most the mass that is left, and at most that of the
        # smallest alternative. Half of this bound keeps the decision and is never certain.
        listed = tokens.alternatives[here].values()
        mass[mass.index(0.0)] = min(max(1.0 - sum(listed), 0.0), min(listed)) / 2
    return mass[1] / sum(mass)


def _side(token: str, before: str) -> int | None:
    """1 if a token begins a yes, 0 if it begins a no, None if neither."""
    word = token.removeprefix(before).strip().strip("\"'“”.,!}*").casefold()
    if not word:
        return None
    sides = {side for whole, side in _WORDS.items() if whole.startswith(word)}
    return sides.pop() if len(sides) == 1 else None
