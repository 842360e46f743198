import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
import polars as pl
import pytest
from sklearn import metrics

from psycheck.audits.performance import Performance
from psycheck.core.arrays import FloatArray, IntArray
from psycheck.core.audit import Audit, Judgement, ScoreTraits
from psycheck.core.corpus import Corpus
from psycheck.core.finding import Finding, finding_of
from psycheck.statistics.classification import decide
from psycheck.statistics.intervals import wilson
from refusals import refused

NAN = math.nan


@dataclass(frozen=True)
class Table:
    """Scores written down by text."""

    labels: tuple[str, ...]
    rows: Mapping[str, tuple[float, ...]]
    model: str = "table"
    exclusive: bool = False

    @property
    def traits(self) -> ScoreTraits:
        return ScoreTraits(exclusive=self.exclusive)

    def of(self, texts: Sequence[str]) -> FloatArray:
        return np.array([self.rows[text] for text in texts], dtype=np.float64)

    def read(self, texts: Sequence[str]) -> IntArray:
        return np.array([len(text) for text in texts], dtype=np.int64)


def judged(
    targets: Sequence[float | None], scores: Sequence[float], audit: Performance | None = None
) -> Judgement:
    texts = [f"text {i}" for i in range(len(targets))]
    corpus = Corpus.of("posts", texts, labels={"depression": targets})
    table = Table(("depression",), {text: (score,) for text, score in zip(texts, scores, strict=True)})
    return (audit or Performance()).judge(corpus, table)


def only(judgement: Judgement, measure: str, label: str = "depression") -> Finding:
    (found,) = [f for f in judgement.findings if f.measure == measure and f.where["label"] == label]
    return found


TARGETS = [1.0, 1.0, 1.0, 0.0, 0.0, 0.0, 0.0, None]
SCORES = [0.9, 0.6, 0.2, 0.7, 0.1, 0.4, 0.3, 0.8]


SEVERITY = ("not", "moderate", "severe")


def test_exclusive_classes_are_decided_by_the_largest_score() -> None:
    # By the largest score all four are right; by 0.5 each only the last is, and no other text gets any class.
    rows = [(0.4, 0.35, 0.25), (0.3, 0.4, 0.3), (0.3, 0.25, 0.45), (0.1, 0.2, 0.7)]
    marks = {name: [float(k == own) for own in (0, 1, 2, 2)] for k, name in enumerate(SEVERITY)}
    corpus = Corpus.of("posts", list("abcd"), labels=marks)
    scored = dict(zip("abcd", rows, strict=True))
    by_largest = Performance(threshold=0.9).judge(corpus, Table(SEVERITY, scored, exclusive=True))
    by_half = Performance().judge(corpus, Table(SEVERITY, scored))
    assert [only(by_largest, "f1", name).value for name in SEVERITY] == [1.0, 1.0, 1.0]
    assert only(by_largest, "hamming", "all").value == 0.0
    assert [only(by_half, "recall", name).value for name in SEVERITY] == [0.0, 0.0, 0.5]
    assert only(by_half, "hamming", "all").value == 3 / 12
    for name in SEVERITY:  # what the scores alone say does not change
        assert only(by_largest, "brier", name).value == only(by_half, "brier", name).value
    interval = only(by_largest, "accuracy", "not").interval
    assert interval is not None
    assert interval[1] == 1.0


def test_of_equal_exclusive_scores_the_first_wins_and_a_missing_one_is_unanswered() -> None:
    scores = np.array([[0.4, 0.4, 0.2], [NAN, 0.3, 0.2], [NAN, NAN, NAN]])
    expected = [[1, 0, 0], [NAN, 1, 0], [NAN, NAN, NAN]]
    np.testing.assert_array_equal(decide(scores, exclusive=True), expected)
    np.testing.assert_array_equal(decide(scores[:1], 0.4), [[1, 1, 0]])


def test_a_soft_label_of_one_half_is_undecided_and_counted() -> None:
    judgement = judged([1.0, 0.5, 0.5, 0.0, None], [0.9, 0.9, 0.1, 0.1, 0.9])
    accuracy = only(judgement, "accuracy")
    assert (accuracy.value, accuracy.n) == (1.0, 2)
    counts = {"texts": 5, "annotated": 2, "undecided": 2, "not_annotated": 1}
    assert counts.items() <= dict(accuracy.counts).items()
    assert only(judgement, "prevalence").value == 0.5
    assert "undecided" not in only(judged([1.0, 0.0], [0.9, 0.1]), "accuracy").counts


