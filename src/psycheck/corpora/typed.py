"""How a corpus is typed on the command line, with the options that name its columns."""

import shlex
from collections.abc import Iterable

from psycheck.corpora.columns import Columns


def options_of(columns: Columns) -> str:
    """The options that name these columns, as they are typed."""
    named = {"--text": columns.text, "--id": columns.id, "--author": columns.author, "--time": columns.time}
    named["--split-column"] = columns.split
    pairs = [(option, name) for option, name in named.items() if name]
    pairs += [("--label", label) for label in columns.labels]
    pairs += [("--positive", value) for value in columns.positive]
    pairs += [("--group", group) for group in columns.groups]
    return " ".join(f"{option} {shlex.quote(name)}" for option, name in pairs)


def as_typed(path: str, columns: Columns | None = None, split: str | None = None) -> str:
    """A corpus as it is typed after a verb: its path and the options it was opened with."""
    options = [options_of(columns or Columns()), f"--split {shlex.quote(split)}" if split else ""]
    return " ".join(part for part in (shlex.quote(path), *options) if part)


def without_options(typed: str, options: Iterable[str]) -> str:
    """The same without some options and their values, for a verb that does not have them."""
    words, dropped = shlex.split(typed), set(options)
    return shlex.join(
        word for i, word in enumerate(words) if word not in dropped and not (i and words[i - 1] in dropped)
    )
