"""Claims on checks: failures beyond a tolerance, reactions, and praise only where a reaction is shown."""

from dataclasses import replace

import pytest

from claim_findings import check, performance, reaction, rules, run_of, sentence_of
from psycheck.core.finding import Finding
from psycheck.report.check_claims import kept, weakest
from psycheck.report.learned import learned

HARMED = check(55, kind="MFT", unedited=90, flags=("harmed",))
ALIKE = performance(auc=(0.4, 0.6), balanced=(0.4, 0.6), flags=("constant",))


@pytest.mark.parametrize(
    ("findings", "rule"),
    [
        ([HARMED, reaction()], "fails"),
        ([check(80, interval=(0.7, 0.949)), reaction()], "fails"),
        # The upper bound of the pass rate must miss 95 %: a few failures are no weakness.
        ([check(80, interval=(0.7, 0.95)), reaction()], "not_harmed"),
        ([check(9995, 10_000, interval=(0.998, 0.9999)), reaction()], "not_harmed"),
        # The edit of an MFT check must be shown to do it.
        ([check(55, kind="MFT", unedited=47, flags=("helped",)), reaction()], "not_harmed"),
        ([check(55, kind="MFT", unedited=90), reaction()], "not_harmed"),
        ([check(), reaction((0.25, 0.6))], "none_found"),
        ([check(), reaction((0.24, 0.6))], "no_evidence"),
        ([check(), reaction(None)], "no_evidence"),
        ([check(), reaction((-0.2, 0.24))], "deaf"),
        ([check(), reaction((-0.2, 0.25))], "no_evidence"),
        ([check(), reaction((-0.9, -0.26))], "wrong_way"),
        ([check(), reaction(), reaction((-0.9, -0.26), expected="down", name="T8")], "wrong_way"),
        # A sentence that denies a symptom need not lower the score.
        ([check(), reaction(), reaction((-0.1, 0.1), expected="down", name="T8")], "none_found"),
        ([check()], "no_evidence"),
        ([check(n=0)], "untested"),
    ],
)
def test_what_checks_show_is_a_rule(findings: list[Finding], rule: str) -> None:
    assert rules(*findings) == [f"checks.{rule}"]


def test_a_deaf_model_is_not_praised_for_passing() -> None:
    found = rules(check(), check(name="T2"), *performance(), reaction((0.0, 0.1)))
    assert found == ["checks.deaf", "performance.better"]


def test_a_rate_that_constant_decisions_explain_is_no_weakness_and_no_merit() -> None:
    explained = check(0, interval=(0.0, 0.1), flags=("not_evidence",))
    assert rules(explained, *ALIKE) == ["performance.constant", "checks.no_evidence"]


def test_no_praise_beside_a_critical_claim() -> None:
    inverted = performance(auc=(0.1, 0.3))
    assert rules(check(), reaction(), *inverted) == ["performance.inverted"]


def test_a_warning_comes_before_what_is_good_about_performance() -> None:
    assert rules(*performance(), HARMED) == ["checks.fails", "performance.better"]


def test_a_check_that_fails_before_and_after_is_named_apart() -> None:
    """T3 passes for 1 %, as it does without the edit: T19 is the weakest edit, T3 the lowest rate."""
    edit = check(67, name="T19", interval=(0.6, 0.74), kind="DIR")
    before_and_after = check(1, name="T3", interval=(0.0, 0.08), kind="MFT", unedited=1)
    assert rules(edit, before_and_after) == ["checks.fails", "checks.wrong_unedited"]
    said = sentence_of("checks.wrong_unedited", [edit, before_and_after])
    assert said.startswith("T3 1 % (0–8) of 100 texts pass, and 1 % of them pass unedited")
    above_half = replace(before_and_after, interval=(0.3, 0.5))
    assert rules(edit, above_half) == ["checks.fails"]


def test_at_most_three_checks_share_a_sentence_by_name() -> None:
    deaf = [reaction((0.0, 0.1 + k / 100), name=f"T{k}") for k in range(5)]
    said = sentence_of("checks.deaf", [check(), *reversed(deaf)])
    assert said.startswith("Scores hardly rise after sentences on sleep problems (T0), ")
    assert "(T2) and 2 more: the reaction is 0.05" in said


