"""What the words of a corpus are: counts, lengths, how varied they are, and which set two corpora apart.

Words are shown only where at least `FEWEST` texts hold them, of as many authors where these are known, and
never with a digit in them, so that no personal detail comes to light. A report that shows no texts asks more
(`showable_words`).
"""

import math
import re
from collections.abc import Iterator
from dataclasses import dataclass, replace
from itertools import chain
from typing import Any

import numpy as np
import polars as pl
from scipy.sparse import csc_array, csr_array, vstack

from psycheck.core.arrays import FloatArray, IntArray
from psycheck.core.corpus import Corpus
from psycheck.corpora.showable_words import FEWEST, MayShow, anything
from psycheck.statistics import distance
from psycheck.statistics.classification import BoolArray
from psycheck.statistics.clustered import Clusters, mean_interval, median_interval, skewed_interval
from psycheck.statistics.intervals import UNKNOWN
from psycheck.statistics.sides import Figure, Sides, jackknife
from psycheck.text.words import WORD, words_of

CHUNK = 1_000  # words over which variety is measured, so that corpora of any size can be compared
CHANCE = 20  # shuffles from which the divergence by chance is estimated; their mean varies little
PRIOR_WORDS = 500  # the weight of the prior of the log odds, in words
_DIGIT = re.compile(r"\d")


@dataclass(frozen=True, slots=True)
class Counted:
    """How often each word or word pair occurs in each text: `table` is (n, v), its columns are `terms`."""

    table: csr_array
    terms: list[str]
    authors: list[str | None]

    def total(self) -> FloatArray:
        """How often each term occurs in all texts, (v,)."""
        return np.asarray(self.table.sum(axis=0), dtype=np.float64).ravel()

    def texts(self) -> IntArray:
        """In how many texts each term occurs, (v,)."""
        occurs = self.table.astype(bool)
        counts: IntArray = np.asarray(occurs.sum(axis=0)).ravel()
        return counts

    def writers(self) -> IntArray:
        """How many authors use each term, (v,); a text without an author counts as one of its own."""
        code_of_author: dict[str, int] = {}
        author_codes = []
        for place, author in enumerate(self.authors):
            # No account is called so: a NUL cannot be part of a name.
            key = author or f"\0{place}"
            next_code = len(code_of_author)
            author_codes.append(code_of_author.setdefault(key, next_code))

        # (authors, texts) times (texts, terms): the terms that each author uses in any text.
        texts = len(author_codes)
        cells = (np.ones(texts), (author_codes, range(texts)))
        wrote = csr_array(cells, shape=(len(code_of_author), texts))
        uses = (wrote @ self.table.astype(bool)).astype(bool)
        counts: IntArray = np.asarray(uses.sum(axis=0)).ravel()
        return counts


@dataclass(frozen=True, slots=True)
class Telling:
    """A word that sets one corpus apart: its weight (above 0 for the first), and the texts that hold it."""

    word: str
    weight: float
    first: int
    second: int


def counted(
    first: Corpus,
    second: Corpus,
    size: int = 1,
    vectorizer: Any = None,
) -> tuple[Counted, Counted]:
    """Count the words (size 1) or word pairs (size 2) of both sides over their common vocabulary.

    Another vectorizer of scikit-learn gives its own terms, and weights in place of counts.
    """
    from sklearn.feature_extraction.text import CountVectorizer

    vectorizer = vectorizer or CountVectorizer(token_pattern=WORD, ngram_range=(size, size))
    try:
        table = csr_array(vectorizer.fit_transform([*first.texts, *second.texts]))
        terms = vectorizer.get_feature_names_out().tolist()
    except ValueError:  # no text holds as many words
        table = csr_array((len(first) + len(second), 0), dtype=np.int64)
        terms = []

    # Counted together and cut apart, so that a column is the same term on both sides.
    first_counts = Counted(
        table=csr_array(table[: len(first)]),
        terms=terms,
        authors=first.strings("author"),
    )
    second_counts = Counted(
        table=csr_array(table[len(first) :]),
        terms=terms,
        authors=second.strings("author"),
    )
    return first_counts, second_counts


