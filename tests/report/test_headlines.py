"""Every sentence at the top of a report: it appears when due, and not where its condition is just missed."""

import math
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
import pytest

import psycheck
from planted import NEGATIVE, POSITIVE, Planted, constant, counts_i
from psycheck.corpus import Corpus
from psycheck.finding import Finding, Findings
from psycheck.report.headlines import Headline, headline, reference, weakest
from psycheck.report.verdict import chosen_headlines, headlines, learned
from psycheck.report.words import words_of
from psycheck.run import Run

REFERENCE = Path(__file__).parents[2] / "docs" / "reference" / "headlines.md"
CATALOGUE = {
    f"{kind}.{name}"
    for kind, entries in words_of("headlines").items()
    if kind != "preface"
    for name in entries
}
Interval = tuple[float, float] | None
Found = Sequence[Finding]


def run_of(found: Found, **fields: Any) -> Run:
    return Run(plan={}, environment={}, findings=Findings(found), **fields)


def over(
    right: int,
    trivial: int,
    interval: Interval,
    n: int = 1000,
    positive: int = 747,
    decided_1: int = 500,
    model: str = "m",
    corpus: str = "c",
    flags: tuple[str, ...] = (),
    label: str = "low",
) -> Finding:
    """Accuracy over the trivial answer; tp and fn add up to the texts annotated 1."""
    tp = min(positive, decided_1)
    counts = {"tp": tp, "fp": decided_1 - tp, "fn": positive - tp, "tn": n - positive - decided_1 + tp}
    counts |= {"right": right, "trivial_right": trivial, "units": n}
    where = {"audit": "performance", "model": model, "corpus": corpus, "label": label}
    return Finding("accuracy_over_trivial", (right - trivial) / n, n, interval, where, counts, (), flags)


def check(passed: int, n: int, high: float | None = 1.0, kind: str = "INV", **more: Any) -> Finding:
    where = {"audit": "behaviour", "model": "m", "corpus": "c", "check": "T1", "kind": kind, "label": "low"}
    where |= {"topic": "pronouns", **more.pop("where", {})}
    counts = {"generated": n, "passed": passed, "failed": n - passed, **more}
    if not n:
        return Finding("pass_rate", math.nan, 0, None, where, {"generated": 9, "unchanged": 9})
    interval = None if high is None else (max(0.0, passed / n - 0.1), high)
    return Finding("pass_rate", passed / n, n, interval, where, counts)


PAIR = {"audit": "fairness", "model": "m", "corpus": "c", "label": "low", "unit": "pairs"}
GROUP = {**PAIR, "unit": "groups", "column": "ward", "group": "men", "versus": "women"}


def flips(
    failed: int,
    n: int = 100,
    units: int = 100,
    besides: int = 0,
    interval: Interval = (0.0, 0.05),
    **where: str,
) -> Finding:
    counts = {"failed": failed, "units": units, "named_besides": besides, "unchanged": 3, "generated": n + 3}
    value = failed / n if n else math.nan
    return Finding("flip_rate", value, n, interval, {**PAIR, "swap": "pronouns", **where}, counts)


def moved(interval: Interval, significant: bool = True) -> tuple[Finding, Finding]:
    where = {**PAIR, "group": "female", "versus": "male"}
    flags = ("significant",) if significant else ()
    return (
        Finding("score_difference", 0.1, 100, interval, where),
        Finding("score_difference_p_holm", 0.01, 100, None, where, flags=flags),
    )


def placebo(failed: int, n: int = 100, significant: bool = False, **where: str) -> tuple[Finding, Finding]:
    place = {**PAIR, **where}
    flags = ("significant",) if significant else () if n else ("not_tested",)
    value, p = (failed / n, 0.01 if significant else 0.6) if n else (math.nan, math.nan)
    return (
        Finding("placebo_flip_rate", value, n, None, place),
        Finding("flip_excess_p_holm", p, n, None, place, flags=flags),
    )


def gap(
    value: float, interval: Interval, p: float = 0.01, group: str = "men", significant: bool = True
) -> tuple[Finding, Finding]:
    where = {**GROUP, "group": group}
    name = "equal_opportunity_difference"
    flags = ("significant",) if significant else ()
    return (
        Finding(name, value, 190, interval, where, {"texts": 100, "texts_versus": 90}),
        Finding(f"{name}_p_holm", p, 190, None, where, flags=flags),
    )


def length(effect: float, interval: Interval, significant: bool = True, unit: str = "text") -> Found:
    where = {"audit": "length", "model": "m", "corpus": "c", "unit": unit, "feature": "words"}
    flags = ("significant",) if significant else ()
    return [
        Finding("length_effect", effect, 300, interval, where),
        Finding("length_p", 0.001, 300, None, where, flags=flags),
        Finding("length_median", 81.0, 100, None, {**where, "outcome": "failed"}),
        Finding("length_median", 95.0, 200, None, {**where, "outcome": "passed"}),
    ]


