"""Scores from a file, looked up by text or by id: for models that run on another machine."""

import math
from array import array
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from pathlib import Path
from tempfile import NamedTemporaryFile

import numpy as np
import polars as pl

from psycheck.core.arrays import FloatArray, IntArray
from psycheck.core.corpus import Corpus, showable_id
from psycheck.core.errors import (
    BadInput,
    check_piece,
    check_size,
    explained,
    nearest,
    neighbours,
)
from psycheck.core.item import digest_of
from psycheck.core.model import Capabilities, ModelKind
from psycheck.io.formats import Format
from psycheck.io.streams import COMPRESSIONS, DAMAGED, ZSTD_INPUT, decompressed
from psycheck.io.tables import format_by_ending, readable_endings
from psycheck.models.fingerprint import file_hash, hashed, hashed_parts
from psycheck.models.label_names import ONE_LABEL, column_names
from psycheck.models.options import ModelOptions
from psycheck.models.output import TOLERANCE

BATCH = 4096
SILVER = "_silver"  # suffix of the 0/1 columns that `psycheck score` adds to the scores
_UNREADABLE = (EOFError, *DAMAGED, OSError, pl.exceptions.PolarsError, pl.exceptions.PanicException)
_ID_COLUMNS = ("id", "text_id", "post_id", "tweet_id", "doc_id", "uid")
_KEY_COLUMNS = ("text_hash", "text", *_ID_COLUMNS)  # the first that a file has says what a row is about
_NO_LABEL = frozenset({"read", *_KEY_COLUMNS})
_ROW_BYTES = 200  # memory that a row takes beside its scores
_NOT_READ = -1  # in `reads`: the file does not say how much of the text was read
_MOST_CHARACTERS = 2**53


@dataclass(frozen=True, slots=True, kw_only=True)
class ScoreFileOptions(ModelOptions):
    """Options of a score file: `exclusive` says that each text has exactly one of the labels."""

    exclusive: bool = False


@dataclass(
    frozen=True,
    slots=True,
    weakref_slot=True,
    kw_only=True,
)
class ScoreFile:
    """A model known only by its scores; `rows` maps the hash of a text to the row of its scores.

    With `by_id` it maps those of ids, until `with_texts_of` has looked up their texts.
    """

    name: str
    labels: tuple[str, ...]
    fingerprint: str
    capabilities: Capabilities = field(repr=False)
    rows: Mapping[bytes, int] = field(default_factory=dict, repr=False)
    scores: FloatArray = field(default_factory=lambda: np.zeros((0, 0)), repr=False)
    reads: IntArray = field(default_factory=lambda: np.zeros(0, np.int64), repr=False)
    by_id: bool = False

    def score(self, texts: Sequence[str], /) -> FloatArray:
        """Look up the scores of texts, (n, k); NaN if there are none (see also `missing`)."""
        scores = np.full((len(texts), len(self.labels)), np.nan)
        for i, row in self._rows_of(texts):
            scores[i] = self.scores[row]
        return scores

    def read(self, texts: Sequence[str], /) -> IntArray:
        """The column `read` if the file has it, else the whole text, (n,)."""
        lengths = np.array([len(text) for text in texts], np.int64)
        for i, row in self._rows_of(texts):
            if self.reads[row] >= 0:
                lengths[i] = min(lengths[i], self.reads[row])
        return lengths

    def missing(self, texts: Sequence[str], /) -> list[str]:
        """The texts without scores, in their order."""
        return [text for text in texts if digest_of(text) not in self.rows]

    def _rows_of(self, texts: Sequence[str]) -> Iterator[tuple[int, int]]:
        """The place of each text that has scores, and their row."""
        # Mapped, which is faster than a call per text: an audit may look up millions.
        rows = map(self.rows.get, map(digest_of, texts))
        for i, row in enumerate(rows):
            if row is not None:
                yield i, row


def with_texts_of(scores: ScoreFile, corpora: Sequence[Corpus]) -> ScoreFile:
    """Scores by id as scores by text, for the ids of some corpora."""
    rows: dict[bytes, int] = {}
    for corpus in corpora:
        for text_id, text in zip(corpus.ids, corpus.texts, strict=True):
            row = scores.rows.get(_id_digest(text_id))
            if row is None:
                continue
            first_row = rows.setdefault(digest_of(text), row)
            if not np.array_equal(scores.scores[first_row], scores.scores[row], equal_nan=True):
                raise BadInput(
                    "the same text has two different scores",
                    code="scores.differ",
                    where=f"{scores.name}, id {text_id}",
                    do="score equal texts equally, or drop duplicates from the corpus",
                )
    if not rows:
        raise BadInput(
            "no id of the scores is an id of a corpus",
            code="scores.no-shared-id",
            where=scores.name,
            allowed=f"the ids of {' or '.join(corpus.name for corpus in corpora)}",
            do="name the id column of the corpus (`id`)",
        )

    # Another corpus under the same ids has other texts.
    marks = [corpus.fingerprint() for corpus in corpora]
    note = "Its scores are by id: edited texts have none, so only audits of unedited texts are possible."
    return replace(
        scores,
        rows=rows,
        by_id=False,
        fingerprint=hashed(scores.fingerprint, *marks),
        capabilities=replace(scores.capabilities, notes=(*scores.capabilities.notes, note)),
    )


