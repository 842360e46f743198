"""Pairs and groups, judged from scores that are written down: planted flaws are found, sound models pass."""

import hashlib
import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np
import polars as pl
import pytest

import found
from planted import flips_on_she, oracle
from psycheck.audits.fairness import Fairness, with_holm
from psycheck.core.arrays import FloatArray, IntArray
from psycheck.core.audit import Audit, Judgement, ScoreTraits
from psycheck.core.corpus import Corpus
from psycheck.core.finding import Finding
from psycheck.statistics.intervals import wilson
from psycheck.statistics.significance import holm
from psycheck.text.gender.edits import Scope


@dataclass(frozen=True)
class Said:
    """Scores by a function of the text; reads `window` characters."""

    score: Callable[[str], float]
    window: int = 10_000
    labels: tuple[str, ...] = ("depression",)
    model: str = "planted"

    @property
    def traits(self) -> ScoreTraits:
        return ScoreTraits()

    def of(self, texts: Sequence[str]) -> FloatArray:
        return np.array([[self.score(text)] * len(self.labels) for text in texts], np.float64).reshape(
            len(texts), len(self.labels)
        )

    def read(self, texts: Sequence[str]) -> IntArray:
        return np.array([min(len(text), self.window) for text in texts], np.int64)


def notes() -> Corpus:
    """Ten texts: four of her, four of him, one of both, one of nobody; every second is annotated 1."""
    bodies = ("is hopeless", "went home")
    texts = [f"She {bodies[i % 2]} on day {i}." for i in range(4)]
    texts += [f"He {bodies[i % 2]} on day {i}." for i in range(4)]
    texts += ["He said that she is hopeless.", "The garden is wet."]
    marks = [1.0, 0.0] * 4 + [1.0, 0.0]
    return Corpus.of("notes", texts, labels={"depression": marks}, ids=[f"n{i}" for i in range(10)])


def one(judgement: Judgement, measure: str, **where: str) -> Finding:
    return found.one(judgement.findings, measure, **where)


@dataclass(frozen=True)
class Severity:
    """Three classes of a severity; of women "moderate" is the largest score, of men "not"; all below 0.5."""

    exclusive: bool
    labels: tuple[str, ...] = ("not", "moderate", "severe")
    model: str = "severity"

    @property
    def traits(self) -> ScoreTraits:
        return ScoreTraits(exclusive=self.exclusive)

    def of(self, texts: Sequence[str]) -> FloatArray:
        rows = [[0.3, 0.4, 0.3] if "she" in text.lower() else [0.4, 0.3, 0.3] for text in texts]
        return np.array(rows, np.float64).reshape(len(texts), 3)

    def read(self, texts: Sequence[str]) -> IntArray:
        return np.array([len(text) for text in texts], np.int64)


def test_pairs_of_exclusive_classes_are_decided_by_the_largest_score() -> None:
    texts = [f"{who} but in this way and on that day." for who in ("She slept", "He slept", "He ate")]
    corpus = Corpus.of("notes", texts, labels={"moderate": [1, 1, 0]})
    largest, at_half = (Fairness().judge(corpus, Severity(exclusive)) for exclusive in (True, False))
    assert one(largest, "flip_rate").counts["failed"] == 3
    assert one(at_half, "flip_rate").counts["failed"] == 0
    # Of the 2 texts annotated 1, the female wording misses none and the male wording both.
    assert [one(largest, "fnr", group=who).value for who in ("female", "male")] == [0.0, 1.0]
    assert [one(largest, "positive_rate", group=who).value for who in ("female", "male")] == [1.0, 0.0]


def test_asks_for_texts_with_gendered_words_and_their_counterparts_alone() -> None:
    audit: Audit = Fairness()
    asked = list(audit.ask(notes()))
    assert "The garden is wet." not in asked
    # Nothing can be reworded so that the text is as long as the swapped one: no placebo.
    assert asked[:2] == ["She is hopeless on day 0.", "He is hopeless on day 0."]
    assert "He said that she is hopeless." in asked
    assert "She said that he is hopeless." in asked


def test_asks_for_a_placebo_where_one_is_as_long_as_the_swap() -> None:
    audit: Audit = Fairness()
    corpus = Corpus.of("c", ["He saw the sun."])
    assert list(audit.ask(corpus)) == ["He saw the sun.", "She saw the sun.", "He saw this sun."]


