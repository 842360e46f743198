"""Adversarial validation: can a plain classifier tell whose text it reads, and by which words?"""

from collections.abc import Sequence
from dataclasses import dataclass
from hashlib import blake2b
from typing import Any

import numpy as np
from scipy.sparse import csr_array

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
class Told:
    """How well the sides are told apart in cross-validation, the second being the positive class.

    `words` give it away; `hidden` counts those that weigh as much and may not be shown.
    """

    values: dict[str, float]
    intervals: dict[str, Interval]
    confusion: Confusion
    words: list[Telling]
    hidden: int


def tell_apart(
    first: Sequence[str],
    second: Sequence[str],
    authors: tuple[Authors, Authors] = (None, None),
    *,
    most: int = 10,
    may_show: MayShow = anything,
    seed: int = 0,
) -> Told:
    """TF–IDF of words and word pairs with logistic regression, cross-validated (ANGST 4.2, Table 8).

    `f1` is the mean of both classes. All texts of an author, and all copies of a text, are in one fold. What
    is found does not depend on the order of the texts; which folds `seed` makes is luck all the same, and the
    intervals do not hold it.
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
    return Told(
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
    """What must stay in one fold, by name: the texts of an author, and the copies of each of these.

    Copies are texts of the same words, whatever their case and punctuation, as for near-duplicates. Who
    copies hangs together with whom he copies, and with all that either wrote.
    """
    named: dict[str, str] = {}
    keys = []
    # Texts come first in the alphabet of keys and name the groups: authors of one text then change nothing.
    for text, who in zip(texts, authors or [None] * len(texts), strict=True):
        copy = f"1 {plain_text(text) or text}"
        keys.append(copy)
        if who:
            author = f"2 {who}"
            one, other = sorted((_first_name(named, copy), _first_name(named, author)))
            named[other] = one
    return [_first_name(named, key) for key in keys]


def _first_name(named: dict[str, str], key: str) -> str:
    """The name of the group that a key belongs to: of all its keys the first in the alphabet."""
    while (above := named.setdefault(key, key)) != key:
        named[key] = named[above]
        key = above
    return key


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
