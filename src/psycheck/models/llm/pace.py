"""How many requests are under way at once, how long to wait before another try, and when to give up."""

import random
import re
import tomllib
from dataclasses import dataclass, field
from datetime import UTC, datetime
from email.utils import parsedate_to_datetime
from importlib.resources import files

from psycheck.errors import ModelFailure, PsycheckError
from psycheck.settings.reader import read_settings

TRIES = 5  # of one question
LONGEST_PAUSE = 600.0  # seconds that a server may ask for; beyond this the user decides when to resume
IDENTICAL = 3  # failures in a row after which one that concerns every question stops the run
MOST_REJECTED = 20  # questions that the server rejects, none answered, after which the run stops
PATIENCE = 120.0  # seconds without an answer after which failures that may pass stop the run
FIRST_WAIT, _LONGEST_WAIT = 0.5, 60.0  # seconds
_NUMBER = re.compile(r"\s*\d{1,9}(\.\d{1,9})?\s*", re.ASCII)


@dataclass(frozen=True, slots=True)
class Kind:
    """An entry of failures.toml, where the fields are explained."""

    scope: str
    what: str
    do: str


KINDS = {
    name: read_settings(Kind, entry, "failures.toml")
    for name, entry in tomllib.loads(
        files("psycheck.models.llm").joinpath("failures.toml").read_text("utf-8")
    ).items()
}


class Unanswered(PsycheckError):
    """A question got no answer; `kind` is an entry of failures.toml, `after` the pause a server asks for.

    Its message is ours alone: what a server says may quote the post.
    """

    def __init__(self, kind: str, after: float = 0.0) -> None:
        super().__init__(KINDS[kind].what, do=KINDS[kind].do)
        self.kind = kind
        self.after = after


@dataclass(slots=True)
class Pace:
    """The number of requests at once: one until the first answer, then `most`; half when the server is busy.

    Each answer lets it grow again, by one per round of answers. `until` is when the next request may start.
    Times are seconds of one monotonic clock.
    """

    most: int
    last: float  # when the last answer came, or the first request was sent
    limit: float = 1.0
    until: float = 0.0
    answers: int = 0
    row: list[str] = field(default_factory=list)  # the kinds of the failures since the last answer
    slowed: float = 0.0

    def answered(self, now: float) -> None:
        """Count an answer."""
        # The first question goes out alone: a wrong key or an unknown option costs one request and not many.
        self.limit = min(self.most, self.limit + 1 / self.limit if self.answers else self.most)
        self.answers += 1
        self.last = now
        self.row.clear()

    def failed(self, failure: Unanswered, tries: int, started: float, now: float) -> float | None:
        """Count a failure of a request that started at a time; returns the wait before the next try.

        None means that the question is not sent again. Raises the failure if the run should stop.
        """
        scope = KINDS[failure.kind].scope
        self.row.append(failure.kind)
        if self._hopeless(failure, scope, now):
            raise failure
        if scope == "pace" and started >= self.slowed:  # those sent before are of the same crowd
            self.limit = max(1.0, self.limit / 2)
            self.slowed = now
        self.until = max(self.until, now + failure.after)
        if scope == "item" or (scope == "time" and tries >= TRIES):
            return None
        wait = min(_LONGEST_WAIT, FIRST_WAIT * 2.0 ** (min(tries, 10) - 1)) * random.uniform(0.5, 1.5)
        return max(wait, failure.after * random.uniform(1.0, 1.1))

    def _hopeless(self, failure: Unanswered, scope: str, now: float) -> bool:
        same = self.row[-IDENTICAL:] == [failure.kind] * IDENTICAL
        if failure.after > LONGEST_PAUSE:
            return True
        if scope == "model":
            # A server that has answered before may be restarting.
            return same and (failure.kind != "unreachable" or not self.answers or self._waited(now))
        if scope == "item":
            return not self.answers and len(self.row) >= MOST_REJECTED
        return same and self._waited(now)

    def _waited(self, now: float) -> bool:
        return now - self.last > PATIENCE


def stopped(failure: Unanswered, address: str, **names: str) -> PsycheckError:
    """The error for the user when asking stops because of a failure."""
    kind = KINDS[failure.kind]
    what = kind.what.format(**names)
    if failure.after > LONGEST_PAUSE:
        what += f"; it asks to wait for {failure.after / 60:,.0f} minutes"
    return ModelFailure(what, where=address, do=kind.do.format(**names))


def pause_of(header: str | None, milliseconds: str | None = None) -> float:
    """The seconds that Retry-After asks for: a number, or a date; 0 if it asks for nothing."""
    if milliseconds and _NUMBER.fullmatch(milliseconds):
        return float(milliseconds) / 1000
    if header and _NUMBER.fullmatch(header):
        return float(header)
    try:
        when = parsedate_to_datetime(header or "")
    except (ValueError, TypeError, OverflowError):
        return 0.0
    return max(0.0, (when.replace(tzinfo=when.tzinfo or UTC) - datetime.now(UTC)).total_seconds())
