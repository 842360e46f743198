"""The providers that can be asked, and what the connection to each of them can do."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from importlib import import_module
from types import MappingProxyType
from typing import Any, Final, Protocol

from psycheck.core.errors import library
from psycheck.core.model import Reply
from psycheck.llm.pace import Unanswered
from psycheck.llm.server import Server
from psycheck.llm.server_errors import Refused

Messages = list[dict[str, str]]
Settings = Mapping[str, Any]
Question = tuple[Messages, Settings]
Outcome = Reply | Refused | Unanswered


class Connection(Protocol):
    """A provider's own client. What its server refuses is raised as `Refused`, what breaks as `Unanswered`.

    The settings of a question are those of `decoding.settings_of`, whatever the provider calls them; those
    that it does not have are not sent.
    """

    async def send(self, messages: Messages, settings: Settings) -> Reply:
        """Ask one question."""

    async def submit(self, questions: Mapping[str, Question]) -> str:
        """Hand over questions by their ids as one batch; returns the name of the batch."""

    async def is_finished(self, batch: str) -> bool:
        """Whether a batch has its results; one that the provider gave up is raised as `Unanswered`."""

    async def results(self, batch: str, ids: Sequence[str]) -> list[tuple[str, Outcome]]:
        """What became of the questions of a finished batch, whose ids were handed over in this order."""

    async def close(self) -> None:
        """Close the connections."""


@dataclass(frozen=True, slots=True)
class Provider:
    """Where a provider is found, the variable of its key, its client library and the extra that has it.

    `lacks` are settings that it has no name for; `batch_bytes` is the most that one batch may hold.
    """

    base_url: str
    key_env: str
    library: str
    extra: str
    module: str
    lacks: frozenset[str] = frozenset()
    batch_bytes: int = 100_000_000


PROVIDERS: Final[Mapping[str, Provider]] = MappingProxyType(
    {
        "openai": Provider(
            base_url="https://api.openai.com/v1",
            key_env="OPENAI_API_KEY",
            library="openai",
            extra="llm",
            module="openai_chat",
        ),
        "azure": Provider(
            base_url="",
            key_env="AZURE_OPENAI_API_KEY",
            library="openai",
            extra="llm",
            module="openai_chat",
        ),
        "anthropic": Provider(
            base_url="https://api.anthropic.com",
            key_env="ANTHROPIC_API_KEY",
            library="anthropic",
            extra="anthropic",
            module="anthropic_messages",
            lacks=frozenset(["logprobs", "seed"]),
        ),
        "gemini": Provider(
            base_url="https://generativelanguage.googleapis.com",
            key_env="GEMINI_API_KEY",
            library="google.genai",
            extra="gemini",
            module="gemini_content",
            # Requests within the call itself, which may have 20 MB.
            batch_bytes=15_000_000,
        ),
    }
)


def connect(server: Server) -> Connection:
    """The connection to a server through its provider's own client."""
    provider = PROVIDERS[server.api]
    library(provider.library, f"api={server.api}", provider.extra)
    module = import_module(f"psycheck.llm.providers.{provider.module}")
    connection: Connection = module.connect(server)
    return connection
