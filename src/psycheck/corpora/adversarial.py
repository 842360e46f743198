"""Adversarial validation: can a linear classifier tell which corpus a text is from, and by which words?"""

from collections.abc import Sequence
from dataclasses import dataclass
from hashlib import blake2b
from typing import Any

import numpy as np
from scipy.sparse import csr_array

from psycheck.corpora.split import linked
from psycheck.corpora.vocabulary import Counted, MayShow, Telling, anything, shown
from psycheck.finding import Interval
from psycheck.measures import bootstrap
from psycheck.measures import classification as measure
from psycheck.measures.classification import Confusion
from psycheck.measures.intervals import wilson
from psycheck.model import FloatArray, IntArray
from psycheck.text.words import WORD, plain_text

FOLDS = 5
Authors = Sequence[str | None] | None


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
    first: Sequence[str],
    second: Sequence[str],
    authors: tuple[Authors, Authors] = (None, None),
    *,
    most: int = 10,
    may_show: MayShow = anything,
    seed: int = 0,
) -> DomainResult:
    """TF–IDF of words and word pairs with logistic regression, cross-validated (ANGST 4.2, Table 8).

    `f1` is the mean of both classes. All texts of an author, and all copies of a text, are in one fold. The
    result does not depend on the order of the texts; it depends on the folds that `seed` makes, which the
    intervals do not cover.
    """
    texts = [*first, *second]
    targets = np.repeat([0.0, 1.0], [len(first), len(second)])
    scores = cross_scores(
        texts, targets, fold_groups(texts, [*_of(first, authors[0]), *_of(second, authors[1])]), seed=seed
    )
    c = measure.confusion(targets, scores)
    drawn = bootstrap.confusion_intervals(c, seed=seed)
    auc = bootstrap.score_intervals(targets, scores, resamples=500, seed=seed)["auc"]
    words, hidden = _giveaways(first, second, authors, most, may_show) if c.n else ([], 0)
    return DomainResult(
        {
            "accuracy": measure.accuracy(c).value,
            "f1": measure.macro_f1(c).value,
            "auc": measure.auc(targets, scores).value,
            "mcc": measure.mcc(c).value,
        },
        {"accuracy": wilson(c.right, c.n), "f1": drawn["macro_f1"], "auc": auc, "mcc": drawn["mcc"]},
        c,
        words,
        hidden,
    )


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

    Large groups come first, like ones in the order of a hash of their name and `seed`; each goes to the fold
    that has the least of what it holds.
    """
    held: dict[str, list[int]] = {}
    for group, one in zip(groups, yes.tolist(), strict=True):
        held.setdefault(group, [0, 0])[one] += 1
    drawn = {
        group: blake2b(f"{seed} {group}".encode("utf-8", "surrogatepass"), digest_size=8).digest()
        for group in held
    }
    total = [max(1, len(yes) - int(yes.sum())), max(1, int(yes.sum()))]
    filled = [[0, 0] for _ in range(FOLDS)]
    home: dict[str, int] = {}
    for group in sorted(held, key=lambda one: (-sum(held[one]), drawn[one], one)):
        own = held[group]
        # How much the sum of squared shares would grow; of like folds the one with the fewest texts.
        growth = [
            (sum(own[k] * (2 * fold[k] + own[k]) / total[k] ** 2 for k in (0, 1)), sum(fold))
            for fold in filled
        ]
        home[group] = growth.index(min(growth))
        filled[home[group]] = [filled[home[group]][k] + own[k] for k in (0, 1)]
    return np.array([home[group] for group in groups], dtype=np.int64)


def fold_groups(texts: Sequence[str], authors: Authors) -> list[str]:
    """The group of each text that must stay in one fold: the texts of an author, and the copies of each.

    Copies are texts with the same words, whatever their case and punctuation, as for near-duplicates. A copy
    links all texts of both authors. A group is named by the first of its keys in the alphabet.
    """
    # Texts come first in the alphabet of keys and name the groups: authors of one text then change nothing.
    copies = [f"1 {plain_text(text) or text}" for text in texts]
    place: dict[str, int] = {}
    pairs: list[tuple[int, int]] = []
    for copy, author in zip(copies, authors or [None] * len(texts), strict=True):
        at = place.setdefault(copy, len(place))
        if author:
            pairs.append((at, place.setdefault(f"2 {author}", len(place))))
    group = linked(len(place), pairs).tolist()
    names: dict[int, str] = {}
    for key in sorted(place):
        names.setdefault(group[place[key]], key)
    return [names[group[place[copy]]] for copy in copies]


def _giveaways(
    first: Sequence[str],
    second: Sequence[str],
    authors: tuple[Authors, Authors],
    most: int,
    may_show: MayShow,
) -> tuple[list[Telling], int]:
    """The words and pairs with the largest weights of a classifier of all texts, and how many are hidden."""
    vectorizer, classifier = _classifier()
    try:
        features = csr_array(vectorizer.fit_transform([*first, *second]))
    except ValueError:
        return [], 0
    classifier.fit(features, np.repeat([1, 0], [len(first), len(second)]))
    terms = vectorizer.get_feature_names_out().tolist()
    sides = (
        Counted(csr_array(features[: len(first)]), terms),
        Counted(csr_array(features[len(first) :]), terms),
    )
    return shown(*sides, classifier.coef_[0], authors, most=most, may_show=may_show)


def _classifier() -> tuple[Any, Any]:
    from sklearn.feature_extraction.text import TfidfVectorizer
    from sklearn.linear_model import LogisticRegression

    vectorizer = TfidfVectorizer(
        token_pattern=WORD, ngram_range=(1, 2), min_df=2, sublinear_tf=True, max_features=50_000
    )
    return vectorizer, LogisticRegression(C=10.0, class_weight="balanced", max_iter=1_000)


def _of(texts: Sequence[str], authors: Authors) -> Sequence[str | None]:
    return authors if authors is not None else [None] * len(texts)
