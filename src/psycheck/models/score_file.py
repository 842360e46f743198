"""Scores from a file, looked up by text: for models that run on another machine."""

import math
from array import array
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from pathlib import Path
from tempfile import NamedTemporaryFile

import numpy as np
import polars as pl

from psycheck.errors import BadInput, check_columns, check_piece, check_size, explained, nearest, neighbours
from psycheck.files.rows import separated_rows
from psycheck.files.streams import COMPRESSIONS, DAMAGED, ZSTD_INPUT, Lines, decompressed, json_values
from psycheck.model import FloatArray, IntArray, digest_of
from psycheck.models.fingerprint import file_hash, hashed_parts
from psycheck.models.labels import ONE_LABEL, column_names
from psycheck.models.options import ModelOptions
from psycheck.models.output import TOLERANCE

BATCH = 4096
SILVER = "_silver"  # suffix of the 0/1 columns that `psycheck score` adds to the scores
_FORMATS = (".csv", ".tsv", ".jsonl", ".ndjson", ".parquet")
_DELIMITERS = {".csv": ",", ".tsv": "\t"}
_UNREADABLE = (EOFError, *DAMAGED, OSError, pl.exceptions.PolarsError, pl.exceptions.PanicException)
_NO_LABEL = frozenset({"text_hash", "text", "read", "id"})
_ROW = 200  # bytes of memory that a row takes beside its scores


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
    """Read scores row by row: a column `text_hash` or `text`, one column per label, and optionally `read`.

    A row with only empty scores is not scored yet; "nan" means that the model gave no usable answer.
    """
    path = Path(target).expanduser()
    kind = _format(path)
    with _unpacked(path, kind) as file:
        names = _names(file, kind)
        if not names:
            raise BadInput("the file holds no scores", where=target)
        key = next((name for name in ("text_hash", "text") if name in names), None)
        if key is None:
            what = "no column identifies the text of a row"
            raise BadInput(what, where=target, allowed="text_hash or text")
        columns, labels = _label_columns(names, options, where=target)
        wanted = [key, *columns, *(["read"] if "read" in names else [])]
        rows, scores, reads = _looked_up(_rows(file, kind, wanted), key, columns, target, kind)
    opened = awaited_scores(target, options, labels, file_hash(path))
    table = np.clip(np.array(scores).reshape(-1, len(labels)), 0.0, 1.0)
    return replace(opened, rows=rows, scores=table, reads=np.array(reads, np.int64))


def _looked_up(
    every: Iterator[Mapping[str, object]], key: str, columns: Sequence[str], target: str, kind: str
) -> tuple[dict[bytes, int], Sequence[float], Sequence[int]]:
    """The place of each hash, and the scores and what was read by place; a text scored twice counts once."""
    rows, firsts, scores, reads = dict[bytes, int](), array("q"), array("d"), array("q")
    number, k = 0, len(columns)
    for number, row in enumerate(every, start=1):
        where = f"{target}, row {number}"
        cells = [row.get(column) for column in columns]
        if all(cell is None or cell == "" for cell in cells):
            continue
        own = [_score(cell, where, name) for name, cell in zip(columns, cells, strict=True)]
        name = _hash(row.get(key), key, where, empty=kind not in _DELIMITERS)
        at = rows.setdefault(name, len(rows))
        if at < len(firsts):
            if not np.array_equal(scores[at * k : at * k + k], own, equal_nan=True):
                place = f"{target}, rows {firsts[at]} and {number}"
                raise BadInput("the same text has two different scores", where=place)
            continue
        read = _number(row.get("read"), where, "read")
        firsts.append(number)
        scores.extend(own)
        reads.append(-1 if math.isnan(read) else int(min(read, 2**53)))
        check_size(len(rows) * (_ROW + 8 * k), target)
    if not number:
        raise BadInput("the file holds no scores", where=target)
    return rows, scores, reads


def awaited_scores(
    target: str, options: ModelOptions, labels: tuple[str, ...] = (), file: str = "none"
) -> ScoreFile:
    """A model whose score file does not exist yet: it has no scores."""
    labels = labels or (tuple(options.label.split(",")) if options.label else (ONE_LABEL,))
    parts = {"file": file, "labels": ",".join(labels)}
    name = options.name or Path(target).name.partition(".")[0]
    exclusive = options.exclusive and len(labels) > 1
    return ScoreFile(name, labels, hashed_parts(parts), parts, options.batch or BATCH, exclusive)


