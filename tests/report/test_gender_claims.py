"""Claims on gender pairs: an effect of gender only beyond that of a placebo."""

from dataclasses import replace

import pytest

from claim_findings import PAIRS, check, flips, performance, rules, run_of, score_difference, sentence_of
from psycheck.core.finding import Finding
from psycheck.report.verdict import chosen_headlines

CLEAR = (0.05, 0.15)


@pytest.mark.parametrize(
    ("findings", "rule"),
    [
        (flips(12, placebo=2, excess=CLEAR), "flips"),
        # The excess must certainly be 1 %.
        (flips(12, placebo=2, excess=(0.009, 0.2)), "any_edit"),
        (flips(12, placebo=2, excess=(0.01, 0.2)), "flips"),
        # As many flips as by any edit; fewer than by the placebo.
        (flips(9, placebo=8), "any_edit"),
        (flips(9, placebo=30, excess=(-0.3, -0.1)), "any_edit"),
        # The placebo flips nothing: no "as an edit that …".
        (flips(2), "few_flips"),
        (flips(0), "none_found"),
        ([*flips(0), *score_difference()], "scores"),
        ([*flips(0), *score_difference((-0.01, 0.2))], "none_found"),
        ([*flips(0), *score_difference(None)], "none_found"),
        ([*flips(0), *score_difference(significant=False)], "none_found"),
        # Without texts that have a placebo, nothing is shown, however many decisions change.
        (flips(50, placebo_n=0, excess=None), "not_shown"),
        (flips(50, placebo_n=14), "not_shown"),
        (flips(0, placebo_n=14), "not_shown"),
        (flips(0, units=14), "not_shown"),
        (flips(0, besides=50), "not_shown"),
        (flips(0, besides=49), "none_found"),
        (flips(0, besides=100, swap="pronouns+nouns+titles"), "none_found"),
        (flips(0, n=0), "untested"),
    ],
)
def test_what_pairs_show_is_a_rule(findings: list[Finding], rule: str) -> None:
    assert rules(*findings) == [f"gender.{rule}"]


def test_fewer_pairs_than_a_claim_needs_blame_no_model() -> None:
    few = flips(12, n=14, placebo_n=14, excess=CLEAR)
    scores = [replace(finding, n=14) for finding in score_difference()]
    assert rules(*few, *scores) == ["gender.not_shown"]


def test_flips_are_printed_beside_those_of_the_placebo_with_the_certain_excess() -> None:
    said = sentence_of("gender.flips", flips(12, placebo=2, excess=CLEAR))
    assert "12 % (0–4) of 100 texts when he and she are swapped, and in 2 %" in said
    assert "10 points (5–15) more." in said


def test_the_claim_is_as_certain_as_the_lower_end_of_the_excess() -> None:
    (claim,) = chosen_headlines(run_of(*flips(12, excess=CLEAR)))
    assert (claim.alarm, claim.least) == (True, 0.05)


def test_a_side_is_named_where_its_gap_is_significant() -> None:
    place = {**PAIRS, "group": "female", "versus": "male"}
    name = "equal_opportunity_difference"
    sides = [
        Finding("fnr", 0.1, 50, interval=(0.05, 0.2), where={**PAIRS, "group": "female"}),
        Finding("fnr", 0.4, 50, interval=(0.3, 0.5), where={**PAIRS, "group": "male"}),
        Finding(f"{name}_among_tests", 0.3, 50, interval=(0.1, 0.5), where=place),
        Finding(f"{name}_p_holm", 0.001, 50, where=place, flags=("significant",)),
    ]
    said = sentence_of("gender.flips", [*flips(12, excess=CLEAR), *sides])
    assert said.endswith(
        "; the male wording is missed more often: 40 % (30–50) against 10 % (5–20) of 50 texts annotated 1."
    )
    assert "wording" not in sentence_of("gender.flips", [*flips(12, excess=CLEAR), *sides[:3]])


def test_nearly_constant_decisions_show_nothing_about_gender() -> None:
    alike = performance(flags=("nearly_one_decision",))
    assert "gender.not_shown" in rules(*flips(0), *alike)


def test_of_several_corpora_the_one_with_the_largest_certain_excess_is_named() -> None:
    found = [*flips(12, excess=CLEAR), *flips(30, excess=(0.2, 0.4), corpus="letters")]
    assert "are swapped on letters, and" in sentence_of("gender.flips", found)


def test_a_model_that_jitters_on_one_corpus_does_not_hide_another() -> None:
    found = [*flips(40, placebo=41), *flips(12, excess=CLEAR, corpus="letters")]
    assert rules(*found) == ["gender.flips"]


def test_untested_pairs_are_named_only_where_nothing_else_was_tested() -> None:
    assert rules(*flips(0, n=0), check()) == ["checks.no_evidence"]
