"""Leaks: texts and authors by which a score rewards memory, across splits or where there is no split."""

from collections import Counter
from collections.abc import Iterator, Sequence

import numpy as np
import polars as pl

from psycheck.core.corpus import Corpus
from psycheck.corpora.near_duplicates import near_duplicates
from psycheck.corpora.suspicious_figures import Sign, both_classes, enough, share_sign
from psycheck.statistics import clustered
from psycheck.statistics.clustered import Clusters
from psycheck.statistics.sides import Figure
from psycheck.text.words import WORD

SplitsByKey = dict[str | None, set[str]]
"""The splits in which each key (an author, or a plain text) occurs."""


def plain_texts(corpus: Corpus) -> list[str]:
    """Each text as it is compared: its words in lower case."""
    words = pl.col("text").str.to_lowercase().str.extract_all(WORD)
    joined = corpus.table.select(words.list.join(" "))
    return joined["text"].to_list()


def split_of(corpus: Corpus) -> list[str] | None:
    """The split of each text; None where there is one split or none."""
    # Texts without a split beside a "test" are what a model may be trained on: a split of its own.
    splits = ["none" if split is None else split for split in corpus.strings("split")]
    return splits if len(set(splits)) > 1 else None


def across_splits(corpus: Corpus, copies: Sequence[str]) -> Iterator[Sign]:
    """Authors and copies that are in more than one split; `copies` are the plain texts."""
    splits = split_of(corpus)
    if splits is None:
        return

    authors = corpus.strings("author")
    author_splits = _splits_by_key(authors, splits)
    yield _leak_sign(
        name="authors_across_splits",
        corpus=corpus,
        splits=splits,
        keys=authors,
        splits_by_key=author_splits,
    )

    copy_splits = _splits_by_key(copies, splits)
    yield _leak_sign(
        name="duplicates_across_splits",
        corpus=corpus,
        splits=splits,
        keys=copies,
        splits_by_key=copy_splits,
    )


def near_copies(corpus: Corpus, copies: Sequence[str], seed: int) -> Iterator[Sign]:
    """Texts that nearly repeat one of another split, or without splits, texts that repeat another."""
    splits = split_of(corpus)
    if splits is None:
        repeated = _repetitions(copies)
        yield share_sign("repeated_texts", corpus, repeated)
        return

    pairs = near_duplicates(corpus.texts, seed=seed)
    copy_splits = _splits_by_key(copies, splits)
    reached_splits = _with_splits_of_pairs(copy_splits, copies, pairs)
    yield _leak_sign(
        name="near_duplicates_across_splits",
        corpus=corpus,
        splits=splits,
        keys=copies,
        splits_by_key=reached_splits,
    )


def _repetitions(copies: Sequence[str]) -> list[int]:
    """The places of the texts that repeat an earlier one."""
    first_place: dict[str, int] = {}
    for place, copy in enumerate(copies):
        first_place.setdefault(copy, place)
    repetitions = []
    for place, copy in enumerate(copies):
        # A text without a word has nothing to repeat.
        if copy and first_place[copy] != place:
            repetitions.append(place)
    return repetitions


def _splits_by_key(keys: Sequence[str | None], splits: Sequence[str]) -> SplitsByKey:
    """The splits in which each key occurs."""
    splits_by_key: SplitsByKey = {}
    for key, split in zip(keys, splits, strict=True):
        splits_by_key.setdefault(key, set()).add(split)
    return splits_by_key


def _with_splits_of_pairs(
    splits_by_key: SplitsByKey, keys: Sequence[str | None], pairs: Sequence[tuple[int, int]]
) -> SplitsByKey:
    """The splits in which each key, or a key that is paired with it, occurs."""
    # A pair names one text of several copies: what holds for it holds for all of them. Only direct pairs
    # count: a chain of near-duplicates may end with a text that has little in common with its beginning.
    reached_splits = {key: set(splits) for key, splits in splits_by_key.items()}
    for first, second in pairs:
        reached_splits[keys[first]] |= splits_by_key[keys[second]]
        reached_splits[keys[second]] |= splits_by_key[keys[first]]
    return reached_splits


def _leak_sign(
    name: str,
    corpus: Corpus,
    splits: Sequence[str],
    keys: Sequence[str | None],
    splits_by_key: SplitsByKey,
) -> Sign:
    """The sign of texts outside train whose key occurs in another split too."""
    # Models learn from "train", or else from the largest split.
    home = "train"
    if home not in splits:
        home, _ = Counter(splits).most_common(1)[0]
    outside = np.array(splits) != home

    leaked = []
    for place in np.flatnonzero(outside).tolist():
        key = keys[place]
        # An unknown author, or a text without a word, is not the same as another such.
        if key and len(splits_by_key[key]) > 1:
            leaked.append(place)
    return share_sign(
        name=name,
        corpus=corpus,
        places=leaked,
        among=outside,
    )


def label_of_author(corpus: Corpus, label: str) -> Iterator[Sign]:
    """How often two texts of one author have the same annotation, beyond chance (kappa), without a split."""
    if split_of(corpus) is not None:
        return

    authors = np.array([author or "" for author in corpus.strings("author")])
    yes, no = both_classes(corpus, label)
    annotated = (authors != "") & (yes | no)
    positive = yes[annotated].astype(np.float64)
    clusters = Clusters.of(authors[annotated])

    # For each text: how many texts its author wrote, and how many of them are annotated 1.
    author_texts = clusters.sums(np.ones(len(positive)))[clusters.codes]
    author_positives = clusters.sums(positive)[clusters.codes]
    has_sibling = author_texts > 1
    sibling_positive = positive[has_sibling]
    if not enough(sibling_positive == 1, sibling_positive == 0):
        return

    # The share of the author's other texts that have the same annotation as this one.
    author_negatives = author_texts - author_positives
    alike_with_itself = np.where(positive == 1, author_positives, author_negatives)
    other_alike = alike_with_itself - 1
    other_texts = author_texts - 1
    agreement = other_alike[has_sibling] / other_texts[has_sibling]

    # Two texts drawn at random agree if both are positive or both are negative.
    positive_share = float(sibling_positive.mean())
    chance = positive_share**2 + (1 - positive_share) ** 2

    def kappa(share_of_agreement: float) -> float:
        return (share_of_agreement - chance) / (1 - chance)

    # Kappa is linear in the agreement, so the ends of its interval are those of the agreement.
    texts = np.ones(len(agreement))
    low, high = clustered.ratio_interval(agreement, texts, clusters.at(has_sibling))
    figure = Figure(
        value=kappa(float(agreement.mean())),
        interval=(kappa(low), kappa(high)),
        n=len(agreement),
    )
    yield Sign(
        name="label_of_author",
        figure=figure,
        label=label,
        what=f"{100 * agreement.mean():.0f} %",
    )
