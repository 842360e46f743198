"""Write a corpus so that reading it gives the same corpus."""

from collections.abc import Callable, Sequence
from dataclasses import replace
from pathlib import Path

import polars as pl

from psycheck.core.corpus import GROUP, LABEL, PLAIN, Corpus
from psycheck.core.errors import BadInput
from psycheck.core.registry import FORMATS
from psycheck.corpora.columns import LONGEST_GROUP, Columns, assign
from psycheck.corpora.label_values import first_prose
from psycheck.io.streams import bad_file
from psycheck.io.tables import Table
from psycheck.io.writing import writing, written

Writer = Callable[[pl.DataFrame, Path], None]


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
    write = writers()[refuse_kind(path)]
    table, columns = _named_for_a_file(corpus)
    _refuse_unreadable(table, path)
    write(table, part)
    return columns


def writers() -> dict[str, Writer]:
    """How a frame is written, by the ending of the file: of all registered formats that can be written."""
    by_ending: dict[str, Writer] = {}
    for name in FORMATS.names():
        for ending, write in FORMATS.get(name).writers.items():
            by_ending.setdefault(ending, write)
    return by_ending


def refuse_kind(path: Path) -> str:
    """The extension that tells the format to write; an error for any other, before a verb begins its work."""
    endings = list(writers())
    for ending in endings:
        if path.name.endswith(ending):
            return ending
    raise bad_file(
        path=path,
        what=f"cannot write '{path.suffix}' files",
        code="file.cannot-write-ending",
        allowed=", ".join(sorted(endings)),
    )


def guessed_alike(corpus: Corpus, columns: Columns) -> bool:
    """Whether reading finds the columns of a written corpus by their names alone."""
    table, _ = _named_for_a_file(corpus)
    return _is_guessed(table, columns)


def _is_guessed(table: pl.DataFrame, columns: Columns) -> bool:
    """Whether reading finds these columns in a table by itself, with its types and as a CSV file."""
    typed_cells: dict[str, list[object]] = table.to_dict(as_series=False)
    csv_cells: dict[str, list[object]] = {}
    for name, column in typed_cells.items():
        csv_cells[name] = ["" if cell is None else str(cell) for cell in column]

    # Only what names a column of the file.
    expected = replace(columns, positive=())
    # CSV has no types, so a guess may differ: whoever reads the file later may have saved it as CSV.
    for cells in (typed_cells, csv_cells):
        try:
            roles = assign(Table(Path(), cells), Columns())
        except BadInput:
            return False

        labels = [column for column, _ in roles.labels]
        guessed = Columns(
            text=roles.text,
            id=roles.id,
            labels=tuple(labels),
            groups=roles.groups,
            author=roles.plain.get("author"),
            time=roles.plain.get("time"),
            split=roles.plain.get("split"),
        )
        if guessed != expected:
            return False
    return True


def _named_for_a_file(corpus: Corpus) -> tuple[pl.DataFrame, Columns]:
    """The table under the names it has in a file.

    Labels and groups lose their prefix where reading finds them without it, and keep it all otherwise.
    """
    # The id and the text first, where people who open the file look for them.
    table = corpus.table.select("id", "text", pl.exclude("id", "text"))
    # A group with longer names is written, but not read back.
    groups = [name for name in corpus.groups if first_prose(table[GROUP + name], LONGEST_GROUP) is None]

    plain_names = {LABEL + label: label for label in corpus.labels}
    plain_names |= {GROUP + group: group for group in corpus.groups}
    # A label may be called like a group, or like a column: then only the prefix keeps them apart.
    distinct_names = {*table.columns, *plain_names.values()}
    names_differ = len(distinct_names) == len(table.columns) + len(plain_names)
    if names_differ:
        renamed = table.rename(plain_names)
        columns = _columns_in(table, labels=corpus.labels, groups=groups)
        if _is_guessed(renamed, columns):
            return renamed, columns

    marked = _columns_in(
        table,
        labels=[LABEL + label for label in corpus.labels],
        groups=[GROUP + group for group in groups],
    )
    return table, marked


def _columns_in(table: pl.DataFrame, *, labels: Sequence[str], groups: Sequence[str]) -> Columns:
    # Roles that the corpus has stand under their own names in the file.
    author, time, split = [role if role in table.columns else None for role in PLAIN]
    return Columns(
        text="text",
        id="id",
        labels=tuple(labels),
        author=author,
        time=time,
        split=split,
        groups=tuple(groups),
    )


def _refuse_unreadable(table: pl.DataFrame, path: Path) -> None:
    """Refuse what reading would drop or refuse: blank ids and texts, and duplicate ids."""
    for role in ("text", "id"):
        blank = int((table[role].str.strip_chars() == "").sum())
        if blank:
            raise bad_file(
                path=path,
                what=f"{blank} of the {role}s are blank",
                code="corpus.blank-cells",
                do="clean the corpus first: the step 'spaces' drops empty texts",
                allowed="no blank ids or texts",
            )

    repeated = len(table) - table["id"].n_unique()
    if repeated:
        raise bad_file(
            path=path,
            what=f"{repeated} of the ids repeat another",
            code="corpus.duplicate-ids",
            do="give each text its own id",
            allowed="one id per text",
        )
