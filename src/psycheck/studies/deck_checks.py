"""The checks of DECK on the best model of a start and corpus: pass rates by both denominators, and length."""

from collections.abc import Mapping, Sequence
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
from psycheck.report.studies.deck_check_table import CHANGED_TEXTS, EVERY_TEXT, EVERY_TEXT_RATE
from psycheck.report.studies.deck_tables import HALF
from psycheck.statistics.clustered import Clusters, ratio_interval

_RATES = ("pass_rate", "pass_rate_mean")
_LENGTHS = ("length_p", "length_effect", "length_median")
# A text that an edit left as it is, or whose change lies beyond the window, has the score that it had.
_AS_IT_WAS = ("unchanged", "unseen")
_THRESHOLD = 0.5


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
    audit = Behaviour(
        suite,
        variants="one",
        length=True,
        reactions=False,
    )
    (judgement,) = judge_checks(
        best.model,
        test,
        [audit],
        experiment.store,
        experiment.progress,
    )

    rates: list[Finding] = []
    lengths: list[Finding] = []
    for finding in judgement.findings:
        where = {**finding.where, "model": model}
        named = replace(finding, where=where, examples=())
        if finding.measure in _RATES:
            rates.append(named)
        elif finding.measure in _LENGTHS:
            lengths.append(named)

    every_text = []
    scores = _scores_by_id(experiment, best)
    for check in suite.checks:
        cases = judgement.tables["cases"].filter(pl.col("check") == check.id)
        passes = _passes(check, cases, scores)
        rate = _rate_of(check, rates)
        every_text.append(_over_every_text(rate, passes, test))
    return TriedChecks(
        rates=rates,
        every_text=every_text,
        lengths=lengths,
    )


def _rate_of(check: Check, rates: Sequence[Finding]) -> Finding:
    is_of_check = (rate for rate in rates if rate.measure == "pass_rate" and rate.where["check"] == check.id)
    return next(is_of_check)


def _scores_by_id(experiment: Experiment, arm: ArmResult) -> dict[str, float]:
    """The score of every text of the own test, as it is."""
    own_test = arm.rows[0]
    ids = experiment.tests[0].ids
    return dict(zip(ids, own_test.scores.tolist(), strict=True))


def _passes(check: Check, cases: pl.DataFrame, scores: Mapping[str, float]) -> dict[str, bool]:
    """Whether each text passes, by id; one that the edit did not change counts, too (as in the paper).

    Such a text passes INV and DIR, since its score stays; for MFT its own decision counts.
    """
    is_mft = check.expect.kind == "label"
    expects_1 = bool(check.expect.label)
    passes: dict[str, bool] = {}
    outcomes = cases.select("id", pl.col("outcome").cast(pl.String))
    for text_id, outcome in outcomes.iter_rows():
        score = scores[text_id]
        if outcome in ("passed", "failed"):
            passes[text_id] = outcome == "passed"
        elif outcome in _AS_IT_WAS and not is_mft:
            passes[text_id] = True
        elif outcome in _AS_IT_WAS and not np.isnan(score):
            passes[text_id] = (score >= _THRESHOLD) == expects_1
    return passes


def _over_every_text(rate: Finding, passes: Mapping[str, bool], test: Corpus) -> Finding:
    """The pass rate of a check over every text of a test that it applies to."""
    is_counted = np.array([text_id in passes for text_id in test.ids], bool)
    passed = np.array([passes[text_id] for text_id in test.ids if text_id in passes], bool)
    clusters = Clusters.of(test.units()[is_counted])
    n = len(passed)
    passed_count = int(passed.sum())

    interval = None
    if n:
        interval = ratio_interval(passed, np.ones(n), clusters)
    return measured(
        EVERY_TEXT_RATE,
        passed_count / n if n else np.nan,
        n,
        interval=interval,
        where=rate.where,
        counts={
            "passed": passed_count,
            "failed": n - passed_count,
            "units": clusters.count,
        },
    )


def correlations(best: Sequence[tuple[str, ArmResult]], tried: Sequence[TriedChecks]) -> list[Finding]:
    """Section 5.2: pass rates of MFT and DIR checks against accuracy, on in-distribution pairs.

    A pair is a start and the corpus that it was trained and tested on. `counting` says which texts of a check
    are counted.
    """
    accuracies: list[Finding] = []
    for model, arm in best:
        own_test = arm.rows[0]
        right = own_test.right(HALF)
        where = {
            "model": model,
            "corpus": own_test.corpus,
            "label": own_test.label,
        }
        accuracies.append(
            Finding(
                "accuracy",
                float(right.mean()),
                len(right),
                where=where,
            )
        )

    findings: list[Finding] = []
    for counting in (CHANGED_TEXTS, EVERY_TEXT):
        rates: list[Finding] = []
        for checks in tried:
            counted = checks.rates if counting == CHANGED_TEXTS else checks.every_text
            for rate in counted:
                if rate.measure in ("pass_rate", EVERY_TEXT_RATE):
                    rates.append(replace(rate, measure="pass_rate"))

        for finding in correlated_pass_rates([*accuracies, *rates]):
            where = {**finding.where, "counting": counting}
            findings.append(replace(finding, where=where))
    return findings