def test_a_sample_names_the_weakest_that_was_foreseen_and_those_that_may_be_as_weak() -> None:
    found = [
        check(50, name="T3", flags=("maybe_weakest",)),  # more cases, and so the lower upper end
        check(8, 20, name="T2", interval=(0.3, 0.7), flags=("weakest",)),
        check(90, name="T4"),
    ]
    said = sentence_of("checks.fails", found)
    assert said.startswith("Fails most on T2: 40 % (30–70) of 20 texts pass")
    assert said.endswith("; T3 may be as weak.")


def test_at_most_three_checks_that_may_be_as_weak_are_named_the_lowest_first() -> None:
    first = check(40, name="T9", flags=("weakest",))
    others = [check(45 + k, name=f"T{k}", flags=("maybe_weakest",)) for k in range(5)]
    said = sentence_of("checks.fails", [*reversed(others), first])
    assert said.endswith("; T0, T1, T2 and 2 more may be as weak.")


def test_the_range_of_a_check_that_was_picked_is_the_adjusted_one() -> None:
    two = [check(80, name=name) for name in ("T1", "T2")]
    wide = [replace(f, measure="pass_rate_among_checks", interval=(0.65, 0.93)) for f in two]
    adjusted = "80 % (65–93) of 100 texts pass; the range allows for the choice among 2 checks."
    assert sentence_of("checks.fails", [*two, *wide]) == f"Fails most on T1: {adjusted}"
    assert sentence_of("checks.fails", two).endswith("does not allow for the choice among 2 checks.")
    assert sentence_of("checks.fails", [two[0], wide[0]]).endswith("80 % (65–93) of 100 texts pass.")


@pytest.mark.parametrize("rule", ["fails", "wrong_unedited"])
def test_no_check_is_named_below_the_n_that_a_claim_needs(rule: str) -> None:
    def verdict(n: int) -> list[str]:
        return rules(check(0, n, interval=(0.0, 0.1), kind=kind, unedited=unedited), reaction())

    kind, unedited = ("INV", None) if rule == "fails" else ("MFT", 0)
    assert f"checks.{rule}" in verdict(15)
    assert f"checks.{rule}" not in verdict(14)


@pytest.mark.parametrize(("rule", "interval"), [("deaf", (-0.1, 0.1)), ("wrong_way", (-0.9, -0.5))])
def test_no_reaction_is_named_below_the_n_that_a_claim_needs(
    rule: str, interval: tuple[float, float]
) -> None:
    few = replace(reaction(interval), n=14)
    assert rules(check(), few) == ["checks.no_evidence"]
    assert rules(check(), replace(few, n=15)) == [f"checks.{rule}"]


def test_sentences_that_were_tried_on_few_texts_are_the_reason_why_passing_is_no_evidence() -> None:
    said = sentence_of("checks.no_evidence", [check(), reaction(), replace(reaction(name="T7"), n=2)])
    assert "1 check of sentences on a symptom could be tried on fewer than 15 texts" in said
    assert "(T7)" not in said


def test_few_texts_do_not_outweigh_many() -> None:
    few = check(0, 2, name="A", interval=(0.0, 0.66))
    many = check(600, 1000, name="B", interval=(0.57, 0.63))
    assert weakest([few, many]) is many


def test_what_is_kept_of_an_mft_check_is_relative_to_the_unedited_texts() -> None:
    # 90 of 100 pass unedited and at most 65 after the edit: at least 25 are lost.
    assert kept(HARMED) == pytest.approx(0.75)
    assert kept(check(55, kind="MFT", unedited=47, flags=("helped",))) == 1.0


def test_no_sentence_is_missed_only_where_the_model_reacts() -> None:
    passed = check(kind="DIR", name="T9", symptom="sleep", topic="")
    (heard,) = [s.words for s in learned(run_of(passed, reaction())) if s.subject == "Symptoms"]
    (deaf,) = [s.words for s in learned(run_of(passed, reaction((0.0, 0.1)))) if s.subject == "Symptoms"]
    assert heard.startswith("no sentence is missed")
    assert "does not show that sentences are noticed" in deaf
