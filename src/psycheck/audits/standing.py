"""Which checks may be the weakest: what a verdict names, and where the calls of a budget tell most.

The weakest check has the lowest upper end of its pass rate (of an MFT check, relative to the texts as they
were), so that few texts do not outweigh many; from a sample this figure is foreseen for all cases. Others may
be as weak: on the same texts they are not shown to lose fewer. Both are the same for a sample and a full run.
"""

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace

import numpy as np
from numpy.typing import NDArray

from psycheck.audits.behaviour import FAILED, PASSED, Behaviour, Cases, applies_to
from psycheck.audits.suite import Check
from psycheck.corpus import Corpus
from psycheck.finding import Finding
from psycheck.measures.clustered import Clusters, exact_number, ratio_interval
from psycheck.measures.intervals import exact

SURE = 2.0  # standard errors of a difference, beyond which one check is weaker than another
HARMED = 2.0  # standard errors of an MFT check's change, beyond which a full run calls it harmed


@dataclass(frozen=True, slots=True, eq=False)
class Standing:
    """Where a check stands: the upper end that a full run is likely to find, infinite if no harm is shown.

    `possible` says whether the edit may turn out to do harm. `lost` is the share of the texts that it costs,
    `parts` (units,) what each author or text of the corpus adds to the error of this share, `n` the number
    of texts. `width` is half the width of the interval of the pass rate.
    """

    kept: float = math.inf
    possible: bool = False
    lost: float = 0.0
    n: int = 0
    corpus: str = ""
    parts: NDArray[np.float32] = field(default_factory=lambda: np.zeros(0, np.float32))
    width: float = math.nan


def standings(audit: Behaviour, corpus: Corpus, every: Sequence[Cases]) -> Iterator[Standing]:
    """The standing of each check of a suite by its cases."""
    among = sum(bool((cases.outcome <= FAILED).any()) for cases in every) + audit.others
    units = Clusters.of(corpus.units())
    for check, cases, part in zip(audit.suite.checks, every, audit.parts, strict=True):
        asked = len(cases.rows) / max(int(applies_to(check, corpus).sum()), 1)
        passed, tested = cases.outcome == PASSED, cases.outcome <= FAILED
        low, high = ratio_interval(passed, tested, units.at(cases.rows), among=part)
        found = _standing(check, cases, asked, among, units)
        yield replace(found, corpus=corpus.name, width=(high - low) / 2)


def _standing(check: Check, cases: Cases, asked: float, among: int, units: Clusters) -> Standing:
    judged = cases.outcome <= FAILED
    rows, n = cases.rows[judged], int(judged.sum())
    if not n:
        return Standing(parts=np.zeros(units.count, np.float32))
    passed = (cases.outcome[judged] == PASSED).astype(np.float64)
    before = np.ones(n) if check.kind != "MFT" else (cases.was[judged] == bool(check.expect.label)) * 1.0
    harm, rate, whole = before - passed, float(passed.mean()), n / asked
    lost = float(harm.mean())
    # One more text that differs by 1: a few texts that are all alike may be the exception.
    variance = (float(np.sum((harm - lost) ** 2)) + 1) / (n + 1)
    number = exact_number(passed, np.ones(n), units.at(rows), among)
    foreseen = whole if math.isnan(number) else number / asked
    left = 1 - lost + exact(rate, foreseen, among)[1] - rate
    least = HARMED * math.sqrt(variance / whole) if check.kind == "MFT" else 0.0
    possible = lost + SURE * math.sqrt(variance / n * (1 - asked)) > least
    parts = np.bincount(units.codes[rows], (harm - lost) / n, units.count).astype(np.float32)
    return Standing(left if lost > least else math.inf, possible, lost, n, parts=parts)


def contenders(every: Sequence[Standing]) -> list[int]:
    """The checks that may be the weakest, the likeliest first: no other is shown to lose more texts."""
    if not every:
        return []
    first = min(range(len(every)), key=lambda k: (every[k].kept, not every[k].possible, -every[k].lost))
    behind = {k: _behind(one, every[first]) for k, one in enumerate(every) if k != first and one.possible}
    return [first, *sorted((k for k in behind if behind[k] <= SURE), key=behind.__getitem__)]


def _behind(one: Standing, first: Standing) -> float:
    """By how many standard errors a check loses fewer texts; those of the same corpus are paired."""
    if one.corpus == first.corpus:
        spread = float(np.sum((first.parts - one.parts) ** 2))
    else:
        spread = float(np.sum(first.parts**2) + np.sum(one.parts**2))
    more = sum(1 / max(n, 1) ** 2 for n in (one.n, first.n))  # one more text of each that differs by 1
    return (first.lost - one.lost) / math.sqrt(spread + more)


def mark_weakest(findings: Sequence[Finding], every: Sequence[Standing]) -> list[Finding]:
    """Flag the likeliest of the weakest checks "weakest", and those that may be as weak "maybe_weakest".

    The standings are those of the checks' pass rates among the findings, in their order. No check is flagged
    where none is shown to do harm.
    """
    rate_of_check = {"audit": "behaviour"}.items()
    rates = [
        k for k, f in enumerate(findings) if f.measure == "pass_rate" and rate_of_check <= f.where.items()
    ]
    stand = [_as_tested(findings[k], one) for k, one in zip(rates, every, strict=True)]
    named, out = contenders(stand), list(findings)
    for number, k in enumerate(named if named and stand[named[0]].kept < math.inf else ()):
        rate = out[rates[k]]
        out[rates[k]] = replace(rate, flags=(*rate.flags, "maybe_weakest" if number else "weakest"))
    return out


def _as_tested(rate: Finding, one: Standing) -> Standing:
    """The standing of an MFT check by the test of its edit: more cases may still show harm, but only they."""
    if "passed_unedited" not in rate.counts or "harmed" in rate.flags:
        return one
    return replace(one, kept=math.inf, possible=one.possible and rate.counts.get("not_asked", 0) > 0)
