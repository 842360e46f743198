"""The ratio of false negative rates of two groups, or of one group in two wordings (gender paper, 2.2)."""

import math
from dataclasses import dataclass

from psycheck.statistics.group_rates import Rate
from psycheck.statistics.intervals import UNKNOWN, Z95, Interval

# Of missed positives, and of positives that are found: with more and fewer no interval covers.
NEARLY_ALL = 0.9
FEWEST_FOUND = 5
HALF_TEXT = 0.5


@dataclass(frozen=True, slots=True)
class Ratio:
    """The lower false negative rate by the higher one, in 0..1; `favoured` is the group that is missed less.

    `interval` is that of FNR(favoured) / FNR(other). It reaches above 1 where the data cannot tell which of
    the two is favoured. `favoured` is empty where both rates are equal (then the value is 1) or unknown.
    """

    value: float
    favoured: str
    interval: Interval
    n: int


def fnr_ratio(
    misses_a: int,
    positives_a: int,
    misses_b: int,
    positives_b: int,
    *,
    both: int | None = None,
    names: tuple[str, str] = ("a", "b"),
    share: float = 1.0,
) -> Ratio:
    """The false negative rate ratio, min(FNR) / max(FNR) (gender bias, section 2.2), with its direction.

    `both` is given for pairs only: how many texts are missed in both wordings; both have as many positives
    then. The interval is symmetric on the log scale (Katz; for pairs with the covariance of the two
    rates), because it is closed, hence the same in every run, and cannot go below 0. `share` says how many
    independent texts one text counts for (`clustered.effective_share`).

    Where more than 90 % are missed and fewer than 5 found, there is no interval: it would cover too rarely.
    Empty cells: without positives in a group all is NaN. No miss in either group is a ratio of 1 without
    direction; no miss in one is 0. Where a cell leaves the log interval undefined or without width, it is
    computed with half a text added to each count (Haldane, Anscombe).
    """
    _check(
        misses_a=misses_a,
        positives_a=positives_a,
        misses_b=misses_b,
        positives_b=positives_b,
        both=both,
    )
    n = positives_a if both is not None else positives_a + positives_b
    if not positives_a or not positives_b:
        return Ratio(
            value=math.nan,
            favoured="",
            interval=UNKNOWN,
            n=n,
        )

    # The lower rate goes above, so that the ratio is in 0..1 whichever group comes first.
    rate_a = Rate(misses_a, positives_a)
    rate_b = Rate(misses_b, positives_b)
    lower, higher = rate_a, rate_b
    favoured = names[0]
    if rate_a.value > rate_b.value:
        lower, higher = rate_b, rate_a
        favoured = names[1]
    low, high = _log_interval(
        lower=lower,
        higher=higher,
        both=both,
        share=share,
    )
    if rate_a.value == rate_b.value:
        return Ratio(
            value=1.0,
            favoured="",
            interval=(low, high),
            n=n,
        )
    if not lower.count:
        # The log interval rests on half a miss then, and its end is above the ratio itself.
        return Ratio(
            value=0.0,
            favoured=favoured,
            interval=(0.0, high),
            n=n,
        )
    return Ratio(
        value=lower.value / higher.value,
        favoured=favoured,
        interval=(low, high),
        n=n,
    )


def _log_interval(
    lower: Rate,
    higher: Rate,
    both: int | None,
    share: float,
) -> Interval:
    """The interval of the ratio of two rates on the log scale."""
    if _hardly_found(lower) or _hardly_found(higher):
        return UNKNOWN

    error = 0.0
    middle = 0.0
    if lower.count and higher.count:
        error = _log_error(
            x=lower.count,
            n=lower.n,
            y=higher.count,
            m=higher.n,
            both=both,
        )
        middle = math.log(lower.count / lower.n / (higher.count / higher.n))
    # An empty cell has no logarithm, and equal cells of pairs no width.
    if error == 0:
        lower_count = lower.count + HALF_TEXT
        higher_count = higher.count + HALF_TEXT
        lower_n = lower.n + 1
        higher_n = higher.n + 1
        middle = math.log(lower_count / lower_n / (higher_count / higher_n))
        error = _log_error(
            x=lower_count,
            n=lower_n,
            y=higher_count,
            m=higher_n,
            both=both,
        )
    # The variance is that of fewer independent texts.
    error /= math.sqrt(share)
    return math.exp(middle - Z95 * error), math.exp(middle + Z95 * error)


def _hardly_found(missed: Rate) -> bool:
    """Whether nearly all positives are missed: the normal approximation of the logarithm fails there."""
    found_count = missed.n - missed.count
    return missed.count > NEARLY_ALL * missed.n > 0 and found_count < FEWEST_FOUND


def _log_error(
    x: float,
    n: float,
    y: float,
    m: float,
    both: int | None,
) -> float:
    """The standard error of log((x / n) / (y / m)); of pairs, where n is m, less the covariance."""
    if both is None:
        return math.sqrt(1 / x - 1 / n + 1 / y - 1 / m)
    missed_once = x + y - 2 * both
    return math.sqrt(missed_once / (x * y))


def _check(
    misses_a: int,
    positives_a: int,
    misses_b: int,
    positives_b: int,
    both: int | None,
) -> None:
    """Refuse counts that no texts can have."""
    if not (0 <= misses_a <= positives_a and 0 <= misses_b <= positives_b):
        raise ValueError("misses must be between 0 and the number of positives")
    if both is None:
        return
    # Misses of both wordings cannot be fewer than the two numbers of misses overlap by.
    fewest = max(0, misses_a + misses_b - positives_a)
    most = min(misses_a, misses_b)
    if positives_a != positives_b or not fewest <= both <= most:
        raise ValueError("pairs need equal numbers of positives, and `both` at most as many as either misses")