def sides_of(first: Corpus, second: Corpus) -> Sides:
    """The texts of both corpora by author where one is known, else by text."""
    # Polars takes ^…$ for a pattern, and a pattern may match no column: the author only where there is one.
    columns = ("text", pl.col("^author$"))
    tables = [first.table.select(*columns), second.table.select(*columns)]
    # An author who wrote in both corpora is one unit of both: their texts are not independent.
    joined = replace(first, table=pl.concat(tables, how="diagonal"))
    return Sides.of(len(first), len(second), joined.units())


def divergence(
    first: Counted,
    second: Counted,
    sides: Sides | None = None,
    *,
    seed: int = 0,
) -> tuple[Figure, float]:
    """Jensen–Shannon divergence of the counts with its interval, and its mean when the units are shuffled.

    The second figure is what two samples of these sizes show by chance alone; it is large for word pairs and
    small corpora.
    """
    first_texts = first.table.shape[0]
    second_texts = second.table.shape[0]
    n = first_texts + second_texts
    first_total = first.total()
    second_total = second.total()
    # A side without a word has no words to compare; smoothing alone would make it look like any other.
    if not first_total.any() or not second_total.any():
        not_measured = Figure(
            value=math.nan,
            interval=UNKNOWN,
            n=n,
        )
        return not_measured, math.nan

    sides = sides or Sides.of(first_texts, second_texts)
    table = csr_array(vstack([first.table, second.table]))
    in_first = sides.first

    def divergence_of_texts(keep: BoolArray) -> float:
        # A row of zeros and ones times the sparse table sums the counts of the texts that stay.
        first_kept = (keep & in_first).astype(np.float64)
        second_kept = (keep & ~in_first).astype(np.float64)
        return distance.jensen_shannon(first_kept @ table, second_kept @ table)

    value = distance.jensen_shannon(first_total, second_total)
    interval = jackknife(
        value=value,
        measure=divergence_of_texts,
        sides=sides,
        high=1.0,
    )

    random = np.random.default_rng(seed)
    both_total = first_total + second_total
    by_chance = []
    for _ in range(CHANCE):
        shuffled_total = sides.shuffled(random).astype(np.float64) @ table
        remaining_total = both_total - shuffled_total
        by_chance.append(distance.jensen_shannon(shuffled_total, remaining_total))

    figure = Figure(
        value=value,
        interval=interval,
        n=n,
    )
    return figure, float(np.mean(by_chance))


def profile(corpus: Corpus) -> dict[str, Figure]:
    """Length and variety of a corpus: words per text, words in all, distinct words, variety.

    `variety` is the mean share of distinct words in successive stretches of 1,000 words.
    """
    words_of_texts = [words_of(text.lower()) for text in corpus.texts]
    lengths = np.array([len(words) for words in words_of_texts], dtype=np.float64)
    all_words = list(chain.from_iterable(words_of_texts))
    n = len(lengths)

    # Only full stretches: a shorter one repeats fewer words and would look more varied.
    starts = range(0, len(all_words) - CHUNK + 1, CHUNK)
    stretches = [all_words[start : start + CHUNK] for start in starts]
    shares = np.array([len(set(stretch)) / CHUNK for stretch in stretches])
    variety = float(shares.mean()) if len(shares) else math.nan

    units = Clusters.of(corpus.units(), corpus.copies())
    # Stretches of one author are alike, and which of them are is not known.
    variety_interval = mean_interval(shares, Clusters.single(len(shares))) if units.whole else UNKNOWN
    return {
        "words_mean": Figure(
            value=float(lengths.mean()),
            interval=mean_interval(lengths, units, low=0.0),
            n=n,
        ),
        "words_median": Figure(
            value=float(np.median(lengths)),
            interval=median_interval(lengths, units),
            n=n,
        ),
        "words": Figure(
            value=float(lengths.sum()),
            interval=None,
            n=n,
        ),
        "distinct_words": Figure(
            value=float(len(set(all_words))),
            interval=None,
            n=n,
        ),
        "variety": Figure(
            value=variety,
            interval=variety_interval,
            n=len(shares),
        ),
    }


