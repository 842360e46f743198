"""How often chance gives as large a discrepancy: whole units trade places.

Where every unit has one text, the estimate itself is permuted (Gretton et al. 2012). Else authors differ in
how certain the mean of their texts is. With authors of one text on one side and of fifty on the other,
permuted sides do not vary as the measured ones do, and that test raises false alarms. So every author counts
once, by the mean of the texts, and the estimate is divided by its error in every permutation, as Chung and
Romano (2013) do for means.
"""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from psycheck.statistics.classification import BoolArray, FloatArray
from psycheck.statistics.sides import Sides

BLOCK = 256  # permutations in one matrix product
LEVEL = 0.95  # of the values by chance, below which the reported one lies above
_SINGLE_ROUNDING = 1e-6  # of sums of a kernel in single precision
_ROUNDING = 1e-12

SingleKernel = NDArray[np.float32]


@dataclass(frozen=True, slots=True)
class ChanceTest:
    """How often permuted sides reach the value, and the 95th percentile of what they give."""

    p: float
    chance: float


def permutation_test(
    kernel: FloatArray,
    sides: Sides,
    value: float,
    *,
    permutations: int,
    seed: int,
) -> ChanceTest:
    """The test of an unbiased squared MMD by its kernel, (n, n), 0 within units, which it overwrites."""
    # A single author on a side says nothing about other authors.
    if np.isnan(value):
        return ChanceTest(1.0, np.nan)

    random = np.random.default_rng(seed)
    if not _has_several_texts(sides):
        estimates = _permuted_estimates(
            kernel=_centred(kernel, sides.units),
            sides=sides,
            permutations=permutations,
            random=random,
        )
        # Permutations that change nothing give the same value up to the rounding of single precision.
        return _test(
            value=value,
            by_chance=estimates,
            tolerance=_SINGLE_ROUNDING,
        )

    parts, part_kernel = _kernel_of_parts(kernel, sides)
    measured, error = _studentised(part_kernel, parts.first[:, None])
    by_chance = _permuted_ratios(
        kernel=part_kernel,
        parts=parts,
        permutations=permutations,
        random=random,
    )
    test = _test(
        value=float(measured[0]),
        by_chance=by_chance,
        tolerance=_ROUNDING,
    )
    return ChanceTest(test.p, test.chance * float(error[0]))


def _test(
    value: float,
    by_chance: FloatArray,
    tolerance: float,
) -> ChanceTest:
    """The p-value of a value among those of permutations, (permutations,)."""
    is_below = by_chance < value - tolerance
    # Counted as not below, so that values that are NaN make p larger and not smaller.
    reached = int((~is_below).sum())
    # The measured sides are one of the permutations, so p is never 0 (Phipson and Smyth 2010).
    p = (1 + reached) / (1 + len(by_chance))
    return ChanceTest(p, float(np.quantile(by_chance, LEVEL)))


def _has_several_texts(sides: Sides) -> bool:
    """Whether a unit has several texts on one side."""
    texts_on_first = np.bincount(sides.units, sides.first)
    texts_on_second = np.bincount(sides.units, ~sides.first)
    return bool(max(texts_on_first.max(), texts_on_second.max()) > 1)


def _centred(kernel: FloatArray, units: NDArray[np.int64]) -> SingleKernel:
    """The kernel, (n, n), less its mean where it counts, in single precision.

    A constant drops out of the estimate; without it single precision is exact enough.
    """
    is_counted = units[:, None] != units
    constant = kernel.sum() / max(np.count_nonzero(is_counted), 1)
    kernel -= is_counted * constant
    return kernel.astype(np.float32)


