"""Errors that users can fix.

PsycheckError        exit 2: anything that a user can fix
├── BadInput         a file, column, label, suite, plan or option is wrong
├── MissingExtra     an optional dependency is not installed
├── ModelFailure     a model cannot be opened, or fails on every text
│   └── NothingAnswered    exit 3: its first replies answer nothing, so no more were asked for
└── StoreFailure     scores or results cannot be written (disk full, read-only folder)
TransientFailure     raised by a model that may succeed when asked again (rate limit, time-out)

A message says what is wrong, where, what is allowed and what to do. It never quotes a person's text.
"""

import os
import re
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from difflib import get_close_matches
from importlib import import_module
from typing import Any

# What reading a description that someone else wrote or damaged can raise, up to JSON nested too deeply.
UNREADABLE = (OSError, ValueError, LookupError, TypeError, AttributeError, OverflowError, RecursionError)

_MOST_GB = "PSYCHECK_MAX_GB"  # the environment variable that raises the limit of `check_size`
_MOST_COLUMNS = 4_000
_EMPTY_LINES = 2**16  # in a row: no file of texts or scores has so many
_MOST_LISTED = 20  # names in a message
_SIMILAR = 0.6  # difflib's ratio from which a name is suggested


class PsycheckWarning(UserWarning):
    """Something a user should know that does not stop the work."""


class PsycheckError(Exception):
    """A mistake that a user can fix, shown as a few plain lines and never as a traceback.

    `code` names the mistake for programs and tests ("corpus.duplicate-ids") and stays when the words change.
    `key` names the setting or column role at fault where no file does; the command line adds its option.
    """

    exit_code = 2

    def __init__(
        self,
        what: str,
        *,
        code: str = "",
        where: str = "",
        allowed: str = "",
        do: str = "",
        key: str = "",
    ) -> None:
        super().__init__(what)
        self.what = what
        self.code = code
        self.where = where
        self.allowed = allowed
        self.do = do
        self.key = key

    def __str__(self) -> str:
        parts = {
            "where": self.where,
            "allowed": self.allowed,
            "do": self.do,
        }
        lines = [self.what]
        for name, part in parts.items():
            if part:
                lines.append(f"  {name}: {part}")
        return "\n".join(lines)


class BadInput(PsycheckError):
    """A file, column, label, suite, plan or option is wrong."""


class MissingExtra(PsycheckError):
    """An optional dependency is not installed."""

    def __init__(self, what: str, extra: str) -> None:
        super().__init__(
            f"{what} needs the extra '{extra}'",
            code="extra.missing",
            do=f'pip install "psycheck[{extra}]"',
        )


def library(name: str, what: str, extra: str) -> Any:
    """A module of an optional dependency, imported when it is needed; `what` needs it."""
    try:
        return import_module(name)
    except ImportError as error:
        raise MissingExtra(what, extra) from error


class ModelFailure(PsycheckError):
    """A model cannot be opened, or fails on every text."""


class NothingAnswered(ModelFailure):
    """A model that replies in words answers nothing: asking on would only cost."""

    exit_code = 3


class StoreFailure(PsycheckError):
    """Scores or results cannot be written."""


class TransientFailure(Exception):
    """Raised by a model for a failure that may pass, such as a rate limit; it is asked again after a while.

    `after` is the number of seconds that a server asks callers to wait.
    """

    def __init__(self, what: str = "", *, after: float = 0.0) -> None:
        super().__init__(what)
        self.after = after


@contextmanager
def explained(
    what: str, *causes: type[Exception], kind: type[PsycheckError] = BadInput, **parts: str
) -> Iterator[None]:
    """Turn errors of these types into one for the user, which says `what` is wrong and names the type."""
    try:
        yield
    except PsycheckError:
        raise
    except causes as error:
        raise kind(f"{what} ({type(error).__name__})", **parts) from error


def check_size(size: float, where: str, most: float = 8) -> None:
    """Refuse content of more bytes than `most` GB, or than PSYCHECK_MAX_GB: a small file can unpack to it."""
    chosen = os.environ.get(_MOST_GB, "")
    if re.fullmatch(r"\d+(\.\d+)?", chosen):
        most = float(chosen)
    if size > most * 1e9:
        raise BadInput(
            f"the content of this file takes more than {most:g} GB",
            code="file.too-large",
            where=where,
            do=f"if it is meant to be so large, set the environment variable {_MOST_GB} to more",
        )


def check_piece(
    piece: bytes,
    size: float,
    where: str,
    most: float = 8,
) -> bytes:
    """The next piece of a file; it must not make the file's `size` too large, or be only empty lines."""
    is_empty = len(piece) >= _EMPTY_LINES and not piece.strip(b"\r\n")
    if is_empty:
        raise BadInput(
            f"there are more than {_EMPTY_LINES:,} empty lines in a row",
            code="file.empty-lines",
            where=where,
        )
    check_size(size, where, most)
    return piece


def check_columns(count: int, where: str) -> None:
    """Refuse a table that is too wide for one of texts or scores."""
    if count > _MOST_COLUMNS:
        raise BadInput(
            f"there are more than {_MOST_COLUMNS:,} columns",
            code="file.too-many-columns",
            where=where,
        )


def refusal(error: Exception) -> str:
    """The system's reason for a failed write; Polars wraps it in an error of its own."""
    if isinstance(error, OSError) and error.strerror:
        return error.strerror
    number = re.search(r"os error (\d+)", str(error))
    if number:
        return os.strerror(int(number[1]))
    return type(error).__name__


def counted(number: int, noun: str) -> str:
    """A number with its noun: "1 text", "2,000 texts"."""
    plural = "" if number == 1 else "s"
    return f"{number:,} {noun}{plural}"


def neighbours(name: str, names: Iterable[str]) -> str:
    """Suggest up to three similar names, or nothing: a folder may hold thousands."""
    similar = get_close_matches(name, sorted(names), n=3, cutoff=_SIMILAR)
    if not similar:
        return ""
    quoted = " or ".join(f"'{suggestion}'" for suggestion in similar)
    return f"did you mean {quoted}?"


def nearest(name: str, names: Iterable[str]) -> str:
    """Suggest the most similar name, and list the known ones."""
    known_names = sorted(names)
    listed = ", ".join(known_names[:_MOST_LISTED])
    unlisted = len(known_names) - _MOST_LISTED
    if unlisted > 0:
        listed += f" and {unlisted} more"

    similar = get_close_matches(name, known_names, n=1, cutoff=_SIMILAR)
    if similar:
        return f"did you mean '{similar[0]}'? (known: {listed})"
    return listed or "nothing"
