"""How every audit writes a figure down: what has no value has no interval and is "not tested"."""

import math
from collections.abc import Mapping, Sequence
from types import MappingProxyType

import numpy as np

from psycheck.core.arrays import FloatArray
from psycheck.core.audit import Scores
from psycheck.core.finding import Finding, Interval
from psycheck.statistics.group_rates import Rate

_NO_COUNTS: Mapping[str, int] = MappingProxyType({})


def thresholds_of(scores: Scores, default: float) -> FloatArray:
    """The decision threshold of each label, (k,): that of an audit, unless the model has its own."""
    # A model may have a threshold for some of its labels alone.
    if not scores.traits.thresholds:
        return np.full(len(scores.labels), default)
    model_thresholds = np.array(scores.traits.thresholds)
    return np.where(np.isnan(model_thresholds), default, model_thresholds)


def measured(
    measure: str,
    value: float,
    n: int,
    interval: Interval | None,
    where: Mapping[str, str],
    counts: Mapping[str, int] = _NO_COUNTS,
    examples: Sequence[str] = (),
    flags: tuple[str, ...] = (),
) -> Finding:
    """A finding; NaN as value is flagged "not_tested", NaN in an interval is no interval."""
    if math.isnan(value):
        interval = None
        flags = (*flags, "not_tested")
    elif interval is not None and any(map(math.isnan, interval)):
        interval = None
    return Finding(
        measure=measure,
        value=value,
        n=n,
        interval=interval,
        where=where,
        counts=counts,
        examples=tuple(examples),
        flags=flags,
    )


def measured_rate(
    measure: str,
    rate: Rate,
    where: Mapping[str, str],
    counts: Mapping[str, int] = _NO_COUNTS,
    examples: Sequence[str] = (),
    interval: Interval | None = None,
) -> Finding:
    """A share of texts; the interval is Wilson's unless another one is named."""
    return measured(
        measure,
        rate.value,
        rate.n,
        interval=interval or rate.interval,
        where=where,
        counts=counts,
        examples=examples,
    )
