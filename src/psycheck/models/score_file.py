"""Scores from a file, looked up by text: for models that run on another machine."""

import gzip
import json
import math
import zlib
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from io import BytesIO
from itertools import chain
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
import zstandard

from psycheck.corpus import read_parquet
from psycheck.errors import BadInput, check_columns, check_piece, counted, explained, nearest, neighbours
from psycheck.model import FloatArray, IntArray, digest_of
from psycheck.models.fingerprint import file_hash, hashed_parts
from psycheck.models.labels import ONE_LABEL, column_names
from psycheck.models.options import ModelOptions
from psycheck.models.output import TOLERANCE

BATCH = 4096
_MOST_GB = 1
SILVER = "_silver"  # suffix of the 0/1 columns that `psycheck score` adds to the scores
_FORMATS = (".csv", ".tsv", ".jsonl", ".ndjson", ".parquet")
_PACKED = (".gz", ".zst")
_PACKING = (EOFError, zlib.error, zstandard.ZstdError)
_UNREADABLE = (OSError, *_PACKING, UnicodeError, pl.exceptions.PolarsError, pl.exceptions.PanicException)
_NO_LABEL = frozenset({"text_hash", "text", "read", "id"})


@dataclass(frozen=True, slots=True)
class ScoreFile:
    """A model known only by its scores; `rows` maps the hash of a text to the row of its scores."""

    name: str
    labels: tuple[str, ...]
    fingerprint: str
    parts: Mapping[str, str]
    batch: int
    exclusive: bool = False
    rows: Mapping[bytes, int] = field(default_factory=dict, repr=False)
    scores: FloatArray = field(default_factory=lambda: np.zeros((0, 0)), repr=False)
    reads: IntArray = field(default_factory=lambda: np.zeros(0, np.int64), repr=False)

    def score(self, texts: Sequence[str], /) -> FloatArray:
        """Look up the scores of texts, (n, k); NaN if there are none (see also `missing`)."""
        found = np.full((len(texts), len(self.labels)), np.nan)
        for i, row in self._found(texts):
            found[i] = self.scores[row]
        return found

    def read(self, texts: Sequence[str], /) -> IntArray:
        """The column `read` if the file has it, else the whole text, (n,)."""
        lengths = np.array([len(text) for text in texts], np.int64)
        for i, row in self._found(texts):
            if self.reads[row] >= 0:
                lengths[i] = min(lengths[i], self.reads[row])
        return lengths

    def _found(self, texts: Sequence[str]) -> Iterator[tuple[int, int]]:
        rows = enumerate(map(self.rows.get, map(digest_of, texts)))
        return ((i, row) for i, row in rows if row is not None)

    def missing(self, texts: Sequence[str], /) -> list[str]:
        """The texts without scores, in their order."""
        return [text for text in texts if digest_of(text) not in self.rows]


def open_scores(target: str, options: ModelOptions) -> ScoreFile:
    """Read scores: a column `text_hash` or `text`, one column per label, and optionally `read`.

    A row with only empty scores is not scored yet; "nan" means that the model gave no usable answer.
    """
    path = Path(target).expanduser()
    table = _table(path)
    key = next((name for name in ("text_hash", "text") if name in table.columns), None)
    if key is None:
        raise BadInput("no column identifies the text of a row", where=target, allowed="text_hash or text")
    columns, labels = _label_columns(table, options, where=target)
    texts = [name for name in columns if table[name].dtype == pl.String]
    table = table.with_columns(pl.col(texts).replace("", None)) if texts else table
    scores = np.stack([_numbers(table[column], target) for column in columns], axis=1)
    outside = np.argwhere((scores < -TOLERANCE) | (scores > 1 + TOLERANCE))
    if len(outside):
        row, column = outside[0]
        what = f"{counted(len(outside), 'score')} outside [0, 1], the first is {scores[row, column]:.6g}"
        where = f"{target}, row {row + 1}, column '{columns[column]}'"
        raise BadInput(what, where=where, allowed="probabilities from 0 to 1")
    reads = _numbers(table["read"], target) if "read" in table.columns else np.full(len(table), np.nan)
    empty = table.select(pl.all_horizontal(pl.col(columns).is_null())).to_series()
    rows = _rows(table[key], empty, scores, target)
    opened = awaited_scores(target, options, labels, file_hash(path))
    reads = np.nan_to_num(reads, nan=-1.0).astype(np.int64)
    return replace(opened, rows=rows, scores=np.clip(scores, 0.0, 1.0), reads=reads)


def awaited_scores(
    target: str, options: ModelOptions, labels: tuple[str, ...] = (), file: str = "none"
) -> ScoreFile:
    """A model whose score file does not exist yet: it has no scores."""
    labels = labels or (tuple(options.label.split(",")) if options.label else (ONE_LABEL,))
    parts = {"file": file, "labels": ",".join(labels)}
    name = options.name or Path(target).name.partition(".")[0]
    exclusive = options.exclusive and len(labels) > 1
    return ScoreFile(name, labels, hashed_parts(parts), parts, options.batch or BATCH, exclusive)


