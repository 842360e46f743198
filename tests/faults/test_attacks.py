"""The attacks with fixed seeds: a short run of each, and a long one under the marker `slow`."""

import random
import re
from collections.abc import Callable

import pytest

from faults import flip_store, fuzz_inputs, growth, kill, mutate_runs, plant
from faults.attack import Count, Ended, leaked, problem

Attack = Callable[[random.Random, int], Count]
ATTACKS: dict[str, tuple[Attack, int, int]] = {
    "mutated runs": (mutate_runs.attack, 60, 1000),
    "damaged inputs": (fuzz_inputs.attack, 60, 3000),
    "planted sentences": (plant.attack, 60, 2500),
    "flipped bits of the store": (flip_store.attack, 20, 300),
    "growth of time": (growth.attack, 300, 100_000),
}


@pytest.mark.parametrize("name", ATTACKS)
def test_a_short_run_is_withstood(name: str) -> None:
    attack, tries, _ = ATTACKS[name]
    assert attack(random.Random(1), tries).failures == []


@pytest.mark.slow
@pytest.mark.parametrize("name", ATTACKS)
def test_a_long_run_is_withstood(name: str) -> None:
    attack, _, tries = ATTACKS[name]
    assert attack(random.Random(2), tries).failures == []


def test_audit_and_score_survive_being_killed() -> None:
    assert kill.attack(random.Random(1), 2, ("audit", "score")).failures == []


@pytest.mark.slow
def test_every_verb_survives_being_killed() -> None:
    assert kill.attack(random.Random(2), 25).failures == []


def test_the_attacks_notice_what_they_look_for() -> None:
    assert problem(Ended(1, "", "error")) == "exit 1: ['error']"
    assert problem(Ended(0, "", "Traceback (most recent call last)")) == "traceback"
    assert leaked("… how ZEBULONIA …") == "zebulonia"
    # Each bracket begins a search up to the end of the row: 16 times the work for 4 times the text.
    assert growth.slow(re.compile(r"\(+:").findall, "(") != ""
    assert growth.slow(re.compile(r"\(").findall, "(") == ""
