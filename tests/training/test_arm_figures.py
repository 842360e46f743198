"""Figures at each decision, chance, McNemar and paired changes, worked out by hand or against libraries."""

import numpy as np
import pytest
from scipy import stats
from sklearn.metrics import f1_score, roc_auc_score

from psycheck.core.finding import Finding
from psycheck.statistics.clustered import Clusters
from psycheck.training.arm_figures import (
    ArmResult,
    Scored,
    against,
    against_chance,
    differences,
    figures,
    holding_together,
    threshold_changes,
)

TARGETS = np.array([1.0, 1.0, 1.0, 0.0, 0.0, 0.0, 0.0, 0.0])
SCORES = np.array([0.9, 0.6, 0.2, 0.7, 0.4, 0.3, 0.2, 0.1])


def scored(scores: list[float] | None = None, *, arm: str = "plain", threshold: float = 0.35) -> Scored:
    given = SCORES if scores is None else np.array(scores)
    clusters = Clusters.single(8)
    return Scored("improve", arm, "tiny", "own", "other", "low", 0, threshold, TARGETS, given, clusters)


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


def many(
    scores: np.ndarray,
    units: np.ndarray,
    arm: str = "plain",
    copies: np.ndarray | None = None,
) -> Scored:
    targets = np.tile([1.0, 0.0], len(scores) // 2)
    clusters = Clusters.of(units, copies)
    return Scored("improve", arm, "tiny", "own", "other", "low", 0, 0.5, targets, scores, clusters)


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


def test_texts_that_authors_copy_count_as_one() -> None:
    # 300 authors of one text each; 240 of them copied one of eight, which the better model alone gets right.
    author, text = np.arange(300), np.where(np.arange(300) < 240, np.arange(300) % 8, np.arange(300))
    targets = np.tile([1.0, 0.0], 150)
    plain_right = np.arange(300) >= 240
    plain = np.where(plain_right, targets, 1 - targets)
    by_author = against(many(targets, author, "better"), many(plain, author), "0.5")
    by_text = against(many(targets, author, "better", text), many(plain, author, copies=text), "0.5")
    assert by_author.value < 1e-9
    assert by_text.value > 1e-6
    ends = []
    for copies in (None, text):
        pair = many(plain, author, copies=copies), many(targets, author, "better", copies)
        ends.append(differences([pair])[0].interval)
    assert ends[0] is not None
    assert ends[1] is None or ends[1][1] - ends[1][0] > 2 * (ends[0][1] - ends[0][0])


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


def test_the_threshold_is_an_arm_of_its_own_against_the_same_model_at_one_half() -> None:
    arm = ArmResult("plain", 0, None, (scored(),), (), {}, {})  # type: ignore[arg-type]  # no model is asked
    changes = {finding.measure: finding for finding in threshold_changes([arm])}
    assert set(changes) == {"f1_change", "macro_f1_change"}
    at_dev, at_half = (f1_score(TARGETS, cut <= SCORES, average="macro") for cut in (0.35, 0.5))
    assert changes["macro_f1_change"].value == pytest.approx(at_dev - at_half)
    where = changes["macro_f1_change"].where
    assert (where["arm"], where["decision"], where["versus"]) == ("plain", "dev", "plain at 0.5")


def test_intervals_of_several_arms_and_tests_hold_together() -> None:
    where = {"arm": "a", "decision": "dev", "corpus": "x"}
    first = Finding("macro_f1_change", 0.1, 80, interval=(0.02, 0.2), where=where, counts={"units": 61})
    second = Finding("macro_f1_change", 0.1, 80, where={**where, "arm": "b"}, counts={"units": 61})
    third = Finding(
        "macro_f1_change",
        0.1,
        80,
        interval=(0.02, 0.2),
        where={**where, "decision": "0.5"},
        counts={"units": 61},
    )
    other = Finding("f1", 0.1, 80, interval=(0.02, 0.2), where=where)
    wide, without, alone, kept = holding_together([first, second, third, other])
    factor = stats.t.ppf(1 - 0.025 / 2, 60) / stats.t.ppf(0.975, 60)
    assert wide.interval == pytest.approx((0.1 - 0.08 * factor, 0.1 + 0.1 * factor))
    assert wide.counts["comparisons"] == 2
    assert (without.interval, alone.interval, kept) == (None, third.interval, other)


def test_five_arms_without_an_effect_on_three_corpora_are_rarely_said_to_raise() -> None:
    random, alarms = np.random.default_rng(12), 0
    for _ in range(100):
        changes = []
        for test in range(3):
            targets = np.tile([1.0, 0.0], 100)
            rows = [
                Scored("improve", f"a{arm}", "tiny", "own", f"t{test}", "low", 0, 0.5, targets,
                       np.where(random.random(200) < 0.75, targets, 1 - targets), Clusters.single(200))
                for arm in range(6)
            ]  # fmt: skip
            for arm in rows[1:]:
                changes += differences([(rows[0], arm)])
        together = [f for f in holding_together(changes) if f.measure == "macro_f1_change"]
        of_dev = [f for f in together if f.where["decision"] == "dev"]
        assert len(of_dev) == 15
        alarms += any(f.interval is not None and f.interval[0] > 0 for f in of_dev)
    assert alarms <= 8  # 2.5 % on each side, at most 8 of 100
