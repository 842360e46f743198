"""A file format: cells between pipes, the first line names the columns."""

from pathlib import Path

from psycheck.io.formats import Format
from psycheck.io.tables import Table


def read_pipes(path: Path) -> Table:
    """The table of a file."""
    names, *rows = [line.split("|") for line in path.read_text("utf-8").splitlines()]
    columns = {name: [row[place] for row in rows] for place, name in enumerate(names)}
    return Table(path, columns)


PIPES = Format(name="pipes", title="Pipes", endings=(".pipes",), read=read_pipes)