def open_scores(target: str, options: ScoreFileOptions) -> ScoreFile:
    """Read scores row by row: a column `text_hash`, `text` or `id`, one per label, and optionally `read`.

    A row with only empty scores is not scored yet; "nan" means that the model gave no usable answer.
    """
    path = Path(target).expanduser()
    format = _format(path)
    with _unpacked(path, format) as file:
        names = format.columns_of(file)
        if not names:
            raise BadInput("the file holds no scores", code="scores.empty", where=target)
        text_column = _text_column(names, where=target)
        columns, labels = _label_columns(names, options.label, where=target)

        # Parquet reads only the columns that are named.
        read_columns = ["read"] if "read" in names else []
        rows = format.rows_of(file, [text_column, *columns, *read_columns])
        table = _Table(
            target=target,
            text_column=text_column,
            columns=columns,
            has_nulls=format.has_nulls,
        )
        for number, row in enumerate(rows, start=1):
            table.add(number, row)
            table.row_count = number

    if not table.row_count:
        raise BadInput("the file holds no scores", code="scores.empty", where=target)
    scores = np.array(table.scores).reshape(-1, len(labels))
    awaited = awaited_scores(target, options, labels, file_hash(path))
    return replace(
        awaited,
        rows=table.places,
        scores=np.clip(scores, 0.0, 1.0),
        reads=np.array(table.reads, np.int64),
        by_id=text_column.casefold() in _ID_COLUMNS,
    )


def awaited_scores(
    target: str,
    options: ScoreFileOptions,
    labels: tuple[str, ...] = (),
    file: str = "none",
) -> ScoreFile:
    """A model whose score file does not exist yet: it has no scores."""
    if not labels:
        labels = tuple(options.label.split(",")) if options.label else (ONE_LABEL,)
    parts = {"file": file, "labels": ",".join(labels)}
    return ScoreFile(
        # scores.csv.gz is "scores".
        name=options.name or Path(target).name.partition(".")[0],
        labels=labels,
        fingerprint=hashed_parts(parts),
        capabilities=Capabilities(
            batch=options.batch or BATCH,
            exclusive=options.exclusive and len(labels) > 1,
            parts=parts,
        ),
    )


@dataclass(slots=True, kw_only=True)
class _Table:
    """The scores of a file as they are read: only hashes and numbers are held, never texts.

    `places` maps the hash of a text to its place in `scores` (k numbers each), `reads` and `first_rows`.
    """

    target: str
    text_column: str
    columns: tuple[str, ...]
    has_nulls: bool
    row_count: int = 0
    places: dict[bytes, int] = field(default_factory=dict)
    scores: "array[float]" = field(default_factory=lambda: array("d"))
    reads: "array[int]" = field(default_factory=lambda: array("q"))
    first_rows: "array[int]" = field(default_factory=lambda: array("q"))

    def add(self, number: int, row: Mapping[str, object]) -> None:
        """Keep the scores of a row; a text that is scored twice must have the same ones."""
        where = f"{self.target}, row {number}"
        cells = [row.get(column) for column in self.columns]
        if all(cell is None or cell == "" for cell in cells):
            return  # not scored yet

        named_cells = zip(self.columns, cells, strict=True)
        scores = [_score(cell, where, column) for column, cell in named_cells]
        # Where a format has no nulls an empty cell is a missing one; elsewhere it may be an empty text.
        empty_is_text = self.has_nulls and self.text_column == "text"
        digest = _digest(row.get(self.text_column), self.text_column, where, empty_is_text=empty_is_text)
        place = self.places.setdefault(digest, len(self.places))
        if place < len(self.first_rows):
            self._check_repeated(place, scores, number)
            return

        read = _number(row.get("read"), where, "read")
        characters_read = _NOT_READ
        if not math.isnan(read):
            characters_read = int(min(read, _MOST_CHARACTERS))
        self.first_rows.append(number)
        self.scores.extend(scores)
        self.reads.append(characters_read)

        # A compressed file may hold more rows than the memory.
        bytes_per_row = _ROW_BYTES + 8 * len(self.columns)
        check_size(len(self.places) * bytes_per_row, self.target)

    def _check_repeated(self, place: int, scores: list[float], number: int) -> None:
        start = place * len(self.columns)
        first_scores = self.scores[start : start + len(self.columns)]
        if not np.array_equal(first_scores, scores, equal_nan=True):
            raise BadInput(
                "the same text has two different scores",
                code="scores.differ",
                where=f"{self.target}, rows {self.first_rows[place]} and {number}",
            )


