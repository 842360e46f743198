"""Two models on the same texts, with numbers worked out by hand and against statsmodels and scikit-learn."""

import math
from collections.abc import Sequence
from dataclasses import replace

import numpy as np
import pytest
from numpy.typing import ArrayLike
from sklearn.metrics import cohen_kappa_score, f1_score, roc_auc_score
from statsmodels.stats.contingency_tables import mcnemar

from psycheck.audits.differences import Answered, difference_findings, outcome_names
from psycheck.audits.error_cues import Texts, error_findings
from psycheck.core.finding import Finding, Findings
from psycheck.report.diff_sentences import difference_headlines
from psycheck.statistics.clustered import Clusters

NAN = math.nan


def answered(
    gold: ArrayLike, *scores: ArrayLike, label: str = "low", units: Sequence[int] | None = None
) -> Answered:
    marks, columns = np.asarray(gold, float), np.array(scores, float).T
    decided = np.where(np.isnan(columns), np.nan, columns >= 0.5)
    names = tuple("abcd"[: len(scores)])
    ids = tuple(f"t{k}" for k in range(len(marks)))
    clusters = Clusters.single(len(marks)) if units is None else Clusters.of(units)
    return Answered("posts", label, names, ids, marks, columns, decided, clusters)


def noisy(n: int = 400, seed: int = 1) -> Answered:
    random = np.random.default_rng(seed)
    gold = (random.random(n) < 0.4).astype(float)
    scores = [1 / (1 + np.exp(-(2 * gold - 1 + size * random.normal(size=n)))) for size in (0.8, 2.5)]
    return answered(gold, *scores)


def equal(seed: int, n: int = 200) -> Answered:
    """Two models with noise of the same size, so that neither is better."""
    random = np.random.default_rng(seed)
    gold = (random.random(n) < 0.4).astype(float)
    return answered(gold, *(1 / (1 + np.exp(1 - 2 * gold - random.normal(size=(2, n))))))


def sole(found: Sequence[Finding], measure: str, **where: str) -> Finding:
    (one,) = Findings(found).where(measure=measure, **where)
    return one


def test_figures_of_a_pair_agree_with_statsmodels_and_scikit_learn() -> None:
    one = noisy()
    found = difference_findings([one])
    right = one.right == 1
    table = [[np.sum((right[:, 0] == a) & (right[:, 1] == b)) for b in (True, False)] for a in (True, False)]
    p = sole(found, "difference_p", figure="accuracy")
    assert p.value == pytest.approx(mcnemar(table, exact=False, correction=True).pvalue)
    assert p.counts["only_this_right"] == table[0][1]
    assert sole(found, "accuracy_difference").value == pytest.approx(right.mean(axis=0) @ [1, -1])
    f1s = [f1_score(one.gold, one.decided[:, k]) for k in (0, 1)]
    assert sole(found, "f1_difference").value == pytest.approx(f1s[0] - f1s[1])
    aucs = [roc_auc_score(one.gold, one.scores[:, k]) for k in (0, 1)]
    assert sole(found, "auc_difference").value == pytest.approx(aucs[0] - aucs[1])
    assert sole(found, "kappa").value == pytest.approx(cohen_kappa_score(*one.decided.T))


def test_mcnemar_is_exact_where_models_part_on_few_texts() -> None:
    # Of 40 texts the first alone is right on 8, the second on 1: p = 2 (1 + 9) / 2⁹.
    gold = np.ones(40)
    first, second = np.ones(40), np.ones(40)
    second[:8], first[8] = 0.0, 0.0
    found = difference_findings([answered(gold, first, second)])
    assert sole(found, "difference_p", figure="accuracy").value == pytest.approx(20 / 512)


def test_all_tests_of_a_page_are_one_family() -> None:
    one = noisy()
    found = difference_findings([one, replace(one, label="sleep"), replace(one, corpus="notes")])
    adjusted = Findings(found).where(measure="difference_p_holm")
    assert len(adjusted) == 9  # accuracy, F1 and AUC, three times
    assert {f.counts["tests"] for f in adjusted} == {9}
    raw = sorted(f.value for f in found if f.measure == "difference_p")
    assert min(f.value for f in adjusted) == pytest.approx(9 * raw[0])


def test_equal_models_hardly_ever_raise_an_alarm_and_unequal_ones_do() -> None:
    # 200 pairs of equal models are measured by benchmarks/diff.py; here 40, of which 2 are expected.
    alarms = [
        any(one.alarm for one in difference_headlines(Findings(difference_findings([equal(seed)]))))
        for seed in range(40)
    ]
    assert sum(alarms) <= 4
    found = [difference_headlines(Findings(difference_findings([noisy(seed=seed)])))[0] for seed in range(5)]
    assert [one.rule for one in found] == ["diff.better"] * 5


def test_who_is_right_where_they_part_by_annotation() -> None:
    gold = [1, 1, 1, 0, 0, 0, 0, NAN]
    found = difference_findings([answered(gold, [1, 1, 0, 0, 0, 1, 1, 1], [1, 0, 1, 1, 1, 1, 0, 0])])
    shares = {f.where["gold"]: f for f in found if f.measure == "right_where_apart"}
    assert {gold: (f.counts["only_this_right"], f.n) for gold, f in shares.items()} == {
        "all": (3, 5),
        "1": (1, 2),
        "0": (2, 3),
    }
    assert shares["0"].counts["neither_right"] == 1
    assert shares["1"].examples == ("t1", "t2")
    assert sole(found, "agreement").n == 8  # a text need not be annotated for that


