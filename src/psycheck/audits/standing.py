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
from psycheck.finding import Finding
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
    every = zip(audit.suite.checks, audit.cases(corpus, scores), audit.parts, strict=True)
    for check, cases, part in every:
        asked = len(cases.rows) / max(int(applies_to(check, corpus).sum()), 1)
        passed, tested = cases.outcome == PASSED, cases.outcome <= FAILED
        low, high = ratio_interval(passed, tested, units.at(cases.rows), among=part)
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

    def behind(k: int) -> float:  # in standard errors
        apart, error = every[k].at_worst - every[first].kept, math.hypot(every[k].error, every[first].error)
        return 0.0 if apart <= 0 else apart / error if error else math.inf

    rest = sorted((k for k in range(len(every)) if k != first), key=behind)
    return [first, *(k for k in rest if behind(k) <= SURE)]


def mark_weakest(findings: Sequence[Finding], every: Sequence[Standing]) -> list[Finding]:
    """Flag the likeliest of the weakest checks "weakest", and those that may be as weak "maybe_weakest".

    The standings are those of the checks' pass rates among the findings, in their order.
    """
    rate_of_check = {"audit": "behaviour"}.items()
    rates = [
        k for k, f in enumerate(findings) if f.measure == "pass_rate" and rate_of_check <= f.where.items()
    ]
    out = list(findings)
    for number, k in enumerate(contenders(every)):
        rate = out[rates[k]]
        out[rates[k]] = replace(rate, flags=(*rate.flags, "maybe_weakest" if number else "weakest"))
    return out
