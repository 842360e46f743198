import numpy as np
import pytest
from scipy import stats

from psycheck.audits.summary import across_corpora, by_groups, mark_below_mean
from psycheck.core.finding import Finding
from psycheck.statistics.clustered import Clusters
from psycheck.statistics.intervals import wilson

ALONE = Clusters.single
WHERE = {
    "audit": "behaviour",
    "model": "m",
    "corpus": "c",
    "suite": "s",
    "label": "depression",
    "kind": "DIR",
}


def _rate(check: str, passed: int, n: int, **tags: str) -> Finding:
    return Finding("pass_rate", passed / n if n else np.nan, n, where={**WHERE, "check": check, **tags})


def test_checks_below_the_mean_of_the_dir_checks_are_flagged() -> None:
    rates = [_rate("A", 9, 10), _rate("B", 5, 10), _rate("C", 8, 10), _rate("D", 0, 0)]
    rates.append(Finding("pass_rate", 0.1, 10, where={**WHERE, "kind": "INV", "check": "E"}))
    # The mean of .9, .5 and .8 is .733; the INV check and the untested one do not count.
    assert [rate.where["check"] for rate in mark_below_mean(rates) if "below_dir_mean" in rate.flags] == ["B"]


def test_mean_and_sd_by_category_are_those_of_the_checks() -> None:
    rates = [
        _rate("A", 3, 4, category="COG"),
        _rate("B", 1, 4, category="COG"),
        _rate("C", 4, 4, category="SUI"),
    ]
    outcomes = np.array([[0, 0, 0, 1], [0, 1, 1, 1], [0, 0, 0, 0]], np.int8)
    found = {
        (f.measure, f.where.get("category")): f
        for f in by_groups(rates, outcomes, ALONE(outcomes.shape[1]))
        if f.where["by"] == "category"
    }
    assert found["pass_rate_mean", "COG"].value == 0.5
    assert found["pass_rate_sd", "COG"].value == pytest.approx(np.std([0.75, 0.25], ddof=1))
    assert found["pass_rate_mean", "SUI"].value == 1.0
    assert found["pass_rate_mean", "COG"].n == 8


def test_the_interval_of_a_mean_agrees_with_the_bootstrap_over_texts() -> None:
    random = np.random.default_rng(5)
    texts, checks = 400, 6
    ability = random.random(texts)
    outcomes = (random.random((checks, texts)) > ability[None, :]).astype(np.int8)  # 0 passed, 1 failed
    passed = outcomes == 0
    rates = [_rate(str(c), int(passed[c].sum()), texts, category="COG") for c in range(checks)]
    found = next(
        f
        for f in by_groups(rates, outcomes, ALONE(outcomes.shape[1]))
        if f.measure == "pass_rate_mean" and f.where["by"] == "category"
    )
    drawn = random.integers(0, texts, (4000, texts))
    means = passed.mean(axis=0)[drawn].mean(axis=1)
    low, high = np.quantile(means, [0.025, 0.975])
    assert found.interval is not None
    assert found.interval == pytest.approx((low, high), abs=0.006)


def test_a_mean_of_one_still_has_an_interval() -> None:
    outcomes = np.zeros((2, 50), np.int8)
    rates = [_rate("A", 50, 50, category="COG"), _rate("B", 50, 50, category="COG")]
    found = by_groups(rates, outcomes, ALONE(outcomes.shape[1]))[0]
    assert found.interval is not None
    # Wilson's lower end for 50 of 50 with Student's quantile of 49 degrees of freedom: 50 / (50 + t²).
    assert found.interval == pytest.approx((50 / (50 + 2.009575237**2), 1.0), abs=1e-6)


def test_the_mean_of_samples_takes_the_level_of_the_smallest() -> None:
    # Sizes 1 and 3 of a growing sample divide 5 % by 2 and by 12; with 50 of 50, n / (n + t²) at 2.5 %.
    outcomes = np.zeros((2, 50), np.int8)
    rates = [_rate("A", 50, 50, category="COG"), _rate("B", 50, 50, category="COG")]
    found = by_groups(rates, outcomes, ALONE(outcomes.shape[1]), parts=[12, 2])[0]
    assert found.interval == pytest.approx((50 / (50 + stats.t.ppf(1 - 0.0125, 49) ** 2), 1.0), abs=1e-6)


def test_texts_of_one_author_widen_the_interval_of_a_mean() -> None:
    # 20 authors of 10 texts that pass all or none: as uncertain as 20 texts, not as 200.
    line = np.repeat(np.array([0] * 12 + [1] * 8, np.int8), 10)
    rates = [_rate("A", 120, 200, category="COG"), _rate("B", 120, 200, category="COG")]
    authors = Clusters.of(np.repeat(np.arange(20), 10))
    by_author, by_text = (
        by_groups(rates, np.stack([line, line]), clusters)[0] for clusters in (authors, Clusters.single(200))
    )
    assert by_author.interval == pytest.approx(wilson(12, 20), abs=0.04)
    assert by_text.interval == pytest.approx(wilson(120, 200), abs=0.01)
    assert by_author.counts == {"checks": 2, "units": 20}


def test_across_corpora_pools_checks_of_all_corpora_as_table_5_does() -> None:
    findings = []
    for corpus, rates in (("x", (0.5, 0.7)), ("y", (0.9, 0.9))):
        mine = [
            Finding("pass_rate", r, 10, where={**WHERE, "corpus": corpus, "check": str(k), "category": "COG"})
            for k, r in enumerate(rates)
        ]
        outcomes = np.array([[0] * round(10 * r) + [1] * round(10 - 10 * r) for r in rates], np.int8)
        findings += [*mine, *by_groups(mine, outcomes, Clusters.single(10))]
    found = {f.measure: f for f in across_corpora(findings) if f.where["by"] == "category"}
    assert found["pass_rate_mean"].value == pytest.approx(0.75)
    assert found["pass_rate_sd"].value == pytest.approx(np.std([0.5, 0.7, 0.9, 0.9], ddof=1))
    assert found["pass_rate_mean"].counts == {"checks": 4, "corpora": 2}


def test_one_corpus_has_nothing_to_pool() -> None:
    assert across_corpora([_rate("A", 3, 4, category="COG")]) == []


@pytest.mark.parametrize("passed", [(3, 3), (4, 0), (3, 1)])
def test_a_deviation_has_no_interval(passed: tuple[int, int]) -> None:
    # The delta method covers 57 % where all checks are equally hard (docs/benchmarks/validity.md).
    rates = [_rate("A", passed[0], 4, category="COG"), _rate("B", passed[1], 4, category="COG")]
    outcomes = np.array([[0] * k + [1] * (4 - k) for k in passed], np.int8)
    (sd,) = (
        f
        for f in by_groups(rates, outcomes, ALONE(outcomes.shape[1]))
        if f.measure == "pass_rate_sd" and "category" in f.where
    )
    assert sd.value == pytest.approx(np.std([k / 4 for k in passed], ddof=1))
    assert sd.interval is None
