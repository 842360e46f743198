"""The whole design on small corpora, and the published tables as they were typed in."""

from pathlib import Path

import numpy as np
import pytest

from psycheck.core.corpus import Corpus
from psycheck.core.finding import Finding
from psycheck.core.run import Run
from psycheck.models.opening import open_model
from psycheck.report.studies.deck_tables import deck_tables
from psycheck.report.studies.published_figures import published
from psycheck.studies.deck_design import SMALL, Size, left_out, wide_intervals
from psycheck.studies.deck_study import study_deck
from psycheck.training.arm_figures import ArmResult
from psycheck.training.arms import best_arm
from psycheck.training.recipe import Recipe
from refusals import refused
from suites_of_ours import seen_and_unseen

LOW = ("empty", "tired", "hopeless", "numb", "worthless")
FINE = ("sunny", "garden", "football", "dinner", "music")
REST = ("i", "feel", "today", "the", "was", "and", "very", "we", "had", "a", "day", "again")
RECIPE = Recipe(start="tfidf+lr", labels=("low",))


def corpus_of(name: str, n: int = 80) -> Corpus:
    random = np.random.default_rng(len(name))
    texts = [" ".join([*random.choice(REST, 3), *random.choice(LOW if i % 2 else FINE, 2)]) for i in range(n)]
    parts = ("train", "train", "dev", "test")
    return Corpus.of(
        name,
        texts,
        labels={"low": [float(i % 2) if i % 19 else 1.0 - i % 2 for i in range(n)]},
        split=[parts[i // 2 % 4] for i in range(n)],
    )


@pytest.fixture(scope="module")
def done(tmp_path_factory: pytest.TempPathFactory) -> tuple[Run, Path, list[str]]:
    folder = tmp_path_factory.mktemp("study")
    suite = seen_and_unseen(folder)["suite"]
    said: list[str] = []
    corpora = [corpus_of("first"), corpus_of("second one")]
    size = Size(seeds=2, trials=0, texts=8)
    run = study_deck(corpora, [RECIPE], out=folder / "out", size=size, suite=suite, say=said.append)
    study_deck(corpora, [RECIPE], out=folder / "out", size=size, suite=suite, say=said.append)
    return run, folder / "out", said


def test_every_corpus_is_trained_on_and_tested_on(done: tuple[Run, Path, list[str]]) -> None:
    run, _, _ = done
    names = ("first", "second one")
    for trained in names:
        for tested in names:
            rows = [
                f
                for f in run.findings
                if f.measure == "f1"
                and (f.where["trained_on"], f.where["corpus"]) == (trained, tested)
                and (f.where["arm"], f.where["decision"]) == ("plain", "0.5")
            ]
            assert [f.where["seed"] for f in rows] == ["0", "1"]
            assert all(f.interval is not None for f in rows)


def test_the_second_time_nothing_is_trained(done: tuple[Run, Path, list[str]]) -> None:
    _, _, said = done
    half = len(said) // 2
    assert any("trained in" in line for line in said[:half])
    assert not any("trained in" in line for line in said[half:])


def test_ours_stand_beside_the_published_figures(done: tuple[Run, Path, list[str]]) -> None:
    run, folder, _ = done
    page = (folder / "study.md").read_text("utf-8")
    assert page == deck_tables(run)
    assert "- of the published design left out: " in page
    table = page.split("## Table 6")[1].split("##")[0].splitlines()
    assert "| published | TwPHMDepr | TwSelfDiag | ALBERT | 52.63 | 68.09 | <0.01 |  |  |  |  |" in table
    assert any(line.startswith("| ours | first | second one | tfidf+lr |") for line in table)
    assert "100.00†" in page  # T6 of DAIC-WOZ, which Table 2 gives otherwise


def test_one_corpus_is_no_study(tmp_path: Path) -> None:
    with refused("study.too-few-corpora", what="1 corpus"):
        study_deck([corpus_of("first")], [RECIPE], out=tmp_path)
    with refused("study.same-model-name"):
        study_deck([corpus_of("first"), corpus_of("second one")], [RECIPE, RECIPE], out=tmp_path)


def test_published_tables_are_whole_and_agree_where_they_should() -> None:
    table_2 = {(r["check"], r["trained_on"]): r for r in published("deck-table-2")}
    app_4 = {
        (r["check"], r["trained_on"]): r for r in published("deck-app-table-4") if r["model"] == "RoBERTa"
    }
    assert len(table_2) == len(app_4) == 69
    apart = [key for key in table_2 if table_2[key]["value"] != app_4[key]["value"]]
    assert apart == [("T6", "DAIC-WOZ")]
    assert table_2["T21", "DAIC-WOZ"]["mark"]
    assert len(published("deck-app-table-4")) == 161
    assert len(published("deck-table-5")) == 9
    assert len(published("deck-app-table-3")) == 18


def test_brier_of_table_4_is_one_less_accuracy() -> None:
    rows = [r for r in published("deck-table-4") if r["trained_on"] == r["tested_on"]]
    by = {(r["trained_on"], r["model"], r["measure"]): float(r["value"]) for r in rows}
    for trained_on, model, _ in list(by):
        total = by[trained_on, model, "accuracy"] + by[trained_on, model, "hard_brier"]
        assert total == pytest.approx(100)


def test_means_of_table_5_follow_from_app_table_4() -> None:
    # COG for BERT: T7–T10 and T16–T19 over both of its corpora.
    cog = {"T7", "T8", "T9", "T10", "T16", "T17", "T18", "T19"}
    rates = [
        float(r["value"]) for r in published("deck-app-table-4") if r["model"] == "BERT" and r["check"] in cog
    ]
    (row,) = [r for r in published("deck-table-5") if (r["category"], r["model"]) == ("COG", "BERT")]
    assert len(rates) == 16
    assert np.mean(rates) == pytest.approx(float(row["mean"]), abs=0.01)
    assert np.std(rates, ddof=1) == pytest.approx(float(row["sd"]), abs=0.05)


def test_before_of_table_6_is_table_4_where_it_is_not_marked() -> None:
    four = {
        (r["trained_on"], r["tested_on"], r["model"]): r["value"]
        for r in published("deck-table-4")
        if r["trained_on"] != r["tested_on"]
    }
    six = published("deck-table-6")
    assert len(six) == len(four) == 14
    for row in six:
        same = four[row["trained_on"], row["tested_on"], row["model"]] == row["plain_f1"]
        assert same == (not row["mark"])


def test_the_page_shows_the_tables_and_the_figures_on_other_corpora(
    done: tuple[Run, Path, list[str]],
) -> None:
    page = (done[1] / "report.html").read_text()
    assert "trained on first: macro-F1" in page
    assert "on second one" in page
    assert "Table 4" in page


def test_checks_are_tried_on_the_seed_that_is_best_on_dev(done: tuple[Run, Path, list[str]]) -> None:
    run, _, _ = done
    assert run.plan["best_seeds"].keys() == {"first, tfidf+lr", "second one, tfidf+lr"}
    # Equal losses on dev: nothing of a linear baseline is random, and the first seed stays.
    assert set(run.plan["best_seeds"].values()) == {0}


def test_the_best_arm_is_that_of_the_least_loss_on_dev() -> None:
    def arm(seed: int, loss: float, f1: float) -> ArmResult:
        model = open_model(lambda texts: [0.5] * len(texts), label="low")
        return ArmResult("plain", seed, model, (), (), {}, {}, dev={"loss": loss, "f1": f1})

    arms = [arm(0, 0.6, 0.9), arm(1, 0.4, 0.7), arm(2, 0.5, 0.8)]
    assert best_arm(arms, "dev_loss").seed == 1
    assert best_arm(arms, "dev_f1").seed == 0


def test_both_denominators_stand_side_by_side(done: tuple[Run, Path, list[str]]) -> None:
    run, folder, _ = done
    changed = {(f.where["check"], f.where["corpus"]): f for f in run.findings.where(measure="pass_rate")}
    everywhere = run.findings.where(measure="pass_rate_every_text")
    assert {(f.where["check"], f.where["corpus"]) for f in everywhere} == set(changed)
    for rate in everywhere:
        counts = changed[rate.where["check"], rate.where["corpus"]].counts
        left_as_it_was = counts["unchanged"] + counts["unseen"]
        # The checks of this suite are DIR: what was not changed passes.
        assert rate.n == counts["passed"] + counts["failed"] + left_as_it_was
        assert rate.counts["passed"] == counts["passed"] + left_as_it_was
    head = (folder / "study.md").read_text("utf-8").split("## Tables 2")[1].splitlines()[2]
    assert "tfidf+lr, first (every text)" in head
    assert "tfidf+lr, first (changed texts)" in head


def test_figures_from_hard_labels_are_those_of_the_paper(done: tuple[Run, Path, list[str]]) -> None:
    run, folder, _ = done
    place = {"arm": "plain", "seed": "0", "trained_on": "first", "corpus": "first", "decision": "0.5"}
    figures = {f.measure: f for f in run.findings if place.items() <= f.where.items()}
    assert figures["hard_brier"].value == pytest.approx(1 - figures["accuracy"].value)
    recall, counts = figures["recall"].value, figures["recall"].counts
    specificity = counts["tn"] / (counts["tn"] + counts["fp"])
    assert figures["hard_auc"].value == pytest.approx((recall + specificity) / 2)
    table = (folder / "study.md").read_text("utf-8").split("## App-table 3")[1].split("##")[0]
    # Printed as shares in the paper: here in per cent, as ours.
    assert "| published | TwSelfDiag | BERT | recall | 84.6 (sd 13.2) |" in table
    for measure in ("precision", "recall", "hard_brier", "hard_auc", "brier"):
        assert f"| ours | first | tfidf+lr | {measure} |" in table


def test_what_a_small_run_leaves_out_is_said() -> None:
    tests = [corpus_of("first", 80), corpus_of("second one", 1000)]
    sentences = left_out(SMALL, [Recipe(start="minilm")], tests, retrain=True)
    text = "; ".join(sentences)
    assert "1 seed instead of 6" in text
    assert "no search for minilm instead of one of 10 trials" in text
    # 2 × 1.96 × sqrt(0.25 / 40) = 31 points.
    assert "on 40 of 1,000 test texts of second one" in text
    assert "an interval of 31 points" in text
    # 400 texts: 9.8 points, as wide as the issue allows; a linear baseline has nothing to search.
    assert left_out(Size(), [RECIPE], [corpus_of("second one", 400)], retrain=True) == []


def test_checks_that_are_known_to_less_than_10_points_are_named() -> None:
    def rate(check: str, low: float, high: float, n: int) -> Finding:
        where = {"check": check, "model": "m", "corpus": "c"}
        return Finding("pass_rate", 0.5, n, interval=(low, high), where=where)

    rates = [rate("T1", 0.45, 0.54, 400), rate("T3", 0.43, 0.57, 198), rate("T6", 0.4, 0.6, 96)]
    (note,) = wide_intervals(rates)
    assert note.startswith("m, c: intervals of more than 10 points for T3, T6 (widest: T6, 20 points, n 96)")
    assert wide_intervals(rates[:1]) == []


def test_correlations_have_a_row_of_each_counting(done: tuple[Run, Path, list[str]]) -> None:
    run, folder, _ = done
    found = run.findings.where(measure="pearson_r")
    assert {f.where["counting"] for f in found} == {"changed texts", "every text"}
    assert {f.n for f in found} == {2}
    assert all("too_few" in f.flags for f in found)
    page = (folder / "study.md").read_text("utf-8")
    assert "| published | MFT | every text |  | 72.3 | <0.05 | >0.75 |" in page
    assert "## Section 6.2" in page
