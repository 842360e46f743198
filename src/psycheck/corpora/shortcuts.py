"""Shortcuts: what tells a label without reading, such as one word, the length or remains of an encoding."""

from collections.abc import Iterator

import numpy as np
import polars as pl

from psycheck.corpora.mend import even_lengths, without_word
from psycheck.corpora.signs import LIMITS, TABLE, Sign, both_classes, enough, share
from psycheck.corpora.vocabulary import FEWEST, Words, showable, showable_beginning, word_table
from psycheck.errors import BadInput
from psycheck.measures import clustered
from psycheck.measures.classification import BoolArray, auc, classification_intervals
from psycheck.measures.clustered import Clusters
from psycheck.measures.distance import Figure


def word_and_length(words: Words, label: str, *, show: bool) -> Iterator[Sign]:
    """The word that tells a label best, and the length; the word is named if it is common, or with `show`."""
    yes, no = both_classes(words.corpus, label)
    word, shown = None, False
    if enough(yes, no) and (best := _most_telling(words.table, yes, no, either_way=True)):
        rows = words.table.filter(pl.col("word") == best[0])["row"].to_numpy()
        figure = _told_by(words, label, np.isin(np.arange(len(yes)), rows))
        if figure.value >= TABLE["single_word"]["from"]:
            word = best[0]
            shown = show or showable(word, words)
            yield Sign("single_word", figure, label, word=word * shown)
    yield from _length(words, label, word, shown=shown)


def keyword(words: Words, label: str, *, show: bool) -> Iterator[Sign]:
    """The beginning of a word that nearly all texts annotated 1 hold, and few others."""
    letters = LIMITS["keyword_letters"]
    yes, no = both_classes(words.corpus, label)
    ones = int(yes.sum())
    stems = (
        words.table.filter(pl.col("word").str.len_chars() >= letters)
        .with_columns(pl.col("word").str.slice(0, letters))
        .unique()
    )
    if ones < LIMITS["each_class"] or (best := _most_telling(stems, yes, no)) is None:
        return
    stem, held, others = best
    elsewhere = others / max(int(no.sum()), 1)
    if held / ones >= TABLE["keyword_label"]["from"] and elsewhere <= LIMITS["keyword_elsewhere"]:
        shown = show or showable_beginning(stem, words)
        holds = np.isin(np.arange(len(yes)), stems.filter(pl.col("word") == stem)["row"].to_numpy())
        yield Sign("keyword_label", share(words.corpus, holds, yes), label, word=stem * shown)


def debris(words: Words, label: str) -> Iterator[Sign]:
    """Remains of a wrong decoding or of HTML that one class has more often than the other."""
    if not enough(*both_classes(words.corpus, label)):
        return
    texts = words.corpus.table["text"]
    whole, bare = (texts.str.contains(LIMITS[kind]).to_numpy() for kind in ("debris", "bare_debris"))
    figure = _told_by(words, label, whole | bare)
    if figure.interval and figure.interval[0] > 0.5:
        kind = "encoding_debris" if whole.sum() >= bare.sum() else "encoding_debris.bare"
        yield Sign(kind, figure, label)


def _told_by(words: Words, label: str, holds: BoolArray) -> Figure:
    """The balanced accuracy of telling a label by what some texts hold, of either class."""
    yes, no = both_classes(words.corpus, label)
    gap = float(holds[yes].mean() - holds[no].mean())
    units = Clusters.of(words.corpus.units())
    ends = clustered.difference_interval((holds & yes, yes), (holds & no, no), units)
    low, high = sorted(0.5 + (end if gap >= 0 else -end) / 2 for end in ends)
    return Figure(0.5 + abs(gap) / 2, (low, high), int((yes | no).sum()))


def _most_telling(
    table: pl.DataFrame, yes: BoolArray, no: BoolArray, *, either_way: bool = False
) -> tuple[str, int, int] | None:
    """The word that the largest share of texts annotated 1 holds beyond that of others, and how many of each.

    Words in few texts do not count; with `either_way` a word may also be one of the texts annotated 0.
    """
    marks = pl.DataFrame({"row": np.arange(len(yes), dtype=np.uint32), "yes": yes, "no": no})
    gap = pl.col("yes") / int(yes.sum()) - pl.col("no") / max(int(no.sum()), 1)
    counts = table.join(marks, on="row").group_by("word").agg(pl.col("yes", "no").sum().cast(pl.Int64))
    ranked = counts.filter(pl.col("yes") + pl.col("no") >= FEWEST).sort(
        gap.abs() if either_way else gap, "word", descending=[True, False]
    )
    return ranked.row(0) if len(ranked) else None


def _length(words: Words, label: str, word: str | None, *, shown: bool) -> Iterator[Sign]:
    """The sign of the length, with what helps: first without a word that tells the label as well."""
    if (figure := _told_by_length(words, label)) is None:
        return
    bare = words.corpus if word is None else without_word(words.corpus, word)
    name, what, typed = "length", "", None if word is None else word * shown
    if word is not None and _told_by_length(word_table(bare), label) is None:
        name = "length.word"
    else:
        try:
            left = both_classes(even_lengths(bare, label), label)
        except BadInput:  # no text is left where the classes are made even in length
            left = np.zeros(0, np.bool_), np.zeros(0, np.bool_)
        if not enough(*left):
            name, what, typed = "length.apart", f"{sum(int(side.sum()) for side in left):,}", None
        elif word is not None:
            name = "length.both"
    yield Sign(name, figure, label, what, typed)


def _told_by_length(words: Words, label: str) -> Figure | None:
    """How well the number of words tells the label, an AUC; None if hardly."""
    if not enough(*both_classes(words.corpus, label)):
        return None
    targets, scores = words.corpus.targets([label])[:, 0], words.lengths / max(words.lengths.max(), 1.0)
    value = auc(targets, scores).value
    if value < 0.5:
        value, scores = 1 - value, 1 - scores
    if value < TABLE["length"]["from"]:
        return None
    ends = classification_intervals(targets, scores, Clusters.of(words.corpus.units()))["auc"]
    return Figure(value, ends, int((~np.isnan(targets)).sum()))
