"""Which checks of a sample may be the weakest."""

import math
from collections.abc import Sequence
from dataclasses import replace

import numpy as np
import pytest
from scipy.stats import binomtest

from psycheck.audits.behaviour import Behaviour, Sampled
from psycheck.audits.suite import read_suite
from psycheck.audits.weakest import Standing, contenders, mark_weakest, standings
from psycheck.core.arrays import FloatArray, IntArray
from psycheck.core.audit import ScoreTraits
from psycheck.core.corpus import Corpus
from psycheck.core.finding import Finding

T7 = replace(read_suite("deck"), checks=tuple(c for c in read_suite("deck").checks if c.id == "T7"))
T3 = replace(T7, checks=tuple(c for c in read_suite("deck").checks if c.id == "T3"))


class Scored:
    """0.5 for a text, and less by 0.3 for an edited one where its number is in `failing`."""

    model, labels = "m", ("depression",)

    def __init__(self, failing: set[int], before: float = 0.5) -> None:
        self._failing, self._before = failing, before

    @property
    def traits(self) -> ScoreTraits:
        return ScoreTraits()

    def of(self, items: Sequence[str]) -> FloatArray:
        number = [int(text.split()[1]) for text in items]
        edited = [len(text.split()) > 4 or "They" in text for text in items]
        lost = [0.3 * (e and k in self._failing) for e, k in zip(edited, number, strict=True)]
        return self._before - np.array(lost)[:, None]

    def read(self, items: Sequence[str]) -> IntArray:
        return np.array([len(text) for text in items])


CORPUS = Corpus.of("c", [f"note {k} we walk" for k in range(100)], labels={"depression": [0.0] * 100})


def _standings(audit: Behaviour, corpus: Corpus, scores: Scored) -> list[Standing]:
    all_cases = audit.cases(corpus, scores)
    return [*standings(audit.suite, corpus, all_cases, others=audit.others, parts=audit.parts)]


def standing(asked: int, failing: set[int]) -> Standing:
    audit = Behaviour(T7, sampled=Sampled((asked,), (2,), asked))
    (found,) = _standings(audit, CORPUS, Scored(failing))
    return found


def losing(*texts: int, n: int = 100, upper_end: float | None = None, corpus: str = "c") -> Standing:
    """A check on the first n of 100 texts that loses these."""
    harm = np.isin(np.arange(n), texts) * 1.0
    errors = np.zeros(100, np.float32)
    errors[:n] = (harm - harm.mean()) / n
    lost = float(harm.mean())
    return Standing(
        upper_end=1 - lost if upper_end is None else upper_end,
        possible=True,
        lost=lost,
        n=n,
        corpus=corpus,
        errors=errors,
    )


def test_a_full_run_is_foreseen_from_the_sample() -> None:
    found = standing(50, set(range(10)))
    # 40 of 50 pass; of 100 cases 80 would.
    assert found.upper_end == pytest.approx(binomtest(80, 100).proportion_ci(0.95, method="exact").high)
    assert found.lost == pytest.approx(0.2)
    assert (found.n, found.corpus) == (50, "c")
    assert np.sum(found.errors**2) == pytest.approx(0.2 * 0.8 / 50)  # the variance of the share that is lost
    low, high = binomtest(40, 50).proportion_ci(0.975, method="exact")
    assert found.width == pytest.approx((high - low) / 2)


