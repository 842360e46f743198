import math

import pytest
from markupsafe import Markup

from psycheck.core.finding import Finding
from psycheck.report.numbers import figure, p_value, percent, plain, rate, unbroken, whole


@pytest.mark.parametrize(
    ("value", "digits", "said"),
    [
        (0.61, 0, "61 %"),
        (0.614, 1, "61.4 %"),
        (1.0, 1, "100.0 %"),
        (0.0, 0, "0 %"),
        (0.9996, 0, ">99 %"),
        (0.9999, 1, ">99.9 %"),
        (0.0002, 1, "<0.1 %"),
    ],
)
def test_a_percentage_never_rounds_a_failure_away(value: float, digits: int, said: str) -> None:
    assert percent(value, digits) == said


def test_prose_drops_decimals_that_a_wide_interval_does_not_carry() -> None:
    wide = Finding("pass_rate", 0.6136, 2000, (0.5921, 0.6347))
    narrow = Finding("pass_rate", 0.994, 2000, (0.9895, 0.9966))
    assert rate(wide, prose=True) == "61 % (59–63)"
    assert rate(narrow, prose=True) == "99.4 % (99.0–99.7)"
    assert rate(wide) == "61.4 % (59.2–63.5)"


def test_few_texts_carry_no_decimals() -> None:
    assert rate(Finding("pass_rate", 2 / 3, 57, (0.537, 0.775))) == "67 % (54–78)"


def test_what_was_not_tested_has_no_number() -> None:
    none = Finding("pass_rate", math.nan, 0)
    assert rate(none) == plain(none) == "not tested"
    assert "not tested" in figure(none)


def test_other_measures_are_decimals() -> None:
    assert plain(Finding("f1", 0.8049, 2000, (0.786, 0.8234))) == "0.805 (0.786–0.823)"
    assert plain(Finding("pearson_r", -0.5, 4, (-0.97, 0.9))) == "−0.500 (−0.970 to 0.900)"
    assert plain(Finding("length_p", 0.00004, 30)) == "<0.001"


def test_a_small_p_is_not_zero() -> None:
    assert [p_value(p) for p in (0.03149, 0.0, math.nan)] == ["0.031", "<0.001", "–"]


def test_figures_in_a_sentence_stay_on_one_line_and_are_escaped() -> None:
    assert unbroken("61 % (59–63) of <b>") == '<span class="fig">61 % (59–63)</span> of &lt;b&gt;'
    assert unbroken(">99 % pass") == '<span class="fig">&gt;99 %</span> pass'


def test_a_cell_breaks_before_its_interval_and_not_within() -> None:
    assert whole("0.16 (0.15–0.17)") == '0.16 <span class="fig">(0.15–0.17)</span>'
    assert whole("0.85 F (0.7 to 1.1)") == (
        '<span class="fig">0.85 F</span> <span class="fig">(0.7 to 1.1)</span>'
    )
    assert whole("-0.04 to +0.05") == '<span class="fig">−0.04 to +0.05</span>'
    assert whole("<b>") == "&lt;b&gt;"
    assert whole(Markup("<i>1 to 2</i>")) == "<i>1 to 2</i>"


def test_a_signed_figure_in_a_sentence_is_not_broken() -> None:
    assert unbroken("by −0.03 (−0.16 to 0.13) on c") == (
        'by <span class="fig">−0.03 (−0.16 to 0.13)</span> on c'
    )
