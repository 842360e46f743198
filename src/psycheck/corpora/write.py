"""Write a corpus so that reading it gives the same corpus."""

import csv
import json
from collections.abc import Iterator
from pathlib import Path
from tempfile import TemporaryFile

import polars as pl
from zstandard import ZstdCompressor

from psycheck.corpora.columns import LONGEST_GROUP, Columns, assign
from psycheck.corpora.tables import Table
from psycheck.corpus import GROUP, LABEL, PLAIN, Corpus
from psycheck.errors import BadInput, StoreFailure, refusal

WRITTEN = (".csv", ".jsonl", ".jsonl.zst", ".parquet")


def write_corpus(corpus: Corpus, path: str | Path) -> Columns:
    """Write a corpus as CSV, JSON lines (also compressed with zstd) or Parquet, by the file's extension.

    The file is written whole or not at all. `read_corpus` reads an equal corpus back without options: where
    the names alone would not do, labels and groups are called `label:NAME` and `group:NAME`; the returned
    columns name them. Only a group with names of more than 80 characters is not read back.
    """
    path = Path(path)
    kind = refuse_kind(path)
    table, columns = _named(corpus)
    _refuse_unreadable(table, columns, path)
    part = path.with_name(path.name + ".part")
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        try:
            _write(table, part, kind)
            part.replace(path)
        finally:
            part.unlink(missing_ok=True)
    except (OSError, pl.exceptions.ComputeError) as error:
        raise StoreFailure(
            f"the corpus cannot be written ({refusal(error)})",
            where=str(path),
            allowed="a folder with free space that you may write to",
        ) from error
    return columns


def refuse_kind(path: Path) -> str:
    """The extension that tells the format to write; an error for any other, before a verb begins its work."""
    for kind in WRITTEN:
        if path.name.endswith(kind):
            return kind
    raise BadInput(f"cannot write '{path.suffix}' files", where=str(path), allowed=", ".join(WRITTEN))


def guessed_alike(corpus: Corpus, columns: Columns) -> bool:
    """Whether reading finds the columns of a written corpus by their names alone."""
    table, _ = _named(corpus)
    return _guessed(table, columns)


def _guessed(table: pl.DataFrame, columns: Columns) -> bool:
    """Whether reading finds these columns in a table by itself, with its types and as a CSV file."""
    held: dict[str, list[object]] = {name: table[name].to_list() for name in table.columns}
    as_csv: dict[str, list[object]] = {
        name: ["" if cell is None else str(cell) for cell in cells] for name, cells in held.items()
    }
    wanted = {role: name for role in PLAIN if (name := getattr(columns, role))}
    for cells in (held, as_csv):
        try:
            roles = assign(Table(Path(), cells), Columns())
        except BadInput:
            return False
        labels = tuple(column for column, _ in roles.labels)
        found = (roles.text, roles.id, roles.plain, roles.groups, labels)
        if found != (columns.text, columns.id, wanted, columns.groups, columns.labels):
            return False
    return True


def _named(corpus: Corpus) -> tuple[pl.DataFrame, Columns]:
    """The table under the names it has in a file.

    Labels and groups lose their prefix where reading finds them without it, and keep it all otherwise.
    """
    order = ["id", "text", *(c for c in corpus.table.columns if c not in ("id", "text"))]
    table = corpus.table.select(order)
    names = {LABEL + label: label for label in corpus.labels} | {GROUP + name: name for name in corpus.groups}
    if len({*table.columns, *names.values()}) == len(table.columns) + len(names):
        plain = table.rename(names)
        if _guessed(plain, columns := _columns(corpus, "", "")):
            return plain, columns
    return table, _columns(corpus, LABEL, GROUP)


def _columns(corpus: Corpus, label: str, group: str) -> Columns:
    author, time, split = (role if role in corpus.table.columns else None for role in PLAIN)
    return Columns(
        text="text",
        id="id",
        labels=tuple(label + name for name in corpus.labels),
        author=author,
        time=time,
        split=split,
        groups=tuple(group + name for name in corpus.groups if _short(corpus.table[GROUP + name])),
    )


def _short(names: pl.Series) -> bool:
    longest = names.str.len_chars().max()
    return not isinstance(longest, int) or longest <= LONGEST_GROUP


def _refuse_unreadable(table: pl.DataFrame, columns: Columns, path: Path) -> None:
    """Refuse what reading would drop or refuse: blank ids and texts, and duplicate ids."""
    for role, column in (("text", columns.text), ("id", columns.id)):
        blank = int((table[column or role].str.strip_chars() == "").sum())
        if blank:
            raise BadInput(
                f"{blank} of the {role}s are blank",
                where=str(path),
                allowed="no blank ids or texts",
                do="clean the corpus first: the step 'spaces' drops empty texts",
            )
    if repeated := len(table) - table[columns.id or "id"].n_unique():
        raise BadInput(
            f"{repeated} of the ids repeat another",
            where=str(path),
            allowed="one id per text",
            do="give each text its own id",
        )


def _write(table: pl.DataFrame, part: Path, kind: str) -> None:
    if kind == ".parquet":
        table.write_parquet(part)
    elif kind == ".jsonl.zst":
        with TemporaryFile(dir=part.parent) as plain, part.open("wb") as packed:
            plain.writelines(line.encode() for line in _json_lines(table))
            plain.seek(0)
            ZstdCompressor(level=10).copy_stream(plain, packed)
    else:
        with part.open("w", encoding="utf-8", newline="") as file:
            if kind == ".jsonl":
                file.writelines(_json_lines(table))
                return
            writer = csv.writer(file, lineterminator="\n", quoting=csv.QUOTE_ALL)
            writer.writerow(table.columns)
            writer.writerows(["" if cell is None else cell for cell in row] for row in table.iter_rows())


def _json_lines(table: pl.DataFrame) -> Iterator[str]:
    return (json.dumps(row, ensure_ascii=False) + "\n" for row in table.iter_rows(named=True))
