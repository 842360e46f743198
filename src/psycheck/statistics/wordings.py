"""The same texts decided under several wordings of one question: how much hangs on the wording."""

from dataclasses import dataclass

import numpy as np

from psycheck.statistics.classification import BoolArray, FloatArray, firm, gold
from psycheck.statistics.clustered import Clusters
from psycheck.statistics.intervals import Interval

_DRAWS = 2_000
_TAILS = (2.5, 97.5)


@dataclass(frozen=True, slots=True)
class F1Range:
    """The F1 of each wording, (k,), and the highest minus the lowest, with its interval."""

    f1: FloatArray
    spread: float
    interval: Interval
    n: int


def answered_by_all(decided: FloatArray) -> BoolArray:
    """The texts that are decided under every wording, (n,), from decisions (k, n) with NaN for none."""
    return np.asarray(~np.isnan(decided).any(axis=0))


def changes(decided: FloatArray) -> BoolArray:
    """The texts whose decision is not the same under all wordings, (n,); False where one gives none."""
    differs = (decided != decided[0]).any(axis=0)
    return np.asarray(differs & answered_by_all(decided))


def f1_range(targets: FloatArray, decided: FloatArray, clusters: Clusters, *, seed: int = 0) -> F1Range:
    """The range of F1 over wordings, targets (n,) and decisions (k, n), on texts that all wordings decide.

    The interval is that of the F1 of the best wording minus that of the worst, over resampled clusters. Which
    two these are is fixed by the whole sample: in each resample some other pair lies further apart by chance.
    """
    known = answered_by_all(decided) & ~np.isnan(firm(targets))
    positive = gold(firm(targets)[known])
    clusters = clusters.at(known)
    counts = np.stack([_counts_by_cluster(row[known] == 1, positive, clusters) for row in decided])
    f1 = _f1(counts.sum(axis=1))
    if not np.isfinite(f1).all():
        return F1Range(f1, np.nan, (np.nan, np.nan), int(known.sum()))

    best, worst = int(f1.argmax()), int(f1.argmin())
    draws = np.random.default_rng(seed).multinomial(
        clusters.count, np.full(clusters.count, 1 / clusters.count), size=_DRAWS
    )
    # (draws, clusters) times (clusters, 2): resampled true positives and errors of both wordings.
    differences = _f1(draws @ counts[best]) - _f1(draws @ counts[worst])
    low, high = np.nanpercentile(differences, _TAILS)
    return F1Range(f1, float(f1[best] - f1[worst]), (float(low), float(high)), int(known.sum()))


def _counts_by_cluster(decided: BoolArray, positive: BoolArray, clusters: Clusters) -> FloatArray:
    """True positives and errors of each cluster, (clusters, 2)."""
    hits = clusters.sums((decided & positive).astype(np.float64))
    errors = clusters.sums((decided != positive).astype(np.float64))
    return np.stack([hits, errors], axis=1)


def _f1(counts: FloatArray) -> FloatArray:
    """F1 from true positives and errors, (…, 2); NaN where there is neither."""
    hits, errors = counts[..., 0], counts[..., 1]
    whole = 2 * hits + errors
    return np.where(whole > 0, 2 * hits / np.maximum(whole, 1), np.nan)
