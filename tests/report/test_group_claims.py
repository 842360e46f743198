"""Claims on groups: the clearest gap with an interval for the choice, or the gap that is not ruled out."""

import math

import pytest

from claim_findings import check, gap, performance, rules, run_of, sentence_of
from psycheck.core.finding import Finding
from psycheck.report.learned import learned

PARITY = "demographic_parity_difference"
CHANCE = gap(interval=(-0.21, 0.1), p=0.2)


@pytest.mark.parametrize(
    ("findings", "rule"),
    [
        (gap(), "gap"),
        (gap(interval=(-0.6, 0.0)), "undirected"),
        (gap(interval=None), "undirected"),
        (CHANCE, "none_found"),
        # A gap that rests on a handful of texts is no headline.
        (gap(texts=(5, 190)), "gap"),
    ],
)
def test_what_groups_show_is_a_rule(findings: list[Finding], rule: str) -> None:
    assert rules(*findings) == [f"groups.{rule}"]


def test_a_gap_of_fewer_than_five_texts_is_no_headline() -> None:
    assert rules(*gap(texts=(4, 190))) == ["run.nothing"]


def test_a_gap_is_printed_in_points_with_the_rate_behind_it() -> None:
    assert sentence_of("groups.gap", gap()) == (
        "By ward, texts of men are missed more often than those of women, by 30 points (18–41): "
        "40 % (31–50) of 100 texts annotated 1."
    )


def test_the_group_that_is_missed_more_is_the_subject() -> None:
    said = sentence_of("groups.gap", gap(0.3, (0.18, 0.41)))
    assert "texts of women are missed more often than those of men, by 30 points" in said


def test_of_several_gaps_the_one_with_the_smallest_p_is_named() -> None:
    wide = gap(-0.6, (-0.9, -0.1), p=0.04, group="few")
    sure = gap(-0.2, (-0.25, -0.15), p=0.0001, group="many")
    assert "texts of many are missed more often" in sentence_of("groups.gap", [*wide, *sure])


def test_missed_texts_come_before_decisions_and_before_a_group_that_is_missed_less() -> None:
    less = gap(0.5, (0.4, 0.6), group="a", versus="the rest")
    more = gap(-0.2, (-0.3, -0.1), group="b", versus="the rest")
    decided = gap(0.7, (0.6, 0.8), group="c", versus="the rest", measure=PARITY)
    assert "texts of b are missed more often" in sentence_of("groups.gap", [*less, *more, *decided])
    assert "texts of a are missed less often" in sentence_of("groups.gap", [*less, *decided])
    assert "texts of c are decided positive more often" in sentence_of("groups.gap", decided)


def test_what_is_not_ruled_out_is_the_furthest_end_of_all_intervals() -> None:
    others = gap(interval=(-0.05, 0.32), p=0.9, group="x", versus="the rest")
    assert "a gap of up to 21 points in missed texts is not ruled out" in sentence_of(
        "groups.none_found", CHANCE
    )
    assert "a gap of up to 32 points in missed" in sentence_of("groups.none_found", [*CHANCE, *others])
    words = [s.words for s in learned(run_of(*CHANCE)) if s.subject == "Gender"]
    assert "a gap of up to 21 points" in words[0]


def test_without_an_interval_no_gap_is_ruled_out() -> None:
    said = sentence_of("groups.none_found", gap(interval=None, p=0.2))
    assert "too few authors or texts to rule out any gap" in said


def test_groups_are_not_called_alike_where_decisions_are() -> None:
    alike = performance(flags=("constant",))
    assert "groups.none_found" not in rules(*CHANCE, *alike)


def test_groups_that_could_not_be_tested_or_beside_checks_are_not_mentioned() -> None:
    assert rules(*gap(interval=None, p=math.nan)) == ["run.nothing"]
    assert rules(*CHANCE, check()) == ["checks.no_evidence"]


def test_models_whose_groups_were_compared_are_named_where_there_are_several() -> None:
    unknown = gap(interval=None, p=math.nan, model="n")
    assert "by ward for m; a gap" in sentence_of("groups.none_found", [*CHANCE, *unknown])
