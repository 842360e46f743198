"""Adversarial validation: can a linear classifier tell which corpus a text is from, and by which words?"""

import math
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from hashlib import blake2b
from typing import Any

import numpy as np
from scipy.sparse import vstack

from psycheck.corpora.vocabulary import MayShow, Telling, anything, counted, shown, sides_of
from psycheck.corpus import Corpus
from psycheck.finding import Interval
from psycheck.measures import classification as measure
from psycheck.measures.classification import BoolArray, Confusion, classification_intervals
from psycheck.measures.clustered import Clusters
from psycheck.measures.distance import jackknife
from psycheck.measures.intervals import UNKNOWN
from psycheck.model import FloatArray, IntArray
from psycheck.text.words import WORD, plain_text

FOLDS = 5
# Folds share most of their training texts, so that other corpora vary more than the texts of one: the error
# is 1.5 times that of independent scores (Nadeau and Bengio 2003).
WIDER = math.sqrt(1 + FOLDS / (FOLDS - 1))


@dataclass(frozen=True, slots=True)
class DomainResult:
    """How well a classifier separates the sides in cross-validation, the second being the positive class.

    `words` have the largest weights; `hidden` counts those that may not be shown.
    """

    values: dict[str, float]
    intervals: dict[str, Interval]
    confusion: Confusion
    words: list[Telling]
    hidden: int


def classify_sides(
    first: Corpus, second: Corpus, *, most: int = 10, may_show: MayShow = anything, seed: int = 0
) -> DomainResult:
    """TF–IDF of words and word pairs with logistic regression, cross-validated (ANGST 4.2, Table 8).

    `f1` is the mean of both classes. All copies of a text are in one fold, and so are all texts of an author
    but those that other authors wrote too (`fold_groups`). Intervals are clustered by author or text, and
    are of the figure at these sizes. The result does not depend on the order of the texts; it depends on the
    folds that `seed` makes.
    """
    texts = [*first.texts, *second.texts]
    targets = np.repeat([0.0, 1.0], [len(first), len(second)])
    groups = fold_groups(texts, [*first.strings("author"), *second.strings("author")])
    scores = cross_scores(texts, targets, groups, seed=seed)
    c = measure.confusion(targets, scores)
    words: list[Telling] = []
    hidden = 0
    if c.n:
        # The words and pairs with the largest weights of a classifier of all texts.
        vectorizer, classifier = _classifier()
        sides = counted(first, second, vectorizer=vectorizer)
        if sides[0].terms:
            classifier.fit(vstack([side.table for side in sides], format="csr"), 1 - targets.astype(np.int64))
            words, hidden = shown(*sides, classifier.coef_[0], most=most, may_show=may_show)
    both = sides_of(first, second)
    values = {
        "accuracy": measure.accuracy(c).value,
        "f1": measure.macro_f1(c).value,
        "auc": measure.auc(targets, scores).value,
        "mcc": measure.mcc(c).value,
    }
    found = classification_intervals(targets, scores, Clusters.of(both.units))
    intervals = {name: found.get(name, UNKNOWN) for name in ("accuracy", "auc")}
    intervals["f1"] = found.get("macro_f1", UNKNOWN)

    def mcc(keep: BoolArray) -> float:
        return measure.mcc(measure.confusion(targets[keep], scores[keep])).value

    intervals["mcc"] = jackknife(values["mcc"], mcc, both, low=-1.0, high=1.0) if c.n else UNKNOWN
    for name, (low, high) in intervals.items():
        ends = (values[name] + WIDER * (end - values[name]) for end in (low, high))
        intervals[name] = tuple(np.clip(list(ends), -1.0 if name == "mcc" else 0.0, 1.0).tolist())
    return DomainResult(values, intervals, c, words, hidden)