def test_asks_for_every_text() -> None:
    audit: Audit = Performance()
    assert list(audit.ask(Corpus.of("c", ["a", "b", "a"]))) == ["a", "b", "a"]
    assert audit.name == "performance"


def test_figures_worked_by_hand() -> None:
    found = judged(TARGETS, SCORES)
    accuracy = only(found, "accuracy")
    assert accuracy.value == pytest.approx(5 / 7)
    assert accuracy.n == 7
    assert accuracy.interval == wilson(5, 7)
    assert accuracy.where == {
        "audit": "performance",
        "model": "table",
        "corpus": "posts",
        "label": "depression",
    }
    assert accuracy.counts == {
        "texts": 8,
        "annotated": 7,
        "unanswered": 0,
        "not_annotated": 1,
        "tp": 2,
        "fp": 1,
        "fn": 1,
        "tn": 3,
        "units": 7,
    }
    assert only(found, "hard_brier").value == pytest.approx(2 / 7)
    assert only(found, "hard_auc").value == pytest.approx((2 / 3 + 3 / 4) / 2)
    prevalence = only(found, "prevalence")
    assert prevalence.value == pytest.approx(3 / 7)
    assert prevalence.interval == wilson(3, 7)
    # Of 12 pairs, 0.9 and 0.6 lose one (0.6 against 0.7), 0.2 wins one (against 0.1).
    assert only(found, "auc").value == pytest.approx((4 + 3 + 1) / 12)
    expected = metrics.average_precision_score([1, 1, 1, 0, 0, 0, 0], SCORES[:7])
    assert only(found, "average_precision").value == pytest.approx(expected)


def test_every_value_has_n_and_an_interval_around_it() -> None:
    random = np.random.default_rng(0)
    targets = (random.random(400) < 0.4).astype(float)
    scores = np.clip(0.3 * targets + 0.7 * random.random(400), 0, 1)
    found = judged(list(targets), list(scores))
    names = {f.measure for f in found.findings}
    assert names == {
        *("accuracy", "precision", "recall", "f1", "macro_f1", "weighted_f1", "auc", "average_precision"),
        *("brier", "log_loss", "ece", "hard_brier", "hard_auc", "prevalence", "reliability"),
        *("accuracy_over_trivial", "decided_1_share", "weighted_precision"),
        *("auc_among_claims", "hard_auc_among_claims"),
    }
    for f in found.findings:
        # No method tried covers the calibration error and the log loss often enough (validity.md).
        assert (f.interval is None) == (f.measure in ("ece", "log_loss"))
        assert f.interval is None or f.interval[0] <= f.value <= f.interval[1], f.measure
        assert f.n > 0
        assert finding_of(f.as_json()).measure == f.measure


def test_mistakes_come_most_confident_first() -> None:
    found = judged(
        targets=[1.0, 0.0, 1.0, 0.0, 1.0, 0.0], scores=[0.3, 0.6, 0.05, 0.99, 0.8, 0.2]
    )  # wrong by 0.7, 0.6, 0.95, 0.99
    assert only(found, "accuracy").examples == ("4", "3", "1", "2")
    assert only(found, "f1").examples == ("4", "3", "1", "2")
    assert only(found, "precision").examples == ("4", "2")
    assert only(found, "recall").examples == ("3", "1")


def test_at_most_fifty_mistakes_are_named() -> None:
    found = judged([1.0] * 80 + [0.0] * 80, [0.1] * 80 + [0.8] * 80)
    examples = only(found, "accuracy").examples
    assert len(examples) == 50
    assert examples[0] == "1"


def test_threshold_moves_the_decision_but_not_the_ranking() -> None:
    low = judged(TARGETS, SCORES, Performance(threshold=0.2))
    assert only(low, "recall").value == 1.0
    assert only(low, "auc").value == only(judged(TARGETS, SCORES), "auc").value


def test_unanswered_texts_are_counted_and_bound_f1() -> None:
    # Answered: one right 1, one right 0. Unanswered: one annotated 1, one annotated 0.
    found = judged([1.0, 0.0, 1.0, 0.0], [0.9, 0.1, NAN, NAN])
    assert only(found, "f1").value == 1.0
    assert only(found, "f1").n == 2
    assert only(found, "f1").counts["unanswered"] == 2
    worst, best = only(found, "f1_worst"), only(found, "f1_best")
    assert (worst.value, worst.n) == (0.5, 4)  # tp 1, fp 1, fn 1
    assert (best.value, best.n) == (1.0, 4)
    assert not [f for f in judged(TARGETS, SCORES).findings if f.measure.startswith("f1_")]


