"""Tag the sentences of a corpus of any size with a symptom model, into one Parquet file.

One row per sentence: `id` of the post, `sentence` (from 0), `author`, `time`, `uncertain`, `own`, and
`relevance:SYMPTOM` and `weight:SYMPTOM` for each symptom; no text. Pieces that are done lie beside the file
until all are: after a kill, the same call tags only pieces whose texts or model are other than before.
"""

import time
from collections.abc import Iterable
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import polars as pl

from psycheck.corpus import Corpus
from psycheck.errors import BadInput
from psycheck.files.write import refuse_overwriting, sole_writer, writing, written
from psycheck.models.fingerprint import hashed
from psycheck.models.symptoms import SymptomModel, weighted
from psycheck.scoring.engine import Progress, silent
from psycheck.scoring.tagging import tags_of
from psycheck.text.clean import split_sentences

RELEVANCE, WEIGHT = "relevance:", "weight:"


@dataclass(frozen=True, slots=True)
class Tagged:
    """How many posts and sentences a file has, and how many of the sentences were tagged before a stop."""

    posts: int
    sentences: int
    resumed: int


def tag_corpus(
    model: SymptomModel,
    pieces: Iterable[Corpus],
    out: Path,
    *,
    status: bool = True,
    subject: bool = True,
    progress: Progress = silent,
) -> Tagged:
    """Write the tags of all sentences; `status` and `subject` are the factors of the weight (formula 1)."""
    check_tag_file(out, ())
    work = out.with_name(f"{out.name}.parts")
    with sole_writer(work), writing(out):
        parts, tagged = tag_parts(model, pieces, work, status=status, subject=subject, progress=progress)
        with written(out) as file:
            pl.scan_parquet(parts).sink_parquet(file)
        remove_parts(work)
    remove_parts(work)  # the folder, without its lock
    return tagged


def tag_parts(
    model: SymptomModel,
    pieces: Iterable[Corpus],
    work: Path,
    *,
    status: bool = True,
    subject: bool = True,
    texts: int = 0,
    progress: Progress = silent,
) -> tuple[list[Path], Tagged]:
    """Write the tags of each piece to a file of its own, unless it is there; `texts` is their number."""
    started, posts, sentences, resumed = time.monotonic(), 0, 0, 0
    parts: list[Path] = []
    for piece in pieces:
        settings = f"{model.fingerprint} {status} {subject}"
        key = hashed(settings, *(f"{one}" for row in piece.table.iter_rows() for one in row))
        part = work / f"{len(parts):06}-{key}.parquet"
        if part.is_file():
            resumed += (rows := _rows(part))
        else:
            table = _tagged(model, piece, status=status, subject=subject)
            with written(part) as file:
                table.write_parquet(file)
            rows = len(table)
        parts.append(part)
        posts, sentences = posts + len(piece), sentences + rows
        # Sentences are not counted before: what is left is taken to have as many per text.
        progress("tagging", sentences, sentences * texts // posts, time.monotonic() - started)
    if not parts:
        raise BadInput("the corpus has no texts to tag")
    return parts, Tagged(posts, sentences, resumed)


def remove_parts(work: Path) -> None:
    """Remove the files of `tag_parts`, also those of other texts, and the folder if nothing else is in it."""
    for part in work.glob(f"{'[0-9]' * 6}-*.parquet"):
        part.unlink()
    with suppress(OSError):
        work.rmdir()


def check_tag_file(out: Path, inputs: Iterable[Path]) -> None:
    """Refuse, before anything is tagged, a file of another kind or an input."""
    if out.suffix != ".parquet":
        raise BadInput(f"cannot write tags to '{out.name}'", allowed="a file called *.parquet", key="out")
    refuse_overwriting([out], inputs)


def _rows(part: Path) -> int:
    return int(pl.scan_parquet(part).select(pl.len()).collect().item())


def _tagged(model: SymptomModel, piece: Corpus, *, status: bool, subject: bool) -> pl.DataFrame:
    """The rows of one piece."""
    split = [split_sentences(text) for text in piece.texts]
    counts = np.array([len(one) for one in split], np.int64)
    tags = tags_of(model, [sentence for one in split for sentence in one])
    row = np.repeat(np.arange(len(split)), counts)
    weights = weighted(tags, status=status, subject=subject)
    table = piece.table.select("id")[row].with_columns(
        pl.Series("sentence", np.arange(len(row)) - np.repeat(np.cumsum(counts) - counts, counts), pl.Int32),
        *(pl.Series(name, piece.strings(name), pl.String)[row] for name in ("author", "time")),
        pl.Series("uncertain", tags.uncertain, pl.Float32, nan_to_null=True),
        pl.Series("own", tags.own),
    )
    columns = [
        pl.Series(name + label, values[:, k].astype(np.float32))
        for name, values in ((RELEVANCE, tags.relevance), (WEIGHT, weights))
        for k, label in enumerate(model.labels)
    ]
    return table.with_columns(columns)
