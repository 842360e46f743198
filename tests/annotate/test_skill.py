"""The score of screening, inspection and hidden gold: what constant answers and guessing reach."""

import numpy as np
import pytest
from hypothesis import given as each
from hypothesis import strategies as st
from scipy.stats import fisher_exact
from sklearn.metrics import cohen_kappa_score

from psycheck.annotate.inspection import _outcome
from psycheck.annotate.project import Inspection, Screening
from psycheck.annotate.skill import LUCK, Skill, perfect_skill, skill_of

LABELS = ("depression", "anxiety")
_MARKS = st.lists(st.tuples(st.integers(0, 1), st.integers(0, 1)), min_size=2, max_size=30)
Marks = dict[str, int]


def pairs(rows: list[tuple[int, int]]) -> list[tuple[Marks, Marks]]:
    return [({"a": mark}, {"a": expected}) for mark, expected in rows]


@each(_MARKS)
def test_of_one_label_the_score_is_scikit_learns_kappa_and_the_luck_is_fishers_exact_test(
    rows: list[tuple[int, int]],
) -> None:
    marked, expected = np.array(rows).T
    skill = skill_of(pairs(rows))
    table = [[np.sum((marked == m) & (expected == e)) for e in (1, 0)] for m in (1, 0)]
    assert skill.luck == pytest.approx(fisher_exact(np.array(table), alternative="greater").pvalue)
    if len(set(marked) | set(expected)) > 1:
        assert skill.score == pytest.approx(max(0.0, 100 * cohen_kappa_score(marked, expected)))
    else:
        assert (skill.score, skill.luck) == (100.0, 1.0)


def test_two_labels_are_pooled_by_hand() -> None:
    # a: one of four differs, 2 expected (2 yes each side: 2·2/4 + 2·2/4). b: nothing differs, 1.5 expected
    # (1 yes of 4).
    given = [(1, 1), (1, 0), (0, 0), (1, 0)]
    right = [(1, 1), (1, 0), (0, 0), (0, 0)]
    rows = [
        (dict(zip("ab", g, strict=True)), dict(zip("ab", r, strict=True)))
        for g, r in zip(given, right, strict=True)
    ]
    # a: marked 3, expected 2 of 4: 3·2/4 + 1·2/4 = 2. b: 1·3/4 + 3·1/4 = 1.5.
    assert skill_of(rows).score == pytest.approx(100 * (1 - 1 / 3.5))
    # a: both hits of 3 marks among 2 expected of 4: C(2,2)C(2,1)/C(4,3) = 1/2; b: 1/4.
    assert skill_of(rows).luck == pytest.approx(1 / 8)


def test_constant_answers_score_0_on_every_label_that_has_both_classes() -> None:
    right = [{"a": k % 2, "b": int(k % 10 == 0)} for k in range(40)]
    for constant in ({"a": 1, "b": 1}, {"a": 0, "b": 0}, {"a": 1, "b": 0}):
        skill = skill_of((constant, marks) for marks in right)
        assert skill.score == pytest.approx(0.0)
        assert skill.luck == pytest.approx(1.0)


def test_what_a_test_can_show_at_best() -> None:
    assert perfect_skill([{"a": 1}, {"a": 0}, {"a": 0}]).luck == pytest.approx(1 / 3)
    assert perfect_skill([{"a": 1}] * 50) == Skill(100.0, 1.0)


def _annotators(kind: str, rng: np.random.Generator, n: int, share: float) -> np.ndarray:
    """The marks of an annotator without skill, (n, labels)."""
    if kind == "yes":
        return np.ones((n, 2), int)
    if kind == "no":
        return np.zeros((n, 2), int)
    # Who guesses may know how often each label is given.
    return (rng.random((n, 2)) < (0.5 if kind == "coin" else share)).astype(int)


def _as_marks(rows: np.ndarray) -> list[Marks]:
    return [dict(zip(LABELS, row, strict=True)) for row in rows.tolist()]


@pytest.mark.parametrize("kind", ["yes", "no", "coin", "share"])
@pytest.mark.parametrize("share", [0.5, 0.3])
def test_of_1000_annotators_without_skill_nobody_passes_the_screening_test(kind: str, share: float) -> None:
    rng = np.random.default_rng(0)
    settings = Screening()
    passed = 0
    for _ in range(1_000):
        right = _as_marks((rng.random((20, 2)) < share).astype(int))
        for _ in range(settings.tries):
            marks = _as_marks(_annotators(kind, rng, 20, share))
            skill = skill_of(zip(marks, right, strict=True))
            passed += skill.score >= settings.pass_mark and skill.is_shown
    assert passed == 0


def _inspect(marks: list[Marks], right: list[Marks]) -> tuple[str, int]:
    """The outcome of an inspection of a batch by the shipped rule, and how many texts it took."""
    settings = Inspection()
    step = int(np.ceil(settings.share * len(marks)))
    drawn = 0
    outcome = None
    while outcome is None:
        drawn = min(len(marks), drawn + step)
        skill = skill_of(zip(marks[:drawn], right[:drawn], strict=True))
        outcome = _outcome(skill, drawn, len(marks), settings)
    return outcome, drawn


@pytest.mark.parametrize("kind", ["yes", "no", "coin", "share"])
@pytest.mark.parametrize("share", [0.5, 0.2])
def test_of_1000_annotators_without_skill_no_batch_is_accepted(kind: str, share: float) -> None:
    rng = np.random.default_rng(1)
    accepted = 0
    for _ in range(1_000):
        right = _as_marks((rng.random((50, 2)) < share).astype(int))
        marks = _as_marks(_annotators(kind, rng, 50, share))
        accepted += _inspect(marks, right)[0] == "accepted"
    assert accepted == 0


def test_who_has_skill_passes() -> None:
    rng = np.random.default_rng(2)
    passed = accepted = texts = 0
    for _ in range(300):
        right = (rng.random((50, 2)) < 0.4).astype(int)
        errors = rng.random((50, 2)) < 0.05
        marks, reference = _as_marks(np.where(errors, 1 - right, right)), _as_marks(right)
        skill = skill_of(zip(marks[:20], reference[:20], strict=True))
        passed += skill.score >= Screening().pass_mark and skill.luck <= LUCK
        outcome, drawn = _inspect(marks, reference)
        accepted += outcome == "accepted"
        texts += drawn
    assert passed >= 0.97 * 300
    assert accepted >= 0.97 * 300
    assert texts / 300 < 15
