"""A cheap model that actors open by its spec: what is measured is everything around it."""

from collections.abc import Sequence

import numpy as np

from psycheck.core.arrays import FloatArray


class Cheap:
    """Scores a text by its length."""

    name = "cheap"
    labels = ("depression",)
    batch = 4096

    def score(self, texts: Sequence[str]) -> FloatArray:
        """The length of each text modulo 100, as a share, (n, 1)."""
        lengths = np.fromiter(map(len, texts), float, len(texts))
        return (lengths % 100 / 100)[:, None]


model = Cheap()
