"""How little a plain classifier of words believes a label that it did not learn from."""

from collections.abc import Mapping, Sequence
from typing import Final

import numpy as np
from numpy.typing import NDArray

from psycheck.core.arrays import FloatArray

_FOLDS: Final = 5
_FEWEST: Final = 15  # authors on each side of a label: with fewer, no classifier is worth asking
_MOST_CHARACTERS: Final = 20_000  # of an author's posts: more change little and cost time


def disagreements(
    texts: Sequence[str],
    annotated: Mapping[str, FloatArray],
) -> dict[str, FloatArray]:
    """The probability of the other side of each author's label, (authors,), by label.

    TF-IDF and a logistic regression, in five folds: no author is judged by a classifier that saw its label.
    NaN is an author without a label; a label with few authors on one side is left out.
    """
    short_texts = np.array([text[:_MOST_CHARACTERS] for text in texts], dtype=object)
    by_label = {}
    for label, values in annotated.items():
        # NaN and 0.5 are no annotation.
        is_labelled = (values > 0.5) | (values < 0.5)
        classes = values[is_labelled] > 0.5
        if min(classes.sum(), (~classes).sum()) < _FEWEST:
            continue
        doubts = np.full(len(values), np.nan)
        doubts[is_labelled] = _doubts(short_texts[is_labelled], classes)
        by_label[label] = doubts
    return by_label


def _doubts(texts: NDArray[np.object_], classes: NDArray[np.bool_]) -> FloatArray:
    """The cross-validated probability that each text belongs to the other class, (n,)."""
    from sklearn.feature_extraction.text import TfidfVectorizer
    from sklearn.linear_model import LogisticRegression
    from sklearn.model_selection import StratifiedKFold, cross_val_predict
    from sklearn.pipeline import make_pipeline

    words = TfidfVectorizer(ngram_range=(1, 2), sublinear_tf=True)
    # Corpora come sorted by their labels or sources: folds are drawn.
    folds = StratifiedKFold(_FOLDS, shuffle=True, random_state=0)
    pipeline = make_pipeline(words, LogisticRegression(C=10, max_iter=500))
    probabilities = cross_val_predict(pipeline, list(texts), classes, cv=folds, method="predict_proba")
    return np.asarray(np.where(classes, probabilities[:, 0], probabilities[:, 1]))
