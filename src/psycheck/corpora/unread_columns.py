"""Which columns of a file stay behind when the corpus that is read from it is written anew."""

from collections.abc import Sequence
from pathlib import Path

from psycheck.corpora.columns import Columns, assign
from psycheck.corpora.labels import shown
from psycheck.corpora.tables import read_table
from psycheck.errors import counted

_MOST_NAMED = 20


def left_behind(path: str | Path, columns: Columns) -> tuple[str, ...]:
    """The columns of a file that have no role in the corpus that is read from it, in their order."""
    table = read_table(Path(path))
    roles = assign(table, columns)
    taken = {roles.text, roles.id, *roles.plain.values(), *roles.groups, *(name for name, _ in roles.labels)}
    return tuple(name for name in (*table.columns, *table.unread) if name not in taken)


def named(columns: Sequence[str]) -> list[str]:
    """The names of columns as far as they can be shown: without a header a text may stand in their place."""
    return [column for column in columns if shown(column)]


def left_behind_note(columns: Sequence[str]) -> str:
    """Say which columns stay behind and how they come along."""
    names = [f"'{name}'" for name in named(columns)[:_MOST_NAMED]]
    if others := len(columns) - len(names):
        names.append(counted(others, "other") if names else "with long names")
    verb = "is" if len(columns) == 1 else "are"
    said = (
        f"{counted(len(columns), 'column')} of the file {verb} not read, and not written: {', '.join(names)}"
    )
    return f"{said} (--label or --group takes a column along)"
