from collections.abc import Sequence
from pathlib import Path

import numpy as np
import pytest
from scipy.stats import binomtest

from planted import MODELS, NEGATIVE, POSITIVE, Direct, Planted, with_sentence
from psycheck.audits.behaviour import Behaviour
from psycheck.audits.cases import OUTCOMES
from psycheck.audits.suite import Suite, read_suite
from psycheck.core.arrays import FloatArray, IntArray
from psycheck.core.audit import Judgement, ScoreTraits
from psycheck.core.corpus import Corpus
from psycheck.core.finding import Finding
from refusals import refused

CORPUS = Corpus.of(
    "posts",
    [*POSITIVE, *NEGATIVE],
    labels={"depression": [1.0] * len(POSITIVE) + [0.0] * len(NEGATIVE)},
)


def _judged(
    name: str, suite: str | Path = "deck", window: int | None = None, corpus: Corpus = CORPUS
) -> Judgement:
    return Behaviour(read_suite(suite)).judge(corpus, Direct(MODELS[name], window))


def _rates(judgement: Judgement) -> dict[str, Finding]:
    return {f.where["check"]: f for f in judgement.findings if f.measure == "pass_rate"}


@pytest.mark.parametrize("others", [0, 46])
def test_every_tested_check_has_an_interval_that_allows_for_the_choice_among_all(others: int) -> None:
    found = Behaviour(read_suite("deck"), others=others).judge(CORPUS, Direct(MODELS["counts_i"]))
    rates = {name: f for name, f in _rates(found).items() if f.tested}
    among = [f for f in found.findings if f.measure == "pass_rate_among_checks" and f.tested]
    assert [f.where for f in among] == [f.where for f in rates.values()]
    for f in among:
        assert f.counts == {"checks": len(rates) + others}
        passed = rates[f.where["check"]].counts["passed"]
        level = 1 - 0.05 / (len(rates) + others)
        assert f.interval == pytest.approx(binomtest(passed, f.n).proportion_ci(level, method="exact"))


class Severity:
    """Three exclusive classes: capitals move "moderate" from first to second place, far below 0.5."""

    model, labels, exclusive = "severity", ("not", "depression", "severe"), True

    @property
    def traits(self) -> ScoreTraits:
        return ScoreTraits(exclusive=self.exclusive)

    def of(self, texts: Sequence[str]) -> FloatArray:
        rows = [[0.45, 0.3, 0.25] if text.isupper() else [0.3, 0.4, 0.3] for text in texts]
        return np.array(rows, np.float64).reshape(len(texts), 3)

    def read(self, texts: Sequence[str]) -> IntArray:
        return np.array([len(text) for text in texts])


def test_a_decision_among_exclusive_classes_changes_with_the_largest_score() -> None:
    corpus = Corpus.of("posts", ["I am fine", "all is well"])
    rates = _rates(Behaviour(read_suite("robustness")).judge(corpus, Severity()))
    assert (rates["R3"].counts["failed"], rates["R2"].counts["failed"]) == (2, 0)


def test_the_unedited_texts_of_exclusive_classes_are_decided_by_the_largest_score() -> None:
    corpus = Corpus.of("posts", ["he feels low", "she slept badly"], labels={"depression": [1.0, 1.0]})
    counts = _rates(Behaviour(read_suite("deck")).judge(corpus, Severity()))["T6"].counts
    # "depression" is the largest of three scores, 0.4, before and after.
    assert (counts["passed"], counts["passed_unedited"]) == (2, 2)


def test_a_perfect_oracle_passes_everything() -> None:
    rates = _rates(_judged("oracle"))
    assert len(rates) == 23
    assert all(rate.value == 1.0 for rate in rates.values())


def test_a_model_that_flips_on_she_is_caught_by_the_swaps_alone() -> None:
    rates = _rates(_judged("flips_on_she"))
    # "he" becomes "she" in 2 low texts without a "she"; "she" leaves 1 low text; "I" becomes "she" in 3.
    assert [rates[check].counts["failed"] for check in ("T1", "T2", "T5")] == [2, 1, 3]
    assert rates["T4"].counts["failed"] == 0
    assert all(rates[f"T{n}"].value == 1.0 for n in range(7, 24))


