"""Holm over findings: by hand, family by family."""

import math

import pytest

from psycheck.audits.summary import holm_families, holm_family
from psycheck.core.finding import Finding


def test_a_family_keeps_its_order_and_counts_what_was_tested() -> None:
    tests = [Finding("x_p", p, 10, where={"k": str(p)}, counts={"seen": 7}) for p in (0.04, math.nan, 0.01)]
    found = holm_family(tests)
    # Two tests: 0.01 · 2 = 0.02, then 0.04 · 1.
    assert [f.value for f in found] == pytest.approx([0.04, math.nan, 0.02], nan_ok=True)
    assert {f.measure for f in found} == {"x_p_holm"}
    assert all(f.counts == {"seen": 7, "tests": 2} for f in found)
    assert [f.where for f in found] == [f.where for f in tests]


def test_findings_are_adjusted_within_a_decision() -> None:
    rows = [
        Finding("mcnemar_p", p, 10, where={"decision": decision, "versus": "plain"})
        for decision, p in (("0.5", 0.01), ("dev", 0.03), ("0.5", 0.04))
    ]
    adjusted = holm_families([*rows, Finding("f1", 0.5, 10)], "mcnemar_p", ("decision", "versus"))
    assert [f.value for f in adjusted] == pytest.approx([0.02, 0.04, 0.03])
    assert {f.measure for f in adjusted} == {"mcnemar_p_holm"}


def test_all_learners_of_a_seed_are_one_family() -> None:
    rows = [
        Finding("mcnemar_p", p, 10, where={"seed": seed})
        for p, seed in ((0.01, "0"), (0.04, "0"), (0.04, "1"))
    ]
    adjusted = holm_families(rows, "mcnemar_p", ("seed",))
    assert [f.value for f in adjusted] == pytest.approx([0.02, 0.04, 0.04])
    assert [f.counts["tests"] for f in adjusted] == [2, 2, 1]
