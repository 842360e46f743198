"""A small version of benchmarks/claims.py: nobody without a flaw is blamed, and nothing inert is praised."""

from collections import Counter

import pytest

import claims
from claims import FALSE, INERT, KINDS, LEAKED, NULL, SHORTCUT, Design, Kind, audited
from psycheck.report.headlines import praises

SEED = 80_000_000  # neither tuned on nor reported
SMALL = Design("120 texts", texts=120, checks=True)
FIRST = {
    "sound": "performance.better",
    "no skill": "checks.deaf",
    "constant": "performance.constant",
    "near-constant, 95.0%": "performance.both",
    "near-constant, 99.0%": "performance.both",
    "near-constant, 99.8%": "performance.both",
    "wrong threshold": "performance.threshold",
    "inverted": "performance.inverted",
    "length only": "performance.both",
    "leaked token": "caution.single_word",
    "one-word shortcut": "caution.single_word",
    "inert to edits": "checks.deaf",
    "ignores negation": "checks.fails",
    "follows “I”": "checks.fails",
    "follows “she”": "gender.flips",
    "10 points of recall lost for her": "gender.flips",
}


@pytest.fixture(scope="module", autouse=True)
def _fast() -> None:
    claims.share_texts_between_audits()


def test_the_verdict_begins_with_what_is_wrong() -> None:
    assert {kind: rule for kind, rule, _ in claims.first_lines(SEED)} == FIRST


@pytest.mark.parametrize("kind", FALSE, ids=[kind.name for kind in FALSE])
def test_a_model_is_not_blamed_or_praised_for_nothing(kind: Kind) -> None:
    """Of eight audits with fixed seeds none claims what is not so.

    Chance allows some: with 240 other seeds each, something false was said of 6 sound models (2.5 %), of 11
    without skill (4.6 %, by eleven rules together), of 6 moved by any edit, and of none of the other 720. At
    4.6 % at least one of eight has it in 1 - 0.954^8 = 31 % of all choices of seeds, at 2.5 % in 18 %.
    If a change of the statistics makes one fail here, measure its rate before anything else.
    """
    printed: Counter[str] = Counter()
    for number in range(8):
        rules = {claim.rule for claim in audited(kind, SMALL, SEED + 1_000 * number)}
        printed.update(rules & set(FALSE[kind]))
    assert printed == Counter()


@pytest.mark.parametrize("kind", [NULL, INERT, LEAKED, SHORTCUT], ids=lambda kind: kind.name)
def test_a_model_that_reads_a_mark_or_nothing_is_never_praised_for_its_checks(kind: Kind) -> None:
    for claim in audited(kind, Design("400 texts", texts=400, checks=True), SEED):
        is_on_gender = claim.rule.startswith("gender.")  # none of them reads a gender: that is so
        allowed = is_on_gender or (kind == INERT and claim.rule == "performance.better")
        assert allowed or not praises(claim.rule)


def test_every_kind_has_an_expected_first_line() -> None:
    assert {kind.name for kind in KINDS} == set(FIRST)
