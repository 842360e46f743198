"""Vectors of texts that need no model, and a map of vectors."""

from collections.abc import Sequence

import numpy as np

from psycheck.core.arrays import FloatArray
from psycheck.core.errors import BadInput, library
from psycheck.text.words import WORD

DIMENSIONS = 100  # of TF–IDF vectors
PERPLEXITY = 30.0  # of t-SNE: about how many neighbours each text has


def tfidf_vectors(texts: Sequence[str], *, seed: int = 0) -> FloatArray:
    """TF–IDF of words by truncated SVD, each of length 1, (n, d), fitted on these very texts."""
    from sklearn.decomposition import TruncatedSVD
    from sklearn.feature_extraction.text import TfidfVectorizer

    try:
        table = TfidfVectorizer(token_pattern=WORD, sublinear_tf=True).fit_transform(texts)
    except ValueError:  # no text holds a word
        return np.zeros((len(texts), 1))
    # The solver gives fewer dimensions than the table has rows or columns.
    dimensions = min(DIMENSIONS, min(table.shape) - 1)
    if dimensions < 1:
        return np.asarray(table.todense(), dtype=np.float64)

    # The exact solver: the randomised one gives other vectors when the texts come in another order.
    reduced = TruncatedSVD(dimensions, algorithm="arpack", random_state=seed).fit_transform(table)
    # Of length 1, so that long texts are not far from short ones; texts without a word stay at 0.
    lengths = np.linalg.norm(reduced, axis=1, keepdims=True)
    unit_vectors: FloatArray = reduced / np.where(lengths > 0, lengths, 1.0)
    return unit_vectors


def map_of(vectors: FloatArray, *, seed: int = 0) -> FloatArray:
    """A t-SNE map of vectors, (n, 2): near texts stay near; far distances on it mean little.

    Vectors of one dimension, or all in one place, have none.
    """
    if vectors.shape[1] < 2:
        raise _no_map("the vectors have one dimension")
    if not np.ptp(vectors, axis=0).any():
        raise _no_map("all vectors are the same")

    tsne = library("openTSNE", "the t-SNE map", "compare").TSNE
    # Perplexity counts neighbours: more than a third of the texts would leave no neighbourhoods.
    perplexity = max(2.0, min(PERPLEXITY, (len(vectors) - 1) / 3))
    reduction = tsne(
        perplexity=perplexity,
        metric="euclidean",
        initialization="pca",
        random_state=seed,
    )
    return np.asarray(reduction.fit(vectors), dtype=np.float64)


def _no_map(why: str) -> BadInput:
    return BadInput(
        what=why,
        code="compare.no-map",
        allowed="texts of several words",
        do="leave out the part 'map', or name another encoder",
    )
