import math

import pytest
from scipy import stats

from psycheck.audits.summary import across_models
from psycheck.core.finding import Finding


def accuracy(model: str, corpus: str, value: float, label: str = "depression") -> Finding:
    return Finding("accuracy", value, 100, where={"model": model, "corpus": corpus, "label": label})


def rate(model: str, corpus: str, check: str, kind: str, value: float, suite: str = "deck") -> Finding:
    where = {"model": model, "corpus": corpus, "suite": suite, "check": check, "kind": kind}
    return Finding("pass_rate", value, 100, where={**where, "label": "depression"})


def only(findings: tuple[Finding, ...], measure: str, kind: str, test: str | None = None) -> Finding:
    (found,) = [
        f
        for f in findings
        if f.measure == measure and f.where["kind"] == kind and f.where.get("test") == test
    ]
    return found


PAIRS = (
    ("BERT", "TWSELFDIAG", 75.47),
    ("BERT", "TWPHMDEPR", 96.49),
    ("ALBERT", "TWSELFDIAG", 71.45),
    ("ALBERT", "TWPHMDEPR", 100.0),
    ("RoBERTa", "TWSELFDIAG", 76.90),
    ("RoBERTa", "TWPHMDEPR", 100.0),
    ("RoBERTa", "DAIC-WOZ", 68.42),
)
"""In-distribution accuracy, DECK Table 4."""

APP_TABLE_4 = """
T3  74.42 96.30 60.19 100.00 69.14 100.00 91.21
T4  75.45 96.30 61.38 100.00 69.74 100.00 92.91
T5  75.62 96.43 62.06 100.00 70.16 100.00 91.97
T6  75.83 96.55 81.58 100.00 86.03 100.00 100.00
T7  65.91 71.93 57.71 73.68 65.23 71.93 77.65
T8  36.23 73.68 66.40 71.93 75.44 71.93 99.99
T9  87.96 64.91 67.57 64.91 77.50 61.40 78.02
T10 61.31 73.68 60.74 73.68 67.37 71.93 81.65
T11 78.31 77.19 65.87 80.70 69.79 77.19 77.80
T12 80.98 71.93 66.64 73.68 67.08 70.18 77.86
T13 37.48 73.68 67.41 68.42 80.09 71.93 99.94
T14 77.87 64.91 62.64 64.91 69.95 61.40 77.99
T15 35.46 73.68 68.01 73.68 74.64 71.93 99.99
T16 88.37 64.91 67.57 63.16 74.96 59.65 78.06
T17 39.90 73.68 63.69 73.68 70.60 71.93 99.96
T18 86.83 73.68 49.92 75.44 77.18 71.93 78.14
T19 50.36 64.91 71.93 61.40 72.37 61.40 99.97
T20 77.34 77.19 58.76 78.95 65.35 75.44 82.81
T21 62.84 73.68 71.45 73.68 72.62 71.93 0.97
T22 37.24 77.19 60.90 78.95 73.02 77.19 78.11
T23 46.61 64.91 64.14 59.65 66.11 61.40 66.84
"""


def published(changed: dict[tuple[str, str], float] | None = None) -> tuple[Finding, ...]:
    """The figures of the paper as findings; `changed` replaces cells by (check, corpus) of RoBERTa."""
    findings = [accuracy(model, corpus, value / 100) for model, corpus, value in PAIRS]
    for line in APP_TABLE_4.strip().splitlines():
        check, *cells = line.split()
        kind = "MFT" if check in ("T3", "T4", "T5", "T6") else "DIR"
        for (model, corpus, _), cell in zip(PAIRS, cells, strict=True):
            value = (changed or {}).get((check, corpus), float(cell)) if model == "RoBERTa" else float(cell)
            findings.append(rate(model, corpus, check, kind, value / 100))
    return across_models(findings)


def test_the_published_dir_correlation_comes_out() -> None:
    r = only(published(), "pearson_r", "DIR")
    assert r.n == 7
    assert r.value == pytest.approx(0.01610, abs=5e-6)  # published as 1.6 %
    assert only(published(), "pearson_p", "DIR").value == pytest.approx(0.9727, abs=5e-5)


