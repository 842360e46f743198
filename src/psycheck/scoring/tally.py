"""What became of the items that the audits asked for, and what asking took."""

from collections.abc import Iterable
from dataclasses import dataclass

from psycheck.core.model import Reply


@dataclass(slots=True)
class Tally:
    """What became of the items that the audits asked for.

    `checked` stored scores were computed anew; where these had changed, `dropped` stored scores were removed.
    Of a model that replies in words: the requests and tokens of this run, also of replies that were replaced,
    `cost` where it knows its prices, and how many of the items have a reply that answers no label.
    """

    asked: int = 0
    distinct: int = 0
    remembered: int = 0
    scored: int = 0
    failed: int = 0
    checked: int = 0
    dropped: int = 0
    seconds: float = 0.0
    requests: int = 0
    prompt_tokens: int = 0
    completion_tokens: int = 0
    cost: float | None = None
    unreadable: int = 0

    def count(self, replies: Iterable[Reply]) -> None:
        """Add the tokens of replies."""
        for reply in replies:
            self.prompt_tokens += reply.prompt_tokens or 0
            self.completion_tokens += reply.completion_tokens or 0
