"""The vectors of words and sentences, and which of them point anywhere."""

from collections.abc import Sequence

import numpy as np

from psycheck.audits.direct_bias.word_lists import Asked, Spoken
from psycheck.core.arrays import BoolArray, FloatArray


class Embedded:
    """Vectors by word and sentence, (n, d) as they came from an encoder; a row of NaN where it knows none.

    A row of zeros points nowhere, so that its word counts as not known, too.
    """

    def __init__(self, spoken: Sequence[Spoken], vectors: FloatArray) -> None:
        self._vectors = np.asarray(vectors, np.float64)
        self._rows = {word: row for row, word in enumerate(spoken)}

    def of(self, spoken: Sequence[Spoken]) -> FloatArray:
        """The vectors of some words, (n, d)."""
        if not spoken:
            return self._vectors[:0]
        rows = [self._rows[word] for word in spoken]
        return self._vectors[rows]

    def known(self, spoken: Sequence[Spoken]) -> BoolArray:
        """Which of them have a direction, (n,)."""
        lengths = np.linalg.norm(self.of(spoken), axis=1)
        has_direction: BoolArray = lengths > 0  # false for NaN, too
        return has_direction

    def of_known(self, spoken: Sequence[Spoken]) -> FloatArray:
        """The vectors of those that have a direction."""
        has_direction = self.known(spoken)
        vectors: FloatArray = self.of(spoken)[has_direction]
        return vectors


def known_pairs(request: Asked, vectors: Embedded) -> list[tuple[Spoken, Spoken]]:
    """The pairs of which the encoder knows both words."""
    pairs = []
    for pair in request.pairs:
        # One word of a pair has no direction away from the other.
        if vectors.known(pair).all():
            pairs.append(pair)
    return pairs
