"""Groups that a corpus names: a planted difference is found with the figures worked out by hand."""

import math

import numpy as np
import pytest
from scipy import stats

from found import one
from psycheck.audits.groups import group_findings
from psycheck.core.corpus import Corpus
from psycheck.statistics.intervals import wilson

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


def test_the_findings_count_what_is_left_out_each_under_its_own_name() -> None:
    members = [f"g{i:02d}" for i in range(22) for _ in range(5)] + ["few", "NA", "G00"]
    corpus = Corpus.of("c", [f"t{i}" for i in range(113)], groups={"source": members})
    first = next(group_findings(corpus, np.ones(113), np.ones(113), WHERE))
    # g00 has a sixth text in capitals; 20 groups of 22 are compared, the two left have 5 texts each.
    assert first.counts == {
        "count": 0,
        "texts": 6,
        "unanswered": 0,
        "unknown": 1,
        "read_as_not_given": 1,
        "other_spelling": 1,
        "in_small_groups": 1,
        "beyond_largest": 10,
        "units": 6,
    }


def test_decisions_without_annotation_still_have_a_rate_of_positives() -> None:
    corpus = Corpus.of("c", [f"t{i}" for i in range(10)], groups={"gender": ["a"] * 5 + ["b"] * 5})
    said = np.array([1.0] * 5 + [0.0] * 4 + [math.nan])
    found = list(group_findings(corpus, np.full(10, np.nan), said, WHERE))
    assert one(found, "fnr", group="a").flags == ("not_tested",)
    assert one(found, "fnr_ratio").flags == ("not_tested",)
    parity = one(found, "demographic_parity_difference")
    assert (parity.value, parity.n) == (1.0, 9)
    assert one(found, "positive_rate", group="b").counts["unanswered"] == 1


def test_rates_of_two_groups_by_hand() -> None:
    truth = np.array([1, 1, 1, 0, 0, 1, 1, 0, math.nan, 1, 1])
    decided = np.array([1, 0, 0, 1, 0, 1, 1, 0, 1, math.nan, 1])
    members = [*"aaaaabbbbb", None]  # a text of no known group counts in none
    corpus = Corpus.of("c", [f"t{i}" for i in range(11)], groups={"source": members})
    found = list(group_findings(corpus, truth, decided, WHERE))
    # b: one text is not annotated (its decision counts), one has no answer (it counts in nothing).
    for group, unanswered, rates in (
        ("a", 0, {"fnr": (2, 3), "fpr": (1, 2), "positive_rate": (2, 5)}),
        ("b", 1, {"fnr": (0, 2), "fpr": (0, 1), "positive_rate": (3, 4)}),
    ):
        for measure, (count, n) in rates.items():
            rate = one(found, measure, group=group)
            assert (rate.value, rate.n, rate.counts["count"]) == (count / n, n, count)
            assert rate.interval == wilson(count, n)
            assert (rate.counts["texts"], rate.counts["unanswered"]) == (5, unanswered)
    chance = one(found, "equal_opportunity_difference")
    assert chance.value == pytest.approx(1 / 3 - 2 / 2)