SAME = over(747, 747, (-0.1, 0.1), decided_1=1000, flags=("constant",))
SYMPTOM = {"symptom": "sleep", "topic": ""}
BETTER, WORSE = over(800, 747, (0.02, 0.08)), over(637, 747, (-0.15, -0.07))
ONE_CLASS = over(990, 1000, (-0.02, 0.0), positive=1000, decided_1=990)

# name: (findings with which it is due, findings that just miss its condition, one list each)
CASES: Mapping[str, tuple[Found, Sequence[Found]]] = {
    "performance.constant": (
        [SAME],
        [
            [over(746, 747, (-0.1, 0.1), decided_1=999)],  # one text is decided otherwise
            [over(1, 1, None, n=1, positive=1, decided_1=1, flags=("constant",))],  # one text only
            [over(1000, 1000, (0.0, 0.0), positive=1000, decided_1=1000)],  # rightly the same decision
        ],
    ),
    "performance.worse": ([WORSE], [[over(637, 747, (-0.15, 0.0))], [over(637, 747, None)], [SAME]]),
    "performance.one_class": ([ONE_CLASS], [[over(990, 999, (-0.02, 0.0), positive=999)]]),
    "performance.not_better": ([over(780, 747, (0.0, 0.06))], [[BETTER], [WORSE], [ONE_CLASS], [SAME]]),
    "performance.better": ([BETTER], [[over(780, 747, (0.0, 0.06))], [over(780, 747, None)]]),
    "checks.fails": (
        [check(55, 100, 0.65, "MFT", passed_unedited=90)],
        [
            [check(55, 100, 0.65, "MFT", passed_unedited=47)],
            [check(55, 100, 0.65, "MFT", passed_unedited=65)],
            [check(10, 10)],
        ],
    ),
    "checks.not_harmed": (
        [check(55, 100, 0.65, "MFT", passed_unedited=47), check(50, 50)],
        [[check(55, 100, 0.65, "MFT", passed_unedited=47), SAME], [check(55, 100, 0.65, "MFT")]],
    ),
    "checks.none_found": ([check(10, 10), BETTER], [[check(10, 10), SAME], [check(9, 10)], [check(0, 0)]]),
    "checks.no_evidence": ([check(10, 10), SAME], [[check(10, 10), WORSE], [check(1, 10, 0.4), SAME]]),
    "checks.untested": ([check(0, 0)], [[check(0, 0), check(10, 10)], []]),
    "gender.flips": ([flips(9), *placebo(1, significant=True)], [[flips(0)], [flips(9), *placebo(8)]]),
    "gender.any_edit": (
        [flips(9), *placebo(8)],
        [
            [flips(9), *placebo(1, significant=True)],
            [flips(9), *placebo(0, n=0)],  # no text has a placebo
            [flips(9)],
            [flips(0), *placebo(8)],
            [flips(9), *placebo(8), *moved((0.05, 0.15))],  # one wording scores higher
            [flips(9), *placebo(8), flips(5, model="n"), *placebo(1, significant=True, model="n")],
        ],
    ),
    "gender.scores": (
        [flips(0), *moved((0.05, 0.15))],
        [
            [flips(0), *moved((-0.01, 0.2))],
            [flips(0), *moved(None)],
            [flips(0), *moved((0.05, 0.15), significant=False)],
        ],
    ),
    "gender.none_found": (
        [flips(0, n=15, units=15, besides=7)],
        [
            [flips(0, units=14)],
            [flips(0, interval=None)],
            [flips(0, n=15, units=15, besides=8)],
            [flips(0, besides=50)],
            [flips(0), SAME],
            [flips(1)],
            [flips(0, n=0)],
        ],
    ),
    "gender.not_shown": (
        [flips(0, besides=50)],
        [[flips(0, besides=49)], [flips(0, besides=100, swap="pronouns+nouns+titles")]],
    ),
    "gender.untested": ([flips(0, n=0)], [[flips(0)], []]),
    "groups.gap": (
        [*gap(-0.3, (-0.4, -0.2))],
        [[*gap(-0.3, (-0.6, 0.0))], [*gap(-0.3, None)], [*gap(-0.3, (-0.4, -0.2), significant=False)]],
    ),
    "groups.undirected": (
        [*gap(-0.3, (-0.6, 0.1))],
        [[*gap(-0.3, (-0.6, -0.1))], [*gap(-0.3, (-0.6, 0.1), significant=False)]],
    ),
    "groups.none_found": (
        [*gap(-0.3, (-0.6, 0.1), 0.2, significant=False)],
        [[*gap(-0.3, None)], [*gap(-0.3, (-0.6, 0.1), 0.2, significant=False), SAME]],
    ),
    "run.nothing": ([], [[flips(0)], [BETTER], [check(1, 1)]]),
    "learned.pronouns_kept": (
        [check(66, 66), BETTER],
        [
            [check(66, 66, kind="MFT"), BETTER],  # the decision may have moved to the expected one
            [check(0, 0), check(66, 66, kind="MFT"), BETTER],  # the INV check was not tested
            [check(66, 66), SAME],
            [check(65, 66)],
        ],
    ),
    "learned.pronouns_passed": ([check(66, 66, kind="MFT")], [[check(66, 66)], [check(65, 66, kind="MFT")]]),
    "learned.symptoms_kept": (
        [check(9, 9, kind="DIR", where=SYMPTOM)],
        [
            [check(9, 9, kind="DIR", where=SYMPTOM), SAME],
            [check(8, 9, 0.9, "DIR", where=SYMPTOM)],
            [check(0, 0)],
        ],
    ),
    "learned.symptoms_passed": (
        [check(9, 9, kind="DIR", where=SYMPTOM), SAME],
        [[check(9, 9, kind="DIR", where=SYMPTOM), WORSE]],
    ),
    "learned.length": (
        length(-0.3, (-0.4, -0.2)),
        [
            length(-0.299, (-0.4, -0.2)),
            length(-0.3, (-0.6, 0.0)),
            length(-0.3, (-0.4, -0.2), significant=False),
            length(-0.3, (-0.4, -0.2), unit="case"),
        ],
    ),
}


