"""Write a corpus so that reading it gives the same corpus."""

import csv
import json
from pathlib import Path

import polars as pl
from zstandard import ZstdCompressor

from psycheck.corpora.columns import LONGEST_GROUP, Columns, assign
from psycheck.corpora.labels import first_prose
from psycheck.corpora.tables import Table
from psycheck.corpus import GROUP, LABEL, PLAIN, Corpus
from psycheck.errors import BadInput
from psycheck.files.streams import bad_file
from psycheck.files.write import writing, written

WRITTEN = (".csv", ".jsonl", ".jsonl.zst", ".parquet")


def write_corpus(corpus: Corpus, path: str | Path) -> Columns:
    """Write a corpus as CSV, JSON lines (also compressed with zstd) or Parquet, by the file's extension.

    The file is written whole or not at all. `read_corpus` reads an equal corpus back without options: where
    the names alone would not do, labels and groups are called `label:NAME` and `group:NAME`; the returned
    columns name them. Only a group with names of more than 80 characters is not read back.
    """
    path = Path(path)
    with writing(path), written(path) as part:
        return write_into(part, corpus, path)


def write_into(part: Path, corpus: Corpus, path: Path) -> Columns:
    """Write a corpus in the format of `path` into the file that will become it."""
    kind = refuse_kind(path)
    table, columns = _named(corpus)
    _refuse_unreadable(table, path)
    _write(table, part, kind)
    return columns


def refuse_kind(path: Path) -> str:
    """The extension that tells the format to write; an error for any other, before a verb begins its work."""
    kind = next((kind for kind in WRITTEN if path.name.endswith(kind)), None)
    if kind is None:
        raise bad_file(path, f"cannot write '{path.suffix}' files", allowed=", ".join(WRITTEN))
    return kind


def guessed_alike(corpus: Corpus, columns: Columns) -> bool:
    """Whether reading finds the columns of a written corpus by their names alone."""
    return _guessed(_named(corpus)[0], columns)


def _guessed(table: pl.DataFrame, columns: Columns) -> bool:
    """Whether reading finds these columns in a table by itself, with its types and as a CSV file."""
    held: dict[str, list[object]] = table.to_dict(as_series=False)
    as_csv = {name: ["" if cell is None else str(cell) for cell in cells] for name, cells in held.items()}
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
    table = corpus.table.select("id", "text", pl.exclude("id", "text"))
    # A group with longer names is written, but not read back.
    short = [name for name in corpus.groups if first_prose(table[GROUP + name], LONGEST_GROUP) is None]
    author, time, split = (role if role in table.columns else None for role in PLAIN)

    def columns(label: str, group: str) -> Columns:
        labels = tuple(label + name for name in corpus.labels)
        groups = tuple(group + name for name in short)
        return Columns("text", "id", labels, author, time, split, groups)

    names = {LABEL + label: label for label in corpus.labels} | {GROUP + name: name for name in corpus.groups}
    if len({*table.columns, *names.values()}) == len(table.columns) + len(names):
        plain = table.rename(names)
        if _guessed(plain, columns("", "")):
            return plain, columns("", "")
    return table, columns(LABEL, GROUP)


def _refuse_unreadable(table: pl.DataFrame, path: Path) -> None:
    """Refuse what reading would drop or refuse: blank ids and texts, and duplicate ids."""
    for role in ("text", "id"):
        if blank := int((table[role].str.strip_chars() == "").sum()):
            what = f"{blank} of the {role}s are blank"
            do = "clean the corpus first: the step 'spaces' drops empty texts"
            raise bad_file(path, what, do=do, allowed="no blank ids or texts")
    if repeated := len(table) - table["id"].n_unique():
        what = f"{repeated} of the ids repeat another"
        raise bad_file(path, what, do="give each text its own id", allowed="one id per text")


def _write(table: pl.DataFrame, part: Path, kind: str) -> None:
    lines = (json.dumps(row, ensure_ascii=False) + "\n" for row in table.iter_rows(named=True))
    if kind == ".parquet":
        table.write_parquet(part)
    elif kind == ".jsonl.zst":
        with part.open("wb") as whole, ZstdCompressor(level=10).stream_writer(whole) as packed:
            for line in lines:
                packed.write(line.encode())
    else:
        with part.open("w", encoding="utf-8", newline="") as file:
            if kind == ".jsonl":
                file.writelines(lines)
                return
            writer = csv.writer(file, lineterminator="\n", quoting=csv.QUOTE_ALL)
            writer.writerow(table.columns)
            writer.writerows(["" if cell is None else cell for cell in row] for row in table.iter_rows())
