"""Scores of a corpus in many files: one Parquet file of scores for each, written by whoever scored it.

A file of scores appears when it is complete and is never made again, so that a killed job goes on where it
was. Nothing grows with the corpus: only the names of its files are in memory.
"""

import time
from collections import Counter
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import asdict, dataclass, field, replace
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import numpy as np
import polars as pl

from psycheck.core.arrays import FloatArray
from psycheck.core.corpus import Corpus
from psycheck.core.errors import BadInput, MissingExtra
from psycheck.core.item import digest_of, sizes_of
from psycheck.core.model import Model, Replying, capabilities_of
from psycheck.core.progress import Progress, silent
from psycheck.corpora.opening import CorpusPlan
from psycheck.corpora.stream import stream_corpus
from psycheck.io.writing import written
from psycheck.models.fingerprint import hashed
from psycheck.models.opening import open_model
from psycheck.scoring.engine import Engine, open_engine
from psycheck.scoring.local import LocalEngine
from psycheck.scoring.ray_batch import score_batch
from psycheck.scoring.ray_engine import RayEngine, portable_spec
from psycheck.scoring.task import batch_size_of, in_batches

_URL = "://"
_WILDCARDS = "*?["


@dataclass(frozen=True, slots=True)
class Shard:
    """A file of texts, and the file that its scores are written to: paths, or URLs that fsspec opens."""

    source: str
    target: str


@dataclass(slots=True)
class ShardTally:
    """What became of the files and texts of a corpus; `reused` files had their scores already."""

    shards: int = 0
    reused: int = 0
    texts: int = 0
    failed: int = 0
    complaints: Counter[str] = field(default_factory=Counter)


def is_sharded(corpus: str, out: str = "") -> bool:
    """Whether files are scored one by one: a pattern, a URL, or a file whose scores go into a folder."""
    has_wildcard = any(character in corpus for character in _WILDCARDS)
    into_folder = out != "" and not Path(out).suffix
    if into_folder and Path(corpus).is_file():
        return True
    return _URL in corpus or (has_wildcard and not Path(corpus).exists())


def score_shards(
    model: Model,
    plan: CorpusPlan,
    out: str,
    *,
    engine: str,
    progress: Progress = silent,
) -> ShardTally:
    """Score every file of a corpus that has no file of scores in the folder `out` yet.

    The columns are guessed from each file unless `plan` names them.
    """
    if isinstance(model, Replying) or capabilities_of(model).takes != "texts":
        raise BadInput(
            f"model '{model.name}' cannot score file by file",
            code="shards.other-model",
            allowed="a classifier of texts",
            do="score one file, with all posts of an author in it",
        )
    shards = _shards_of(plan.path, out, model.fingerprint)
    tally = ShardTally(shards=len(shards))
    waiting = [shard for shard in shards if not _exists(shard.target)]
    tally.reused = len(shards) - len(waiting)

    started = time.monotonic()
    finished = _scored_shards(model, plan, waiting, open_engine(engine))
    for count, shard_tally in enumerate(finished, start=1):
        tally.texts += shard_tally.texts
        tally.failed += shard_tally.failed
        tally.complaints.update(shard_tally.complaints)
        progress(f"{model.name}, files", count, len(waiting), time.monotonic() - started)
    return tally


def _scored_shards(
    model: Model, plan: CorpusPlan, shards: Sequence[Shard], engine: Engine
) -> Iterator[ShardTally]:
    """The tally of each file, as soon as its scores are written."""
    if isinstance(engine, RayEngine):
        rows = [{**asdict(shard), "plan": plan} for shard in shards]
        for row in engine.map_rows(rows, ScoreShards, (portable_spec(model),), blocks=len(rows)):
            complaints = Counter(dict.fromkeys(row["complaints"], 1))
            yield ShardTally(texts=int(row["texts"]), failed=int(row["failed"]), complaints=complaints)
        return
    if not isinstance(engine, LocalEngine):
        raise BadInput(
            "this engine cannot score file by file",
            code="shards.other-engine",
            key="engine",
            allowed="local, ray, ray://HOST:PORT",
        )
    for shard in shards:
        yield score_shard(model, shard, plan)


class ScoreShards:
    """Scores files with a model that is opened from its spec when the actor starts."""

    def __init__(self, spec: str) -> None:
        self._model = open_model(spec)

    def __call__(self, row: dict[str, Any]) -> dict[str, Any]:
        """The tally of the file in a row of Ray Data, whose scores are written by now."""
        tally = score_shard(self._model, Shard(row["source"], row["target"]), row["plan"])
        return {"texts": tally.texts, "failed": tally.failed, "complaints": list(tally.complaints)}


