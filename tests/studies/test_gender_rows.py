"""Figures of pairs, worked out by hand."""

import math

import numpy as np
import pytest
from sklearn.metrics import f1_score

from found import one
from psycheck.statistics.clustered import Clusters
from psycheck.statistics.label_intervals import classification_intervals
from psycheck.studies.gender_rows import Decided, changes, figures, pair_rows

MARKS = np.array([1, 1, 1, 1, 1, 0, 0, 0, 0, 0], bool)
AS_FEMALE = np.array([1, 1, 1, 1, 0, 0, 0, 0, 1, 1], bool)
AS_MALE = np.array([1, 1, 0, 0, 0, 0, 0, 0, 0, 1], bool)


def decided(
    female: np.ndarray = AS_FEMALE, male: np.ndarray = AS_MALE, experiment: str = "original"
) -> Decided:
    ids = tuple(f"note {i}" for i in range(10))
    return Decided("notes", "low", "words", "SVM", experiment, 0, ids, MARKS, female, male, ids)


def test_rates_and_their_ratio_by_hand() -> None:
    found = figures(decided())
    # Of 5 positives 1 is missed as a woman's, 3 as a man's, 1 as both.
    assert one(found, "fnr", group="female").value == pytest.approx(1 / 5)
    assert one(found, "fnr", group="male").value == pytest.approx(3 / 5)
    ratio = one(found, "fnr_ratio")
    assert ratio.value == pytest.approx(1 / 3)
    assert ratio.n == 5
    assert ratio.flags == ("favours_female",)
    assert ratio.counts == {"missed_female": 1, "missed_male": 3, "missed_both": 1, "positives": 5}
    assert ratio.interval is not None
    assert ratio.interval[0] < 1 / 3 < ratio.interval[1]
    # McNemar on 2 discordant pairs, both one way: 2 · 0.5².
    assert one(found, "fnr_mcnemar_p").value == pytest.approx(0.5)


def test_flips_by_hand() -> None:
    found = figures(decided())
    flips = one(found, "flip_rate")
    assert flips.value == pytest.approx(0.3)
    assert flips.n == 10
    assert flips.counts == {"flipped": 3, "only_female_positive": 3, "only_male_positive": 0, "unseen": 0}
    assert flips.examples == ("note 2", "note 3", "note 8")
    assert one(found, "mcnemar_p").value == pytest.approx(0.25)
    # True positive rates 4/5 and 2/5; positive decisions 6/10 and 3/10.
    assert one(found, "equal_opportunity_difference").value == pytest.approx(0.4)
    assert one(found, "demographic_parity_difference").value == pytest.approx(0.3)


def test_all_flipped_pairs_are_named_and_every_decision_is_in_the_table() -> None:
    n = 50
    ids = tuple(f"n{i}" for i in range(n))
    marks = np.arange(n) % 2 == 0
    row = Decided(
        "notes", "low", "words", "SVM", "swapped", 1, ids, marks, np.ones(n, bool), np.zeros(n, bool), ids
    )
    assert one(figures(row), "flip_rate").examples == ids
    table = pair_rows([row, decided()])
    assert table.height == n + 10
    assert table.row(0, named=True) == {
        "model": "SVM",
        "encoder": "words",
        "experiment": "swapped",
        "seed": 1,
        "id": "n0",
        "annotated": True,
        "as_female": True,
        "as_male": False,
        "flipped": True,
    }
    assert table.filter(experiment="original", flipped=True)["id"].to_list() == ["note 2", "note 3", "note 8"]


def test_macro_f1_is_of_the_doubled_test() -> None:
    found = one(figures(decided()), "macro_f1")
    truth, said = np.concatenate([MARKS, MARKS]), np.concatenate([AS_FEMALE, AS_MALE])
    assert found.value == pytest.approx(f1_score(truth, said, average="macro"))
    assert found.interval is None  # 10 pairs, whose two wordings belong together, are too few


def test_the_interval_of_macro_f1_draws_whole_pairs() -> None:
    random = np.random.default_rng(0)
    marks = np.arange(80) < 30
    said = np.where(random.random(80) < 0.8, marks, ~marks)
    ids = tuple(map(str, range(80)))
    row = Decided("c", "l", "e", "SVM", "original", 0, ids, marks, said, said, ids)
    low, high = one(figures(row), "macro_f1").interval or (math.nan, math.nan)
    # Both wordings are decided alike here, so doubling brings no certainty: 80 texts are 80 texts.
    once = classification_intervals(marks.astype(np.float64), said.astype(np.float64), Clusters.single(80))[
        "macro_f1"
    ]
    assert (low, high) == pytest.approx(once, abs=0.01)


def test_pairs_of_one_author_are_one_cluster() -> None:
    # 20 authors of 10 pairs: of 6 authors all pairs flip, always towards "positive as a woman's".
    flips = np.repeat(np.arange(20) < 6, 10)
    ids, marks = tuple(map(str, range(200))), np.tile([True, False], 100)
    authors = tuple(str(k // 10) for k in range(200))
    by_author, by_pair = (
        figures(Decided("c", "l", "e", "SVM", "original", 0, ids, marks, flips, ~flips & False, units))
        for units in (authors, ids)
    )
    # Six authors turned one way: 2 / 2^6; sixty pairs turned one way: nearly 0.
    assert one(by_author, "mcnemar_p").value == pytest.approx(2 / 64)
    assert one(by_pair, "mcnemar_p").value < 1e-9
    for measure in ("flip_rate", "demographic_parity_difference"):
        wide, narrow = (one(found, measure).interval for found in (by_author, by_pair))
        assert wide is not None
        assert narrow is not None
        assert wide[1] - wide[0] > 1.5 * (narrow[1] - narrow[0])


def test_no_flip_is_a_ratio_of_one_without_direction() -> None:
    found = figures(decided(AS_MALE, AS_MALE))
    assert one(found, "fnr_ratio").value == 1
    assert one(found, "fnr_ratio").flags == ("favours_neither",)
    assert one(found, "flip_rate").value == 0
    assert one(found, "mcnemar_p").value == 1


def test_a_change_is_measured_on_the_same_pairs() -> None:
    found = changes(decided(AS_FEMALE, AS_FEMALE, "augmented"), decided())
    moved = one(found, "flip_rate_change")
    assert moved.value == pytest.approx(-0.3)
    assert moved.counts == {"flipped_before": 3, "flipped": 0}
    assert moved.where["versus"] == "original"
    assert one(found, "flip_rate_change_p").value == pytest.approx(0.25)
    truth = np.concatenate([MARKS, MARKS])
    before = f1_score(truth, np.concatenate([AS_FEMALE, AS_MALE]), average="macro")
    after = f1_score(truth, np.concatenate([AS_FEMALE, AS_FEMALE]), average="macro")
    assert one(found, "macro_f1_change").value == pytest.approx(after - before)


def test_nothing_changes_against_itself() -> None:
    gain = one(changes(decided(), decided()), "macro_f1_change")
    assert (gain.value, gain.interval) == (0, None)
