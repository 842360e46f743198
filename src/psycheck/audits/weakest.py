"""Which checks may be the weakest: what a verdict names, and where the calls of a budget tell most.

The weakest check has the lowest upper end of its pass rate (of an MFT check, relative to the texts as they
were), so that few texts do not outweigh many; from a sample this figure is foreseen for all cases. Others may
be as weak: on the same texts they are not shown to lose fewer. Both are the same for a sample and a full run.
"""

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace
from functools import cache

import numpy as np
from numpy.typing import NDArray

from psycheck.audits.cases import Cases, applies_to
from psycheck.audits.suite import Check, Suite
from psycheck.core.arrays import FloatArray
from psycheck.core.corpus import Corpus
from psycheck.core.finding import Finding
from psycheck.statistics.clustered import Clusters, exact_number, ratio_interval
from psycheck.statistics.distributions import normal_tail, range_quantile, student_tail
from psycheck.statistics.intervals import exact

ERROR = 0.05  # of the runs may leave out a check that is as weak
SURE = 2.0  # standard errors of what is not asked yet
HARMED = 2.0  # standard errors of an MFT check's change, beyond which a full run calls it harmed


@dataclass(frozen=True, slots=True, eq=False, kw_only=True)
class Standing:
    """Where a check stands among all checks of the run.

    `upper_end` is the upper end of the pass rate that a full run is likely to find, infinite if no harm is
    shown. `possible` says whether the edit may turn out to do harm. `lost` is the share of the `n` texts that
    it costs, `errors` (units,) what each author or text of the corpus adds to the error of this share.
    `width` is half the width of the interval of the pass rate.
    """

    upper_end: float = math.inf
    possible: bool = False
    lost: float = 0.0
    n: int = 0
    corpus: str = ""
    errors: NDArray[np.float32] = field(default_factory=lambda: np.zeros(0, np.float32))
    width: float = math.nan


def standings(
    suite: Suite,
    corpus: Corpus,
    all_cases: Sequence[Cases],
    *,
    others: int,
    parts: Sequence[int],
) -> Iterator[Standing]:
    """The standing of each check of a suite by its cases.

    `others` is the number of checks of the run besides these; `parts` divide the 5 % of each interval.
    """
    # The weakest is picked among all checks of the run: the more there are, the wider its interval.
    tested_checks = others + sum(bool(cases.tested.any()) for cases in all_cases)
    units = Clusters.of(corpus.units(), corpus.copies())
    for check, cases, part in zip(suite.checks, all_cases, parts, strict=True):
        applicable = int(applies_to(check, corpus).sum())
        possible_cases = max(applicable, 1)
        standing = _standing(
            check,
            cases,
            units,
            asked_share=len(cases.rows) / possible_cases,
            among=tested_checks,
        )
        low, high = ratio_interval(
            cases.passed,
            cases.tested,
            units.at(cases.rows),
            among=part,
        )
        yield replace(standing, corpus=corpus.name, width=(high - low) / 2)


def _standing(
    check: Check,
    cases: Cases,
    units: Clusters,
    *,
    asked_share: float,
    among: int,
) -> Standing:
    """The standing by the cases that were asked, a share of all; `among` is the number of all checks."""
    tested = cases.tested
    rows = cases.rows[tested]
    n = int(tested.sum())
    if not n:
        no_errors = np.zeros(units.count, np.float32)
        return Standing(errors=no_errors)

    passed = cases.passed[tested].astype(np.float64)
    harm = _passed_unedited(check, cases) - passed  # (n,): 1 where the edit costs a text
    lost = float(harm.mean())
    # One more text that differs by 1: a few texts that are all alike may be the exception.
    deviations = harm - lost
    squares = float(np.sum(deviations**2))
    variance = (squares + 1) / (n + 1)

    # The interval of a full run: as many independent texts more as there are cases more.
    full_n = n / asked_share
    independent = exact_number(passed, np.ones(n), units.at(rows), among)
    full_independent = full_n if math.isnan(independent) else independent / asked_share
    rate = float(passed.mean())
    _, rate_high = exact(rate, full_independent, among)
    upper_end = 1 - lost + rate_high - rate

    # The edit of an MFT check may also help: it does harm only beyond chance.
    least_harm = 0.0
    if check.kind == "MFT":
        least_harm = HARMED * math.sqrt(variance / full_n)
    is_harm_shown = lost > least_harm
    unasked_error = math.sqrt(variance / n * (1 - asked_share))
    most_likely_lost = lost + SURE * unasked_error

    # By unit, so that two checks on the same texts can be compared in pairs.
    errors = np.bincount(units.codes[rows], deviations / n, units.count)
    return Standing(
        upper_end=upper_end if is_harm_shown else math.inf,
        possible=most_likely_lost > least_harm,
        lost=lost,
        n=n,
        # One array per check of a run, kept until its end: in half the memory.
        errors=errors.astype(np.float32),
    )


