"""Pass rates before and after on the same texts, and the tables that show them, worked out by hand."""

import csv
import io

import pytest

from found import one
from psycheck.core.finding import Finding
from psycheck.report.studies.improve_tables import improve_csv, improve_table
from psycheck.statistics.clustered import Clusters
from psycheck.training.check_changes import PLAIN, RATE, Passed, Texts, rate_changes

UNITS = {f"t{i}": i for i in range(20)}
TEXTS = Texts(UNITS, Clusters.single(20))
SYMPTOM = {"audit": "improve", "corpus": "own dev", "suite": "s", "symptom": "mood", "polarity": "absence"}


def tried(said: dict[tuple[str, str, str], str]) -> tuple[list[Finding], Passed]:
    """Rates and outcomes from (arm, seed, check) → one letter a text: + passed, - failed, . not judged."""
    rates, passed = [], {}
    for (arm, seed, check), letters in said.items():
        where = {**SYMPTOM, "arm": arm, "seed": seed, "check": check}
        judged = {f"t{i}": letter == "+" for i, letter in enumerate(letters) if letter != "."}
        counts = {"passed": sum(judged.values()), "failed": len(judged) - sum(judged.values())}
        n = len(judged)
        rates.append(
            Finding(RATE, counts["passed"] / n if n else float("nan"), n, where=where, counts=counts)
        )
        passed[arm, seed, "s", check] = judged
    return rates, passed


def test_the_same_texts_before_and_after_are_pairs() -> None:
    same = "+" * 8 + "-" * 12
    rates, passed = tried({(PLAIN, "0", "A"): same, ("augmented", "0", "A"): same})
    change = one(rate_changes(rates, passed, TEXTS), "pass_rate_change", by="check")
    assert (change.value, change.n) == (0.0, 20)
    # Newcombe's method 10: Wilson of 8 of 20 is .2188 to .6134, phi = (8·12 − 10) / 96 = .8958, so both ends
    # are √(.1812² − 2 · .8958 · .1812 · .2134 + .2134²) = .0952 away. As independent samples: .2799.
    assert change.interval == pytest.approx((-0.0952, 0.0952), abs=2e-4)


def test_seeds_are_pooled_and_a_text_does_not_count_as_several() -> None:
    before, after = "+" * 8 + "-" * 12, "+" * 13 + "-" * 7
    once = tried({(PLAIN, "0", "A"): before, ("augmented", "0", "A"): after})
    again = {
        (arm, seed, "A"): said for seed in "012" for arm, said in ((PLAIN, before), ("augmented", after))
    }
    alone = one(rate_changes(*once, TEXTS), "pass_rate_change", by="check")
    pooled = one(rate_changes(*tried(again), TEXTS), "pass_rate_change", by="check")
    assert dict(pooled.counts) == {
        "passed_before": 24,
        "n_before": 60,
        "passed_after": 39,
        "n_after": 60,
        "texts": 20,
        "units": 20,
    }
    assert pooled.value == pytest.approx(0.25)
    # Three seeds that say the same of the same 20 texts know no more of other texts than one.
    assert alone.interval is not None
    assert pooled.interval is not None
    assert pooled.interval[1] - pooled.interval[0] >= alone.interval[1] - alone.interval[0]
    pairs = {text: k // 2 for text, k in UNITS.items()}
    by_author = Texts(UNITS, Clusters.of(list(pairs.values())))
    authors = one(rate_changes(*once, by_author), "pass_rate_change", by="check")
    assert authors.interval is None  # 10 authors are too few


def test_checks_of_a_symptom_weigh_by_their_cases() -> None:
    rates, passed = tried(
        {
            (PLAIN, "0", "A"): "++--",
            (PLAIN, "0", "B"): "--",
            ("augmented", "0", "A"): "+++-",
            ("augmented", "0", "B"): "++",
        }
    )
    change = one(rate_changes(rates, passed, TEXTS), "pass_rate_change", by="symptom")
    assert change.value == pytest.approx((1 + 2) / 6)
    assert change.interval is None  # cases of four texts


def test_a_text_that_one_side_did_not_judge_is_no_pair() -> None:
    rates, passed = tried({(PLAIN, "0", "A"): "+-+.", ("augmented", "0", "A"): "++.+"})
    change = one(rate_changes(rates, passed, TEXTS), "pass_rate_change", by="check")
    assert (change.n, change.value, change.counts["n_before"]) == (2, 0.5, 2)
    rates, passed = tried({(PLAIN, "0", "A"): "+.", ("augmented", "0", "A"): ".+"})
    assert rate_changes(rates, passed, TEXTS) == []


def performance(arm: str, seed: str, threshold: float) -> list[Finding]:
    where = {"trained_on": "own", "corpus": "own", "arm": arm, "seed": seed}
    out: list[Finding] = []
    for decision in ("0.5", "dev"):
        out += [
            Finding(m, 0.7, 9, interval=(0.6, 0.8), where={**where, "decision": decision})
            for m in ("f1", "macro_f1")
        ]
    out.append(Finding("auc", 0.8, 9, interval=(0.7, 0.9), where={**where, "decision": "ranking"}))
    return [*out, Finding("threshold", threshold, 9, where={**where, "decision": "dev"})]


def test_each_row_says_its_threshold() -> None:
    findings = performance("plain", "0", 0.437)
    rows = list(csv.DictReader(io.StringIO(improve_csv(findings))))
    assert [(row["decision"], row["threshold"]) for row in rows] == [
        ("0.5", "0.500"),
        ("dev", "0.437"),
        ("ranking", ""),
    ]
    assert "| own | own | plain | dev | 0.437 |" in improve_table(findings)


def test_the_thresholds_of_several_seeds_are_meaned() -> None:
    findings = [*performance("plain", "0", 0.4), *performance("plain", "1", 0.6)]
    rows = list(csv.DictReader(io.StringIO(improve_csv(findings))))
    assert rows[1]["threshold"] == "0.500 (sd 0.141)"  # √(0.1² + 0.1²)
