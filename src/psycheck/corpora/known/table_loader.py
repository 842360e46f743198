"""The loader of corpora that are released as plain tables: one text per row, as the catalogue entry says."""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

from psycheck.corpora.columns import split_name
from psycheck.corpora.known.release import Item, Loaded, Release, Sheet


def load_table(release: Release) -> Loaded:
    """One text per row of each table, with the split of its file, as its catalogue entry says."""
    layout = release.layout
    release = _in_its_folder(release)
    items: list[Item] = []
    for split, patterns in layout["files"].items():
        if release.path.is_file() or layout.get("several"):
            paths = release.files(*patterns)
        else:
            paths = [release.file(*patterns)]

        for path in paths:
            sheet = release.table(path, layout["text"], *layout.get("needed", ()))
            items += _rows(sheet, layout, split)
        # A single file belongs to the first split whose pattern it matches.
        if paths and release.path.is_file():
            break

    if not items:
        first_patterns = next(iter(layout["files"].values()))
        raise release.missing(first_patterns[0])
    return Loaded(items)


def _in_its_folder(release: Release) -> Release:
    """The release in the first of the folders that the layout names that holds all its files."""
    first_names = [patterns[0] for patterns in release.layout["files"].values()]
    for folder in release.layout.get("folders", ()):
        home = release.path / folder
        if all((home / name).is_file() for name in first_names):
            return replace(release, path=home)
    return release


def _rows(sheet: Sheet, layout: Mapping[str, Any], part: str) -> list[Item]:
    """One item per row; the part "whole" has no split, or a column of splits."""
    unknown = layout.get("unknown", ())
    labels = {}
    for label, spellings in _label_columns(sheet, layout).items():
        labels[label] = sheet.marks(*spellings, unknown=unknown)
    groups = {}
    for group, column in layout.get("groups", {}).items():
        groups[group] = sheet.words(column)
    ids = _row_ids(sheet, layout)
    authors = sheet.words(*layout.get("author", ()))
    times = sheet.words(*layout.get("time", ()))

    # Tables of several splits often number their rows from 1 each: the split keeps their ids apart.
    splits: Sequence[str | None] = [part] * len(sheet)
    prefix = f"{part}-"
    if part == "whole":
        splits = sheet.words("split")
        prefix = ""

    items = []
    for row, text in enumerate(sheet.texts(layout["text"])):
        split = splits[row]
        items.append(
            Item(
                id=f"{prefix}{ids[row] or row + 1}",
                text=text,
                labels={label: marks[row] for label, marks in labels.items()},
                author=authors[row],
                time=times[row],
                split=split_name(split) if split else None,
                groups={group: members[row] for group, members in groups.items()},
            )
        )
    return items


def _label_columns(sheet: Sheet, layout: Mapping[str, Any]) -> Mapping[str, Sequence[str]]:
    """The spellings of the column of each label.

    A layout with `no_labels` (an error message) reads those labels of the catalogue that the table has; it
    must have one other than `besides`.
    """
    columns: Mapping[str, Sequence[str]] = layout["labels"]
    if "no_labels" not in layout:
        return columns

    present: dict[str, Sequence[str]] = {}
    for label in sheet.release.known.labels:
        spellings = columns.get(label, [label])
        if sheet.find(*spellings):
            present[label] = spellings
    if not present.keys() - set(layout["besides"]):
        raise sheet.release.wrong(layout["no_labels"], str(sheet.table.path), code="release.no-labels")
    return present


def _row_ids(sheet: Sheet, layout: Mapping[str, Any]) -> list[str | None]:
    """The id of each row, from one column or joined from several; None where a part of it is empty."""
    if "id_parts" not in layout:
        return sheet.words(*layout.get("id", ()))
    columns = [sheet.words(column) for column in layout["id_parts"]]
    ids: list[str | None] = []
    for parts in zip(*columns, strict=True):
        present_parts = [part for part in parts if part]
        is_complete = len(present_parts) == len(parts)
        ids.append("-".join(present_parts) if is_complete else None)
    return ids