def test_a_model_that_misses_suicidal_ideation_is_caught_there_alone() -> None:
    rates = _rates(_judged("ignores_suicide"))
    # Presence lowers the score of the 5 high texts, absence raises that of the 5 low ones.
    assert (rates["T22"].counts["failed"], rates["T23"].counts["failed"]) == (5, 5)
    assert all(rate.value == 1.0 for check, rate in rates.items() if check not in ("T22", "T23"))


def test_a_model_that_counts_i_is_caught_by_symptom_checks() -> None:
    rates = _rates(_judged("counts_i"))
    assert sum(rates[f"T{n}"].counts["failed"] for n in range(7, 24)) > 0
    assert rates["T6"].value < 1 or rates["T3"].value < 1 or rates["T8"].value < 1


def test_a_constant_model_fails_where_a_label_is_demanded() -> None:
    rates = _rates(_judged("constant"))
    assert rates["T3"].value == 0.0
    assert rates["T6"].value == 1.0
    assert all(rates[f"T{n}"].value == 1.0 for n in range(7, 24))


@pytest.mark.parametrize(("moved", "harmed"), [(20, True), (6, False), (7, True)])
def test_harm_is_claimed_of_an_mft_edit_only_beyond_chance(moved: int, harmed: bool) -> None:
    """Of 20 texts that pass unedited, `moved` fail where "I" is replaced, in T3, T4 and T5.

    McNemar's p is 2 / 2^moved: 0.031 for six, 0.016 for seven; Holm's correction over three checks gives
    0.094 and 0.047.
    """
    texts = Corpus.of("c", [f"I slept {k}." for k in range(20)], labels={"depression": [0.0] * 20})
    number = Planted("n", lambda t: 0.1 if t.startswith("I ") or int(t.split()[-1][:-1]) >= moved else 0.9)
    rates = _rates(Behaviour(read_suite("deck")).judge(texts, Direct(number)))
    assert [rates[check].counts["passed_unedited"] for check in ("T3", "T4", "T5")] == [20] * 3
    assert ["harmed" in rates[check].flags for check in ("T3", "T4", "T5")] == [harmed] * 3


def test_the_ledger_loses_nothing() -> None:
    for name in MODELS:
        for rate in _rates(_judged(name)).values():
            assert rate.counts["generated"] == sum(rate.counts[outcome] for outcome in OUTCOMES)
            assert rate.n == rate.counts["passed"] + rate.counts["failed"]


def test_texts_that_an_edit_leaves_alone_are_not_passes() -> None:
    rate = _rates(_judged("oracle"))["T2"]
    assert (rate.counts["generated"], rate.counts["unchanged"], rate.n) == (10, 8, 2)


def test_a_check_without_cases_is_not_tested() -> None:
    quiet = Corpus.of("quiet", ["Rain all day."], labels={"depression": [0]})
    rate = _rates(_judged("oracle", corpus=quiet))["T1"]
    assert (rate.n, rate.flags) == (0, ("not_tested",))
    assert np.isnan(rate.value)
    assert rate.interval is None


def test_a_sentence_beyond_the_window_is_unseen_and_no_pass() -> None:
    longer = Corpus.of("long", [POSITIVE[0] + " word" * 40], labels={"depression": [1]})
    rate = _rates(_judged("oracle", window=100, corpus=longer))["T7"]
    assert (rate.counts["unseen"], rate.n) == (1, 0)


def test_a_change_inside_the_window_of_a_cut_text_is_seen() -> None:
    longer = Corpus.of("long", ["He left." + " word" * 40 + " he did."], labels={"depression": [1]})
    assert _rates(_judged("oracle", window=50, corpus=longer))["T1"].n == 1
    late = Corpus.of("late", ["word " * 40 + "he did."], labels={"depression": [1]})
    assert _rates(_judged("oracle", window=50, corpus=late))["T1"].counts["unseen"] == 1


def test_no_usable_answer_is_unanswered_and_no_failure() -> None:
    def silent(text: str) -> float:
        return np.nan if "insomnia" in text else 0.5

    judgement = Behaviour(read_suite("deck")).judge(CORPUS, Direct(Planted("silent", silent)))
    rate = _rates(judgement)["T11"]
    assert (rate.counts["unanswered"], rate.n) == (10, 0)


