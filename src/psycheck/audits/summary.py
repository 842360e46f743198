"""Findings put together: pass rates by group and across corpora (DECK Table 5), families of p-values."""

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from psycheck.audits.figures import measured
from psycheck.core.finding import Finding
from psycheck.statistics.clustered import Clusters, figure_interval
from psycheck.statistics.intervals import UNKNOWN
from psycheck.statistics.significance import crossed_pearson, holm, pearson, t_test

ACROSS = ("pearson_r", "pearson_p", "t_p")
GROUPINGS = ("kind", "category", "polarity", "symptom")
_GROUPINGS_ACROSS_CORPORA = ("kind", "category")
_PASSED, _FAILED = 0, 1
_FEWEST = 3  # pairs of model and corpus

Place = tuple[str, str]  # a model and a corpus
CheckGroup = tuple[str, str, str]  # a suite, a label and a kind of check


def mark_below_mean(rates: Sequence[Finding]) -> list[Finding]:
    """Flag the DIR checks that pass less often than the mean of all DIR checks (DECK section 6.3)."""
    dir_rates = [rate.value for rate in rates if _is_tested_dir(rate)]
    mean = float(np.mean(dir_rates)) if dir_rates else np.nan

    marked: list[Finding] = []
    for rate in rates:
        if _is_tested_dir(rate) and rate.value < mean:
            rate = replace(rate, flags=(*rate.flags, "below_dir_mean"))
        marked.append(rate)
    return marked


def _is_tested_dir(rate: Finding) -> bool:
    return rate.where["kind"] == "DIR" and rate.tested


def by_groups(
    rates: Sequence[Finding],
    outcomes: NDArray[np.int8],
    clusters: Clusters,
    parts: Sequence[int] = (),
) -> list[Finding]:
    """Mean and standard deviation of the pass rates of each group of checks; outcomes is (checks, texts).

    Checks share their texts, so the intervals come from the influence of each text on the figure (the delta
    method), added up within each cluster, and not from the checks as if they were independent. Where checks
    were sampled, 5 % is divided by the smallest of their `parts`: the smallest samples make up the error.
    """
    findings: list[Finding] = []
    for grouping in GROUPINGS:
        # Symptom groups exist only among checks that say whether the symptom is present or absent.
        for value in _values_of(rates, grouping):
            is_member = [rate.tested and rate.where.get(grouping) == value for rate in rates]
            members = np.flatnonzero(is_member).tolist()
            if not members:
                continue

            part = 1
            if parts:
                part = min(parts[member] for member in members)
            findings += _mean_and_sd(
                [rates[member] for member in members],
                outcomes[members],
                clusters,
                group={"by": grouping, grouping: value},
                part=part,
            )
    return findings


def _values_of(rates: Sequence[Finding], grouping: str) -> list[str]:
    """The values that checks have for a grouping, in the order of the checks."""
    values = [rate.where[grouping] for rate in rates if grouping in rate.where]
    return list(dict.fromkeys(values))


def _mean_and_sd(
    rates: Sequence[Finding],
    outcomes: NDArray[np.int8],
    clusters: Clusters,
    *,
    group: dict[str, str],
    part: int,
) -> list[Finding]:
    """The mean and the standard deviation of c pass rates; outcomes is (c, texts)."""
    shares = np.array([rate.value for rate in rates])  # (c,)
    tested = np.array([rate.n for rate in rates])
    passed = outcomes == _PASSED
    failed = outcomes == _FAILED
    # The influence of a text on the rate of a check: (passed - rate) / tested cases; 0 where it is no case.
    influence = np.zeros(outcomes.shape)
    influence = np.where(failed, -shares[:, None], influence)
    influence = np.where(passed, 1 - shares[:, None], influence)
    influence /= tested[:, None]

    is_case = (passed | failed).any(axis=0)
    units = clusters.at(is_case)
    mean = float(shares.mean())
    mean_influence = influence[:, is_case].mean(axis=0)
    interval = figure_interval(mean, mean_influence, units, units, among=part)

    place_keys = ("audit", "model", "corpus", "suite", "label")
    where = {key: rates[0].where[key] for key in place_keys} | group
    n = int(tested.sum())
    counts = {"checks": len(rates), "units": units.count}
    findings = [
        measured(
            "pass_rate_mean",
            mean,
            n,
            interval=interval,
            where=where,
            counts=counts,
        )
    ]
    if len(rates) > 1:
        # Chance alone parts the rates of equally hard checks: no interval of their spread was found to cover.
        sd = float(shares.std(ddof=1))
        findings.append(Finding("pass_rate_sd", sd, n, where=where, counts=counts))
    return findings


