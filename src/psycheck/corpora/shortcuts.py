"""Shortcuts: what tells a label without reading, such as one word, the length or remains of an encoding."""

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
import polars as pl

from psycheck.core.corpus import Corpus
from psycheck.core.errors import BadInput
from psycheck.corpora.remedies import even_lengths, without_word
from psycheck.corpora.showable_words import FEWEST, Words, showable, showable_beginning, word_table
from psycheck.corpora.suspicious_figures import LIMITS, TABLE, Sign, both_classes, enough, share
from psycheck.statistics import clustered
from psycheck.statistics.classification import BoolArray, auc
from psycheck.statistics.clustered import Clusters
from psycheck.statistics.label_intervals import classification_intervals
from psycheck.statistics.sides import Figure


def word_and_length(words: Words, label: str, *, show: bool) -> Iterator[Sign]:
    """The word that tells a label best, and the length; the word is named if it is common, or with `show`."""
    # The word comes first: texts may be longer only because of it, and then removing it mends the length too.
    word_sign, word = _single_word(words, label, show=show)
    if word_sign is None:
        yield from _length_alone(words, label)
    else:
        yield word_sign
        yield from _length_beside_word(
            words=words,
            label=label,
            word=word,
            visible_word=word_sign.word,
        )


def _single_word(words: Words, label: str, *, show: bool) -> tuple[Sign | None, str]:
    """The sign of the word that tells a label best, if it tells it well, and the word, hidden or not."""
    yes, no = both_classes(words.corpus, label)
    if not enough(yes, no):
        return None, ""
    best = _most_telling(
        table=words.table,
        yes=yes,
        no=no,
        either_way=True,
    )
    if best is None:
        return None, ""

    has_word = _texts_with(best.word, words.table, len(yes))
    figure = _told_by(words.corpus, label, has_word)
    if figure.value < TABLE["single_word"]["from"]:
        return None, ""

    # The word may be a person's name: the sign hides it, but the length is still measured without it.
    visible = show or showable(best.word, words)
    sign = Sign(
        name="single_word",
        figure=figure,
        label=label,
        word=best.word if visible else "",
    )
    return sign, best.word


def keyword(words: Words, label: str, *, show: bool) -> Iterator[Sign]:
    """The beginning of a word that nearly all texts annotated 1 hold, and few others."""
    letters = LIMITS["keyword_letters"]
    yes, no = both_classes(words.corpus, label)
    positives = int(yes.sum())
    if positives < LIMITS["each_class"]:
        return

    # "depressed" and "depression" come from one search term: beginnings are compared, not words.
    is_long = pl.col("word").str.len_chars() >= letters
    beginning = pl.col("word").str.slice(0, letters)
    # A text with two words of one beginning counts once.
    stems = words.table.filter(is_long).with_columns(beginning).unique()
    best = _most_telling(stems, yes, no)
    if best is None:
        return

    share_of_positives = best.positives / positives
    # A corpus may have no text annotated 0: posts that a keyword search collected, all annotated 1.
    share_of_negatives = best.negatives / max(int(no.sum()), 1)
    in_nearly_all = share_of_positives >= TABLE["keyword_label"]["from"]
    if in_nearly_all and share_of_negatives <= LIMITS["keyword_elsewhere"]:
        visible = show or showable_beginning(best.word, words)
        has_stem = _texts_with(best.word, stems, len(yes))
        figure = share(words.corpus, has_stem, yes)
        yield Sign(
            name="keyword_label",
            figure=figure,
            label=label,
            word=best.word if visible else "",
        )


def debris(words: Words, label: str) -> Iterator[Sign]:
    """Remains of a wrong decoding or of HTML that one class has more often than the other."""
    if not enough(*both_classes(words.corpus, label)):
        return

    texts = words.corpus.table["text"]
    repairable = texts.str.contains(LIMITS["debris"]).to_numpy()
    bare = texts.str.contains(LIMITS["bare_debris"]).to_numpy()
    figure = _told_by(words.corpus, label, repairable | bare)

    # Debris has no content, so any share of it that the interval sets apart from chance is a shortcut.
    if figure.interval and figure.interval[0] > 0.5:
        mostly_repairable = repairable.sum() >= bare.sum()
        name = "encoding_debris" if mostly_repairable else "encoding_debris.bare"
        yield Sign(
            name=name,
            figure=figure,
            label=label,
        )


def label_of_source(corpus: Corpus, label: str) -> Iterator[Sign]:
    """How well the source of the texts, a group column, tells a label."""
    yes, no = both_classes(corpus, label)
    if not enough(yes, no):
        return

    # Of other groups a label may rightly depend: gender, or what a text mentions.
    for group in corpus.groups:
        if group.casefold() not in LIMITS["sources"]:
            continue
        members = np.array([member or "" for member in corpus.group(group)])
        # Together, because a group of a few texts is of one class by chance.
        names, texts = np.unique(members[yes | no], return_counts=True)
        members[np.isin(members, names[texts < FEWEST])] = ""

        _, codes = np.unique(members, return_inverse=True)
        code_count = codes.max() + 1
        positive_shares = np.bincount(codes[yes], minlength=code_count) / yes.sum()
        negative_shares = np.bincount(codes[no], minlength=code_count) / no.sum()
        # Whether the group of each text has a larger share of the texts annotated 1 than of the others.
        in_positive_group = (positive_shares > negative_shares)[codes]
        yield Sign(
            name="label_of_source",
            figure=_told_by(corpus, label, in_positive_group),
            label=label,
            what=group,
        )