def cross_scores(
    texts: Sequence[str], targets: FloatArray, groups: Sequence[str], *, seed: int = 0
) -> FloatArray:
    """The score of each text by a classifier that has not seen it, nor its group, (n,).

    NaN for all where a class has fewer members, or the texts fewer groups, than there are folds.
    """
    yes = targets.astype(np.int64)
    least = min(int(yes.sum()), len(yes) - int(yes.sum()))
    scores = np.full(len(texts), np.nan)
    if least < FOLDS or len(set(groups)) < FOLDS:
        return scores
    every = np.array(texts, dtype=object)
    fold = folds_of(groups, yes, seed)
    # The solver sums in the order of the texts: one order of their own makes the scores the same to the bit.
    order = np.array(sorted(range(len(texts)), key=lambda i: (texts[i], yes[i], groups[i])), dtype=np.int64)
    for one in range(FOLDS):
        train, test = order[fold[order] != one], order[fold[order] == one]
        if len(set(yes[train])) < 2 or not len(test):
            continue
        vectorizer, classifier = _classifier()
        try:
            features = vectorizer.fit_transform(every[train])
        except ValueError:  # no word occurs in two texts
            return np.full(len(texts), np.nan)
        classifier.fit(features, yes[train])
        scores[test] = classifier.predict_proba(vectorizer.transform(every[test]))[:, 1]
    return scores


def folds_of(groups: Sequence[str], yes: IntArray, seed: int = 0) -> IntArray:
    """The fold of each text, (n,): groups stay whole, classes even, and the order of the texts is no matter.

    Large groups come first, those within a factor of two in a random order that is a hash of their names and
    `seed`; each goes to the fold that has the least of what it holds.
    """
    held: dict[str, IntArray] = {}
    for group, one in zip(groups, yes.tolist(), strict=True):
        held.setdefault(group, np.zeros(2, np.int64))[one] += 1

    def rank(group: str) -> tuple[float, str]:
        drawn = blake2b(f"{seed} {group}".encode("utf-8", "surrogatepass"), digest_size=8).digest()
        return -float(held[group].sum()) * (1 + int.from_bytes(drawn) / 2**64), group

    total = np.maximum(np.bincount(yes, minlength=2), 1)
    filled = np.zeros((FOLDS, 2), np.int64)
    home: dict[str, int] = {}
    for group in sorted(held, key=rank):
        own = held[group]
        # How much the sum of squared shares would grow; of like folds the one with the fewest texts.
        growth = (own * (2 * filled + own) / total**2).sum(axis=1)
        home[group] = int(np.lexsort((filled.sum(axis=1), growth))[0])
        filled[home[group]] += own
    return np.array([home[group] for group in groups], dtype=np.int64)


def fold_groups(texts: Sequence[str], authors: Sequence[str | None]) -> list[str]:
    """The group of each text that must stay in one fold: the texts of an author, and the copies of each.

    Copies are texts with the same words, whatever their case and punctuation, as for near-duplicates. A text
    that several authors wrote ("thank you") belongs to the one who wrote it most often, of several the first
    by name: it does not tie the others' texts together. A group is named by the first text in the alphabet.
    """
    copies = [plain_text(text) or text for text in texts]
    writers: dict[str, Counter[str]] = {}
    for copy, author in zip(copies, authors, strict=True):
        writers.setdefault(copy, Counter()).update([author] if author else [])
    # A text that nobody known wrote is a group of its own.
    home = {
        copy: (min(wrote, key=lambda who: (-wrote[who], who)), "") if wrote else ("", copy)
        for copy, wrote in writers.items()
    }
    names: dict[tuple[str, str], str] = {}
    for copy in sorted(home):
        names.setdefault(home[copy], copy)
    return [names[home[copy]] for copy in copies]


def _classifier() -> tuple[Any, Any]:
    from sklearn.feature_extraction.text import TfidfVectorizer
    from sklearn.linear_model import LogisticRegression

    vectorizer = TfidfVectorizer(
        token_pattern=WORD, ngram_range=(1, 2), min_df=2, sublinear_tf=True, max_features=50_000
    )
    return vectorizer, LogisticRegression(C=10.0, class_weight="balanced", max_iter=1_000)
