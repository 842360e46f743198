"""The files of a release: found, read and checked, or one error that says what is wrong and whom to ask."""

import json
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from fnmatch import fnmatchcase
from itertools import chain
from pathlib import Path
from typing import TYPE_CHECKING, Any

from psycheck.core.corpus import PLAIN, Corpus
from psycheck.core.errors import BadInput
from psycheck.corpora.label_values import number_in
from psycheck.io.json_lines import json_values, refuse_half_characters
from psycheck.io.streams import Lines
from psycheck.io.tables import Table, read_table

if TYPE_CHECKING:
    from psycheck.corpora.known.opening import Known

_GENDERS = dict.fromkeys(("f", "female", "woman"), "female") | dict.fromkeys(("m", "male", "man"), "male")
_LARGEST = 4 * 2**30  # bytes of a file that is read at once; a larger one would fill the memory


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
            if _matches(self.path, patterns):
                return [self.path]
            return []
        if not self.path.is_dir():
            raise self.wrong("there is nothing at this path", str(self.path), code="release.no-such-path")

        # The folder itself first: a file of the same name further down may be an older copy.
        in_folder = _matching_files(self.path.glob("*"), patterns)
        return in_folder or _matching_files(self.path.rglob("*"), patterns)

    def file(self, *patterns: str) -> Path:
        """The file that matches the first pattern that any does; an error if none or several do."""
        for pattern in patterns:
            matches = self.files(pattern)
            if len(matches) > 1:
                names = ", ".join(str(path.relative_to(self.path)) for path in matches[:5])
                raise self.wrong(
                    f"several files match '{pattern}': {names}",
                    str(self.path),
                    code="release.several-files",
                )
            if matches:
                return matches[0]
        raise self.missing(patterns[0])

    def table(self, path: Path, *needed: str | tuple[str, ...], format: str | None = None) -> "Sheet":
        """Read a table that must have some columns; a tuple names the spellings of one."""
        sheet = Sheet(self, read_table(path, format))
        for column in needed:
            spellings = (column,) if isinstance(column, str) else column
            sheet.column(*spellings)
        return sheet

    def json(self, path: Path) -> Any:
        """Read a file that holds one JSON value."""
        try:
            value = json.loads(self.content(path).decode("utf-8-sig"))
        except (ValueError, RecursionError) as error:
            where = str(path)
            if isinstance(error, json.JSONDecodeError):
                where += f", line {error.lineno}"
            # Only the type of the error: its message may quote a text.
            raise self.wrong(
                f"the file is not valid JSON ({type(error).__name__})",
                where,
                code="release.not-json",
            ) from None
        refuse_half_characters(value, str(path))
        return value

    def content(self, path: Path) -> bytes:
        """The bytes of a file that is read at once."""
        try:
            if path.stat().st_size <= _LARGEST:
                return path.read_bytes()
        except OSError as error:
            raise self.wrong(
                f"the file cannot be read ({error.strerror})",
                str(path),
                code="release.unreadable-file",
            ) from None
        raise self.wrong(
            f"the file is larger than {_LARGEST // 2**30} GiB",
            str(path),
            code="release.too-large-file",
        )

    def json_lines(self, path: Path) -> Iterator[tuple[str, Any]]:
        """The values of a file with one JSON value per line, each with its place."""
        lines = Lines(path, row=1)
        try:
            for value in json_values(lines, objects=False):
                yield lines.where(), value
        except BadInput as error:
            raise self.wrong(error.what, error.where, code=error.code or "release.unreadable-lines") from None

    def missing(self, name: str) -> BadInput:
        """Say which file is not there and where to get it."""
        return self.wrong(f"the file '{name}' is missing", str(self.path), code="release.missing-file")

    def wrong(self, what: str, where: str, *, code: str) -> BadInput:
        """Say what is wrong with a file of this corpus, what the release holds, and where to get it."""
        return BadInput(
            what=f"{self.known.title}: {what}",
            code=code,
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
        column = self.find(*names)
        if column is None:
            raise self.release.wrong(
                f"there is no column '{names[0]}'",
                str(self.table.path),
                code="release.missing-column",
            )
        return column

    def find(self, *names: str) -> str | None:
        """The column that is called by one of the names, if there is one."""
        columns = {column.strip().casefold(): column for column in self.table.columns}
        for name in names:
            key = name.strip().casefold()
            if key in columns:
                return columns[key]
        return None

    def words(self, *names: str) -> list[str | None]:
        """A column as strings, None where a cell is empty; None throughout if there is no such column."""
        column = self.find(*names)
        if column is None:
            return [None] * len(self)
        return [_word(cell) for cell in self.table.columns[column]]

    def texts(self, *names: str) -> list[str]:
        """A column of texts as they stand in the file; an empty cell is an empty text."""
        # A text keeps its white space, which `_word` would strip.
        texts = []
        for cell in self.table.columns[self.column(*names)]:
            text = cell if isinstance(cell, str) else _word(cell)
            texts.append(text or "")
        return texts

    def keys(self, *names: str) -> list[str]:
        """A column of ids, none of them empty; 300.0 is 300."""
        column = self.column(*names)
        words = self.words(column)
        if None in words:
            raise self.release.wrong(
                "the id is empty",
                self.table.where(words.index(None), column),
                code="release.empty-id",
            )
        # pandas writes the id 300 as 300.0 if another cell of the column is empty.
        return [word.removesuffix(".0") for word in words if word is not None]

    def marks(self, *names: str, unknown: Sequence[str] = ()) -> list[float | None]:
        """A column of numbers in 0..1; None where a cell is empty or says one of `unknown`."""
        column = self.column(*names)
        marks: list[float | None] = []
        for index, word in enumerate(self.words(column)):
            if word is None or word in unknown:
                marks.append(None)
                continue
            mark = number_in(word)
            if mark is None or not 0 <= mark <= 1:
                raise self.release.wrong(
                    "the label must be a number from 0 to 1",
                    self.table.where(index, column),
                    code="release.label-outside-0-1",
                )
            marks.append(mark)
        return marks


def gather(name: str, loaded: Loaded) -> Corpus:
    """One corpus of all items; columns that no item fills are left out, an id that repeats is numbered."""
    items = loaded.items
    # Dictionaries as ordered sets: labels keep the order in which the items name them.
    label_names = dict.fromkeys(chain.from_iterable(item.labels for item in items))
    group_names = dict.fromkeys(chain.from_iterable(item.groups for item in items))

    labels = {}
    for label in label_names:
        labels[label] = [item.labels.get(label) for item in items]
    groups = {}
    for group in group_names:
        groups[group] = [item.groups.get(group) for item in items]

    corpus = Corpus.of(
        name,
        [item.text for item in items],
        ids=_distinct(item.id for item in items),
        labels=labels,
        groups=groups,
        **_plain_columns(items),
    )
    left_out = {reason: texts for reason, texts in loaded.left_out.items() if texts}
    return replace(corpus, left_out=left_out, notes=loaded.notes)


def _plain_columns(items: Sequence[Item]) -> dict[str, Any]:
    """The authors, times and splits of the items, those of them that any item has."""
    columns = {}
    for role in PLAIN:
        values = [getattr(item, role) for item in items]
        if any(value is not None for value in values):
            columns[role] = values
    return columns


def gender(word: str | None) -> str | None:
    """A gender as the corpora of psycheck write it; None where it is not known."""
    if word is None:
        return None
    return _GENDERS.get(word.strip().casefold())


def joined(*parts: str | None) -> str:
    """A title and what follows it as one text, without what is empty."""
    return "\n".join(part.strip() for part in parts if part and part.strip())


def _distinct(ids: Iterable[str]) -> list[str]:
    """The ids; one that repeats gets its number after a tilde, and further tildes while that is taken."""
    repetitions: Counter[str] = Counter()
    distinct: dict[str, None] = {}
    for id_ in ids:
        repetitions[id_] += 1
        new_id = id_
        if repetitions[id_] > 1:
            new_id = f"{id_}~{repetitions[id_]}"
        # The release may itself have an id such as "7~2".
        while new_id in distinct:
            new_id += "~"
        distinct[new_id] = None
    return list(distinct)


def _matching_files(paths: Iterable[Path], patterns: Sequence[str]) -> list[Path]:
    return sorted(path for path in paths if _matches(path, patterns) and path.is_file())


def _matches(path: Path, patterns: Sequence[str]) -> bool:
    """Whether a file's name matches a pattern, whatever its case, hyphens and compression."""
    name = path.name.lower().replace("_", "-").removesuffix(".gz").removesuffix(".zst")
    # macOS leaves "._table.csv" beside a table that was copied from an archive.
    if name.startswith("."):
        return False
    spelled_alike = [pattern.lower().replace("_", "-") for pattern in patterns]
    return any(fnmatchcase(name, pattern) for pattern in spelled_alike)


def _word(cell: object) -> str | None:
    """A cell as a string; a cell of lists or records has none."""
    if cell is None or isinstance(cell, list | dict):
        return None
    return str(cell).strip() or None
