"""Scores or silver labels of a whole corpus, as a table of ids and hashes of texts."""

from collections.abc import Callable, Iterable, Mapping
from contextlib import closing
from pathlib import Path
from typing import Any

import polars as pl

from psycheck.corpus import Corpus
from psycheck.errors import BadInput
from psycheck.model import Model, digest
from psycheck.models.score_file import SILVER
from psycheck.runs.folder import writing
from psycheck.scoring.engine import Progress, score_once, silent
from psycheck.scoring.store import Store, default_store
from psycheck.scoring.view import RememberedScores
from psycheck.verbs.plan import refuse_input

WRITTEN: Mapping[str, Callable[[pl.DataFrame, Path], Any]] = {
    ".csv": lambda table, path: table.write_csv(path),
    ".tsv": lambda table, path: table.write_csv(path, separator="\t"),
    ".jsonl": lambda table, path: table.write_ndjson(path),
    ".parquet": lambda table, path: table.write_parquet(path),
}


def score_corpus(
    model: Model,
    corpus: Corpus,
    *,
    threshold: float | None = None,
    store: Path | None = None,
    progress: Progress = silent,
) -> tuple[pl.DataFrame, int]:
    """A table of ids with a score for each label (null: no usable answer), and how many texts failed.

    With a threshold it also has a column NAME_silver with 0/1 for each label. The last column, `text_hash`,
    says which text a row is for, so that `scores:` takes the file.
    """
    with closing(Store(store or default_store())) as opened:
        view = RememberedScores(opened, model, model.labels)
        pieces = (
            ((k + 1) / max(1, -(-len(corpus) // 2_000)), p.texts) for k, p in enumerate(corpus.slices())
        )
        tally = score_once([(model, view)], opened, pieces, progress)[model.name]
        columns = [pl.Series("id", corpus.ids, pl.String)]
        texts = corpus.texts
        values = view.of(texts)
    for k, label in enumerate(model.labels):
        column = pl.Series(label, values[:, k].copy()).fill_nan(None)
        columns.append(column)
        if threshold is not None:
            columns.append((column >= threshold).cast(pl.Int8).alias(f"{label}{SILVER}"))
    columns.append(pl.Series("text_hash", [digest(text).hex() for text in texts], pl.String))
    return pl.DataFrame(columns), tally.failed


def check_output(path: Path, inputs: Iterable[Path]) -> None:
    """Refuse, before anything is scored, a file that cannot be written or that the scores come from."""
    if path.suffix not in WRITTEN:
        raise BadInput(
            f"cannot write '{path.suffix}' files", where=str(path), allowed=", ".join(sorted(WRITTEN))
        )
    refuse_input(path, inputs, "--out")


def write_scores(table: pl.DataFrame, path: Path) -> None:
    """Write a table as CSV, TSV, JSONL or Parquet, by its name, whole or not at all."""
    check_output(path, ())
    part = path.with_name(path.name + ".part")
    with writing(path):
        path.parent.mkdir(parents=True, exist_ok=True)
        try:
            WRITTEN[path.suffix](table, part)
            part.replace(path)
        finally:
            part.unlink(missing_ok=True)
