"""Figures at each decision, chance, McNemar and paired changes, worked out by hand or against libraries."""

import numpy as np
import pytest
from scipy import stats
from sklearn.metrics import f1_score, roc_auc_score

from psycheck.experiments.rows import (
    Scored,
    against,
    against_chance,
    differences,
    figures,
)
from psycheck.finding import Finding

TARGETS = np.array([1.0, 1.0, 1.0, 0.0, 0.0, 0.0, 0.0, 0.0])
SCORES = np.array([0.9, 0.6, 0.2, 0.7, 0.4, 0.3, 0.2, 0.1])


def scored(scores: list[float] | None = None, *, arm: str = "plain", threshold: float = 0.35) -> Scored:
    given = SCORES if scores is None else np.array(scores)
    return Scored("improve", arm, "tiny", "own", "other", "low", 0, threshold, TARGETS, given)


def value(findings: list[Finding], measure: str, decision: str) -> float:
    (found,) = [f for f in findings if f.measure == measure and f.where["decision"] == decision]
    return found.value


def test_figures_stand_at_both_decisions_and_the_auc_at_none() -> None:
    found = figures(scored(), resamples=50)
    for decision, cut in (("0.5", 0.5), ("dev", 0.35)):
        decided = cut <= SCORES
        assert value(found, "f1", decision) == pytest.approx(f1_score(TARGETS, decided))
        assert value(found, "macro_f1", decision) == pytest.approx(
            f1_score(TARGETS, decided, average="macro")
        )
    assert value(found, "auc", "ranking") == pytest.approx(roc_auc_score(TARGETS, SCORES))
    assert value(found, "threshold", "dev") == 0.35
    assert all("out_of_distribution" in f.flags for f in found)


def test_what_was_not_answered_is_not_right() -> None:
    row = scored([0.9, np.nan, 0.2, 0.7, 0.4, 0.3, 0.2, np.nan])
    assert row.right("0.5").tolist() == [True, False, False, False, True, True, True, False]


def test_chance_is_a_coin_and_the_larger_class() -> None:
    coin, larger = against_chance(scored(), "0.5")
    # Right on 2 positives and 4 negatives of 8; the larger class alone is right on 5.
    assert coin.counts == larger.counts == {"right": 6, "majority_right": 5}
    assert coin.value == pytest.approx(stats.binomtest(6, 8, 0.5).pvalue)
    # Against "always 0": two right alone (positives), one wrong alone: 2 · P(X ≤ 1 | 3, ½) = 1.
    assert larger.value == pytest.approx(1.0)


def test_mcnemar_counts_who_was_right_alone() -> None:
    better = scored([0.9, 0.6, 0.8, 0.2, 0.4, 0.3, 0.2, 0.6], arm="augmented")
    found = against(better, scored(), "0.5")
    assert dict(found.counts) == {
        "both_right": 5,
        "only_this_right": 2,
        "only_other_right": 1,
        "neither_right": 0,
    }
    assert found.value == pytest.approx(1.0)
    assert (found.where["arm"], found.where["versus"]) == ("augmented", "plain")


def test_a_change_is_the_mean_over_seeds_of_the_difference() -> None:
    plain = [scored(), scored([0.9, 0.2, 0.2, 0.7, 0.4, 0.3, 0.2, 0.1])]
    better = [scored([0.9, 0.6, 0.8, 0.2, 0.4, 0.3, 0.2, 0.1], arm="augmented"), scored(arm="augmented")]
    found = differences(list(zip(plain, better, strict=True)), resamples=200)
    by_hand = np.mean(
        [
            f1_score(TARGETS, b.scores >= 0.5, average="macro")
            - f1_score(TARGETS, a.scores >= 0.5, average="macro")
            for a, b in zip(plain, better, strict=True)
        ]
    )
    (change,) = [f for f in found if f.measure == "macro_f1_change" and f.where["decision"] == "0.5"]
    assert change.value == pytest.approx(by_hand)
    assert change.interval is not None
    assert change.interval[0] <= change.value <= change.interval[1]
    assert dict(change.counts) == {"seeds": 2, "up": 2}
    (auc,) = [f for f in found if f.measure == "auc_change"]
    aucs = [
        roc_auc_score(TARGETS, b.scores) - roc_auc_score(TARGETS, a.scores)
        for a, b in zip(plain, better, strict=True)
    ]
    assert auc.value == pytest.approx(np.mean(aucs))


def test_equal_models_have_no_change_and_no_interval_around_it() -> None:
    for found in differences([(scored(), scored(arm="augmented"))], resamples=50):
        assert found.value == 0
        assert found.interval == (0.0, 0.0)
