"""Texts that belong together, and how far a figure varies between them.

The unit of independence is the cluster: an author, or the copies of one text. Every figure is a function of
sums over texts, so its variance is the sum over clusters of their squared influence (Taylor linearisation;
Liang and Zeger 1986). Where identical texts reach across authors, texts are alike in two ways, and the
variance is that between authors, plus that between texts, less that of both together (Cameron, Gelbach and
Miller 2011).
"""

import math
from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike, NDArray

Codes = NDArray[np.intp]
FloatArray = NDArray[np.float64]
BoolArray = NDArray[np.bool_]


@dataclass(frozen=True, slots=True)
class Clusters:
    """Which texts belong together: `codes` (n,) from 0, and how many clusters there are.

    `copies` (n,) numbers the distinct texts, where copies of a text lie in several clusters.
    """

    codes: Codes
    count: int
    copies: Codes | None = None

    @classmethod
    def of(
        cls,
        names: ArrayLike,
        copies: ArrayLike | None = None,
    ) -> "Clusters":
        """Number the clusters of texts by name, (n,); `copies` names the distinct texts, (n,)."""
        distinct_names, codes = np.unique(np.asarray(names), return_inverse=True)
        count = len(distinct_names)
        if copies is None:
            return cls(codes, count)

        distinct_texts, copy_codes = np.unique(np.asarray(copies), return_inverse=True)
        text_count = len(distinct_texts)
        pair_codes = codes * max(text_count, 1) + copy_codes
        pair_count = len(np.unique(pair_codes))
        # Each text in one cluster only: then the clusters alone say all about what is alike.
        is_nested = pair_count == text_count
        return cls(codes, count, None if is_nested else copy_codes)

    @classmethod
    def single(cls, n: int) -> "Clusters":
        """Every text by itself."""
        return cls(np.arange(n), n)

    def at(self, rows: BoolArray | Codes) -> "Clusters":
        """The clusters of a part of the texts, numbered anew."""
        copies = None if self.copies is None else self.copies[rows]
        return Clusters.of(self.codes[rows], copies)

    def sums(self, values: FloatArray) -> FloatArray:
        """Sums within each cluster, (clusters,)."""
        # minlength: the last clusters may hold none of the texts.
        summed = np.bincount(self.codes, weights=values, minlength=self.count)
        sums: FloatArray = summed.astype(np.float64)
        return sums

    @property
    def whole(self) -> bool:
        """Whether every text is independent of all others."""
        return self.count == len(self.codes) and self.copies is None

    def dimensions(self) -> Iterator[tuple[int, "Clusters"]]:
        """The ways in which texts are alike, each with the sign of its share in the variance."""
        yield 1, Clusters(self.codes, self.count)
        if self.copies is None:
            return
        of_copies = Clusters.of(self.copies)
        yield 1, of_copies
        # What an author and a text have in common was counted twice.
        yield -1, Clusters.of(self.codes * of_copies.count + of_copies.codes)

    def equal(self, weights: FloatArray) -> float:
        """How many clusters of equal size would weigh as much as these (Kish's effective number)."""
        squares = 0.0
        for sign, part in self.dimensions():
            sizes = part.sums(weights)
            squares += sign * float(np.sum(sizes**2))
        total = float(np.sum(weights))
        return total**2 / squares if squares > 0 else 0.0

    def showing(
        self,
        marked: BoolArray,
        weights: FloatArray,
    ) -> float:
        """How many clusters of equal size hold a marked text, (n,); large ones count as they weigh."""
        numbers: list[float] = []
        for sign, part in self.dimensions():
            if sign < 0:
                continue
            sizes = part.sums(weights)
            is_showing = part.sums(marked.astype(np.float64)) > 0
            squares = float(np.sum(sizes**2))
            if squares > 0:
                squares_showing = float(np.sum(sizes[is_showing] ** 2))
                numbers.append(part.equal(weights) * squares_showing / squares)
        # Of authors and of copies the smaller number: texts are at least as alike as that.
        return min(numbers, default=0.0)


@dataclass(frozen=True, slots=True)
class Spread:
    """How a figure varies between clusters.

    `decisive` is how many clusters of equal size make up the variance (Satterthwaite 1946), `skewness` that
    of the clusters' influence.
    """

    variance: float
    decisive: float
    skewness: float


def spread_of(
    influence: FloatArray,
    clusters: Clusters,
    weights: FloatArray | None = None,
) -> Spread:
    """The variance of a figure from the influence of each text on it, (n,), as by leaving clusters out."""
    variances: list[float] = []
    decisive: list[float] = []
    total = 0.0
    skewness = 0.0
    for sign, part in clusters.dimensions():
        left_out = influence_of_clusters(influence, part, weights)
        squares = float(np.sum(left_out**2))
        total += sign * squares
        if sign < 0:
            continue
        variances.append(squares)
        decisive.append(_decisive_number(left_out, squares))
        # That of the authors, who come first; copies only where authors show none.
        if not skewness:
            skewness = _skewness(left_out, squares)

    # The difference of variances may be too small by chance, but texts are at least alike in one way.
    largest = max([total, *variances])
    return Spread(largest, min(decisive), skewness)


def variance(
    influence: FloatArray,
    clusters: Clusters,
    weights: FloatArray | None = None,
) -> float:
    """The variance of a figure from the influence of each text on it, (n,), as by leaving clusters out."""
    return spread_of(influence, clusters, weights).variance


def influence_of_clusters(
    influence: FloatArray,
    clusters: Clusters,
    weights: FloatArray | None = None,
) -> FloatArray:
    """The influence of each cluster as if it were left out, (clusters,); NaN where one cluster is all.

    A large cluster pulls the figure towards itself, which hides a part of its own deviation: dividing by the
    share that the other clusters weigh gives it back (CR3, as HC3 of MacKinnon and White 1985).
    """
    if weights is None:
        weights = np.ones(len(influence))
    sizes = clusters.sums(weights)
    share_of_others = 1 - sizes / sizes.sum()
    if clusters.count < 2 or not share_of_others.min() > 0:
        return np.full(clusters.count, math.nan)
    left_out: FloatArray = clusters.sums(influence) / share_of_others
    return left_out


def _decisive_number(left_out: FloatArray, squares: float) -> float:
    """How many clusters of equal size make up a variance, from the influence of each.

    Of normal influence values Σp⁴ / (Σp²)² is 3 / clusters: 2 in place of 3 errs towards width.
    """
    fourth = float(np.sum(left_out**4))
    if not fourth > 0:
        return math.inf
    return float(2 * squares**2 / fourth)


def _skewness(left_out: FloatArray, squares: float) -> float:
    """Σp³ / (Σp²)^1.5 of the influence of each cluster; 0 without any."""
    if not squares > 0:
        return 0.0
    cubes = float(np.sum(left_out**3))
    return float(cubes / squares**1.5)