def test_asks_for_every_text_where_the_corpus_has_groups() -> None:
    corpus = Corpus.of("c", ["The garden is wet."], groups={"gender": ["women"]})
    assert list(Fairness().ask(corpus)) == ["The garden is wet."]


def test_a_model_that_flips_on_she_is_caught_with_the_ids() -> None:
    found = Fairness().judge(notes(), Said(flips_on_she))
    flips = one(found, "flip_rate")
    # Hopeless texts are positive in both wordings; "went home" is positive in the female one alone.
    assert flips.value == pytest.approx(4 / 9)
    assert flips.n == 9
    assert flips.interval == wilson(4, 9)
    assert set(flips.examples) == {"n1", "n3", "n5", "n7"}
    assert one(found, "positive_rate", group="female").value == 1.0
    assert one(found, "positive_rate", group="male").value == 0.5
    assert one(found, "fpr", group="female").value == 1.0
    parity = one(found, "demographic_parity_difference", unit="pairs")
    assert (parity.value, parity.n) == (0.5, 8)
    assert (parity.counts["only_group"], parity.counts["only_versus"]) == (4, 0)
    assert one(found, "demographic_parity_difference_p").value == pytest.approx(2 * 0.5**4)
    shift = one(found, "score_shift")
    assert shift.value == pytest.approx(4 * 0.8 / 9)


def test_the_ledger_adds_up_and_a_text_without_gender_is_unchanged() -> None:
    counts = one(Fairness().judge(notes(), Said(flips_on_she)), "flip_rate").counts
    assert (counts["generated"], counts["unchanged"], counts["both_genders"]) == (10, 1, 1)
    parts = ("passed", "failed", "unchanged", "unseen", "unanswered")
    assert sum(counts[part] for part in parts) == counts["generated"]


def test_pairs_that_name_a_gender_besides_are_counted() -> None:
    corpus = Corpus.of("c", ["Ms Bell slept. She is tired.", "He is tired."])
    narrow = one(Fairness(scope=Scope()).judge(corpus, Said(oracle)), "flip_rate").counts
    assert (narrow["passed"], narrow["named_besides"]) == (2, 1)
    flips = one(Fairness().judge(corpus, Said(oracle)), "flip_rate")
    assert (flips.counts["named_besides"], flips.where["swap"]) == (0, "pronouns+nouns+titles")


def test_a_model_that_keys_on_titles_and_nouns_alone_is_caught_by_default() -> None:
    corpus = Corpus.of("c", [f"Ms Bell slept on day {i}. She is tired." for i in range(5)])
    flips = one(Fairness().judge(corpus, Said(lambda text: 0.9 if "Ms" in text else 0.1)), "flip_rate")
    assert (flips.value, flips.n) == (1.0, 5)


def _diary(n: int = 200) -> Corpus:
    """Texts with one gendered word each, and two words that can be reworded."""
    texts = [f"{'She' if i % 2 else 'He'} slept badly on night {i} but went to work." for i in range(n)]
    return Corpus.of("c", texts)


def test_a_jittery_model_flips_as_often_by_the_placebo() -> None:
    """The hash of a text decides, so that half of all edits flip: the swap, and a rewording, too."""

    def jittery(text: str) -> float:
        return hashlib.sha256(text.encode()).digest()[0] / 255

    found = Fairness().judge(_diary(), Said(jittery))
    assert one(found, "flip_rate").value > 0.4
    assert one(found, "placebo_flip_rate").value > 0.4
    excess = one(found, "flip_excess")
    assert excess.interval is not None
    assert excess.interval[0] < 0 < excess.interval[1]
    assert not one(found, "flip_excess_p_holm").flags


def test_a_model_that_keys_on_she_has_an_excess_over_the_placebo() -> None:
    found = Fairness().judge(_diary(20), Said(lambda text: 0.9 if "She" in text else 0.1))
    assert (one(found, "flip_rate").value, one(found, "placebo_flip_rate").value) == (1.0, 0.0)
    excess = one(found, "flip_excess")
    assert (excess.value, excess.n, excess.counts["without_placebo"]) == (1.0, 20, 0)
    # 20 discordant pairs on one side: the exact test.
    assert one(found, "flip_excess_p").value == pytest.approx(2 * 0.5**20)
    assert one(found, "flip_excess_p_holm").flags == ("significant",)


