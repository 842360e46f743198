"""What a server answered, as a reply: the JSON of a chat completion, read with care."""

import json
from collections.abc import Sequence
from dataclasses import replace
from typing import Any

from psycheck.model import Reply
from psycheck.models.llm.pace import Unanswered

_DIGITS = 5  # of a logprob


def completion_of(body: bytes, seconds: float) -> Reply:
    """The reply in the body of an answer; a body that is no chat completion is a failure, never a reply."""
    try:
        answer = json.loads(body)
        choice = answer["choices"][0]
        message = choice["message"]
        refusal = message.get("refusal")
        text = _text(message.get("content")) or (refusal if isinstance(refusal, str) else "")
        finish = str(choice.get("finish_reason") or "")[:40]
    except (ValueError, LookupError, TypeError, AttributeError, RecursionError):
        raise Unanswered("garbled") from None
    usage = answer.get("usage")
    usage = usage if isinstance(usage, dict) else {}
    sent, received = (_count(usage.get(name)) for name in ("prompt_tokens", "completion_tokens"))
    return Reply(text, sent, received, finish, seconds, _logprobs(choice.get("logprobs")))


def joined(samples: Sequence[Reply]) -> Reply:
    """Several samples of one question as one reply; tokens and seconds are those of all."""
    if len(samples) == 1:
        return samples[0]
    sent, received = (
        None if None in counts else sum(count or 0 for count in counts)
        for counts in zip(*((one.prompt_tokens, one.completion_tokens) for one in samples), strict=True)
    )
    seconds, others = sum(one.seconds or 0.0 for one in samples), tuple(one.text for one in samples[1:])
    return replace(samples[0], prompt_tokens=sent, completion_tokens=received, seconds=seconds, others=others)


def _text(content: Any) -> str:
    """The text of a message; some servers send it in parts."""
    if content is None or isinstance(content, str):
        return content or ""
    return "".join(part["text"] for part in content if part.get("type") == "text")


def _count(number: Any) -> int | None:
    return number if isinstance(number, int) and 0 <= number < 2**53 else None


def _logprobs(found: Any) -> str:
    """The log probabilities of tokens and their alternatives as `Reply` keeps them, "" without any."""
    try:
        tokens = [
            [one["token"], _rounded(one["logprob"]), [[a["token"], _rounded(a["logprob"])] for a in top]]
            for one in found["content"]
            for top in [one.get("top_logprobs") or []]
        ]
    except (LookupError, TypeError, AttributeError, ValueError, OverflowError):
        return ""
    return json.dumps(tokens, separators=(",", ":")) if tokens else ""


def _rounded(logprob: float) -> float:
    """A log probability; servers write minus infinity as -9999 or as null."""
    return max(-9999.0, round(float(-9999.0 if logprob is None else logprob), _DIGITS))
