"""Leaks: texts and authors by which a score rewards memory, across splits or where there is no split."""

from collections import Counter
from collections.abc import Iterator, Sequence

import numpy as np
import polars as pl

from psycheck.corpora.near import near_duplicates
from psycheck.corpora.signs import Sign, both_classes, enough, share_sign
from psycheck.corpus import Corpus
from psycheck.measures import clustered
from psycheck.measures.clustered import Clusters
from psycheck.measures.distance import Figure
from psycheck.text.words import WORD


def plain_texts(corpus: Corpus) -> list[str]:
    """Each text as it is compared: its words in lower case."""
    words = pl.col("text").str.to_lowercase().str.extract_all(WORD).list.join(" ")
    return corpus.table.select(words)["text"].to_list()


def split_of(corpus: Corpus) -> list[str] | None:
    """The split of each text; None where there is one split or none."""
    splits = ["none" if split is None else split for split in corpus.strings("split")]
    return splits if len(set(splits)) > 1 else None


def across_splits(corpus: Corpus, copies: Sequence[str]) -> Iterator[Sign]:
    """Authors and copies that are in more than one split; `copies` are the plain texts."""
    yield from _shared("authors_across_splits", corpus, corpus.strings("author"))
    yield from _shared("duplicates_across_splits", corpus, copies)


def near_copies(corpus: Corpus, copies: Sequence[str], seed: int) -> Iterator[Sign]:
    """Texts nearly the same as one in another split, or where there is no split, the same as another."""
    if split_of(corpus) is not None:
        near = near_duplicates(corpus.texts, seed=seed)
        yield from _shared("near_duplicates_across_splits", corpus, copies, near)
    else:
        first = {copy: i for i, copy in reversed([*enumerate(copies)])}
        repeated = [i for i, copy in enumerate(copies) if copy and first[copy] != i]
        yield share_sign("repeated_texts", corpus, repeated)


def _shared(
    name: str, corpus: Corpus, keys: Sequence[str | None], pairs: Sequence[tuple[int, int]] = ()
) -> Iterator[Sign]:
    """Texts outside train whose key, or a key paired with it, occurs in another split too."""
    splits = split_of(corpus)
    if splits is None:
        return
    where: dict[str | None, set[str]] = {}
    for key, split in zip(keys, splits, strict=True):
        where.setdefault(key, set()).add(split)
    # A pair names one text of several copies: what holds for it holds for all of them.
    reached = {key: set(own) for key, own in where.items()}
    for a, b in pairs:
        reached[keys[a]] |= where[keys[b]]
        reached[keys[b]] |= where[keys[a]]
    # Models learn from "train", or else from the largest split.
    home = "train" if "train" in splits else Counter(splits).most_common(1)[0][0]
    outside = np.array(splits) != home
    leaked = [i for i in np.flatnonzero(outside).tolist() if (key := keys[i]) and len(reached[key]) > 1]
    yield share_sign(name, corpus, leaked, outside)


def label_of_author(corpus: Corpus, label: str) -> Iterator[Sign]:
    """How often two texts of one author have the same annotation, beyond chance (kappa), without a split."""
    if split_of(corpus) is not None:
        return
    authors = np.array([who or "" for who in corpus.strings("author")])
    yes, no = both_classes(corpus, label)
    known = (authors != "") & (yes | no)
    y, clusters = yes[known].astype(np.float64), Clusters.of(authors[known])
    ones, sizes = clusters.sums(y)[clusters.codes], clusters.sums(np.ones(len(y)))[clusters.codes]
    some = sizes > 1
    if not enough(y[some] == 1, y[some] == 0):
        return
    same = (np.where(y == 1, ones, sizes - ones) - 1)[some] / (sizes - 1)[some]
    share = float(y[some].mean())
    chance = share**2 + (1 - share) ** 2
    low, high = clustered.ratio_interval(same, np.ones(len(same)), clusters.at(some))
    kappa, *ends = ((one - chance) / (1 - chance) for one in (float(same.mean()), low, high))
    figure = Figure(kappa, (ends[0], ends[1]), len(same))
    yield Sign("label_of_author", figure, label, what=f"{100 * same.mean():.0f} %")