def test_a_text_without_an_answer_is_left_out_of_the_pair_and_counted() -> None:
    gold = [1, 1, 1, 1, 0, 0]
    found = difference_findings([answered(gold, [1, 1, NAN, 0, 0, 0], [1, 1, 1, 1, 0, NAN])])
    assert sole(found, "accuracy_difference").n == 4
    missing = sole(found, "unanswered", model="a")
    assert missing.value == pytest.approx(1 / 6)
    assert (missing.n, missing.counts["unanswered"]) == (6, 1)
    # tp 2, fn 1 of what was answered; the missing text is annotated 1.
    assert sole(found, "f1", model="a").value == pytest.approx(4 / 5)
    assert sole(found, "f1_worst", model="a").value == pytest.approx(4 / 6)
    assert sole(found, "f1_best", model="a").value == pytest.approx(6 / 7)
    assert not Findings(found).where(measure="f1_worst", model="c")


def test_answers_of_yes_or_no_have_no_auc() -> None:
    one = noisy()
    hard = replace(one, scores=np.column_stack([one.scores[:, 0], one.decided[:, 1]]))
    found = Findings(difference_findings([hard]))
    assert [f.where["model"] for f in found.where(measure="auc")] == ["a"]
    assert not found.where(measure="auc_difference")


def test_models_that_always_say_the_same_have_no_kappa() -> None:
    found = difference_findings([answered([1, 0, 1], [1, 1, 1], [1, 1, 1])])
    assert math.isnan(sole(found, "kappa").value)
    assert sole(found, "kappa").flags == ("one_prediction", "not_tested")
    assert sole(found, "agreement").value == 1


def test_copies_of_one_text_do_not_make_a_difference_surer() -> None:
    gold, first, second = np.ones(12), np.ones(12), np.repeat([0.0, 1.0], 6)
    once = difference_findings([answered(gold, first, second)])
    copied = [np.repeat(one, 20) for one in (gold, first, second)]
    often = difference_findings([answered(*copied, units=np.repeat(np.arange(12), 20).tolist())])
    p = [sole(found, "difference_p", figure="accuracy").value for found in (once, often)]
    assert p[1] == pytest.approx(p[0])


def test_three_models_have_three_pairs_and_an_agreement_of_all() -> None:
    one = answered([1, 0, 1, 0], [1, 0, 1, 0], [1, 0, 0, 0], [1, 1, 1, 0])
    found = difference_findings([one])
    assert len(Findings(found).where(measure="kappa")) == 3
    assert sole(found, "agreement_all").value == 0.5


def test_length_by_outcome_as_in_table_16() -> None:
    one = answered([0, 0, 0, 1, 1, 1], [0, 0, 1, 1, 0, 1], [0, 1, 1, 1, 1, 0])
    texts: Texts = (np.array([10.0, 20, 30, 40, 50, 60]), {})
    cells = {
        (f.where["outcome"], f.where["gold"]): (f.value, f.n)
        for f in error_findings([(one, texts)])
        if f.measure == "outcome_length"
    }
    assert cells["TT", "0"] == (10, 1)
    assert cells["TF", "0"] == (20, 1)
    assert cells["FF", "0"] == (30, 1)
    assert cells["FT", "1"] == (50, 1)
    assert cells["TF", "1"] == (60, 1)
    assert cells["all", "0"] == (20, 3)
    assert math.isnan(cells["FF", "1"][0])
    assert {name: int(rows.sum()) for name, rows in outcome_names(one, 0, 1)} == {
        "TT": 2,
        "TF": 2,
        "FT": 1,
        "FF": 1,
    }


def test_a_cue_that_goes_with_false_positives_is_found_and_another_is_not() -> None:
    random = np.random.default_rng(2)
    gold = np.repeat([0.0, 1.0], 300)
    past, medication = random.random((2, 600)) < 0.3
    first = np.where((gold == 0) & past & (random.random(600) < 0.8), 1.0, gold)
    one = answered(gold, first, gold)
    cues = {"past": past, "medication": medication}
    found = Findings(error_findings([(one, (random.normal(500, 50, 600), cues))]))
    p = {f.where["cue"]: f.value for f in found.where(measure="cue_p_holm", model="a", gold="0")}
    assert p["past"] < 0.001
    assert p["medication"] > 0.05
    wrong, right = (
        sole(found, "cue_rate", cue="past", model="a", gold="0", among=a) for a in ("errors", "right")
    )
    assert wrong.value == 1
    assert right.value < 0.15
    difference = sole(found, "cue_difference", cue="past", model="a", gold="0")
    assert difference.value == pytest.approx(wrong.value - right.value)
    assert difference.counts["errors"] == wrong.n == int((first > gold).sum())


def test_longer_errors_are_found() -> None:
    gold = np.repeat([0.0, 1.0], 200)
    lengths = np.tile(np.arange(200.0), 2)
    found = Findings(
        error_findings(
            [(answered(gold, np.where((gold == 0) & (lengths > 150), 1.0, gold), gold), (lengths, {}))]
        )
    )
    effect = sole(found, "error_length_effect", model="a", gold="0")
    assert effect.value == 1
    assert effect.counts["characters_errors"] == 175
    assert sole(found, "error_length_p_holm", model="a", gold="0").value < 0.001
