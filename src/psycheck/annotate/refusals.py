"""What the annotation server refuses, each with the HTTP status that says so.

Refusal          a request that the rules of a project or an account forbid
├── NotFound     no such thing, or not for this person: both look the same
├── NotAllowed   the role does not permit it
├── Outdated     the state has moved on: answered, expired, inspected, already used
└── TooOften     too many failed log-ins
"""

from psycheck.core.errors import BadInput


class Refusal(BadInput):
    """A request that the rules of a project or an account forbid."""

    status = 400


class NotFound(Refusal):
    """No such thing, or none that this person may know of."""

    status = 404


class NotAllowed(Refusal):
    """The person is known, but the role does not permit it."""

    status = 403


class Outdated(Refusal):
    """The state has moved on since the page was shown."""

    status = 409


class TooOften(Refusal):
    """Too many failed log-ins; `after` is the number of seconds to wait."""

    status = 429

    def __init__(self, what: str, *, code: str, after: float) -> None:
        minutes = max(1, round(after / 60))
        super().__init__(what, code=code, do=f"wait {minutes} min and try again")
        self.after = after
