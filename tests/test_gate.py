import math

import pytest

from psycheck.errors import BadInput
from psycheck.finding import Finding
from psycheck.gate import Gate, judge_gates, parse_gate

FINDINGS = [
    Finding("pass_rate", 0.9, 100, where={"kind": "DIR", "check": "T7", "model": "a"}),
    Finding("pass_rate", 0.6, 100, where={"kind": "DIR", "check": "T23", "model": "a"}),
    Finding("pass_rate", 0.4, 100, where={"kind": "INV", "check": "T1", "model": "a"}),
    Finding("brier", 0.2, 100, where={"model": "a"}),
]


def test_a_gate_is_read_as_it_is_said() -> None:
    assert parse_gate("pass_rate>=0.7 where kind=DIR and check=T7") == Gate(
        "pass_rate", min=0.7, where={"kind": "DIR", "check": "T7"}
    )
    assert parse_gate("brier < 20%") == Gate("brier", max=0.2, strict=True)


@pytest.mark.parametrize(
    "text", ["", "pass_rate", "pass_rate>=high", "pass_rate>=0.7 where", "f1>=0.5 where kind"]
)
def test_a_gate_that_says_nothing_is_refused(text: str) -> None:
    with pytest.raises(BadInput, match="gate"):
        parse_gate(text)


def test_a_gate_speaks_only_of_what_it_names() -> None:
    loose, tight = judge_gates(
        [parse_gate("pass_rate>=0.6 where kind=DIR"), parse_gate("pass_rate>0.6 where kind=DIR")], FINDINGS
    )
    assert (loose.holds, loose.checked) == (True, 2)
    assert (tight.holds, [finding.where["check"] for finding in tight.failing]) == (False, ["T23"])


def test_what_is_not_tested_does_not_pass() -> None:
    untested = [Finding("pass_rate", math.nan, 0, where={"kind": "DIR"})]
    assert not judge_gates([parse_gate("pass_rate>=0.1")], untested)[0].holds
    assert not judge_gates([parse_gate("pass_rate>=0.1 where kind=MFT")], FINDINGS)[0].holds


def test_an_unknown_measure_or_key_is_a_mistake_and_not_a_pass() -> None:
    with pytest.raises(BadInput, match="does not have"):
        judge_gates([parse_gate("pas_rate>=0.1")], FINDINGS)
    with pytest.raises(BadInput, match="'kid'"):
        judge_gates([parse_gate("pass_rate>=0.1 where kid=DIR")], FINDINGS)


def test_no_worse_than_compares_with_an_earlier_run_of_another_model() -> None:
    before = [
        Finding("pass_rate", 0.9, 100, where={"kind": "DIR", "check": "T7", "model": "b"}),
        Finding("pass_rate", 0.7, 100, where={"kind": "DIR", "check": "T23", "model": "b"}),
        Finding("pass_rate", 0.4, 100, where={"kind": "INV", "check": "T1", "model": "b"}),
        Finding("brier", 0.1, 100, where={"model": "b"}),
    ]
    rate, loss = judge_gates(
        [Gate("pass_rate", no_worse_than="old"), Gate("brier", no_worse_than="old")],
        FINDINGS,
        {"old": before},
    )
    assert [finding.where["check"] for finding in rate.failing] == ["T23"]
    assert not loss.holds


def test_with_several_models_each_is_held_against_its_namesake() -> None:
    both = [
        Finding("pass_rate", value, 9, where={"check": "T7", "model": model})
        for model, value in (("a", 0.9), ("b", 0.2))
    ]
    assert judge_gates([Gate("pass_rate", no_worse_than="old")], both, {"old": both})[0].holds


def test_what_has_no_counterpart_in_the_earlier_run_does_not_pass() -> None:
    earlier = {"old": [Finding("pass_rate", 0.1, 9, where={"check": "T99", "model": "b"})]}
    result = judge_gates([Gate("pass_rate", no_worse_than="old")], FINDINGS, earlier)[0]
    assert (result.holds, result.reason) == (False, "3 of 3 have no counterpart in old")


def test_a_gate_with_two_bounds_reads_as_a_sentence() -> None:
    assert str(Gate("brier", max=0.2, no_worse_than="old")) == "brier<=0.2 and no worse than old"
    assert (
        str(Gate("f1", no_worse_than="old", where={"corpus": "a"})) == "f1 no worse than old where corpus=a"
    )


def test_no_worse_than_looks_at_both_sides_of_a_difference_and_of_a_ratio() -> None:
    then = [Finding("score_difference", -0.1, 9), Finding("fnr_ratio", 0.8, 9)]
    gates = [Gate("score_difference", no_worse_than="old"), Gate("fnr_ratio", no_worse_than="old")]
    nearer = [Finding("score_difference", -0.05, 9), Finding("fnr_ratio", 1.1, 9)]
    assert [result.holds for result in judge_gates(gates, nearer, {"old": then})] == [True, True]
    further = [Finding("score_difference", 0.2, 9), Finding("fnr_ratio", 1.3, 9)]
    assert [result.holds for result in judge_gates(gates, further, {"old": then})] == [False, False]
