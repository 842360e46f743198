"""The files of a release: found, read and checked, or one error that says what is wrong and whom to ask."""

import json
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from fnmatch import fnmatchcase
from pathlib import Path
from typing import TYPE_CHECKING, Any

from psycheck.corpora.columns import split_name
from psycheck.corpora.labels import number_in
from psycheck.corpora.tables import Table, read_table
from psycheck.corpus import PLAIN, Corpus
from psycheck.errors import BadInput
from psycheck.files.streams import Lines, json_values, refuse_half_characters

if TYPE_CHECKING:
    from psycheck.corpora.known.open import Known

_GENDERS = dict.fromkeys(("f", "female", "woman"), "female") | dict.fromkeys(("m", "male", "man"), "male")
_LARGEST = 4 * 2**30


@dataclass(frozen=True, slots=True)
class Item:
    """One text of a known corpus; a label that is None, or not named, is not annotated."""

    id: str
    text: str
    labels: Mapping[str, float | None]
    author: str | None = None
    time: str | None = None
    split: str | None = None
    groups: Mapping[str, str | None] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Loaded:
    """What a loader found: the texts, what it left out and why, and what a reader should know."""

    items: Sequence[Item]
    left_out: Mapping[str, int] = field(default_factory=dict)
    notes: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Release:
    """One corpus of the catalogue as it lies on a user's disk: a folder, or a file of it."""

    known: "Known"
    path: Path
    layout: Mapping[str, Any] = field(default_factory=dict)

    def files(self, *patterns: str) -> list[Path]:
        """The files that match one of the patterns, in the folder or, if there is none, below it, sorted.

        Case does not count, - and _ are the same, and .gz or .zst may follow. Hidden files are skipped.
        """
        if self.path.is_file():
            return [self.path] if _matches(self.path, patterns) else []
        if not self.path.is_dir():
            raise self.wrong("there is nothing at this path", str(self.path))
        for found in (self.path.glob("*"), self.path.rglob("*")):
            if hits := sorted(p for p in found if _matches(p, patterns) and p.is_file()):
                return hits
        return []

    def file(self, *patterns: str) -> Path:
        """The file that matches the first pattern that any does; an error if none or several do."""
        for pattern in patterns:
            hits = self.files(pattern)
            if len(hits) > 1:
                names = ", ".join(str(p.relative_to(self.path)) for p in hits[:5])
                raise self.wrong(f"several files match '{pattern}': {names}", str(self.path))
            if hits:
                return hits[0]
        raise self.missing(patterns[0])

    def table(self, path: Path, *needed: str | tuple[str, ...], format: str | None = None) -> "Sheet":
        """Read a table that must have some columns; a tuple names the spellings of one."""
        sheet = Sheet(self, read_table(path, format))
        for column in needed:
            sheet.column(*((column,) if isinstance(column, str) else column))
        return sheet

    def json(self, path: Path) -> Any:
        """Read a file that holds one JSON value."""
        try:
            value = json.loads(self.content(path).decode("utf-8-sig"))
        except (ValueError, RecursionError) as error:
            at = f", line {error.lineno}" if isinstance(error, json.JSONDecodeError) else ""
            raise self.wrong(f"the file is not valid JSON ({type(error).__name__})", f"{path}{at}") from None
        refuse_half_characters(value, str(path))
        return value

    def content(self, path: Path) -> bytes:
        """The bytes of a file that is read at once."""
        try:
            if path.stat().st_size <= _LARGEST:
                return path.read_bytes()
        except OSError as error:
            raise self.wrong(f"the file cannot be read ({error.strerror})", str(path)) from None
        raise self.wrong(f"the file is larger than {_LARGEST // 2**30} GiB", str(path))

    def json_lines(self, path: Path) -> Iterator[tuple[str, Any]]:
        """The values of a file with one JSON value per line, each with its place."""
        lines = Lines(path, row=1)
        try:
            for value in json_values(lines, objects=False):
                yield lines.where(), value
        except BadInput as error:
            raise self.wrong(error.what, error.where) from None

    def missing(self, name: str) -> BadInput:
        """Say which file is not there and where to get it."""
        return self.wrong(f"the file '{name}' is missing", str(self.path))

    def wrong(self, what: str, where: str) -> BadInput:
        """Say what is wrong with a file of this corpus, what the release holds, and where to get it."""
        return BadInput(
            f"{self.known.title}: {what}",
            where=where,
            allowed=f"as released: {'; '.join(self.known.files)}",
            do=f"get the corpus from its owners: {self.known.apply}",
        )


