"""What the papers printed: the tables of the folder `published`, marked where a paper contradicts itself."""

import csv
from collections.abc import Mapping
from functools import cache
from pathlib import Path

PUBLISHED = Path(__file__).with_name("published")
MARK = "†"


@cache
def published(name: str) -> tuple[dict[str, str], ...]:
    """The rows of a published table by its file name, such as "deck-table-4"."""
    with (PUBLISHED / f"{name}.csv").open(encoding="utf-8", newline="") as file:
        return tuple(csv.DictReader(file))


def marked(row: Mapping[str, str], column: str = "value") -> str:
    """A figure as printed, with a mark where its paper contradicts it."""
    return row[column] + (MARK if row["mark"] else "")
