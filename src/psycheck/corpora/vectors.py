"""Vectors of texts without a language model, and where vectors lie on a map."""

from collections.abc import Sequence

import numpy as np

from psycheck.errors import BadInput, MissingExtra
from psycheck.model import FloatArray
from psycheck.text.words import WORD

DIMENSIONS = 100


def tfidf_vectors(texts: Sequence[str], *, dimensions: int = DIMENSIONS, seed: int = 0) -> FloatArray:
    """TF–IDF of words by truncated SVD, each of length 1, (n, d), fitted on these very texts."""
    from sklearn.decomposition import TruncatedSVD
    from sklearn.feature_extraction.text import TfidfVectorizer

    try:
        table = TfidfVectorizer(token_pattern=WORD, sublinear_tf=True).fit_transform(texts)
    except ValueError:  # no text holds a word
        return np.zeros((len(texts), 1))
    most = min(dimensions, min(table.shape) - 1)
    if most < 1:
        return np.asarray(table.todense(), dtype=np.float64)
    # The exact solver: the randomised one gives other vectors when the texts come in another order.
    reduced = TruncatedSVD(most, algorithm="arpack", random_state=seed).fit_transform(table)
    lengths = np.linalg.norm(reduced, axis=1, keepdims=True)
    out: FloatArray = reduced / np.where(lengths > 0, lengths, 1.0)
    return out


def map_of(vectors: FloatArray, *, perplexity: float = 30.0, seed: int = 0) -> FloatArray:
    """A t-SNE map of vectors, (n, 2): near texts stay near; far distances on it mean little.

    Vectors of one dimension, or all in one place, have none.
    """
    if vectors.shape[1] < 2 or not np.ptp(vectors, axis=0).any():
        why = "the vectors have one dimension" if vectors.shape[1] < 2 else "all vectors are the same"
        raise BadInput(
            why, allowed="texts of several words", do="leave out --part map, or name another encoder"
        )
    try:
        from openTSNE import TSNE
    except ImportError as error:
        raise MissingExtra("the t-SNE map", "compare") from error
    # Perplexity counts neighbours: more than a third of the texts would leave no neighbourhoods.
    near = max(2.0, min(perplexity, (len(vectors) - 1) / 3))
    places = TSNE(perplexity=near, metric="euclidean", initialization="pca", random_state=seed).fit(vectors)
    return np.asarray(places, dtype=np.float64)
