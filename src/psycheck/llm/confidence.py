"""The probability of yes against no, from the token probabilities of a reply."""

import json
import math
from bisect import bisect_right
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import accumulate
from typing import Any, Final

from psycheck.core.errors import UNREADABLE

# What a token that begins an answer may be the beginning of: 1 is yes, 0 is no.
_ANSWERS: Final = {"yes": 1, "true": 1, "1": 1, "no": 0, "false": 0, "0": 0}


@dataclass(frozen=True, slots=True)
class Tokens:
    """The tokens of a reply: where each starts in its text, and its alternatives with their probabilities."""

    starts: tuple[int, ...]
    alternatives: tuple[dict[str, float], ...]


def tokens_of(text: str, logprobs: str) -> Tokens | None:
    """Read the stored token probabilities; None if there are none, or they are not those of the text."""
    if not logprobs or not text:
        return None
    try:
        rows: Sequence[Any] = json.loads(logprobs)
        tokens = [str(token) for token, _, _ in rows]
        alternatives = tuple(_probabilities(*row) for row in rows)
    except UNREADABLE:
        return None

    # The tokens may begin before the text, with a space or a mark that is not part of it.
    offset = "".join(tokens).find(text)
    if offset < 0:
        return None
    lengths = [len(token) for token in tokens]
    starts = accumulate(lengths[:-1], initial=-offset)
    return Tokens(starts=tuple(starts), alternatives=alternatives)


def _probabilities(token: Any, logprob: Any, alternatives: Any) -> dict[str, float]:
    """The probability of a token and of each alternative to it."""
    probabilities = {str(token): math.exp(float(logprob))}
    for alternative, alternative_logprob in alternatives:
        probabilities[str(alternative)] = math.exp(float(alternative_logprob))
    return probabilities


def confidence_of(
    answer: float,
    tokens: Tokens | None,
    text: str,
    start: int,
    end: int,
) -> float:
    """The probability of yes where an answer (0 or 1) stands in text[start:end], else the answer itself."""
    if tokens is None:
        return answer
    probability_of_yes = probability(tokens, text, start, end)
    if probability_of_yes is None:
        return answer
    return probability_of_yes


def probability(
    tokens: Tokens,
    text: str,
    start: int,
    end: int,
) -> float | None:
    """P(yes) / (P(yes) + P(no)) at the token where the answer in text[start:end] begins."""
    # Quotes and spaces may be tokens of their own, which say nothing about the answer.
    while start < end and not text[start].isalnum():
        start += 1
    place = bisect_right(tokens.starts, start) - 1  # the last token that starts no later
    if place < 0 or start == end:
        return None

    # What stands before the answer within its token, as the quote in `"yes`.
    before = text[max(tokens.starts[place], 0) : start]
    return _share_of_yes(tokens.alternatives[place], before)


def _share_of_yes(alternatives: dict[str, float], before: str) -> float | None:
    """P(yes) / (P(yes) + P(no)) among the alternatives of a token, None if neither is listed."""
    # Summed over spellings: "yes", "Yes" and " yes" are tokens of their own.
    mass = [0.0, 0.0]  # of no and of yes
    for token, share in alternatives.items():
        side = _side(token, before)
        if side is not None:
            mass[side] += share

    is_probability = 0 < sum(mass) < math.inf  # a server may send any number
    if not is_probability:
        return None

    if not all(mass):
        # The missing answer has at most the mass that is left, and at most that of the smallest
        # alternative. Half of this bound keeps the decision and is never certain.
        unlisted = max(1.0 - sum(alternatives.values()), 0.0)
        smallest = min(alternatives.values())
        missing_side = mass.index(0.0)
        mass[missing_side] = min(unlisted, smallest) / 2
    return mass[1] / sum(mass)


def _side(token: str, before: str) -> int | None:
    """1 if a token begins a yes, 0 if it begins a no, None if neither."""
    word = token.removeprefix(before).strip().strip("\"'“”.,!}*").casefold()
    if not word:
        return None
    # A token may be only the beginning of its word: "y" is one of "yes", "f" one of "false".
    sides = {side for answer, side in _ANSWERS.items() if answer.startswith(word)}
    return sides.pop() if len(sides) == 1 else None