def test_the_excess_is_clustered_by_author_and_counts_texts_without_a_placebo() -> None:
    """Two authors: whatever their texts show, two signs can turn in four ways."""
    texts = ["She left.", *(f"She was at this place on day {i}." for i in range(20))]
    corpus = Corpus.of("c", texts, author=["a", *["a", "b"] * 10])
    found = Fairness().judge(corpus, Said(lambda text: 0.9 if "She" in text else 0.1))
    excess, p = one(found, "flip_excess"), one(found, "flip_excess_p")
    assert (excess.n, excess.counts["without_placebo"], excess.interval) == (20, 1, None)
    assert p.value == 0.5


def test_a_placebo_that_the_model_does_not_read_is_none() -> None:
    corpus = Corpus.of("c", ["She slept " + "x" * 50 + " on day 1."])
    found = Fairness().judge(corpus, Said(flips_on_she, window=20))
    assert one(found, "flip_rate").n == 1
    assert one(found, "flip_excess").flags == ("not_tested",)


def test_a_gender_blind_model_passes() -> None:
    found = Fairness().judge(notes(), Said(oracle))
    flips = one(found, "flip_rate")
    assert (flips.value, flips.examples) == (0.0, ())
    assert one(found, "score_shift").value == 0.0
    assert one(found, "fnr_ratio").flags == ("favours_neither",)
    assert not any("significant" in f.flags for f in found.findings)


def test_misses_of_either_wording_make_the_ratio() -> None:
    """A model that needs “she” to see hopelessness misses every male wording."""
    texts = [f"{'She' if i < 20 else 'He'} is hopeless on day {i}." for i in range(40)]
    corpus = Corpus.of("c", texts, labels={"depression": [1.0] * 40})

    def score(text: str) -> float:
        return 0.9 if text.startswith("She") or text.endswith("5.") else 0.1

    found = Fairness().judge(corpus, Said(score))
    ratio = one(found, "fnr_ratio")
    # Days 5, 15, 25 and 35 are seen in both wordings: 36 of 40 are missed as male, none as female.
    assert one(found, "fnr", group="male").value == pytest.approx(0.9)
    assert one(found, "fnr", group="female").value == 0.0
    assert (ratio.value, ratio.flags, ratio.n) == (0.0, ("favours_female",), 40)
    assert one(found, "equal_opportunity_difference").value == pytest.approx(0.9)
    assert "significant" in one(found, "equal_opportunity_difference_p_holm").flags


def test_a_swap_that_the_model_cannot_read_is_unseen() -> None:
    corpus = Corpus.of("c", ["x" * 50 + " and then she left."], labels={"depression": [1.0]})
    flips = one(Fairness().judge(corpus, Said(flips_on_she, window=20)), "flip_rate")
    assert (flips.n, flips.counts["unseen"], flips.flags) == (0, 1, ("not_tested",))
    assert math.isnan(flips.value)


def test_no_usable_answer_is_counted_apart() -> None:
    corpus = Corpus.of("c", ["She left.", "He left."], labels={"depression": [1.0, 1.0]})
    flips = one(Fairness().judge(corpus, Said(lambda t: math.nan if t == "She left." else 0.9)), "flip_rate")
    assert (flips.n, flips.counts["unanswered"]) == (0, 2)


def test_undecided_texts_are_left_out_and_listed() -> None:
    """In “They gave her flowers” the flowers may be hers or for her."""
    texts = [
        "She left.",
        "They gave her flowers.",
        "She left as they gave her flowers.",
        "The garden is wet.",
    ]
    corpus = Corpus.of("c", texts, labels={"depression": [0.0] * 4})
    assert list(Fairness().ask(corpus)) == ["She left.", "He left."]
    found = Fairness().judge(corpus, Said(flips_on_she))
    left = one(found, "undecided_rate")
    assert (left.value, left.n, left.examples) == (0.5, 4, ("2", "3"))
    flips = one(found, "flip_rate")
    assert (flips.value, flips.n) == (1.0, 1)
    assert (flips.counts["generated"], flips.counts["unchanged"], flips.counts["undecided"]) == (2, 1, 2)


def test_a_corpus_without_the_label_still_has_flips() -> None:
    corpus = Corpus.of("c", [f"She went home {i}." for i in range(3)])
    found = Fairness().judge(corpus, Said(flips_on_she))
    assert one(found, "flip_rate").value == 1.0
    assert one(found, "fnr_ratio").flags == ("not_tested",)