def _format(path: Path) -> str:
    """The extension that says how a score file is read, without that of its compression."""
    kind = Path(path.name.removesuffix(path.suffix)).suffix if path.suffix in COMPRESSIONS else path.suffix
    if kind not in _FORMATS:
        known = f"{', '.join(_FORMATS)}, each also with .gz or .zst"
        raise BadInput("unknown format of a score file", where=str(path), allowed=known)
    if not path.exists():
        allowed = neighbours(path.name, [p.name for p in path.parent.glob("*")])
        do = "name the file with the scores; psycheck audit … --export-texts TEXTS writes texts to score"
        raise BadInput(f"there is no file '{path}'", allowed=allowed, do=do)
    return kind


@contextmanager
def _unpacked(path: Path, kind: str) -> Iterator[Path]:
    """The file, or a private copy of a compressed Parquet file, which is not read from front to back."""
    with explained("the file cannot be read", *_UNREADABLE, where=str(path), allowed="whole rows in UTF-8"):
        if kind != ".parquet" or path.suffix == kind:
            yield path
            return
        with path.open("rb") as packed, NamedTemporaryFile() as copy:
            for piece in decompressed(packed, COMPRESSIONS[path.suffix], step=ZSTD_INPUT):
                copy.write(check_piece(piece, copy.tell() + len(piece), str(path)))
            copy.flush()
            yield Path(copy.name)


def _names(path: Path, kind: str) -> list[str]:
    """The names of the columns; of JSON lines those of all lines."""
    if kind == ".parquet":
        names = list(pl.read_parquet_schema(path))
        check_columns(len(names), str(path))
        return names
    if kind in _DELIMITERS:
        return next(separated_rows(Lines(path, row=0), _DELIMITERS[kind]), [])
    found: dict[str, None] = {}
    for row in json_values(Lines(path, row=1)):
        found.update(dict.fromkeys(row))
        check_columns(len(found), str(path))
    return list(found)


def _rows(path: Path, kind: str, columns: list[str]) -> Iterator[Mapping[str, object]]:
    """The rows one by one, so that neither the texts nor the whole file are held; Parquet in slices."""
    if kind == ".parquet":
        scan = pl.scan_parquet(path)
        count = scan.select(pl.len()).collect().item()
        check_size(8 * count * len(columns), str(path))
        for start in range(0, count, BATCH):
            yield from scan.select(columns).slice(start, BATCH).collect().iter_rows(named=True)
    elif kind in _DELIMITERS:
        rows = separated_rows(Lines(path, row=0), _DELIMITERS[kind])
        names = next(rows, [])
        yield from (dict(zip(names, row, strict=True)) for row in rows)
    else:
        yield from json_values(Lines(path, row=1))


def _label_columns(
    names: Sequence[str], options: ModelOptions, *, where: str
) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """The columns with scores and their labels; the option `label` selects or names them."""
    silver = {f"{name}{SILVER}" for name in names}
    columns = [name for name in names if name not in _NO_LABEL | silver]
    if not columns:
        raise BadInput("no column holds scores", where=where, allowed="a column for each label, or `score`")
    wanted = [] if options.label is None else [name.strip() for name in options.label.split(",")]
    if wanted and all(name in columns for name in wanted):
        return tuple(wanted), column_names(wanted, options.label, where=where)
    if wanted and len(columns) > 1:
        strange = next(name for name in wanted if name not in columns)
        raise BadInput(f"no column '{strange}'", where=where, allowed=nearest(strange, columns))
    called = [ONE_LABEL if column == "score" and len(columns) == 1 else column for column in columns]
    return tuple(columns), column_names(called, options.label, where=where)


def _number(cell: object, where: str, column: str) -> float:
    """A cell as a number; NaN if it is empty."""
    try:
        number = float(cell if isinstance(cell, int | float) else str("nan" if cell in (None, "") else cell))
    except ValueError:
        number = math.inf
    if math.isinf(number):
        allowed = "0 to 1; empty if not scored yet, nan if the model gave no usable answer"
        raise BadInput("a score is not a number", where=f"{where}, column '{column}'", allowed=allowed)
    return number


def _score(cell: object, where: str, column: str) -> float:
    score = _number(cell, where, column)
    if score < -TOLERANCE or score > 1 + TOLERANCE:
        what = f"there are scores outside [0, 1], the first is {score:.6g}"
        raise BadInput(what, where=f"{where}, column '{column}'", allowed="probabilities from 0 to 1")
    return score


def _hash(cell: object, key: str, where: str, *, empty: bool) -> bytes:
    """The hash of a row's text; a text may be `empty` where an empty cell is not a missing one."""
    if cell is None or (cell == "" and not (empty and key == "text")):
        raise BadInput(f"column '{key}' is empty", where=where)
    if key == "text":
        return digest_of(str(cell))
    try:
        name = cell if isinstance(cell, bytes) else bytes.fromhex(str(cell).strip())
    except ValueError:
        name = b""
    if len(name) != 16:
        raise BadInput("column 'text_hash' does not hold a hash", where=where, allowed="32 hex digits")
    return name
