"""Adversarial validation: can a linear classifier tell which corpus a text is from, and by which words?"""

import math
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from hashlib import blake2b
from typing import Any

import numpy as np
from scipy.sparse import vstack

from psycheck.core.arrays import FloatArray, IntArray
from psycheck.core.corpus import Corpus
from psycheck.core.finding import Interval
from psycheck.corpora.showable_words import MayShow, anything
from psycheck.corpora.vocabulary import Telling, counted, shown, sides_of
from psycheck.statistics import classification as measure
from psycheck.statistics.classification import BoolArray, Confusion
from psycheck.statistics.clustered import Clusters
from psycheck.statistics.intervals import UNKNOWN
from psycheck.statistics.label_intervals import classification_intervals
from psycheck.statistics.sides import Sides, jackknife
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
    first: Corpus,
    second: Corpus,
    *,
    most: int = 10,
    may_show: MayShow = anything,
    seed: int = 0,
) -> DomainResult:
    """TF–IDF of words and word pairs with logistic regression, cross-validated (ANGST 4.2, Table 8).

    `f1` is the mean of both classes. All copies of a text are in one fold, and so are all texts of an author
    but those that other authors wrote too (`fold_groups`). Intervals are clustered by author or text, and
    are of the figure at these sizes. The result does not depend on the order of the texts; it depends on the
    folds that `seed` makes.
    """
    texts = [*first.texts, *second.texts]
    authors = [*first.strings("author"), *second.strings("author")]
    targets = np.repeat([0.0, 1.0], [len(first), len(second)])
    scores = cross_scores(
        texts=texts,
        targets=targets,
        groups=fold_groups(texts, authors),
        seed=seed,
    )

    confusion = measure.confusion(targets, scores)
    values = {
        "accuracy": measure.accuracy(confusion).value,
        "f1": measure.macro_f1(confusion).value,
        "auc": measure.auc(targets, scores).value,
        "mcc": measure.mcc(confusion).value,
    }
    intervals = _intervals(
        values=values,
        targets=targets,
        scores=scores,
        sides=sides_of(first, second),
    )

    # Without a score (too few texts for the folds) the weights would be of a classifier nobody tested.
    words: list[Telling] = []
    hidden = 0
    if confusion.n:
        words, hidden = _heaviest_words(
            first=first,
            second=second,
            most=most,
            may_show=may_show,
        )
    return DomainResult(
        values=values,
        intervals=intervals,
        confusion=confusion,
        words=words,
        hidden=hidden,
    )


def _heaviest_words(
    first: Corpus,
    second: Corpus,
    *,
    most: int,
    may_show: MayShow,
) -> tuple[list[Telling], int]:
    """The words and pairs with the largest weights of a classifier of all texts; how many are hidden."""
    vectorizer, classifier = _classifier()
    sides = counted(first, second, vectorizer=vectorizer)
    if not sides[0].terms:
        return [], 0

    # Weights above 0 must speak for the first side, as `shown` expects: here it is the positive class.
    features = vstack([side.table for side in sides], format="csr")
    is_first = np.repeat([1, 0], [len(first), len(second)])
    classifier.fit(features, is_first)
    return shown(*sides, classifier.coef_[0], most=most, may_show=may_show)


def _intervals(
    values: Mapping[str, float],
    targets: FloatArray,
    scores: FloatArray,
    sides: Sides,
) -> dict[str, Interval]:
    """The clustered interval of each measure, widened because the folds share their training texts."""

    def mcc_of_texts(keep: BoolArray) -> float:
        confusion = measure.confusion(targets[keep], scores[keep])
        return measure.mcc(confusion).value

    clustered = classification_intervals(targets, scores, Clusters.of(sides.units))
    intervals = {
        "accuracy": clustered.get("accuracy", UNKNOWN),
        "auc": clustered.get("auc", UNKNOWN),
        "f1": clustered.get("macro_f1", UNKNOWN),
        "mcc": UNKNOWN,
    }
    if measure.confusion(targets, scores).n:
        intervals["mcc"] = jackknife(
            value=values["mcc"],
            measure=mcc_of_texts,
            sides=sides,
            low=-1.0,
            high=1.0,
        )

    widened = {}
    for name, interval in intervals.items():
        # MCC is a correlation; all others are shares.
        lowest = -1.0 if name == "mcc" else 0.0
        widened[name] = _widened(interval, around=values[name], lowest=lowest)
    return widened


def _widened(interval: Interval, *, around: float, lowest: float) -> Interval:
    """An interval that reaches `WIDER` times as far from the value, within the measure's range."""
    low, high = (around + WIDER * (end - around) for end in interval)
    clipped_low, clipped_high = np.clip([low, high], lowest, 1.0).tolist()
    return clipped_low, clipped_high