def test_the_upper_end_of_a_full_run_is_that_of_its_finding() -> None:
    author = [str(k // 4) for k in range(100)]
    corpus = Corpus.of("c", CORPUS.texts, labels={"depression": [0.0] * 100}, author=author)
    audit, scores = Behaviour(T7, others=3), Scored({*range(9), 40})
    (found,) = _standings(audit, corpus, scores)
    (rate,) = (f for f in audit.judge(corpus, scores).findings if f.measure == "pass_rate_among_checks")
    assert rate.interval
    assert found.upper_end == pytest.approx(rate.interval[1])


def test_a_check_without_a_failure_is_not_weak_but_may_become_so() -> None:
    found = standing(20, set())
    assert (found.upper_end, found.possible) == (math.inf, True)
    assert not standing(100, set()).possible


def test_a_check_without_cases_is_not_the_weakest() -> None:
    found = standing(0, set())
    assert math.isnan(found.width)
    assert (found.upper_end, found.possible, found.n) == (math.inf, False, 0)
    assert contenders([found, standing(20, set())]) == [1]  # which has no failure yet, either
    assert contenders([found, standing(20, {1})]) == [1]
    assert contenders([found]) == [0]


def test_rivals_are_compared_on_the_texts_that_they_share() -> None:
    """16 and 10 of 100 texts; each check might differ in one more text, which adds 2 to the number below."""
    first = losing(*range(16))
    # Other texts: 26 of 100 differ, 0.06 / √(0.26 − 0.06² + 0.02) · 10 = 1.1 standard errors.
    assert contenders([losing(*range(50, 60)), first]) == [1, 0]
    # The same ten: 6 of 100 differ, 0.06 / √(0.06 − 0.06² + 0.02) · 10 = 2.2.
    assert contenders([losing(*range(10)), first]) == [1]
    # In another corpus there is no pairing: 0.06 / √(0.16 · 0.84 + 0.1 · 0.9 + 0.02) · 10 = 1.2.
    assert contenders([losing(*range(10), corpus="d"), first]) == [1, 0]


def test_the_lowest_upper_end_comes_first_and_the_nearest_follow() -> None:
    few = losing(0, 1, 2, 3, n=10, upper_end=0.9)  # 40 % lost, but of ten texts
    every = [losing(99), losing(*range(20, 50)), few, losing(*range(55, 82))]
    assert contenders(every) == [1, 2, 3]
    assert contenders([]) == []


def test_the_edit_of_an_mft_check_may_still_turn_out_to_do_harm() -> None:
    # Not yet shown to do harm, it is not the weakest; but it may be.
    unclear = replace(losing(*range(40, 60)), upper_end=math.inf)
    assert contenders([unclear, losing(*range(10))]) == [1, 0]
    assert contenders([replace(unclear, possible=False), losing(*range(10))]) == [1]


def test_only_the_pass_rates_of_checks_are_marked() -> None:
    where = {"audit": "behaviour", "check": "a"}
    found = [
        Finding("accuracy", 0.5, 9),
        Finding("pass_rate", 0.9, 9, where=where),
        Finding("pass_rate", 0.1, 9, where={"audit": "mine"}),
        Finding("pass_rate", 0.5, 9, where=where, flags=("below_dir_mean",)),
        Finding("pass_rate", 0.52, 9, where=where),
    ]
    every = [losing(99), losing(*range(50)), losing(*range(50, 98))]
    assert [f.flags for f in mark_weakest(found, every)] == [
        (),
        (),
        (),
        ("below_dir_mean", "weakest"),
        ("maybe_weakest",),
    ]


@pytest.mark.parametrize(("flags", "not_asked", "marked"), [(("harmed",), 0, 1), ((), 0, None), ((), 9, 0)])
def test_an_mft_check_is_the_weakest_only_if_its_test_says_so(
    flags: tuple[str, ...], not_asked: int, marked: int | None
) -> None:
    """Without the test it may be as weak while cases are left to ask, and nothing once all were asked."""
    counts = {"passed_unedited": 100, "not_asked": not_asked}
    mft = Finding(
        "pass_rate", 0.6, 100, where={"audit": "behaviour", "check": "a"}, counts=counts, flags=flags
    )
    other = Finding("pass_rate", 0.65, 100, where={"audit": "behaviour", "check": "b"})
    first, second = mark_weakest([mft, other], [losing(*range(40)), losing(*range(60, 95))])
    assert ("weakest" in first.flags, "maybe_weakest" in first.flags) == (marked == 1, marked == 0)
    assert ("weakest" in second.flags) == (marked != 1)


def test_no_check_is_marked_where_none_does_harm() -> None:
    rate = Finding("pass_rate", 1.0, 100, where={"audit": "behaviour", "check": "a"})
    assert mark_weakest([rate], [Standing(possible=True, n=100)]) == [rate]


def test_two_equal_checks_are_told_apart_in_no_more_than_5_percent() -> None:
    """Either may be the lower one, so 1.8 standard errors are not enough: the test is two-sided."""
    first = losing(*range(50, 66))
    # The same eight and eight more: 0.08 / √(0.08 − 0.08² + 0.02) · 10 = 2.6 standard errors.
    assert contenders([losing(*range(50, 58)), first]) == [1]
    # 11 of the same: 0.05 / √(0.05 − 0.05² + 0.02) · 10 = 1.9, where t of 15 degrees of freedom allows 2.1.
    assert contenders([losing(*range(50, 61)), first]) == [1, 0]