def score_shard(model: Model, shard: Shard, plan: CorpusPlan) -> ShardTally:
    """Score the texts of one file, and write their scores whole or not at all."""
    tally = ShardTally()
    with _fetched(shard.source) as source, TemporaryDirectory(prefix="psycheck-") as folder:
        # Piece by piece on the disk: a file, and its scores, may be larger than the memory.
        parts: list[Path] = []
        for piece in stream_corpus(replace(plan, path=str(source))):
            scores = _scores_of_piece(model, piece, tally)
            parts.append(Path(folder) / f"{len(parts):08}.parquet")
            _table(model, piece, scores).write_parquet(parts[-1])
        _put(pl.scan_parquet(parts), shard.target)
    return tally


def _scores_of_piece(model: Model, piece: Corpus, tally: ShardTally) -> FloatArray:
    """The scores of a piece of a file, (n, k); NaN where a text has none."""
    texts = piece.texts
    scores = np.full((len(texts), len(model.labels)), np.nan)
    # The longest first: texts of one length pad each other least.
    order: list[int] = np.argsort(-sizes_of(texts), kind="stable").tolist()
    for rows in in_batches(order, batch_size_of(model)):
        scored = score_batch(model, [texts[row] for row in rows])
        scores[np.array(rows)[scored.rows]] = scored.scores
        tally.complaints.update(scored.complaints)

    tally.texts += len(texts)
    tally.failed += int(np.isnan(scores).all(axis=1).sum())
    return scores


def _table(model: Model, piece: Corpus, scores: FloatArray) -> pl.DataFrame:
    """One row per text: its id, a score per label, and the hash by which `scores:FILE` finds it."""
    hashes = [digest_of(text).hex() for text in piece.texts]
    columns = [pl.Series(label, scores[:, k]).fill_nan(None) for k, label in enumerate(model.labels)]
    return piece.table.select("id").hstack([*columns, pl.Series("text_hash", hashes, pl.String)])


def _shards_of(pattern: str, out: str, fingerprint: str) -> list[Shard]:
    """The files of a pattern, sorted; the name of a file of scores tells the model and the content."""
    shards = []
    for source, size in sorted(_sizes_by_file(pattern).items()):
        mark = hashed(fingerprint, source, str(size))[:16]
        name = source.rpartition("/")[2]
        shards.append(Shard(source, f"{out.rstrip('/')}/{name}-{mark}.parquet"))
    if not shards:
        raise BadInput("no file has such a name", code="shards.no-file", where=pattern)
    return shards


def _sizes_by_file(pattern: str) -> dict[str, int]:
    """The size in bytes of each file that a pattern names."""
    if Path(pattern).is_file():
        return {pattern: Path(pattern).stat().st_size}
    if _URL not in pattern:
        # Path.glob takes no absolute pattern.
        root = Path(Path(pattern).anchor)
        paths = root.glob(str(Path(pattern).relative_to(root)))
        return {str(path): path.stat().st_size for path in paths if path.is_file()}
    filesystem, path_in_store = _opened_url(pattern)
    entries = filesystem.glob(path_in_store, detail=True)
    return {filesystem.unstrip_protocol(name): int(entry["size"] or 0) for name, entry in entries.items()}


def _exists(target: str) -> bool:
    if _URL not in target:
        return Path(target).is_file()
    filesystem, path = _opened_url(target)
    return bool(filesystem.exists(path))


@contextmanager
def _fetched(source: str) -> Iterator[Path]:
    """A file as one of this machine, for as long as it is read."""
    if _URL not in source:
        yield Path(source)
        return
    filesystem, path = _opened_url(source)
    with TemporaryDirectory(prefix="psycheck-") as folder:
        # Formats are known by their endings.
        local = Path(folder) / source.rpartition("/")[2]
        filesystem.get_file(path, str(local))
        yield local


def _put(table: pl.LazyFrame, target: str) -> None:
    """Write a table where nobody sees it before it is complete."""
    if _URL not in target:
        with written(Path(target)) as part:
            table.sink_parquet(part)
        return
    filesystem, path = _opened_url(target)
    with TemporaryDirectory(prefix="psycheck-") as folder:
        local = Path(folder) / "scores.parquet"
        table.sink_parquet(local)
        # An object store shows an object once it is whole; elsewhere a move does that.
        partial = f"{path}.partial"
        filesystem.makedirs(path.rpartition("/")[0], exist_ok=True)
        filesystem.put_file(str(local), partial)
        filesystem.mv(partial, path)


def _opened_url(url: str) -> tuple[Any, str]:
    """The file system of a URL, and the path in it."""
    try:
        from fsspec.core import url_to_fs
    except ImportError as error:
        raise MissingExtra(f"reading '{url.partition(_URL)[0]}' URLs", "scale") from error
    try:
        filesystem, path = url_to_fs(url)
    except (ImportError, ValueError) as error:
        # Each kind of store has a package of its own, such as s3fs and gcsfs.
        raise BadInput(
            f"the URL cannot be opened ({type(error).__name__})",
            code="shards.bad-url",
            where=url,
            allowed="a URL that fsspec opens",
            do="install the package of the store on every machine: s3fs, gcsfs, adlfs …",
        ) from error
    return filesystem, path
