"""Whether behaviour goes with performance across models and corpora (DECK, section 5.2)."""

import math
from collections.abc import Mapping, Sequence
from typing import NamedTuple

from psycheck.finding import Finding
from psycheck.measures.significance import pearson, t_test

MEASURES = ("pearson_r", "pearson_p", "t_p")
KINDS = ("MFT", "DIR")
FEWEST = 3
Pair = tuple[str, str]


class Group(NamedTuple):
    """The checks of one kind in one suite, for one label."""

    suite: str
    label: str
    kind: str


def across_models(findings: Sequence[Finding]) -> tuple[Finding, ...]:
    """Correlate accuracy with the mean pass rate of MFT and of DIR checks over (model, corpus) pairs.

    For every suite, label and kind: `pearson_r` with its p (`pearson_p`) and Fisher interval, and `t_p` of a
    paired and of an unpaired t-test between pass rates and accuracy (`where` says which in `test`); the paper
    fits the unpaired one. Pairs that share a model or a corpus are not independent: read p with care. Checks
    without cases do not enter a mean. Below 3 pairs everything is NaN, flagged "too_few".
    """
    accuracies = _accuracies(findings)
    rates = _pass_rates(findings)
    found: list[Finding] = []
    for group in sorted(rates, key=lambda g: (g.suite, g.label, KINDS.index(g.kind))):
        pairs = [pair for pair in rates[group] if (*pair, group.label) in accuracies]
        means = [math.fsum(rates[group][pair]) / len(rates[group][pair]) for pair in pairs]
        accuracy = [accuracies[(*pair, group.label)] for pair in pairs]
        found += _compare(group, means, accuracy, left_out=len(rates[group]) - len(pairs))
    return tuple(found)


def _accuracies(findings: Sequence[Finding]) -> dict[tuple[str, str, str], float]:
    """Accuracy by (model, corpus, label), of whole corpora only."""
    return {
        (*_pair(f.where), f.where.get("label", "")): f.value
        for f in findings
        if f.measure == "accuracy" and f.tested and "group" not in f.where and "check" not in f.where
    }


def _pass_rates(findings: Sequence[Finding]) -> dict[Group, dict[Pair, list[float]]]:
    """The pass rates of the checks of each group, by (model, corpus)."""
    rates: dict[Group, dict[Pair, list[float]]] = {}
    for f in findings:
        where = f.where
        if f.measure != "pass_rate" or "check" not in where or where.get("kind") not in KINDS or not f.tested:
            continue
        group = Group(where.get("suite", ""), where.get("label", ""), where["kind"])
        rates.setdefault(group, {}).setdefault(_pair(where), []).append(f.value)
    return rates


def _compare(group: Group, means: list[float], accuracy: list[float], left_out: int) -> list[Finding]:
    n = len(means)
    where = {"audit": "across", **group._asdict()}
    counts = {"pairs": n, "left_out": left_out}

    def flags(value: float) -> tuple[str, ...]:
        return ("too_few",) if n < FEWEST else ("no_spread",) if math.isnan(value) else ()

    r = pearson(means, accuracy)
    ends = None if math.isnan(r.interval[0]) else r.interval
    found = [
        Finding("pearson_r", r.r, n, ends, where, counts, flags=flags(r.r)),
        Finding("pearson_p", r.p, n, None, where, counts, flags=flags(r.r)),
    ]
    for test in ("paired", "unpaired"):
        p = t_test(means, accuracy, paired=test == "paired").p if n >= FEWEST else math.nan
        found.append(Finding("t_p", p, n, None, {**where, "test": test}, counts, flags=flags(p)))
    return found


def _pair(where: Mapping[str, str]) -> Pair:
    return where.get("model", ""), where.get("corpus", "")
