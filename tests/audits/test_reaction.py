"""What a model does with an added sentence beyond what it does with a neutral one."""

import math
from pathlib import Path

import numpy as np
import pytest

from planted import Direct, Planted
from psycheck.audits.behaviour import Behaviour
from psycheck.audits.reaction import Ranks, placebos_of, with_placebos
from psycheck.audits.suite import read_suite
from psycheck.core.corpus import Corpus
from psycheck.core.finding import Finding

SUITE = """
label = "depression"
[[check]]
id = "up"
kind = "DIR"
edit = { append = ["I feel hopeless about it"] }
expect = { not_down = 0.1 }
[[check]]
id = "down"
kind = "DIR"
edit = { append = ["I look forward to it"] }
expect = { not_up = 0.1 }
[[check]]
id = "steady"
kind = "DIR"
edit = { append = ["I worry about it"] }
expect = { steady = 0.1 }
"""
# Texts 0 to 99 score 0.00 to 0.99: ranks and scores are the same but for half a text.
CORPUS = Corpus.of("notes", [f"{k} notes" for k in range(100)])


def reactions(path: Path, by_word: dict[str, float]) -> dict[str, Finding]:
    """The reactions of a model that adds a number to the score of a text for a word in it."""

    def score(text: str) -> float:
        moved = sum(change for word, change in by_word.items() if word in text)
        return min(max(int(text.split()[0]) / 100 + moved, 0.0), 1.0)

    file = path / "suite.toml"
    file.write_text(SUITE, "utf-8")
    findings = Behaviour(read_suite(file)).judge(CORPUS, Direct(Planted("m", score))).findings
    return {f.where["check"]: f for f in findings if f.measure == "reaction"}


def test_every_text_with_room_that_rises_beyond_its_placebo_counts(tmp_path: Path) -> None:
    found = reactions(tmp_path, {"hopeless": 0.2})
    # A text of rank 0.955 or above cannot rise by 0.05: 95 have room (0.005 to 0.945).
    assert found["up"].n == 95
    assert found["up"].value == 1.0
    assert found["up"].where["expected"] == "up"
    assert (found["down"].value, found["down"].n) == (0.0, 95)


def test_a_check_that_expects_no_move_has_no_reaction(tmp_path: Path) -> None:
    assert set(reactions(tmp_path, {})) == {"up", "down"}


def test_what_any_sentence_does_is_no_reaction(tmp_path: Path) -> None:
    found = reactions(tmp_path, {"notes ": 0.3})
    assert [found[check].value for check in ("up", "down")] == [0.0, 0.0]


def test_the_wrong_way_counts_against_the_right_one(tmp_path: Path) -> None:
    found = reactions(tmp_path, {"look forward": 0.3})
    # Denial should lower the score. Texts of rank 0.05 and above could fall; all that can rise by 0.05 rise.
    assert found["down"].value == pytest.approx(-90 / 95)
    # 0.20 to 0.49 are decided 0 with the neutral sentence, and 1 with this one.
    assert found["down"].counts["turned_wrong"] == 30


def test_a_step_is_five_hundredths_of_the_texts(tmp_path: Path) -> None:
    assert reactions(tmp_path, {"hopeless": 0.04})["up"].value == 0.0
    assert reactions(tmp_path, {"hopeless": 0.06})["up"].value == 1.0


def test_the_interval_allows_for_all_checks(tmp_path: Path) -> None:
    found = reactions(tmp_path, {"hopeless": 0.2})["up"]
    assert found.interval is not None
    low, high = found.interval
    # Of 95 texts all react: each end is that of Clopper-Pearson at 0.05 / 2 (two tested checks), and both
    # the share that rises and the share that falls are uncertain.
    assert low == pytest.approx(1 - np.sqrt(2) * (1 - (0.05 / 6) ** (1 / 95)), abs=0.001)
    assert high == 1.0


def test_ranks_are_shares_of_unedited_texts_with_ties_as_a_half() -> None:
    ranks = Ranks.of(np.array([0.1, 0.2, 0.2, np.nan, 0.9]))
    assert ranks.at(np.array([0.1, 0.2, 0.5, 1.0])).tolist() == [0.125, 0.5, 0.75, 1.0]
    assert math.isnan(ranks.at(np.array([np.nan]))[0])


def test_a_placebo_has_about_as_many_words() -> None:
    for sentence in (
        "I cannot sleep",
        "I feel tired all the time",
        "I am full of energy and joy on most days",
    ):
        for neutral in placebos_of(sentence):
            assert abs(len(neutral.split()) - len(sentence.split())) <= 1
    drawn = with_placebos(["a", "ab", "abc"], "I cannot sleep now")
    assert len({text.split(" ", 1)[1] for text in drawn}) == 3
