import math
from collections.abc import Callable

from psycheck.core.finding import Findings
from psycheck.core.run import PAIRS, Run, Shown
from psycheck.report.cases import case_groups, marked, outcomes, pair_cases

MakeRun = Callable[..., Run]


def test_the_edit_is_marked_and_the_text_is_escaped() -> None:
    assert marked("a <b> & I feel fine", ((8, 19),)) == "a &lt;b&gt; &amp; <mark>I feel fine</mark>"


def test_several_edits_and_odd_spans() -> None:
    assert marked("they said they", ((10, 14), (0, 4))) == "<mark>they</mark> said <mark>they</mark>"
    assert marked("short", ((2, 2), (3, 99))) == "sho<mark>rt</mark>"
    assert marked("short", ()) == "short"


def test_what_lies_far_from_the_edit_is_left_out() -> None:
    said = marked("x" * 900 + "END", ((900, 903),))
    assert said == "… " + "x" * 140 + "<mark>END</mark>"
    between = marked("A" + "x" * 900 + "B", ((0, 1), (901, 902)))
    assert between == "<mark>A</mark>" + "x" * 140 + " … " + "x" * 140 + "<mark>B</mark>"


def test_failing_cases_come_first_and_no_answer_is_said(make_run: MakeRun) -> None:
    group = case_groups(make_run())[0]
    assert (group.check, group.tally) == ("T3", "5 failed, 1 unanswered, 7 passed")
    assert [case.outcome for case in group.cases[:6]] == ["failed"] * 5 + ["unanswered"]
    assert group.cases[0].scores == "0.42 → 0.71"
    assert group.cases[5].scores == "no answer → 0.50"
    assert group.failing == "p0, p1, p2, p3, p4"


def test_checks_are_in_natural_order_and_outcomes_begin_with_failed(make_run: MakeRun) -> None:
    run = make_run()
    assert [group.check for group in case_groups(run)] == ["T3", "T8", "T23"]
    assert outcomes(run) == ["failed", "unanswered", "passed"]


def test_gender_pairs_stand_apart_from_the_cases_of_checks() -> None:
    shown = (
        Shown("m", "c", PAIRS, "low", "a", "failed", 0.4, 0.6, 1, "he left", ((0, 2),)),
        Shown("m", "c", PAIRS, "low", "b", "failed", 0.1, 0.9, 1),
        Shown("m", "c", "deck", "T1", "a", "passed", 0.1, 0.1, 1),
    )
    run = Run({}, {}, Findings(), shown=shown)
    assert [group.check for group in case_groups(run)] == ["T1"]
    assert outcomes(run) == ["passed"]
    pairs = pair_cases(run)["low", "m", "c"]
    assert [(case.id, case.scores, case.text) for case in pairs] == [
        ("b", "0.10 → 0.90", None),
        ("a", "0.40 → 0.60", "<mark>he</mark> left"),
    ]


def test_printed_ids_are_capped() -> None:
    shown = tuple(Shown("m", "c", "s", "T1", str(i), "failed", 0.1, math.nan, 1) for i in range(70))
    group = case_groups(Run({}, {}, Findings(), shown=shown))[0]
    assert group.failing.endswith("59 and 10 more in findings.jsonl")
