"""Findings that a claim of the verdict is made from: builders with defaults that make no claim."""

import math
from collections.abc import Iterable
from typing import Any

from psycheck.core.finding import Finding, Findings, Interval
from psycheck.core.run import Run
from psycheck.report.verdict import chosen_headlines

PLACE = {"model": "m", "corpus": "c", "label": "low"}
PAIRS = {"audit": "fairness", **PLACE, "unit": "pairs", "swap": "pronouns"}
GROUPS = {"audit": "fairness", **PLACE, "unit": "groups", "column": "ward"}


def run_of(*findings: Finding, **plan: Any) -> Run:
    return Run(plan=plan, environment={}, findings=Findings(findings))


def rules(*findings: Finding) -> list[str]:
    """The rules of the verdict on these findings, in its order."""
    return [claim.rule for claim in chosen_headlines(run_of(*findings))]


def sentence_of(rule: str, findings: Iterable[Finding]) -> str:
    """The one sentence of a rule in the verdict on these findings."""
    (sentence,) = [h.sentence for h in chosen_headlines(run_of(*findings)) if h.rule == rule]
    return sentence


def performance(
    *,
    decided_1: int = 50,
    annotated_1: int = 50,
    n: int = 100,
    auc: Interval | None = (0.6, 0.8),
    balanced: Interval | None = (0.6, 0.8),
    ranked: bool = True,
    flags: tuple[str, ...] = (),
    **place: str,
) -> list[Finding]:
    """Shares decided and annotated 1 of one model and corpus, AUC and balanced accuracy."""
    where = {"audit": "performance", **PLACE, **place}
    counts = {"tp": annotated_1, "fn": 0, "units": n}
    findings = [
        Finding(
            "decided_1_share", decided_1 / n, n, interval=(0.4, 0.6), where=where, counts=counts, flags=flags
        )
    ]
    areas = {"auc_among_claims": auc, "hard_auc_among_claims": balanced}
    for measure, interval in areas.items():
        if ranked or measure != "auc_among_claims":
            value = 0.5 if interval is None else sum(interval) / 2
            findings.append(Finding(measure, value, n, interval=interval, where=where, counts=counts))
    return findings


def check(
    passed: int = 100,
    n: int = 100,
    *,
    interval: Interval | None = None,
    kind: str = "INV",
    name: str = "T1",
    unedited: int | None = None,
    flags: tuple[str, ...] = (),
    **where: str,
) -> Finding:
    """The pass rate of a check with an interval of ten points to each side, unless another one is named."""
    place = {"audit": "behaviour", **PLACE, "check": name, "kind": kind, "topic": "pronouns", **where}
    if not n:
        return Finding("pass_rate", math.nan, 0, where=place, counts={"generated": 9, "unchanged": 9})
    counts = {"generated": n, "passed": passed, "failed": n - passed}
    if unedited is not None:
        counts["passed_unedited"] = unedited
    rate = passed / n
    ends = interval or (max(rate - 0.1, 0.0), min(rate + 0.1, 1.0))
    return Finding("pass_rate", rate, n, interval=ends, where=place, counts=counts, flags=flags)


def reaction(
    interval: Interval | None = (0.5, 0.9), *, expected: str = "up", name: str = "T9", **where: str
) -> Finding:
    """How the score moves after a sentence, beyond a neutral one; by default as it should."""
    place = {"audit": "behaviour", **PLACE, "check": name, "kind": "DIR", "symptom": "sleep", **where}
    value = 0.4 if interval is None else sum(interval) / 2
    return Finding("reaction", value, 100, interval=interval, where={**place, "expected": expected})


def flips(
    flipped: int = 0,
    *,
    n: int = 100,
    placebo: int = 0,
    placebo_n: int = 100,
    excess: Interval | None = (-0.02, 0.02),
    besides: int = 0,
    units: int | None = None,
    **where: str,
) -> list[Finding]:
    """Gender pairs and their placebo; by default none changes its decision."""
    place = {**PAIRS, **where}
    counts = {
        "generated": n + 3,
        "unchanged": 3,
        "failed": flipped,
        "units": n if units is None else units,
        "named_besides": besides,
    }
    share = flipped / n if n else math.nan
    placebo_share = placebo / placebo_n if placebo_n else math.nan
    excess_value = math.nan if excess is None else sum(excess) / 2
    return [
        Finding("flip_rate", share, n, interval=(0.0, 0.04), where=place, counts=counts),
        Finding("placebo_flip_rate", placebo_share, placebo_n, where=place, counts={"units": placebo_n}),
        Finding("flip_excess_among_tests", excess_value, placebo_n, interval=excess, where=place),
    ]


def score_difference(
    interval: Interval | None = (0.05, 0.15), *, significant: bool = True, **where: str
) -> list[Finding]:
    """How much higher the female wording scores, with its test beyond the placebo."""
    place = {**PAIRS, "group": "female", "versus": "male", **where}
    flags = ("significant",) if significant else ()
    return [
        Finding("score_difference", 0.1, 100, interval=interval, where=place),
        Finding("score_difference_p_holm", 0.01 if significant else 0.6, 100, where=place, flags=flags),
    ]


def gap(
    value: float = -0.3,
    interval: Interval | None = (-0.41, -0.18),
    *,
    p: float = 0.001,
    measure: str = "equal_opportunity_difference",
    group: str = "men",
    versus: str = "women",
    texts: tuple[int, int] = (100, 90),
    **where: str,
) -> list[Finding]:
    """A difference between two groups, with its test, and the rate of the first group."""
    place = {**GROUPS, "group": group, "versus": versus, **where}
    behind = "fnr" if measure.startswith("equal") else "positive_rate"
    flags = ("significant",) if p < 0.05 else ()
    counts = {"texts": texts[0], "texts_versus": texts[1]}
    n = sum(texts)
    sides = [
        Finding(behind, 0.4, texts[0], interval=(0.31, 0.5), where={**GROUPS, **where, "group": side})
        for side in (group, versus)
    ]
    return [
        *sides,
        Finding(measure, value, n, interval=interval, where=place, counts=counts),
        Finding(f"{measure}_p_holm", p, n, where=place, flags=flags),
        Finding(f"{measure}_among_tests", value, n, interval=interval, where=place, counts=counts),
    ]
