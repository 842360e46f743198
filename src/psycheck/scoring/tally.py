"""What became of the items that the audits asked for, and what asking took."""

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field

from psycheck.core.errors import counted
from psycheck.core.model import NoAnswer, Reply


@dataclass(slots=True)
class Tally:
    """What became of the items that the audits asked for.

    `checked` stored scores were computed anew; where these had changed, `dropped` stored scores were removed.
    Of a model that replies in words: the requests and tokens of this run, also of replies that were replaced,
    `cost` where it knows its prices, and how many of the items have a reply that answers no label, with the
    reasons (`unanswered`) and what its user can do about each (`remedies`). `notes` say how it was asked.
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
    unanswered: dict[str, int] = field(default_factory=dict)
    remedies: dict[str, str] = field(default_factory=dict)
    notes: list[str] = field(default_factory=list)

    @property
    def without_score(self) -> int:
        """How many items have no score: they could not be scored, or their reply answers no label."""
        return self.failed + self.unreadable

    def say(self, note: str) -> None:
        """Keep a note, once."""
        if note not in self.notes:
            self.notes.append(note)

    def take_requests_of(self, needed: "Tally") -> None:
        """Take over what asking an LLM took, for a model that rests on it and sends nothing else."""
        self.requests = needed.requests
        self.prompt_tokens = needed.prompt_tokens
        self.completion_tokens = needed.completion_tokens
        self.cost = needed.cost
        self.unanswered = dict(needed.unanswered)
        self.remedies = dict(needed.remedies)
        self.notes = list(needed.notes)

    def count_unanswered(self, reasons: Mapping[NoAnswer, int]) -> None:
        """Add items whose reply answers no label, by reason."""
        for reason, count in reasons.items():
            self.unreadable += count
            earlier_count = self.unanswered.get(reason.what, 0)
            self.unanswered[reason.what] = earlier_count + count
            # Not every reason has a remedy: a model may rightly say that it cannot tell.
            if reason.do:
                self.remedies[reason.what] = reason.do

    def notes_on_replies(self) -> Iterator[str]:
        """How the model was asked, then how many replies answer no label, by reason with what to do."""
        yield from self.notes
        if self.unreadable:
            texts = counted(self.unreadable, "text")
            yield f"{texts} got a reply that answers no label; they count as unanswered"
        # The commonest first: that is the one to mend.
        by_count = sorted(self.unanswered.items(), key=lambda entry: -entry[1])
        for what, count in by_count:
            remedy = self.remedies.get(what, "")
            texts = counted(count, "text")
            note = f"{what}: {texts}"
            yield f"{note}; {remedy}" if remedy else note

    def count(self, replies: Iterable[Reply]) -> None:
        """Add the tokens of replies."""
        for reply in replies:
            self.prompt_tokens += reply.prompt_tokens or 0
            self.completion_tokens += reply.completion_tokens or 0
