"""What a server answered, as a reply: the JSON of a chat completion, read with care."""

import json
from collections.abc import Sequence
from dataclasses import replace
from typing import Any, Final

from psycheck.core.model import Reply
from psycheck.llm.pace import Unanswered

_THOUGHTS: Final = ("reasoning_content", "reasoning", "thinking")  # where servers put what a model thought
_TEXT_PARTS: Final = ("text", "output_text")
_DIGITS: Final = 5  # of a logprob
_LEAST_LOGPROB: Final = -9999.0  # servers write minus infinity so, or as null
_LONGEST_FINISH: Final = 40  # characters
_MOST_TOKENS: Final = 2**53  # a larger count is not one


def completion_of(body: bytes, seconds: float) -> Reply:
    """The reply in the body of an answer; a body that is no chat completion is a failure, never a reply."""
    try:
        answer = json.loads(body)
        choice = answer["choices"][0]
        text = _text_of(choice["message"])
        finish = str(choice.get("finish_reason") or "")[:_LONGEST_FINISH]
    except (ValueError, LookupError, TypeError, AttributeError, RecursionError):
        raise Unanswered("garbled") from None

    usage = answer.get("usage")
    if not isinstance(usage, dict):
        usage = {}
    return Reply(
        text=text,
        prompt_tokens=token_count(usage.get("prompt_tokens")),
        completion_tokens=token_count(usage.get("completion_tokens")),
        finish=finish,
        seconds=seconds,
        logprobs=_logprobs(choice.get("logprobs")),
    )


def joined(samples: Sequence[Reply]) -> Reply:
    """Several samples of one question as one reply; tokens and seconds are those of all."""
    first = samples[0]
    if len(samples) == 1:
        return first
    return replace(
        first,
        prompt_tokens=_sum_of([sample.prompt_tokens for sample in samples]),
        completion_tokens=_sum_of([sample.completion_tokens for sample in samples]),
        seconds=sum(sample.seconds or 0.0 for sample in samples),
        # Their token probabilities are not kept: with several samples, their share is the confidence.
        others=tuple(sample.text for sample in samples[1:]),
    )


def _sum_of(counts: Sequence[int | None]) -> int | None:
    """The sum of token counts, None if one of them is not known."""
    total = 0
    for count in counts:
        if count is None:
            return None
        total += count
    return total


def _text_of(message: Any) -> str:
    """The text of a message with the arguments of its calls, else its refusal, else what it thought."""
    text = _content_of(message.get("content"))
    arguments = _arguments_of(message)
    if arguments:
        if text.strip():
            return "\n".join([text, *arguments])
        return "\n".join(arguments)

    refusal = message.get("refusal")
    if not text and isinstance(refusal, str):
        return refusal
    if text.strip():
        return text
    return _thought_of(message)


def _content_of(content: Any) -> str:
    """The text of a message; some servers send it in parts, thoughts among them."""
    if content is None or isinstance(content, str):
        return content or ""
    text_parts = [part for part in content if part.get("type") in _TEXT_PARTS]
    return "".join(part["text"] for part in text_parts)


def _arguments_of(message: Any) -> list[str]:
    """The arguments of tool calls, as JSON: models that were trained to call tools answer through them."""
    calls = [call["function"] for call in message.get("tool_calls") or []]
    if message.get("function_call"):
        calls.append(message["function_call"])
    arguments = [call.get("arguments") or "" for call in calls]
    return [text if isinstance(text, str) else json.dumps(text) for text in arguments]


def _thought_of(message: Any) -> str:
    """What a message that says nothing else holds of thoughts, marked as such; "" without any."""
    for name in _THOUGHTS:
        thought = message.get(name)
        if isinstance(thought, str) and thought.strip():
            return marked_thought(thought)
    content = message.get("content")
    is_in_parts = isinstance(content, list) and bool(content)
    if is_in_parts:
        return marked_thought(json.dumps(content))
    return ""


def marked_thought(thought: str) -> str:
    """What a model thought and did not answer, in marks that the reader knows."""
    return f"<think>{thought}</think>"


def token_count(number: Any) -> int | None:
    """A count of tokens as servers write it, None if it is not one."""
    is_count = isinstance(number, int) and 0 <= number < _MOST_TOKENS
    return number if is_count else None


def _logprobs(logprobs: Any) -> str:
    """The log probabilities of tokens and their alternatives as `Reply` keeps them, "" without any."""
    try:
        return logprobs_text([_token_row(token) for token in logprobs["content"]])
    except (LookupError, TypeError, AttributeError, ValueError, OverflowError):
        return ""


def _token_row(token: Any) -> list[Any]:
    alternatives = []
    for alternative in token.get("top_logprobs") or []:
        alternatives.append((alternative["token"], alternative["logprob"]))
    return logprob_row(token["token"], token["logprob"], alternatives)


def logprob_row(
    token: str,
    logprob: float | None,
    alternatives: Sequence[tuple[str, float | None]],
) -> list[Any]:
    """A token, its log probability, and the same of each alternative to it."""
    rounded = [[alternative, _rounded(number)] for alternative, number in alternatives]
    return [token, _rounded(logprob), rounded]


def logprobs_text(rows: Sequence[list[Any]]) -> str:
    """The rows of all tokens of a reply as `Reply` keeps them."""
    if rows:
        return json.dumps(rows, separators=(",", ":"))
    return ""


def _rounded(logprob: float | None) -> float:
    if logprob is None:
        return _LEAST_LOGPROB
    return max(_LEAST_LOGPROB, round(float(logprob), _DIGITS))
