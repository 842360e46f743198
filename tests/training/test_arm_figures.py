"""Figures at each decision, chance, McNemar and paired changes, worked out by hand or against libraries."""

import numpy as np
import pytest
from scipy import stats
from sklearn.metrics import f1_score, roc_auc_score

from psycheck.core.finding import Finding
from psycheck.training.arm_figures import (
    Scored,
    against,
    against_chance,
    differences,
    figures,
)

TARGETS = np.array([1.0, 1.0, 1.0, 0.0, 0.0, 0.0, 0.0, 0.0])
SCORES = np.array([0.9, 0.6, 0.2, 0.7, 0.4, 0.3, 0.2, 0.1])


def scored(scores: list[float] | None = None, *, arm: str = "plain", threshold: float = 0.35) -> Scored:
    given = SCORES if scores is None else np.array(scores)
    return Scored("improve", arm, "tiny", "own", "other", "low", 0, threshold, TARGETS, given, np.arange(8))


def value(findings: list[Finding], measure: str, decision: str) -> float:
    (found,) = [f for f in findings if f.measure == measure and f.where["decision"] == decision]
    return found.value


def test_figures_stand_at_both_decisions_and_the_auc_at_none() -> None:
    found = figures(scored())
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
    found = differences(list(zip(plain, better, strict=True)))
    by_hand = np.mean(
        [
            f1_score(TARGETS, b.scores >= 0.5, average="macro")
            - f1_score(TARGETS, a.scores >= 0.5, average="macro")
            for a, b in zip(plain, better, strict=True)
        ]
    )
    (change,) = [f for f in found if f.measure == "macro_f1_change" and f.where["decision"] == "0.5"]
    assert change.value == pytest.approx(by_hand)
    assert change.interval is None  # eight texts are too few
    assert dict(change.counts) == {"seeds": 2, "up": 2, "units": 8}
    (auc,) = [f for f in found if f.measure == "auc_change"]
    aucs = [
        roc_auc_score(TARGETS, b.scores) - roc_auc_score(TARGETS, a.scores)
        for a, b in zip(plain, better, strict=True)
    ]
    assert auc.value == pytest.approx(np.mean(aucs))


def test_equal_models_have_no_change_and_no_interval_around_it() -> None:
    for found in differences([(scored(), scored(arm="augmented"))]):
        assert found.value == 0
        assert found.interval is None


def many(scores: np.ndarray, units: np.ndarray, arm: str = "plain") -> Scored:
    targets = np.tile([1.0, 0.0], len(scores) // 2)
    return Scored("improve", arm, "tiny", "own", "other", "low", 0, 0.5, targets, scores, units)


def test_arms_are_compared_by_author() -> None:
    # 30 authors of 10 texts; the better model is right on all texts of 24 authors, the plain one of 15.
    targets, author = np.tile([1.0, 0.0], 150), np.repeat(np.arange(30), 10)
    right = {"plain": author % 2 == 0, "better": author >= 6}
    given = {arm: np.where(mine, targets, 1 - targets) * 0.8 + 0.1 for arm, mine in right.items()}
    wide, narrow = (
        {
            f.measure: f
            for pair in [[many(given[arm], units, arm) for arm in ("plain", "better")]]
            for f in (*differences([(pair[0], pair[1])]), against(pair[1], pair[0], "0.5"), *figures(pair[1]))
        }
        for units in (author, np.arange(300))
    )
    assert wide["macro_f1_change"].value == pytest.approx(0.3)
    # 12 authors go up, 3 down: the exact sign test gives 2 · P(X ≤ 3 | 15, ½) = 0.035.
    assert wide["mcnemar_p"].value == pytest.approx(stats.binomtest(3, 15, 0.5).pvalue, abs=0.015)
    assert narrow["mcnemar_p"].value < 1e-9
    for measure in ("macro_f1_change", "auc_change", "accuracy", "f1", "auc"):
        ends, close = wide[measure].interval, narrow[measure].interval
        assert ends is not None
        assert close is not None
        assert ends[1] - ends[0] > 2 * (close[1] - close[0])


def test_a_change_of_f1_covers_the_truth() -> None:
    # Two models that are right on 80 and on 70 % of the texts of balanced classes: macro-F1 differs by 0.1.
    random, held = np.random.default_rng(8), []
    for _ in range(300):
        targets = np.tile([1.0, 0.0], 150)
        ease = random.random(300)
        pair = [many(np.where(ease < share, targets, 1 - targets), np.arange(300)) for share in (0.7, 0.8)]
        change = next(f for f in differences([(pair[0], pair[1])]) if f.measure == "macro_f1_change")
        assert change.interval is not None
        held.append(change.interval[0] <= 0.1 <= change.interval[1])
    assert np.mean(held) >= 0.92
