"""Which checks of a sample may be the weakest."""

import math
from collections.abc import Sequence
from dataclasses import replace

import numpy as np
import pytest
from scipy.stats import binomtest

from psycheck.audits.behaviour import Behaviour, Sampled
from psycheck.audits.standing import Standing, contenders, mark_weakest, standings
from psycheck.audits.suite import read_suite
from psycheck.corpus import Corpus
from psycheck.finding import Finding
from psycheck.model import FloatArray, IntArray

T7 = replace(read_suite("deck"), checks=tuple(c for c in read_suite("deck").checks if c.id == "T7"))
T3 = replace(T7, checks=tuple(c for c in read_suite("deck").checks if c.id == "T3"))


class Scored:
    """0.5 for a text, and less by 0.3 for an edited one where its number is in `failing`."""

    model, labels = "m", ("depression",)

    def __init__(self, failing: set[int], before: float = 0.5) -> None:
        self._failing, self._before = failing, before

    def of(self, texts: Sequence[str]) -> FloatArray:
        number = [int(text.split()[1]) for text in texts]
        edited = [len(text.split()) > 4 or "They" in text for text in texts]
        lost = [0.3 * (e and k in self._failing) for e, k in zip(edited, number, strict=True)]
        return self._before - np.array(lost)[:, None]

    def read(self, texts: Sequence[str]) -> IntArray:
        return np.array([len(text) for text in texts])


CORPUS = Corpus.of("c", [f"note {k} we walk" for k in range(100)], labels={"depression": [0.0] * 100})


def standing(asked: int, failing: set[int]) -> Standing:
    audit = Behaviour(T7, sampled=Sampled((asked,), (2,), asked))
    (found,) = standings(audit, CORPUS, Scored(failing))
    return found


def test_a_full_run_is_foreseen_from_the_sample_and_its_error_has_the_finite_population_correction() -> None:
    found = standing(50, set(range(10)))
    # 40 of 50 pass; of 100 cases 80 would.
    assert found.kept == pytest.approx(binomtest(80, 100).proportion_ci(0.95, method="exact").high)
    spread = (10 * 0.8**2 + 40 * 0.2**2 + 1) / 51
    assert found.error == pytest.approx(math.sqrt(spread / 50 * (1 - 50 / 100)))
    low, high = binomtest(40, 50).proportion_ci(0.975, method="exact")
    assert found.width == pytest.approx((high - low) / 2)


def test_nothing_is_uncertain_once_all_cases_were_asked() -> None:
    assert standing(100, {3, 4}).error == 0


def test_a_check_without_a_failure_is_not_weak_but_may_become_so() -> None:
    found = standing(20, set())
    assert found.kept == 1
    assert 0.02 < found.error < 0.05


def test_a_check_without_cases_may_be_anything() -> None:
    found = standing(0, set())
    assert math.isnan(found.width)
    assert replace(found, width=0) == Standing(kept=1, at_worst=1, error=1, width=0)


def test_the_lowest_comes_first_and_those_within_two_standard_errors_follow_by_nearness() -> None:
    every = [Standing(0.9, 0.9, 0.03), Standing(0.5, 0.5, 0.04), Standing(0.58, 0.58, 0.03)]
    # 0.08 is 1.6 times √(0.04² + 0.03²); 0.55 is nearer, and 0.62 further than twice.
    assert contenders(every) == [1, 2]
    assert contenders([*every, Standing(0.55, 0.55, 0.03), Standing(0.62, 0.62, 0.03)]) == [1, 3, 2]
    assert contenders([]) == []


def test_a_check_whose_cases_were_all_asked_has_a_rival_only_in_an_equal() -> None:
    assert contenders([Standing(0.5, 0.5, 0.0), Standing(0.5, 0.5, 0.0), Standing(0.51, 0.51, 0.0)]) == [0, 1]


def test_the_edit_of_an_mft_check_may_still_turn_out_to_do_harm() -> None:
    # Not yet shown to do harm, it is not the weakest; but if it does, it is.
    assert contenders([Standing(0.9, 0.9, 0.02), Standing(1.0, 0.85, 0.06)]) == [0, 1]


def test_only_the_pass_rates_of_checks_are_marked() -> None:
    where = {"audit": "behaviour", "check": "a"}
    found = [
        Finding("accuracy", 0.5, 9),
        Finding("pass_rate", 0.9, 9, where=where),
        Finding("pass_rate", 0.1, 9, where={"audit": "mine"}),
        Finding("pass_rate", 0.5, 9, where=where, flags=("below_dir_mean",)),
        Finding("pass_rate", 0.52, 9, where=where),
    ]
    every = [Standing(value, value, 0.05) for value in (0.9, 0.5, 0.52)]
    assert [f.flags for f in mark_weakest(found, every)] == [
        (),
        (),
        (),
        ("below_dir_mean", "weakest"),
        ("maybe_weakest",),
    ]
