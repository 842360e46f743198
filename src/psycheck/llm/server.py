"""The server that questions are sent to, and how."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Literal


@dataclass(frozen=True, slots=True)
class Server:
    """Where questions are sent, in the protocol `api`, and how.

    `demanded` settings are not given up if the server lacks them.
    `key_header` is the header of the key where it is not the usual one, as on Azure ("api-key"); `headers`
    and `query` are sent with each request.
    """

    model: str
    base_url: str
    local: bool
    key: str = field(repr=False)
    key_env: str
    timeout: float
    concurrency: int
    demanded: frozenset[str]
    key_header: str | None = None
    headers: Mapping[str, str] = field(default_factory=dict)
    query: Mapping[str, str] = field(default_factory=dict)
    api: Literal["openai", "azure", "anthropic", "gemini"] = "openai"
    most_bytes: int | None = None  # of one answer, where that is not MOST_BYTES
