"""The same texts decided under several wordings of one question: how much hangs on the wording."""

from dataclasses import dataclass

import numpy as np

from psycheck.statistics.classification import BoolArray, FloatArray, IntArray, firm, gold
from psycheck.statistics.clustered import Clusters
from psycheck.statistics.intervals import UNKNOWN, Interval

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
    is_unanswered = np.isnan(decided).any(axis=0)
    return np.asarray(~is_unanswered)


def changes(decided: FloatArray) -> BoolArray:
    """The texts whose decision is not the same under all wordings, (n,); False where one gives none."""
    # NaN differs from itself, so that an unanswered text would seem to change.
    is_different = (decided != decided[0]).any(axis=0)
    return np.asarray(is_different & answered_by_all(decided))


def f1_range(
    targets: FloatArray,
    decided: FloatArray,
    clusters: Clusters,
    *,
    seed: int = 0,
) -> F1Range:
    """The range of F1 over wordings, targets (n,) and decisions (k, n), on texts that all wordings decide.

    The interval is that of the F1 of the best wording minus that of the worst, over resampled clusters. Which
    two these are is fixed by the whole sample: in each resample some other pair lies further apart by chance.
    """
    is_used = answered_by_all(decided) & ~np.isnan(firm(targets))
    positive = gold(targets[is_used])
    clusters = clusters.at(is_used)
    n = len(positive)

    counts = np.stack([_counts_by_cluster(row[is_used] == 1, positive, clusters) for row in decided])
    f1 = _f1(counts.sum(axis=1))
    if not np.isfinite(f1).all():
        return F1Range(
            f1=f1,
            spread=np.nan,
            interval=UNKNOWN,
            n=n,
        )

    best = int(f1.argmax())
    worst = int(f1.argmin())
    spread = float(f1[best] - f1[worst])
    draws = _draws(clusters.count, seed)
    # (draws, clusters) times (clusters, 2): resampled true positives and errors of both wordings.
    differences = _f1(draws @ counts[best]) - _f1(draws @ counts[worst])
    low, high = np.nanpercentile(differences, _TAILS)
    return F1Range(
        f1=f1,
        spread=spread,
        interval=(float(low), float(high)),
        n=n,
    )


def _draws(clusters: int, seed: int) -> IntArray:
    """How often each cluster is drawn, (draws, clusters), if as many are drawn with replacement."""
    random = np.random.default_rng(seed)
    equal_chances = np.full(clusters, 1 / clusters)
    return random.multinomial(clusters, equal_chances, size=_DRAWS)


def _counts_by_cluster(
    decided: BoolArray,
    positive: BoolArray,
    clusters: Clusters,
) -> FloatArray:
    """True positives and errors of each cluster, (clusters, 2), from marks (n,)."""
    hits = (decided & positive).astype(np.float64)
    errors = (decided != positive).astype(np.float64)
    return np.stack([clusters.sums(hits), clusters.sums(errors)], axis=1)


def _f1(counts: FloatArray) -> FloatArray:
    """F1 from true positives and errors, (…, 2); NaN where there is neither."""
    hits = counts[..., 0]
    errors = counts[..., 1]
    total = 2 * hits + errors
    # Counts are whole: the maximum only keeps the division from warning where nothing is counted.
    return np.where(total > 0, 2 * hits / np.maximum(total, 1), np.nan)
