"""What a server means by an error status: which kind of failure, or which setting it does not accept."""

from collections.abc import Mapping
from typing import Any

from psycheck.llm.pace import Unanswered, pause_of

# Kinds of failures.toml by status; a status that is not listed is a failure of the server.
_KIND_BY_STATUS = {
    401: "key",
    402: "quota",
    403: "forbidden",
    404: "unknown",
    429: "busy",
    503: "busy",
    529: "busy",
    **dict.fromkeys((400, 405, 406, 410, 411, 413, 414, 415, 422), "rejected"),
}
_STATUS_OF_UNKNOWN_SETTING = (500, 501)  # besides those that reject a request

# The words by which a server names a setting that it does not accept.
_WORDS_BY_SETTING = {
    "logprobs": ("logprobs",),
    "reasoning_effort": ("output_config.effort", "thinking_level", "thinkinglevel", "thinking_budget"),
    "response_format": (
        "response_format",
        "json_schema",
        "grammar",
        "output_config",
        "responsejsonschema",
        "response_json_schema",
        "json mode",
    ),
    "max_tokens": ("max_completion_tokens",),
}
# A post may speak of a temperature, too: these count only where the server names them as the parameter at
# fault, or beside a word of refusal.
_PLAIN_WORDS_BY_SETTING = {
    "temperature": ("temperature",),
    "top_p": ("top_p", "topp"),
    "seed": ("seed",),
    "reasoning_effort": ("reasoning",),
}
_REFUSED = ("support", "unknown", "unrecognized", "unexpected", "not permitted", "not allowed", "deprecated")
_TOO_LONG = (
    "context_length_exceeded",
    "exceed_context_size",
    "context length",
    "context window",
    "context size",
    "maximum context",
    "prompt is too long",
    "input is too long",
    "input token count",
)
_NO_CREDIT = ("credit balance is too low", "insufficient_quota")
_FILTERS = ("content_filter", "content_policy_violation", "content management policy", "moderation_blocked")
_MESSAGE_READ = 10_000  # characters of an error message


class Refused(Exception):
    """A server answered with an error status; what it says is read here and never printed.

    `code` and `param` are what the error names as its kind and as the parameter at fault.
    """

    def __init__(
        self,
        status: int,
        said: str,
        *,
        code: str = "",
        param: str = "",
        headers: Mapping[str, str] | None = None,
    ) -> None:
        super().__init__(f"status {status}")
        self.status = status
        self.said = said[:_MESSAGE_READ].lower()
        self.code = code
        self.param = param
        self.headers = headers or {}


def failure_of_refusal(refusal: Refused) -> Unanswered:
    """The failure that an error status means, with the pause that the server asks for."""
    if refusal.code == "insufficient_quota" or any(words in refusal.said for words in _NO_CREDIT):
        return Unanswered("quota")

    if 400 <= refusal.status <= 500:
        if any(words in refusal.said for words in _TOO_LONG):
            return Unanswered("context")
        if any(words in refusal.said for words in _FILTERS):
            return Unanswered("filter")

    usual_kind = "redirect" if refusal.status < 400 else "server"
    kind = _KIND_BY_STATUS.get(refusal.status, usual_kind)
    pause = pause_of(refusal.headers.get("retry-after"), refusal.headers.get("retry-after-ms"))
    return Unanswered(kind, pause)


def missing_setting(refusal: Refused, settings: Mapping[str, Any]) -> str:
    """The setting that the server refuses by name in its error message, or ""."""
    status = refusal.status
    if _KIND_BY_STATUS.get(status) != "rejected" and status not in _STATUS_OF_UNKNOWN_SETTING:
        return ""

    for setting, words in _WORDS_BY_SETTING.items():
        if setting in settings and any(word in refusal.said for word in words):
            return setting

    is_refusal = any(word in refusal.said for word in _REFUSED)
    for setting, words in _PLAIN_WORDS_BY_SETTING.items():
        is_named = refusal.param == setting or (is_refusal and any(word in refusal.said for word in words))
        if setting in settings and is_named:
            return setting
    return ""
