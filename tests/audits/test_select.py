from pathlib import Path

import numpy as np
import pytest

from psycheck.audits.sentence_choice import (
    Candidate,
    Selected,
    read_candidates,
    select_sentences,
    write_suite,
)
from psycheck.core.errors import BadInput
from refusals import refused

NAN = float("nan")


def select_one(expected: int, *scores: float) -> Selected:
    (one,) = select_sentences([Candidate("I lie awake", expected)], np.array([[score] for score in scores]))
    return one


def test_the_majority_and_the_median_decide() -> None:
    kept = select_one(1, 0.9, 0.6, 0.2)
    assert (kept.kept, kept.votes, kept.models) == (True, 2, 3)
    assert kept.median == pytest.approx(0.6)


def test_a_minority_is_not_enough() -> None:
    assert not select_one(1, 0.9, 0.4, 0.2).kept


def test_half_of_the_models_is_no_majority() -> None:
    assert not select_one(1, 0.9, 0.9, 0.1, 0.1).kept


def test_a_median_of_exactly_one_half_is_not_above_it() -> None:
    one = select_one(1, 0.5, 0.5, 0.5)
    assert (one.votes, one.median, one.kept) == (3, 0.5, False)


def test_absence_counts_confidence_in_the_negative_class() -> None:
    one = select_one(0, 0.1, 0.3, 0.5)
    assert (one.kept, one.votes) == (True, 2)
    assert one.median == pytest.approx(0.7)


def test_no_answer_does_not_agree() -> None:
    one = select_one(1, 0.9, NAN, NAN)
    assert (one.kept, one.votes, one.models) == (False, 1, 3)
    nothing = select_one(0, NAN)
    assert not nothing.kept
    assert np.isnan(nothing.median)


def test_scores_of_another_shape_are_refused() -> None:
    with refused("candidates.wrong-shape"):
        select_sentences([Candidate("I lie awake", 1)], np.zeros((2, 3)))
    with refused("candidates.wrong-shape"):
        select_sentences([Candidate("I lie awake", 1)], np.zeros((0, 1)))


def test_candidates_become_a_suite_that_reads_back(tmp_path: Path) -> None:
    table = tmp_path / "candidates.csv"
    table.write_text(
        "sentence,expected,check,title,symptom\n"
        "I lie awake,1,S1,adds: poor sleep,sleep\n"
        '"I wake at four, always",1,S1,adds: poor sleep,sleep\n'
        "I sleep well,0,S2,adds: good sleep,sleep\n"
        "I like tea,1,S3,adds: tea,\n",
        encoding="utf-8",
    )
    candidates = read_candidates(table)
    selected = select_sentences(candidates, np.array([[0.9, 0.8, 0.2, 0.1], [0.8, 0.9, 0.1, 0.2]]))
    assert [one.kept for one in selected] == [True, True, True, False]
    suite = write_suite(selected, tmp_path / "sleep.toml", by=0.2)
    assert suite.name == "sleep"
    first, second = suite.checks
    assert (first.id, first.title, first.expect.kind, first.expect.by) == (
        "S1",
        "adds: poor sleep",
        "not_down",
        0.2,
    )
    assert first.sentences == ("I lie awake", "I wake at four, always")
    assert dict(first.tags) == {"symptom": "sleep", "polarity": "presence"}
    assert (second.id, second.expect.kind, second.sentences) == ("S2", "not_up", ("I sleep well",))


def test_without_a_check_column_presence_and_absence_make_two_checks(tmp_path: Path) -> None:
    candidates = [Candidate("I lie awake", 1), Candidate("I sleep well", 0)]
    selected = select_sentences(candidates, np.array([[0.9, 0.1]]))
    suite = write_suite(selected, tmp_path / "sleep.toml")
    assert [check.id for check in suite.checks] == ["presence", "absence"]


def test_a_check_cannot_expect_both(tmp_path: Path) -> None:
    tags = {"check": "S1"}
    candidates = [Candidate("I lie awake", 1, tags), Candidate("I sleep well", 0, tags)]
    selected = select_sentences(candidates, np.array([[0.9, 0.1]]))
    with refused("candidates.mixed-check"):
        write_suite(selected, tmp_path / "sleep.toml")
    with refused("candidates.none-kept"):
        write_suite([], tmp_path / "sleep.toml")


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("sentence,expect\nI lie awake,1\n", "did you mean 'expect'"),
        ("sentence,expected\nI lie awake,yes\n", "row 2, column 'expected'"),
        ("sentence,expected\n ,1\n", "row 2, column 'sentence'"),
        ("sentence,expected\nI lie awake,1,3\n", "too many or too few"),
        ("sentence,expected\nI lie awake\n", "too many or too few"),
        ("sentence,expected\n", "no candidate"),
        ("", "no column 'sentence'"),
    ],
)
def test_a_bad_table_says_where(tmp_path: Path, text: str, said: str) -> None:
    table = tmp_path / "candidates.csv"
    table.write_text(text, encoding="utf-8")
    with pytest.raises(BadInput) as raised:
        read_candidates(table)
    assert said in str(raised.value)
    assert "awake" not in str(raised.value)
    with refused("candidates.cannot-read"):
        read_candidates(tmp_path / "none.csv")