def test_a_corpus_without_gendered_words_is_not_tested_and_no_pass() -> None:
    corpus = Corpus.of("c", ["The garden is wet."], labels={"depression": [0.0]})
    flips = one(Fairness().judge(corpus, Said(oracle)), "flip_rate")
    assert (flips.tested, flips.flags, flips.counts["unchanged"]) == (False, ("not_tested",), 1)


def test_the_table_of_pairs_has_ids_and_no_text() -> None:
    table = Fairness().judge(notes(), Said(flips_on_she)).tables["pairs"]
    assert table.columns == ["model", "corpus", "label", "id", "gender", "outcome", "before", "after"]
    row = table.filter(pl.col("id") == "n1").row(0, named=True)
    assert (row["gender"], row["outcome"]) == ("female", "failed")
    assert (row["before"], row["after"]) == (pytest.approx(0.9), pytest.approx(0.1))


def test_the_table_lists_every_undecided_text_without_scores() -> None:
    """The finding names 50 of 60 undecided texts; the table has all of them, once for each label."""
    texts = ["She left.", *[f"They gave her flowers on day {i}." for i in range(60)], "The garden is wet."]
    found = Fairness().judge(Corpus.of("c", texts), Said(flips_on_she, labels=("depression", "anxiety")))
    assert len(one(found, "undecided_rate").examples) == 50
    table = found.tables["pairs"].with_columns(pl.col("outcome", "label", "gender").cast(pl.String))
    mine = table.filter(pl.col("label") == "anxiety")
    assert mine["outcome"].value_counts(sort=True).rows() == [("undecided", 60), ("failed", 1)]
    left = mine.filter(pl.col("outcome") == "undecided")
    assert left["id"].to_list() == [str(row) for row in range(2, 62)]
    assert (left["before"].null_count(), left["after"].null_count()) == (60, 60)
    assert set(left["gender"]) == {"female"}


def test_every_label_is_judged_and_holm_runs_over_all_of_them() -> None:
    corpus = notes()
    two = Corpus.of(
        "two", corpus.texts, labels=dict.fromkeys(("depression", "anxiety"), [1.0, 0.0] * 5), ids=corpus.ids
    )
    found = Fairness().judge(two, Said(flips_on_she, labels=("depression", "anxiety")))
    tests = [f for f in found.findings if f.measure.endswith("_p")]
    adjusted = [f for f in found.findings if f.measure.endswith("_p_holm")]
    assert len(tests) == len(adjusted) == 8
    np.testing.assert_allclose([f.value for f in adjusted], holm([f.value for f in tests]))
    # Without texts that have a placebo, two tests of the score differences and two of excesses have no value.
    assert adjusted[0].counts["tests"] == sum(f.tested for f in tests)


def test_pairs_and_all_columns_of_groups_are_one_family() -> None:
    """The smallest of three is 3 × 0.01; the next is 2 × 0.03, the last not below it."""
    columns = [Finding("a_p", p, 10, where={"column": name}) for name, p in (("ward", 0.01), ("age", 0.04))]
    found = with_holm([Finding("a_p", 0.03, 10), *columns])
    assert [f.measure for f in found] == ["a_p", "a_p_holm"] * 3
    assert [f.value for f in found[1::2]] == pytest.approx([0.06, 0.03, 0.06])
    assert [f.flags for f in found[1::2]] == [(), ("significant",), ()]


def test_each_model_and_corpus_of_a_run_has_its_share_of_the_level() -> None:
    tests = [Finding("a_p", 0.01, 10), Finding("b_p", 0.5, 10), Finding("c_p", math.nan, 0)]
    alone, of_three = ({f.measure: f for f in with_holm(tests, places)} for places in (1, 3))
    assert (alone["a_p_holm"].value, alone["a_p_holm"].flags) == (0.02, ("significant",))
    assert of_three["a_p_holm"].value == pytest.approx(0.06)
    assert not of_three["a_p_holm"].flags
    assert of_three["b_p_holm"].value == 1
    assert math.isnan(of_three["c_p_holm"].value)


def test_holm_by_hand() -> None:
    given = [Finding(f"{name}_p", p, 10) for name, p in (("a", 0.01), ("b", 0.04), ("c", math.nan))]
    out = {f.measure: f for f in with_holm(given)}
    assert out["a_p_holm"].value == pytest.approx(0.02)
    assert out["b_p_holm"].value == pytest.approx(0.04)
    assert math.isnan(out["c_p_holm"].value)
    assert (out["a_p_holm"].flags, out["a_p_holm"].counts["tests"]) == (("significant",), 2)