def unknown_share(vocabulary: Counted, read: Counted, units: IntArray | None = None) -> Figure:
    """The share of the words of `read` that never occur in `vocabulary` (out of vocabulary).

    `units`, (n,), are the units of independence of the texts of `read`, by default each text.
    """
    n = read.table.shape[0]
    out_of_vocabulary = (vocabulary.total() == 0).astype(np.float64)
    words = np.asarray(read.table.sum(axis=1), dtype=np.float64).ravel()
    unknown_words = np.asarray(read.table @ out_of_vocabulary).ravel()
    if not words.sum():
        return Figure(
            value=math.nan,
            interval=None,
            n=n,
        )

    value = float(unknown_words.sum() / words.sum())
    clusters = Clusters.of(np.arange(n) if units is None else units)
    # A ratio of sums: how far the share moves if one text is weighted a little more.
    influence = (unknown_words - value * words) / words.sum()
    low, high = skewed_interval(value, influence, clusters)
    # `max` would turn an unknown end (NaN) into 0.
    if not math.isnan(low):
        low = max(low, 0.0)
    return Figure(
        value=value,
        interval=(low, min(high, 1.0)),
        n=n,
    )


def telling_words(
    first: Counted,
    second: Counted,
    *,
    most: int = 10,
    may_show: MayShow = anything,
) -> tuple[list[Telling], int]:
    """The words most over-used on either side, by z of the log odds with an informative prior; how many hide.

    Monroe, Colaresi and Quinn 2008, eq. 22: the prior is how often each word occurs on both sides, scaled to
    500 words in all.
    """
    first_counts = first.total()
    second_counts = second.total()
    both_counts = first_counts + second_counts
    prior = both_counts / max(both_counts.sum(), 1.0) * PRIOR_WORDS

    def log_odds(counts: FloatArray) -> FloatArray:
        # The prior keeps a word that one side never uses from having odds of 0.
        other_words = counts.sum() + prior.sum() - counts - prior
        odds: FloatArray = np.log(counts + prior) - np.log(other_words)
        return odds

    variance = 1 / (first_counts + prior) + 1 / (second_counts + prior)
    z = (log_odds(first_counts) - log_odds(second_counts)) / np.sqrt(variance)
    return shown(
        first=first,
        second=second,
        weights=z,
        most=most,
        may_show=may_show,
    )


def shown(
    first: Counted,
    second: Counted,
    weights: FloatArray,
    *,
    most: int,
    may_show: MayShow,
) -> tuple[list[Telling], int]:
    """The terms with the largest weights on either side that can be shown, `most` per side; how many cannot.

    A term that too few texts or authors hold, or with a digit, is no candidate. What `may_show` refuses is
    counted among the `most` first candidates of a side, which are what would be shown without it.
    """
    first_texts = first.texts()
    second_texts = second.texts()
    # Stored by column, so that the texts with a term are one slice of `indices`.
    columns = csc_array(vstack([first.table, second.table]))

    telling: list[Telling] = []
    hidden = 0
    for side, side_weights in ((first, weights), (second, -weights)):
        shown_terms = 0
        for rank, column in enumerate(_candidate_columns(side, side_weights)):
            if shown_terms >= most:
                break

            term = first.terms[column]
            start = columns.indptr[column]
            end = columns.indptr[column + 1]
            places = columns.indices[start:end].tolist()
            if may_show(term, places):
                telling_term = Telling(
                    word=term,
                    weight=float(weights[column]),
                    first=int(first_texts[column]),
                    second=int(second_texts[column]),
                )
                telling.append(telling_term)
                shown_terms += 1
            elif rank < most:
                hidden += 1
    return telling, hidden


def _candidate_columns(side: Counted, weights: FloatArray) -> Iterator[int]:
    """The columns of terms that speak for a side, enough authors use and have no digit, largest first."""
    eligible = (weights > 0) & (side.writers() >= FEWEST)
    for column in np.argsort(-weights, kind="stable"):
        if eligible[column] and not _DIGIT.search(side.terms[column]):
            yield column