def cross_scores(
    texts: Sequence[str],
    targets: FloatArray,
    groups: Sequence[str],
    *,
    seed: int = 0,
) -> FloatArray:
    """The score of each text by a classifier that has not seen it, nor its group, (n,).

    NaN for all where a class has fewer members, or the texts fewer groups, than there are folds.
    """
    scores = np.full(len(texts), np.nan)
    labels = targets.astype(np.int64)
    positives = int(labels.sum())
    smaller_class = min(positives, len(labels) - positives)
    if smaller_class < FOLDS or len(set(groups)) < FOLDS:
        return scores

    text_array = np.array(texts, dtype=object)
    fold_of_text = folds_of(groups, labels, seed)
    # The solver sums in the order of the texts: one order of their own makes the scores the same to the bit.
    in_order = sorted(zip(texts, labels.tolist(), groups, range(len(texts)), strict=True))
    places = np.array([place for _, _, _, place in in_order], dtype=np.int64)

    for fold in range(FOLDS):
        in_fold = fold_of_text[places] == fold
        train = places[~in_fold]
        test = places[in_fold]
        # Large groups can leave a fold empty, or take all of a class: its texts stay without a score.
        has_both_classes = len(set(labels[train])) == 2
        if not has_both_classes or not len(test):
            continue

        vectorizer, classifier = _classifier()
        try:
            features = vectorizer.fit_transform(text_array[train])
        except ValueError:  # no word occurs in two texts
            return np.full(len(texts), np.nan)
        classifier.fit(features, labels[train])
        test_features = vectorizer.transform(text_array[test])
        scores[test] = classifier.predict_proba(test_features)[:, 1]
    return scores


def folds_of(groups: Sequence[str], labels: IntArray, seed: int = 0) -> IntArray:
    """The fold of each text, (n,): groups stay whole, classes even, and the order of the texts is no matter.

    Large groups come first, those within a factor of two in a random order that is a hash of their names and
    `seed`; each goes to the fold that has the least of what it holds.
    """
    # How many texts of class 0 and of class 1 each group has.
    class_counts: dict[str, IntArray] = {}
    for group, label in zip(groups, labels.tolist(), strict=True):
        class_counts.setdefault(group, np.zeros(2, np.int64))[label] += 1

    def rank(group: str) -> tuple[float, str]:
        seeded_name = f"{seed} {group}".encode("utf-8", "surrogatepass")
        digest = blake2b(seeded_name, digest_size=8).digest()
        between_1_and_2 = 1 + int.from_bytes(digest) / 2**64
        return -float(class_counts[group].sum()) * between_1_and_2, group

    class_totals = np.maximum(np.bincount(labels, minlength=2), 1)
    filled = np.zeros((FOLDS, 2), np.int64)
    fold_of_group: dict[str, int] = {}
    for group in sorted(class_counts, key=rank):
        counts = class_counts[group]
        # How much the sum of squared shares would grow; of like folds the one with the fewest texts.
        # (filled + counts)² − filled² = counts · (2 · filled + counts)
        growth = (counts * (2 * filled + counts) / class_totals**2).sum(axis=1)
        texts_in_fold = filled.sum(axis=1)
        # `lexsort` takes the most important key last.
        fold = int(np.lexsort((texts_in_fold, growth))[0])
        fold_of_group[group] = fold
        filled[fold] += counts
    return np.array([fold_of_group[group] for group in groups], dtype=np.int64)


def fold_groups(texts: Sequence[str], authors: Sequence[str | None]) -> list[str]:
    """The group of each text that must stay in one fold: the texts of an author, and the copies of each.

    Copies are texts with the same words, whatever their case and punctuation, as for near-duplicates. A text
    that several authors wrote ("thank you") belongs to the one who wrote it most often, of several the first
    by name: it does not tie the others' texts together. A group is named by the first text in the alphabet.
    """
    # A text without a word (an emoji) is compared as it stands; otherwise all of them would be copies.
    copies = [plain_text(text) or text for text in texts]
    writers_of_copy: dict[str, Counter[str]] = {}
    for copy, author in zip(copies, authors, strict=True):
        writers = writers_of_copy.setdefault(copy, Counter())
        if author:
            writers[author] += 1

    owners = {copy: _owner(copy, writers) for copy, writers in writers_of_copy.items()}
    name_of_owner: dict[tuple[str, str], str] = {}
    for copy in sorted(owners):
        name_of_owner.setdefault(owners[copy], copy)
    return [name_of_owner[owners[copy]] for copy in copies]


def _owner(copy: str, writers: Counter[str]) -> tuple[str, str]:
    """The author who wrote a text most often and ""; or "" and the text itself where no author is known."""
    if not writers:
        return "", copy
    return min(writers, key=lambda author: (-writers[author], author)), ""


def _classifier() -> tuple[Any, Any]:
    """A new TF–IDF vectorizer and a logistic regression, not yet fitted."""
    from sklearn.feature_extraction.text import TfidfVectorizer
    from sklearn.linear_model import LogisticRegression

    # A term of a single text cannot help with another one (`min_df`); `class_weight` keeps the larger corpus
    # from being the answer to everything.
    vectorizer = TfidfVectorizer(
        token_pattern=WORD,
        ngram_range=(1, 2),
        min_df=2,
        sublinear_tf=True,
        max_features=50_000,
    )
    classifier = LogisticRegression(
        C=10.0,
        class_weight="balanced",
        max_iter=1_000,
    )
    return vectorizer, classifier