def test_reliability_bins_can_be_drawn() -> None:
    found = judged([1.0, 0.0, 1.0], [0.21, 0.25, 0.98])
    bins = [f for f in found.findings if f.measure == "reliability"]
    assert [(b.where["bin"], b.where["mean_score"], b.value, b.n) for b in bins] == [
        ("4", "0.2300", 0.5, 2),
        ("15", "0.9800", 1.0, 1),
    ]
    assert bins[0].interval == wilson(1, 2)
    assert (bins[0].where["from"], bins[0].where["to"]) == ("0.2000", "0.2667")


def test_one_class_is_said_not_zeroed() -> None:
    found = judged([0.0, 0.0, 0.0], [0.1, 0.2, 0.3])
    assert only(found, "accuracy").value == 1.0
    for measure in ("precision", "recall", "f1", "macro_f1", "auc", "average_precision", "hard_auc"):
        finding = only(found, measure)
        assert math.isnan(finding.value), measure
        assert finding.interval is None
        assert {"one_class", "not_tested"} <= set(finding.flags)


def test_a_label_that_nobody_annotated_is_not_tested() -> None:
    found = judged([None, None], [0.1, 0.9])
    assert all(math.isnan(f.value) and f.n == 0 for f in found.findings)
    assert "no_texts" in only(found, "accuracy").flags


def test_a_perfect_model_has_a_width_everywhere() -> None:
    found = judged([1.0] * 20 + [0.0] * 20, [0.9] * 20 + [0.1] * 20)
    assert only(found, "accuracy").interval == pytest.approx(wilson(40, 40))
    for measure in ("f1", "macro_f1", "weighted_f1", "auc", "average_precision", "recall"):
        interval = only(found, measure).interval
        assert interval is not None
        assert interval[0] < 0.95
        assert interval[1] == 1


