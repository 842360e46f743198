"""A small version of benchmarks/claims.py: who has no flaw is not blamed, and nothing inert is praised."""

import json
from collections import Counter
from pathlib import Path

import pytest

import claims
import history_claims
import page_claims
from claim_rates import ALARMS, POWER, RATES, Share, add_counts, beyond, read_counts, write_rates
from claims import FALSE, rules_of
from planted_models import (
    INERT,
    KINDS,
    LEAKED,
    NULL,
    SHORTCUT,
    Design,
    Kind,
    share_texts_between_audits,
)
from psycheck.report.headlines import praises
from trials import Rates, rates_of

SEED = 82_000_000  # neither tuned on nor reported
PAGES = [*page_claims.trials(), *history_claims.trials()]
SMALL = Design("120 texts", texts=120, checks=True)
# Where two rules name the flaw, the one whose share of failures is more certain comes first.
FIRST = {
    "sound": {"performance.better"},
    "no skill": {"performance.hardly_better"},
    "constant": {"performance.constant"},
    "near-constant, 95.0%": {"performance.both"},
    "near-constant, 99.0%": {"performance.both"},
    "near-constant, 99.8%": {"performance.both"},
    "wrong threshold": {"performance.threshold"},
    "inverted": {"performance.inverted"},
    "length only": {"performance.both"},
    "leaked token": {"caution.single_word"},
    "one-word shortcut": {"caution.single_word"},
    "inert to edits": {"checks.deaf"},
    "ignores negation": {"checks.fails"},
    "follows “I”": {"checks.fails"},
    "follows “she”": {"gender.flips", "checks.fails"},
    "10 points of recall lost for her": {"gender.flips", "groups.gap"},
}


@pytest.fixture(scope="module", autouse=True)
def _fast() -> None:
    share_texts_between_audits()


def test_the_verdict_begins_with_what_is_wrong() -> None:
    wrong = {kind: rule for kind, rule, _ in claims.first_lines(SEED) if rule not in FIRST[kind]}
    assert wrong == {}


@pytest.mark.parametrize("kind", FALSE, ids=[kind.name for kind in FALSE])
def test_a_model_is_rarely_blamed_or_praised_for_nothing(kind: Kind) -> None:
    """Of 16 audits with fixed seeds at most two claim anything that is not so.

    With 240 other seeds each, something false was said of 3 sound models (1.3 %), of 12 without skill (5.0 %,
    by eleven rules together), of 9 moved by any edit. At 5 % three or more of 16 have it in 4 % of all
    choices of seeds; at 40 %, as before these rules, in 98 %.
    """
    false_claims = []
    for number in range(16):
        rules = rules_of(kind, SMALL, SEED + 1_000 * number)
        false_claims += [rules & set(FALSE[kind])]
    assert sum(map(bool, false_claims)) <= 2, Counter(rule for rules in false_claims for rule in rules)


@pytest.mark.parametrize("kind", [NULL, INERT, LEAKED, SHORTCUT], ids=lambda kind: kind.name)
def test_a_model_that_reads_a_mark_or_nothing_is_never_praised_for_its_checks(kind: Kind) -> None:
    for rule in rules_of(kind, Design("400 texts", texts=400, checks=True), SEED):
        is_on_gender = rule.startswith("gender.")  # none of them reads a gender: that is so
        allowed = is_on_gender or (kind == INERT and rule == "performance.better")
        assert allowed or not praises(rule)


def test_every_kind_has_an_expected_first_line() -> None:
    assert {kind.name for kind in KINDS} == set(FIRST)


def test_counts_of_several_runs_make_the_rates_of_the_worst_setting_and_of_each_power(tmp_path: Path) -> None:
    counts, rates = tmp_path / "counts.json", tmp_path / "rates.json"
    add_counts(ALARMS, {"groups.gap": {"a": Share(1, 100), "b": Share(9, 100)}}, counts)
    # A later run measured "b" anew, on more seeds.
    add_counts(ALARMS, {"groups.gap": {"b": Share(0, 200)}}, counts)
    add_counts(POWER, {"groups.gap": {"inverted, 200 texts": Share(10, 10)}}, counts)
    write_rates(read_counts(ALARMS, counts), read_counts(POWER, counts), rates)
    assert json.loads(rates.read_text("utf-8")) == {
        "groups.gap": {
            "false_alarms": "1.0 % (0.0–5.4), n 100, in the worst of 2 settings",
            "power": "inverted, 200 texts: 100.0 % (69.2–100.0), n 10",
        }
    }


def test_the_shipped_rates_are_those_of_the_shipped_counts(tmp_path: Path) -> None:
    made = tmp_path / "rates.json"
    write_rates(read_counts(ALARMS), read_counts(POWER), made)
    assert made.read_text("utf-8") == RATES.read_text("utf-8")


def test_pages_claim_nothing_of_equals() -> None:
    """Two draws of each setting: one of some 70 settings may well have an alarm, hardly one in both."""
    nulls = [trial for trial in PAGES if not trial.is_flaw]
    alarms = [rates_of(trial, 2, SEED) for trial in nulls]
    assert {rule.partition(".")[0] for rates in alarms for rule in rates} == {
        "diff",
        "improve",
        "histories",
        "caution",
    }
    assert not [rates for rates in alarms if any(share.count == 2 for share in shares_of(rates))]


def test_pages_name_what_is_planted() -> None:
    flaws = [trial for trial in PAGES if trial.is_flaw and "2,000" not in trial.setting]
    missed = []
    for trial in flaws:
        if not all(share.count for share in shares_of(rates_of(trial, 1, SEED))):
            missed.append(trial.setting)
    # A second model that is noisier by 0.6 is found among 300 texts in about nine draws of ten.
    assert len(missed) <= 2, missed


def shares_of(rates: Rates) -> list[Share]:
    return [share for by_setting in rates.values() for share in by_setting.values()]


def test_a_rate_beyond_what_is_promised_is_named() -> None:
    # 20 of 400 is 5 %, its exact upper bound 7.6 %; of 30 audits none leaves 11.6 % open.
    alarms = {"a.rule": {"kept": Share(20, 400), "too few": Share(0, 30), "too often": Share(21, 400)}}
    assert [line.split(",")[1].split(":")[0].strip() for line in beyond(alarms)] == ["too few", "too often"]
