"""How every audit writes a figure down: what has no value has no interval and is "not tested"."""

import math
from collections.abc import Mapping, Sequence
from types import MappingProxyType

import numpy as np

from psycheck.finding import Finding, Interval
from psycheck.measures.fairness import Rate
from psycheck.model import FloatArray, Scores

_NONE: Mapping[str, int] = MappingProxyType({})


def thresholds_of(scores: Scores, default: float) -> FloatArray:
    """The decision threshold of each label, (k,): that of an audit, unless the model has its own."""
    own: FloatArray | None = getattr(scores, "thresholds", None)
    return np.full(len(scores.labels), default) if own is None else np.where(np.isnan(own), default, own)


def measured(
    measure: str,
    value: float,
    n: int,
    interval: Interval | None,
    where: Mapping[str, str],
    counts: Mapping[str, int] = _NONE,
    examples: Sequence[str] = (),
    flags: tuple[str, ...] = (),
) -> Finding:
    """A finding; NaN as value is flagged "not_tested", NaN in an interval is no interval."""
    tested = not math.isnan(value)
    known = tested and interval is not None and not any(map(math.isnan, interval))
    flags = flags if tested else (*flags, "not_tested")
    return Finding(measure, value, n, interval if known else None, where, counts, tuple(examples), flags)


def measured_rate(
    measure: str,
    rate: Rate,
    where: Mapping[str, str],
    counts: Mapping[str, int] = _NONE,
    examples: Sequence[str] = (),
    interval: Interval | None = None,
) -> Finding:
    """A share of texts; the interval is Wilson's unless another one is named."""
    return measured(measure, rate.value, rate.n, interval or rate.interval, where, counts, examples)