def _texts_with(word: str, table: pl.DataFrame, texts: int) -> BoolArray:
    """Which of so many texts have a word, (n,), by a table of `row` and `word`."""
    rows = table.filter(pl.col("word") == word)["row"].to_numpy()
    return np.isin(np.arange(texts), rows)


def _told_by(corpus: Corpus, label: str, holds: BoolArray) -> Figure:
    """The balanced accuracy of telling a label by a trait, (n,), whichever class has it more often."""
    yes, no = both_classes(corpus, label)
    gap = float(holds[yes].mean() - holds[no].mean())
    sign = 1 if gap >= 0 else -1

    units = Clusters.of(corpus.units(), corpus.copies())
    gap_ends = clustered.difference_interval((holds & yes, yes), (holds & no, no), units)
    # Balanced accuracy is a half plus half the gap between the two shares; a negative gap swaps the ends.
    low, high = sorted(0.5 + sign * end / 2 for end in gap_ends)
    return Figure(
        value=0.5 + abs(gap) / 2,
        interval=(low, high),
        n=int((yes | no).sum()),
    )


@dataclass(frozen=True, slots=True)
class _WordCount:
    """A word and how many texts annotated 1 and annotated 0 have it."""

    word: str
    positives: int
    negatives: int


def _most_telling(
    table: pl.DataFrame,
    yes: BoolArray,
    no: BoolArray,
    *,
    either_way: bool = False,
) -> _WordCount | None:
    """The word whose share among texts annotated 1 exceeds that among others most.

    Words in few texts do not count; with `either_way` a word may also be one of the texts annotated 0.
    """
    # Polars numbers rows with uint32, and a join needs the same type on either side.
    rows = np.arange(len(yes), dtype=np.uint32)
    annotations = pl.DataFrame({"row": rows, "yes": yes, "no": no})
    texts_with_word = pl.col("yes", "no").sum().cast(pl.Int64)
    counts = table.join(annotations, on="row").group_by("word").agg(texts_with_word)
    common = counts.filter(pl.col("yes") + pl.col("no") >= FEWEST)

    share_of_yes = pl.col("yes") / int(yes.sum())
    share_of_no = pl.col("no") / max(int(no.sum()), 1)
    gap = share_of_yes - share_of_no
    rank = gap.abs() if either_way else gap
    # Ties go to the first word of the alphabet.
    ranked = common.sort(rank, "word", descending=[True, False])
    if len(ranked):
        return _WordCount(*ranked.row(0))
    return None


def _length_alone(words: Words, label: str) -> Iterator[Sign]:
    """The sign of the length where no word tells the label."""
    figure = _told_by_length(words, label)
    if figure is None:
        return

    texts_left = _too_few_of_like_length(words.corpus, label)
    if texts_left is not None:
        yield _lengths_apart(figure, label, texts_left)
        return
    yield Sign(
        name="length",
        figure=figure,
        label=label,
    )


def _length_beside_word(
    words: Words,
    label: str,
    word: str,
    visible_word: str | None,
) -> Iterator[Sign]:
    """The sign of the length where a word tells the label too: removing the word may be enough."""
    figure = _told_by_length(words, label)
    if figure is None:
        return

    without = without_word(words.corpus, word)
    if _told_by_length(word_table(without), label) is None:
        yield Sign(
            name="length.word",
            figure=figure,
            label=label,
            word=visible_word,
        )
        return

    texts_left = _too_few_of_like_length(without, label)
    if texts_left is None:
        yield Sign(
            name="length.both",
            figure=figure,
            label=label,
            word=visible_word,
        )
    else:
        yield _lengths_apart(figure, label, texts_left)


def _lengths_apart(figure: Figure, label: str, texts_left: int) -> Sign:
    """The sign of a length that balancing cannot mend: too few texts would be left to recommend it."""
    return Sign(
        name="length.apart",
        figure=figure,
        label=label,
        what=f"{texts_left:,}",
    )


def _too_few_of_like_length(corpus: Corpus, label: str) -> int | None:
    """How many texts balancing the lengths would leave, if they are too few; None if they are enough."""
    try:
        balanced = even_lengths(corpus, label)
    except BadInput:  # no text of one class would be left
        return 0
    yes, no = both_classes(balanced, label)
    if enough(yes, no):
        return None
    return int(yes.sum() + no.sum())


def _told_by_length(words: Words, label: str) -> Figure | None:
    """How well the number of words tells the label, an AUC; None if hardly."""
    if not enough(*both_classes(words.corpus, label)):
        return None

    targets = words.corpus.targets([label])[:, 0]
    scores = words.lengths / max(words.lengths.max(), 1.0)
    value = auc(targets, scores).value
    # Short texts may be the positive ones: the scores are turned round, so that the interval is too.
    if value < 0.5:
        value = 1 - value
        scores = 1 - scores
    if value < TABLE["length"]["from"]:
        return None

    units = Clusters.of(words.corpus.units(), words.corpus.copies())
    interval = classification_intervals(targets, scores, units)["auc"]
    return Figure(
        value=value,
        interval=interval,
        n=int((~np.isnan(targets)).sum()),
    )
