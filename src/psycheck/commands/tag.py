"""Tag the sentences of a corpus of any size with a symptom model, into one Parquet file.

One row per sentence: `id` of the post, `sentence` (from 0), `author`, `time`, `uncertain`, `own`, and
`relevance:SYMPTOM`, `weight:SYMPTOM` and `status:SYMPTOM` for each symptom; no text. Pieces that are done lie
beside the file until all are: after a kill, the same call tags only pieces whose texts or model are other
than before.
"""

import pickle
import time
from collections.abc import Iterable, Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass
from itertools import islice
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl

from psycheck.core.arrays import FloatArray
from psycheck.core.corpus import Corpus
from psycheck.core.errors import BadInput, explained
from psycheck.core.progress import Progress, silent
from psycheck.io.writing import refuse_overwriting, sole_writer, writing, written
from psycheck.models.fingerprint import hashed
from psycheck.models.opening import open_model
from psycheck.scoring.engine import LOCAL, Engine, open_engine
from psycheck.scoring.ray_engine import RayEngine, portable_spec
from psycheck.scoring.tags import tags_of
from psycheck.symptoms.explanation import RELEVANCE, STATUS, WEIGHT
from psycheck.symptoms.reader import SymptomModel
from psycheck.symptoms.statements import STATUSES, Tags, weighted
from psycheck.symptoms.tagged_posts import typed_tags
from psycheck.text.clean import split_sentences

_PIECES_AT_ONCE = 64  # sent to a cluster: each has at most 2,000 posts