def test_the_published_mft_correlation_nearly_comes_out() -> None:
    # The paper has .723 with p < 0.05; its own tables give .730, and p just above 0.05.
    r = only(published(), "pearson_r", "MFT")
    assert r.value == pytest.approx(0.72973, abs=5e-6)
    # atanh(0.72973) = 0.92815; the error of seven independent pairs is 1 / √4 on that scale. They are of
    # three corpora, so that Student's quantile has two degrees of freedom: at least ± 4.303 / √4.
    assert r.interval is not None
    assert r.interval[0] <= math.tanh(0.92815 - 4.303 / 2)
    assert r.interval[1] >= math.tanh(0.92815 + 4.303 / 2)
    assert only(published(), "pearson_p", "MFT").value == pytest.approx(0.06266, abs=5e-6)
    # The unpaired t-test is the published p > 0.75.
    assert only(published(), "t_p", "MFT", "unpaired").value == pytest.approx(0.75257, abs=5e-6)
    assert only(published(), "t_p", "MFT", "paired").value == pytest.approx(0.55777, abs=5e-6)


def test_two_likely_misprints_move_the_published_correlations() -> None:
    # T6 on DAIC-WOZ is 91.96 in Table 2; T21 is 0.97 beside 99.97 in its neighbour.
    mended = published({("T6", "DAIC-WOZ"): 91.96, ("T21", "DAIC-WOZ"): 99.97})
    assert only(mended, "pearson_r", "MFT").value == pytest.approx(0.76437, abs=5e-6)
    assert only(mended, "pearson_p", "MFT").value == pytest.approx(0.04538, abs=5e-6)
    assert only(mended, "pearson_r", "DIR").value == pytest.approx(-0.12999, abs=5e-6)


def three(kind: str = "MFT") -> list[Finding]:
    findings = []
    for k, (model, value) in enumerate((("a", 0.6), ("b", 0.7), ("c", 0.9))):
        findings.append(accuracy(model, "posts", value))
        findings += [
            rate(model, "posts", "X1", kind, 0.2 * k),
            rate(model, "posts", "X2", kind, 0.3 + 0.2 * k),
        ]
    return findings


def test_pass_rates_are_averaged_before_they_are_correlated() -> None:
    found = across_models(three())
    means, accuracies = [0.15, 0.35, 0.55], [0.6, 0.7, 0.9]
    expected = stats.pearsonr(means, accuracies)
    assert only(found, "pearson_r", "MFT").value == pytest.approx(expected.statistic)
    assert only(found, "pearson_p", "MFT").value == pytest.approx(expected.pvalue)
    paired = stats.ttest_rel(means, accuracies).pvalue
    assert only(found, "t_p", "MFT", "paired").value == pytest.approx(paired)
    assert found[0].where == {"audit": "across", "suite": "deck", "label": "depression", "kind": "MFT"}


def test_what_was_not_tested_and_what_is_no_whole_corpus_stays_out() -> None:
    noise = [
        rate("a", "posts", "X3", "MFT", math.nan),
        rate("a", "posts", "X4", "INV", 0.0),
        accuracy("a", "posts", 0.1, label="anxiety"),
        Finding("accuracy", 0.1, 9, where={**accuracy("a", "posts", 0).where, "group": "gender"}),
        Finding("pass_rate", 0.1, 9, where={"model": "a", "corpus": "posts", "kind": "MFT"}),
    ]
    assert across_models(three() + noise) == across_models(three())


def test_a_pair_without_accuracy_is_counted_out() -> None:
    found = across_models([*three(), rate("d", "posts", "X1", "MFT", 0.5)])
    assert only(found, "pearson_r", "MFT").counts == {"pairs": 3, "left_out": 1}


def test_fewer_than_three_pairs_say_nothing() -> None:
    found = across_models([f for f in three() if f.where["model"] != "c"])
    assert len(found) == 4
    for finding in found:
        assert math.isnan(finding.value)
        assert finding.flags == ("too_few",)
        assert finding.n == 2


def test_equal_accuracies_have_no_correlation() -> None:
    level = [accuracy(model, "posts", 0.5) for model in "abc"]
    found = across_models([*level, *(f for f in three() if f.measure == "pass_rate")])
    assert only(found, "pearson_r", "MFT").flags == ("no_spread",)
    assert math.isnan(only(found, "pearson_r", "MFT").value)
    assert only(found, "t_p", "MFT", "unpaired").flags == ()


def test_suites_are_kept_apart() -> None:
    again = [
        rate(f.where["model"], "posts", f.where["check"], "MFT", 1 - f.value, suite="mine")
        for f in three()
        if f.measure == "pass_rate"
    ]
    found = across_models([*three(), *again])
    values = {f.where["suite"]: f.value for f in found if f.measure == "pearson_r"}
    assert values["mine"] == pytest.approx(-values["deck"])


def test_nothing_to_compare_is_no_finding() -> None:
    assert across_models([accuracy("a", "posts", 0.5)]) == ()