def across_corpora(findings: Sequence[Finding]) -> list[Finding]:
    """Mean and standard deviation over checks and corpora together, per model, as Table 5 pools them."""
    rates_of: dict[tuple[str, str], list[Finding]] = {}
    for finding in findings:
        if finding.measure == "pass_rate" and finding.tested:
            key = (finding.where["model"], finding.where["suite"])
            rates_of.setdefault(key, []).append(finding)
    means = [finding for finding in findings if finding.measure == "pass_rate_mean"]

    pooled: list[Finding] = []
    for (model, suite), rates in rates_of.items():
        corpora = {rate.where["corpus"] for rate in rates}
        # The figures of a single corpus are there already.
        if len(corpora) > 1:
            pooled += _pooled_by_group(rates, means, {"model": model, "suite": suite})
    return pooled


def _pooled_by_group(
    rates: Sequence[Finding],
    means: Sequence[Finding],
    place: Mapping[str, str],
) -> Iterator[Finding]:
    """The pooled figures of one model and suite, by each grouping that corpora have in common."""
    for grouping in _GROUPINGS_ACROSS_CORPORA:
        for value in _values_of(rates, grouping):
            group = {**place, "by": grouping, grouping: value}
            yield from _pooled(
                [rate for rate in rates if rate.where.get(grouping) == value],
                [mean for mean in means if group.items() <= mean.where.items()],
                {
                    "audit": "behaviour",
                    "model": place["model"],
                    "corpus": "all",
                    **group,
                },
            )


def _pooled(rates: Sequence[Finding], means: Sequence[Finding], where: dict[str, str]) -> list[Finding]:
    """The mean of all rates; its interval comes from those of the means of each corpus."""
    values = np.array([rate.value for rate in rates])
    n = sum(rate.n for rate in rates)
    counts = {"checks": len(rates), "corpora": len(means)}

    pooled_mean = float(values.mean())
    down, up = _pooled_distances(means, checks=len(rates))
    interval = (pooled_mean - down, pooled_mean + up)
    findings = [
        measured(
            "pass_rate_mean",
            pooled_mean,
            n,
            interval=interval,
            where=where,
            counts=counts,
        )
    ]
    if len(values) > 1:
        sd = float(values.std(ddof=1))
        findings.append(Finding("pass_rate_sd", sd, n, where=where, counts=counts))
    return findings


def _pooled_distances(means: Sequence[Finding], *, checks: int) -> tuple[float, float]:
    """How far the interval of the pooled mean reaches down and up, by MOVER (Zou and Donner 2008).

    The squared distances of the ends from the means of the corpora add up, weighted.
    """
    checks_of_corpus = np.array([mean.counts["checks"] for mean in means])
    weights = checks_of_corpus / checks
    ends = np.array([mean.interval or UNKNOWN for mean in means])  # (corpora, 2)
    centres = np.array([[mean.value] for mean in means])
    squared_distances = (ends - centres) ** 2
    down, up = np.sqrt((weights**2) @ squared_distances)
    return float(down), float(up)


def across_models(findings: Sequence[Finding]) -> tuple[Finding, ...]:
    """Correlate accuracy with the mean pass rate of MFT and of DIR checks over (model, corpus) pairs.

    For every suite, label and kind: `pearson_r` with its interval, clustered by model and by corpus, its p
    (`pearson_p`), and `t_p` of a paired and of an unpaired t-test between pass rates and accuracy (`where`
    says which in `test`); the paper fits the unpaired one. All p-values take pairs that share a model or a
    corpus as independent, as the paper does: read them with care. Checks without cases do not enter a mean.
    Below 3 pairs everything is NaN, flagged "too_few" (DECK, section 5.2).
    """
    accuracies = _accuracies(findings)
    rates = _rates_by_check_group(findings)

    def order(group: CheckGroup) -> tuple[str, str, bool]:
        suite, label, kind = group
        return suite, label, kind == "DIR"

    correlations: list[Finding] = []
    for suite, label, kind in sorted(rates, key=order):
        rates_of_place = rates[suite, label, kind]
        # Only where both are known: a model without annotations has pass rates alone.
        places = [place for place in rates_of_place if (*place, label) in accuracies]
        left_out = len(rates_of_place) - len(places)
        correlations += _correlated(
            [_mean(rates_of_place[place]) for place in places],
            [accuracies[(*place, label)] for place in places],
            places,
            where={
                "audit": "across",
                "suite": suite,
                "label": label,
                "kind": kind,
            },
            counts={"pairs": len(places), "left_out": left_out},
        )
    return tuple(correlations)


