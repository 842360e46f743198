"""Several rates beside each other: which may be the worst, and which gaps are not ruled out.

Whoever names the worst of many, or the widest gap, has picked it. These figures hold for all at once.
"""

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import combinations

import numpy as np
from numpy.typing import ArrayLike

from psycheck.statistics.clustered import combined_interval, ratio_interval
from psycheck.statistics.clusters import BoolArray, Clusters, FloatArray
from psycheck.statistics.intervals import UNKNOWN, Interval

LEVEL = 0.05
DRAWS = 2_000


@dataclass(frozen=True, slots=True)
class Gap:
    """The first rate minus the second of two groups, by number; all intervals of one call hold together."""

    first: int
    second: int
    value: float
    interval: Interval

    @property
    def not_ruled_out(self) -> float:
        """The widest gap, in either direction, that the interval leaves open."""
        return max(abs(end) for end in self.interval)


def may_be_worst(
    losses: ArrayLike,
    clusters: Clusters,
    *,
    seed: int = 0,
) -> BoolArray:
    """Which of several losses may be the largest, (m,), from what each text loses, (m, n).

    With 95 % confidence all the truly largest are among them, however many are equal: a loss is excluded
    where it lies further behind the largest than any two of m equal losses lie apart by chance. A text that
    was not tested is NaN.
    """
    per_text = np.asarray(losses, np.float64)
    values, errors = _means_and_errors(per_text, clusters)
    largest = int(np.argmax(values))
    errors_of_gaps = _standard_errors(errors)[largest]
    behind = (values[largest] - values) / errors_of_gaps
    # The largest is always among them.
    behind[largest] = 0.0
    limit = largest_gap_quantile(errors, seed=seed)
    is_candidate: BoolArray = behind <= limit
    return is_candidate


def largest_gap_quantile(
    errors: FloatArray,
    *,
    seed: int = 0,
) -> float:
    """By how many standard errors the two furthest of m equal figures are apart by chance, in 95 %.

    `errors` (m, clusters) are the shares of each cluster in the error of each figure. Every cluster keeps its
    shares in all figures, and gets a random weight (the multiplier bootstrap).
    """
    figure_count, cluster_count = errors.shape
    if figure_count < 2:
        return math.inf
    random = np.random.default_rng(seed)
    weights = random.standard_normal((DRAWS, cluster_count))
    drawn = weights @ errors.T
    scale = _standard_errors(errors)
    largest = np.zeros(DRAWS)
    for first, second in combinations(range(figure_count), 2):
        gaps = np.abs(drawn[:, first] - drawn[:, second])
        largest = np.maximum(largest, gaps / scale[first, second])

    # The standard errors are estimated, too.
    freedom = max(cluster_count - 1, 1)
    stretch = np.sqrt(freedom / random.chisquare(freedom, DRAWS))
    return float(np.quantile(largest * stretch, 1 - LEVEL))


def _means_and_errors(per_text: FloatArray, clusters: Clusters) -> tuple[FloatArray, FloatArray]:
    """The mean of each row, (m,), and the share of each cluster in its error, (m, clusters)."""
    is_tested = ~np.isnan(per_text)
    counts = np.maximum(is_tested.sum(axis=1), 1)
    values = np.nansum(per_text, axis=1) / counts
    deviations = np.where(is_tested, per_text - values[:, None], 0.0)
    influences = deviations / counts[:, None]
    sums = np.stack([clusters.sums(row) for row in influences])
    # Deviations from an estimated mean are too small by one degree of freedom.
    correction = math.sqrt(clusters.count / max(clusters.count - 1, 1))
    return values, sums * correction


def _standard_errors(errors: FloatArray) -> FloatArray:
    """The standard error of the difference of every two figures, (m, m)."""
    squares = errors @ errors.T
    variances = np.diag(squares)
    of_differences = variances[:, None] + variances - 2 * squares
    # Figures that fail on the same texts do not differ: any difference between them is then beyond chance.
    standard_errors: FloatArray = np.sqrt(np.maximum(of_differences, 1e-18))
    return standard_errors


def group_gaps(groups: Sequence[tuple[ArrayLike, ArrayLike]], clusters: Clusters) -> Iterator[Gap]:
    """The gap between every two proportions, each (above, below) as in `ratio_interval`, all (n,).

    The intervals hold together in 95 % (Bonferroni over all pairs), so the widest gap may be named.
    """
    pair_count = math.comb(len(groups), 2)
    rates: list[float] = []
    influences: list[FloatArray] = []
    ends: list[Interval] = []
    for above, below in groups:
        top = np.asarray(above, np.float64)
        bottom = np.asarray(below, np.float64)
        total = float(bottom.sum())
        rate = float(top.sum()) / total if total else math.nan
        rates.append(rate)
        influences.append((top - rate * bottom) / max(total, 1.0))
        ends.append(
            ratio_interval(
                above=top,
                below=bottom,
                clusters=clusters,
                among=pair_count,
            )
        )

    for first, second in combinations(range(len(groups)), 2):
        gap = rates[first] - rates[second]
        # A group with too few clusters has no interval, and then no gap to it has one.
        if math.isnan(ends[first][0] + ends[second][0]):
            yield Gap(
                first=first,
                second=second,
                value=gap,
                interval=UNKNOWN,
            )
            continue
        low, high = combined_interval(
            values=(rates[first], rates[second]),
            intervals=(ends[first], ends[second]),
            weights=(1.0, -1.0),
            influences=(influences[first], influences[second]),
            clusters=clusters,
        )
        yield Gap(
            first=first,
            second=second,
            value=gap,
            interval=(max(low, -1.0), min(high, 1.0)),
        )


def largest_gap_not_ruled_out(
    groups: Sequence[tuple[ArrayLike, ArrayLike]], clusters: Clusters
) -> Gap | None:
    """The pair of groups whose gap may be the widest; None where no pair has an interval."""
    bounded = [gap for gap in group_gaps(groups, clusters) if not math.isnan(gap.interval[0])]
    return max(bounded, key=lambda gap: gap.not_ruled_out, default=None)
