"""What the words of a corpus are: counts, lengths, how varied they are, and which set two corpora apart.

Words are shown only where at least `FEWEST` texts hold them, of as many authors where these are known, and
never with a digit in them, so that no personal detail comes to light. A report that shows no texts asks more:
that a word is common property (`showable`).
"""

import math
import re
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, replace
from typing import Any, Final

import numpy as np
import polars as pl
from scipy.sparse import csc_array, csr_array, vstack

from psycheck.corpus import Corpus
from psycheck.measures import distance
from psycheck.measures.classification import BoolArray
from psycheck.measures.clustered import Clusters, mean_interval, median_interval, skewed_interval
from psycheck.measures.distance import Figure, Sides
from psycheck.measures.intervals import UNKNOWN
from psycheck.model import FloatArray, IntArray
from psycheck.text.clean import expand_contractions
from psycheck.text.redact.lists import FIRST_NAMES, PLACE_NAMES, everyday
from psycheck.text.words import WORD, words_of

FEWEST = 5
CHUNK = 1_000  # words over which variety is measured, so that corpora of any size can be compared
CHANCE = 20
_DIGIT = re.compile(r"\d")
TEXTS: Final = 20
_NAMES: Final = frozenset(name.lower() for name in FIRST_NAMES | PLACE_NAMES)
MayShow = Callable[[str, list[int]], bool]
"""Whether a term may be shown that stands in the texts at these places, those of the first side first."""


def anything(term: str, places: list[int]) -> bool:
    """Hide no term."""
    return True


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
        held: IntArray = np.asarray(self.table.astype(bool).sum(axis=0)).ravel()
        return held

    def writers(self) -> IntArray:
        """Of how many authors each term is, (v,); a text of nobody known has an author of its own."""
        known: dict[str, int] = {}
        codes = [known.setdefault(who or f"\0{i}", len(known)) for i, who in enumerate(self.authors)]
        wrote = csr_array((np.ones(len(codes)), (codes, range(len(codes)))), shape=(len(known), len(codes)))
        written: IntArray = np.asarray((wrote @ self.table.astype(bool)).astype(bool).sum(axis=0)).ravel()
        return written


@dataclass(frozen=True, slots=True)
class Telling:
    """A word that sets one corpus apart: its weight (above 0 for the first), and the texts that hold it."""

    word: str
    weight: float
    first: int
    second: int


def counted(first: Corpus, second: Corpus, size: int = 1, vectorizer: Any = None) -> tuple[Counted, Counted]:
    """Count the words (size 1) or word pairs (size 2) of both sides over their common vocabulary.

    Another vectorizer of scikit-learn gives its own terms, and weights in place of counts.
    """
    from sklearn.feature_extraction.text import CountVectorizer

    vectorizer = vectorizer or CountVectorizer(token_pattern=WORD, ngram_range=(size, size))
    try:
        table = csr_array(vectorizer.fit_transform([*first.texts, *second.texts]))
        terms = vectorizer.get_feature_names_out().tolist()
    except ValueError:  # no text holds as many words
        table, terms = csr_array((len(first) + len(second), 0), dtype=np.int64), []
    return (
        Counted(csr_array(table[: len(first)]), terms, first.strings("author")),
        Counted(csr_array(table[len(first) :]), terms, second.strings("author")),
    )


def sides_of(first: Corpus, second: Corpus) -> Sides:
    """The texts of both corpora by author where one is known, else by text."""
    both = pl.concat(
        [one.table.select("text", pl.col("^author$")) for one in (first, second)], how="diagonal"
    )
    return Sides.of(len(first), len(second), replace(first, table=both).units())


