"""Whether bias of vectors foretells bias of the classifiers on them, over encoders (gender bias, section 3).

For each learner and experiment two rank correlations over encoders: how far the vectors lean to the female
side against how much more of the positive texts is found in their female wording (`signed`), and Direct Bias
against the size of that difference, regardless of the side (`size`).
"""

import math
from collections.abc import Iterable, Sequence
from itertools import permutations, product
from statistics import fmean
from typing import Any

import numpy as np
from scipy.stats import rankdata, spearmanr

from psycheck import Finding
from psycheck.report.studies.gender_tables import EXPERIMENTS
from psycheck.studies.gender_rows import AUDIT

# Up to so many encoders all orders are tried: 8! = 40,320.
_ALL_ORDERS = 8
_DRAWN_ORDERS = 20_000
# The effect on a classifier: share found of the positive texts, female wording minus male wording.
_EFFECT = "equal_opportunity_difference"
_LEANS = {"signed": "signed_mean", "size": "direct_bias"}


def transfer_findings(findings: Sequence[Finding], encoders: Sequence[str]) -> list[Finding]:
    """The correlations with their exact p, for every learner and experiment; none with one encoder."""
    if len(encoders) < 2:
        return []
    learners = dict.fromkeys(f.where["model"] for f in findings if f.measure == _EFFECT)

    correlated: list[Finding] = []
    for learner, experiment, (question, measure) in product(learners, EXPERIMENTS, _LEANS.items()):
        leans = [_mean(findings, measure, encoder=encoder) for encoder in encoders]
        effects = [
            _mean(findings, _EFFECT, encoder=encoder, model=learner, experiment=experiment)
            for encoder in encoders
        ]
        if question == "size":
            effects = [abs(effect) for effect in effects]
        where = {"audit": AUDIT, "model": learner, "experiment": experiment, "question": question}
        correlated += _correlation(np.array(leans), np.array(effects), where)
    return correlated


def _mean(findings: Iterable[Finding], measure: str, **place: str) -> float:
    """The mean of a figure over the draws of the training texts; NaN where it was not measured."""
    values = [
        finding.value
        for finding in findings
        if finding.measure == measure and finding.tested and place.items() <= finding.where.items()
    ]
    return fmean(values) if values else math.nan


def _correlation(leans: Any, effects: Any, where: dict[str, str]) -> list[Finding]:
    """Spearman's correlation of two figures over encoders, (m,), and the least p that so many can reach."""
    is_known = ~(np.isnan(leans) | np.isnan(effects))
    leans, effects = leans[is_known], effects[is_known]
    n = len(leans)
    if n < 2:
        return []
    has_spread = len(set(leans)) > 1 and len(set(effects)) > 1
    rho = float(spearmanr(leans, effects).statistic) if has_spread else math.nan
    p = exact_p(leans, effects) if has_spread else math.nan
    least = least_p(n)

    # Where even a perfect order would not be surprising, nothing can be told.
    flags = () if least < 0.05 else ("too_few_encoders",)
    counts = {"encoders": n}
    return [
        Finding("bias_transfer_rho", rho, n, where=where, counts=counts, flags=flags),
        Finding("bias_transfer_p", p, n, where=where, counts=counts, flags=flags),
        Finding("bias_transfer_least_p", least, n, where=where, counts=counts, flags=flags),
    ]


def least_p(n: int) -> float:
    """The least two-sided p of a rank correlation over n: two of n! orders are perfect."""
    return min(1.0, 2 / math.factorial(n))


def exact_p(first: Any, second: Any) -> float:
    """The share of orders in which ranks go together as much as they do, to either side."""
    ranks = rankdata(first) - (len(first) + 1) / 2
    others = rankdata(second) - (len(second) + 1) / 2
    seen = abs(float(ranks @ others)) - 1e-9
    n = len(ranks)
    if n <= _ALL_ORDERS:
        sums = [abs(float(ranks @ others[list(order)])) for order in permutations(range(n))]
        return float(np.mean(np.array(sums) >= seen))

    random = np.random.default_rng(0)
    drawn = np.array([abs(float(ranks @ random.permutation(others))) for _ in range(_DRAWN_ORDERS)])
    # The order that was seen is one of them.
    return float((1 + (drawn >= seen).sum()) / (1 + _DRAWN_ORDERS))