@dataclass(frozen=True, slots=True)
class Sheet:
    """A table of a release, whose columns are found whatever their case."""

    release: Release
    table: Table

    def __len__(self) -> int:
        return len(self.table)

    def column(self, *names: str) -> str:
        """The column that is called by one of the names, the first of them first."""
        found = self.find(*names)
        if found is None:
            raise self.release.wrong(f"there is no column '{names[0]}'", str(self.table.path))
        return found

    def find(self, *names: str) -> str | None:
        """The column that is called by one of the names, if there is one."""
        known = {column.strip().casefold(): column for column in self.table.columns}
        return next((known[name.casefold()] for name in names if name.casefold() in known), None)

    def words(self, *names: str) -> list[str | None]:
        """A column as strings, None where a cell is empty; None throughout if there is no such column."""
        column = self.find(*names)
        return [None] * len(self) if column is None else [_word(cell) for cell in self.table.columns[column]]

    def texts(self, *names: str) -> list[str]:
        """A column of texts as they stand in the file; an empty cell is an empty text."""
        cells = self.table.columns[self.column(*names)]
        return [cell if isinstance(cell, str) else _word(cell) or "" for cell in cells]

    def keys(self, *names: str) -> list[str]:
        """A column of ids, none of them empty; 300.0 is 300."""
        column = self.column(*names)
        words = self.words(column)
        if None in words:
            raise self.release.wrong("the id is empty", self.table.where(words.index(None), column))
        return [word.removesuffix(".0") for word in words if word is not None]

    def marks(self, *names: str, unknown: Sequence[str] = ()) -> list[float | None]:
        """A column of numbers in 0..1; None where a cell is empty or says one of `unknown`."""
        column = self.column(*names)
        words = [None if word in unknown else word for word in self.words(column)]
        marks = [None if word is None else number_in(word) for word in words]
        for index, (word, mark) in enumerate(zip(words, marks, strict=True)):
            if word is not None and (mark is None or not 0 <= mark <= 1):
                what = "the label must be a number from 0 to 1"
                raise self.release.wrong(what, self.table.where(index, column))
        return marks


def load_table(release: Release) -> Loaded:
    """One text per row of each table, with the split of its file, as its catalogue entry says."""
    layout = release.layout
    for folder in layout.get("folders", ()):
        home = release.path / folder
        if all((home / patterns[0]).is_file() for patterns in layout["files"].values()):
            release = replace(release, path=home)
            break
    items: list[Item] = []
    for split, patterns in layout["files"].items():
        found = release.files(*patterns)
        if not layout.get("several") and not release.path.is_file():
            found = [release.file(*patterns)]
        for path in found:
            items += _rows(release.table(path, layout["text"], *layout.get("needed", ())), layout, split)
        if found and release.path.is_file():
            break
    if not items:
        raise release.missing(next(iter(layout["files"].values()))[0])
    return Loaded(items)


def _rows(sheet: Sheet, layout: Mapping[str, Any], part: str) -> list[Item]:
    """One item per row; the part "whole" has no split, or a column of splits."""
    columns = layout["labels"]
    if "no_labels" in layout:
        spelled = {label: columns.get(label, [label]) for label in sheet.release.known.labels}
        columns = {label: names for label, names in spelled.items() if sheet.find(*names)}
        if not columns.keys() - set(layout["besides"]):
            raise sheet.release.wrong(layout["no_labels"], str(sheet.table.path))
    unknown = layout.get("unknown", ())
    labels = {label: sheet.marks(*names, unknown=unknown) for label, names in columns.items()}
    groups = {group: sheet.words(column) for group, column in layout.get("groups", {}).items()}
    ids, authors, times = (sheet.words(*layout.get(role, ())) for role in ("id", "author", "time"))
    if "id_parts" in layout:
        places = zip(*(sheet.words(column) for column in layout["id_parts"]), strict=True)
        ids = ["-".join(filter(None, place)) if all(place) else None for place in places]
    splits = sheet.words("split") if part == "whole" else [part] * len(sheet)
    prefix = "" if part == "whole" else f"{part}-"
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


def gather(name: str, loaded: Loaded) -> Corpus:
    """One corpus of all items; columns that no item fills are left out, an id that repeats is numbered."""
    items = loaded.items
    labels = dict.fromkeys(label for item in items for label in item.labels)
    groups = dict.fromkeys(group for item in items for group in item.groups)

    plain: dict[str, Any] = {role: [getattr(item, role) for item in items] for role in PLAIN}
    corpus = Corpus.of(
        name,
        [item.text for item in items],
        ids=_distinct(item.id for item in items),
        labels={label: [item.labels.get(label) for item in items] for label in labels},
        groups={group: [item.groups.get(group) for item in items] for group in groups},
        **{role: values for role, values in plain.items() if set(values) - {None}},
    )
    return replace(corpus, left_out={why: n for why, n in loaded.left_out.items() if n}, notes=loaded.notes)


def gender(word: str | None) -> str | None:
    """A gender as the corpora of psycheck write it; None where it is not known."""
    return None if word is None else _GENDERS.get(word.strip().casefold())


def joined(*parts: str | None) -> str:
    """A title and what follows it as one text, without what is empty."""
    return "\n".join(part.strip() for part in parts if part and part.strip())


def _distinct(ids: Iterable[str]) -> list[str]:
    seen: Counter[str] = Counter()
    taken: dict[str, None] = {}
    for one in ids:
        seen[one] += 1
        new = one if seen[one] == 1 else f"{one}~{seen[one]}"
        while new in taken:
            new += "~"
        taken[new] = None
    return list(taken)


def _matches(path: Path, patterns: Sequence[str]) -> bool:
    name = path.name.lower().replace("_", "-").removesuffix(".gz").removesuffix(".zst")
    alike = (fnmatchcase(name, pattern.lower().replace("_", "-")) for pattern in patterns)
    return not name.startswith(".") and any(alike)


def _word(cell: object) -> str | None:
    """A cell as a string; a cell of lists or records has none."""
    return None if cell is None or isinstance(cell, list | dict) else str(cell).strip() or None