def divergence(
    first: Counted, second: Counted, sides: Sides | None = None, *, seed: int = 0
) -> tuple[Figure, float]:
    """Jensen–Shannon divergence of the counts with its interval, and its mean when the units are shuffled.

    The second figure is what two samples of these sizes show by chance alone; it is large for word pairs and
    small corpora.
    """
    m = first.table.shape[0]
    n = m + second.table.shape[0]
    ours, theirs = first.total(), second.total()
    # A side without a word has no words to compare; smoothing alone would make it look like any other.
    if not ours.any() or not theirs.any():
        return Figure(math.nan, UNKNOWN, n), math.nan
    jsd = distance.jensen_shannon
    value = jsd(ours, theirs)
    sides = sides or Sides.of(m, n - m)
    table, whole = csr_array(vstack([first.table, second.table])), ours + theirs

    def kept(keep: BoolArray) -> float:
        return jsd(
            (keep & sides.first).astype(np.float64) @ table, (keep & ~sides.first).astype(np.float64) @ table
        )

    interval = distance.jackknife(value, kept, sides, high=1.0)
    random, chance = np.random.default_rng(seed), []
    for _ in range(CHANCE):
        some = sides.shuffled(random).astype(np.float64) @ table
        chance.append(jsd(some, whole - some))
    return Figure(value, interval, n), float(np.mean(chance))


def profile(corpus: Corpus) -> dict[str, Figure]:
    """Length and variety of a corpus: words a text, words in all, distinct words, variety.

    `variety` is the mean share of distinct words in successive stretches of 1,000 words.
    """
    words = [words_of(text.lower()) for text in corpus.texts]
    lengths = np.array([len(found) for found in words], dtype=np.float64)
    n = len(lengths)
    every = [word for found in words for word in found]
    shares = np.array(
        [len(set(every[at : at + CHUNK])) / CHUNK for at in range(0, len(every) - CHUNK + 1, CHUNK)]
    )
    mean, units = float(lengths.mean()), Clusters.of(corpus.units())
    # Stretches of one author are alike, and which of them are is not known.
    spread = mean_interval(shares, Clusters.single(len(shares))) if units.whole else UNKNOWN
    return {
        "words_mean": Figure(mean, mean_interval(lengths, units, low=0.0), n),
        "words_median": Figure(float(np.median(lengths)), median_interval(lengths, units), n),
        "words": Figure(float(lengths.sum()), None, n),
        "distinct_words": Figure(float(len(set(every))), None, n),
        "variety": Figure(float(shares.mean()) if len(shares) else math.nan, spread, len(shares)),
    }


def unknown_share(known: Counted, read: Counted, units: IntArray | None = None) -> Figure:
    """The share of the words of `read` that never occur in `known` (out of vocabulary)."""
    n = read.table.shape[0]
    strange = known.total() == 0
    words = np.asarray(read.table.sum(axis=1), dtype=np.float64).ravel()
    alien = np.asarray(read.table @ strange.astype(np.float64)).ravel()
    if not words.sum():
        return Figure(math.nan, None, n)
    value, clusters = float(alien.sum() / words.sum()), Clusters.of(np.arange(n) if units is None else units)
    low, high = skewed_interval(value, (alien - value * words) / words.sum(), clusters)
    return Figure(value, (low if math.isnan(low) else max(low, 0.0), min(high, 1.0)), n)


def telling_words(
    first: Counted, second: Counted, *, most: int = 10, may_show: MayShow = anything
) -> tuple[list[Telling], int]:
    """The words most over-used on either side, by z of the log odds with an informative prior; how many hide.

    Monroe, Colaresi and Quinn 2008, eq. 22: the prior is how often each word occurs on both sides, scaled to
    500 words in all.
    """
    ours, theirs = first.total(), second.total()
    prior = (ours + theirs) / max((ours + theirs).sum(), 1.0) * 500
    first_odds, second_odds = (
        np.log(counts + prior) - np.log(counts.sum() + prior.sum() - counts - prior)
        for counts in (ours, theirs)
    )
    z = (first_odds - second_odds) / np.sqrt(1 / (ours + prior) + 1 / (theirs + prior))
    return shown(first, second, z, most=most, may_show=may_show)


