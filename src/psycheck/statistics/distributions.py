"""Tests and quantiles that every audit needs, without scipy.stats: importing it takes longer than judging.

The functions of scipy.special are those that scipy.stats itself rests on; the tests compare both.
"""

import numpy as np
from scipy import special

from psycheck.core.arrays import FloatArray

_EQUAL = 1e-7  # relative: tables as likely as the data but for rounding
_EXACT_UP_TO = 50  # moves, as in scipy.stats.wilcoxon
_NODES, _WEIGHTS = np.polynomial.legendre.leggauss(200)
_REACH = 8.0  # standard deviations, beyond which the normal density is nothing
_HALVINGS = 60


def normal_tail(z: float) -> float:
    """The chance that a standard normal variable is above z."""
    return float(special.ndtr(-z))


def student_tail(t: float, freedom: float) -> float:
    """The chance that Student's t with some degrees of freedom is above t."""
    return float(special.stdtr(freedom, -t))


def average_ranks(values: FloatArray) -> FloatArray:
    """The ranks of values from 1 up, (n,); equal ones share the mean of theirs."""
    _, level_of_value, counts = np.unique(values, return_inverse=True, return_counts=True)
    last_ranks = np.cumsum(counts)
    mean_ranks = last_ranks - (counts - 1) / 2
    ranks: FloatArray = mean_ranks[level_of_value]
    return ranks


def fisher_p(table: np.ndarray) -> float:
    """Fisher's exact test, two-sided, of a table of counts (2, 2)."""
    first_row = int(table[0].sum())
    second_row = int(table[1].sum())
    first_column = int(table[:, 0].sum())

    # All tables with the same sums, by their first cell.
    least = max(0, first_column - second_row)
    most = min(first_row, first_column)
    cells = np.arange(least, most + 1)
    logs = (
        _log_choices(first_row, cells)
        + _log_choices(second_row, first_column - cells)
        - _log_choices(first_row + second_row, np.array(first_column))
    )
    chances = np.exp(logs)
    chance_of_data = chances[int(table[0, 0]) - least]
    as_unlikely = chances <= chance_of_data * (1 + _EQUAL)
    return min(1.0, float(chances[as_unlikely].sum()))


def _log_choices(n: int, chosen: np.ndarray) -> FloatArray:
    """The logarithm of the binomial coefficients "n over chosen"."""
    logs: FloatArray = special.gammaln(n + 1) - special.gammaln(chosen + 1) - special.gammaln(n - chosen + 1)
    return logs


def wilcoxon_p(moves: FloatArray) -> float:
    """Wilcoxon's signed-rank test, two-sided, of moves (n,), not all 0; few of them are tested exactly."""
    if len(moves) <= _EXACT_UP_TO:
        from scipy import stats

        return float(stats.wilcoxon(moves).pvalue)

    # What does not move says nothing about the direction.
    moves = moves[moves != 0]
    n = len(moves)
    sizes = np.abs(moves)
    rank_sum = float(average_ranks(sizes)[moves > 0].sum())
    _, ties = np.unique(sizes, return_counts=True)
    tied = float(np.sum(ties.astype(np.float64) ** 3 - ties))
    variance = (n * (n + 1) * (2 * n + 1) - tied / 2) / 24
    z = (rank_sum - n * (n + 1) / 4) / np.sqrt(variance)
    return 2 * normal_tail(abs(float(z)))


def range_quantile(chance: float, count: int) -> float:
    """The quantile of the range of `count` standard normal variables (Tukey's with known variance)."""
    nodes = _REACH * _NODES
    density = np.exp(-(nodes**2) / 2) / np.sqrt(2 * np.pi)
    weights = _REACH * _WEIGHTS * density

    def below(width: float) -> float:
        # The largest variable is at a node, and all others are at most `width` below it.
        within = special.ndtr(nodes) - special.ndtr(nodes - width)
        return count * float(weights @ within ** (count - 1))

    low, high = 0.0, 2 * _REACH
    for _ in range(_HALVINGS):
        middle = (low + high) / 2
        if below(middle) < chance:
            low = middle
        else:
            high = middle
    return (low + high) / 2
