"""What tells a label without being understood: one word, a keyword, the mere length."""

from dataclasses import dataclass

import numpy as np
import polars as pl

from psycheck.corpora.vocabulary import FEWEST
from psycheck.corpus import Corpus
from psycheck.finding import Interval
from psycheck.measures import bootstrap
from psycheck.measures.classification import auc, gold
from psycheck.measures.intervals import wilson
from psycheck.model import FloatArray
from psycheck.text.words import WORD


@dataclass(frozen=True, slots=True)
class Words:
    """Which words stand in which text (`table`: row, word; each pair once), and how long the texts are."""

    corpus: Corpus
    table: pl.DataFrame
    lengths: FloatArray


@dataclass(frozen=True, slots=True)
class Shortcut:
    """A word, a beginning of words, or the length (""); `elsewhere` is its share among texts annotated 0."""

    word: str
    figure: float
    interval: Interval
    n: int
    elsewhere: float = 0.0


def word_table(corpus: Corpus) -> Words:
    """Cut all texts into words at once."""
    cut = corpus.table.select(
        pl.col("text").str.to_lowercase().str.extract_all(WORD).alias("word")
    ).with_row_index("row")
    lengths = cut["word"].list.len().cast(pl.Float64).to_numpy()
    table = cut.with_columns(pl.col("word").list.unique()).explode("word").drop_nulls("word")
    return Words(corpus, table, lengths)


def telling_word(words: Words, label: str, each_class: int) -> Shortcut | None:
    """The word whose presence, or absence, tells the label best: balanced accuracy.

    None where a class has fewer than `each_class` texts.
    """
    ones, zeros = _sizes(words, label)
    if min(ones, zeros) < each_class:
        return None
    counts = _counts(words.table, words, label)
    if not len(counts):
        return None
    best = counts.with_columns((pl.col("yes") / ones - pl.col("no") / zeros).abs().alias("gap")).sort(
        "gap", "word", descending=[True, False]
    )
    word, yes, no, gap = best.row(0)
    with_word, without = (yes, zeros - no) if yes / ones >= no / zeros else (ones - yes, no)
    ends = zip(wilson(with_word, ones), wilson(without, zeros), strict=True)
    low, high = (sum(pair) / 2 for pair in ends)
    return Shortcut(word, 0.5 + gap / 2, (low, high), ones + zeros)


def keyword(words: Words, label: str, each_class: int, letters: int) -> Shortcut | None:
    """The beginning of so many letters that most texts annotated 1 hold, of those that few others hold."""
    ones, zeros = _sizes(words, label)
    if ones < each_class:
        return None
    stems = (
        words.table.filter(pl.col("word").str.len_chars() >= letters)
        .with_columns(pl.col("word").str.slice(0, letters))
        .unique()
    )
    counts = _counts(stems, words, label)
    if not len(counts):
        return None
    best = counts.with_columns((pl.col("yes") / ones - pl.col("no") / max(zeros, 1)).alias("gap")).sort(
        "gap", "word", descending=[True, False]
    )
    stem, yes, no, _ = best.row(0)
    return Shortcut(stem, yes / ones, wilson(yes, ones), ones, no / max(zeros, 1))


def telling_length(words: Words, label: str, each_class: int, least: float = 0.5) -> Shortcut | None:
    """How well the number of words tells the label: AUC, whichever way round it is; None below `least`."""
    ones, zeros = _sizes(words, label)
    if min(ones, zeros) < each_class:
        return None
    targets = words.corpus.targets([label])[:, 0]
    scores = words.lengths / max(words.lengths.max(), 1.0)
    value = auc(targets, scores).value
    if value < 0.5:
        value, scores = 1 - value, 1 - scores
    if value < least:
        return None
    interval = bootstrap.score_intervals(targets, scores, resamples=200)["auc"]
    return Shortcut("", value, interval, ones + zeros)


def _counts(table: pl.DataFrame, words: Words, label: str) -> pl.DataFrame:
    """In how many texts annotated 1 (yes) and 0 (no) each word stands; words in few texts are left out."""
    targets = words.corpus.targets([label])[:, 0]
    marks = pl.DataFrame(
        {
            "row": np.arange(len(targets), dtype=np.uint32),
            "yes": ~np.isnan(targets) & gold(targets),
            "no": ~np.isnan(targets) & ~gold(targets),
        }
    )
    return (
        table.join(marks, on="row")
        .group_by("word")
        .agg(pl.col("yes").sum().cast(pl.Int64), pl.col("no").sum().cast(pl.Int64))
        .filter(pl.col("yes") + pl.col("no") >= FEWEST)
        .select("word", "yes", "no")
    )


def _sizes(words: Words, label: str) -> tuple[int, int]:
    """How many texts are annotated 1 and 0."""
    targets = words.corpus.targets([label])[:, 0]
    known = targets[~np.isnan(targets)]
    ones = int(gold(known).sum())
    return ones, len(known) - ones
