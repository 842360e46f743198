"""How many requests are under way at once, how long to wait before another try, and when to give up."""

import random
import re
import tomllib
from dataclasses import dataclass, field
from datetime import UTC, datetime
from email.utils import parsedate_to_datetime
from importlib.resources import files
from typing import Literal

from psycheck.core.errors import ModelFailure, PsycheckError
from psycheck.io.settings import read_settings

TRIES = 5  # of one question
LONGEST_PAUSE = 600.0  # seconds that a server may ask for; beyond this the user decides when to resume
IDENTICAL = 3  # failures in a row after which one that concerns every question stops the run
MOST_REJECTED = 20  # questions that the server rejects, none answered, after which the run stops
PATIENCE = 120.0  # seconds without an answer after which failures that may pass stop the run
FIRST_WAIT = 0.5  # seconds
_LONGEST_WAIT = 60.0
_MOST_DOUBLINGS = 9  # beyond this the wait is at its longest, and powers of 2 may overflow
_NUMBER = re.compile(r"\s*\d{1,9}(\.\d{1,9})?\s*", re.ASCII)


@dataclass(frozen=True, slots=True)
class FailureKind:
    """An entry of failures.toml, where the fields are explained."""

    scope: Literal["model", "item", "time", "pace"]
    what: str
    do: str


def _read_kinds() -> dict[str, FailureKind]:
    text = files("psycheck.llm").joinpath("failures.toml").read_text("utf-8")
    entries = tomllib.loads(text)

    kinds: dict[str, FailureKind] = {}
    for name, entry in entries.items():
        kinds[name] = read_settings(FailureKind, entry, "failures.toml")
    return kinds


KINDS = _read_kinds()


class Unanswered(PsycheckError):
    """A question got no answer; `kind` is an entry of failures.toml, `after` the pause a server asks for.

    Its message is ours alone: what a server says may quote the post.
    """

    def __init__(self, kind: str, after: float = 0.0) -> None:
        super().__init__(KINDS[kind].what, code=f"llm.{kind}", do=KINDS[kind].do)
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
    failures: list[str] = field(default_factory=list)  # their kinds, since the last answer
    slowed: float = 0.0  # when the limit was halved

    def answered(self, now: float) -> None:
        """Count an answer."""
        if self.answers:
            # `limit` answers make one round, and each adds its part of one.
            grown = self.limit + 1 / self.limit
            self.limit = min(self.most, grown)
        else:
            # The first question went out alone: a wrong key or an unknown option costs one request.
            self.limit = self.most
        self.answers += 1
        self.last = now
        self.failures.clear()

    def failed(
        self,
        failure: Unanswered,
        tries: int,
        started: float,
        now: float,
    ) -> float | None:
        """Count a failure of a request that started at a time; returns the wait before the next try.

        None means that the question is not sent again. Raises the failure if the run should stop.
        """
        scope = KINDS[failure.kind].scope
        self.failures.append(failure.kind)
        if self._is_hopeless(failure, now):
            raise failure

        # Requests that were sent before the last halving belong to the same crowd.
        if scope == "pace" and started >= self.slowed:
            self.limit = max(1.0, self.limit / 2)
            self.slowed = now
        self.until = max(self.until, now + failure.after)

        # A question that is rejected for itself would be rejected again; a busy server is asked on.
        is_given_up = scope == "time" and tries >= TRIES
        if scope == "item" or is_given_up:
            return None
        return _wait_after(tries, failure.after)

    def _is_hopeless(self, failure: Unanswered, now: float) -> bool:
        """True if every further question is expected to fail as well."""
        if failure.after > LONGEST_PAUSE:
            return True
        scope = KINDS[failure.kind].scope
        if failure.kind == "context":
            # The longest texts are asked about first: shorter ones may fit.
            return False
        if scope == "item":
            # After the first answer the server works, and a rejected post says nothing about others.
            return not self.answers and len(self.failures) >= MOST_REJECTED

        last_failures = self.failures[-IDENTICAL:]
        is_in_a_row = last_failures == [failure.kind] * IDENTICAL
        waited_long = now - self.last > PATIENCE
        if scope == "model":
            # A server that has answered before may be restarting.
            may_restart = failure.kind == "unreachable" and self.answers > 0
            return is_in_a_row and (waited_long or not may_restart)
        return is_in_a_row and waited_long


def _wait_after(tries: int, pause: float) -> float:
    """The seconds before the next try: twice as long each time, and as long as the server asks for."""
    doublings = min(tries - 1, _MOST_DOUBLINGS)
    wait = min(_LONGEST_WAIT, FIRST_WAIT * 2.0**doublings)

    # Spread at random, so that requests that failed together do not come back together; never before the
    # end of a pause that the server asks for.
    spread_wait = wait * random.uniform(0.5, 1.5)
    spread_pause = pause * random.uniform(1.0, 1.1)
    return max(spread_wait, spread_pause)


def stopped(failure: Unanswered, address: str, **names: str) -> PsycheckError:
    """The error for the user when asking stops because of a failure."""
    kind = KINDS[failure.kind]
    what = kind.what.format(**names)
    if failure.after > LONGEST_PAUSE:
        what += f"; it asks to wait for {failure.after / 60:,.0f} minutes"
    return ModelFailure(
        what,
        code=failure.code,
        where=address,
        do=kind.do.format(**names),
    )


def pause_of(header: str | None, milliseconds: str | None = None) -> float:
    """The seconds that Retry-After asks for: a number, or a date; 0 if it asks for nothing."""
    if milliseconds and _NUMBER.fullmatch(milliseconds):
        return float(milliseconds) / 1000
    if header and _NUMBER.fullmatch(header):
        return float(header)
    try:
        date = parsedate_to_datetime(header or "")
    except (ValueError, TypeError, OverflowError):
        return 0.0

    # HTTP dates are in GMT; "-0000" gives a date without a zone.
    aware_date = date.replace(tzinfo=date.tzinfo or UTC)
    remaining = aware_date - datetime.now(UTC)
    return max(0.0, remaining.total_seconds())
