"""The sentences of the verdict on gender and groups: how many, who, worst first, and nothing claimed."""

import math
from collections.abc import Callable, Sequence
from dataclasses import replace

import numpy as np
import pytest

from planted import Planted, flips_on_she, oracle
from psycheck.audits.fairness import Fairness
from psycheck.core.arrays import FloatArray, IntArray
from psycheck.core.audit import ScoreTraits
from psycheck.core.corpus import Corpus
from psycheck.core.finding import Finding, Findings
from psycheck.core.run import Run
from psycheck.report.audit_page import render
from psycheck.report.verdict import headlines, learned

CHANGED = "The decision changes in"
SWAPPED = "when he and she, nouns (woman, father) and titles (Ms, Mr) are swapped"


class Scores:
    """What a planted model says, as the store would give it."""

    model, labels = "planted", ("depression",)

    def __init__(self, score: Callable[[str], float]) -> None:
        self.inner = Planted("planted", score)

    @property
    def traits(self) -> ScoreTraits:
        return ScoreTraits()

    def of(self, texts: Sequence[str]) -> FloatArray:
        return self.inner.score(texts)

    def read(self, texts: Sequence[str]) -> IntArray:
        return np.array([len(text) for text in texts], np.int64)


def _verdict(run: Run) -> str:
    return " ".join(headlines(run))


def notes() -> Corpus:
    """Forty texts, every second of her; 20 say hopeless and are annotated 1."""
    texts = [
        f"{'She' if i % 2 else 'He'} {'is hopeless' if i % 4 < 2 else 'went home'} {i}." for i in range(40)
    ]
    return Corpus.of("notes", texts, labels={"depression": [float(i % 4 < 2) for i in range(40)]})


def judged(score: Callable[[str], float], corpus: Corpus | None = None) -> tuple[Finding, ...]:
    return Fairness().judge(corpus or notes(), Scores(score)).findings


def run_of(*findings: Finding) -> Run:
    return Run({"models": [], "corpora": [], "threshold": 0.5}, {}, Findings(findings))


def needs_she(text: str) -> float:
    return 0.9 if text.startswith("She") or text.endswith("1.") else 0.1


def of_groups(
    group: str,
    versus: str,
    value: float,
    ends: tuple[float, float],
    measure: str = "equal_opportunity_difference",
    column: str = "ward",
) -> tuple[Finding, ...]:
    """A gap that is significant, with the rate of each side."""
    place = {"audit": "fairness", "model": "m", "corpus": "c", "label": "low", "unit": "groups"}
    place |= {"column": column}
    where = {**place, "group": group, "versus": versus}
    behind = "fnr" if measure.startswith("equal") else "positive_rate"
    return (
        Finding(behind, 0.4, 100, (0.309, 0.498), {**place, "group": group}),
        Finding(behind, 0.1, 90, (0.055, 0.174), {**place, "group": versus}),
        Finding(measure, value, 190, ends, where),
        Finding(f"{measure}_p_holm", 0.001, 190, None, where, flags=("significant",)),
    )


def check(passed: float, interval: tuple[float, float]) -> Finding:
    place = {"audit": "behaviour", "model": "planted", "corpus": "notes", "check": "T6", "title": "a title"}
    return Finding("pass_rate", passed, 77, interval, place)


def test_where_fairness_alone_was_run_the_headline_is_its_sentence() -> None:
    # All 40 female wordings are positive; of the male ones those of days 1, 11, 21 and 31: 36 flips.
    # Annotated 1 are 20, of which days 1 and 21 are found in the male wording: 18 are missed.
    assert _verdict(run_of(*judged(needs_she))) == (
        f"{CHANGED} 90 % (77–96) of 40 texts {SWAPPED}; the male wording is missed more often: "
        "90 % (70–98) against 0 % (0–16) of 20 texts annotated 1."
    )


def test_more_positive_decisions_are_said_where_nobody_is_missed_more() -> None:
    assert _verdict(run_of(*judged(flips_on_she))) == (
        f"{CHANGED} 50 % (35–65) of 40 texts {SWAPPED}; the female wording is decided positive more often: "
        "100 % (91–100) against 50 % (35–65) of 40 texts."
    )


def test_a_side_is_named_only_beyond_chance() -> None:
    """Two flips, both towards her, are two discordant pairs: McNemar's p is 0.5."""

    def score(text: str) -> float:
        return 0.9 if "hopeless" in text or text in ("She went home 2.", "She went home 3.") else 0.1

    said = _verdict(run_of(*judged(score)))
    assert said == f"{CHANGED} 5 % (1–17) of 40 texts {SWAPPED}."


def test_what_the_model_learned_names_a_side_only_beyond_chance() -> None:
    """Of two texts annotated 1 the male wording of one is missed: McNemar's p is 1."""
    two = Corpus.of("c", ["She is hopeless.", "He is hopeless 1."], labels={"depression": [1.0, 1.0]})
    said = {one.subject: one.words for one in learned(run_of(*judged(needs_she, two)))}["Gender"]
    assert said == f"the decision changes in 50 % (3–97) of 2 texts {SWAPPED}."


def test_no_flips_are_no_difference_found_and_never_fair() -> None:
    said = _verdict(run_of(*judged(oracle)))
    assert said == f"No difference by gender found: 0 % (0–9) of 40 texts change their decision {SWAPPED}."
    assert "fair" not in said