def _mean(rates: Sequence[float]) -> float:
    # Summed exactly, so that the order of the checks does not matter.
    return math.fsum(rates) / len(rates)


def _accuracies(findings: Sequence[Finding]) -> dict[tuple[str, str, str], float]:
    """The accuracy of each model, corpus and label, over all texts."""
    accuracies: dict[tuple[str, str, str], float] = {}
    for finding in findings:
        if finding.measure != "accuracy" or not finding.tested:
            continue
        where = finding.where
        is_of_all_texts = "group" not in where and "check" not in where
        if is_of_all_texts:
            model = where.get("model", "")
            corpus = where.get("corpus", "")
            label = where.get("label", "")
            accuracies[model, corpus, label] = finding.value
    return accuracies


def _rates_by_check_group(findings: Sequence[Finding]) -> dict[CheckGroup, dict[Place, list[float]]]:
    """The pass rates of MFT and DIR checks: by suite, label and kind, then by model and corpus."""
    rates: dict[CheckGroup, dict[Place, list[float]]] = {}
    for finding in findings:
        if finding.measure != "pass_rate" or not finding.tested:
            continue
        where = finding.where
        kind = where.get("kind", "")
        # The paper correlates these two; an INV check passes whether or not the model is right.
        if kind in ("MFT", "DIR") and "check" in where:
            group = (where.get("suite", ""), where.get("label", ""), kind)
            place = (where.get("model", ""), where.get("corpus", ""))
            rates_of_place = rates.setdefault(group, {})
            rates_of_place.setdefault(place, []).append(finding.value)
    return rates


def _correlated(
    pass_rates: Sequence[float],
    accuracies: Sequence[float],
    places: Sequence[Place],
    *,
    where: Mapping[str, str],
    counts: Mapping[str, int],
) -> Iterator[Finding]:
    """Pearson's r and the t-tests between pass rates and accuracies of n pairs of model and corpus."""
    n = len(pass_rates)
    models = [model for model, _ in places]
    corpora = [corpus for _, corpus in places]
    correlation = crossed_pearson(pass_rates, accuracies, models, corpora)
    interval = None if math.isnan(correlation.interval[0]) else correlation.interval
    is_defined = not math.isnan(correlation.r)
    flags = _flags(n, is_defined=is_defined)
    yield Finding(
        "pearson_r",
        correlation.r,
        n,
        interval=interval,
        where=where,
        counts=counts,
        flags=flags,
    )

    # The p-value of the paper, which takes the pairs as independent.
    published_p = pearson(pass_rates, accuracies).p
    yield Finding(
        "pearson_p",
        published_p,
        n,
        where=where,
        counts=counts,
        flags=flags,
    )

    for test in ("paired", "unpaired"):
        p = math.nan
        if n >= _FEWEST:
            p = t_test(pass_rates, accuracies, paired=test == "paired")
        where_of_test = {**where, "test": test}
        is_defined = not math.isnan(p)
        yield Finding(
            "t_p",
            p,
            n,
            where=where_of_test,
            counts=counts,
            flags=_flags(n, is_defined=is_defined),
        )


def _flags(pairs: int, *, is_defined: bool) -> tuple[str, ...]:
    """Why a figure over pairs of model and corpus has no value."""
    if pairs < _FEWEST:
        return ("too_few",)
    return () if is_defined else ("no_spread",)


def holm_family(tests: Sequence[Finding]) -> list[Finding]:
    """The p-values of one family adjusted, in the same order, as NAME_holm; `tests` counts those tested."""
    number = sum(test.tested for test in tests)
    adjusted_p = holm([test.value for test in tests])
    adjusted: list[Finding] = []
    for test, p in zip(tests, adjusted_p, strict=True):
        adjusted_test = replace(
            test,
            measure=f"{test.measure}_holm",
            value=float(p),
            counts={**test.counts, "tests": number},
        )
        adjusted.append(adjusted_test)
    return adjusted


def holm_families(findings: Sequence[Finding], measure: str, keys: Sequence[str]) -> list[Finding]:
    """The p-values of a measure, adjusted among the findings that agree in these keys of `where`."""
    families: dict[tuple[str, ...], list[Finding]] = {}
    for finding in findings:
        if finding.measure == measure:
            family = tuple(finding.where.get(key, "") for key in keys)
            families.setdefault(family, []).append(finding)

    adjusted: list[Finding] = []
    for tests in families.values():
        adjusted += holm_family(tests)
    return adjusted