def test_a_case_fails_if_any_of_its_sentences_fails_and_each_sentence_has_its_rate() -> None:
    def sleepless(text: str) -> float:
        return 0.1 if text.endswith("I have insomnia") else 0.5

    judgement = Behaviour(read_suite("deck")).judge(CORPUS, Direct(Planted("sleepless", sleepless)))
    assert _rates(judgement)["T11"].value == 0.0
    sentences = [
        f for f in judgement.findings if f.measure == "sentence_pass_rate" and f.where["check"] == "T11"
    ]
    assert [f.value for f in sentences] == [0.0, 1.0, 1.0, 1.0]


def test_one_variant_a_text_is_drawn_by_a_seeded_rotation() -> None:
    corpus = Corpus.of("many", [f"text {i}" for i in range(400)])
    suite = read_suite("deck")
    asked = list(Behaviour(suite, variants="one").ask(corpus))
    t11 = next(check for check in suite.checks if check.id == "T11")
    drawn = [sum(text.endswith(sentence) for text in asked) for sentence in t11.sentences]
    assert sum(drawn) == 400
    assert min(drawn) > 60  # 100 expected of each; below 60 would be a chance of one in a million
    assert asked == list(Behaviour(suite, variants="one").ask(corpus))
    assert asked != list(Behaviour(suite, variants="one", seed=1).ask(corpus))


def test_drawing_does_not_depend_on_how_a_corpus_is_sliced() -> None:
    corpus = Corpus.of("many", [f"text {i}" for i in range(50)])
    audit = Behaviour(read_suite("deck"), variants="one")
    sliced = {text for part in corpus.slices(7) for text in audit.ask(part)}
    assert sliced == set(audit.ask(corpus))


def test_a_fall_of_exactly_the_tolerance_passes() -> None:
    def falls(text: str) -> float:
        return 0.6 if text.endswith("I have insomnia") else 0.7

    corpus = Corpus.of("one", ["a text"])
    judgement = Behaviour(read_suite("deck")).judge(corpus, Direct(Planted("falls", falls)))
    assert _rates(judgement)["T11"].value == 1.0


def test_failing_ids_are_named_and_cases_hold_no_text() -> None:
    judgement = _judged("ignores_suicide")
    assert _rates(judgement)["T22"].examples == ("1", "2", "3", "4", "5")
    cases = judgement.tables["cases"]
    assert cases.columns == [
        "model",
        "corpus",
        "suite",
        "check",
        "kind",
        "id",
        "outcome",
        "variant",
        "before",
        "after",
    ]
    one = cases.filter((cases["check"].cast(str) == "T22") & (cases["id"] == "1")).row(0, named=True)
    assert (one["outcome"], round(one["before"], 2), round(one["after"], 2)) == ("failed", 0.9, 0.05)


def test_asked_texts_hold_the_originals_and_every_edit_once_needed() -> None:
    asked = set(Behaviour(read_suite("deck")).ask(CORPUS))
    assert asked >= set(CORPUS.texts)
    assert with_sentence(NEGATIVE[0], "I wish I were dead") in asked


def test_a_suite_for_a_label_that_the_model_lacks_is_refused() -> None:
    model = Planted("other", lambda text: 0.5, labels=("anxiety",))
    with refused("suite.unscored-label"):
        Behaviour(read_suite("deck")).judge(CORPUS, Direct(model))


def test_texts_that_are_not_annotated_are_outside_of_a_subset() -> None:
    corpus = Corpus.of("part", ["I went out", "I stayed in", "I sat"], labels={"depression": [0, None, 1]})
    rate = _rates(_judged("oracle", corpus=corpus))["T3"]
    assert (rate.counts["generated"], rate.counts["outside_subset"]) == (1, 2)


def _suite_of(name: str) -> Suite:
    return read_suite(name)


def test_the_grammatical_suite_has_the_same_checks() -> None:
    plain, repaired = _suite_of("deck"), _suite_of("deck-grammatical")
    assert [check.id for check in plain.checks] == [check.id for check in repaired.checks]