def _table(path: Path) -> pl.DataFrame:
    """The file as a table; empty cells are null, numbers in text files stay strings."""
    packed = path.suffix if path.suffix in _PACKED else ""
    kind = Path(path.name.removesuffix(packed)).suffix
    if kind not in _FORMATS:
        known = f"{', '.join(_FORMATS)}, each also with .gz or .zst"
        raise BadInput("unknown format of a score file", where=str(path), allowed=known)
    if not path.exists():
        allowed = neighbours(path.name, [p.name for p in path.parent.glob("*")])
        do = "name the file with the scores; psycheck audit … --export-texts TEXTS writes texts to score"
        raise BadInput(f"there is no file '{path}'", allowed=allowed, do=do)
    with explained("the file cannot be read", *_UNREADABLE, where=str(path), allowed="whole rows in UTF-8"):
        raw = _content(path, packed)
        separator = "\t" if kind == ".tsv" else ","
        if kind == ".parquet":
            table = read_parquet(raw, str(path), None, _MOST_GB)
        elif kind in (".jsonl", ".ndjson"):
            table = _json_lines(raw, path)
        else:
            check_columns(raw.readline().count(separator.encode()), str(path))
            raw.seek(0)
            table = pl.read_csv(raw, separator=separator, infer_schema=False)
    if table.is_empty():
        raise BadInput("the file holds no scores", where=str(path))
    return table


def _content(path: Path, packed: str) -> BytesIO:
    """The unpacked bytes of a file, read in pieces so that one that unpacks to too much is refused early."""
    content = BytesIO()
    with path.open("rb") as file:
        stream: Any = gzip.GzipFile(fileobj=file) if packed == ".gz" else file
        if packed == ".zst":
            stream = zstandard.ZstdDecompressor().stream_reader(file, read_across_frames=True)
        while piece := stream.read(2**20):
            content.write(check_piece(piece, content.tell() + len(piece), str(path), _MOST_GB))
    content.seek(0)
    return content


def _json_lines(raw: BytesIO, path: Path) -> pl.DataFrame:
    """Read JSON lines with Python's parser, which accepts NaN and reports the broken line."""
    frames, lines, names = list[pl.DataFrame](), list[dict[str, str | None]](), dict[str, None]()
    for number, line in enumerate(chain(raw, [None]), start=1):
        if line is None or len(lines) == BATCH:
            frames.append(pl.DataFrame(lines, schema=dict.fromkeys(names, pl.String)))
            lines.clear()
        if line is None or not line.strip():
            continue
        with explained("a line is not JSON", ValueError, RecursionError, where=f"{path}, line {number}"):
            one = json.loads(line)
        if not isinstance(one, dict):
            raise BadInput("a line is not a JSON object", where=f"{path}, line {number}")
        lines.append({name: None if cell is None else str(cell) for name, cell in one.items()})
        names.update(dict.fromkeys(one))
        check_columns(len(names), str(path))
    return pl.concat(frames, how="diagonal")


def _label_columns(
    table: pl.DataFrame, options: ModelOptions, *, where: str
) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """The columns with scores and their labels; the option `label` selects or names them."""
    silver = {f"{name}{SILVER}" for name in table.columns}
    columns = [name for name in table.columns if name not in _NO_LABEL | silver]
    if not columns:
        raise BadInput("no column holds scores", where=where, allowed="a column for each label, or `score`")
    wanted = [] if options.label is None else [name.strip() for name in options.label.split(",")]
    if wanted and all(name in columns for name in wanted):
        return tuple(wanted), column_names(wanted, options.label, where=where)
    if wanted and len(columns) > 1:
        strange = next(name for name in wanted if name not in columns)
        raise BadInput(f"no column '{strange}'", where=where, allowed=nearest(strange, columns))
    names = [ONE_LABEL if column == "score" and len(columns) == 1 else column for column in columns]
    return tuple(columns), column_names(names, options.label, where=where)


def _numbers(column: pl.Series, where: str) -> FloatArray:
    """A column as numbers, (n,); empty cells are NaN."""
    numbers = column.cast(pl.Float64, strict=False)
    broken = (numbers.is_null() & column.is_not_null()).arg_true()
    if len(broken):
        what = "a score is not a number"
        allowed = "0 to 1; empty if not scored yet, nan if the model gave no usable answer"
        raise BadInput(what, where=f"{where}, row {broken[0] + 1}, column '{column.name}'", allowed=allowed)
    return numbers.fill_null(math.nan).to_numpy()


def _rows(keys: pl.Series, empty: pl.Series, scores: FloatArray, where: str) -> dict[bytes, int]:
    """The row of each hash; a repeated text must have the same scores."""
    rows: dict[bytes, int] = {}
    for row, (cell, skipped) in enumerate(zip(keys.to_list(), empty.to_list(), strict=True)):
        if skipped:
            continue
        if cell is None:
            raise BadInput(f"column '{keys.name}' is empty", where=f"{where}, row {row + 1}")
        name = digest_of(str(cell)) if keys.name == "text" else _hash(cell, f"{where}, row {row + 1}")
        first = rows.setdefault(name, row)
        if first != row and not np.array_equal(scores[first], scores[row], equal_nan=True):
            place = f"{where}, rows {first + 1} and {row + 1}"
            raise BadInput("the same text has two different scores", where=place)
    return rows


def _hash(cell: str | bytes, where: str) -> bytes:
    try:
        name = cell if isinstance(cell, bytes) else bytes.fromhex(str(cell).strip())
    except ValueError:
        name = b""
    if len(name) != 16:
        raise BadInput("column 'text_hash' does not hold a hash", where=where, allowed="32 hex digits")
    return name
