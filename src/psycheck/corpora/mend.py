"""What a caution asks for: a corpus without near-copies, split anew, of even lengths, without a word."""

import re
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from functools import reduce
from types import MappingProxyType

import numpy as np
import polars as pl

from psycheck.corpora.clean import StepCount
from psycheck.corpora.near import near_duplicates
from psycheck.corpora.split import split_corpus
from psycheck.corpus import Corpus
from psycheck.errors import BadInput
from psycheck.measures.classification import BoolArray, gold

SPLITS = ("train", "dev", "test")
_BINS = 20


def mended(
    corpus: Corpus, wanted: Mapping[str, object], *, seed: int = 0
) -> tuple[Corpus, tuple[StepCount, ...]]:
    """A corpus after the mends that are wanted, by name and in this order, and what each did."""
    mends: dict[str, Callable[[Corpus, object], Corpus]] = {
        "without-word": lambda one, said: reduce(without_word, _words(said), one),
        "annotated": lambda one, said: annotated(one, str(said)),
        "balance-length": lambda one, said: even_lengths(one, str(said), seed=seed),
        "drop-near-duplicates": lambda one, said: without_near_copies(one, seed=seed),
        "resplit": lambda one, said: split_anew(one, str(said), seed=seed),
    }
    counts = []
    for name, mend in mends.items():
        if wanted.get(name):
            before = corpus
            corpus = mend(corpus, wanted[name])
            dropped = len(before) - len(corpus)
            counts.append(StepCount(name, len(before), len(corpus), _changed(before, corpus), dropped))
    return corpus, tuple(counts)


def _words(said: object) -> list[str]:
    return [str(word) for word in said] if isinstance(said, list | tuple) else [str(said)]


def _changed(before: Corpus, after: Corpus) -> int:
    """How many texts that are left have another text or split than before."""
    columns = [name for name in ("text", "split") if name in after.table.columns]
    was = {row[0]: row[1:] for row in before.table.select("id", *_held(before, columns)).iter_rows()}
    return sum(was[row[0]] != row[1:] for row in after.table.select("id", *columns).iter_rows())


def _held(corpus: Corpus, columns: Sequence[str]) -> list[pl.Expr]:
    return [pl.col(name) if name in corpus.table.columns else pl.lit(None).alias(name) for name in columns]


def without_near_copies(corpus: Corpus, *, seed: int = 0) -> Corpus:
    """Keep one of the texts that are nearly the same: one outside train if there is one.

    So what is tested stays comparable, and what is learned no longer holds it. Needs the extra 'compare'.
    """
    keep = np.ones(len(corpus), dtype=np.bool_)
    texts = corpus.texts
    splits = corpus.table["split"].to_list() if "split" in corpus.table else [None] * len(corpus)
    while True:
        left = np.flatnonzero(keep)
        group = list(range(len(left)))
        for a, b in near_duplicates([texts[i] for i in left], seed=seed):
            group = _joined(group, a, b)
        # The first of each group stays, and what is outside train comes first.
        seen: set[int] = set()
        order = sorted(range(len(left)), key=lambda k: (splits[left[k]] in ("train", None), k))
        for k in order:
            root = _root(group, k)
            keep[left[k]] = root not in seen
            seen.add(root)
        if keep[left].all():
            return _kept(corpus, keep, "nearly the same as another text")


def split_anew(corpus: Corpus, shares: str, *, seed: int = 0) -> Corpus:
    """Split a corpus into train, dev and test by shares such as "6:2:2", no author in two of them."""
    parts = shares.split(":")
    if len(parts) != len(SPLITS) or not all(re.fullmatch(r"\d+(\.\d+)?", part) for part in parts):
        raise BadInput(f"'{shares}' are no shares of splits", allowed="train:dev:test, such as 6:2:2")
    by = ("author",) if "author" in corpus.table else ()
    wanted = dict(zip(SPLITS, map(float, parts), strict=True))
    return split_corpus(corpus, {name: share for name, share in wanted.items() if share}, by=by, seed=seed)


def annotated(corpus: Corpus, label: str) -> Corpus:
    """The texts that are annotated for a label."""
    known = ~np.isnan(corpus.targets([label])[:, 0])
    return _kept(corpus, known, f"not annotated for {label}")


def even_lengths(corpus: Corpus, label: str, *, seed: int = 0) -> Corpus:
    """Drop texts until, at each length, the classes of a label stand in the same proportion.

    Texts are cut into 20 classes of length; in each, what is too much of one class is drawn out. Texts that
    are not annotated stay. Classes that have no length in common cannot be made even.
    """
    target = corpus.targets([label])[:, 0]
    known = ~np.isnan(target)
    ones = known & gold(target)
    zeros = known & ~ones
    if not ones.any() or not zeros.any():
        raise BadInput(f"corpus '{corpus.name}' has one class of {label}", allowed="two classes")
    words = corpus.table["text"].str.count_matches(r"\w+").to_numpy()
    edges = np.unique(np.quantile(words[known], np.linspace(0, 1, _BINS + 1)[1:-1]))
    place = np.searchsorted(edges, words, side="right")
    ratio = ones.sum() / zeros.sum()
    random = np.random.default_rng(seed)
    keep = np.ones(len(corpus), dtype=np.bool_)
    for cell in range(len(edges) + 1):
        first, second = np.flatnonzero(ones & (place == cell)), np.flatnonzero(zeros & (place == cell))
        pairs = min(len(first) / ratio, len(second))
        for rows, wanted in ((first, round(pairs * ratio)), (second, round(pairs))):
            keep[random.permutation(rows)[wanted:]] = False
    if not (keep & ones).any() or not (keep & zeros).any():
        raise BadInput(
            f"the classes of {label} cannot be made even in length: their lengths do not overlap",
            where=corpus.name,
            allowed="classes that both have texts of like length",
            do="take out a word that only one class holds (--without-word), or add texts of like length",
        )
    return _kept(corpus, keep, f"too many of one class of {label} for their length")


def without_word(corpus: Corpus, word: str) -> Corpus:
    """Take every word that begins with `word`, in any case, out of the texts; drop what is left empty."""
    if not word.strip():
        raise BadInput("no word is named", allowed="the beginning of a word")
    pattern = re.compile(rf"(?<!\w){re.escape(word)}\w*[ \t]?", re.I)
    texts = [pattern.sub("", text).strip() for text in corpus.texts]
    bare = replace(corpus, table=corpus.table.with_columns(pl.Series("text", texts, pl.String)))
    return _kept(bare, np.array([bool(text) for text in texts], dtype=np.bool_), "no other word in them")


def _kept(corpus: Corpus, keep: BoolArray, why: str) -> Corpus:
    left_out = Counter(corpus.left_out)
    if dropped := int((~keep).sum()):
        left_out[why] += dropped
    return replace(corpus.only(keep), left_out=MappingProxyType(dict(left_out)))


def _root(group: list[int], k: int) -> int:
    while group[k] != k:
        group[k] = group[group[k]]
        k = group[k]
    return k


def _joined(group: list[int], a: int, b: int) -> list[int]:
    group[_root(group, b)] = _root(group, a)
    return group
