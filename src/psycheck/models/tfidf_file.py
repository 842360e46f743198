"""Pipelines of tf-idf and logistic regressions, as `psycheck train` writes them: numbers and words, no code.

skops, which holds any pipeline of scikit-learn, imports all of scikit-learn and visits each word of the
vocabulary as an object: seconds for a model that is read in a tenth of one.
"""

import json
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any
from zipfile import ZipFile

import numpy as np
from numpy.typing import NDArray

from psycheck.core.arrays import FloatArray
from psycheck.core.errors import ModelFailure, check_size, explained

TFIDF_FILE = "model.npz"
# The settings of the vectorizer that training may choose; all others are those of scikit-learn.
_SETTINGS = ("ngram_range", "sublinear_tf", "token_pattern", "lowercase")


def save_tfidf(pipeline: Any, folder: Path) -> None:
    """Write a fitted pipeline of tf-idf and logistic regressions; equal pipelines give equal bytes."""
    (_, vectorizer), (_, classifier) = pipeline.steps
    # One-vs-rest holds one regression per label, a single label is a regression itself.
    regressions = getattr(classifier, "estimators_", [classifier])
    words = sorted(vectorizer.vocabulary_, key=vectorizer.vocabulary_.__getitem__)

    description = {
        "vectorizer": {name: getattr(vectorizer, name) for name in _SETTINGS},
        "words": words,
        "classes": [value.item() for value in classifier.classes_],
        "one_vs_rest": hasattr(classifier, "estimators_"),
        "strength": regressions[0].C,
    }
    # As bytes: an array of strings would take the space of the longest word for each.
    as_bytes = np.frombuffer(json.dumps(description).encode(), np.uint8)
    with (folder / TFIDF_FILE).open("wb") as file:
        np.savez_compressed(
            file,
            description=as_bytes,
            idf=vectorizer.idf_,
            weights=np.concatenate([regression.coef_ for regression in regressions]),
            intercepts=np.concatenate([regression.intercept_ for regression in regressions]),
        )


@dataclass(frozen=True, kw_only=True)
class StoredTfidf:
    """The content of a file of `save_tfidf`, which scores like the pipeline.

    scikit-learn is imported when it first scores: it takes longer than a run whose scores are all stored.
    """

    description: Mapping[str, Any]
    idf: FloatArray
    weights: FloatArray
    intercepts: FloatArray

    def __post_init__(self) -> None:
        words = len(self.description["words"])
        # One regression decides between two classes.
        regressions = len(self.description["classes"]) if self.multilabel_ else 1
        fits_words = len(self.idf) == words and self.weights.shape == (regressions, words)
        if not fits_words or len(self.intercepts) != regressions:
            raise ValueError("the arrays do not fit each other")

    @property
    def multilabel_(self) -> bool:
        """Whether the classes are labels that do not exclude each other, as scikit-learn calls it."""
        return bool(self.description["one_vs_rest"])

    @property
    def classes_(self) -> NDArray[Any]:
        """The classes, or the labels, in the order of the columns."""
        return np.array(self.description["classes"])

    @cached_property
    def pipeline(self) -> Any:
        """The fitted scikit-learn Pipeline."""
        return _pipeline(self.description, self.idf, self.weights, self.intercepts)

    def __getitem__(self, part: Any) -> Any:
        """A step of the pipeline, or several, as of scikit-learn's own."""
        return self.pipeline[part]

    def predict_proba(self, texts: list[str]) -> FloatArray:
        """The probabilities of the classes, (n, c)."""
        probabilities: FloatArray = self.pipeline.predict_proba(texts)
        return probabilities


def load_tfidf(path: Path) -> StoredTfidf:
    """The pipeline of a file of `save_tfidf`."""
    with explained(
        "the file does not hold a tf-idf model of psycheck",
        Exception,
        kind=ModelFailure,
        code="model.bad-tfidf",
        where=str(path),
        do="train it again, or copy it again from where it was trained",
    ):
        # A small archive can unpack to more than the memory holds.
        with ZipFile(path) as archive:
            unpacked_size = sum(part.file_size for part in archive.infolist())
        check_size(unpacked_size, str(path))
        with np.load(path, allow_pickle=False) as arrays:
            description = json.loads(arrays["description"].tobytes())
            return StoredTfidf(
                description=description,
                idf=arrays["idf"],
                weights=arrays["weights"],
                intercepts=arrays["intercepts"],
            )


def _pipeline(
    description: Mapping[str, Any],
    idf: FloatArray,
    weights: FloatArray,
    intercepts: FloatArray,
) -> Any:
    """The fitted pipeline; `idf` is (d,), `weights` (k, d) and `intercepts` (k,) for d words and k labels."""
    from sklearn.feature_extraction.text import TfidfVectorizer
    from sklearn.pipeline import make_pipeline

    settings = dict(description["vectorizer"])
    settings["ngram_range"] = tuple(settings["ngram_range"])
    vectorizer = TfidfVectorizer(**settings)
    vectorizer.vocabulary_ = {word: column for column, word in enumerate(description["words"])}
    # Refuses another number of words than there are columns.
    vectorizer.idf_ = idf

    regressions = [
        _regression(row[None, :], intercept[None], description["strength"])
        for row, intercept in zip(weights, intercepts, strict=True)
    ]
    classes = np.array(description["classes"])
    if description["one_vs_rest"]:
        return make_pipeline(vectorizer, one_versus_rest(regressions, classes))
    (regression,) = regressions
    regression.classes_ = classes
    return make_pipeline(vectorizer, regression)


def _regression(weights: FloatArray, intercept: FloatArray, strength: float) -> Any:
    """A fitted logistic regression of one label, with weights (1, d) and intercept (1,)."""
    from sklearn.linear_model import LogisticRegression

    regression = LogisticRegression(C=strength)
    regression.coef_ = weights
    regression.intercept_ = intercept
    regression.classes_ = np.array([0, 1])
    regression.n_features_in_ = weights.shape[1]
    return regression


def one_versus_rest(regressions: list[Any], labels: Any) -> Any:
    """The fitted regressions of several labels, (k,), as one classifier of scikit-learn.

    Assembled by hand, because OneVsRestClassifier cannot fit with missing labels.
    """
    from sklearn.linear_model import LogisticRegression
    from sklearn.multiclass import OneVsRestClassifier
    from sklearn.preprocessing import LabelBinarizer

    one_of_each_label = np.eye(len(labels), dtype=np.int64)
    binarizer = LabelBinarizer(sparse_output=True).fit(one_of_each_label)
    binarizer.classes_ = np.array(labels)

    classifier = OneVsRestClassifier(LogisticRegression(C=regressions[0].C))
    classifier.estimators_ = regressions
    classifier.label_binarizer_ = binarizer
    classifier.classes_ = binarizer.classes_
    classifier.n_features_in_ = regressions[0].coef_.shape[1]
    return classifier
