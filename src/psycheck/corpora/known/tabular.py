"""Known corpora that are tables: `table` of their catalogue entry says which column holds what."""

from collections.abc import Mapping
from typing import Any

from psycheck.corpora.columns import split_name
from psycheck.corpora.known.catalogue import table_layout
from psycheck.corpora.known.release import Item, Loaded, Release, Sheet

WHOLE = "whole"
"""Stands for a split in `files` where the table has no split of its own, or a column of splits."""


def load(release: Release) -> Loaded:
    """One text per row of each table, with the split of its file."""
    layout = table_layout(release.known.name)
    items: list[Item] = []
    for split, patterns in layout["files"].items():
        found = release.files(*patterns)
        if not layout.get("several") and not release.path.is_file():
            found = [release.file(*patterns)]
        for path in found:
            items += _items(release.table(path, layout["text"], *layout.get("needed", ())), layout, split)
    if not items:
        raise release.missing(next(iter(layout["files"].values()))[0])
    return Loaded(items)


def _items(sheet: Sheet, layout: Mapping[str, Any], part: str) -> list[Item]:
    labels = {label: sheet.marks(*columns) for label, columns in layout["labels"].items()}
    groups = {group: sheet.words(column) for group, column in layout.get("groups", {}).items()}
    ids, authors, times = (sheet.words(*layout.get(role, ())) for role in ("id", "author", "time"))
    splits = sheet.words("split") if part == WHOLE else [part] * len(sheet)
    prefix = "" if part == WHOLE else f"{part}-"
    return [
        Item(
            f"{prefix}{ids[row] or row + 1}",
            text,
            {label: marks[row] for label, marks in labels.items()},
            author=authors[row],
            time=times[row],
            split=split_name(split) if (split := splits[row]) else None,
            groups={group: members[row] for group, members in groups.items()},
        )
        for row, text in enumerate(sheet.texts(layout["text"]))
    ]
