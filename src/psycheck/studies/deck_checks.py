"""The checks of DECK on the best model of a start and corpus: pass rates by both denominators, and length."""

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np
import polars as pl

from psycheck import (
    ArmResult,
    Behaviour,
    Check,
    Corpus,
    Experiment,
    Finding,
    Suite,
    correlated_pass_rates,
    judge_checks,
    measured,
)
from psycheck.report.studies.deck_tables import CHANGED_TEXTS, EVERY_TEXT, EVERY_TEXT_RATE, HALF
from psycheck.statistics.clustered import Clusters, ratio_interval

_RATES = ("pass_rate", "pass_rate_mean")
_LENGTHS = ("length_p", "length_effect", "length_median")
# A text that an edit left as it is, or whose change lies beyond the window, has the score that it had.
_AS_IT_WAS = ("unchanged", "unseen")


@dataclass(frozen=True, slots=True)
class TriedChecks:
    """What the checks showed on one model: of texts that an edit changes, of every text, and length."""

    rates: list[Finding]
    every_text: list[Finding]
    lengths: list[Finding]


def try_checks(
    experiment: Experiment,
    best: ArmResult,
    suite: Suite,
    *,
    model: str,
    texts: int,
) -> TriedChecks:
    """Try every check on texts of the own test split, one sentence per text as the paper's counts suggest."""
    test = experiment.tests[0].sample(texts)
    # Neutral sentences beside the checks' own are not part of the paper's design.
    audit = Behaviour(suite, variants="one", length=True, reactions=False)
    (judgement,) = judge_checks(best.model, test, [audit], experiment.store, experiment.progress)

    named = [
        replace(finding, where={**finding.where, "model": model}, examples=())
        for finding in judgement.findings
    ]
    rates = [finding for finding in named if finding.measure in _RATES]
    scores = _scores_by_id(experiment, best)
    every_text = [
        _over_every_text(check, _rate_of(check, rates), judgement.tables["cases"], test, scores)
        for check in suite.checks
    ]
    lengths = [finding for finding in named if finding.measure in _LENGTHS]
    return TriedChecks(rates=rates, every_text=every_text, lengths=lengths)


def _rate_of(check: Check, rates: Sequence[Finding]) -> Finding:
    is_of_check = (rate for rate in rates if rate.measure == "pass_rate" and rate.where["check"] == check.id)
    return next(is_of_check)


def _scores_by_id(experiment: Experiment, arm: ArmResult) -> dict[str, float]:
    """The score of every text of the own test, as it is."""
    own_test = arm.rows[0]
    return dict(zip(experiment.tests[0].ids, own_test.scores.tolist(), strict=True))


def _over_every_text(
    check: Check,
    rate: Finding,
    cases: pl.DataFrame,
    test: Corpus,
    scores: dict[str, float],
) -> Finding:
    """The pass rate as the paper counts it: texts that the edit did not change are in it.

    Such a text passes INV and DIR, since its score stays; for MFT its own decision counts.
    """
    of_check = cases.filter(pl.col("check") == check.id).select("id", pl.col("outcome").cast(pl.String))
    outcome_of: dict[str, bool] = {}
    for text_id, outcome in of_check.iter_rows():
        if outcome in ("passed", "failed"):
            outcome_of[text_id] = outcome == "passed"
        elif outcome in _AS_IT_WAS and check.expect.kind != "label":
            outcome_of[text_id] = True
        elif outcome in _AS_IT_WAS and not np.isnan(scores[text_id]):
            outcome_of[text_id] = (scores[text_id] >= 0.5) == bool(check.expect.label)

    is_counted = np.array([text_id in outcome_of for text_id in test.ids], bool)
    passed = np.array([outcome_of.get(text_id, False) for text_id in test.ids], bool)
    clusters = Clusters.of(test.units()[is_counted])
    n = int(is_counted.sum())
    return measured(
        EVERY_TEXT_RATE,
        float(passed.sum() / n) if n else np.nan,
        n,
        interval=ratio_interval(passed[is_counted], np.ones(n), clusters) if n else None,
        where=rate.where,
        counts={"passed": int(passed.sum()), "failed": n - int(passed.sum()), "units": clusters.count},
    )


def correlations(best: Sequence[tuple[str, ArmResult]], tried: Sequence[TriedChecks]) -> list[Finding]:
    """Section 5.2: pass rates of MFT and DIR checks against accuracy, on in-distribution pairs.

    A pair is a start and the corpus that it was trained and tested on. `counting` says which texts of a check
    are counted.
    """
    accuracies: list[Finding] = []
    for (model, arm), checks in zip(best, tried, strict=True):
        own_test = arm.rows[0]
        accuracy = float(own_test.right(HALF).mean())
        place = {"model": model, "corpus": own_test.corpus, "label": own_test.label}
        n = len(own_test.right(HALF))
        if checks.rates:
            accuracies.append(Finding("accuracy", accuracy, n, where=place))

    findings: list[Finding] = []
    for counting in (CHANGED_TEXTS, EVERY_TEXT):
        rates: list[Finding] = []
        for checks in tried:
            counted = checks.rates if counting == CHANGED_TEXTS else checks.every_text
            rates += [
                replace(rate, measure="pass_rate") for rate in counted if rate.measure != "pass_rate_mean"
            ]
        for finding in correlated_pass_rates([*accuracies, *rates]):
            findings.append(replace(finding, where={**finding.where, "counting": counting}))
    return findings
