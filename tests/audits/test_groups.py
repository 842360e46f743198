"""Groups that a corpus names: a planted difference is found with the figures worked out by hand."""

import math

import numpy as np
import pytest
from scipy import stats

from found import one
from psycheck.audits.groups import compared_groups, group_findings
from psycheck.corpus import Corpus
from psycheck.measures.intervals import wilson

WHERE = {"audit": "fairness", "model": "m", "corpus": "c", "label": "depression"}


def planted() -> tuple[Corpus, np.ndarray, np.ndarray]:
    """100 men and 100 women annotated 1, of whom 40 and 10 are missed; 50 each annotated 0, 5 alarms each."""
    groups = ["men"] * 150 + ["women"] * 150
    truth = ([1.0] * 100 + [0.0] * 50) * 2
    men = [0.0] * 40 + [1.0] * 60 + [1.0] * 5 + [0.0] * 45
    women = [0.0] * 10 + [1.0] * 90 + [1.0] * 5 + [0.0] * 45
    texts = [f"text {i}" for i in range(300)]
    corpus = Corpus.of("c", texts, labels={"depression": truth}, groups={"gender": groups})
    return corpus, np.array(truth), np.array(men + women)


def test_a_planted_difference_is_found_with_the_right_figures() -> None:
    found = list(group_findings(*planted(), WHERE))
    men, women = one(found, "fnr", group="men"), one(found, "fnr", group="women")
    assert (men.value, men.interval) == (0.4, wilson(40, 100))
    assert (women.value, women.interval) == (0.1, wilson(10, 100))
    assert men.examples[:2] == ("1", "2")
    assert one(found, "fpr", group="men").value == 0.1
    assert one(found, "positive_rate", group="women").value == pytest.approx(95 / 150)
    ratio = one(found, "fnr_ratio")
    assert (ratio.value, ratio.flags) == (0.25, ("favours_women",))
    assert (ratio.where["group"], ratio.where["versus"]) == ("men", "women")
    chance = one(found, "equal_opportunity_difference")
    assert chance.value == pytest.approx(-0.3)
    assert chance.interval is not None
    assert chance.interval[1] < 0
    p = one(found, "equal_opportunity_difference_p")
    assert p.value == pytest.approx(stats.fisher_exact(np.array([[60, 40], [90, 10]])).pvalue)
    assert one(found, "demographic_parity_difference").value == pytest.approx(65 / 150 - 95 / 150)


def test_of_several_groups_each_is_set_against_the_rest() -> None:
    corpus = Corpus.of(
        "c", [f"t{i}" for i in range(30)], groups={"source": ["a"] * 10 + ["b"] * 10 + ["c"] * 10}
    )
    truth = np.ones(30)
    said = np.array([1.0] * 5 + [0.0] * 5 + [1.0] * 20)
    found = list(group_findings(corpus, truth, said, WHERE))
    differences = [f for f in found if f.measure == "equal_opportunity_difference"]
    assert [(f.where["group"], f.where["versus"]) for f in differences] == [
        ("a", "the rest"),
        ("b", "the rest"),
        ("c", "the rest"),
    ]
    assert [f.value for f in differences] == pytest.approx([-0.5, 1 - 15 / 20, 1 - 15 / 20])
    ratio = one(found, "fnr_ratio", group="a")
    assert (ratio.value, ratio.flags) == (0.0, ("favours_the_rest",))


def test_one_group_alone_has_rates_and_is_compared_with_nothing() -> None:
    corpus = Corpus.of("c", [f"t{i}" for i in range(6)], groups={"gender": ["women"] * 6})
    found = list(group_findings(corpus, np.ones(6), np.ones(6), WHERE))
    assert {f.measure for f in found} == {"fnr", "fpr", "positive_rate"}


def test_small_groups_and_texts_of_no_group_are_counted_and_not_compared() -> None:
    names, small = compared_groups(["a"] * 5 + ["b"] * 4 + [None, " "], "source")
    assert names.tolist() == ["a"] * 5 + [""] * 6
    assert small == 4
    members: list[str | None] = ["a"] * 5 + ["b"] * 4 + [None]
    corpus = Corpus.of("c", [f"t{i}" for i in range(10)], groups={"source": members})
    found = list(group_findings(corpus, np.ones(10), np.ones(10), WHERE))
    assert found[0].counts["in_small_groups"] == 4
    assert found[0].counts["unknown"] == 1


def test_a_column_of_small_groups_alone_is_not_tested_and_not_silent() -> None:
    corpus = Corpus.of("c", ["t1", "t2", "t3"], groups={"ward": ["a", "b", None]})
    (only,) = group_findings(corpus, np.ones(3), np.ones(3), WHERE)
    assert (only.measure, only.flags, only.where["column"]) == ("fnr", ("not_tested",), "ward")
    assert (only.counts["in_small_groups"], only.counts["unknown"]) == (2, 1)


def test_a_column_with_very_many_groups_is_cut_to_the_largest() -> None:
    members = [f"g{i:02d}" for i in range(25) for _ in range(5 + (i < 3))]
    names, small = compared_groups(members, "source")
    kept = set(names.tolist()) - {""}
    assert len(kept) == 20
    assert {"g00", "g01", "g02"} <= kept
    assert small == 25


def test_numbers_of_an_age_column_become_bands_and_other_columns_stay() -> None:
    ages = ["17", "18", "24.5", "65", "90"] * 5
    assert set(compared_groups(ages, "Age")[0].tolist()) == {"0–17", "18–24", "65+"}
    assert set(compared_groups(ages, "ward")[0].tolist()) == set(ages)
    odd = compared_groups([*ages, "9-month"], "age")
    assert (set(odd[0].tolist()), odd[1]) == ({"0–17", "18–24", "65+", ""}, 1)
    words = ["young", "old"] * 5
    assert set(compared_groups(words, "age")[0].tolist()) == {"young", "old"}


def test_decisions_without_annotation_still_have_a_rate_of_positives() -> None:
    corpus = Corpus.of("c", [f"t{i}" for i in range(10)], groups={"gender": ["a"] * 5 + ["b"] * 5})
    said = np.array([1.0] * 5 + [0.0] * 4 + [math.nan])
    found = list(group_findings(corpus, np.full(10, np.nan), said, WHERE))
    assert one(found, "fnr", group="a").flags == ("not_tested",)
    assert one(found, "fnr_ratio").flags == ("not_tested",)
    parity = one(found, "demographic_parity_difference")
    assert (parity.value, parity.n) == (1.0, 9)
    assert one(found, "positive_rate", group="b").counts["unanswered"] == 1