def printed(name: str, found: Found, monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """The words of one sentence, as often as a run prints it."""
    run = run_of(found)
    if not name.startswith("learned."):
        return [one.words for one in chosen_headlines(run) if one.name == name]
    made: list[Headline] = []

    def noted(which: str, least: float = 0.0, **values: str) -> Headline:
        made.append(headline(which, least, **values))
        return made[-1]

    monkeypatch.setattr("psycheck.report.verdict.headline", noted)
    words = [sentence.words for sentence in learned(run)]
    return [one.words for one in made if one.name == name and one.words in words]


def test_every_sentence_has_a_case() -> None:
    assert set(CASES) == CATALOGUE


@pytest.mark.parametrize("name", CASES)
def test_a_sentence_appears_when_due(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    assert len(printed(name, CASES[name][0], monkeypatch)) == 1


@pytest.mark.parametrize(("name", "at"), [(name, k) for name, (_, m) in CASES.items() for k in range(len(m))])
def test_a_sentence_does_not_appear_where_its_condition_is_just_missed(
    name: str, at: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert printed(name, CASES[name][1][at], monkeypatch) == []


def test_the_reference_is_made_from_the_sentences() -> None:
    assert REFERENCE.read_text("utf-8") == reference(), "run `make docs`"


def test_a_jittery_model_gets_no_alarm_for_gender() -> None:
    (one,) = chosen_headlines(run_of([flips(9), *placebo(8)]))
    assert (one.alarm, one.least) == (False, 0.0)
    assert one.words == (
        "The decision changes in 9 % (0–5) of 100 texts when he and she are swapped; this is not shown to "
        "come from gender, as an edit that leaves gender alone changes 8 % of 100 texts."
    )


def test_performance_comes_first_even_if_a_check_fails_more() -> None:
    """The accuracy of 0.637 where always answering 1 gives 0.747."""
    first, second = headlines(run_of([check(1, 10, 0.4), WORSE]))
    assert first == (
        "The model is worse than always answering 1: accuracy 0.637 against 0.747, "
        "a difference of −0.11 (−0.15 to −0.07), n 1,000."
    )
    assert second.startswith("Fails most on T1")


def test_the_worst_model_comes_first_and_each_sentence_names_its_own() -> None:
    found = [
        over(800, 747, (0.02, 0.08), model="a", corpus="x"),
        over(760, 747, (-0.01, 0.03), model="a", corpus="y"),
        over(637, 747, (-0.15, -0.07), model="b", corpus="x"),
        over(900, 747, (0.12, 0.18), model="b", corpus="y"),
    ]
    chosen = chosen_headlines(run_of(found))
    assert [one.name for one in chosen] == ["performance.worse", "performance.not_better"]
    assert [one.words.split(" is ")[0] for one in chosen] == ["b on x", "a on y"]
    assert [one.alarm for one in chosen] == [True, False]


def test_labels_are_named_where_there_are_several() -> None:
    found = [BETTER, over(500, 600, (-0.15, -0.05), label="fear", positive=400)]
    assert headlines(run_of(found)) == [
        "The model, label fear, is worse than always answering 0: accuracy 0.500 against 0.600, "
        "a difference of −0.10 (−0.15 to −0.05), n 1,000."
    ]


def test_an_mft_headline_shows_the_rate_without_the_edit() -> None:
    helped = check(55, 100, 0.65, "MFT", passed_unedited=47)
    harmed = check(80, 100, 0.87, where={"check": "T2"})
    assert weakest([helped, harmed]) is harmed
    assert headlines(run_of([helped])) == [
        "No edit is shown to do harm in 1 check; the lowest pass rate is that of T1: "
        "55 % (45–65) of 100 texts pass after the edit, 47 % before: the edit helped."
    ]
    worse = check(55, 100, 0.65, "MFT", passed_unedited=90)
    assert headlines(run_of([worse])) == [
        "Fails most on T1: 55 % (45–65) of 100 texts pass after the edit, 90 % before: the edit did harm."
    ]


def test_a_check_without_an_interval_does_not_outweigh_one_with() -> None:
    few, many = check(0, 1, None), check(60, 100, 0.7, where={"check": "T2"})
    assert weakest([few, many]) is many
    helped = check(55, 100, 0.65, "MFT", passed_unedited=47)
    assert weakest([helped, few]) is few


def test_of_several_gaps_the_one_with_the_strongest_evidence_is_named() -> None:
    wide = gap(-0.6, (-0.9, -0.1), 0.04, "few")
    sure = gap(-0.2, (-0.25, -0.15), 0.0001, "many")
    assert (
        "texts of many are missed more often than those of women, by 20 points"
        in headlines(run_of([*wide, *sure]))[0]
    )
    no_side = headlines(run_of([*gap(-0.3, (-0.6, 0.1), 0.02)]))[0]
    assert no_side == (
        "By ward, the share of texts that are missed differs between men and women "
        "(p 0.020 after Holm's correction); the direction is uncertain."
    )


def test_what_was_not_swapped_is_named() -> None:
    assert headlines(run_of([flips(0, besides=60)]))[0] == (
        "0 % (0–5) of 100 texts change their decision when he and she are swapped; this does not show that "
        "gender makes no difference: only pronouns were swapped, and 60 of 100 texts keep a gendered noun or "
        "title."
    )


def test_a_constant_model_is_known_without_annotations() -> None:
    rows = {"model": ["m"] * 2, "corpus": ["c"] * 2, "id": ["a", "b"], "before": [0.7, 0.7]}
    tables = {"cases": pl.DataFrame(rows)}
    assert "not evidence" in headlines(run_of([check(10, 10)], tables=tables))[0]
    rows["before"] = [0.7, 0.6]
    assert "No weakness" in headlines(run_of([check(10, 10)], tables={"cases": pl.DataFrame(rows)}))[0]


@pytest.fixture(scope="module")
def texts() -> Corpus:
    """80 texts of ten kinds, annotated by whether they speak of a symptom."""
    rows = [f"{text} {k}." for k in range(8) for text in (*POSITIVE, *NEGATIVE)]
    marks = [float(k % 10 < 5) for k in range(80)]
    return Corpus.of("c", rows, labels={"depression": marks})


def test_a_model_that_looks_for_i_is_not_said_to_keep_its_decision(texts: Corpus) -> None:
    """Every text without "I" is decided 0, so the MFT checks pass because the decision moved."""
    looks_for_i = Planted("looks_for_i", lambda text: 0.9 if counts_i(text) else 0.1)
    every = psycheck.audit(looks_for_i, texts, suites=["deck"]).findings
    found = [f for f in every if f.where.get("check") in ("T3", "T4", "T5")]
    assert [f.value for f in found if f.measure == "pass_rate"] == [1.0] * 3
    said = learned(run_of(found))[0].words
    assert "no change of pronouns" not in said
    assert "no check that expects an unchanged decision was tested" in said
    # Unedited, the texts annotated 0 with "I", "my" or "me" are decided 1: none of these passes.
    assert [f.counts["passed_unedited"] for f in found if f.measure == "pass_rate"] == [0] * 3


def test_a_constant_model_earns_no_praise(texts: Corpus) -> None:
    run = psycheck.audit(Planted("constant", constant), texts, suites=["deck"])
    said = " ".join([*headlines(run), *(one.words for one in learned(run))])
    assert said.startswith("The model gives every text the same score: accuracy 0.500")
    for praise in (
        "No weakness",
        "No difference",
        "no difference between",
        "no change",
        "no sentence is missed",
    ):
        assert praise not in said
    assert np.isclose(next(f.value for f in run.findings if f.measure == "accuracy_over_trivial"), 0.0)