def _passed_unedited(check: Check, cases: Cases) -> FloatArray:
    """1 for each tested case, (n,), that would have passed unedited; that is so for all but MFT checks."""
    decided = cases.decided_before[cases.tested]
    if check.kind != "MFT":
        return np.ones(len(decided))
    right: NDArray[np.bool_] = decided == bool(check.expect.label)
    return right.astype(np.float64)


def contenders(every: Sequence[Standing]) -> list[int]:
    """The checks that may be the weakest, the likeliest first: no other is shown to lose more texts."""
    if not every:
        return []

    def weakness(k: int) -> tuple[float, bool, float]:
        standing = every[k]
        # Where no check is shown to do harm, one that still may comes first.
        return standing.upper_end, not standing.possible, -standing.lost

    first = min(range(len(every)), key=weakness)
    behind: dict[int, tuple[float, float]] = {}
    for k, standing in enumerate(every):
        if k != first and standing.possible:
            behind[k] = _behind(standing, every[first])
    chance = _chance_apart(1 + len(behind))
    rivals: list[tuple[float, int]] = []
    for k, (distance, p) in behind.items():
        if p >= chance:
            rivals.append((distance, k))
    # The least behind first; of equal ones in the order of the checks.
    return [first, *(k for _, k in sorted(rivals))]


@cache
def _chance_apart(checks: int) -> float:
    """The p-value that the two furthest of several equal checks have at least, in 95 % of the runs.

    The first is picked as the lowest, so this is that of Tukey's studentised range: where all checks are
    equally weak, at most 5 % of the runs leave any out.
    """
    if checks < 2:
        return 0.0
    of_means = range_quantile(1 - ERROR, checks)
    return normal_tail(of_means / math.sqrt(2))


def _behind(standing: Standing, first: Standing) -> tuple[float, float]:
    """By how many standard errors a check loses fewer texts, and the one-sided p-value of that.

    Checks of the same corpus are paired. A few authors who write most make the standard error uncertain,
    which the degrees of freedom allow for (Satterthwaite), a little too few as in `clusters.spread_of`.
    """
    if standing.corpus == first.corpus:
        errors = first.errors.astype(np.float64) - standing.errors
    else:
        errors = np.concatenate([first.errors, standing.errors]).astype(np.float64)
    variance = float(np.sum(errors**2))
    fourth_powers = float(np.sum(errors**4))
    freedom = 2 * variance**2 / max(fourth_powers, 1e-300)
    freedom = max(min(freedom, len(errors) - 1), 1)

    # One more text of each check that differs by 1, as in the standings.
    smoothing = sum(1 / max(n, 1) ** 2 for n in (standing.n, first.n))
    standard_error = math.sqrt(variance + smoothing)
    distance = (first.lost - standing.lost) / standard_error
    return distance, student_tail(distance, freedom)


def mark_weakest(findings: Sequence[Finding], every: Sequence[Standing]) -> list[Finding]:
    """Flag the likeliest of the weakest checks "weakest", and those that may be as weak "maybe_weakest".

    The standings are those of the checks' pass rates among the findings, in their order. No check is flagged
    where none is shown to do harm.
    """
    places = [k for k, finding in enumerate(findings) if _is_pass_rate_of_check(finding)]
    tested: list[Standing] = []
    for place, standing in zip(places, every, strict=True):
        tested.append(_as_tested(findings[place], standing))

    weakest = contenders(tested)
    marked = list(findings)
    # The likeliest has the lowest end: if that is infinite, all are.
    is_harm_shown = bool(weakest) and tested[weakest[0]].upper_end < math.inf
    if not is_harm_shown:
        return marked

    for number, check in enumerate(weakest):
        place = places[check]
        rate = findings[place]
        flag = "maybe_weakest" if number else "weakest"
        marked[place] = replace(rate, flags=(*rate.flags, flag))
    return marked


def _is_pass_rate_of_check(finding: Finding) -> bool:
    return finding.measure == "pass_rate" and finding.where.get("audit") == "behaviour"


def _as_tested(rate: Finding, standing: Standing) -> Standing:
    """The standing of an MFT check by the test of its edit: more cases may still show harm, but only they."""
    if "passed_unedited" not in rate.counts or "harmed" in rate.flags:
        return standing
    has_cases_left = rate.counts.get("not_asked", 0) > 0
    may_do_harm = standing.possible and has_cases_left
    return replace(standing, upper_end=math.inf, possible=may_do_harm)
