"""Scores or silver labels of a whole corpus, as a table of ids and hashes of texts."""

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, Literal

import numpy as np
import polars as pl

from psycheck.audits.measured import thresholds_of
from psycheck.corpora.histories import as_taken
from psycheck.corpus import Corpus
from psycheck.errors import BadInput
from psycheck.files.write import refuse_overwriting, writing, written
from psycheck.finding import spreadsheet_safe
from psycheck.measures.classification import decide
from psycheck.model import Item, Model, digest_of
from psycheck.models.score_file import SILVER
from psycheck.scoring.answers import answers, in_equal_shares
from psycheck.scoring.engine import Piece, Progress, silent
from psycheck.scoring.limits import NO_LIMITS, Limits
from psycheck.verbs.threshold import DEV, choose_thresholds, set_aside

_SAFE = pl.col("id").map_elements(spreadsheet_safe, pl.String)  # scores:FILE finds texts by `text_hash`
WRITTEN: Mapping[str, Callable[[pl.DataFrame, Path], Any]] = {
    ".csv": lambda table, path: table.with_columns(_SAFE).write_csv(path),
    ".tsv": lambda table, path: table.with_columns(_SAFE).write_csv(path, separator="\t"),
    ".jsonl": lambda table, path: table.write_ndjson(path),
    ".parquet": lambda table, path: table.write_parquet(path),
}


def score_corpus(
    model: Model,
    corpus: Corpus,
    *,
    threshold: float | Literal["dev"] | None = None,
    store: Path | None = None,
    progress: Progress = silent,
    limits: Limits = NO_LIMITS,
    say: Callable[[str], None] = lambda note: None,
) -> tuple[pl.DataFrame, int, tuple[str, ...]]:
    """A table of ids with a score per label (null: no usable answer), how many texts failed, and notes.

    With a threshold it also has a column NAME_silver of 0 and 1 for each label; of exclusive classes the one
    with the largest score is 1. A threshold from dev leaves the silver labels of dev texts empty. The last
    column, `text_hash`, names the text of each row, so that the file can be opened as `scores:FILE`.
    """
    (corpus,), before = as_taken([corpus], [model]), corpus.notes
    for note in corpus.notes[len(before) :]:
        say(f"{corpus.name}: {note}")
    items: Sequence[Item] = corpus.items
    notes: tuple[str, ...] = ()
    dev = set_aside([corpus], {model.name: model.labels})[1] if threshold == DEV else []
    how: dict[str, Any] = {"store": store, "progress": progress, "limits": limits, "say": say}
    with answers([model], pieces_of(corpus), **how) as found:
        values, view = found.views[0].of(items), found.views[0]
        cuts = thresholds_of(view, 0.5 if threshold is None or threshold == DEV else threshold)
        if dev:
            chosen = choose_thresholds(view, dev)
            cuts, notes = chosen.values, chosen.notes
    columns = [pl.Series("id", corpus.ids, pl.String)]
    silver = decide(values, cuts, exclusive=getattr(model, "exclusive", False))
    if dev:
        silver[[split == DEV for split in corpus.strings("split")]] = np.nan
    for k, label in enumerate(model.labels):
        column = pl.Series(label, values[:, k].copy()).fill_nan(None)
        columns.append(column)
        if threshold is not None:
            columns.append(pl.Series(f"{label}{SILVER}", silver[:, k]).fill_nan(None).cast(pl.Int8))
    columns.append(pl.Series("text_hash", [digest_of(item).hex() for item in items], pl.String))
    return pl.DataFrame(columns), found.tallies[model.name].failed, notes


def pieces_of(corpus: Corpus) -> Iterator[Piece]:
    """The texts or histories of a corpus in pieces to score."""
    return in_equal_shares([piece.items for piece in corpus.slices()])


def check_output(path: Path, inputs: Iterable[Path]) -> None:
    """Refuse, before anything is scored, a file that cannot be written or that is an input."""
    if path.suffix not in WRITTEN:
        raise BadInput(
            f"cannot write '{path.suffix}' files", where=str(path), allowed=", ".join(sorted(WRITTEN))
        )
    refuse_overwriting([path], inputs)


def write_scores(table: pl.DataFrame, path: Path) -> None:
    """Write a table as CSV, TSV, JSONL or Parquet, by its suffix, whole or not at all."""
    check_output(path, ())
    with writing(path), written(path) as part:
        WRITTEN[path.suffix](table, part)
