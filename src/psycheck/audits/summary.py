"""Findings put together: pass rates by group and across corpora (DECK Table 5), families of p-values."""

import math
from collections.abc import Sequence
from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from psycheck.audits.measured import measured
from psycheck.finding import Finding
from psycheck.measures.clustered import Clusters, figure_interval
from psycheck.measures.intervals import UNKNOWN
from psycheck.measures.significance import holm, pearson, t_test

ACROSS = ("pearson_r", "pearson_p", "t_p")
GROUPINGS = ("kind", "category", "polarity", "symptom")
_PASSED, _FAILED = 0, 1
_FEWEST = 3  # pairs of model and corpus


def mark_below_mean(rates: Sequence[Finding]) -> list[Finding]:
    """Flag the DIR checks that pass less often than the mean of all DIR checks (DECK section 6.3)."""
    tested = [rate.value for rate in rates if rate.where["kind"] == "DIR" and rate.tested]
    mean = float(np.mean(tested)) if tested else np.nan
    return [
        replace(rate, flags=(*rate.flags, "below_dir_mean"))
        if rate.where["kind"] == "DIR" and rate.tested and rate.value < mean
        else rate
        for rate in rates
    ]


def by_groups(
    rates: Sequence[Finding], outcomes: NDArray[np.int8], clusters: Clusters, parts: Sequence[int] = ()
) -> list[Finding]:
    """Mean and standard deviation of the pass rates of each group of checks; outcomes is (checks, texts).

    Checks share their texts, so the intervals come from the influence of each text on the figure (the delta
    method), added up within each cluster, and not from the checks as if they were independent. Where checks
    were sampled, 5 % is divided by the smallest of their `parts`: the smallest samples make up the error.
    """
    out: list[Finding] = []
    for grouping in GROUPINGS:
        # Symptom groups exist only among checks that say whether the symptom is present or absent.
        for value in dict.fromkeys(rate.where[grouping] for rate in rates if grouping in rate.where):
            members = [k for k, rate in enumerate(rates) if rate.where.get(grouping) == value and rate.tested]
            if members:
                out += _mean_and_sd(
                    [rates[k] for k in members],
                    outcomes[members],
                    clusters,
                    {"by": grouping, grouping: value},
                    min(parts[k] for k in members) if parts else 1,
                )
    return out


def across_corpora(findings: Sequence[Finding]) -> list[Finding]:
    """Mean and standard deviation over checks and corpora together, per model, as Table 5 pools them."""
    rates: dict[tuple[str, str], list[Finding]] = {}
    for finding in findings:
        if finding.measure == "pass_rate" and finding.tested:
            rates.setdefault((finding.where["model"], finding.where["suite"]), []).append(finding)
    means = [finding for finding in findings if finding.measure == "pass_rate_mean"]
    out: list[Finding] = []
    for (model, suite), mine in rates.items():
        if len({rate.where["corpus"] for rate in mine}) < 2:
            continue
        for grouping in ("kind", "category"):
            for value in dict.fromkeys(rate.where[grouping] for rate in mine if grouping in rate.where):
                wanted = {"model": model, "suite": suite, "by": grouping, grouping: value}
                group = [rate for rate in mine if rate.where.get(grouping) == value]
                parts = [mean for mean in means if wanted.items() <= mean.where.items()]
                where = {"audit": "behaviour", "model": model, "corpus": "all", **wanted}
                out += _pooled(group, parts, where)
    return out


def _pooled(rates: Sequence[Finding], means: Sequence[Finding], where: dict[str, str]) -> list[Finding]:
    """The mean of all rates; its interval comes from those of the means of each corpus."""
    values = np.array([rate.value for rate in rates])
    weights = np.array([mean.counts["checks"] for mean in means]) / len(rates)
    ends = np.array([one.interval or UNKNOWN for one in means])
    down, up = np.sqrt((weights**2) @ (ends - np.array([[one.value] for one in means])) ** 2)  # MOVER
    mean = float(values.mean())
    counts, n = {"checks": len(rates), "corpora": len(means)}, sum(rate.n for rate in rates)
    found = [measured("pass_rate_mean", mean, n, (mean - float(down), mean + float(up)), where, counts)]
    if len(values) > 1:
        found.append(Finding("pass_rate_sd", float(values.std(ddof=1)), n, None, where, counts))
    return found


