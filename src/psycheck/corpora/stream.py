"""Read the texts of a corpus of any size in pieces, with their ids, authors and times."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from itertools import islice
from pathlib import Path

import polars as pl

from psycheck.corpora.columns import Columns, Roles, assign, split_name
from psycheck.corpora.open import CorpusPlan, corpus_path, open_corpus
from psycheck.corpora.read import read_corpus, without_blank
from psycheck.corpora.tables import Table, format_of
from psycheck.corpus import Corpus
from psycheck.errors import BadInput
from psycheck.files.rows import separated_rows
from psycheck.files.streams import Lines, bad_file, json_values
from psycheck.settings.reader import read_settings

ROWS, LETTERS = 2_000, 4_000_000  # of a piece, at most
_KEPT = ("author", "time", "split")

Row = Mapping[str, object]


def stream_corpus(plan: CorpusPlan) -> Iterator[Corpus]:
    """The corpus in pieces of at most 2,000 texts or 4 million letters; labels and groups are not read.

    CSV, TSV, JSON lines (also compressed) and Parquet files are never held whole: columns are guessed from
    the first piece, and ids are unique within a piece only. Other corpora are opened, then cut.
    """
    path = corpus_path(plan)
    if plan.path.startswith("demo:") or path is None or str(path) != str(Path(plan.path).expanduser()):
        yield from open_corpus(plan).slices(ROWS)
        return
    kind = format_of(path, plan.format)
    if kind == "dataset":
        yield from open_corpus(plan).slices(ROWS)
        return
    rows = _parquet(path) if kind == "parquet" else _lines(path, kind)
    yield from _pieces(rows, path, plan)


def _pieces(rows: Iterator[Row], path: Path, plan: CorpusPlan) -> Iterator[Corpus]:
    roles: Roles | None = None
    read = kept = 0
    while piece := _some(rows, roles):
        names = dict.fromkeys(name for row in piece for name in row)
        table = {name: [row.get(name) for row in piece] for name in names}
        if roles is None:
            roles = assign(Table(path, table), replace(plan.columns, labels=(), groups=()))
        corpus = _corpus(table, roles, path, plan, read)
        read += len(piece)
        kept += len(corpus)
        if len(corpus):
            yield corpus
    if not read:
        raise bad_file(path, "the file is empty", do="name a file that holds texts")
    if not kept:
        raise bad_file(
            path, "there are no texts in it, or none of the split", do="name another text column (`text`)"
        )


def _some(rows: Iterator[Row], roles: Roles | None) -> list[Row]:
    """The next rows: as many as a piece may have."""
    piece: list[Row] = []
    letters = 0
    while len(piece) < ROWS and letters < LETTERS and (some := list(islice(rows, 1))):
        piece += some
        text = some[0].get(roles.text) if roles else max(map(str, some[0].values()), key=len, default="")
        letters += len(str(text))
    return piece


def _corpus(table: dict[str, list[object]], roles: Roles, path: Path, plan: CorpusPlan, read: int) -> Corpus:
    """One piece as a corpus; ids number the rows of the whole file unless a column has them."""
    named = {"text": roles.text, "id": roles.id, **{role: roles.plain.get(role) for role in _KEPT}}
    used = [name for name in named.values() if name]
    rows = len(next(iter(table.values())))
    frame = pl.DataFrame({name: table.get(name, [None] * rows) for name in used}, strict=False)
    columns = read_settings(Columns, {**named, "id": roles.id or "none"})
    try:
        corpus = read_corpus(frame, columns, name=plan.name or path.stem)
    except BadInput as error:
        if "every text is empty" in error.what:
            return Corpus.of(path.stem, [])
        error.where = str(path)
        raise
    if roles.id is None:
        numbers = [str(read + int(one)) for one in corpus.ids]
        corpus = replace(corpus, table=corpus.table.with_columns(pl.Series("id", numbers)))
    if plan.split is not None:
        corpus = corpus.only([one == split_name(plan.split) for one in corpus.strings("split")])
    return without_blank(corpus)


def _lines(path: Path, kind: str) -> Iterator[Row]:
    if kind == "jsonl":
        yield from json_values(Lines(path, row=1))
        return
    names: Sequence[str] = ()
    for row in separated_rows(Lines(path, row=0), "," if kind == "csv" else "\t"):
        if not names:
            names = row
        else:
            yield dict(zip(names, row, strict=True))


def _parquet(path: Path) -> Iterator[Row]:
    start = 0
    try:
        single = [name for name, kind in pl.read_parquet_schema(path).items() if not kind.is_nested()]
        scan = pl.scan_parquet(path).select(single)
        while len(some := scan.slice(start, ROWS).collect()):
            yield from some.iter_rows(named=True)
            start += len(some)
    except pl.exceptions.PolarsError as error:
        raise bad_file(path, f"the file is not readable Parquet ({type(error).__name__})") from None
