"""The command that runs: which finished run it may overwrite, and whether it prints notes."""

from contextvars import ContextVar
from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Command:
    """A command line: `words` are the verb with its options, the same for the same work.

    With `force` it may overwrite the finished run of another command, with `quiet` it prints no notes.
    """

    words: str
    force: bool = False
    quiet: bool = False


# None in Python: a person at a notebook overwrites a run by running its cell again.
RUNNING: ContextVar[Command | None] = ContextVar("psycheck.command", default=None)


def is_quiet() -> bool:
    """Whether the command that runs prints no notes and no progress."""
    command = RUNNING.get()
    return command is not None and command.quiet