def test_scores_that_move_below_the_threshold_are_a_difference() -> None:
    said = _verdict(run_of(*judged(lambda text: 0.4 if text.startswith("She") else 0.2 + len(text) / 1000)))
    assert "No difference" not in said
    assert said.startswith(f"0 % (0–9) of 40 texts change their decision {SWAPPED}, but the female wording")
    assert "scores higher (mean difference 0.18" in said


def test_the_worst_is_said_first() -> None:
    # T6 fails for at least 22 %; between 77 and 96 % of the pairs flip.
    gender, of_checks = headlines(run_of(check(0.69, (0.58, 0.78)), *judged(needs_she)))
    assert gender.startswith(CHANGED)
    assert of_checks == "Fails most on T6 (a title): 69 % (58–78) of 77 texts pass."
    first, second = headlines(run_of(check(0.02, (0.0, 0.09)), *judged(flips_on_she)))
    assert first == "Fails most on T6 (a title): 2 % (0–9) of 77 texts pass."
    assert second.startswith(CHANGED)
    well = headlines(run_of(*judged(oracle), check(1.0, (0.95, 1.0))))
    assert [said.partition(" ")[0] for said in well] == ["No", "No"]
    assert well[0].startswith("No weakness found in 1 check")


def test_the_worst_gap_between_groups_is_said_with_points_and_n() -> None:
    said = _verdict(run_of(*of_groups("men", "women", -0.3, (-0.407, -0.182))))
    assert said == (
        "By ward, texts of men are missed more often than those of women, by 30 points (18–41): "
        "40 % (31–50) of 100 texts annotated 1."
    )


def test_of_two_groups_the_one_that_is_missed_more_is_the_subject() -> None:
    said = _verdict(run_of(*of_groups("men", "women", 0.3, (0.182, 0.407))))
    assert "texts of women are missed more often than those of men, by 30 points (18–41): 10 % (6–17)" in said


def test_a_group_that_is_missed_more_comes_before_one_that_is_missed_less_and_before_decisions() -> None:
    less = of_groups("a", "the rest", 0.5, (0.4, 0.6))
    more = of_groups("b", "the rest", -0.2, (-0.3, -0.1))
    decided = of_groups("c", "the rest", 0.7, (0.6, 0.8), "demographic_parity_difference")
    assert "texts of b are missed more often than those of the rest" in _verdict(
        run_of(*less, *more, *decided)
    )
    assert "texts of a are missed less often than those of the rest" in _verdict(run_of(*less, *decided))
    assert _verdict(run_of(*decided)) == (
        "By ward, texts of c are decided positive more often than those of the rest, by 70 points (60–80): "
        "40 % (31–50) of 100 texts."
    )


def test_a_gap_of_decisions_alone_is_said_last() -> None:
    decided = of_groups("c", "the rest", 0.7, (0.6, 0.8), "demographic_parity_difference")
    said = headlines(run_of(*decided, check(0.69, (0.58, 0.78))))
    assert said[0].startswith("Fails most on T6")


def test_a_gap_that_chance_may_give_is_not_said() -> None:
    gap = of_groups("men", "women", -0.3, (-0.407, -0.182))
    chance = tuple(replace(f, flags=()) for f in gap)
    assert _verdict(run_of(*chance)) == "No difference found between groups by ward after Holm's correction."
    assert len(headlines(run_of(*chance, check(0.69, (0.58, 0.78))))) == 1


@pytest.mark.parametrize(
    ("text", "why"),
    [
        ("The garden is wet.", "no text has a word to swap"),
        ("They gave her flowers.", "every swap is ambiguous"),
    ],
)
def test_pairs_that_were_not_tested_are_never_a_pass(text: str, why: str) -> None:
    said = _verdict(run_of(*judged(oracle, Corpus.of("c", [text], labels={"depression": [0.0]}))))
    assert said == f"Gender was not tested: {why}. This is not a pass."


def test_groups_that_could_not_be_compared_are_not_said_to_be_alike() -> None:
    one = Corpus.of("c", [f"Text {i}." for i in range(6)], groups={"ward": ["a"] * 6})
    findings = judged(oracle, one)
    assert all(math.isnan(f.value) for f in findings if f.measure == "flip_rate")
    assert "No difference" not in _verdict(run_of(*findings))


def test_of_several_corpora_the_one_that_flips_most_is_named() -> None:
    other = replace(notes(), name="letters")
    findings = (*judged(oracle), *judged(flips_on_she, other))
    assert f"of 40 texts {SWAPPED} on letters;" in _verdict(run_of(*findings))


@pytest.mark.parametrize("score", [needs_she, oracle])
def test_the_page_begins_with_the_same_sentences_and_says_what_was_tested(
    score: Callable[[str], float],
) -> None:
    page = render(run_of(*judged(score), check(1.0, (0.95, 1.0))))
    assert page.count('<p class="verdict">') == 1
    assert page.count('<p class="further">') == 1
    assert "Tested: 1 check and gender pairs on notes" in page


def test_a_gap_that_rests_on_a_handful_of_texts_is_no_headline() -> None:
    found = of_groups("men", "women", -0.3, (-0.407, -0.182))
    for texts, versus, told in ((3, 187, False), (187, 3, False), (100, 90, True)):
        sides = {"texts": texts, "texts_versus": versus}
        gaps = [replace(f, counts=sides) if f.measure == "equal_opportunity_difference" else f for f in found]
        assert ("texts of men" in _verdict(run_of(*gaps))) is told
