"""How a corpus is named on the command line, with the options that say what its columns mean."""

import shlex
from collections.abc import Iterable

from psycheck.corpora.columns import Columns


def options_of(columns: Columns) -> str:
    """The options that name these columns, as they are typed."""
    plain = {"--text": columns.text, "--id": columns.id, "--author": columns.author, "--time": columns.time}
    plain["--split-column"] = columns.split
    said = [(option, name) for option, name in plain.items() if name]
    said += [("--label", label) for label in columns.labels]
    said += [("--positive", value) for value in columns.positive]
    said += [("--group", group) for group in columns.groups]
    return " ".join(f"{option} {shlex.quote(name)}" for option, name in said)


def as_said(path: str, columns: Columns | None = None, split: str | None = None) -> str:
    """A corpus as it is typed after a verb: its path, and the options that it was opened with."""
    parts = [
        shlex.quote(path),
        options_of(columns or Columns()),
        f"--split {shlex.quote(split)}" if split else "",
    ]
    return " ".join(part for part in parts if part)


def without(said: str, options: Iterable[str]) -> str:
    """The same without some options and their values, for a verb that does not know them."""
    words, dropped = shlex.split(said), set(options)
    kept = [
        word for i, word in enumerate(words) if word not in dropped and not (i and words[i - 1] in dropped)
    ]
    return shlex.join(kept)