def _format(path: Path) -> Format:
    """The format of a score file, which must exist; it may be compressed."""
    format = format_by_ending(path.name)
    if format is None:
        endings = ", ".join(readable_endings())
        raise BadInput(
            "unknown format of a score file",
            code="scores.unknown-ending",
            where=str(path),
            allowed=f"{endings}, each also with .gz or .zst",
        )
    if not path.exists():
        raise BadInput(
            f"there is no file '{path}'",
            code="scores.no-such-file",
            allowed=neighbours(path.name, [sibling.name for sibling in path.parent.glob("*")]),
            do="name the file with the scores; psycheck audit … --export-texts TEXTS writes texts to score",
        )
    return format


@contextmanager
def _unpacked(path: Path, format: Format) -> Iterator[Path]:
    """The file, or a private copy of a compressed Parquet file, which is not read from front to back."""
    compression = COMPRESSIONS.get(path.suffix.lower())
    with explained(
        "the file cannot be read",
        *_UNREADABLE,
        code="scores.unreadable",
        where=str(path),
        allowed="whole rows in UTF-8",
    ):
        if compression is None or format.compressible:
            yield path
            return
        with path.open("rb") as packed, NamedTemporaryFile() as copy:
            for piece in decompressed(packed, compression, step=ZSTD_INPUT):
                copy.write(check_piece(piece, copy.tell() + len(piece), str(path)))
            copy.flush()
            yield Path(copy.name)


def _text_column(names: Sequence[str], *, where: str) -> str:
    """The column that tells of which text a row is."""
    folded = {name.casefold(): name for name in reversed(names)}
    for name in _KEY_COLUMNS:
        if name in folded:
            return folded[name]
    raise BadInput(
        "no column identifies the text of a row",
        code="scores.no-text-column",
        where=where,
        allowed="text_hash or text, or id for the ids of the corpus",
    )


def _label_columns(
    names: Sequence[str], label: str | None, *, where: str
) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """The columns with scores and their labels; the option `label` selects or names them."""
    # `psycheck score` writes decisions beside the scores; they are not labels.
    silver_columns = {f"{name}{SILVER}" for name in names}
    candidates = [name for name in names if name.casefold() not in _NO_LABEL]
    columns = tuple(name for name in candidates if name not in silver_columns)
    if not columns:
        raise BadInput(
            "no column holds scores",
            code="scores.no-score-column",
            where=where,
            allowed="a column for each label, or `score`",
        )

    if label is not None:
        named = tuple(name.strip() for name in label.split(","))
        strangers = [name for name in named if name not in columns]
        if not strangers:
            return named, column_names(named, label, where=where)
        if len(columns) > 1:
            raise BadInput(
                f"no column '{strangers[0]}'",
                code="scores.no-such-column",
                where=where,
                allowed=nearest(strangers[0], columns),
            )
    labels = (ONE_LABEL,) if columns == ("score",) else columns
    return columns, column_names(labels, label, where=where)


def _number(cell: object, where: str, column: str) -> float:
    """A cell as a number; NaN if it is empty."""
    if cell in (None, ""):
        return math.nan
    try:
        number = float(cell if isinstance(cell, int | float) else str(cell))
    except ValueError:
        number = math.inf
    if math.isinf(number):
        raise BadInput(
            "a score is not a number",
            code="scores.not-a-number",
            where=f"{where}, column '{column}'",
            allowed="0 to 1; empty if not scored yet, nan if the model gave no usable answer",
        )
    return number


def _score(cell: object, where: str, column: str) -> float:
    """A cell as a score; rounding errors are clipped later."""
    score = _number(cell, where, column)
    if score < -TOLERANCE or score > 1 + TOLERANCE:
        raise BadInput(
            f"there are scores outside [0, 1], the first is {score:.6g}",
            code="scores.out-of-range",
            where=f"{where}, column '{column}'",
            allowed="probabilities from 0 to 1",
        )
    return score


def _digest(
    cell: object,
    column: str,
    where: str,
    *,
    empty_is_text: bool,
) -> bytes:
    """The hash of a row's text, which the column holds as a text or as a hash."""
    if cell is None or (cell == "" and not empty_is_text):
        raise BadInput(f"column '{column}' is empty", code="scores.no-text", where=where)
    if column.casefold() in _ID_COLUMNS:
        text_id = str(cell)
        # A column of numbers may hold the id 7 as 7.0.
        if isinstance(cell, float) and cell.is_integer():
            text_id = str(int(cell))
        return _id_digest(text_id)
    if column == "text":
        return digest_of(str(cell))
    try:
        digest = cell if isinstance(cell, bytes) else bytes.fromhex(str(cell).strip())
    except ValueError:
        digest = b""
    if len(digest) != 16:
        raise BadInput(
            "column 'text_hash' does not hold a hash",
            code="scores.bad-hash",
            where=where,
            allowed="32 hex digits",
        )
    return digest


def _id_digest(text_id: str) -> bytes:
    """The hash of an id as a corpus holds it; no text has the same one."""
    return bytes.fromhex(hashed("id", showable_id(text_id)))


KIND = ModelKind(
    open=open_scores,
    options=ScoreFileOptions,
    target="path",
)
