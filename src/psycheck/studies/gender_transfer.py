"""Whether bias of vectors foretells bias of the classifiers on them, over encoders (gender bias, section 3).

For each learner and experiment two rank correlations over encoders: how far the vectors lean to the female
side against how much more of the positive texts is found in their female wording (`signed`), and Direct Bias
against the size of that difference, regardless of the side (`size`).
"""

import math
from collections.abc import Iterable, Sequence
from itertools import permutations, product
from statistics import fmean

import numpy as np
from scipy.stats import rankdata, spearmanr

from psycheck import Finding
from psycheck.core.arrays import FloatArray
from psycheck.report.studies.gender_tables import EXPERIMENTS
from psycheck.studies.gender_rows import AUDIT

# Up to so many encoders all orders are tried: 8! = 40,320.
_ALL_ORDERS = 8
_DRAWN_ORDERS = 20_000
_SURPRISING = 0.05
_ROUNDING = 1e-9
# The effect on a classifier: share found of the positive texts, female wording minus male wording.
_EFFECT = "equal_opportunity_difference"
_LEANS = {"signed": "signed_mean", "size": "direct_bias"}


def transfer_findings(findings: Sequence[Finding], encoders: Sequence[str]) -> list[Finding]:
    """The correlations with their exact p, for every learner and experiment; none with one encoder."""
    if len(encoders) < 2:
        return []
    learners = dict.fromkeys(f.where["model"] for f in findings if f.measure == _EFFECT)

    correlated: list[Finding] = []
    for learner, experiment in product(learners, EXPERIMENTS):
        place = {"model": learner, "experiment": experiment}
        effects = _by_encoder(findings, _EFFECT, encoders, **place)
        for question, measure in _LEANS.items():
            leans = _by_encoder(findings, measure, encoders)
            asked_effects = np.abs(effects) if question == "size" else effects
            where = {
                "audit": AUDIT,
                **place,
                "question": question,
            }
            correlated += _correlation(leans, asked_effects, where)
    return correlated


def _by_encoder(
    findings: Sequence[Finding],
    measure: str,
    encoders: Sequence[str],
    **place: str,
) -> FloatArray:
    """A figure of every encoder, (m,)."""
    figures = []
    for encoder in encoders:
        mean = _mean(findings, measure, encoder=encoder, **place)
        figures.append(mean)
    return np.array(figures)


def _mean(findings: Iterable[Finding], measure: str, **place: str) -> float:
    """The mean of a figure over the draws of the training texts; NaN where it was not measured."""
    values = []
    for finding in findings:
        is_here = place.items() <= finding.where.items()
        if is_here and finding.measure == measure and finding.tested:
            values.append(finding.value)
    return fmean(values) if values else math.nan


def _correlation(
    leans: FloatArray,
    effects: FloatArray,
    where: dict[str, str],
) -> list[Finding]:
    """Spearman's correlation of two figures over encoders, (m,), and the least p that so many can reach."""
    is_known = ~(np.isnan(leans) | np.isnan(effects))
    leans = leans[is_known]
    effects = effects[is_known]
    n = len(leans)
    if n < 2:
        return []

    figures = {
        "bias_transfer_rho": math.nan,
        "bias_transfer_p": math.nan,
        "bias_transfer_least_p": least_p(n),
    }
    has_spread = len(set(leans)) > 1 and len(set(effects)) > 1
    if has_spread:
        figures["bias_transfer_rho"] = float(spearmanr(leans, effects).statistic)
        figures["bias_transfer_p"] = exact_p(leans, effects)

    # Where even a perfect order would not be surprising, nothing can be told.
    can_tell = least_p(n) < _SURPRISING
    flags = () if can_tell else ("too_few_encoders",)
    findings = []
    for measure, value in figures.items():
        finding = Finding(
            measure,
            value,
            n,
            where=where,
            counts={"encoders": n},
            flags=flags,
        )
        findings.append(finding)
    return findings


def least_p(n: int) -> float:
    """The least two-sided p of a rank correlation over n: two of n! orders are perfect."""
    return min(1.0, 2 / math.factorial(n))


def exact_p(first: FloatArray, second: FloatArray) -> float:
    """The share of orders in which the ranks of two figures, (m,), go together as much, to either side."""
    n = len(first)
    middle = (n + 1) / 2
    ranks = rankdata(first) - middle
    second_ranks = rankdata(second) - middle
    # Equal sums may differ by rounding.
    agreement = abs(float(ranks @ second_ranks)) - _ROUNDING

    if n <= _ALL_ORDERS:
        orders = np.array(list(permutations(second_ranks)))
        sums = np.abs(orders @ ranks)
        return float(np.mean(sums >= agreement))

    random = np.random.default_rng(0)
    orders = random.permuted(np.tile(second_ranks, (_DRAWN_ORDERS, 1)), axis=1)
    as_much = np.abs(orders @ ranks) >= agreement
    # The order that was seen is one of them.
    return float((1 + as_much.sum()) / (1 + _DRAWN_ORDERS))
