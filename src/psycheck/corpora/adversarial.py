"""Adversarial validation: can a plain classifier tell whose text it reads, and by which words?"""

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy.sparse import csr_array

from psycheck.corpora.vocabulary import WORD, Counted, Telling, shown
from psycheck.finding import Interval
from psycheck.measures import bootstrap
from psycheck.measures import classification as measure
from psycheck.measures.classification import Confusion
from psycheck.measures.intervals import UNKNOWN, wilson
from psycheck.model import FloatArray, IntArray

FOLDS = 5
Authors = Sequence[str | None] | None


@dataclass(frozen=True, slots=True)
class Told:
    """How well the sides are told apart in cross-validation, the second being the positive class."""

    values: dict[str, float]
    intervals: dict[str, Interval]
    confusion: Confusion
    words: list[Telling]


def tell_apart(
    first: Sequence[str],
    second: Sequence[str],
    authors: tuple[Authors, Authors] = (None, None),
    *,
    most: int = 10,
    seed: int = 0,
) -> Told:
    """TF–IDF of words and word pairs with logistic regression, cross-validated (ANGST 4.2, Table 8).

    `f1` is the mean of both classes. All texts of an author, and all copies of a text, are in one fold.
    """
    texts = [*first, *second]
    targets = np.repeat([0.0, 1.0], [len(first), len(second)])
    scores = cross_scores(
        texts, targets, fold_groups(texts, [*_of(first, authors[0]), *_of(second, authors[1])]), seed=seed
    )
    c = measure.confusion(targets, scores)
    drawn = bootstrap.confusion_intervals(c, seed=seed)
    auc = bootstrap.score_intervals(targets, scores, resamples=500, seed=seed)["auc"]
    return Told(
        {
            "accuracy": measure.accuracy(c).value,
            "f1": measure.macro_f1(c).value,
            "auc": measure.auc(targets, scores).value,
            "mcc": mcc(c),
        },
        {"accuracy": wilson(c.right, c.n), "f1": drawn["macro_f1"], "auc": auc, "mcc": mcc_interval(c, seed)},
        c,
        _giveaways(first, second, authors, most) if c.n else [],
    )


def cross_scores(
    texts: Sequence[str], targets: FloatArray, groups: Sequence[str] | None, *, seed: int = 0
) -> FloatArray:
    """The score of each text by a classifier that has not seen it, nor its group, (n,).

    NaN for all where a class has fewer members, or the texts fewer groups, than there are folds.
    """
    from sklearn.model_selection import StratifiedGroupKFold, StratifiedKFold

    yes = targets.astype(np.int64)
    least = min(int(yes.sum()), len(yes) - int(yes.sum()))
    scores = np.full(len(texts), np.nan)
    if least < FOLDS or (groups is not None and len(set(groups)) < FOLDS):
        return scores
    kind = StratifiedKFold if groups is None else StratifiedGroupKFold
    folds = kind(FOLDS, shuffle=True, random_state=seed)
    every = np.array(texts, dtype=object)
    for train, test in folds.split(every, yes, _numbers(groups)):
        if len(set(yes[train])) < 2:
            continue
        vectorizer, classifier = _classifier()
        try:
            features = vectorizer.fit_transform(every[train])
        except ValueError:  # no word occurs in two texts
            return np.full(len(texts), np.nan)
        classifier.fit(features, yes[train])
        scores[test] = classifier.predict_proba(vectorizer.transform(every[test]))[:, 1]
    return scores


def fold_groups(texts: Sequence[str], authors: Authors) -> list[str] | None:
    """What must stay in one fold: the texts of an author, or copies of a text where no author is known."""
    groups = [
        f"author {who}" if who else f"text {text}"
        for text, who in zip(texts, authors or [None] * len(texts), strict=True)
    ]
    return groups if len(set(groups)) < len(groups) else None


def mcc(c: Confusion) -> float:
    """Matthews correlation coefficient; NaN where a class or an answer never occurs."""
    below = (c.tp + c.fp) * (c.tp + c.fn) * (c.tn + c.fp) * (c.tn + c.fn)
    return (c.tp * c.tn - c.fp * c.fn) / math.sqrt(below) if below else math.nan


def mcc_interval(c: Confusion, seed: int = 0) -> Interval:
    """Its bootstrap interval: the cells are binomial within each class."""
    if not c.positive or not c.negative:
        return UNKNOWN
    random = np.random.default_rng(seed)
    tp = random.binomial(c.positive, c.tp / c.positive, bootstrap.RESAMPLES)
    fp = random.binomial(c.negative, c.fp / c.negative, bootstrap.RESAMPLES)
    drawn = [
        mcc(Confusion(int(a), int(b), c.positive - int(a), c.negative - int(b)))
        for a, b in zip(tp, fp, strict=True)
    ]
    return bootstrap.percentiles(np.array(drawn))


def _giveaways(
    first: Sequence[str], second: Sequence[str], authors: tuple[Authors, Authors], most: int
) -> list[Telling]:
    """The words and pairs with the largest weights of a classifier of all texts."""
    vectorizer, classifier = _classifier()
    try:
        features = csr_array(vectorizer.fit_transform([*first, *second]))
    except ValueError:
        return []
    classifier.fit(features, np.repeat([1, 0], [len(first), len(second)]))
    terms = vectorizer.get_feature_names_out().tolist()
    sides = (
        Counted(csr_array(features[: len(first)]), terms),
        Counted(csr_array(features[len(first) :]), terms),
    )
    return shown(*sides, classifier.coef_[0], authors, most=most)


def _classifier() -> tuple[Any, Any]:
    from sklearn.feature_extraction.text import TfidfVectorizer
    from sklearn.linear_model import LogisticRegression

    vectorizer = TfidfVectorizer(
        token_pattern=WORD, ngram_range=(1, 2), min_df=2, sublinear_tf=True, max_features=50_000
    )
    return vectorizer, LogisticRegression(C=10.0, class_weight="balanced", max_iter=1_000)


def _of(texts: Sequence[str], authors: Authors) -> Sequence[str | None]:
    return authors if authors is not None else [None] * len(texts)


def _numbers(groups: Sequence[str] | None) -> IntArray | None:
    return None if groups is None else np.unique(np.array(groups), return_inverse=True)[1].astype(np.int64)