def _mean_and_sd(
    rates: Sequence[Finding],
    outcomes: NDArray[np.int8],
    clusters: Clusters,
    group: dict[str, str],
    part: int,
) -> list[Finding]:
    share = np.array([rate.value for rate in rates])  # (c,)
    tested = np.array([rate.n for rate in rates])
    mean = float(share.mean())
    c = len(rates)
    # The influence of text i on the rate of check c: (passed - rate) / tested cases; 0 where it is no case.
    influence = np.where(
        outcomes == _PASSED, 1 - share[:, None], np.where(outcomes == _FAILED, -share[:, None], 0.0)
    )
    influence /= tested[:, None]
    keys = ("audit", "model", "corpus", "suite", "label")
    where = {key: rates[0].where[key] for key in keys} | group
    some = ((outcomes == _PASSED) | (outcomes == _FAILED)).any(axis=0)
    units, influence = clusters.at(some), influence[:, some]
    n, counts = int(tested.sum()), {"checks": c, "units": units.count}
    interval = figure_interval(mean, influence.mean(axis=0), units, units, among=part)
    out = [measured("pass_rate_mean", mean, n, interval, where, counts)]
    if c > 1:
        # Chance alone parts the rates of equally hard checks: no interval of their spread was found to cover.
        out.append(Finding("pass_rate_sd", float(share.std(ddof=1)), n, None, where, counts))
    return out


def across_models(findings: Sequence[Finding]) -> tuple[Finding, ...]:
    """Correlate accuracy with the mean pass rate of MFT and of DIR checks over (model, corpus) pairs.

    For every suite, label and kind: `pearson_r` with its p (`pearson_p`) and Fisher interval, and `t_p` of a
    paired and of an unpaired t-test between pass rates and accuracy (`where` says which in `test`); the paper
    fits the unpaired one. Pairs that share a model or a corpus are not independent: read p with care. Checks
    without cases do not enter a mean. Below 3 pairs everything is NaN, flagged "too_few" (DECK, section 5.2).
    """
    accuracies: dict[tuple[str, ...], float] = {}
    rates: dict[tuple[str, ...], dict[tuple[str, ...], list[float]]] = {}
    for one in findings:
        model, corpus, suite, label, kind = (
            one.where.get(key, "") for key in ("model", "corpus", "suite", "label", "kind")
        )
        if one.measure == "accuracy" and one.tested and not {"group", "check"} & one.where.keys():
            accuracies[model, corpus, label] = one.value
        elif one.measure == "pass_rate" and one.tested and kind in ("MFT", "DIR") and "check" in one.where:
            rates.setdefault((suite, label, kind), {}).setdefault((model, corpus), []).append(one.value)
    found: list[Finding] = []
    for suite, label, kind in sorted(rates, key=lambda group: (*group[:2], group[2] == "DIR")):
        every = rates[suite, label, kind]
        pairs = [pair for pair in every if (*pair, label) in accuracies]
        means = [math.fsum(every[pair]) / len(every[pair]) for pair in pairs]
        accuracy = [accuracies[(*pair, label)] for pair in pairs]
        n, counts = len(pairs), {"pairs": len(pairs), "left_out": len(every) - len(pairs)}
        where = {"audit": "across", "suite": suite, "label": label, "kind": kind}
        r = pearson(means, accuracy)
        figures = [("pearson_r", r.r, where), ("pearson_p", r.p, where)]
        for test in ("paired", "unpaired"):
            p = t_test(means, accuracy, paired=test == "paired") if n >= _FEWEST else math.nan
            figures.append(("t_p", p, {**where, "test": test}))
        for measure, value, here in figures:
            undefined = math.isnan(value if measure == "t_p" else r.r)
            flags = ("too_few",) if n < _FEWEST else ("no_spread",) if undefined else ()
            ends = r.interval if measure == "pearson_r" and not math.isnan(r.interval[0]) else None
            found.append(Finding(measure, value, n, ends, here, counts, flags=flags))
    return tuple(found)


def holm_family(tests: Sequence[Finding]) -> list[Finding]:
    """The p-values of one family adjusted, in the same order, as NAME_holm; `tests` counts those tested."""
    number = sum(test.tested for test in tests)
    return [
        replace(test, measure=f"{test.measure}_holm", value=float(p), counts={**test.counts, "tests": number})
        for test, p in zip(tests, holm([test.value for test in tests]), strict=True)
    ]


def holm_families(findings: Sequence[Finding], measure: str, keys: Sequence[str]) -> list[Finding]:
    """The p-values of a measure, adjusted among the findings that agree in these keys of `where`."""
    families: dict[tuple[str, ...], list[Finding]] = {}
    for finding in findings:
        if finding.measure == measure:
            families.setdefault(tuple(finding.where.get(key, "") for key in keys), []).append(finding)
    return [adjusted for family in families.values() for adjusted in holm_family(family)]
