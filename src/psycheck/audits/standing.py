"""Which checks of a sample may be the weakest of the whole: what a verdict names, and where calls tell most.

A full run names the check with the lowest upper end of its pass rate (of an MFT check, relative to the texts
as they were). From a sample this figure is foreseen for all cases. It is off by what the cases that were not
asked may change, and by nothing once all of them were (finite population correction).
"""

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace

import numpy as np

from psycheck.audits.behaviour import FAILED, PASSED, Behaviour, Cases, applies_to
from psycheck.audits.suite import Check
from psycheck.corpus import Corpus
from psycheck.measures.clustered import Clusters, ratio_interval
from psycheck.measures.intervals import exact
from psycheck.model import Scores

SURE = 2.0  # standard errors of a difference, beyond which one check is weaker than another
HARMED = 2.0  # standard errors of an MFT check's change, beyond which a full run calls it harmed


@dataclass(frozen=True, slots=True)
class Standing:
    """The upper end of a check's pass rate that a full run is likely to find, and its standard error.

    `at_worst` is the same if the edit of an MFT check turns out to do harm; without cases both are 1. `width`
    is half the width of the interval of the pass rate.
    """

    kept: float = 1.0
    at_worst: float = 1.0
    error: float = 1.0
    width: float = math.nan


def standings(audit: Behaviour, corpus: Corpus, scores: Scores) -> Iterator[Standing]:
    """The standing of each check of a suite."""
    among, units = len(audit.suite.checks) + audit.others, Clusters.of(corpus.units())
    for check, cases in zip(audit.suite.checks, audit.cases(corpus, scores), strict=True):
        asked = len(cases.rows) / max(int(applies_to(check, corpus).sum()), 1)
        low, high = ratio_interval(
            cases.outcome == PASSED, cases.outcome <= FAILED, units.at(cases.rows), among=audit.looks
        )
        yield replace(_standing(check, cases, asked, among), width=(high - low) / 2)


def _standing(check: Check, cases: Cases, asked: float, among: int) -> Standing:
    judged = cases.outcome <= FAILED
    n = int(judged.sum())
    if not n:
        return Standing(error=math.sqrt(1 - asked))
    passed = (cases.outcome[judged] == PASSED).astype(np.float64)
    before = np.ones(n) if check.kind != "MFT" else (cases.was[judged] == bool(check.expect.label)) * 1.0
    harm, rate, whole = before - passed, float(passed.mean()), n / asked
    lost = float(harm.mean())
    # One more text that differs by 1: a few texts that are all alike may be the exception.
    variance = (float(np.sum((harm - lost) ** 2)) + 1) / (n + 1)
    error = math.sqrt(variance / n * (1 - asked))
    left = min(1.0, 1 - lost + exact(rate, whole, among)[1] - rate)
    least = HARMED * math.sqrt(variance / whole) if check.kind == "MFT" else 0.0
    possible = lost + SURE * error > least
    return Standing(left if lost > least else 1.0, left if possible else 1.0, error)


def contenders(every: Sequence[Standing]) -> list[int]:
    """The checks that may be the weakest, the likeliest first: no other is surely weaker."""
    if not every:
        return []
    first = min(range(len(every)), key=lambda k: every[k].kept)
    low = every[first]
    rest = [
        k
        for k, one in enumerate(every)
        if k != first and one.at_worst - low.kept <= SURE * math.hypot(one.error, low.error)
    ]
    return [first, *sorted(rest, key=lambda k: every[k].at_worst)]