def shown(
    first: Counted, second: Counted, weights: FloatArray, *, most: int, may_show: MayShow
) -> tuple[list[Telling], int]:
    """The terms with the largest weights on either side that can be shown, `most` a side; how many cannot.

    A term that too few texts or authors hold, or with a digit, is no candidate. What `may_show` refuses is
    counted among the `most` first candidates of a side, which are what would be shown without it.
    """
    ours, theirs = first.texts(), second.texts()
    columns = csc_array(vstack([first.table, second.table]))
    out: list[Telling] = []
    hidden = 0
    for weight, writers in ((weights, first.writers()), (-weights, second.writers())):
        fair = (weight > 0) & (writers >= FEWEST)
        ranked = (at for at in np.argsort(-weight, kind="stable") if fair[at])
        candidates = (at for at in ranked if not _DIGIT.search(first.terms[at]))
        kept = 0
        for seen, at in enumerate(candidates):
            if kept >= most:
                break
            term = first.terms[at]
            if may_show(term, columns.indices[columns.indptr[at] : columns.indptr[at + 1]].tolist()):
                out.append(Telling(term, float(weights[at]), int(ours[at]), int(theirs[at])))
                kept += 1
            else:
                hidden += seen < most
    return out, hidden


@dataclass(frozen=True, slots=True)
class Words:
    """Which words stand in which text (`table`: row, word; each pair once), and how long the texts are."""

    corpus: Corpus
    table: pl.DataFrame
    lengths: FloatArray


def word_table(corpus: Corpus) -> Words:
    """Cut all texts into words at once."""
    cut = corpus.table.select(
        pl.col("text").str.to_lowercase().str.extract_all(WORD).alias("word")
    ).with_row_index("row")
    lengths = cut["word"].list.len().cast(pl.Float64).to_numpy()
    table = cut.with_columns(pl.col("word").list.unique()).explode("word").drop_nulls("word")
    return Words(corpus, table, lengths)


def showable(word: str, words: Words) -> bool:
    """Whether a word is common property: in 20 texts, of 5 authors where these are known, and no name."""
    rows = words.table.filter(pl.col("word") == word)["row"].to_list()
    authors = words.corpus.strings("author")
    if any(authors) and len({authors[row] for row in rows} - {None}) < FEWEST:
        return False
    return showable_between(words.corpus.texts, authors)(word, rows)


def showable_beginning(beginning: str, words: Words) -> bool:
    """Whether some word with this beginning can be shown, so that the beginning can."""
    held = words.table.filter(pl.col("word").str.starts_with(beginning))["word"].unique().to_list()
    return any(showable(word, words) for word in held)


def showable_between(texts: Sequence[str], authors: Iterable[str | None]) -> MayShow:
    """The same question for words and word pairs that set corpora apart, `texts` being those of both.

    A pair must be common property as a pair: 20 texts hold it other than with two capitals ("Will Baker").
    That 5 authors of a side use a term is for who counts the authors of each side.
    """
    accounts = {author.lower() for author in authors if author}

    def common(word: str, holding: list[str]) -> bool:
        """Whether a word is everyday English ("don't" is "do not"), or a plain word in 20 of the texts.

        Plain is in lower case, not as a handle, a tag or part of an address: nobody's name or account is then
        shown because many write of it.
        """
        if all(everyday(part) for part in expand_contractions(word).split()):
            return True
        if not word.isalpha() or word in _NAMES or word in accounts:
            return False
        plain = re.compile(rf"(?<![\w@#/.-]){re.escape(word)}(?![\w@/-]|\.\w)")
        return sum(plain.search(text) is not None for text in holding) >= TEXTS

    def may_show(term: str, places: list[int]) -> bool:
        if len(places) < TEXTS:
            return False
        holding, parts = [texts[place] for place in places], term.split()
        written = r"\W+".join(f"({re.escape(part)})" for part in parts)
        pair = re.compile(rf"(?<!\w){written}(?!\w)", re.I)
        small = (
            any(not all(part[0].isupper() for part in found.groups()) for found in pair.finditer(text))
            for text in holding
        )
        if len(parts) > 1 and sum(small) < TEXTS:
            return False
        return all(common(word, holding) for word in parts)

    return may_show