def test_texts_of_one_author_are_not_independent() -> None:
    # 20 authors of 10 texts, 14 of them wholly right: as uncertain as 20 texts, not as 200.
    texts = [f"text {i}" for i in range(200)]
    authors = [str(i // 10) for i in range(200)]
    targets = [float(i % 2) for i in range(200)]
    scores = {f"text {i}": ((i % 2 == (i < 140)) * 0.8 + 0.1,) for i in range(200)}
    corpus = Corpus.of("posts", texts, labels={"depression": targets}, author=authors)
    found = only(Performance().judge(corpus, Table(("depression",), scores)), "accuracy")
    assert (found.value, found.counts["units"]) == (0.7, 20)
    assert found.interval is not None
    assert found.interval[0] < 0.48 < wilson(140, 200)[0]


def test_repeated_texts_count_once_in_an_interval() -> None:
    texts = ["a", "b", "c", "d"] * 10 + [f"{i}" for i in range(16)]
    targets = [1.0, 0.0, 1.0, 0.0] * 14
    corpus = Corpus.of("posts", texts, labels={"depression": targets})
    table = Table(("depression",), dict.fromkeys(texts, (0.9,)))
    found = only(Performance().judge(corpus, table), "accuracy")
    assert found.counts["units"] == 20
    assert found.interval is not None
    assert found.interval[1] - found.interval[0] > wilson(28, 56)[1] - wilson(28, 56)[0]


def test_accuracy_is_compared_with_the_commoner_answer() -> None:
    # 30 of 40 are annotated 1: always 1 is right 30 times, the model 24 times.
    targets = [1.0] * 30 + [0.0] * 10
    found = judged(targets, [0.9] * 19 + [0.1] * 11 + [0.1] * 5 + [0.9] * 5)
    over = only(found, "accuracy_over_trivial")
    assert over.value == pytest.approx((24 - 30) / 40)
    assert (over.counts["right"], over.counts["trivial_right"]) == (24, 30)


def test_claims_on_ranking_and_on_decisions_have_intervals_for_all_places() -> None:
    # A score of 0.9 for 24 of 30 texts annotated 1 and 6 of 30 annotated 0: both recalls are 0.8.
    targets = [1.0] * 30 + [0.0] * 30
    scores = [0.9] * 24 + [0.1] * 12 + [0.1] * 18 + [0.9] * 6
    alone = judged(targets, scores)
    of_many = judged(targets, scores, Performance(places=10))
    for measure in ("auc", "hard_auc"):
        narrow, wide = only(alone, f"{measure}_among_claims"), only(of_many, f"{measure}_among_claims")
        assert narrow.value == wide.value == pytest.approx(0.8)
        assert narrow.interval is not None
        assert wide.interval is not None
        assert wide.interval[0] < narrow.interval[0] < 0.8 < narrow.interval[1] < wide.interval[1]


@pytest.mark.parametrize(
    ("decided_1", "scores", "flags"),
    [
        (600, [0.9] * 600, ("constant",)),
        (600, [0.6 + k / 2000 for k in range(600)], ("one_decision",)),
        # One of 600: at most 0.94 %, far below a quarter of the 46 % and more that are annotated 0.
        (599, [0.9] * 599 + [0.1], ("nearly_one_decision",)),
        # 90 of 600: at least 12 %, above a quarter of 46 %.
        (510, [0.9] * 510 + [0.1] * 90, ()),
    ],
)
def test_decisions_that_are_nearly_all_alike_are_flagged(
    decided_1: int, scores: list[float], flags: tuple[str, ...]
) -> None:
    share = only(judged([1.0, 0.0] * 300, scores), "decided_1_share")
    assert (round(600 * share.value), share.flags) == (decided_1, flags)


def test_a_screener_of_a_rare_condition_is_not_called_nearly_constant() -> None:
    # Sensitivity 0.8, specificity 0.995, 2 % annotated 1: 2.1 % are decided 1.
    targets = [1.0] * 20 + [0.0] * 980
    scores = [0.9] * 16 + [0.1] * 4 + [0.9] * 5 + [0.1] * 975
    assert only(judged(targets, scores), "decided_1_share").flags == ()


def many() -> tuple[Corpus, Table]:
    texts = ["a", "b", "c", "d"]
    corpus = Corpus.of(
        "posts",
        texts,
        labels={
            "sleep": [1, 0, 1, None],
            "guilt": [1, 1, 0, 0],
            "mood": [0, 0, 0, 0],
            "other": [1, 1, 1, 1],
        },
    )
    # Columns: mood, appetite (the corpus does not have it), sleep, guilt.
    rows = {
        "a": (0.1, 0.9, 0.9, 0.8),
        "b": (0.1, 0.9, 0.9, 0.3),
        "c": (0.1, 0.9, 0.8, 0.1),
        "d": (0.9, 0.9, 0.7, 0.2),
    }
    return corpus, Table(("mood", "appetite", "sleep", "guilt"), rows)


def test_shared_labels_are_matched_by_name() -> None:
    found = Performance().judge(*many())
    assert {f.where["label"] for f in found.findings} == {"sleep", "guilt", "mood", "all"}
    assert only(found, "f1", "sleep").value == pytest.approx(0.8)  # tp 2, fp 1
    assert only(found, "f1", "guilt").value == pytest.approx(2 / 3)  # tp 1, fn 1


def test_many_labels_have_hamming_and_mean_f1() -> None:
    found = Performance().judge(*many())
    hamming = only(found, "hamming", "all")
    assert hamming.value == pytest.approx(3 / 11)
    assert hamming.n == 11
    mean = only(found, "macro_f1_across_labels", "all")
    assert mean.value == pytest.approx((0.8 + 2 / 3) / 2)
    assert mean.n == 2
    assert mean.flags == ("labels_without_positive",)
    # Sleep is annotated 1 twice and guilt twice: recall 1 and 1/2, each with the same weight.
    assert only(found, "weighted_recall_across_labels", "all").value == pytest.approx(0.75)
    assert mean.counts == {"texts": 4, "labels": 3, "annotated": 11, "unanswered": 0, "not_annotated": 1}


def test_predictions_hold_ids_and_never_texts() -> None:
    corpus, table = many()
    predictions = Performance().judge(corpus, table).tables["predictions"]
    text = ["model", "corpus", "id", "label"]
    assert predictions.columns == [*text, "target", "score", "decided", "unit", "copy"]
    assert len(predictions) == 12
    row = predictions.filter((pl.col("id") == "4") & (pl.col("label") == "sleep")).row(0)
    assert row == ("table", "posts", "4", "sleep", None, 0.7, 1, 3, None)


def test_no_shared_label_names_both_sides() -> None:
    corpus = Corpus.of("posts", ["a"], labels={"anxiety": [1]})
    both_sides = "the model scores depression, sleep; the corpus has anxiety"
    with refused("labels.none-shared", where=both_sides):
        Performance().judge(corpus, Table(("depression", "sleep"), {"a": (0.1, 0.2)}))


def test_the_same_seed_writes_the_same_lines() -> None:
    lines = [[f.as_json() for f in judged(TARGETS, SCORES).findings] for _ in range(2)]
    assert lines[0] == lines[1]


def test_wrong_options_are_refused() -> None:
    with refused("threshold.out-of-range", allowed="0 to 1"):
        Performance(threshold=1.5)