TagTable = str | Path | pl.DataFrame | pl.LazyFrame


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
    engine: str = LOCAL,
) -> Tagged:
    """Write the tags of all sentences; `status` and `subject` are the factors of the weight (formula 1)."""
    check_tag_file(out, ())
    work = out.with_name(f"{out.name}.parts")
    with sole_writer(work), writing(out):
        parts, tagged = tag_parts(
            model,
            pieces,
            work,
            status=status,
            subject=subject,
            progress=progress,
            engine=engine,
        )
        with written(out) as file:
            pl.scan_parquet(parts).sink_parquet(file)
        remove_parts(work)
    remove_parts(work)  # the folder, now without the lock of its writer
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
    engine: str = LOCAL,
) -> tuple[list[Path], Tagged]:
    """Write the tags of each piece to a file of its own, unless it is there; `texts` is their number.

    `engine` names what tags the pieces: this process, or the actors of a cluster.
    """
    started = time.monotonic()
    settings = f"{model.fingerprint} {status} {subject}"
    tagger = open_engine(engine)
    posts = sentences = resumed = 0
    parts: list[Path] = []
    for wave in _waves(pieces, _PIECES_AT_ONCE if isinstance(tagger, RayEngine) else 1):
        named = []
        for number, piece in enumerate(wave, start=len(parts)):
            cells = (str(cell) for row in piece.table.iter_rows() for cell in row)
            named.append((piece, work / f"{number:06}-{hashed(settings, *cells)}.parquet"))

        waiting = [(piece, part) for piece, part in named if not part.is_file()]
        kept = [part for _, part in named if part.is_file()]
        resumed += sum(map(_row_count, kept))
        for part, table in _tables(model, waiting, tagger, status=status, subject=subject):
            with written(part) as file:
                table.write_parquet(file)

        parts += [part for _, part in named]
        posts += sum(map(len, wave))
        sentences += sum(_row_count(part) for _, part in named)
        # Sentences are not counted before: what is left is taken to have as many per text.
        progress("tagging", sentences, sentences * texts // posts, time.monotonic() - started)
    if not parts:
        raise BadInput("the corpus has no texts to tag", code="tags.no-texts")
    return parts, Tagged(posts=posts, sentences=sentences, resumed=resumed)


def _waves(pieces: Iterable[Corpus], size: int) -> Iterator[list[Corpus]]:
    """The pieces, as many together as are tagged at once."""
    remaining = iter(pieces)
    while wave := list(islice(remaining, size)):
        yield wave


def _tables(
    model: SymptomModel,
    pieces: Sequence[tuple[Corpus, Path]],
    engine: Engine,
    *,
    status: bool,
    subject: bool,
) -> Iterator[tuple[Path, pl.DataFrame]]:
    """The file of each piece and its tags, as they are made."""
    if not isinstance(engine, RayEngine):
        for piece, part in pieces:
            yield part, _tag_table(model, piece, status=status, subject=subject)
        return

    spec = portable_spec(model)
    rows = [
        {"place": place, "piece": pickle.dumps((piece, status, subject))}
        for place, (piece, _) in enumerate(pieces)
    ]
    for row in engine.map_rows(rows, TagPieces, (spec,), blocks=len(rows)):
        _, part = pieces[int(row["place"])]
        yield part, pickle.loads(row["tags"])


class TagPieces:
    """Tags pieces of a corpus with a symptom model that is opened from its spec when the actor starts."""

    def __init__(self, spec: str) -> None:
        self._model = _symptom_model(spec)

    def __call__(self, row: dict[str, Any]) -> dict[str, Any]:
        """The tags of the piece in a row of Ray Data."""
        piece, status, subject = pickle.loads(row["piece"])
        table = _tag_table(self._model, piece, status=status, subject=subject)
        return {"place": row["place"], "tags": pickle.dumps(table)}


def remove_parts(work: Path) -> None:
    """Remove the files of `tag_parts`, also those of other texts, and the folder if nothing else is in it."""
    six_digits = "[0-9]" * 6
    for part in work.glob(f"{six_digits}-*.parquet"):
        part.unlink()
    # rmdir refuses a folder that holds files of somebody else, which must stay.
    with suppress(OSError):
        work.rmdir()


def check_tag_file(out: Path, inputs: Iterable[Path]) -> None:
    """Refuse, before anything is tagged, a file of another kind or an input."""
    if out.suffix != ".parquet":
        raise BadInput(
            f"cannot write tags to '{out.name}'",
            code="tags.not-parquet",
            allowed="a file called *.parquet",
            key="out",
        )
    refuse_overwriting([out], inputs)


def read_tags(tags: TagTable) -> tuple[pl.LazyFrame, str]:
    """A tag table, whoever made it, and its name in messages."""
    if isinstance(tags, pl.DataFrame | pl.LazyFrame):
        return typed_tags(tags.lazy(), "tags"), "tags"

    where = str(tags)
    with explained(
        "the tag table cannot be read",
        OSError,
        pl.exceptions.PolarsError,
        code="tags.unreadable",
        where=where,
    ):
        frame = pl.scan_parquet(tags)
        frame.collect_schema()  # a damaged file shows here
    return typed_tags(frame, where), where


def make_tags(
    corpus: Corpus, symptoms: str, work: Path, progress: Progress
) -> tuple[pl.LazyFrame, SymptomModel]:
    """The tag table of a corpus by a symptom model, and the model.

    The files in `work` are of use until the table is no longer read; a call after a kill continues with them.
    """
    model = _symptom_model(symptoms)
    with sole_writer(work), writing(work):
        parts, _ = tag_parts(model, corpus.slices(), work, texts=len(corpus), progress=progress)
    return pl.scan_parquet(parts), model


def _symptom_model(spec: str) -> SymptomModel:
    model = open_model(spec)
    if not isinstance(model, SymptomModel):
        raise BadInput(
            f"'{spec}' is not a symptom model",
            code="model.not-a-symptom-model",
            allowed="symptoms:default, symptoms:descriptions, or symptoms:FOLDER of psycheck symptoms train",
            key="symptoms",
        )
    return model


def _row_count(part: Path) -> int:
    return int(pl.scan_parquet(part).select(pl.len()).collect().item())


def _tag_table(model: SymptomModel, piece: Corpus, *, status: bool, subject: bool) -> pl.DataFrame:
    """The rows of one piece."""
    # All sentences of the piece go to the model at once: posts alone would make small batches.
    sentences_by_post = [split_sentences(text) for text in piece.texts]
    all_sentences = [sentence for sentences in sentences_by_post for sentence in sentences]
    tags = tags_of(model, all_sentences)

    # The post of each sentence, and the number of the sentence in its post, (sentences,).
    counts = np.array([len(sentences) for sentences in sentences_by_post], np.int64)
    post = np.repeat(np.arange(len(counts)), counts)
    first_sentence = np.repeat(np.cumsum(counts) - counts, counts)
    number = np.arange(len(post)) - first_sentence

    table = piece.table.select("id")[post].with_columns(
        pl.Series("sentence", number, pl.Int32),
        pl.Series("author", piece.strings("author"), pl.String)[post],
        pl.Series("time", piece.strings("time"), pl.String)[post],
        pl.Series("uncertain", tags.uncertain, pl.Float32, nan_to_null=True),
        pl.Series("own", tags.own),
    )
    weights = weighted(tags, status=status, subject=subject)
    return table.with_columns(
        *_label_columns(RELEVANCE, model, tags.relevance),
        *_label_columns(WEIGHT, model, weights),
        *_status_columns(model, tags),
    )


def _status_columns(model: SymptomModel, tags: Tags) -> list[pl.Series]:
    """One column per symptom: what the text says of it, as one of a few words."""
    words = pl.Enum(STATUSES)
    codes = tags.status.astype(np.uint8)
    return [pl.Series(STATUS + label, codes[:, k]).cat.to(words) for k, label in enumerate(model.labels)]


def _label_columns(prefix: str, model: SymptomModel, values: FloatArray) -> list[pl.Series]:
    """One column per symptom from values (sentences, symptoms)."""
    # Half the size on the disk: a table has a row per sentence and two columns per symptom.
    narrow = values.astype(np.float32)
    return [pl.Series(prefix + label, narrow[:, k]) for k, label in enumerate(model.labels)]
