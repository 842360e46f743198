"""What cautions recommend: drop near-duplicates, split again, balance lengths, remove a word."""

import re
from collections.abc import Callable, Mapping
from dataclasses import replace
from functools import partial, reduce

import numpy as np
import polars as pl

from psycheck.corpora.clean import StepCount
from psycheck.corpora.near import near_duplicates
from psycheck.corpora.split import linked, split_corpus
from psycheck.corpus import Corpus
from psycheck.errors import BadInput
from psycheck.measures.classification import classes

SPLITS = ("train", "dev", "test")
_BINS = 20


def mended(
    corpus: Corpus, wanted: Mapping[str, object], *, seed: int = 0
) -> tuple[Corpus, tuple[StepCount, ...]]:
    """Apply the steps in `wanted`, in this order, and count what each did."""
    steps: dict[str, Callable[[Corpus, object], Corpus]] = {
        "without-word": lambda one, words: reduce(without_word, _strings(words), one),
        "annotated": lambda one, labels: reduce(annotated, _strings(labels), one),
        "balance-length": lambda one, labels: reduce(partial(even_lengths, seed=seed), _strings(labels), one),
        "drop-near-duplicates": lambda one, _: without_near_copies(one, seed=seed),
        "resplit": lambda one, shares: split_anew(one, str(shares), seed=seed),
    }
    counts = []
    for name, step in steps.items():
        if wanted.get(name):
            before = _states(corpus)
            corpus = step(corpus, wanted[name])
            changed = sum(before[id_] != state for id_, state in _states(corpus).items())
            dropped = len(before) - len(corpus)
            counts.append(StepCount(name, len(before), len(corpus), changed, dropped))
    return corpus, tuple(counts)


def _strings(value: object) -> list[str]:
    return [str(one) for one in value] if isinstance(value, list | tuple) else [str(value)]


def _states(corpus: Corpus) -> dict[str, tuple[str, str | None]]:
    """The text and split of each id."""
    pairs = zip(corpus.texts, corpus.strings("split"), strict=True)
    return dict(zip(corpus.ids, pairs, strict=True))


def without_near_copies(corpus: Corpus, *, seed: int = 0) -> Corpus:
    """Keep one text of each group of near-duplicates: one outside train if there is one.

    So test sets stay comparable, and the train split no longer holds them. Needs the extra 'compare'.
    """
    keep = np.ones(len(corpus), dtype=np.bool_)
    texts, splits = corpus.texts, corpus.strings("split")
    while True:
        left = np.flatnonzero(keep)
        group = linked(len(left), near_duplicates([texts[i] for i in left], seed=seed))
        # The first of each group stays; texts outside train come first.
        seen: set[int] = set()
        for k in sorted(range(len(left)), key=lambda k: (splits[left[k]] in ("train", None), k)):
            keep[left[k]] = group[k] not in seen
            seen.add(group[k])
        if keep[left].all():
            return corpus.only(keep, "nearly the same as another text")


def split_anew(corpus: Corpus, shares: str, *, seed: int = 0) -> Corpus:
    """Split a corpus into train, dev and test by shares such as "6:2:2", no author in two of them."""
    parts = shares.split(":")
    if len(parts) != len(SPLITS) or not all(re.fullmatch(r"\d+(\.\d+)?", part) for part in parts):
        raise BadInput(f"'{shares}' is not a list of shares", allowed="train:dev:test, such as 6:2:2")
    wanted = dict(zip(SPLITS, map(float, parts), strict=True))
    return split_corpus(corpus, {name: share for name, share in wanted.items() if share}, seed=seed)


def annotated(corpus: Corpus, label: str) -> Corpus:
    """The texts annotated for a label."""
    known = ~np.isnan(corpus.targets([label])[:, 0])
    return corpus.only(known, f"not annotated for {label}")


def even_lengths(corpus: Corpus, label: str, *, seed: int = 0) -> Corpus:
    """Drop texts until the classes of a label have the same proportions at each length.

    Texts are grouped into 20 bins of length; in each, surplus texts of one class are dropped at random. Texts
    that are not annotated, or with 0.5, stay. Classes without a common length are an error.
    """
    ones, zeros = classes(corpus.targets([label])[:, 0])
    if not ones.any() or not zeros.any():
        raise BadInput(f"corpus '{corpus.name}' has one class of {label}", allowed="two classes")
    words = corpus.table["text"].str.count_matches(r"\w+").to_numpy()
    edges = np.unique(np.quantile(words[ones | zeros], np.linspace(0, 1, _BINS + 1)[1:-1]))
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
        what = f"the classes of {label} cannot be balanced by length: their lengths do not overlap"
        do = "remove a word that only one class has (`without_word`), or add texts of similar length"
        raise BadInput(what, where=corpus.name, allowed="classes with texts of similar length", do=do)
    return corpus.only(keep, f"too many of one class of {label} for their length")


def without_word(corpus: Corpus, word: str) -> Corpus:
    """Remove every word that begins with `word`, in any case; drop texts that become empty."""
    if not word.strip():
        raise BadInput("the word to remove is blank", allowed="the beginning of a word")
    pattern = re.compile(rf"(?<!\w){re.escape(word)}\w*[ \t]?", re.I)
    texts = [pattern.sub("", text).strip() for text in corpus.texts]
    bare = replace(corpus, table=corpus.table.with_columns(pl.Series("text", texts, pl.String)))
    return bare.only([bool(text) for text in texts], "no other word in them")
