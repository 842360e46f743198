"""Write a corpus so that reading it gives the same corpus."""

import csv
import json
from collections.abc import Iterable, Iterator
from pathlib import Path

import polars as pl

from psycheck.corpora.columns import Columns, assign
from psycheck.corpora.tables import Table
from psycheck.corpus import GROUP, LABEL, PLAIN, Corpus
from psycheck.errors import BadInput, StoreFailure

WRITTEN = (".csv", ".jsonl", ".parquet")
_LONGEST_GROUP = 80  # reading takes nothing longer for the name of a group


def write_corpus(corpus: Corpus, path: str | Path) -> Columns:
    """Write a corpus as CSV, JSON lines or Parquet, by its name, whole or not at all.

    The columns are called as in the corpus. What is returned names them for `read_corpus`, which reads an
    equal corpus back by it; where all of them have usual names, it does so without. Only a group with names
    of more than 80 characters, which reading refuses, is in the file but not among the columns.
    """
    path = Path(path)
    if path.suffix not in WRITTEN:
        raise BadInput(f"cannot write '{path.suffix}' files", where=str(path), allowed=", ".join(WRITTEN))
    table, columns = _named(corpus)
    _refuse_unreadable(table, columns, path)
    part = path.with_name(path.name + ".part")
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        try:
            _write(table, part, path.suffix)
            part.replace(path)
        finally:
            part.unlink(missing_ok=True)
    except OSError as error:
        raise StoreFailure(
            f"the corpus cannot be written ({error.strerror or type(error).__name__})",
            where=str(path),
            allowed="a folder with free space that you may write to",
        ) from error
    return columns


def guessed_alike(corpus: Corpus, columns: Columns) -> bool:
    """Whether reading finds the columns of a written corpus by their names alone."""
    table, _ = _named(corpus)
    held: dict[str, list[object]] = {name: table[name].to_list() for name in table.columns}
    try:
        roles = assign(Table(Path(), held), Columns())
    except BadInput:
        return False
    plain = {role: name for role in PLAIN if (name := getattr(columns, role))}
    labels = tuple(column for column, _ in roles.labels)
    return (roles.text, roles.id, roles.plain, roles.groups, labels) == (
        columns.text,
        columns.id,
        plain,
        columns.groups,
        columns.labels,
    )


def _named(corpus: Corpus) -> tuple[pl.DataFrame, Columns]:
    """The table under the names it has in a file; labels and groups lose their prefix where they can.

    A group keeps its name whatever else is called so, because reading cannot rename it.
    """
    names = {GROUP + group: group for group in corpus.groups}
    taken = set(names.values())
    for plain in ("id", "text", *PLAIN):
        if plain in corpus.table.columns:
            names[plain] = _free(plain, taken)
    for label in corpus.labels:
        names[LABEL + label] = _free(label, taken)
    order = ["id", "text", *(c for c in corpus.table.columns if c not in ("id", "text"))]
    labels = tuple(
        label if names[LABEL + label] == label else f"{names[LABEL + label]}={label}"
        for label in corpus.labels
    )
    columns = Columns(
        text=names["text"],
        id=names["id"],
        labels=labels,
        author=names.get("author"),
        time=names.get("time"),
        split=names.get("split"),
        groups=tuple(group for group in corpus.groups if _short(corpus.table[GROUP + group])),
    )
    return corpus.table.select(order).rename(names), columns


def _short(names: pl.Series) -> bool:
    longest = names.str.len_chars().max()
    return not isinstance(longest, int) or longest <= _LONGEST_GROUP


def _free(name: str, taken: set[str]) -> str:
    while name in taken:
        name += "_"
    taken.add(name)
    return name


def _refuse_unreadable(table: pl.DataFrame, columns: Columns, path: Path) -> None:
    """Refuse what reading would leave out: blank ids and texts."""
    for role, column in (("text", columns.text), ("id", columns.id)):
        blank = int((table[column or role].str.strip_chars() == "").sum())
        if blank:
            raise BadInput(
                f"{blank} of the {role}s are blank",
                where=str(path),
                allowed="no blank ids or texts",
                do="clean the corpus first: the step 'spaces' drops empty texts",
            )


def _write(table: pl.DataFrame, part: Path, kind: str) -> None:
    if kind == ".parquet":
        table.write_parquet(part)
        return
    with part.open("w", encoding="utf-8", newline="") as file:
        if kind == ".csv":
            writer = csv.writer(file, lineterminator="\n", quoting=csv.QUOTE_ALL)
            writer.writerow(table.columns)
            writer.writerows(_cells(table.iter_rows()))
        else:
            for row in table.iter_rows(named=True):
                file.write(json.dumps(row, ensure_ascii=False) + "\n")


def _cells(rows: Iterable[tuple[object, ...]]) -> Iterator[list[object]]:
    for row in rows:
        yield ["" if cell is None else cell for cell in row]