def _permuted_estimates(
    kernel: SingleKernel,
    sides: Sides,
    permutations: int,
    random: np.random.Generator,
) -> FloatArray:
    """The estimate for random memberships, (permutations,); no unit has two texts on a side.

    With w the 0/1 membership of a permuted sample, all three sums of the estimate follow from w'Kw and w'K1:
    all permutations are a few matrix products.
    """
    row_sums = kernel.sum(axis=1, dtype=np.float64)
    total = float(row_sums.sum())
    m = int(sides.first.sum())
    n = len(kernel) - m
    # A unit of both sides has a text on each: that pair does not count, whichever way round it lies.
    on_both = m + n - len(np.unique(sides.units))

    estimates = np.empty(permutations)
    for start in range(0, permutations, BLOCK):
        block_size = min(BLOCK, permutations - start)
        members = _drawn_members(sides, block_size, random).astype(np.float32)
        # In double precision, as these sums are nearly equal.
        within_first = np.einsum(
            "ip,ip->p",
            members,
            kernel @ members,
            dtype=np.float64,
        )
        from_first = row_sums @ members
        across = from_first - within_first
        within_second = total - 2 * from_first + within_first
        with np.errstate(divide="ignore", invalid="ignore"):
            similar = within_first / (m * (m - 1)) + within_second / (n * (n - 1))
            estimates[start : start + block_size] = similar - 2 * across / (m * n - on_both)
    return estimates


def _kernel_of_parts(kernel: FloatArray, sides: Sides) -> tuple[Sides, FloatArray]:
    """The parts of the units, one per side where a unit has texts, and the kernel of their means, centred.

    It is 0 for the two parts of one unit, and for a part with itself.
    """
    from scipy.sparse import csr_array

    part_numbers = 2 * sides.units + ~sides.first
    parts, part_of_text = np.unique(part_numbers, return_inverse=True)
    sizes = np.bincount(part_of_text)
    shares = 1 / sizes[part_of_text]
    places = (part_of_text, np.arange(len(shares)))
    averaging = csr_array((shares, places))
    of_parts = np.asarray(averaging @ kernel, np.float64)
    means = np.asarray(averaging @ of_parts.T, np.float64)

    unit_of_part = parts // 2
    is_counted = unit_of_part[:, None] != unit_of_part
    row_means = means.sum(axis=1) / is_counted.sum(axis=1)
    means -= row_means[:, None]
    means -= row_means - row_means.mean()
    # Centring moved the pairs within units, too, which were 0.
    means *= is_counted
    is_first = parts % 2 == 0
    return Sides(unit_of_part, is_first), means


def _permuted_ratios(
    kernel: FloatArray,
    parts: Sides,
    permutations: int,
    random: np.random.Generator,
) -> FloatArray:
    """The studentised estimate for random memberships of the parts, (permutations,)."""
    ratios = np.empty(permutations)
    for start in range(0, permutations, BLOCK):
        block_size = min(BLOCK, permutations - start)
        members = _drawn_members(parts, block_size, random)
        ratios[start : start + block_size], _ = _studentised(kernel, members)
    return ratios


def _studentised(kernel: FloatArray, members: BoolArray) -> tuple[FloatArray, FloatArray]:
    """The estimate over its error, and the error, (draws,) each, for memberships (parts, draws).

    Without a difference the terms of the estimate have mean 0 and do not correlate: their squares sum up to
    its variance.
    """
    first_sizes = members.sum(axis=0)
    second_sizes = len(members) - first_sizes
    weights = members / first_sizes - ~members / second_sizes
    estimates = np.einsum("ip,ip->p", weights, kernel @ weights)
    squares = weights**2
    variances = 2 * np.einsum("ip,ip->p", squares, kernel**2 @ squares)
    errors = np.sqrt(variances)
    with np.errstate(divide="ignore", invalid="ignore"):
        ratios = estimates / errors
    # Parts that are all equal are no distance apart.
    return np.where(errors > _ROUNDING, ratios, 0.0), errors


def _drawn_members(
    sides: Sides,
    draws: int,
    random: np.random.Generator,
) -> BoolArray:
    """Random memberships of the first side, (n, draws)."""
    drawn = [sides.shuffled(random, least=1) for _ in range(draws)]
    return np.stack(drawn, axis=1)
