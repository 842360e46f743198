"""Intervals by resampling; all are 95 % percentile intervals.

Texts are drawn with replacement within each gold class, so every resample has the classes of the corpus.
Draws are seeded and go through small blocks: 1,000 resamples of 100,000 texts take seconds and few megabytes.
The interval covers other texts at this balance of classes, not populations with another balance.
A resample in which a measure is undefined is left out; where none is defined the interval is NaN.
"""

import numpy as np

from psycheck.measures.calibration import BINS, bin_of, calibration_noise, log_losses, squared_errors
from psycheck.measures.classification import (
    Confusion,
    FloatArray,
    IntArray,
    gold,
    ranked,
)
from psycheck.measures.intervals import UNKNOWN, Interval

RESAMPLES = 1_000
BLOCK = 2**18  # weights at once: 2 MB, which the processor's cache holds


def confusion_intervals(c: Confusion, *, resamples: int = RESAMPLES, seed: int = 0) -> dict[str, Interval]:
    """Intervals of the measures of a 2 × 2 table; its cells are binomial within each gold class."""
    random = np.random.default_rng(seed)
    p, n = c.positive, c.negative
    tp = random.binomial(p, c.tp / p if p else 0.0, resamples).astype(np.float64)
    fp = random.binomial(n, c.fp / n if n else 0.0, resamples).astype(np.float64)
    fn, tn = p - tp, n - fp
    undefined, whole = np.full(resamples, np.nan), np.full(resamples, float(c.n))
    f1_one, f1_zero = f1_of_counts(tp, fp, fn, tn)
    f1_one, f1_zero = f1_one if p else undefined, f1_zero if n else undefined
    drawn = {
        "accuracy": _divided(tp + tn, whole),
        "precision": _divided(tp, tp + fp),
        "recall": _divided(tp, tp + fn),
        "f1": f1_one,
        "macro_f1": (f1_one + f1_zero) / 2,
        "weighted_f1": _divided(p * f1_one + n * f1_zero, whole),
        "hard_brier": _divided(fp + fn, whole),
        "hard_auc": (_divided(tp, tp + fn) + _divided(tn, tn + fp)) / 2,
        "mcc": _divided(tp * tn - fp * fn, np.sqrt((tp + fp) * p * n * (tn + fn))),
    }
    return {name: percentiles(values) for name, values in drawn.items()}


def score_intervals(
    targets: FloatArray, scores: FloatArray, *, resamples: int = RESAMPLES, seed: int = 0
) -> dict[str, Interval]:
    """Intervals of auc, average_precision, brier, log_loss and ece, targets and scores (n,).

    The expected calibration error is a sum of distances, so chance makes it larger, in the corpus as in every
    resample. Its interval is therefore moved back: up from the measured value as far as the resamples spread
    around their median, down as far as they rise above the measured value, or to 0 where it is within noise.
    """
    ranking = ranked(targets, scores)
    classes = (ranking.positive, ranking.negative)
    n = sum(map(len, classes))
    if not n:
        return dict.fromkeys(("auc", "average_precision", "brier", "log_loss", "ece"), UNKNOWN)
    squared = [squared_errors(targets[at], scores[at]) for at in classes]
    logs = [log_losses(targets[at], scores[at]) for at in classes]
    gaps = [scores[at] - gold(targets[at]) for at in classes]
    edges = [np.searchsorted(bin_of(scores[at]), np.arange(BINS + 1)) for at in classes]

    def ece(weights: list[FloatArray]) -> FloatArray:
        distance = sum(
            _sums_between(w * gap, edge) for w, gap, edge in zip(weights, gaps, edges, strict=True)
        )
        out: FloatArray = np.abs(distance).sum(axis=1) / n
        return out

    random = np.random.default_rng(seed)
    drawn: dict[str, list[FloatArray]] = {}
    for rows in _blocks(resamples, n):
        weights = [_weights(random, rows, len(at)) for at in classes]
        auc, average_precision = ranking.areas(*weights)
        block = {
            "auc": auc,
            "average_precision": average_precision,
            "brier": _weighted(weights, squared) / n,
            "log_loss": _weighted(weights, logs) / n,
            "ece": ece(weights),
        }
        for name, values in block.items():
            drawn.setdefault(name, []).append(values)
    found = {name: np.concatenate(values) for name, values in drawn.items()}
    intervals = {name: percentiles(values) for name, values in found.items()}
    measured = float(ece(list(ranking.once()))[0])
    noise = calibration_noise(targets, scores, resamples=resamples, seed=seed)
    _, high = intervals["ece"]
    intervals["ece"] = (
        0.0 if measured <= noise else max(0.0, 2 * measured - high),
        min(1.0, measured + high - float(np.median(found["ece"]))),
    )
    return intervals


def f1_of_counts(
    tp: FloatArray, fp: FloatArray, fn: FloatArray, tn: FloatArray
) -> tuple[FloatArray, FloatArray]:
    """F1 of class 1 and of class 0 for each row of counts; NaN where undefined."""
    return _divided(2 * tp, 2 * tp + fp + fn), _divided(2 * tn, 2 * tn + fp + fn)


def percentiles(values: FloatArray) -> Interval:
    """The 2.5th and the 97.5th percentile of the values that are not NaN."""
    there = values[~np.isnan(values)]
    if not len(there):
        return UNKNOWN
    low, high = np.quantile(there, [0.025, 0.975])
    return float(low), float(high)


def _blocks(resamples: int, n: int) -> list[int]:
    """How many resamples to draw at once."""
    rows = max(1, BLOCK // n)
    return [min(rows, resamples - done) for done in range(0, resamples, rows)]


def _weights(random: np.random.Generator, rows: int, n: int) -> FloatArray:
    """How often each of n texts is drawn in n draws, (rows, n)."""
    if not n:
        return np.zeros((rows, 0))
    drawn = random.integers(0, n, size=(rows, n))
    drawn += np.arange(rows)[:, None] * n
    return np.bincount(drawn.ravel(), minlength=rows * n).reshape(rows, n).astype(np.float64)


def _weighted(weights: list[FloatArray], values: list[FloatArray]) -> FloatArray:
    """Weighted sums over both classes, (rows,)."""
    one, zero = (w @ v for w, v in zip(weights, values, strict=True))
    total: FloatArray = one + zero
    return total


def _sums_between(values: FloatArray, edges: IntArray) -> FloatArray:
    """Sums of the columns between successive edges, (rows, edges − 1)."""
    full = edges[1:] > edges[:-1]
    sums = np.zeros((values.shape[0], len(full)))
    if full.any():
        sums[:, full] = np.add.reduceat(values, edges[:-1][full], axis=1)
    return sums


def _divided(above: FloatArray, below: FloatArray) -> FloatArray:
    """Quotients, NaN where the divisor is 0."""
    out = np.full(np.broadcast_shapes(above.shape, below.shape), np.nan)
    np.divide(above, below, out=out, where=below > 0)
    return out
